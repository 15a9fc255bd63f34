// What a warp has under way in wgmma: groups, and the registers that they use until they are waited
// for. PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
//
// Products are computed where they are issued; what makes them asynchronous is checked: a register
// of an accumulator or of A must not be touched by other instructions until wgmma.wait_group, and a
// wgmma.fence must lie between another instruction's access to a register, a copy's or that of a
// product of another shape too, and a product that uses it. Operands in shared memory are read as
// the step `openGroup` of the warpgroup's channel, which the wait completes: groups are those of a
// warpgroup, so one warp's wait is for all four; with Options::strictWaits each warp has a channel
// of its own, and learns of its own part alone, which may read all rows of A.
#pragma once

#include "../exec/Step.h"
#include "Fragments.h"

#include <deque>
#include <map>

namespace tile_emu {

constexpr unsigned kWarpsOfGroup = 4;

/// The products that the four warps of a warpgroup have issued: all must issue the same.
struct WgmmaSequence {
  struct Product {
    const ptx::Instruction *instruction = nullptr;
    uint64_t descriptorA = 0, descriptorB = 0; ///< 0 for A in registers
    bool accumulates = false;
    bool operator==(const Product &) const = default;
  };
  struct Entry {
    Product product;
    unsigned warps = 0; ///< that have issued it
  };
  /// A group of products under way.
  struct Group {
    SyncPoint issued;   ///< what its issuers did before
    unsigned waits = 0; ///< warps that have waited for it
  };
  AgentId channel = 0;
  std::map<Step32, Group> groups;
  uint64_t first = 0; ///< number of entries[0]; those before it are forgotten
  std::deque<Entry> entries;
};

/// Of one warp.
struct WgmmaState {
  struct Use {
    Step32 group = 0; ///< that uses the register; 0: none
    const ptx::Instruction *product = nullptr;
    bool accumulator = false;
    MatrixShape shape;
    uint32_t usedAfter = 0; ///< by a product, last: how many fences had been executed
    /// Last accesses by ordinary instructions: how many fences had been executed, and which.
    uint32_t readAfter = 0, writtenAfter = 0;
    const ptx::Instruction *reader = nullptr, *writer = nullptr;
  };
  Step32 openGroup = 1; ///< collects products until commit_group
  Step32 doneGroup = 0; ///< this one and all before it have been waited for
  bool openUsed = false;
  uint32_t fences = 1;               ///< executed so far, plus one
  uint64_t issued = 0;               ///< products
  std::deque<uint64_t> issuedBefore; ///< products issued up to the end of groups doneGroup + 1, ...
  std::vector<Use> uses;             ///< by row
  std::vector<Row> inFlight;
  std::shared_ptr<WgmmaSequence> sequence;
  AgentId channel = 0; ///< of the accesses to shared memory

  /// The state of the executing warp, made when it is first needed.
  static WgmmaState &of(Step &step);

  /// Reports products that would use registers in flight, or after other accesses without a fence,
  /// and takes the registers. Products of one shape may add to the same ones without.
  void useRegister(Step &step, Row row, bool accumulator, MatrixShape shape);
  /// A product of the open group is issued: what its warp did before happens before the end of a
  /// wait of any warp of the warpgroup, since the product needs them all.
  void issue(Step &step);
  /// Faults unless the other warps of the warpgroup issue the same.
  void agree(Step &step, const WgmmaSequence::Product &product);
  void fence() { ++fences; }
  void commit(Step &step);
  /// Until at most `pending` committed groups are under way. A product is the work of all four
  /// warps: it cannot be done before all have issued it; Outcome::Blocked until then.
  Outcome wait(Step &step, uint64_t pending);
};

/// To be called when the last lane of a warp has executed `exit` or `ret`: reports products that
/// nobody has waited for, and that other warps of the warpgroup have issued without this one.
void checkWgmmaAtExit(Step &step);

} // namespace tile_emu
