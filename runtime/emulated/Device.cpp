#include "Device.h"

#include "../emulator/ptx/Parser.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>
#include <stdexcept>

namespace tile_emulated {

namespace {
constexpr int kMultiprocessors = 4;
// Shared memory of each block that is the driver's, and threads of a multiprocessor (CUDA C++ Programming Guide,
// "Compute Capabilities").
constexpr int kReservedBytes = 1024, kThreads = 2048;
constexpr uint64_t kStepBudget = uint64_t{1} << 36; ///< instructions of warps in a launch

tile_emu::Options options() {
  tile_emu::Options result;
  result.stepBudget = kStepBudget;
  result.strictProxyReads = result.strictWaits = true; // what tilec emits has no excuse
  return result;
}

/// "data race, missing proxy fence"
std::string kindsOf(const std::vector<tile_emu::Report> &reports) {
  std::set<std::string> seen;
  std::string text;
  for (const tile_emu::Report &report : reports) {
    std::string kind(tile_emu::kindName(report.kind));
    if (seen.insert(kind).second) {
      text += (text.empty() ? "" : ", ") + kind;
    }
  }
  return text;
}

/// What throws out_of_range for an address outside of all allocations.
template <class Access>
void inside(Access &&access) {
  try {
    access();
  } catch (const std::out_of_range &error) {
    throw Failure{kInvalidValue, error.what()};
  }
}

bool isText(const char *image) {
  const std::string_view magic(image, strnlen(image, 4));
  return !magic.empty() &&
         magic != "\x7f"
                  "ELF" &&
         static_cast<unsigned char>(magic[0]) < 0x80;
}
} // namespace

int Device::attribute(int which) const {
  switch (which) {
  case cu::kMultiprocessorCount:
    return kMultiprocessors;
  case cu::kCapabilityMajor:
    return static_cast<int>(capability.major);
  case cu::kCapabilityMinor:
    return static_cast<int>(capability.minor);
  case cu::kMaxSharedPerBlockOptin:
    return static_cast<int>(capability.sharedBytes);
  case cu::kMaxSharedPerMultiprocessor:
    return static_cast<int>(capability.sharedBytes + kReservedBytes);
  case cu::kReservedSharedPerBlock:
    return kReservedBytes;
  default:
    throw Failure{kInvalidValue, "the emulated device has no attribute " + std::to_string(which)};
  }
}

void Device::retain() {
  std::lock_guard<std::mutex> lock(mutex);
  if (users++ == 0) {
    emulator = std::make_unique<tile_emu::Emulator>(options());
    allocations = 0;
  }
}

void Device::release() {
  std::lock_guard<std::mutex> lock(mutex);
  if (users == 0) {
    throw Failure{kInvalidContext, "the context was given back already"};
  }
  if (--users == 0) {
    shared.clear();
    modules.clear();
    emulator.reset();
    failure.clear();
  }
}

tile_emu::Emulator &Device::running() {
  if (!emulator) {
    throw Failure{kInvalidContext, "the context is gone"};
  }
  if (!failure.empty()) {
    throw Failure{kLaunchFailed, failure};
  }
  return *emulator;
}

void Device::check() {
  std::lock_guard<std::mutex> lock(mutex);
  running();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

uint64_t Device::allocate(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes == 0) {
    throw Failure{kInvalidValue, "an allocation of no bytes"};
  }
  return running().allocate(bytes, "allocation " + std::to_string(++allocations));
}

void Device::free(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!emulator) {
    throw Failure{kInvalidContext, "the context is gone"};
  }
  inside([&] { emulator->free(address); }); // also when something has failed
}

void *Device::allocateHost(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t address = 0;
  void *host = running().allocateShared(bytes, "memory of the host", address);
  shared[host] = address;
  return host;
}

uint64_t Device::addressOf(void *host) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = shared.find(host);
  if (found == shared.end()) {
    throw Failure{kInvalidValue, "no memory that host and device share"};
  }
  return found->second;
}

void Device::freeHost(void *host) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = shared.find(host);
  if (found == shared.end()) {
    throw Failure{kInvalidValue, "no memory that host and device share"};
  }
  emulator->free(found->second);
  shared.erase(found);
}

void Device::write(uint64_t to, const void *from, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  inside([&] { running().write(to, from, bytes); });
}

void Device::read(void *to, uint64_t from, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  inside([&] { running().read(from, to, bytes); });
}

void Device::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  inside([&] { running().copy(to, from, bytes); });
}

void Device::fill(uint64_t to, uint64_t bits, unsigned elementBytes, uint64_t count, uint64_t rows,
                  uint64_t pitch) {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<uint8_t> row(count * elementBytes);
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(row.data() + i * elementBytes, &bits, elementBytes);
  }
  inside([&] {
    for (uint64_t i = 0; i < rows; ++i) {
      running().write(to + i * pitch, row.data(), row.size());
    }
  });
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

Kernel &Library::kernel(const std::string &entry) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Kernel> &kernel = kernels[entry];
  if (!kernel) {
    kernel = std::make_unique<Kernel>(Kernel{*this, entry});
  }
  return *kernel;
}

