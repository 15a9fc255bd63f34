#include "tools/tile-run/EmulatorExecutor.h"

#include "runtime/emulator/Capability.h"
#include "runtime/emulator/ptx/Parser.h"
#include "runtime/harness/Compare.h"
#include "runtime/src/Failures.h"
#include "runtime/src/TensorMaps.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

using namespace tile_rt;

namespace tile_run {

namespace {
class EmulatedBuffer : public Buffer {
public:
  EmulatedBuffer(tile_emu::Emulator &emulator, size_t bytes, const std::string &name)
      : emulator(emulator), bytes(bytes), base(emulator.allocate(bytes, name)) {
    poison();
  }
  ~EmulatedBuffer() override { emulator.free(base); }
  EmulatedBuffer(const EmulatedBuffer &) = delete;
  EmulatedBuffer &operator=(const EmulatedBuffer &) = delete;

  uint64_t address() const override { return base; }
  void write(const std::vector<std::byte> &data) override {
    if (!data.empty()) {
      emulator.write(base, data.data(), data.size());
    }
  }
  void poison() override {
    if (bytes) {
      emulator.undefine(base, bytes, static_cast<uint8_t>(kPoison));
    }
  }
  std::vector<std::byte> read() const override {
    std::vector<std::byte> data(bytes);
    if (bytes) {
      emulator.read(base, data.data(), bytes);
    }
    return data;
  }
  std::string damage() const override { return {}; } // the emulator reports it where it happens
  std::string unwritten(const std::vector<std::byte> &holds) const override {
    tile_emu::Emulator::Unwritten none = emulator.unwritten(base, holds);
    const size_t count = holds.empty() ? bytes : bytes - std::ranges::count(holds, std::byte{});
    return none.bytes == 0
               ? ""
               : std::to_string(none.bytes) + " of " + std::to_string(count) +
                     " bytes were never written, the first at byte " + std::to_string(none.first);
  }

private:
  tile_emu::Emulator &emulator;
  size_t bytes;
  uint64_t base;
};

/// The architecture to emulate where none is asked for: that of the first module.
std::string defaultArch(const tile_pack &pack) {
  return pack.manifest.modules.empty() ? "sm_90a" : pack.manifest.modules.front().arch;
}

/// The most blocks of one of the kernel's launches that a multiprocessor holds at a time.
unsigned blocksPerSm(const std::vector<Statement> &block) {
  unsigned most = 1;
  for (const Statement &statement : block) {
    most = std::max({most, blocksPerSm(statement.then), blocksPerSm(statement.otherwise)});
    for (const Variant &variant : statement.variants) {
      most = std::max(most, variant.blocks.perSm);
    }
  }
  return most;
}

tile_emu::Options emulatorOptions(const Kernel &kernel, const CaseOptions &options,
                                  std::optional<uint64_t> seed) {
  tile_emu::Options result;
  result.randomSchedule = seed.has_value();
  result.seed = seed.value_or(0);
  result.stepBudget = options.stepBudget;
  unsigned perSm = 1;
  for (const Configuration &configuration : kernel.configurations) {
    perSm = std::max(perSm, blocksPerSm(configuration.host));
  }
  result.residentBlocks = options.sms * perSm;
  result.checkRaces = options.checkRaces;
  result.strictProxyReads = result.strictWaits = true; // what tilec emits has no excuse
  result.profile = options.profile;
  return result;
}

uint64_t resolve(const Place &place, uint64_t workspace) {
  return place.inWorkspace ? workspace + place.value : place.value;
}

std::vector<uint8_t> bytesOf(uint64_t bits, size_t count) {
  std::vector<uint8_t> bytes(count);
  std::memcpy(bytes.data(), &bits, count);
  return bytes;
}

std::vector<uint8_t> encodeMap(const PlannedMap &map, uint64_t workspace) {
  if (map.absent) {
    return std::vector<uint8_t>(128);
  }
  std::array<uint8_t, 128> bytes = tile_emu::encodeTensorMap(tensorMapArguments(map, workspace));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::vector<uint8_t>> packParams(const PlannedLaunch &launch, uint64_t workspace,
                                             uint64_t failures, uint64_t messages) {
  std::vector<std::vector<uint8_t>> params;
  for (size_t i = 0; i < launch.params.size(); ++i) {
    const PlannedParam &param = launch.params[i];
    switch (param.kind) {
    case Parameter::Kind::TensorMap:
      params.push_back(encodeMap(launch.maps[param.map], workspace));
      break;
    case Parameter::Kind::Scalar:
      params.push_back(bytesOf(param.bits, dtypeBytes(launch.variant->params[i].type, 1)));
      break;
    case Parameter::Kind::CheckRecord:
      params.push_back(bytesOf(failures, sizeof(uint64_t)));
      break;
    case Parameter::Kind::PrintBuffer:
      params.push_back(bytesOf(messages, sizeof(uint64_t)));
      break;
    case Parameter::Kind::CheckBase:
    case Parameter::Kind::PrintBase:
      params.push_back(bytesOf(0, sizeof(uint32_t)));
      break;
    default:
      params.push_back(bytesOf(resolve(param.place, workspace), sizeof(uint64_t)));
      break;
    }
  }
  return params;
}
} // namespace

DeviceInfo emulatedDevice(const std::string &arch, unsigned multiprocessors) {
  if (std::optional<tile_emu::Capability> found = tile_emu::capabilityOf(arch)) {
    return {found->major,       found->minor,      multiprocessors,
            found->sharedBytes, found->major >= 9, "emulated " + arch};
  }
  throw InputError("the emulator has no device for `" + arch +
                   "`: give --arch sm_80, sm_90a or another of compute capability 8.0 to 12.0");
}

EmulatorExecutor::EmulatorExecutor(const tile_kernel &kernel, const CaseOptions &options,
                                   std::optional<uint64_t> seed)
    : PlanExecutor(kernel), pack(*kernel.pack), options(options),
      arch(options.arch.empty() ? defaultArch(pack) : options.arch),
      info(emulatedDevice(arch, options.sms)),
      emulator(emulatorOptions(*kernel.kernel, options, seed)) {}

std::unique_ptr<Buffer> EmulatorExecutor::allocate(size_t bytes, const std::string &name) {
  return std::make_unique<EmulatedBuffer>(emulator, bytes, name);
}

std::string EmulatorExecutor::ptxText(unsigned index) const {
  if (!options.ptx.empty()) {
    std::ifstream file(options.ptx, std::ios::binary);
    if (!file) {
      throw InputError("cannot open `" + options.ptx + "`");
    }
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  const Module &description = pack.manifest.modules[index];
  std::string_view text;
  if (description.kind == Module::Kind::Ptx) {
    text = pack.body.substr(description.offset, description.bytes);
  } else if (description.ptxBytes > 0) {
    text = pack.body.substr(description.ptxOffset, description.ptxBytes);
  } else {
    throw Error(TILE_ERROR_PACK,
                "the pack has no PTX for " + description.arch +
                    ", which is what the emulator runs: compile it again with this version of "
                    "tilec, or give the text with --ptx FILE (tilec --emit=ptx)");
  }
  return std::string(text.substr(0, text.find('\0')));
}

tile_emu::Emulator::Loaded &EmulatorExecutor::module(unsigned index) {
  std::shared_ptr<tile_emu::Emulator::Loaded> &loaded = modules[index];
  if (!loaded) {
    try {
      loaded = emulator.load(ptxText(index));
    } catch (const tile_emu::ptx::SyntaxError &error) {
      throw Error(TILE_ERROR_PACK, "the emulator cannot read the PTX for " +
                                       pack.manifest.modules[index].arch + ": " + error.what());
    }
  }
  return *loaded;
}

void EmulatorExecutor::fill(const PlannedFill &fill, uint64_t workspace) {
  std::vector<uint8_t> data(fill.count * fill.elementBytes);
  for (uint64_t i = 0; i < fill.count; ++i) {
    std::memcpy(data.data() + i * fill.elementBytes, &fill.bits, fill.elementBytes);
  }
  if (!data.empty()) {
    emulator.write(workspace + fill.offset, data.data(), data.size());
  }
}

/// An empty buffer for what a launch prints.
void EmulatorExecutor::clearMessages() {
  auto empty = std::make_unique<tile_print_buffer>();
  if (!messages) {
    messages = emulator.allocate(sizeof(tile_print_buffer), "buffer of what is printed");
  }
  emulator.write(*messages, empty.get(), sizeof(tile_print_buffer));
}

void EmulatorExecutor::readMessages(const Variant &variant) {
  auto buffer = std::make_unique<tile_print_buffer>();
  emulator.read(*messages, buffer.get(), sizeof(tile_print_buffer));
  std::string text =
      takeMessages(*buffer, [&](uint32_t number) { return findPlace(variant.prints, number); });
  say({text, buffer->lost});
}

/// False if the grid had to be stopped.
bool EmulatorExecutor::launch(const PlannedLaunch &launch, uint64_t workspace) {
  const Variant &variant = *launch.variant;
  tile_emu::Emulator::Launch emulated;
  emulated.entry = variant.entry;
  emulated.grid = launch.blocks;
  emulated.block = variant.block;
  emulated.cluster = variant.cluster;
  emulated.dynamicSharedBytes = variant.sharedBytes;
  emulated.overlaps = launch.overlaps;
  const tile_failure_record none{};
  if (!variant.checks.empty()) {
    if (!failures) {
      failures = emulator.allocate(sizeof(none), "record of failed checks");
    }
    emulator.write(*failures, &none, sizeof(none));
  }
  if (!variant.prints.empty()) {
    clearMessages();
  }
  emulated.params = packParams(launch, workspace, failures.value_or(0), messages.value_or(0));
  bool ended = false;
  try {
    ended = emulator.launch(module(variant.module), emulated);
  } catch (const tile_emu::Fault &) {
    if (!variant.prints.empty()) {
      readMessages(variant); // it may say what led to this
    }
    throw;
  }
  stepsDone += emulator.steps();
  if (!variant.prints.empty()) {
    readMessages(variant);
  }
  if (!variant.checks.empty()) {
    tile_failure_record record;
    emulator.read(*failures, &record, sizeof(record));
    if (record.complete) {
      throw Error(TILE_ERROR_CHECK,
                  describeFailure(record, findPlace(variant.checks, record.place)));
    }
  }
  return ended;
}

void EmulatorExecutor::run(PreparedCall &call, uint64_t workspace) {
  try {
    for (const PlanStep &step : call.plan.steps) {
      if (!step.isLaunch) {
        fill(step.fill, workspace);
      } else if (!launch(step.launch, workspace)) {
        return; // findings() says why
      }
    }
  } catch (const tile_emu::Fault &fault) {
    throw Error(TILE_ERROR_PACK, tile_emu::format(fault.report, {}));
  }
}

Executor::Findings EmulatorExecutor::findings() const {
  Findings found;
  found.count = emulator.reports().size();
  std::set<std::string> kinds;
  for (const tile_emu::Report &report : emulator.reports()) {
    std::string kind(tile_emu::kindName(report.kind));
    if (kinds.insert(kind).second) {
      found.summary += (found.summary.empty() ? "" : ", ") + kind;
    }
  }
  if (found.count > 0) {
    found.text = emulator.describe();
  }
  return found;
}

std::string EmulatorExecutor::profile() const {
  return options.profile ? emulator.profileTable() : std::string();
}

} // namespace tile_run
