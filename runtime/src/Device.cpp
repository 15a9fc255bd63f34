#include "Device.h"

#include "LaunchAttributes.h"
#include "TensorMaps.h"

#include <algorithm>
#include <cstring>

using namespace tile_rt;

namespace {
/// The first version of CUDA whose graphs have launches that begin before the one before them has ended: calls may be captured.
constexpr int kOverlapInGraphs = 12030;

/// Of `count` elements, on the stack for all but very long launches.
template <class T, size_t kInside>
class Scratch {
public:
  explicit Scratch(size_t count) : outside(count > kInside ? count : 0) {}
  T *data() { return outside.empty() ? inside : outside.data(); }

private:
  T inside[kInside];
  std::vector<T> outside;
};

cu::TensorMapBytes encodeMap(const Driver &driver, const TensorMapArguments &arguments) {
  cu::TensorMapBytes bytes{};
  const cu::Result result = driver.encodeTiled(
      &bytes, arguments.dataType, arguments.rank, reinterpret_cast<void *>(arguments.address),
      arguments.dims, arguments.strides, arguments.box, arguments.elementStrides,
      arguments.interleave, arguments.swizzle, arguments.l2Promotion, arguments.fill);
  if (result) {
    std::string why = whyRefused(arguments);
    driver.check(result, "cuTensorMapEncodeTiled" + (why.empty() ? "" : " (" + why + ")"));
  }
  return bytes;
}

/// Copies the maps of a launch to `maps`; those are encoded whose addresses are not what they were the last time.
void takeMaps(const Driver &driver, const PreparedCall &call, size_t step, const tile_arg *args,
              uint64_t workspace, cu::TensorMapBytes *maps) {
  const std::vector<PlannedMap> &planned = call.plan.steps[step].launch.maps;
  LaunchState &state = call.launches[step];
  std::lock_guard<std::mutex> lock(state.mutex);
  for (size_t i = 0; i < planned.size(); ++i) {
    if (planned[i].absent) {
      continue; // zeros
    }
    TensorMapArguments arguments = tensorMapArguments(planned[i], workspace);
    if (!planned[i].base.inWorkspace) {
      arguments.address += call.moved(planned[i].recipe->index, args);
    }
    if (state.bases[i] != arguments.address) {
      state.maps[i] = encodeMap(driver, arguments);
      state.bases[i] = arguments.address;
    }
  }
  std::copy(state.maps.begin(), state.maps.end(), maps);
}
} // namespace

tile_context::tile_context(int ordinal) : driver(Driver::open()) {
  int count = 0;
  driver->check(driver->deviceGetCount(&count), "cuDeviceGetCount");
  if (ordinal < 0 || ordinal >= count) {
    throw Error(TILE_ERROR_NO_DRIVER, "there is no device " + std::to_string(ordinal) +
                                          ": the driver has " + std::to_string(count));
  }
  driver->check(driver->deviceGet(&device, ordinal), "cuDeviceGet");
  auto attribute = [&](int which) {
    int value = 0;
    driver->check(driver->deviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
    return static_cast<unsigned>(value);
  };
  info.major = attribute(cu::kCapabilityMajor);
  info.minor = attribute(cu::kCapabilityMinor);
  info.smCount = attribute(cu::kMultiprocessorCount);
  info.maxSharedBytes = attribute(cu::kMaxSharedPerBlockOptin);
  info.sharedBytes = attribute(cu::kMaxSharedPerMultiprocessor);
  info.reservedSharedBytes = attribute(cu::kReservedSharedPerBlock);
  info.hasTensorMaps = info.major >= 9;
  int version = 0;
  driver->check(driver->getVersion(&version), "cuDriverGetVersion");
  info.overlapsLaunches = version >= kOverlapInGraphs;
  char name[256] = {};
  driver->check(driver->deviceGetName(name, sizeof(name), device), "cuDeviceGetName");
  info.name = name;
  driver->check(driver->primaryRetain(&context, device), "cuDevicePrimaryCtxRetain");
  failures.open(*driver, context);
  prints.open(*driver, context);
}

tile_context::~tile_context() {
  embedded.clear(); // needs the context
  failures.close();
  prints.close();
  driver->primaryRelease(device);
}

std::shared_ptr<PreparedCall> tile_kernel::prepare(const tile_arg *args, size_t count) const {
  if (!pack->context) {
    throw Error(TILE_ERROR_NO_DRIVER, "the pack was loaded without a context");
  }
  CallKey key;
  const bool hasKey = makeKey(key, *kernel, rules, args, count);
  if (hasKey) {
    if (std::shared_ptr<PreparedCall> known = calls.find(key); known && known->takes(args)) {
      return known;
    }
  }
  const Env env = bindArguments(*kernel, {args, count});
  auto call = std::make_shared<PreparedCall>(
      *kernel, env, planCall(pack->manifest, *kernel, env, pack->context->info, filter));
  if (hasKey) {
    calls.add(key, call);
  }
  return call;
}

tile_pack::tile_pack(tile_context *context, std::string fileBytes)
    : context(context), bytes(std::move(fileBytes)) {
  PackParts parts = splitPack(bytes);
  body = parts.body;
  manifest = parseManifest(parts.manifest, body.size());
  manifestText = parts.manifest;
  libraries.resize(manifest.modules.size());
  kernels = std::vector<tile_kernel>(manifest.kernels.size()); // they do not move
  for (size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].pack = this;
    kernels[i].kernel = &manifest.kernels[i];
    kernels[i].rules = keyRules(manifest.kernels[i]);
  }
}