Function &Device::find(cu::Function function) {
  for (auto &[handle, module] : modules) {
    for (auto &[entry, known] : module.functions) {
      if (reinterpret_cast<cu::Function>(known.get()) == function) {
        return *known;
      }
    }
  }
  throw Failure{kInvalidHandle, "no function of a module that is loaded"};
}

Device::LoadedModule &Device::load(const Library &library) {
  auto known = modules.find(&library);
  if (known != modules.end()) {
    return known->second;
  }
  if (!isText(library.image.c_str())) {
    throw Failure{kInvalidImage, "the emulator runs PTX, and this is machine code"};
  }
  LoadedModule module;
  try {
    module.loaded = running().load(library.image);
  } catch (const tile_emu::ptx::SyntaxError &error) {
    throw Failure{kInvalidPtx, std::string("the emulator cannot read the PTX: ") + error.what()};
  } catch (const tile_emu::Fault &fault) {
    throw Failure{kInvalidPtx, fault.what()};
  }
  return modules.emplace(&library, std::move(module)).first->second;
}

void Device::unload(const Library &library) {
  std::lock_guard<std::mutex> lock(mutex);
  modules.erase(&library);
}

cu::Function Device::function(const Kernel &kernel) {
  std::lock_guard<std::mutex> lock(mutex);
  tile_emu::Emulator &device = running();
  LoadedModule &loaded = load(kernel.library);
  std::unique_ptr<Function> &function = loaded.functions[kernel.entry];
  if (!function) {
    auto made = std::make_unique<Function>();
    made->module = loaded.loaded;
    made->entry = kernel.entry;
    try {
      made->parameterBytes = device.parameterBytes(*loaded.loaded, kernel.entry);
    } catch (const tile_emu::Fault &fault) {
      loaded.functions.erase(kernel.entry);
      const bool isMissing = fault.report.kind == tile_emu::Report::Kind::Invalid;
      throw Failure{isMissing ? kNotFound : kInvalidPtx, tile_emu::format(fault.report, {})};
    }
    function = std::move(made);
  }
  return reinterpret_cast<cu::Function>(function.get());
}

int Device::maxActiveBlocks(int threads, uint64_t sharedBytes) const {
  const uint64_t byMemory =
      (capability.sharedBytes + kReservedBytes) / (sharedBytes + kReservedBytes);
  return std::min(kThreads / std::max(threads, 1), static_cast<int>(byMemory));
}

void Device::setAttribute(cu::Function function, int which, int value) {
  std::lock_guard<std::mutex> lock(mutex);
  Function &known = find(function);
  if (which != cu::kFunctionMaxDynamicShared) {
    return; // nothing that the emulator does not allow
  }
  if (value < 0 || static_cast<uint64_t>(value) > capability.sharedBytes) {
    throw Failure{kInvalidValue, "blocks have at most " + std::to_string(capability.sharedBytes) +
                                     " bytes of shared memory on " + arch};
  }
  known.maxDynamicShared = static_cast<unsigned>(value);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

tile_emu::Emulator::Launch Device::describe(const cu::LaunchConfig &config,
                                            const Function &function, void *const *params) const {
  if (config.sharedBytes > function.maxDynamicShared) {
    throw Failure{kInvalidValue, "`" + function.entry + "` was not allowed " +
                                     std::to_string(config.sharedBytes) +
                                     " bytes of shared memory"};
  }
  tile_emu::Emulator::Launch launch;
  launch.entry = function.entry;
  launch.grid = {config.gridX, config.gridY, config.gridZ};
  launch.block = {config.blockX, config.blockY, config.blockZ};
  launch.dynamicSharedBytes = config.sharedBytes;
  for (unsigned i = 0; i < config.numAttributes; ++i) {
    const cu::LaunchAttribute &attribute = config.attributes[i];
    if (attribute.id == cu::kLaunchCluster) {
      launch.cluster = {attribute.value[0], attribute.value[1], attribute.value[2]};
    } else if (attribute.id == cu::kLaunchProgrammaticSerialization) {
      launch.overlaps = attribute.value[0] != 0;
    } else {
      throw Failure{kNotSupported,
                    "the emulator knows no launch attribute " + std::to_string(attribute.id)};
    }
  }
  for (size_t i = 0; i < function.parameterBytes.size(); ++i) {
    const auto *bytes = static_cast<const uint8_t *>(params[i]);
    launch.params.emplace_back(bytes, bytes + function.parameterBytes[i]);
  }
  return launch;
}

void Device::launch(const cu::LaunchConfig &config, cu::Function function, void *const *params) {
  std::lock_guard<std::mutex> lock(mutex);
  tile_emu::Emulator &device = running();
  Function &known = find(function);
  const bool finished = device.launch(*known.module, describe(config, known, params));
  if (finished && device.reports().empty()) {
    return;
  }
  // The launch itself succeeds, as on a GPU: the next call says that it has failed.
  failure = "the emulator has found in `" + known.entry + "`: " + kindsOf(device.reports());
  std::fprintf(stderr, "%s",
               ("emulated " + arch + ", `" + known.entry + "`: " + device.describe()).c_str());
  std::fflush(stderr);
}

} // namespace tile_emulated
