//===- CheckRegisters.cpp - fragments that no thread can hold ------------===//
//
// Counted is what lives at one time without doubt: the sum of a product, and all that one loop
// carries. What is more than a thread can have is refused here, before code is made for it; what
// only does not fit beside the rest is ptxas' to spill. Other fragments may pass through registers
// piece by piece: for them the limit only keeps code from growing without bound.
//
//===----------------------------------------------------------------------===//
#include "dialects/support/Diagnostics.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"
#include "passes/Registers.h"
#include "passes/RoleMap.h"

namespace tilec {
#define GEN_PASS_DEF_CHECKREGISTERS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// Values of each role.
SmallVector<SmallVector<Value>> byRole(ValueRange values, const RoleMap &roles) {
  SmallVector<SmallVector<Value>> groups(roles.count());
  for (Value value : values) {
    groups[roles.roleOf(value).value_or(0)].push_back(value);
  }
  return groups;
}

/// Values that are alive together, in a thread: what a loop carries; any other result alone.
SmallVector<SmallVector<Value>> groupsOf(Operation *op, const RoleMap &roles) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return byRole(loop.getRegionIterArgs(), roles);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    SmallVector<SmallVector<Value>> groups = byRole(loop.getBeforeArguments(), roles);
    llvm::append_range(groups, byRole(loop.getAfterArguments(), roles));
    return groups;
  }
  SmallVector<SmallVector<Value>> alone;
  for (Value result : op->getResults()) {
    alone.push_back({result});
  }
  return alone;
}

/// What a value takes beside others of its group, or as it passes through.
int64_t ownOf(Value value, bool streams) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? registersCarried(value, isa<scf::ForOp>(argument.getOwner()->getParentOp()))
                  : registersOf(value, streams);
}

/// Where the program gives a carried value its first contents.
Location placeOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return loop ? loop.getInitArgs()[argument.getArgNumber() - 1].getLoc() : value.getLoc();
}

/// Functions that take long code for each element: some 200 instructions, and as many registers as
/// several elements for a while.
int64_t weightOf(Operation *op) { return isa<math::SinOp, math::CosOp, math::PowFOp>(op) ? 3 : 1; }

/// How many times the registers of a thread a fragment that passes through them may be, and one
/// whose elements are other values' again.
constexpr int64_t kStreamed = 2, kRepeated = 4;

struct CheckRegisters : tilec::impl::CheckRegistersBase<CheckRegisters> {
  void runOnOperation() override {
    const Target *target = getTarget(getOperation());
    if (!target) {
      return signalPassFailure();
    }
    const int64_t threads = getOperation().getLaunchedThreads();
    const int64_t blocks = getOperation().getMinBlocks().value_or(1);
    if (blocks * threads > threadsPerSM(*target)) {
      getOperation().emitError(diag::formatDiagnostic(
          diag::Id::AnnotationArgument, "min_blocks",
          "wants " + std::to_string(blocks) + " blocks of " + std::to_string(threads) +
              " threads, but a multiprocessor of `" + target->name.str() + "` holds " +
              std::to_string(threadsPerSM(*target)) + " threads"));
      return signalPassFailure();
    }
    const int64_t available = registersPerThread(getOperation(), *target);
    SmallVector<Value> worst;
    int64_t most = 0;
    bool worstStreams = false;
    int64_t worstWeight = 1;
    const RoleMap roles(getOperation());
    getOperation().walk([&](Operation *op) {
      const bool streams = !isa<tgpu::DotOp, scf::ForOp, scf::WhileOp>(op);
      const int64_t times = isa<tile::SplatOp, tile::BroadcastOp>(op) ? kRepeated : kStreamed;
      for (const SmallVector<Value> &group : groupsOf(op, roles)) {
        int64_t registers = 0;
        for (Value value : group) {
          registers += ownOf(value, streams) * weightOf(op);
        }
        if (registers > most && (!streams || registers > times * available)) {
          most = registers;
          worst = group;
          worstStreams = streams;
          worstWeight = weightOf(op);
        }
      }
    });
    if (most > available) {
      report(worst, most, available, worstStreams, worstWeight);
      signalPassFailure();
    }
  }

  void report(ArrayRef<Value> values, int64_t registers, int64_t available, bool streams,
              int64_t weight) {
    InFlightDiagnostic error = getOperation().emitError(
        diag::formatDiagnostic(diag::Id::FragmentTooLarge, registers, available));
    for (Value value : values) {
      if (int64_t own = ownOf(value, streams) * weight) {
        auto type = cast<RankedTensorType>(value.getType());
        std::string line;
        llvm::raw_string_ostream os(line);
        os << own << " registers: ";
        llvm::interleave(type.getShape(), os, "x");
        os << ' ' << type.getElementType();
        error.attachNote(placeOf(value)) << line;
      }
    }
  }
};

} // namespace
