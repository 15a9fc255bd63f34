// libFuzzer over the emulator: whatever PTX does, a launch of one block ends, with or without
// reports.
#include "runtime/emulator/Emulator.h"
#include "runtime/emulator/ptx/Parser.h"

#include <cstring>

using namespace tile_emu;

namespace {

constexpr uint64_t kBytes = 4096; ///< of global memory
constexpr uint64_t kMaxVariable = uint64_t(1) << 18;
constexpr uint32_t kMaxThreads = 256;

/// Arguments as kernels take them: addresses, sizes, tensor maps.
std::vector<std::vector<uint8_t>> argumentsOf(const ptx::Function &entry, uint64_t address) {
  TensorMapRecipe recipe;
  recipe.base = address;
  recipe.dims = {32, 16};
  recipe.strides = {64};
  recipe.box = {32, 8};
  recipe.elementStrides = {1, 1};
  recipe.swizzle = 64;
  std::array<uint8_t, 128> map = encodeTensorMap(recipe);
  std::vector<std::vector<uint8_t>> arguments;
  for (const ptx::Variable &param : entry.params) {
    std::vector<uint8_t> &bytes = arguments.emplace_back(param.bytes);
    if (param.bytes == map.size()) {
      bytes.assign(map.begin(), map.end());
    } else if (param.bytes == 8) {
      std::memcpy(bytes.data(), &address, 8);
    } else if (!bytes.empty()) {
      bytes[0] = 16;
    }
  }
  return arguments;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  ptx::Module module;
  Options options;
  options.stepBudget = 5000;
  options.randomSchedule = size % 2 != 0;
  options.seed = size;
  options.maxReports = 10;
  options.profile = true;
  Emulator emulator(options);
  std::shared_ptr<Emulator::Loaded> loaded;
  try {
    module = ptx::parse(text); // to know the entries
    for (const ptx::Variable &variable : module.variables) {
      if (variable.bytes > kMaxVariable) {
        return 0; // only slow
      }
    }
    loaded = emulator.load(text);
  } catch (const ptx::SyntaxError &) {
    return 0;
  } catch (const Fault &) { // of a variable's value or size
    return 0;
  }
  uint64_t address = emulator.allocate(kBytes, "memory");
  std::vector<uint8_t> zeros(kBytes);
  emulator.write(address, zeros.data(), kBytes / 2); // the rest is undefined
  for (const ptx::Function &function : module.functions) {
    if (!function.isEntry) {
      continue;
    }
    Emulator::Launch launch;
    launch.entry = function.name;
    launch.block = function.requiredThreads.value_or(std::array<unsigned, 3>{64, 1, 1});
    uint64_t threads = uint64_t(launch.block[0]) * launch.block[1];
    if (threads > kMaxThreads || threads * launch.block[2] > kMaxThreads) {
      launch.block = {64, 1, 1};
    }
    launch.cluster = function.requiredCluster.value_or(std::array<unsigned, 3>{1, 1, 1});
    uint64_t blocks = uint64_t(launch.cluster[0]) * launch.cluster[1];
    if (blocks > 2 || blocks * launch.cluster[2] > 2) {
      launch.cluster = {1, 1, 1};
    }
    launch.grid = launch.cluster;
    launch.dynamicSharedBytes = 8192;
    launch.params = argumentsOf(function, address);
    emulator.launch(*loaded, launch);
    break; // one is enough
  }
  emulator.describe();
  emulator.profileTable();
  return 0;
}
