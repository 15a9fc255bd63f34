//===- SyncWalk.cpp - a kernel in program order, for synchronisation -----===//
//
// Invariants, at each operation that is visited:
// - `pending` holds every access that some execution may have made and that nothing has ordered
//   before the operation. It may hold more (of accesses that look alike the youngest, positions
//   that are not told apart), never less.
// - `held` and `acquired` hold only slots that every execution has waited for and not given back, or
//   every one in which a comparison holds (SyncHolds.cpp).
// - `ages` and `operands` give at most the true number of groups closed since.
// So what is not reported is ordered, whatever path is taken.
//
// A loop's body is walked as its iterations would run: walk i starts with what iteration i would
// find, positions renamed over the edge (SyncLoops.h), and with all accesses that were pending at
// earlier heads. When a walk starts with the state of the one before, all later ones would, too:
// the loop has settled, and every iteration has been checked. The first walk is the first iteration,
// so that a comparison with the loop's variable may decide which way a branch takes; what it leaves
// pending is joined behind the loop, which may have no other.
//
// Why this ends: accesses at the head only become more, and there are finitely many. An operation
// adds an access for each slot of a ring, as often as its constants differ modulo the slots; after
// twice as many they count as one at any position (`addAccess`). A region of global memory that
// moves from iteration to iteration is widened, each of its bounds once (`LoopEdges::settle`). Ages
// stop at kMaxAge, slots held by one operation at those of its ring, and their names only become
// fewer. So a loop settles after about as many walks as its rings have slots, or kMaxAge. That is
// no proof for all IR: a loop that has not settled by then is an error, never a guess.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/SyncLoops.h"
#include "passes/SyncState.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

static int64_t older(int64_t age) { return std::min(age + 1, kMaxAge); }

void Walker::commit(Flight kind) {
  for (Access &access : state.pending) {
    if (access.flight == kind) {
      access.age = older(access.age);
    }
  }
  if (kind == Flight::Wgmma) {
    for (auto *ages : {&state.ages, &state.operands}) {
      for (auto &[value, age] : *ages) {
        age = older(age);
      }
    }
  }
}

void Walker::wait(Flight kind, int64_t pending) {
  for (Access &access : state.pending) {
    if (access.flight == kind && access.age >= std::min(pending, kMaxAge)) {
      access.flight = Flight::None;
      access.age = -1;
    }
  }
}

void Walker::waitStores(int64_t pending, bool sources, int64_t thread) {
  for (Access &access : state.pending) {
    bool mine = access.flight == Flight::TmaStore && access.thread == thread;
    if (mine && !(sources && access.write) && access.age >= std::min(pending, kMaxAge)) {
      access.flight = Flight::None;
      access.age = -1;
    }
  }
}

bool Walker::coversContext(tgpu::BarrierOp barrier) const {
  if (barrier.getGroups() != 1) {
    return false;
  }
  return barrier.getThreads() == 0 || int64_t(barrier.getThreads()) >= context.threads;
}

static void dropHeld(SmallVectorImpl<Held> &list, Value channel, const Position &position) {
  llvm::erase_if(list, [&](const Held &held) {
    return held.channel == channel && held.position.equals(position);
  });
}

void Walker::markGiven(Operation *alloc, const Position &position) {
  for (Held &held : state.held) {
    held.given |=
        llvm::is_contained(guardsOf(alloc), held.channel) && held.position.equals(position);
  }
}

void Walker::giveBack(Operation *op) {
  const Value channel = op->getOperand(0);
  const Position position = Position::of(op->getOperand(1));
  auto publish = dyn_cast<tgpu::PublishOp>(op);
  for (Access &access : state.pending) {
    const Memory &memory = access.memory;
    const bool isOver =
        llvm::is_contained(guardsOf(memory), channel) || (publish && handsOver(publish, access));
    // One thread speaks for those that it has met.
    const bool isMine = !context.oneThread || access.synced || access.thread == context.warp;
    access.released |=
        isOver && isMine && access.flight == Flight::None &&
        (memory.slot ? memory.slot->isSameSlot(position, memory.slots)
                     : cast<tgpu::ChannelType>(channel.getType()).getSlots() == 1 || publish);
  }
  for (Operation *alloc : publish ? handedOver(publish) : ArrayRef<Operation *>()) {
    markGiven(alloc, position);
  }
}