/// What the driver gets of a module. A copy: aligned for the driver, and PTX gets its zero byte even if the pack forgot it.
std::string tile_pack::image(const Module &description) const {
  if (!context->driver->emulated || description.kind == Module::Kind::Ptx) {
    return std::string(body.substr(description.offset, description.bytes));
  }
  if (description.ptxBytes == 0) {
    throw Error(TILE_ERROR_PACK,
                "the pack has no PTX for " + description.arch +
                    ", which is what the emulator runs: compile it again with this "
                    "version of tilec");
  }
  return std::string(body.substr(description.ptxOffset, description.ptxBytes));
}

cu::Function tile_pack::function(const Variant &variant) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = functions.find(&variant);
  if (found != functions.end()) {
    return found->second;
  }
  const Driver &driver = *context->driver;
  const Module &description = manifest.modules[variant.module];
  std::shared_ptr<Library> &library = libraries[variant.module];
  if (!library) {
    library = Library::of(context->driver, image(description));
  }
  cu::Function function = library->function(variant.entry, "the " + description.arch + " module");
  // Up to 48 KiB need no opting in (CUDA C++ Programming Guide, "Shared Memory" of compute
  // capability 8.x and 9.0).
  if (variant.sharedBytes > 48 * 1024) {
    driver.check(driver.funcSetAttribute(function, cu::kFunctionMaxDynamicShared,
                                         static_cast<int>(variant.sharedBytes)),
                 "raising the shared memory of `" + variant.entry + "`");
  }
  if (variant.cluster[0] * variant.cluster[1] * variant.cluster[2] > 8) {
    driver.check(driver.funcSetAttribute(function, cu::kFunctionNonPortableCluster, 1),
                 "allowing the cluster of `" + variant.entry + "`");
  }
  if (variant.precedes) {
    leaveRoom(function, variant);
  }
  functions[&variant] = function;
  return function;
}

// Blocks of the launch behind take what shared memory is left, for which the driver has no regard: it splits the memory that L1
// and shared memory have in common for as many blocks of this launch as fit, and while they run the split stays. Without a
// kilobyte to spare (each block reserves one) the next launch begins when a multiprocessor is idle.
void tile_pack::leaveRoom(cu::Function function, const Variant &variant) const {
  constexpr uint64_t kNextBlocks = 8;
  const Driver &driver = *context->driver;
  const unsigned threads = variant.block[0] * variant.block[1] * variant.block[2];
  int blocks = 0;
  driver.check(driver.maxActiveBlocks(&blocks, function, static_cast<int>(threads),
                                      static_cast<size_t>(variant.sharedBytes)),
               "counting the blocks of `" + variant.entry + "` that fit");
  const DeviceInfo &device = context->info;
  const uint64_t each =
      variant.sharedBytes + variant.staticSharedBytes + device.reservedSharedBytes;
  const uint64_t bytes =
      static_cast<uint64_t>(blocks) * each + kNextBlocks * device.reservedSharedBytes;
  const uint64_t percent =
      device.sharedBytes == 0
          ? 100
          : std::min<uint64_t>(100, (bytes * 100 + device.sharedBytes - 1) / device.sharedBytes);
  driver.check(
      driver.funcSetAttribute(function, cu::kFunctionPreferredCarveout, static_cast<int>(percent)),
      "asking for the shared memory of `" + variant.entry + "`");
}

