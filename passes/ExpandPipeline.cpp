//===- ExpandPipeline.cpp - pipelined loops with cp.async or registers ----===//
//
// Loops all of whose copies are by TMA are expanded by tgpu-expand-schedule.
// With n stages and iteration number j,
// by cp.async, where every iteration closes a group, possibly an empty one:
//     for s in 0..n-1: copy(s); commit
//     loop j: cp_async_wait n-2; barrier; copy(j+n-1); commit; work(j)
// and when the work is mma.sync, whose operands come from registers, with the first read of each
// iteration ahead:
//     cp_async_wait n-2; barrier; read(0)
//     loop j: first product of j; copy(j+n-1); commit; products;
//             cp_async_wait n-2; barrier; read(j+1); last product of j
//     after: cp_async_wait 0
// Where some copies are by cp.async and some by TMA both run ahead, each in its way, where fill(j) is one
// thread's: acquire the slot, expect its bytes, load:
//     for s in 0..n-1: fill(s)
//     loop j: cp_async_wait n-2; barrier; copy(j+n-1); commit; fill(j+n-1); wait(j); work(j); release(j)
// Loads of global memory into fragments, k iterations ahead, are carried from iteration to iteration:
//     for s in 0..k: x[s] = load(s)
//     loop j: x[k] = load(j+k); work(j) on x[0]; x[0..k] = x[1..k+1]
// Without rings a short loop has k + 1 bodies, so that no value moves to another register (and would have
// to be there for that); as long as all their loads are of iterations that there are they ask for nothing:
//     loop j in 0..m step k+1: k + 1 times the above;  loop j in m..trips: the above
// A tile that TMA loads across the end of a view is repaired in work(j), where its copy stood: what it
// has from beyond becomes zero, in a branch that no other tile enters.
// TMA's ring position runs on across the loops and branches around this one, since the parity of a
// barrier never starts anew.
//
// Invariants:
// - The schedule is checked (findConflict) before anything changes: what it moves may be moved.
// - In the step of iteration j everything of stage n - 1 is done for j in the order of the body; a
//   ring's slot j mod n is filled after iteration j - n has released it (TMA) or after a barrier
//   that follows its last read (cp.async: the one in awaitCopies, or one of tgpu-insert-sync).
// - When a loop has been expanded, nothing uses the buffers that its rings have replaced.
// Each expansion removes one loop with a schedule and adds none, so the pass ends.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/EarlyLoads.h"
#include "passes/Passes.h"
#include "passes/PipelineExpander.h"
#include "passes/RingPositions.h"
#include "passes/Shared.h"

#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_EXPANDPIPELINE
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using tgpu::CopyPath;

void Expander::emitPrologue() {
  for (int64_t stage = 0; stage + 1 < stages; ++stage) {
    Value number = constant(stage);
    if (path == CopyPath::CpAsync) {
      fillGroup(number);
    }
    if (usesTma) {
      fillByTma(number);
    }
  }
}

/// The operations of one iteration, without its copies, on the slots at `position` and on what the
/// iterations before hand on. Returns what it hands on itself, but for what is loaded early.
SmallVector<Value> Expander::emitBody(ArrayRef<Value> carried, Value number, Value position) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), emitInduction(builder, loop, number));
  mapping.map(loop.getRegionIterArgs(), carried.take_front(loop.getNumRegionIterArgs()));
  for (Load &load : loads) {
    mapping.map(load.copy.getDest(), slotOf(load, number));
  }
  size_t place = loop.getNumRegionIterArgs();
  for (const EarlyLoad &load : early) {
    mapping.map(load.op->getResult(0), carried[place]);
    place += load.ahead;
  }
  SmallVector<Value> ahead;
  if (firstProduct) {
    mapping.map(firstProduct.getA(), carried.take_back(2)[0]);
    mapping.map(firstProduct.getB(), carried.take_back(2)[1]);
  }
  auto isCarried = [&](Operation &op) {
    return firstReads.contains(&op) && llvm::all_of(op.getUsers(), [&](Operation *user) {
             return user == firstProduct || firstReads.contains(user);
           });
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    // A ring's own buffer may be declared in the loop.
    auto *load = llvm::find_if(loads, [&](Load &load) {
      return load.copy == &op || load.copy.getDest().getDefiningOp() == &op;
    });
    if (load != loads.end()) {
      if (load->copy == &op) {
        zeroBeyondBounds(*load, mapping);
      }
      continue;
    }
    if (isCarried(op) || isEarlyLoad(&op, scheduledStages(stages))) {
      continue;
    }
    if (lastProduct && &op == lastProduct) {
      if (firstProduct == lastProduct) {
        fillGroup(plus(number, constant(stages - 1)));
      }
      awaitCopies();
      ahead = readFirst(plus(number, constant(1)));
    }
    tgpu::kSchedule.remove(builder.clone(op, mapping));
    if (firstProduct && &op == firstProduct && firstProduct != lastProduct) {
      fillGroup(plus(number, constant(stages - 1)));
    }
  }
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  SmallVector<Value> results = llvm::map_to_vector(
      yield.getOperands(), [&](Value value) { return mapping.lookupOrDefault(value); });
  llvm::append_range(results, ahead);
  if (usesTma) {
    release(fills.front(), position);
  }
  return results;
}