void Walker::effects(Operation *op) {
  auto hold = [&](SmallVectorImpl<Held> &list) {
    Held held{op, op->getOperand(0), Position::of(op->getOperand(1))};
    dropHeld(list, held.channel, held.position);
    list.push_back(held);
    // What a loop takes and never gives back: the oldest is no longer counted on.
    auto mine = [&](const Held &other) { return other.op == op; };
    if (llvm::count_if(list, mine) > cast<tgpu::ChannelType>(held.channel.getType()).getSlots()) {
      list.erase(llvm::find_if(list, mine));
    }
  };
  if (auto barrier = dyn_cast<tgpu::BarrierOp>(op)) {
    if (coversContext(barrier)) {
      applyBarrier();
    } else if (barrier.getGroups() != 1) {
      applyGroupBarrier(barrier);
    }
  } else if (isa<tile::SyncThreadsOp>(op)) {
    applyBarrier();
  } else if (auto fence = dyn_cast<tgpu::FenceAsyncOp>(op)) {
    fenceAsync(fence.getGlobal());
  } else if (isa<tgpu::WgmmaCommitOp>(op)) {
    commit(Flight::Wgmma);
  } else if (isa<tgpu::CpAsyncCommitOp>(op)) {
    commit(Flight::CpAsync);
  } else if (isa<tgpu::TmaStoreCommitOp>(op)) {
    commit(Flight::TmaStore);
  } else if (auto waiting = dyn_cast<tgpu::WgmmaWaitOp>(op)) {
    wait(Flight::Wgmma, waiting.getPending());
    state.operands.remove_if([&](const std::pair<Value, int64_t> &operand) {
      return operand.second >= std::min<int64_t>(waiting.getPending(), kMaxAge);
    });
    for (auto [input, result] : llvm::zip_equal(waiting.getInputs(), waiting.getResults())) {
      if (auto it = state.ages.find(input);
          it != state.ages.end() && isa<tgpu::PendingType>(result.getType())) {
        int64_t age = it->second;
        state.ages[result] = age;
      }
    }
  } else if (auto waiting = dyn_cast<tgpu::CpAsyncWaitOp>(op)) {
    wait(Flight::CpAsync, waiting.getPending());
  } else if (auto waiting = dyn_cast<tgpu::TmaStoreWaitOp>(op)) {
    waitStores(waiting.getPending(), waiting.getRead(), context.warp);
  } else if (auto product = dyn_cast<tgpu::WgmmaOp>(op)) {
    state.ages[product.getResult()] = -1;
    if (isa<RankedTensorType>(product.getA().getType())) {
      state.operands[product.getA()] = -1;
    }
  } else if (isa<tgpu::WgmmaFenceOp>(op)) {
    state.unfenced.clear();
  } else if (auto begin = dyn_cast<tgpu::WgmmaBeginOp>(op)) {
    state.ages[begin.getResult()] = kMaxAge;
    carryFacts(state, state, begin.getAcc(), begin.getResult());
  } else if (auto waiting = dyn_cast<tgpu::WaitOp>(op)) {
    hold(state.held);
    arrive(waiting);
  } else if (auto load = dyn_cast<tgpu::TmaLoadOp>(op); load && tgpu::kRefill.has(load)) {
    Position old = Position::of(load.getPosition());
    old.forms.front().constant -= Memory::of(load.getDest()).slots;
    markGiven(getAllocation(load.getDest()), old);
  } else if (isa<tgpu::AcquireOp>(op)) {
    hold(state.acquired);
  } else if (auto expect = dyn_cast<tgpu::ExpectOp>(op)) {
    dropHeld(state.acquired, expect.getChannel(), Position::of(expect.getPosition()));
  } else if (isa<tgpu::ReleaseOp, tgpu::PublishOp>(op)) {
    giveBack(op);
    dropHeld(isa<tgpu::ReleaseOp>(op) ? state.held : state.acquired, op->getOperand(0),
             Position::of(op->getOperand(1)));
  }
  for (Value result : op->getResults()) {
    if (isa<RankedTensorType>(result.getType())) {
      state.unfenced.insert(result);
    }
  }
}

//===----------------------------------------------------------------------===//
// Walking
//===----------------------------------------------------------------------===//

int64_t Walker::ringSlots() const {
  int64_t slots = 1;
  kernel->walk([&](tgpu::SlotOp slot) {
    slots = std::max(slots, slot.getRing().getType().getShape().front());
  });
  return slots;
}

LogicalResult Walker::run(int64_t walks) {
  // An access at each slot, as many again before they count as one, and the ages of groups; twice.
  maxWalks = walks > 0 ? walks : 2 * (2 * ringSlots() + kMaxAge);
  walk(kernel.getBody().front());
  atEnd(kernel);
  if (unknown) {
    return unknown->emitOpError("has regions that run in an order unknown here, so its "
                                "synchronisation is not known");
  }
  if (auto [loop, changed] = unsettled; loop) {
    return loop->emitOpError() << changed << " in this loop do not settle in " << maxWalks
                               << " walks, so its synchronisation is not known";
  }
  return success();
}

