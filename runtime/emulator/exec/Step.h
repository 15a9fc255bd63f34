// One execution of one instruction by some lanes of a warp: all that handlers may touch.
#pragma once

#include "../check/Checker.h"
#include "Machine.h"

#include <bit>
#include <cstring>
#include <span>

namespace tile_emu {

class Step {
public:
  Step(Machine &machine, Block &block, Warp &warp, const Op &op, LaneMask lanes)
      : machine(machine), block(block), warp(warp), op(op), lanes(lanes) {}

  Machine &machine;
  Block &block;
  Warp &warp;
  const Op &op;
  const LaneMask lanes; ///< active, guard applied; never empty

  /// 32 values of a row.
  uint64_t *row(Row r) { return warp.registers.data() + size_t(r) * kWarpSize; }
  uint64_t get(Row r, unsigned lane) { return row(r)[lane]; }
  void set(Row r, unsigned lane, uint64_t bits) { row(r)[lane] = bits; }
  /// The value of a row in the first active lane; Fault (Invalid) if active lanes differ and `name`
  /// is given.
  uint64_t uniform(Row r, const char *name = nullptr);
  template <typename F>
  void forLanes(F &&f) {
    for (LaneMask m = lanes; m; m &= m - 1) {
      f(unsigned(std::countr_zero(m)));
    }
  }
  ThreadId thread(unsigned lane) const { return warp.firstThread + lane; }

  // For Outcome::Jumped.
  void jump(unsigned lane, uint32_t target) {
    targets[lane] = target;
    jumped |= LaneMask(1) << lane;
  }
  void exit(unsigned lane);
  /// For Outcome::Blocked: what the lanes wait for; shown in deadlock reports. `what` is text such
  /// as "barrier 1 (128 of 256 threads have arrived)".
  void waitFor(std::function<std::string()> what) { waiting = std::move(what); }

  // Memory, generic proxy. Bounds, alignment (to `bytes`, a power of two), races and definedness
  // are checked; counting for the profile is up to the handler. `address` is as the instruction
  // sees it in that space. Faults: OutOfBounds, Misaligned.
  /// False if a byte was never written: the handler then calls undefine() for the destination.
  bool load(ptx::Space space, unsigned lane, uint64_t address, void *to, unsigned bytes,
            AccessFlags flags = {});
  /// `defined`: whether the stored value is.
  void store(ptx::Space space, unsigned lane, uint64_t address, const void *from, unsigned bytes,
             bool defined = true, AccessFlags flags = {});
  /// Where an address lies; Fault if nowhere. For handlers that copy themselves (bulk copies,
  /// matrix operands).
  MemoryRange resolve(ptx::Space space, uint64_t address, uint64_t bytes, unsigned align,
                      unsigned lane);
  /// The block whose shared memory an address in `shared::cluster` means, and the address there.
  Block &blockOf(uint64_t &clusterAddress, unsigned lane);
  /// A lane accesses the shared memory of another block, which must not end before. (Asynchronous
  /// work is not noted: its mbarrier tells.)
  void noteVisit(Block &target, unsigned lane);
  /// Is the value of a row defined in a lane?
  bool isDefined(Row r, unsigned lane) const { return warp.defined[r] >> lane & 1; }
  uint64_t undefinedBits(Row r, unsigned lane) const { return warp.undefinedIn(r, lane); }
  /// After the handler returns Next, these bits of the row are undefined in this lane.
  void undefine(Row r, unsigned lane, uint64_t bits = ~uint64_t(0)) {
    if (bits) {
      undefined.push_back({r, lane, bits});
    }
  }
  struct Undefined {
    Row row;
    unsigned lane;
    uint64_t bits;
  };
  std::vector<Undefined> undefined;

  [[noreturn]] void fault(Report::Kind kind, const std::string &message,
                          unsigned lane = kWarpSize); ///< names this instruction
  void report(Report::Kind kind, const std::string &message, unsigned lane = kWarpSize);
  Party party(unsigned lane, const std::string &what) const;
  /// An undefined value goes to global memory.
  void reportUndefinedStore(Row row, const MemoryRange &to, unsigned lane);

  // What a handler leaves to the machine.
  std::function<std::string()> waiting;
  LaneMask jumped = 0;
  std::array<uint32_t, kWarpSize> targets; ///< of the lanes in `jumped`

  /// Fault if bytes of shared memory are outside of the variable that the address in a row is made
  /// from, where that is known.
  void checkVariable(Row base, const MemoryRange &range, unsigned lane);
  /// Fault for memory that cannot be written: constants, mbarriers.
  void checkWritable(const MemoryRange &range, unsigned lane);

private:
  MemoryRange resolveShared(uint64_t address, uint64_t bytes, unsigned lane);
  MemoryRange resolveLocal(uint64_t address, uint64_t bytes, unsigned lane);
  MemoryRange resolveGlobal(uint64_t address, uint64_t bytes, unsigned lane);
  MemoryRange within(Region &region, uint64_t address, uint64_t bytes, unsigned lane);
};

/// "ld.global.v4.b32": the opcode as written.
std::string opcodeOf(const ptx::Instruction &instruction);

} // namespace tile_emu
