//===- MakeChannels.cpp - copies by TMA become fills, waits and releases --===//
//
// The loop stays serial; what it means is now said by synchronisation:
//     for n in 0..trips:
//       one_thread: acquire(p); expect(p); tma_load slot(p)      in place of the copy, p = base + n
//       wait(p); [zero what is beyond a view's bounds]           before the first reader
//       readers of slot(p)
//       release(p)                                               after the last one
// Buffers whose readers begin and end at the same operations share a channel. What follows only
// distributes and reorders operations that are here. A copy outside of these loops that tgpu-lower-copies
// has left (TileFills.h) becomes the same, with one or two slots, one of which is filled in each execution of its block.
//
// Invariants:
// - Copies were admitted by findConflict, which is asked again before anything changes: each fills
//   a buffer of its own, which nothing else writes, ahead of all its readers.
// - A product reads until it is retired, so its release stands behind the wait for it.
// - Where a fill reads in global memory is computed by its one thread; what all threads read there
//   (a block table, say) stays outside of it, since nothing may branch where one thread issues.
// Each loop is replaced once, by one that has no copies of stage 0, and each copy once, so the pass ends.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/RingPositions.h"
#include "passes/Shared.h"
#include "passes/SharedPieces.h"
#include "passes/Sync.h"
#include "passes/TileFills.h"
#include "passes/ViewBounds.h"

namespace tilec {
#define GEN_PASS_DEF_MAKECHANNELS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using tgpu::CopyPath;

namespace {

/// A copy of the block, and the ring that takes its buffer's place.
struct Load {
  tgpu::CopyOp copy;
  tgpu::AllocSharedOp buffer;
  Value ring;
  int64_t map = 0; ///< number of the tensor map
  /// Bounds that TMA does not know, and the part of each tile inside them where it is the same in
  /// all iterations.
  SmallVector<OwnBound> bounds;
  std::optional<InnerBox> box;
};

/// Loads that share a channel: operations of the body between which their buffers are read, null
/// if nothing does.
struct Fill {
  SmallVector<Load *> loads;
  Operation *first = nullptr, *last = nullptr;
};

class ChannelMaker {
public:
  ChannelMaker(tgpu::KernelOp kernel, scf::ForOp loop)
      : kernel(kernel), loop(loop), body(loop.getBody()), builder(loop), loc(loop.getLoc()),
        slots(tgpu::kPipeline.get(loop).getStages()) {}
  /// Of a copy outside of pipelined loops.
  ChannelMaker(tgpu::KernelOp kernel, tgpu::CopyOp copy)
      : kernel(kernel), body(copy->getBlock()), builder(copy), loc(copy.getLoc()), slots(1) {}

  LogicalResult run();
  LogicalResult run(tgpu::CopyOp copy);

private:
  LogicalResult check();
  LogicalResult makeRings();
  LogicalResult makeRing(tgpu::CopyOp copy, OpBuilder &entry);
  int64_t slotsOf(tgpu::CopyOp copy);
  Fill findReaders(Load &load);
  void groupLoads();
  void keepEarlyLoads();
  void findBounds();
  void findBoxes();
  void countIterations(Value trips);
  Value sink(Value value, IRMapping &mapping);
  void emitFill(const Fill &fill, Value channel, Value position);
  Value makeSlot(Load &load, Value position);
  void zeroBeyondBounds(Load &load, Value slot);
  void emitChannel(const Fill &fill, Value position);