/// Iteration `number`, from what is handed on to it to what it hands on. With `loadsInside` there are all
/// iterations for which it loads early.
SmallVector<Value> Expander::emitIteration(ArrayRef<Value> carried, Value number,
                                           bool loadsInside) {
  SmallVector<Value> loaded = loadEarly(number, loadsInside);
  Value position = plus(base, number);
  Value ahead = plus(number, constant(stages - 1));
  if (path == CopyPath::CpAsync && !firstProduct) {
    awaitCopies();
    fillGroup(ahead);
  }
  if (usesTma) {
    fillByTma(ahead);
    wait(fills.front(), position);
  }
  SmallVector<Value> results = emitBody(carried, number, position);
  auto *own = results.begin() + loop.getNumRegionIterArgs();
  size_t place = loop.getNumRegionIterArgs();
  SmallVector<Value> queues;
  for (auto [load, value] : llvm::zip_equal(early, loaded)) {
    llvm::append_range(queues, carried.slice(place + 1, load.ahead - 1));
    queues.push_back(value);
    place += load.ahead;
  }
  results.insert(own, queues.begin(), queues.end());
  return results;
}

/// True when some work on the loaded data is done by the async proxy, which does not see plain
/// writes by itself.
static bool feedsWgmma(scf::ForOp loop) {
  return loop.walk([](tgpu::WgmmaOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// The reads of the first mma.sync of an iteration, where the plan has them one iteration early:
/// they run before the last product of the iteration before, which hides the wait for the copies,
/// the barrier and the latency of shared memory.
void Expander::takeFirstReads() {
  llvm::SetVector<Operation *> reads = findFirstReads(loop);
  bool early = !reads.empty() && llvm::all_of(reads, [&](Operation *op) {
    return !isa<tgpu::LocalLoadOp>(op) || stageOf(op, stages) == stages - 2;
  });
  if (usesTma || !early) {
    return;
  }
  firstReads = reads;
  auto products = loop.getBody()->getOps<tgpu::MmaOp>();
  firstProduct = *products.begin();
  for (tgpu::MmaOp product : products) {
    lastProduct = product;
  }
}

/// Everything that the schedule moves is one of the things above, and may be moved.
LogicalResult Expander::checkSchedule() {
  if (stages == 1) {
    return loop.emitOpError("fills a single slot by cp.async");
  }
  const int64_t stages = scheduledStages(this->stages);
  for (Operation &op : loop.getBody()->without_terminator()) {
    int64_t stage = stageOf(&op, stages);
    bool known = stage == stages - 1 || isFill(&op, stages) || isEarlyLoad(&op, stages) ||
                 firstReads.contains(&op);
    if (!known) {
      return op.emitOpError("cannot run in stage ") << stage << " of " << stages;
    }
  }
  if (std::optional<Conflict> conflict = findConflict(loop, stages)) {
    InFlightDiagnostic error =
        conflict->moved->emitOpError("has a stage that changes what the loop means: ")
        << conflict->reason;
    error.attachNote(conflict->other->getLoc()) << "this should keep its order to it";
    return failure();
  }
  return success();
}

/// The copies of the next iteration to be worked on are complete and visible to all threads.
void Expander::awaitCopies() {
  tgpu::CpAsyncWaitOp::create(builder, loc, stages - 2);
  if (feedsWgmma(loop)) {
    tgpu::FenceAsyncOp::create(builder, loc);
  }
  tgpu::BarrierOp::create(builder, loc);
}

/// The first product's operands in iteration `number`.
SmallVector<Value> Expander::readFirst(Value number) {
  IRMapping mapping;
  for (Load &load : loads) {
    mapping.map(load.copy.getDest(), slotOf(load, number));
  }
  for (Operation *op : firstReads) {
    tgpu::kSchedule.remove(builder.clone(*op, mapping));
  }
  return {mapping.lookupOrDefault(firstProduct.getA()),
          mapping.lookupOrDefault(firstProduct.getB())};
}

/// A loop over iterations `from` to `to`, `bodies` of them at a time.
scf::ForOp Expander::emitIterations(Value from, Value to, int64_t bodies, ArrayRef<Value> inits) {
  auto fresh = scf::ForOp::create(builder, loc, from, to, constant(bodies), inits);
  if (ArrayAttr require = tile::kRequire.get(loop)) {
    tile::kRequire.set(fresh, require);
  }
  if (fresh.getBody()->mightHaveTerminator()) {
    fresh.getBody()->getTerminator()->erase();
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(fresh.getBody());
  SmallVector<Value> carried(fresh.getRegionIterArgs());
  for (int64_t body = 0; body < bodies; ++body) {
    Value number = plus(fresh.getInductionVar(), constant(body));
    carried = emitIteration(carried, number, /*loadsInside=*/bodies > 1);
  }
  scf::YieldOp::create(builder, loc, carried);
  return fresh;
}

void Expander::emitLoop() {
  SmallVector<Value> inits(loop.getInitArgs());
  llvm::append_range(inits, loadFirst());
  if (firstProduct) {
    awaitCopies();
    llvm::append_range(inits, readFirst(constant(0)));
  }
  Value begin = constant(0);
  if (const int64_t ahead = furthestAhead(); isRepeated(loop, path != CopyPath::Vector, ahead)) {
    // All loads of iterations before this end are of iterations before the last.
    Value end = arith::SubIOp::create(builder, loc, trips, constant(ahead));
    Value bodies = constant(ahead + 1);
    end = arith::MaxSIOp::create(builder, loc, end, constant(0));
    end = arith::DivUIOp::create(builder, loc, end, bodies);
    end = arith::MulIOp::create(builder, loc, end, bodies);
    scf::ForOp many = emitIterations(begin, end, ahead + 1, inits);
    begin = end;
    inits.assign(many.result_begin(), many.result_end());
  }
  emitEpilogue(emitIterations(begin, trips, 1, inits));
}

void Expander::emitEpilogue(scf::ForOp fresh) {
  SmallVector<Value> results(fresh.getResults());
  if (path == CopyPath::CpAsync) {
    // Every copy has been waited for in its iteration; this says so to whoever fills the ring next.
    tgpu::CpAsyncWaitOp::create(builder, loc, 0);
  }
  loop->replaceAllUsesWith(ArrayRef<Value>(results).take_front(loop.getNumResults()));
}

LogicalResult Expander::run() {
  usesTma = llvm::any_of(loop.getBody()->getOps<tgpu::CopyOp>(), [&](tgpu::CopyOp copy) {
    return isFill(copy, stages) && copy.getPath() == CopyPath::Tma;
  });
  takeFirstReads();
  findEarlyLoads();
  if (failed(checkSchedule()) || failed(makeRings())) {
    return failure();
  }
  std::optional<RingPosition> position;
  if (usesTma) {
    position.emplace(kernel, loop);
  }
  builder.setInsertionPoint(loop);
  base = position ? position->base() : constant(0);
  trips = emitTripCount(builder, loop);
  findBoxes();
  emitPrologue();
  emitLoop();
  if (position) {
    position->store(loop, plus(base, trips));
  }
  SmallVector<Operation *> buffers;
  for (Load &load : loads) {
    buffers.push_back(load.copy.getDest().getDefiningOp());
  }
  for (Operation *buffer : buffers) {
    for (Operation *user : buffer->getUsers()) {
      if (!loop->isProperAncestor(user)) {
        return user->emitOpError("uses a buffer that a ring has replaced");
      }
    }
  }
  llvm::erase_if(buffers, [&](Operation *buffer) { return loop->isProperAncestor(buffer); });
  loop.erase();
  for (Operation *buffer : buffers) {
    buffer->erase();
  }
  return success();
}

namespace {
struct ExpandPipeline : tilec::impl::ExpandPipelineBase<ExpandPipeline> {
  void runOnOperation() override {
    // Inner loops first. An expansion replaces the loops around, so each search starts anew.
    auto next = [&] {
      scf::ForOp found;
      getOperation().walk([&](scf::ForOp loop) {
        tgpu::PipelineAttr plan = tgpu::kPipeline.get(loop);
        if (plan && plan.getPath() != CopyPath::Tma) {
          found = loop;
          return WalkResult::interrupt();
        }
        return WalkResult::advance();
      });
      return found;
    };
    while (scf::ForOp loop = next()) {
      if (failed(Expander(getOperation(), loop).run())) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
