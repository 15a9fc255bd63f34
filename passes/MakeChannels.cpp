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
// Where roles share the kernel's work by operation each that reads a slot waits for it and gives it back; who does last
// fills it again. A tile that one stores for others (tgpu-plan-roles) is a ring, too, of two slots if there is room:
//     acquire(p); store slot(p); publish(p)   ..   wait(p); read slot(p); release(p)
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
#include "dialects/tgpu/Roles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/RingPositions.h"
#include "passes/RoleMap.h"
#include "passes/Shared.h"
#include "passes/SharedPieces.h"
#include "passes/SlotReaders.h"
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

/// Loads that share a channel, and who reads what they fill, the first reader first.
struct Fill {
  SmallVector<Load *> loads;
  SmallVector<Readers> readers;
};

/// A tile that one role stores for others.
struct HandOver {
  tgpu::AllocSharedOp buffer;
  tgpu::LocalStoreOp store;
  int64_t role = 0; ///< that stores
  SmallVector<Readers> readers;
};

class ChannelMaker {
public:
  ChannelMaker(tgpu::KernelOp kernel, scf::ForOp loop)
      : kernel(kernel), loop(loop), body(loop.getBody()), builder(loop), loc(loop.getLoc()),
        roles(kernel), slots(tgpu::kPipeline.get(loop).getStages()) {}
  /// Of a copy, or of a tile that is handed over, outside of pipelined loops.
  ChannelMaker(tgpu::KernelOp kernel, Operation *once)
      : kernel(kernel), body(once->getBlock()), builder(once), loc(once->getLoc()), roles(kernel),
        slots(1) {}

  LogicalResult run();
  LogicalResult run(tgpu::CopyOp copy);
  void run(tgpu::LocalStoreOp store);

private:
  LogicalResult check();
  LogicalResult makeRings();
  LogicalResult makeRing(tgpu::CopyOp copy, OpBuilder &entry);
  int64_t slotsOf(Operation *place, tgpu::AllocSharedOp buffer);
  HandOver findHandOver(tgpu::LocalStoreOp store);
  void groupLoads();
  void keepEarlyLoads();
  void findBounds();
  void findBoxes();
  void countIterations(Value trips);
  Value sink(Value value, IRMapping &mapping);
  void emitFill(const Fill &fill, Value channel, Value position);
  Value makeSlot(Load &load, Value position);
  void zeroBeyondBounds(Load &load, Value slot, int64_t role);
  void emitChannel(const Fill &fill, Value position);
  void emitHandOver(HandOver &over, Value position);
  template <typename Op>
  void emitOn(Value channel, Value position, int64_t role);
  void mark(Operation *op, int64_t role);

  tgpu::KernelOp kernel;
  scf::ForOp loop; ///< null for a copy outside of pipelined loops
  Block *body;     ///< of the loop, or that of the copy
  OpBuilder builder;
  Location loc;
  RoleMap roles; ///< of the kernel before anything changes
  int64_t slots;
  SmallVector<Load, 0> loads;
  SmallVector<Fill, 0> fills;
  SmallVector<HandOver, 0> handOvers; ///< of the loop's body
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

/// The store of a tile for other roles.
static bool isHandedOver(tgpu::LocalStoreOp store) {
  auto buffer = store.getDest().getDefiningOp<tgpu::AllocSharedOp>();
  return buffer && tgpu::kHandOver.has(buffer);
}

HandOver ChannelMaker::findHandOver(tgpu::LocalStoreOp store) {
  auto buffer = store.getDest().getDefiningOp<tgpu::AllocSharedOp>();
  return {buffer, store, roles.roleOf(store).value_or(0), findReaders(buffer, store, body, roles)};
}

void ChannelMaker::groupLoads() {
  for (Load &load : loads) {
    SmallVector<Readers> readers = findReaders(load.buffer, load.copy, body, roles);
    if (readers.empty()) {
      readers.emplace_back(); // somebody has to wait for what arrives
    }
    auto *same = llvm::find_if(fills, [&](const Fill &other) { return other.readers == readers; });
    (same == fills.end() ? fills.emplace_back(Fill{{}, readers}) : *same).loads.push_back(&load);
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
  // Who gives a slot back last fills it again.
  const Readers *last = &fill.readers.front();
  for (const Readers &readers : fill.readers) {
    last = readers.last && last->last->isBeforeInBlock(readers.last) ? &readers : last;
  }
  mark(one, last->role);
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
                            DenseI32ArrayAttr(), load->copy.getCache());
  }
  builder.setInsertionPointAfter(one);
}

