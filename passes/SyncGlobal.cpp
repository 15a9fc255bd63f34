//===- SyncGlobal.cpp - a block's own accesses of global memory -----------===//
//
// Global memory differs from shared memory in four ways. No buffer is renamed and no channel guards
// it, so that regions decide what may conflict (GlobalAccess.h). Most tensors are only read or only
// written once, and are not followed at all. A store by TMA is complete only after a wait without
// `read`. And the points of a grid are runs of their own, which nothing orders: what a persistent
// block leaves behind at one point is no concern of its next one.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/Compatibility.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/SyncLoops.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Two accesses of global memory that differ in their region and age alone.
static bool isAlike(const Access &a, const Access &b) {
  return a.memory.global && b.memory.global &&
         std::tie(a.op, a.flight, a.thread, a.fenced, a.synced, a.arrival) ==
             std::tie(b.op, b.flight, b.thread, b.fenced, b.synced, b.arrival);
}

/// `condition` as n < m; nothing where it is no such comparison.
static std::optional<std::pair<Linear, Linear>> asLess(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare) {
    return std::nullopt;
  }
  Linear left = Linear::of(compare.getLhs()), right = Linear::of(compare.getRhs());
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::sle:
    ++right.constant;
    return std::pair(left, right);
  case arith::CmpIPredicate::slt:
    return std::pair(left, right);
  case arith::CmpIPredicate::sge:
    ++left.constant;
    return std::pair(right, left);
  case arith::CmpIPredicate::sgt:
    return std::pair(right, left);
  default:
    return std::nullopt;
  }
}

/// The slot that `load` fills. Under a condition n < m its position stays below what it would be
/// for m: so the last iterations of a pipelined loop fill nothing.
static Arrival arrivalOf(tgpu::TmaLoadOp load) {
  Linear position = Linear::of(load.getPosition());
  Arrival arrival{load.getChannel(), Position::of(load.getPosition()), position};
  ++arrival.end->constant;
  for (Operation *op = load; auto branch = op->getParentOfType<scf::IfOp>(); op = branch) {
    auto less = asLess(branch.getCondition());
    bool isThen = branch.getThenRegion().isAncestor(load->getParentRegion());
    if (Linear end = position; isThen && less && end.replace(less->first, less->second)) {
      arrival.end = end;
      break;
    }
  }
  return arrival;
}

/// What a TMA load reads: boxes may reach beyond the tile.
static GlobalRegion regionOf(tgpu::TmaLoadOp load) {
  GlobalRegion region = GlobalRegion::of(load.getSource());
  const layout::SharedLayout *layout = tgpu::getLayout(load.getDest().getType());
  layout::Answer<layout::TmaBoxes> boxes =
      layout ? layout::tmaBoxes(*layout) : layout::Answer<layout::TmaBoxes>(layout::Refusal{""});
  for (int64_t dim : region.kept) {
    if (!boxes || boxes->overhang) {
      region.indices[dim].forget();
    }
  }
  return region;
}

int64_t sync::threadOf(tgpu::AtomicOp atomic) {
  return isa<RankedTensorType>(atomic.getValue().getType()) ||
                 atomic->getParentOfType<tile::ThreadsOp>()
             ? kAllThreads
             : kFirstThread;
}

namespace {

/// Collects the accesses of one operation.
class GlobalAccesses {
public:
  GlobalAccesses(Operation *op, SmallVectorImpl<Access> &accesses)
      : op(op), region(op->getParentOfType<tile::ThreadsOp>()), accesses(accesses) {}

  void collect();

private:
  static bool isGlobal(Value value) { return isa<tile::GlobalType>(value.getType()); }

  Access &add(GlobalRegion region, bool write) {
    Access &access = accesses.emplace_back();
    access.op = op;
    access.memory.global = std::move(region);
    access.write = write;
    return access;
  }
  Access &addElement(Value global, ValueRange indices, bool write);
  void addAtomic(Value place, ValueRange element, int64_t thread);

