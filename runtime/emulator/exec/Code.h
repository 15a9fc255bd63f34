// Decoded code: what the machine executes. One Op per PTX instruction, a closure that works on all
// active lanes of a warp at once.
#pragma once

#include "../ptx/Module.h"

#include <functional>
#include <map>
#include <memory>

namespace tile_emu {

class Step;

constexpr unsigned kWarpSize = 32;
using LaneMask = uint32_t;

/// A row of a warp's register file: 32 lanes of 64 bits. Narrower values lie in the low bits, the
/// rest is zero; predicates are 0 or 1; 128-bit registers take two rows. Immediates, addresses of
/// variables and constant special registers are rows too, filled when a warp starts, so that every
/// source operand is a row.
using Row = uint32_t;
/// What `_` as a destination writes to; two rows, never read.
constexpr Row kSinkRow = 0;

enum class Outcome : uint8_t {
  Next,    ///< the lanes go on with the next instruction
  Jumped,  ///< the handler has set the lanes' program counters (Step::jump, Step::exit)
  Blocked, ///< nothing happened; the lanes stay here and are tried again later (Step::waitFor says
           ///< on what)
};

using Execute = std::function<Outcome(Step &)>;

/// Which lanes an instruction needs together before it executes.
enum class Together : uint8_t {
  No,         ///< any subset
  MemberMask, ///< the lanes named by the mask operand (shfl.sync, bar.warp.sync, elect.sync, ...)
  Warp,       ///< `.aligned`: all lanes of the warp that have not exited
};

struct Op {
  Execute execute;
  Together together = Together::No;
  Row memberMask = 0; ///< for Together::MemberMask
  std::optional<Row> guard;
  bool guardNegated = false;
  /// Undefined inputs make undefined outputs (arithmetic, moves, selp) instead of a report.
  bool propagatesUndefined = false;
  /// The handler looks at its inputs itself and calls Step::undefine: neither is done for it.
  bool tracksUndefined = false;
  /// Says, by Step::undefine, which bits of the results are undefined in a lane in which some input
  /// is not defined as a whole; without it all are. Before `execute`, with `propagatesUndefined`.
  std::function<void(Step &, unsigned lane)> undefinedResults;
  std::vector<Row> reads, writes; ///< registers only; `writes` become defined after Outcome::Next
  /// Registers that an asynchronous instruction (wgmma) keeps using: not checked as plain reads and
  /// writes.
  bool handlesOwnRegisters = false;
  /// What its warp did at barriers of other blocks has come there before it (Warp::arrivals).
  bool settlesArrivals = false;
  const ptx::Instruction *instruction = nullptr;
  /// Where it may jump to, and whether it may go on with the next instruction.
  std::vector<uint32_t> targets;
  bool fallsThrough = true;
};

/// A row whose value is known before the program starts.
struct ConstantRow {
  enum class Kind : uint8_t {
    Bits,
    Special,
    ModuleVariable ///< in global or constant memory: its address is known at launch
  };
  Kind kind = Kind::Bits;
  uint64_t bits = 0; ///< the value, or the offset from the variable
  std::string name;  ///< "%tid.x", the variable; of bits: the shared variable whose address it is
};

/// A variable in shared memory of known size.
struct SharedVariable {
  std::string name;
  uint64_t offset = 0, bytes = 0;
};

/// A kernel ready to run. The ptx::Module must outlive it.
struct Code {
  const ptx::Module *module = nullptr;
  const ptx::Function *function = nullptr;
  std::vector<Op> ops;
  Row numRows = 0;
  std::vector<std::pair<Row, ConstantRow>> constants;
  uint64_t staticSharedBytes = 0, localBytes = 0, paramBytes = 0;
  uint64_t dynamicSharedOffset = 0; ///< where dynamic shared memory starts, after the static one
  std::map<uint64_t, std::string> sharedVariables; ///< by offset in shared memory
  /// The shared variable whose address every value of a row is made from; null: none or several, or
  /// it is not known. Provenance.cpp.
  const SharedVariable *variableOf(Row row) const {
    return row < provenance.size() ? provenance[row] : nullptr;
  }
  std::map<std::string, SharedVariable> sizedVariables;
  std::vector<const SharedVariable *> provenance; ///< by row; empty if there is none
  // Flow.cpp:
  /// Where all ways from a branch meet again: its immediate postdominator; ops.size() if they need
  /// not.
  uint32_t meetingPoint(uint32_t branch) const;
  /// Head, and by instruction whether it belongs to the loop.
  struct Loop {
    uint32_t head = 0;
    std::vector<bool> body;
  };
  const std::vector<Loop> &loops() const;
  /// The numbers of the loops that a branch is in, or what stands before the head of its loop: from
  /// these lanes may come to another round, or leave. Of other instructions: none.
  const std::vector<uint32_t> &loopsAround(uint32_t at) const;
  /// May lanes at an instruction wait for an mbarrier in a loop before they come to another one?
  bool mayWaitBefore(uint32_t from, uint32_t to) const;
  mutable std::vector<uint32_t> postdominators;                ///< made when first asked for
  mutable std::map<std::pair<uint32_t, uint32_t>, bool> waits; ///< answers of mayWaitBefore
  mutable std::optional<std::vector<Loop>> knownLoops;         ///< made when first asked for
  mutable std::vector<std::vector<uint32_t>> around;           ///< of loopsAround, with them
  /// The place in shared memory, for reports: "smem+64 (0x440)".
  std::string nameOfShared(uint64_t offset) const;
  /// What a row is in the PTX text, for reports: "%r12"; "" for constants.
  std::string nameOf(Row row) const;
  static constexpr Row kNoRow = ~Row(0);
  std::vector<Row> registerRows; ///< by register of the function; kNoRow for those without use
};

/// Decodes all of a function. Throws Fault (Unsupported, Invalid) that names instruction, modifier
/// and line.
Code decode(const ptx::Module &module, const ptx::Function &function);

} // namespace tile_emu