void Walker::walk(Block &block) {
  // Passes insert before the operation at hand, never after it.
  for (Operation &op : llvm::make_early_inc_range(block)) {
    walkOp(&op);
  }
}

void Walker::walkOp(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return walkFor(loop);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    return walkIf(branch);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    return walkWhile(loop);
  }
  if (auto roles = dyn_cast<tgpu::RolesOp>(op)) {
    return walkRoles(roles);
  }
  if (auto one = dyn_cast<tgpu::OneThreadOp>(op)) {
    return walkOneThread(one);
  }
  if (auto region = dyn_cast<tile::ThreadsOp>(op)) {
    return walkThreads(region);
  }
  if (auto stream = dyn_cast<tgpu::StreamOp>(op)) {
    return walkStream(stream);
  }
  visit(op);
  if (op->getNumRegions() != 0 && !tgpu::hasElementBody(op)) {
    unknown = op;
    return;
  }
  access(op);
  if (auto convert = dyn_cast<tgpu::ConvertLayoutOp>(op); convert && isAccess(op)) {
    exchange(convert);
  }
  effects(op);
}

/// A conversion through shared memory writes its scratch space, has a barrier, and reads it: what was
/// before it is ordered then, and later writes have to wait for the reading.
void Walker::exchange(tgpu::ConvertLayoutOp convert) {
  const layout::RegisterLayout *from = tgpu::getLayout(convert.getSource().getType());
  const layout::RegisterLayout *to = tgpu::getLayout(convert.getResult().getType());
  if (std::min(from->numWarps(), to->numWarps()) * 32 >= context.threads && !context.oneThread) {
    applyBarrier();
    for (Access read : accessesOf(convert)) {
      read.write = false;
      addAccess(state.pending, read);
    }
  }
}

/// What the head of a loop knows of slots, under the names that are right inside.
void Walker::enterLoop(Operation *loop, LoopEdges &edges, State &head) {
  // Only what the loop uses itself is compared with positions inside it.
  llvm::SmallPtrSet<Operation *, 8> used;
  loop->walk([&](tgpu::SlotOp slot) { used.insert(getAllocation(slot.getRing())); });
  for (Access &access : head.pending) {
    if (access.memory.slot && used.contains(access.memory.alloc)) {
      edges.enter(*access.memory.slot);
    }
  }
  for (auto *list : {&head.held, &head.acquired}) {
    for (Held &held : *list) {
      edges.enter(held.position);
    }
  }
}

/// What an iteration that ended with `next` hands on to the one behind it; `head` becomes that.
/// Returns what has changed.
StringRef Walker::repeatLoop(Operation *loop, LoopEdges &edges, State next, State &head) {
  // Values of an iteration are not seen in the next one, but for those it carries.
  next.ages.remove_if([&](const std::pair<Value, int64_t> &item) {
    Operation *definition = item.first.getDefiningOp();
    return definition && loop->isProperAncestor(definition);
  });
  renameAll(next, [&](auto &place) { edges.repeat(place); });
  forgetConditions(loop, next);
  edges.settle(next.pending, head.pending);
  keepOuterNames(next.held, loop);
  keepOuterNames(next.acquired, loop);
  State old = head;
  unite(next.pending, head.pending);
  head = std::move(next);
  return difference(old, head);
}

/// The state behind a loop: what may be left behind by any of its iterations, and the slots that are
/// held whichever was the last. The last walk has seen every access, and takes every way but those of the first iteration alone.
void Walker::joinExit(Operation *loop, std::optional<State> &exit, State leaving) {
  if (exit) {
    SmallVector<Access, 0> pending(leaving.pending);
    joinSides(loop, leaving, std::nullopt, *exit, std::nullopt);
    leaving.pending = std::move(pending);
  }
  exit = std::move(leaving);
}

static void takeSlots(State &into, const State &from) {
  into.held = from.held;
  into.acquired = from.acquired;
}

/// The iterations of a loop where they are a constant.
static std::optional<int64_t> constantTrips(scf::ForOp loop) {
  APInt lower, upper, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)) || !step.isStrictlyPositive()) {
    return std::nullopt;
  }
  const int64_t distance = upper.getSExtValue() - lower.getSExtValue();
  return distance <= 0 ? 0 : (distance - 1) / step.getSExtValue() + 1;
}

