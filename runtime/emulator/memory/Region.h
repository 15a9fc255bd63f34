// Memory: regions of bytes with a name, an address, and what the checker knows about each byte.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tile_emu {

class Shadow; // check/Shadow.h

/// What memory holds that nobody has written: a NaN in every floating-point type.
constexpr uint8_t kNeverWritten = 0xff;

/// One allocation of global memory, one block's shared memory, one thread's local memory.
struct Region {
  enum class Kind : uint8_t { Global, Shared, Local, Param, Const };
  Kind kind = Kind::Global;
  std::string name;  ///< the tensor argument, "shared memory", ...
  uint64_t base = 0; ///< address within its space
  std::vector<uint8_t> bytes;
  uint32_t block = 0; ///< Shared, Local: number of the block in the grid
  bool readOnly = false;
  std::unique_ptr<Shadow>
      shadow; ///< made by the checker; null where it does not look (param, const)

  Region();
  ~Region();
};

/// Bytes of a region, inside it.
struct MemoryRange {
  Region *region = nullptr;
  uint64_t offset = 0, bytes = 0;
  uint8_t *data() const { return region->bytes.data() + offset; }
};

/// Global memory of a device. Allocations lie apart, so that overruns are found, and a freed
/// address is never given again.
class GlobalMemory {
public:
  static constexpr uint64_t kFirstAddress = 0x10'0000'0000, kGap = 4096;
  /// A new region, its bytes undefined; `align` is a power of two.
  Region &allocate(uint64_t bytes, std::string name, uint64_t align = 256);
  void free(uint64_t address);
  /// The region that contains `address` or is nearest below it; null if there is none.
  Region *find(uint64_t address);
  template <typename F>
  void forEach(F &&f) {
    for (auto &[base, region] : regions) {
      f(*region);
    }
  }

private:
  std::map<uint64_t, std::unique_ptr<Region>> regions; ///< by base
  uint64_t next = kFirstAddress;
  Region *last = nullptr; ///< found last
};

} // namespace tile_emu
