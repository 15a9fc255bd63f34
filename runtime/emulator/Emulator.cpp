#include "Emulator.h"

#include "exec/Text.h"
#include "ptx/Parser.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tile_emu {

namespace {

// CUDA programming guide, "Technical Specifications per Compute Capability".
constexpr uint64_t kMaxSharedBytes = 232448, kMaxThreads = 1024, kMaxParamBytes = 32764,
                   kMaxModuleBytes = uint64_t(1) << 28;
constexpr std::array<uint32_t, 3> kMaxBlock{1024, 1024, 64}, kMaxGrid{0x7fff'ffff, 65535, 65535};
constexpr uint64_t kMaxClusterBlocks = 16;

[[noreturn]] void invalid(const std::string &message) {
  throw Fault({.kind = Report::Kind::Invalid, .message = message, .parties = {}, .notes = {}});
}

std::string shapeText(const std::array<uint32_t, 3> &v) {
  return textOf(v[0], "x", v[1], "x", v[2]);
}

uint64_t volume(const std::array<uint32_t, 3> &v) { return uint64_t(v[0]) * v[1] * v[2]; }

void checkShape(const Emulator::Launch &launch) {
  for (unsigned d = 0; d < 3; ++d) {
    if (launch.grid[d] == 0 || launch.grid[d] > kMaxGrid[d]) {
      invalid("a grid of " + shapeText(launch.grid) + " blocks cannot be launched");
    }
    if (launch.block[d] == 0 || launch.block[d] > kMaxBlock[d]) {
      invalid("a block of " + shapeText(launch.block) + " threads cannot be launched");
    }
    if (launch.cluster[d] == 0 || launch.grid[d] % launch.cluster[d] != 0) {
      invalid("a grid of " + shapeText(launch.grid) + " cannot be cut into clusters of " +
              shapeText(launch.cluster));
    }
  }
  if (volume(launch.block) > kMaxThreads) {
    invalid("a block of " + shapeText(launch.block) + " threads is larger than 1024");
  }
  if (volume(launch.cluster) > kMaxClusterBlocks) {
    invalid("a cluster of " + shapeText(launch.cluster) + " is larger than 16 blocks");
  }
}

/// What the kernel says of its launch.
void checkDirectives(const ptx::Function &function, const Emulator::Launch &launch) {
  if (function.requiredThreads && *function.requiredThreads != launch.block) {
    invalid(textOf("`", function.name, "` needs blocks of ", shapeText(*function.requiredThreads),
                   " threads (.reqntid), not ", shapeText(launch.block)));
  }
  if (function.maxThreads && volume(launch.block) > volume(*function.maxThreads)) {
    invalid(textOf("`", function.name, "` allows blocks of at most ", volume(*function.maxThreads),
                   " threads (.maxntid), not ", volume(launch.block)));
  }
  if (function.requiredCluster && *function.requiredCluster != launch.cluster) {
    invalid(textOf("`", function.name, "` needs clusters of ", shapeText(*function.requiredCluster),
                   " (.reqnctapercluster), not ", shapeText(launch.cluster)));
  }
}

std::vector<uint8_t> layOutParams(const ptx::Function &function, uint64_t bytes,
                                  const std::vector<std::vector<uint8_t>> &params) {
  if (params.size() != function.params.size()) {
    invalid(textOf("`", function.name, "` has ", function.params.size(), " parameters, not ",
                   params.size()));
  }
  if (bytes > kMaxParamBytes) {
    invalid(textOf("`", function.name, "` has ", bytes, " bytes of parameters, more than ",
                   kMaxParamBytes));
  }
  std::vector<uint8_t> block(bytes);
  for (size_t i = 0; i != params.size(); ++i) {
    const ptx::Variable &param = function.params[i];
    if (params[i].size() != param.bytes) {
      invalid(textOf("parameter ", i, " of `", function.name, "` has ", param.bytes, " bytes, not ",
                     params[i].size()));
    }
    std::copy(params[i].begin(), params[i].end(), block.begin() + ptrdiff_t(param.offset));
  }
  return block;
}

} // namespace

struct Emulator::Loaded {
  ptx::Module module;
  std::map<std::string, Code, std::less<>> codes; ///< decoded when first launched
  std::map<std::string, uint64_t> variables;      ///< addresses
};

struct Emulator::State {
  explicit State(const Options &options)
      : sink(options.maxReports), machine(memory, sink, options) {}