void Walker::walkIteration(scf::ForOp loop, bool first) {
  llvm::SaveAndRestore scope(facts);
  const Less fromLower = Less::of(loop.getLowerBound(), loop.getInductionVar());
  facts.push_back(Less::of(loop.getLowerBound(), loop.getUpperBound()));
  facts.push_back(Less::of(loop.getInductionVar(), loop.getUpperBound()));
  facts.push_back(first ? fromLower.negation() : fromLower);
  walk(*loop.getBody());
}

void Walker::walkFor(scf::ForOp loop) {
  visit(loop);
  if (hoistsOutOfBranches() && !context.oneThread) {
    checkInside(loop, /*onlyGlobal=*/true); // once, not in each iteration
  }
  LoopEdges edges(loop);
  ValueRange yielded = loop.getBody()->getTerminator()->getOperands();
  State before = state, head = state;
  carryFacts(head, before, loop.getInitArgs(), loop.getRegionIterArgs());
  enterLoop(loop, edges, head);
  const std::optional<int64_t> trips = constantTrips(loop);
  std::optional<State> exit;
  SmallVector<Access, 0> behindFirst;
  StringRef changed = "all of it";
  for (int64_t walks = 0; walks < maxWalks && !changed.empty(); ++walks) {
    state = head;
    walkIteration(loop, walks == 0);
    State leaving = state;
    carryFacts(leaving, state, yielded, loop.getResults());
    renameAll(leaving, [&](auto &place) { edges.leave(place); });
    forgetConditions(loop, leaving);
    if (walks == 0 && trips.value_or(1) == 1) { // it may be the last one, too
      behindFirst = leaving.pending;
    }
    if (trips && exit) { // only behind the last one of them something else follows
      const bool isBefore = walks < *trips;
      takeSlots(isBefore ? *exit : leaving, isBefore ? leaving : *exit);
    }
    joinExit(loop, exit, std::move(leaving));
    State next = state;
    carryFacts(next, state, yielded, loop.getRegionIterArgs());
    StringRef differs = repeatLoop(loop, edges, std::move(next), head);
    changed = walks > 0 ? differs : changed;
  }
  if (!changed.empty()) {
    unsettled = {loop, changed};
  }
  state = std::move(*exit);
  unite(state.pending, behindFirst);
  // No iteration at all.
  unite(state.pending, before.pending);
  carryFacts(before, before, loop.getInitArgs(), loop.getResults());
  uniteAges(state.ages, before.ages);
  uniteAges(state.operands, before.operands);
  state.unfenced.insert(before.unfenced.begin(), before.unfenced.end());
  skipLoop(loop, edges, before);
  arriveBehind(loop);
}

/// Slots behind a loop that may have had no iteration.
void Walker::skipLoop(scf::ForOp loop, LoopEdges &edges, State &before) {
  const Less negative = Less::of(loop.getUpperBound(), loop.getLowerBound());
  const bool isEmpty = before.held.empty() && before.acquired.empty();
  const bool ends = !isEmpty && holds(negative) == false;
  for (auto *list : {&before.held, &before.acquired}) {
    for (Held &held : *list) {
      edges.skip(held.position, ends);
    }
  }
  joinSkipped(loop, state, before);
}

void Walker::walkWhile(scf::WhileOp loop) {
  visit(loop);
  LoopEdges edges(loop);
  ValueRange passed = loop.getConditionOp().getArgs();
  State head = state;
  carryFacts(head, state, loop.getInits(), loop.getBeforeArguments());
  enterLoop(loop, edges, head);
  std::optional<State> exit;
  StringRef changed = "all of it";
  for (int64_t walks = 0; walks < maxWalks && !changed.empty(); ++walks) {
    state = head;
    walk(*loop.getBeforeBody());
    State leaving = state, next = state;
    carryFacts(leaving, state, passed, loop.getResults());
    renameAll(leaving, [&](auto &place) { edges.leave(place); });
    forgetConditions(loop, leaving);
    joinExit(loop, exit, std::move(leaving));
    carryFacts(next, state, passed, loop.getAfterArguments());
    state = std::move(next);
    for (auto *list : {&state.held, &state.acquired}) {
      for (Held &held : *list) {
        edges.pass(held.position);
      }
    }
    for (Access &access : state.pending) {
      if (access.memory.slot) {
        edges.pass(*access.memory.slot);
      }
    }
    walk(*loop.getAfterBody());
    next = state;
    carryFacts(next, state, loop.getYieldOp().getResults(), loop.getBeforeArguments());
    StringRef differs = repeatLoop(loop, edges, std::move(next), head);
    changed = walks > 0 ? differs : changed;
  }
  if (!changed.empty()) {
    unsettled = {loop, changed};
  }
  state = std::move(*exit);
}