  Operation *op;
  tile::ThreadsOp region; ///< numbers in it are other ones in each thread
  SmallVectorImpl<Access> &accesses;
};

} // namespace

Access &GlobalAccesses::addElement(Value global, ValueRange indices, bool write) {
  GlobalRegion element = GlobalRegion::of(global, indices);
  Type type = write ? op->getOperand(0).getType() : op->getResult(0).getType();
  if (auto vector = dyn_cast<VectorType>(type); vector && !element.kept.empty()) {
    element.indices[element.kept.back()].extend(vector.getNumElements());
  }
  if (region) {
    forgetInside(region, element);
  }
  return add(std::move(element), write);
}

std::optional<tile::AtomicKind> sync::commutingKind(Operation *op) {
  if (ordersGlobal(op)) {
    return std::nullopt;
  }
  if (auto tile = dyn_cast<tgpu::AtomicTileOp>(op)) {
    return tile.getKind();
  }
  auto atomic = cast<tgpu::AtomicOp>(op);
  const bool isUsed = atomic.getOld() || (atomic.getResult() && !atomic.getResult().use_empty());
  return isUsed || atomic.getKind() == tile::AtomicKind::Exchange ? std::nullopt
                                                                  : std::optional(atomic.getKind());
}

/// One that orders is an access of everything.
void GlobalAccesses::addAtomic(Value place, ValueRange element, int64_t thread) {
  if (!isGlobal(place)) {
    return;
  }
  const bool orders = ordersGlobal(op);
  GlobalRegion touched;
  if (!orders) {
    const bool isOne =
        llvm::all_of(element, [](Value index) { return index.getType().isIntOrIndex(); });
    touched = GlobalRegion::of(place, isOne ? element : ValueRange());
  }
  if (region) {
    forgetInside(region, touched);
  }
  Access &access = add(std::move(touched), true);
  access.atomic = commutingKind(op);
  access.thread = thread;
}

void GlobalAccesses::collect() {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](tgpu::LoadOp load) {
        add(GlobalRegion::of(load.getSource()), false).fragment = load.getResult().getType();
      })
      .Case([&](tgpu::StoreOp store) {
        add(GlobalRegion::of(store.getDest()), true).fragment = store.getValue().getType();
      })
      .Case([&](tgpu::GatherOp gather) {
        if (isGlobal(gather.getSource())) {
          add(GlobalRegion::of(gather.getSource()), false); // somewhere in it
        }
      })
      .Case([&](tgpu::ScatterOp scatter) {
        if (isGlobal(scatter.getDest())) {
          add(GlobalRegion::of(scatter.getDest()), true);
        }
      })
      .Case([&](tgpu::CopyOp copy) {
        if (isGlobal(copy.getSource())) {
          add(GlobalRegion::of(copy.getSource()), false);
        }
        if (isGlobal(copy.getDest())) {
          add(GlobalRegion::of(copy.getDest()), true);
        }
      })
      .Case([&](tgpu::CpAsyncOp copy) {
        add(GlobalRegion::of(copy.getSource()), false).flight = Flight::CpAsync;
      })
      .Case([&](tgpu::TmaLoadOp load) {
        Access &access = add(regionOf(load), false);
        access.async = true;
        access.flight = Flight::TmaLoad;
        access.arrival = arrivalOf(load);
      })
      .Case([&](tgpu::TmaStoreOp store) {
        Access &access = add(GlobalRegion::of(store.getDest()), true);
        access.async = true;
        access.flight = Flight::TmaStore;
      })
      .Case([&](tile::LoadOp load) {
        if (isGlobal(load.getSource())) {
          addElement(load.getSource(), load.getIndices(), false);
        }
      })
      .Case([&](tile::StoreOp store) {
        if (isGlobal(store.getDest())) {
          // In block code one thread writes an element (docs/language.md section 8).
          addElement(store.getDest(), store.getIndices(), true).thread =
              region ? kAllThreads : kFirstThread;
        }
      })
      .Case([&](tgpu::AtomicOp atomic) {
        addAtomic(atomic.getDest(), atomic.getIndices(), threadOf(atomic));
      })
      .Case([&](tgpu::AtomicTileOp atomic) { addAtomic(atomic.getDest(), {}, kAllThreads); });
}