  GlobalMemory memory;
  ReportSink sink;
  Machine machine;
  std::vector<std::shared_ptr<Loaded>> modules; ///< reports and profiles point into them
  std::map<uint32_t, std::string> files;        ///< of the module launched last

  MemoryRange range(uint64_t address, uint64_t bytes);
  void placeVariables(Loaded &loaded);
  const Code &codeOf(Loaded &loaded, const std::string &entry);
  bool launch(Loaded &loaded, const Launch &launch);
};

Emulator::Emulator(Options options) : state(std::make_unique<State>(options)) {}

Emulator::~Emulator() = default;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

MemoryRange Emulator::State::range(uint64_t address, uint64_t bytes) {
  Region *region = memory.find(address);
  if (!region || address - region->base > region->bytes.size() ||
      bytes > region->bytes.size() - (address - region->base)) {
    throw std::out_of_range(textOf(bytes, " bytes at ", hexOf(address), " are in no allocation"));
  }
  return {region, address - region->base, bytes};
}

uint64_t Emulator::allocate(uint64_t bytes, const std::string &name, uint64_t align) {
  Region &region = state->memory.allocate(bytes, name, align);
  Checker::attach(region, /*defined=*/false);
  return region.base;
}

void Emulator::free(uint64_t address) { state->memory.free(address); }

void Emulator::write(uint64_t address, const void *from, uint64_t bytes) {
  MemoryRange range = state->range(address, bytes);
  if (bytes) {
    std::memcpy(range.data(), from, bytes);
    Checker::setDefined(range, true);
  }
}

void Emulator::read(uint64_t address, void *to, uint64_t bytes) {
  MemoryRange range = state->range(address, bytes);
  if (bytes) {
    std::memcpy(to, range.data(), bytes);
  }
}

void Emulator::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  MemoryRange source = state->range(from, bytes), target = state->range(to, bytes);
  if (bytes == 0) {
    return;
  }
  std::vector<bool> isDefined(bytes, true);
  const bool whole = Checker::isDefined(source);
  for (uint64_t i = 0; !whole && i < bytes; ++i) {
    isDefined[i] = Checker::isDefined({source.region, source.offset + i, 1});
  }
  std::memmove(target.data(), source.data(), bytes);
  Checker::setDefined(target, true);
  for (uint64_t i = 0; !whole && i < bytes; ++i) {
    if (!isDefined[i]) {
      Checker::setDefined({target.region, target.offset + i, 1}, false);
    }
  }
}

void *Emulator::allocateShared(uint64_t bytes, const std::string &name, uint64_t &address) {
  Region &region = state->memory.allocate(bytes, name, 256);
  std::fill(region.bytes.begin(), region.bytes.end(), uint8_t(0));
  Checker::attach(region, /*defined=*/true);
  address = region.base;
  return region.bytes.data();
}

void Emulator::undefine(uint64_t address, uint64_t bytes, uint8_t fill) {
  MemoryRange range = state->range(address, bytes);
  if (bytes) {
    std::memset(range.data(), fill, bytes);
    Checker::setDefined(range, false);
  }
}

