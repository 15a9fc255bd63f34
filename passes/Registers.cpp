//===- Registers.cpp - what fragments take of a thread's registers -------===//
//
// Fragments are live from where they are computed to their last use, as anywhere; in a loop those
// from outside of it live to its end. Element-wise operations may become one, so that less is live
// than is counted here.
//
//===----------------------------------------------------------------------===//
#include "passes/Registers.h"

#include "mlir/Transforms/RegionUtils.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

int64_t tilec::registersOf(Value value, bool apart) {
  Type whole = value.getType();
  if (auto pending = dyn_cast<tgpu::PendingType>(whole)) {
    whole = pending.getFragment();
  }
  auto type = dyn_cast<RankedTensorType>(whole);
  const layout::RegisterLayout *layout = type ? tgpu::getLayout(type) : nullptr;
  if (!layout) {
    return 0;
  }
  int64_t bits = std::max(apart ? 32u : 8u, unsigned(tile::getStorageBits(type.getElementType())));
  return llvm::divideCeil(layout->registersPerThread() * bits, 32);
}

int64_t tilec::packedInWord(Type element) {
  const unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  return bits == 8 ? 4 : bits == 16 && element.isInteger() ? 2 : 1;
}

int64_t tilec::registersCarried(Value value, bool shares) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  const int64_t inWord = type ? packedInWord(type.getElementType()) : 1;
  const int64_t apart = registersOf(value, /*apart=*/true);
  return inWord == 1 ? registersOf(value) : shares && apart % inWord == 0 ? apart / inWord : apart;
}

bool tilec::isCrowded(int64_t apart, int64_t available) {
  return 3 * apart > 2 * available; // the body needs some, too
}

bool tilec::isCrowded(scf::ForOp loop) {
  auto kernel = loop->getParentOfType<tgpu::KernelOp>();
  const Target *target = kernel ? findTarget(kernel.getTarget().value_or("")) : nullptr;
  if (!target) {
    return false;
  }
  int64_t apart = 0;
  for (Value value : loop.getRegionIterArgs()) {
    apart += registersCarried(value, /*shares=*/false);
  }
  return isCrowded(apart, registersPerThread(kernel, *target, kernel.getMinBlocks().value_or(1)));
}

/// A copy into shared memory by loads and stores.
static bool isCopyByThreads(tgpu::CopyOp copy) {
  return isa<tgpu::SmemType>(copy.getDest().getType()) &&
         copy.getPath().value_or(tgpu::CopyPath::Vector) == tgpu::CopyPath::Vector;
}

int64_t tilec::accessesInFlight(tgpu::CopyOp copy, int64_t bytes, int64_t registers) {
  constexpr int64_t kMostInFlight = 64;
  const int64_t copies = llvm::count_if(copy->getBlock()->getOps<tgpu::CopyOp>(), isCopyByThreads);
  const int64_t each = int64_t(llvm::divideCeil(bytes, 4)) * std::max<int64_t>(1, copies);
  return std::clamp(registers / each, kLeastInFlight, kMostInFlight);
}

int64_t tilec::registersPerThread(tgpu::KernelOp kernel, const Target &target, int64_t blocks) {
  // Registers are given out in units of 8 for each thread (CUDA C programming guide).
  const int64_t share = target.registersPerSM / (blocks * kernel.getLaunchedThreads()) / 8 * 8;
  return std::min<int64_t>(target.registersPerThread, share);
}

namespace {

/// Fragments that are live at one place, and what they take.
class Live {
public:
  explicit Live(llvm::function_ref<int64_t(Value)> weight) : weight(weight) {}
  void add(Value value) {
    if (!isMade(value) && values.insert(value).second) {
      registers += weight(value);
    }
  }
  void remove(Value value) {
    if (values.erase(value)) {
      registers -= weight(value);
    }
  }
  int64_t count() const { return registers; }

private:
  /// Made anew where it is used: what takes one scalar or a place, and what is computed from such, as
  /// positions and masks are, slot by slot.
  static bool isMade(Value value) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<tile::SplatOp, tile::BroadcastOp, tgpu::CoordinateOp>(op)) {
      return true;
    }
    return op && op->hasTrait<OpTrait::Elementwise>() && op->getNumOperands() != 0 &&
           llvm::all_of(op->getOperands(), [](Value operand) {
             return !isa<RankedTensorType>(operand.getType()) || isMade(operand);
           });
  }

  llvm::function_ref<int64_t(Value)> weight; ///< registers of a fragment
  llvm::SmallDenseSet<Value, 16> values;
  int64_t registers = 0;
};

} // namespace

/// The most that is live in `block`, of its own values and `through`, which live to its end.
static int64_t mostIn(Block &block, Live through) {
  Live live = std::move(through);
  int64_t most = live.count();
  for (Operation &op : llvm::reverse(block)) {
    for (Value result : op.getResults()) {
      live.remove(result);
    }
    // What only one side of a branch uses dies there; what an iteration uses, the next one may, too.
    const Live behind = live;
    llvm::SetVector<Value> used(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), used);
    for (Value value : used) {
      live.add(value);
    }
    for (Region &region : op.getRegions()) {
      if (isa<tgpu::StreamOp>(op)) {
        break; // of what only its body uses there is one slot at a time
      }
      for (Block &inner : region) {
        most = std::max(most, mostIn(inner, isa<scf::IfOp>(op) ? behind : live));
      }
    }
    most = std::max(most, live.count());
  }
  return most;
}

/// What is live through a loop, and not made in it.
static Live liveThrough(scf::ForOp loop, llvm::function_ref<int64_t(Value)> weight) {
  Live through(weight);
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(loop->getRegions(), used);
  for (Value value : used) {
    through.add(value);
  }
  // Of each block around, what it has made before the loop and needs behind it; all of what a loop
  // around takes from outside is needed in its next iteration.
  for (Operation *inner = loop; !isa<tgpu::KernelOp>(inner); inner = inner->getParentOp()) {
    auto isNeeded = [&](Value value) {
      return llvm::any_of(value.getUsers(), [&](Operation *user) {
        Operation *top = inner->getBlock()->findAncestorOpInBlock(*user);
        return top && top != inner && inner->isBeforeInBlock(top);
      });
    };
    for (Value argument : inner->getBlock()->getArguments()) {
      if (isNeeded(argument)) {
        through.add(argument);
      }
    }
    for (Operation &op : *inner->getBlock()) {
      if (&op == inner) {
        break;
      }
      for (Value result : llvm::make_filter_range(op.getResults(), isNeeded)) {
        through.add(result);
      }
    }
    if (isa<LoopLikeOpInterface>(inner->getParentOp())) {
      llvm::SetVector<Value> outside;
      getUsedValuesDefinedAbove(inner->getParentOp()->getRegions(), outside);
      for (Value value : outside) {
        through.add(value);
      }
    }
  }
  return through;
}

static int64_t weightOf(Value value) { return registersOf(value); }

int64_t tilec::registersInUse(scf::ForOp loop) { return registersInUse(loop, weightOf); }

int64_t tilec::registersInUse(scf::ForOp loop, llvm::function_ref<int64_t(Value)> weight) {
  return mostIn(*loop.getBody(), liveThrough(loop, weight));
}

int64_t tilec::registersThrough(scf::ForOp loop) { return liveThrough(loop, weightOf).count(); }