void tile_pack::fill(const PlannedFill &fill, cu::Stream stream, uint64_t workspace) const {
  const Driver &driver = *context->driver;
  uint64_t address = workspace + fill.offset;
  cu::Result result = 0;
  switch (fill.elementBytes) {
  case 1:
    result = driver.memsetD8(address, static_cast<unsigned char>(fill.bits), fill.count, stream);
    break;
  case 2:
    result = driver.memsetD16(address, static_cast<unsigned short>(fill.bits), fill.count, stream);
    break;
  case 4:
    result = driver.memsetD32(address, static_cast<unsigned>(fill.bits), fill.count, stream);
    break;
  default:
    // Halves of 64-bit elements: two columns of a matrix of 8-byte rows.
    result = driver.memset2D32(address, 8, static_cast<unsigned>(fill.bits), 1, fill.count, stream);
    if (!result) {
      result = driver.memset2D32(address + 4, 8, static_cast<unsigned>(fill.bits >> 32), 1,
                                 fill.count, stream);
    }
    break;
  }
  if (result) {
    driver.check(result, "filling the workspace");
  }
}

/// What no later call changes. The context must be current.
void tile_pack::complete(LaunchState &state, const PlannedLaunch &launch) {
  if (state.ready.load(std::memory_order_acquire)) {
    return;
  }
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.ready.load(std::memory_order_relaxed)) {
    return;
  }
  state.function = function(*launch.variant);
  state.bases.assign(launch.maps.size(), ~uint64_t{0}); // no address: they are multiples of 16
  state.maps.assign(launch.maps.size(), {});
  state.values.assign(launch.params.size(), 0);
  for (size_t i = 0; i < launch.params.size(); ++i) {
    const PlannedParam &param = launch.params[i];
    switch (param.kind) {
    case Parameter::Kind::Scalar:
      state.values[i] = param.bits;
      break;
    case Parameter::Kind::CheckRecord:
      state.values[i] = context->failures.address();
      break;
    case Parameter::Kind::CheckBase:
      state.values[i] = context->failures.add(launch.variant->checks);
      break;
    case Parameter::Kind::PrintBuffer:
      state.values[i] = context->prints.address();
      break;
    case Parameter::Kind::PrintBase:
      state.values[i] = context->prints.add(launch.variant->prints);
      break;
    case Parameter::Kind::Tensor:
    case Parameter::Kind::Workspace:
    case Parameter::Kind::TensorMap:
      break; // of each call
    }
  }
  state.ready.store(true, std::memory_order_release);
}

void tile_pack::launch(const PreparedCall &call, size_t step, const tile_arg *args,
                       cu::Stream stream, uint64_t workspace) {
  const Driver &driver = *context->driver;
  const PlannedLaunch &launch = call.plan.steps[step].launch;
  const Variant &variant = *launch.variant;
  LaunchState &state = call.launches[step];
  complete(state, launch);
  Scratch<cu::TensorMapBytes, 8> maps(launch.maps.size());
  if (!launch.maps.empty()) {
    takeMaps(driver, call, step, args, workspace, maps.data());
  }
  const size_t count = launch.params.size();
  Scratch<uint64_t, 64> values(count);
  Scratch<void *, 64> params(count);
  std::copy(state.values.begin(), state.values.end(), values.data());
  for (size_t i = 0; i < count; ++i) {
    params.data()[i] = &values.data()[i];
    const Parameter &parameter = variant.params[i];
    switch (parameter.kind) {
    case Parameter::Kind::Tensor:
      values.data()[i] = reinterpret_cast<uint64_t>(args[parameter.index].data);
      break;
    case Parameter::Kind::Workspace:
      values.data()[i] = workspace + launch.params[i].place.value;
      break;
    case Parameter::Kind::TensorMap:
      params.data()[i] = &maps.data()[parameter.index];
      break;
    case Parameter::Kind::Scalar:
      if (launch.params[i].copies) {
        const unsigned argument = parameter.expr.index;
        values.data()[i] = scalarParameter(call.kernel.arguments[argument], args[argument].data);
      }
      break;
    default:
      break; // the state's
    }
  }
  LaunchAttributes attributes(launch);
  cu::LaunchConfig config{launch.blocks[0],
                          launch.blocks[1],
                          launch.blocks[2],
                          variant.block[0],
                          variant.block[1],
                          variant.block[2],
                          static_cast<unsigned>(variant.sharedBytes),
                          stream,
                          attributes.data(),
                          attributes.count()};
  if (cu::Result result = driver.launch(&config, state.function, params.data(), nullptr)) {
    driver.check(result, "launching `" + variant.entry + "`");
  }
}

void tile_pack::execute(PreparedCall &call, const tile_arg *args, cu::Stream stream,
                        uint64_t workspace) {
  CurrentContext current(*context->driver, context->context);
  for (size_t step = 0; step < call.plan.steps.size(); ++step) {
    if (call.plan.steps[step].isLaunch) {
      launch(call, step, args, stream, workspace);
    } else {
      fill(call.plan.steps[step].fill, stream, workspace);
    }
  }
}
