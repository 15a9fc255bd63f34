// The emulator's interface: load PTX, allocate memory, launch, read reports. Nothing of it is
// thread-safe.
//
//   Emulator emulator(options);
//   auto module = emulator.load(ptxText);
//   uint64_t a = emulator.allocate(bytes, "A"); emulator.write(a, data, bytes);
//   emulator.launch(*module, "gemm_0", {.grid = ..., .block = ..., .params = {...}});
#pragma once

#include "../support/TensorMapArguments.h"
#include "exec/Machine.h"

namespace tile_emu {

/// A tensor map in the emulator's own terms. Dimensions innermost first.
struct TensorMapRecipe {
  ptx::Type type = ptx::Type::F16; ///< one that CUtensorMapDataType has; decides reductions
  uint64_t base = 0;
  std::vector<uint64_t> dims;    ///< elements, 1 to 5
  std::vector<uint64_t> strides; ///< bytes, of dimensions 1 and up: dims.size() - 1
  std::vector<uint32_t> box, elementStrides;
  unsigned swizzle = 0; ///< bytes: 0, 32, 64, 128
  unsigned interleave = 0;
  bool nanFill = false;

  unsigned elementBytes() const { return ptx::bitsOf(type) / 8; }
};
/// The 128 bytes that a kernel gets for a map. Throw Fault (Invalid) for what the driver refuses.
std::array<uint8_t, 128> encodeTensorMap(const tile_rt::TensorMapArguments &arguments);
std::array<uint8_t, 128> encodeTensorMap(const TensorMapRecipe &recipe);

/// How many random schedules a run without wishes adds to the round-robin one that took so many
/// steps: they cost as much each, and a few find what only some orders show.
constexpr unsigned schedulesAfter(uint64_t steps) {
  return steps <= 5'000'000 ? 3 : steps <= 50'000'000 ? 1 : 0;
}

class Emulator {
public:
  explicit Emulator(Options options = {});
  ~Emulator();

  struct Loaded; ///< a module and its decoded entries
  /// Throws ptx::SyntaxError.
  std::shared_ptr<Loaded> load(std::string_view ptx);

  uint64_t allocate(uint64_t bytes, const std::string &name, uint64_t align = 256);
  void free(uint64_t address);
  /// Host copies define the bytes they write. Throw std::out_of_range outside of an allocation.
  void write(uint64_t address, const void *from, uint64_t bytes);
  void read(uint64_t address, void *to, uint64_t bytes);
  /// Copies within the device; what was never written is not written behind it either. Throws like write.
  void copy(uint64_t to, uint64_t from, uint64_t bytes);
  /// Memory that host and device share, zeros: where the host sees it. It lives until free(`address`).
  void *allocateShared(uint64_t bytes, const std::string &name, uint64_t &address);
  /// Fills memory with a byte that counts as never written. Throws like write.
  void undefine(uint64_t address, uint64_t bytes, uint8_t fill);

  /// Bytes of each parameter of an entry. Throws Fault (Invalid) where the module has no such entry.
  std::vector<uint64_t> parameterBytes(Loaded &module, const std::string &entry);

  struct Launch {
    std::string entry;
    std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
    uint64_t dynamicSharedBytes = 0;
    std::vector<std::vector<uint8_t>> params; ///< one per parameter of the entry, of its size
    /// It may begin before the launch before it has ended (programmatic dependent launch): what it does before
    /// griddepcontrol.wait is held against what that one did.
    bool overlaps = false;
  };
  /// Runs to the end. False if the grid had to be stopped; see reports().
  bool launch(Loaded &module, const Launch &launch);

  /// Bytes of an allocation that were never written; if `holds` is given, of those where it is not 0.
  struct Unwritten {
    uint64_t bytes = 0, first = 0; ///< how many, and where the first one lies
  };
  Unwritten unwritten(uint64_t address, std::span<const std::byte> holds = {});

  /// Instructions of warps that the last launch executed.
  uint64_t steps() const;
  const std::vector<Report> &reports() const;
  /// All reports as text.
  std::string describe() const;
  std::string profileTable() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tile_emu