Emulator::Unwritten Emulator::unwritten(uint64_t address, std::span<const std::byte> holds) {
  Region *region = state->memory.find(address);
  Unwritten result;
  if (!region || region->base != address || Checker::isDefined({region, 0, region->bytes.size()})) {
    return result;
  }
  for (uint64_t i = region->bytes.size(); i-- > 0;) {
    const bool counts = holds.empty() || (i < holds.size() && holds[i] != std::byte{});
    if (counts && !Checker::isDefined({region, i, 1})) {
      result = {result.bytes + 1, i};
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

std::shared_ptr<Emulator::Loaded> Emulator::load(std::string_view text) {
  auto loaded = std::make_shared<Loaded>();
  loaded->module = ptx::parse(text);
  state->placeVariables(*loaded);
  state->modules.push_back(loaded);
  return loaded;
}

/// Global and constant variables get memory of their own each.
void Emulator::State::placeVariables(Loaded &loaded) {
  uint64_t total = 0;
  for (const ptx::Variable &variable : loaded.module.variables) {
    bool isConst = variable.space == ptx::Space::Const;
    if (!isConst && variable.space != ptx::Space::Global) {
      continue;
    }
    if (variable.bytes > kMaxModuleBytes || (total += variable.bytes) > kMaxModuleBytes) {
      invalid("the variables of the module need more memory than the emulator gives (256 MiB)");
    }
    Region &region = memory.allocate(variable.bytes, "variable `" + variable.name + "`",
                                     std::max<uint64_t>(variable.align, 256));
    std::fill(region.bytes.begin(), region.bytes.end(), uint8_t(0));
    std::copy(variable.initial.begin(), variable.initial.end(), region.bytes.begin());
    region.kind = isConst ? Region::Kind::Const : Region::Kind::Global;
    region.readOnly = isConst;
    if (!isConst) {
      Checker::attach(region, /*defined=*/true);
    }
    loaded.variables[variable.name] = region.base;
  }
}

const Code &Emulator::State::codeOf(Loaded &loaded, const std::string &entry) {
  auto it = loaded.codes.find(entry);
  if (it == loaded.codes.end()) {
    const ptx::Function *function = loaded.module.find(entry);
    if (!function || !function->isEntry) {
      invalid("the module has no kernel `" + entry + "`");
    }
    it = loaded.codes.emplace(entry, decode(loaded.module, *function)).first;
  }
  return it->second;
}

std::vector<uint64_t> Emulator::parameterBytes(Loaded &module, const std::string &entry) {
  std::vector<uint64_t> bytes;
  for (const ptx::Variable &param : state->codeOf(module, entry).function->params) {
    bytes.push_back(param.bytes);
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

bool Emulator::State::launch(Loaded &loaded, const Launch &launch) {
  const Code &code = codeOf(loaded, launch.entry);
  checkShape(launch);
  checkDirectives(*code.function, launch);
  uint64_t shared = launch.dynamicSharedBytes ? code.dynamicSharedOffset : code.staticSharedBytes;
  if (launch.dynamicSharedBytes > kMaxSharedBytes ||
      shared + launch.dynamicSharedBytes > kMaxSharedBytes) {
    invalid(textOf("`", launch.entry, "` needs ", shared + launch.dynamicSharedBytes,
                   " bytes of shared memory, more than ", kMaxSharedBytes));
  }
  LaunchConfig config{.code = &code,
                      .grid = launch.grid,
                      .block = launch.block,
                      .cluster = launch.cluster,
                      .dynamicSharedBytes = launch.dynamicSharedBytes,
                      .params = layOutParams(*code.function, code.paramBytes, launch.params),
                      .variables = loaded.variables,
                      .overlaps = launch.overlaps};
  return machine.run(config);
}

bool Emulator::launch(Loaded &module, const Launch &launch) {
  state->files = module.module.files;
  if (!launch.overlaps) { // the next launch may ask what this one has accessed
    state->memory.forEach([](Region &region) { Checker::forgetAccesses(region); });
  }
  bool finished = false;
  try {
    finished = state->launch(module, launch);
  } catch (const Fault &fault) {
    state->sink.add(fault.report);
  }
  state->sink.exitsLast();
  return finished;
}

uint64_t Emulator::steps() const { return state->machine.steps; }

const std::vector<Report> &Emulator::reports() const { return state->sink.reports(); }

std::string Emulator::describe() const {
  std::string text;
  for (const Report &report : state->sink.reports()) {
    text += format(report, state->files);
    text += text.empty() || text.back() == '\n' ? "" : "\n";
  }
  if (size_t more = state->sink.suppressed()) {
    text += textOf("and ", more, " more of the same or over the limit\n");
  }
  return text;
}

std::string Emulator::profileTable() const { return state->machine.profile.table(state->files); }

} // namespace tile_emu