void sync::addGlobalAccesses(Operation *op, SmallVectorImpl<Access> &accesses) {
  GlobalAccesses(op, accesses).collect();
}

/// Computed in a loop, of which each iteration may have another value, but for those over the grid.
static bool isVarying(Value value) {
  for (Operation *op = value.getParentBlock()->getParentOp(); !isa<tgpu::KernelOp>(op);
       op = op->getParentOp()) {
    if (isa<LoopLikeOpInterface>(op) && !runsOverGrid(op)) {
      return true;
    }
  }
  return false;
}

static GlobalRegion ofAllIterations(const GlobalRegion &region) {
  GlobalRegion all = region;
  for (IndexRange &range : all.indices) {
    if (llvm::any_of(range.terms,
                     [](const IndexRange::Term &term) { return isVarying(term.first); })) {
      range.forgetPlace();
    }
  }
  return all;
}

bool sync::mayMeet(const Access &a, const Access &b) {
  return a.memory.global && b.memory.global && (a.write || b.write) &&
         !(a.atomic && a.atomic == b.atomic) &&
         ofAllIterations(*a.memory.global).overlaps(ofAllIterations(*b.memory.global));
}

bool sync::isOfSameThreads(const Access &now, const Access &before) {
  if (!now.fragment || now.fragment != before.fragment || !now.memory.global ||
      !before.memory.global || !now.memory.global->isOfSameGrid(*before.memory.global)) {
    return false;
  }
  const layout::RegisterLayout *layout = tgpu::getLayout(cast<RankedTensorType>(now.fragment));
  if (!layout) {
    return false;
  }
  // Of threads that hold the same element its owner stores it, and all load it.
  return now.write && before.write ? bool(layout->replicaDigits()) : !layout->isReplicated();
}

//===----------------------------------------------------------------------===//
// What has to be followed
//===----------------------------------------------------------------------===//

void Walker::collectGlobal() {
  kernel.walk([&](Operation *op) {
    for (const Access &access : accessesOf(op)) {
      if (!access.memory.global) {
        continue;
      }
      BlockArgument base = access.memory.global->base;
      if (access.write) {
        written.insert(base);
      }
      if (access.async) {
        (access.write ? writtenByTma : readByTma).insert(base);
      }
    }
  });
}

static bool anyOverlaps(const llvm::SetVector<BlockArgument> &bases, BlockArgument base) {
  return llvm::any_of(bases, [&](BlockArgument other) { return mayOverlap(base, other); });
}

bool Walker::isFollowed(const Access &access) const {
  return !access.memory.global || anyOverlaps(written, access.memory.global->base);
}

bool Walker::awaitsFence(const Access &access) const {
  if (access.async || access.fenced || access.memory.messages) {
    return false;
  }
  if (!access.memory.global) {
    return access.write || hasTmaLoads;
  }
  BlockArgument base = access.memory.global->base;
  return anyOverlaps(writtenByTma, base) || (access.write && anyOverlaps(readByTma, base));
}

/// The first warp of the role that `op` is in, or of the block.
static int64_t firstWarpOf(Operation *op) {
  auto roles = op->getParentOfType<tgpu::RolesOp>();
  if (!roles) {
    return 0;
  }
  auto *role = llvm::find_if(roles.getBodies(),
                             [&](Region &body) { return body.isAncestor(op->getParentRegion()); });
  return roles.getFirstWarps()[role->getRegionNumber()];
}