/// When the data has landed, what TMA has read from beyond the bounds of a view becomes zero. Few
/// tiles reach there, all others only branch; so what orders the zeros before other accesses of the
/// slot belongs into the branch (tgpu-insert-sync).
void ChannelMaker::zeroBeyondBounds(Load &load, Value slot, int64_t role) {
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
  mark(tgpu::ZeroBeyondOp::create(builder, at, slot, box.low, box.high), role);
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

/// Where roles share the kernel's work, `op` is the work of one.
void ChannelMaker::mark(Operation *op, int64_t role) {
  if (roles.count() > 1) {
    tgpu::kRole.set(op, builder.getI32IntegerAttr(int32_t(role)));
  }
}

template <typename Op>
void ChannelMaker::emitOn(Value channel, Value position, int64_t role) {
  mark(Op::create(builder, loc, channel, position), role);
}

/// Fill, waits and releases of one channel, and slots in place of the buffers.
void ChannelMaker::emitChannel(const Fill &fill, Value position) {
  auto names = llvm::map_range(
      fill.loads, [](Load *load) { return load->buffer.getName().value_or("buffer"); });
  const std::string name = llvm::join(names, "+");
  OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
  auto type = tgpu::ChannelType::get(kernel.getContext(), slots);
  Value channel =
      tgpu::ChannelOp::create(entry, loc, type, builder.getStringAttr(name), 1,
                              int32_t(kernel.getNumWarps() * int64_t(fill.readers.size())),
                              IntegerAttr(), DenseI32ArrayAttr(), ValueRange());
  emitFill(fill, channel, position);
  // What one role sets to zero others wait for, too. Its place is guarded by the channel of the fill.
  const bool repairs = fill.readers.size() > 1 &&
                       llvm::any_of(fill.loads, [](Load *load) { return !load->bounds.empty(); });
  Value repaired;
  if (repairs) {
    SmallVector<Value> rings =
        llvm::map_to_vector(fill.loads, [](Load *load) { return load->ring; });
    for (Value ring : rings) {
      Operation *alloc = ring.getDefiningOp();
      if (!alloc->isBeforeInBlock(&*entry.getInsertionPoint())) {
        entry.setInsertionPointAfter(alloc);
      }
    }
    repaired = tgpu::ChannelOp::create(entry, loc, type, builder.getStringAttr(name + " in bounds"),
                                       int32_t(kernel.getThreads()), 0, IntegerAttr(),
                                       DenseI32ArrayAttr(), rings);
  }
  SmallVector<Value> slotValues;
  for (const Readers &readers : fill.readers) {
    if (readers.first) {
      builder.setInsertionPoint(readers.first);
    }
    emitOn<tgpu::WaitOp>(channel, position, readers.role);
    const bool isFirst = slotValues.empty();
    if (!isFirst && repairs) {
      emitOn<tgpu::WaitOp>(repaired, position, readers.role);
    }
    for (Load *load : isFirst ? ArrayRef<Load *>(fill.loads) : ArrayRef<Load *>()) {
      Value slot = makeSlot(*load, position);
      if (readers.first) { // somebody reads it
        zeroBeyondBounds(*load, slot, readers.role);
      }
      slotValues.push_back(slot);
    }
    if (isFirst && repairs) {
      emitOn<tgpu::PublishOp>(repaired, position, readers.role);
    }
    if (readers.last) {
      builder.setInsertionPointAfter(readers.last);
    }
    emitOn<tgpu::ReleaseOp>(channel, position, readers.role);
  }
  for (auto [load, slot] : llvm::zip_equal(fill.loads, slotValues)) {
    load->copy.erase();
    load->buffer.getResult().replaceAllUsesWith(slot);
    load->buffer.erase();
  }
}

/// The store into a slot that its readers have given back, and is theirs behind it.
void ChannelMaker::emitHandOver(HandOver &over, Value position) {
  tgpu::SmemType type = over.buffer.getResult().getType();
  const int64_t count = slotsOf(over.store, over.buffer);
  OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
  auto ring = tgpu::AllocSharedOp::create(entry, over.buffer.getLoc(), ringType(type, count),
                                          over.buffer.getNameAttr(), StringAttr(), IntegerAttr());
  tgpu::kHandOver.set(ring, builder.getUnitAttr());
  Value channel = tgpu::ChannelOp::create(
      entry, over.buffer.getLoc(), tgpu::ChannelType::get(kernel.getContext(), count),
      builder.getStringAttr(over.buffer.getName().value_or("handed over")),
      int32_t(kernel.getThreads()), int32_t(kernel.getNumWarps() * int64_t(over.readers.size())),
      IntegerAttr(), DenseI32ArrayAttr(), ValueRange(ring.getResult()));
  builder.setInsertionPoint(over.store);
  Value slot = tgpu::SlotOp::create(builder, over.store.getLoc(), type, ring, position);
  emitOn<tgpu::AcquireOp>(channel, position, over.role);
  builder.setInsertionPointAfter(over.store);
  emitOn<tgpu::PublishOp>(channel, position, over.role);
  for (const Readers &readers : over.readers) {
    builder.setInsertionPoint(readers.first);
    emitOn<tgpu::WaitOp>(channel, position, readers.role);
    builder.setInsertionPointAfter(readers.last);
    emitOn<tgpu::ReleaseOp>(channel, position, readers.role);
  }
  over.buffer.getResult().replaceAllUsesWith(slot);
  over.buffer.erase();
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
  for (auto store : loop.getBody()->getOps<tgpu::LocalStoreOp>()) {
    if (isHandedOver(store)) {
      handOvers.push_back(findHandOver(store));
    }
  }
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
  for (HandOver &over : handOvers) {
    emitHandOver(over, position);
  }
  builder.setInsertionPointAfter(loop);
  ring.store(loop, emitSum(builder, loc, ring.base(), trips));
  return success();
}

/// The ring that a buffer of another pipelined loop will be.
static PlannedRing plannedRing(tgpu::AllocSharedOp buffer) {
  for (Operation *user : buffer.getResult().getUsers()) {
    auto copy = dyn_cast<tgpu::CopyOp>(user);
    auto loop = copy ? dyn_cast<scf::ForOp>(copy->getParentOp()) : scf::ForOp();
    tgpu::PipelineAttr plan = loop ? tgpu::kPipeline.get(loop) : tgpu::PipelineAttr();
    if (plan && copy.getDest() == buffer.getResult()) {
      return {loop, plan.getStages()};
    }
  }
  return {};
}

/// Two where warps that load go round a loop and shared memory has room beside all other buffers, and for as many
/// blocks: the next iteration's tile is then loaded while this one's is still read.
int64_t ChannelMaker::slotsOf(Operation *place, tgpu::AllocSharedOp buffer) {
  Operation *around = place->getParentOfType<LoopLikeOpInterface>();
  const Target *target = findTarget(kernel.getTarget().value_or(""));
  if (!around || !target || !asksForRoles(kernel)) {
    return 1;
  }
  SmallVector<SharedPiece> pieces = collectSharedPieces(kernel, [&](tgpu::AllocSharedOp alloc) {
    return alloc == buffer ? PlannedRing{around, 2} : plannedRing(alloc);
  });
  auto blocks = [&] { // that fit beside each other, by shared memory
    constexpr int64_t kBarriers = 1024, kFew = 1;
    return residentBlocks(*target, kFew, kernel.getNumWarps() * 32,
                          placeSharedPieces(pieces) + kBarriers);
  };
  const int64_t withTwo = blocks();
  for (SharedPiece &piece : pieces) {
    piece.bytes /= piece.op == buffer ? 2 : 1;
  }
  return withTwo > 0 && withTwo >= blocks() ? 2 : 1;
}

LogicalResult ChannelMaker::run(tgpu::CopyOp copy) {
  if (std::string reason = refuseTileFill(copy); !reason.empty()) {
    return copy.emitOpError("is by TMA outside of pipelined loops, but ") << reason;
  }
  slots = slotsOf(copy, copy.getDest().getDefiningOp<tgpu::AllocSharedOp>());
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

void ChannelMaker::run(tgpu::LocalStoreOp store) {
  HandOver over = findHandOver(store);
  RingPosition ring(kernel, store);
  body = store->getBlock();
  builder.setInsertionPoint(store);
  Value end = emitSum(builder, loc, ring.base(), constantI32(builder, loc, 1));
  emitHandOver(over, ring.base());
  ring.store(store, end);
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
    SmallVector<tgpu::LocalStoreOp> stores;
    getOperation().walk([&](tgpu::LocalStoreOp store) {
      if (isHandedOver(store)) {
        stores.push_back(store);
      }
    });
    for (tgpu::LocalStoreOp store : stores) {
      ChannelMaker(getOperation(), store).run(store);
    }
  }

  static bool hasFills(scf::ForOp loop, tgpu::PipelineAttr plan) {
    return llvm::any_of(loop.getBody()->getOps<tgpu::CopyOp>(), [&](tgpu::CopyOp copy) {
      return isFill(copy, scheduledStages(plan.getStages()));
    });
  }
};

} // namespace
