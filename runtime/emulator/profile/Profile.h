// What the hardware would feel: counts per instruction. Bank conflicts and sectors follow the CUDA
// programming guide and the layout of 32 banks of 4 bytes; a request of more than 128 bytes is
// served in parts of quarter- or half-warps.
#pragma once

#include "../ptx/Module.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace tile_emu {

struct InstructionCounts {
  uint64_t warps = 0, lanes = 0; ///< executions
  uint64_t sharedWavefronts = 0,
           idealWavefronts = 0; ///< passes over the banks; what the bytes alone need
  uint64_t globalRequests = 0, globalSectors = 0, idealSectors = 0; ///< 32-byte sectors
  uint64_t copiedBytes = 0;                                         ///< by bulk and tensor copies
  uint64_t multiplyAdds = 0;                                        ///< of matrix products
  void add(const InstructionCounts &other);
};

class Profile {
public:
  /// One shared-memory request of a warp: byte addresses by lane, a mask of the active lanes, and
  /// bytes per lane. Lanes that access the same word share it.
  void shared(const ptx::Instruction *instruction, const uint64_t *addresses, uint32_t lanes,
              unsigned bytes);
  /// Addresses of the rows of one phase of ldmatrix/stmatrix: 8 rows of 16 bytes.
  void matrixPhase(const ptx::Instruction *instruction, const uint64_t *rows);
  void globalAccess(const ptx::Instruction *instruction, const uint64_t *addresses, uint32_t lanes,
                    unsigned bytes);
  void bulk(const ptx::Instruction *instruction, uint64_t bytes);
  void executed(const ptx::Instruction *instruction, unsigned lanes);
  void multiplyAdds(const ptx::Instruction *instruction, uint64_t count);

  bool enabled = false; ///< nothing is counted otherwise
  const std::unordered_map<const ptx::Instruction *, InstructionCounts> &counts() const {
    return byInstruction;
  }
  enum class Order : uint8_t { Cost, Source };
  /// A table by source line (by PTX line if the program names no sources), those that take most
  /// first or in the order of the source; then totals and the mix by mnemonic. Cost: instructions
  /// issued, and passes over the banks and sectors beyond what one instruction takes.
  std::string table(const std::map<uint32_t, std::string> &files, Order order = Order::Cost) const;

private:
  InstructionCounts &countsOf(const ptx::Instruction *instruction);

  std::unordered_map<const ptx::Instruction *, InstructionCounts> byInstruction;
  const ptx::Instruction *last = nullptr;
  InstructionCounts *lastCounts = nullptr;
};

} // namespace tile_emu