/// One side of a branch; the block may be missing.
State Walker::walkSide(Block *block, const std::optional<Less> &fact) {
  llvm::SaveAndRestore scope(facts);
  if (fact) {
    facts.push_back(*fact);
    forgetUnmade();
  }
  if (block) {
    walk(*block);
    atBranchEnd(*block);
  }
  return state;
}

void Walker::walkIf(scf::IfOp branch) {
  visit(branch);
  WalkResult orders = branch.walk([](Operation *op) {
    bool order = isa<tgpu::BarrierOp, tgpu::ConvertLayoutOp, LoopLikeOpInterface>(op);
    return order ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (hoistsOutOfBranches() && !context.oneThread && !orders.wasInterrupted()) {
    checkInside(branch);
  }
  const std::optional<Less> less = Less::of(branch.getCondition());
  if (std::optional<bool> taken = less ? decide(facts, *less) : std::nullopt) {
    walkSide(*taken ? branch.thenBlock() : branch.elseBlock(), std::nullopt);
    if (branch.getNumResults() != 0) {
      auto yield = *taken ? branch.thenYield() : branch.elseYield();
      carryFacts(state, State(state), yield.getResults(), branch.getResults());
    }
    return;
  }
  State before = state;
  const State then = walkSide(branch.thenBlock(), less);
  state = before;
  const std::optional<Less> opposite = less ? std::optional(less->negation()) : std::nullopt;
  const State otherwise = walkSide(branch.elseBlock(), opposite);
  joinSides(branch, state, opposite, then, less);
  for (auto [index, result] : llvm::enumerate(branch.getResults())) {
    Value a = branch.thenYield().getOperand(index), b = branch.elseYield().getOperand(index);
    carryFacts(state, then, a, result);
    bool unfenced = state.unfenced.contains(result);
    int64_t age = state.ages.count(result) ? state.ages[result] : kMaxAge;
    carryFacts(state, otherwise, b, result);
    if (unfenced) {
      state.unfenced.insert(result);
    }
    if (isa<tgpu::PendingType>(result.getType())) {
      state.ages[result] = std::min(age, state.ages.count(result) ? state.ages[result] : kMaxAge);
    }
  }
}

void Walker::walkRoles(tgpu::RolesOp roles) {
  visit(roles);
  checkInside(roles);
  State before = state;
  State after = state;
  Context outside = context;
  for (auto [index, role] : llvm::enumerate(roles.getBodies())) {
    state = before;
    context = Context();
    context.roles = roles;
    context.role = index;
    context.threads = 32 * int64_t(roles.getNumWarps()[index]);
    walk(role.front());
    atEnd(roles);
    unite(after.pending, state.pending);
  }
  context = outside;
  state = after;
}

static SmallVector<Held, 2> stillHeld(ArrayRef<Held> before, ArrayRef<Held> now) {
  SmallVector<Held, 2> kept(before);
  llvm::erase_if(kept, [&](Held &item) {
    const auto *same = llvm::find_if(now, [&](const Held &other) {
      return other.op == item.op && other.position.equals(item.position);
    });
    item.given |= same != now.end() && same->given;
    return same == now.end();
  });
  return kept;
}

void Walker::walkOneThread(tgpu::OneThreadOp one) {
  visit(one);
  checkInside(one);
  const SmallVector<Held, 2> held(state.held), acquired(state.acquired);
  Context outside = context;
  context.oneThread = one;
  context.warp = threadOf(one);
  walk(one.getBody().front());
  atEnd(one);
  context = outside;
  // The others did not wait; what the one thread has given back or filled it has for all.
  state.held = stillHeld(held, state.held);
  state.acquired = stillHeld(acquired, state.acquired);
}

/// A stream is its body, then its events.
void Walker::walkStream(tgpu::StreamOp stream) {
  visit(stream);
  for (Region &region : stream->getRegions()) {
    walk(region.front());
    Operation *yield = region.front().getTerminator();
    carryFacts(state, state, yield->getOperands(), stream.getResultsOf(yield));
  }
  effects(stream);
}

/// For block code a region is one statement: it sees all that was done before, so what it needs it
/// needs in front of it. Inside, threads run in any order and what they owe each other is the
/// program's business, but its barriers count for what is pending behind the region.
void Walker::walkThreads(tile::ThreadsOp region) {
  visit(region);
  checkInside(region);
  Context outside = context;
  context.inRegion = true;
  walk(region.getBody().front());
  context = outside;
  renameAll(state, [&](auto &place) { forgetInside(region, place); });
}