SmallVector<Access, 2> Walker::followedAccesses(Operation *op) const {
  SmallVector<Access, 2> accesses = accessesOf(op);
  llvm::erase_if(accesses, [&](const Access &access) { return !isFollowed(access); });
  auto one = op->getParentOfType<tgpu::OneThreadOp>();
  for (Access &access : accesses) {
    if (auto store = dyn_cast<tgpu::LocalStoreOp>(op); store && access.groups > 1) {
      // Groups are those of all warps that run this code.
      const layout::RegisterLayout *layout = tgpu::getLayout(store.getValue().getType());
      access.groups = layout->numWarps() * 32 == context.threads ? access.groups : 1;
    }
    if (one) {
      access.thread = threadOf(one);
      access.groups = one.getGroups();
    } else if (access.thread == kFirstThread) {
      access.thread -= firstWarpOf(op);
    }
  }
  return accesses;
}

void sync::addGlobalAccess(SmallVectorImpl<Access> &into, const Access &item) {
  int64_t youngest = item.age;
  for (Access &other : into) {
    if (isAlike(item, other) && other.memory.global->covers(*item.memory.global)) {
      other.age = std::min(other.age, item.age);
      return;
    }
  }
  llvm::erase_if(into, [&](const Access &other) {
    bool covered = isAlike(item, other) && item.memory.global->covers(*other.memory.global);
    youngest = covered ? std::min(youngest, other.age) : youngest;
    return covered;
  });
  into.push_back(item);
  into.back().age = youngest;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void LoopEdges::settle(SmallVectorImpl<Access> &next, ArrayRef<Access> head) {
  if (runsOverGrid(loop)) {
    llvm::erase_if(next, [](const Access &access) {
      return access.memory.global.has_value() || access.memory.messages;
    });
    return;
  }
  for (Access &access : next) {
    auto moves = [&](const IndexRange &index) {
      return llvm::any_of(index.terms, [&](auto &term) { return isInside(term.first); });
    };
    if (access.memory.global && llvm::any_of(access.memory.global->indices, moves)) {
      for (const Access &before : head) {
        if (isAlike(access, before) && !before.memory.global->covers(*access.memory.global) &&
            access.memory.global->widen(*before.memory.global)) {
          break;
        }
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// TMA loads
//===----------------------------------------------------------------------===//

void Walker::arrive(tgpu::WaitOp wait) {
  // Another thread's wait says nothing to the others.
  if (context.oneThread) {
    return;
  }
  Position position = Position::of(wait.getPosition());
  llvm::erase_if(state.pending, [&](const Access &access) {
    return access.arrival && access.arrival->channel == wait.getChannel() &&
           access.arrival->position.equals(position);
  });
}

/// Loads that are made only where there are positions before their end: where facts say that there are
/// none, nothing is in flight.
void Walker::forgetUnmade() {
  llvm::erase_if(state.pending, [&](const Access &access) {
    if (!access.arrival || !access.arrival->end) {
      return false;
    }
    return llvm::any_of(access.arrival->position.forms, [&](const Linear &begin) {
      Linear count = *access.arrival->end; // of positions from `begin` on
      return count.replace(begin, Linear()) && !count.leaves.empty() &&
             decide(facts, Less{Linear(), count}) == false;
    });
  });
}

/// Positions of a channel are waited for one after the other, so that behind a loop which waits for
/// one in each iteration all are complete up to where it ends.
void Walker::arriveBehind(scf::ForOp loop) {
  if (context.oneThread) {
    return;
  }
  SmallVector<tgpu::WaitOp> waits(loop.getBody()->getOps<tgpu::WaitOp>());
  for (auto stream : loop.getBody()->getOps<tgpu::StreamOp>()) {
    for (Region &event : stream.getEvents()) {
      llvm::append_range(waits, event.getOps<tgpu::WaitOp>());
    }
  }
  for (tgpu::WaitOp wait : waits) {
    Linear end = Linear::of(wait.getPosition());
    if (!matchPattern(loop.getStep(), m_One()) ||
        !end.replace(Linear::of(loop.getInductionVar()), Linear::of(loop.getUpperBound()))) {
      continue;
    }
    llvm::erase_if(state.pending, [&](const Access &access) {
      return access.arrival && access.arrival->channel == wait.getChannel() &&
             access.arrival->end && access.arrival->end->leaves == end.leaves &&
             access.arrival->end->constant <= end.constant;
    });
  }
}