  tgpu::KernelOp kernel;
  scf::ForOp loop; ///< null for a copy outside of pipelined loops
  Block *body;     ///< of the loop, or that of the copy
  OpBuilder builder;
  Location loc;
  int64_t slots;
  SmallVector<Load, 0> loads;
  SmallVector<Fill> fills;
};

LogicalResult ChannelMaker::check() {
  if (std::optional<Conflict> conflict = findConflict(loop, scheduledStages(slots))) {
    InFlightDiagnostic error = conflict->moved->emitOpError("cannot run ahead of its loop: ")
                               << conflict->reason;
    error.attachNote(conflict->other->getLoc()) << "this should keep its order to it";
    return failure();
  }
  return success();
}

/// Where `entry` stands, at the start of the kernel: it outlives the loops around.
LogicalResult ChannelMaker::makeRing(tgpu::CopyOp copy, OpBuilder &entry) {
  auto buffer = copy.getDest().getDefiningOp<tgpu::AllocSharedOp>();
  if (!buffer || !buffer.getResult().getType().getLayout()) {
    return copy.emitError("has stage 0 but fills no whole buffer with a layout");
  }
  if (copy.getPath() != CopyPath::Tma) {
    return copy.emitError("has stage 0 in a loop whose copies are by TMA, but is none");
  }
  FailureOr<int64_t> map = getTensorMap(kernel, copy, analyseSlice(copy.getSource()),
                                        buffer.getResult().getType().getLayout().getLayout());
  if (failed(map)) {
    return failure();
  }
  Value ring = tgpu::AllocSharedOp::create(entry, buffer.getLoc(),
                                           ringType(buffer.getResult().getType(), slots),
                                           buffer.getNameAttr(), StringAttr(), IntegerAttr());
  loads.push_back({copy, buffer, ring, *map, {}, std::nullopt});
  return success();
}

LogicalResult ChannelMaker::makeRings() {
  OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
  for (auto copy : body->getOps<tgpu::CopyOp>()) {
    if (isFill(copy, scheduledStages(slots)) && failed(makeRing(copy, entry))) {
      return failure();
    }
  }
  return success();
}

/// What has to stay together with `op`, from its first operation on: registers of a product are
/// ready from its fence on, which nothing may part from it.
static Operation *startOf(Operation *op) {
  if (!isa<tgpu::WgmmaOp>(op)) {
    return op;
  }
  for (Operation *before = op; before; before = before->getPrevNode()) {
    if (isa<tgpu::WgmmaFenceOp>(before)) {
      return before;
    }
  }
  return op;
}

/// The first and the last operation of the block that use the buffer of a load; a product does until
/// it is waited for.
Fill ChannelMaker::findReaders(Load &load) {
  Fill fill;
  auto uses = [&](Operation *op) {
    return op != load.copy && llvm::any_of(sync::accessesOf(op), [&](const sync::Access &access) {
             return access.memory.alloc == load.buffer;
           });
  };
  auto note = [&](Operation *op) {
    Operation *top = body->findAncestorOpInBlock(*op);
    fill.first = fill.first ? fill.first : startOf(top);
    if (top && (!fill.last || fill.last->isBeforeInBlock(top))) {
      fill.last = top;
    }
  };
  body->walk([&](Operation *op) {
    if (uses(op)) {
      note(op);
      for (auto product = dyn_cast<tgpu::WgmmaOp>(op); product;) {
        tgpu::WgmmaOp next; // the next piece of the product, which is waited for as a whole
        for (Operation *user : product.getResult().getUsers()) {
          note(user);
          next = user->getBlock() == op->getBlock() ? dyn_cast<tgpu::WgmmaOp>(user) : next;
        }
        product = next;
      }
    }
  });
  return fill;
}

void ChannelMaker::groupLoads() {
  for (Load &load : loads) {
    Fill fill = findReaders(load);
    auto *same = llvm::find_if(fills, [&](const Fill &other) {
      return other.first == fill.first && other.last == fill.last;
    });
    (same == fills.end() ? fills.emplace_back(fill) : *same).loads.push_back(&load);
  }
}

void ChannelMaker::findBounds() {
  for (Load &load : loads) {
    load.bounds = ownBounds(load.copy.getSource());
  }
}

/// Where the bounds of views that copies read across are the same in every iteration, before the loop
/// what lies inside of them.
void ChannelMaker::findBoxes() {
  auto isOutside = [&](Value value) {
    return !loop->isAncestor(value.getParentBlock()->getParentOp());
  };
  auto isFixed = [&](const OwnBound &bound) {
    auto size = dyn_cast<Value>(bound.size);
    return (!size || isOutside(size)) && llvm::all_of(bound.begin, isOutside);
  };
  for (Load &load : loads) {
    if (load.bounds.empty()) {
      continue;
    }
    load.copy.emitRemark("what TMA loads from beyond the bounds of the view is set to zero when it "
                         "has landed");
    if (llvm::all_of(load.bounds, isFixed)) {
      load.box = emitInnerBox(builder, load.copy.getLoc(), analyseSlice(load.copy.getSource()),
                              load.bounds, [](Value value) { return value; });
    }
  }
}

/// The loop runs over the numbers of its iterations.
void ChannelMaker::countIterations(Value trips) {
  Value zero = constantI32(builder, loc, 0), one = constantI32(builder, loc, 1);
  auto counted = scf::ForOp::create(builder, loc, zero, trips, one, loop.getInitArgs());
  counted->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  if (counted.getBody()->mightHaveTerminator()) {
    counted.getBody()->getTerminator()->erase();
  }
  builder.setInsertionPointToStart(counted.getBody());
  Value induction = emitInduction(builder, loop, counted.getInductionVar());
  SmallVector<Value> arguments = {induction};
  llvm::append_range(arguments, counted.getRegionIterArgs());
  for (auto [from, to] : llvm::zip_equal(loop.getBody()->getArguments(), arguments)) {
    from.replaceAllUsesWith(to);
  }
  counted.getBody()->getOperations().splice(counted.getBody()->end(),
                                            loop.getBody()->getOperations());
  loop.replaceAllUsesWith(counted.getResults());
  loop.erase();
  loop = counted;
  body = loop.getBody();
}

/// `value` computed where the builder stands, in the fill's one thread. What reads memory stays
/// where it is.
Value ChannelMaker::sink(Value value, IRMapping &mapping) {
  Operation *definition = value.getDefiningOp();
  if (!definition || definition->getBlock() != body || mapping.contains(value) ||
      definition->getNumRegions() != 0 || !isMemoryEffectFree(definition)) {
    return mapping.lookupOrDefault(value);
  }
  for (Value operand : definition->getOperands()) {
    sink(operand, mapping);
  }
  builder.clone(*definition, mapping);
  return mapping.lookup(value);
}

/// In the place of the last of its copies, when all operands are there.
void ChannelMaker::emitFill(const Fill &fill, Value channel, Value position) {
  Operation *place = fill.loads.front()->copy;
  for (Load *load : fill.loads) {
    place = place->isBeforeInBlock(load->copy) ? load->copy.getOperation() : place;
  }
  builder.setInsertionPoint(place);
  auto one = tgpu::OneThreadOp::create(builder, loc);
  builder.setInsertionPointToStart(&one.getBody().emplaceBlock());
  int64_t bytes = 0;
  for (Load *load : fill.loads) {
    bytes += tmaBytes(load->buffer.getResult().getType().getLayout().getLayout());
  }
  tgpu::AcquireOp::create(builder, loc, channel, position);
  tgpu::ExpectOp::create(builder, loc, channel, position, bytes);
  IRMapping mapping;
  for (Load *load : fill.loads) {
    const Location at = load->copy.getLoc();
    Value source = sink(load->copy.getSource(), mapping);
    Value slot =
        tgpu::SlotOp::create(builder, at, load->buffer.getResult().getType(), load->ring, position);
    tgpu::TmaLoadOp::create(builder, at, source, slot, channel, position, load->map,
                            load->copy.getCache());
  }
  builder.setInsertionPointAfter(one);
}

/// When the data has landed, what TMA has read from beyond the bounds of a view becomes zero. Few
/// tiles reach there, all others only branch; so what orders the zeros before other accesses of the
/// slot belongs into the branch (tgpu-insert-sync).
void ChannelMaker::zeroBeyondBounds(Load &load, Value slot) {
  if (load.bounds.empty()) {
    return;
  }
  const Location at = load.copy.getLoc();
  InnerBox box = load.box ? *load.box
                          : emitInnerBox(builder, at, analyseSlice(load.copy.getSource()),
                                         load.bounds, [](Value value) { return value; });
  auto branch = scf::IfOp::create(builder, at, box.isPart, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  tgpu::ZeroBeyondOp::create(builder, at, slot, box.low, box.high);
}

/// The slot where the builder stands, or before, where a view of the buffer is made in front of what reads it.
Value ChannelMaker::makeSlot(Load &load, Value position) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *place = &*builder.getInsertionPoint();
  for (Operation *user : load.buffer->getUsers()) {
    Operation *top = body->findAncestorOpInBlock(*user);
    if (user != load.copy && top && top->isBeforeInBlock(place)) {
      place = top;
      builder.setInsertionPoint(top);
    }
  }
  return tgpu::SlotOp::create(builder, load.copy.getLoc(), load.buffer.getResult().getType(),
                              load.ring, position);
}

/// Fill, wait and release of one channel, and slots in place of the buffers.
void ChannelMaker::emitChannel(const Fill &fill, Value position) {
  auto names = llvm::map_range(
      fill.loads, [](Load *load) { return load->buffer.getName().value_or("buffer"); });
  OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value channel = tgpu::ChannelOp::create(
      entry, loc, tgpu::ChannelType::get(kernel.getContext(), slots),
      builder.getStringAttr(llvm::join(names, "+")), 1, kernel.getNumWarps(), IntegerAttr());
  emitFill(fill, channel, position);
  SmallVector<Value> slotValues;
  if (fill.first) {
    builder.setInsertionPoint(fill.first);
  }
  tgpu::WaitOp::create(builder, loc, channel, position);
  for (Load *load : fill.loads) {
    Value slot = makeSlot(*load, position);
    if (fill.first) { // somebody reads it
      zeroBeyondBounds(*load, slot);
    }
    slotValues.push_back(slot);
  }
  if (fill.last) {
    builder.setInsertionPointAfter(fill.last);
  }
  tgpu::ReleaseOp::create(builder, loc, channel, position);
  for (auto [load, slot] : llvm::zip_equal(fill.loads, slotValues)) {
    load->copy.erase();
    load->buffer.getResult().replaceAllUsesWith(slot);
    load->buffer.erase();
  }
}

/// Of the plan so far only loads into fragments stay: how many iterations ahead they run.
void ChannelMaker::keepEarlyLoads() {
  const int64_t work = scheduledStages(slots) - 1;
  for (Operation &op : loop.getBody()->without_terminator()) {
    tgpu::StageAttr place = tgpu::kSchedule.get(&op);
    if (place && isEarlyLoad(&op, scheduledStages(slots))) {
      setStage(&op, place.getStage() - work, place.getOrder());
    } else if (place && !isFill(&op, scheduledStages(slots))) {
      tgpu::kSchedule.remove(&op);
    }
  }
}

LogicalResult ChannelMaker::run() {
  if (failed(check()) || failed(makeRings())) {
    return failure();
  }
  groupLoads();
  for (Load &load : loads) {
    for (Operation *user : load.buffer->getUsers()) {
      if (!loop->isProperAncestor(user)) {
        return user->emitOpError("uses a buffer that a ring has replaced");
      }
    }
  }
  keepEarlyLoads();
  // What one iteration leaves in a buffer may be used when the next one has begun.
  for (auto buffer : llvm::make_early_inc_range(loop.getBody()->getOps<tgpu::AllocSharedOp>())) {
    buffer->moveBefore(loop);
  }
  RingPosition ring(kernel, loop);
  builder.setInsertionPoint(loop);
  Value trips = emitTripCount(builder, loop);
  findBounds(); // the loops that carry the position have replaced others
  findBoxes();
  countIterations(trips);
  findBounds(); // in terms of the new loop
  builder.setInsertionPointToStart(loop.getBody());
  Value position = emitSum(builder, loc, ring.base(), loop.getInductionVar());
  for (const Fill &fill : fills) {
    emitChannel(fill, position);
  }
  builder.setInsertionPointAfter(loop);
  ring.store(loop, emitSum(builder, loc, ring.base(), trips));
  return success();
}

/// Two where a loop goes round and shared memory has room beside all other buffers, and for as many blocks: the next
/// iteration's tile is then loaded while this one's is still read.
int64_t ChannelMaker::slotsOf(tgpu::CopyOp copy) {
  Operation *around = copy->getParentOfType<LoopLikeOpInterface>();
  const Target *target = findTarget(kernel.getTarget().value_or(""));
  if (!around || !target) {
    return 1;
  }
  SmallVector<SharedPiece> pieces = collectSharedPieces(kernel, [&](tgpu::AllocSharedOp alloc) {
    return alloc == copy.getDest().getDefiningOp() ? PlannedRing{around, 2} : PlannedRing();
  });
  auto blocks = [&] { // that fit beside each other, by shared memory
    constexpr int64_t kBarriers = 1024, kFew = 1;
    return residentBlocks(*target, kFew, kernel.getNumWarps() * 32,
                          placeSharedPieces(pieces) + kBarriers);
  };
  const int64_t withTwo = blocks();
  for (SharedPiece &piece : pieces) {
    piece.bytes /= piece.op == copy.getDest().getDefiningOp() ? 2 : 1;
  }
  return withTwo > 0 && withTwo >= blocks() ? 2 : 1;
}

LogicalResult ChannelMaker::run(tgpu::CopyOp copy) {
  if (std::string reason = refuseTileFill(copy); !reason.empty()) {
    return copy.emitOpError("is by TMA outside of pipelined loops, but ") << reason;
  }
  slots = slotsOf(copy);
  OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
  if (failed(makeRing(copy, entry))) {
    return failure();
  }
  groupLoads();
  RingPosition ring(kernel, copy);
  body = copy->getBlock();
  findBounds(); // behind the loops that carry the position
  builder.setInsertionPoint(copy);
  Value end = emitSum(builder, loc, ring.base(), constantI32(builder, loc, 1));
  for (const Fill &fill : fills) {
    emitChannel(fill, ring.base());
  }
  ring.store(&body->front(), end);
  return success();
}

struct MakeChannels : tilec::impl::MakeChannelsBase<MakeChannels> {
  void runOnOperation() override {
    // Inner loops first. Each is replaced, and so are the loops around: searches start anew.
    auto next = [&] {
      scf::ForOp found;
      getOperation().walk([&](scf::ForOp loop) {
        tgpu::PipelineAttr plan = tgpu::kPipeline.get(loop);
        if (plan && plan.getPath() == CopyPath::Tma && hasFills(loop, plan)) {
          found = loop;
          return WalkResult::interrupt();
        }
        return WalkResult::advance();
      });
      return found;
    };
    while (scf::ForOp loop = next()) {
      if (failed(ChannelMaker(getOperation(), loop).run())) {
        return signalPassFailure();
      }
    }
    SmallVector<tgpu::CopyOp> copies;
    getOperation().walk([&](tgpu::CopyOp copy) {
      if (copy.getPath() == CopyPath::Tma && isa<tgpu::SmemType>(copy.getDest().getType())) {
        copies.push_back(copy);
      }
    });
    for (tgpu::CopyOp copy : copies) {
      if (failed(ChannelMaker(getOperation(), copy).run(copy))) {
        return signalPassFailure();
      }
    }
  }

  static bool hasFills(scf::ForOp loop, tgpu::PipelineAttr plan) {
    return llvm::any_of(loop.getBody()->getOps<tgpu::CopyOp>(), [&](tgpu::CopyOp copy) {
      return isFill(copy, scheduledStages(plan.getStages()));
    });
  }
};

} // namespace
