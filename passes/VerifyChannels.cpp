//===- VerifyChannels.cpp - is every slot filled, used and given back? ----===//
//
// Acquire, expect, load; wait, read, release; between roles without an empty barrier: publish, wait,
// refill. Who arrives where, and as often as the barriers count.
//
//===----------------------------------------------------------------------===//
#include "passes/RoleBarriers.h"
#include "passes/Shared.h"
#include "passes/SyncChecker.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

bool Checker::isShared(Value channel, const Memory &memory) {
  if (!withEmpty.contains(channel) || !context.roles) {
    return false;
  }
  Region &own = tgpu::RolesOp(context.roles).getBodies()[context.role];
  return !kernel
              .walk([&](Operation *op) {
                const bool changes = llvm::any_of(accessesOf(op), [&](const Access &access) {
                  return access.memory.alloc == memory.alloc && access.write && !access.async;
                });
                return changes && !own.isAncestor(op->getParentRegion()) ? WalkResult::interrupt()
                                                                         : WalkResult::advance();
              })
              .wasInterrupted();
}

/// What another role hands over on `channel`, which guards it by its own word, is there only behind a wait on this one, whatever
/// else guards it.
bool Checker::isFromOthers(Value channel) {
  auto op = channel.getDefiningOp<tgpu::ChannelOp>();
  if (!op || op.getGuards().empty() || !context.roles) {
    return false;
  }
  Region &own = tgpu::RolesOp(context.roles).getBodies()[context.role];
  return llvm::none_of(channel.getUsers(), [&](Operation *user) {
    return isa<tgpu::PublishOp>(user) && own.isAncestor(user->getParentRegion());
  });
}

void Checker::checkGuard(const Access &access) {
  ArrayRef<Value> guards = guardsOf(access.memory);
  if (guards.empty() || isa<tgpu::TmaLoadOp>(access.op)) {
    return;
  }
  for (Value channel : guards) {
    if (isFromOthers(channel) && !holdsSlot(state.held, channel, access.memory, !access.write)) {
      return reportUnguarded(access, channel);
    }
  }
  for (Value channel : guards) {
    if (holdsSlot(state.held, channel, access.memory, !access.write)) {
      return;
    }
    // A writer of a slot that no TMA fills acquires it, if anybody releases it; then it may read, too.
    bool tma = loaded.contains({access.memory.alloc, channel});
    if (!tma && (withEmpty.contains(channel) ? holdsSlot(state.acquired, channel, access.memory)
                                             : access.write)) {
      return;
    }
  }
  reportUnguarded(access, guards.front());
}

void Checker::reportUnguarded(const Access &access, Value channel) {
  report(access.op,
         "uses a slot of " + nameOf(access.memory) +
             " without tgpu.wait on its channel at the same position",
         channel.getDefiningOp(), "the channel");
}

void Checker::oneSided(Operation *branch, const Held &held, bool acquired) {
  if (!acquired && !withEmpty.contains(held.channel)) {
    return; // nobody waits for its release
  }
  report(
      branch,
      "leaves a slot of " + nameOf(held.channel) +
          (acquired ? " acquired and not filled after " : " waited for and not given back after ") +
          (isa<LoopLikeOpInterface>(branch) ? "some of its iterations" : "one of its sides") +
          " only",
      held.op, acquired ? "acquired here" : "waited for here");
}

void Checker::checkRelease(tgpu::ReleaseOp release) {
  Position position = Position::of(release.getPosition());
  // Also where nobody reads the slot: its next load would arrive in the phase of this one, and
  // both may be under way at once.
  bool waited = llvm::any_of(state.held, [&](const Held &held) {
    return held.channel == release.getChannel() && held.position.equals(position) && isHeld(held);
  });
  if (!waited) {
    report(release,
           "gives back a slot of " + nameOf(release.getChannel()) +
               " that its threads have not waited for",
           release.getChannel().getDefiningOp(), "the channel");
  }
  for (const Access &pending : state.pending) {
    bool guarded = llvm::is_contained(guardsOf(pending.memory), release.getChannel());
    bool other =
        pending.memory.slot && pending.memory.slot->isOtherSlot(position, pending.memory.slots);
    if (guarded && pending.flight != Flight::None && !other) {
      return report(release,
                    "gives back a slot of " + nameOf(pending.memory) + " that is still being read",
                    pending.op, "started here, not waited for");
    }
    if (guarded && !other && context.oneThread && pending.thread != context.warp &&
        !pending.synced) {
      return report(release,
                    "gives back " + nameOf(pending.memory) +
                        " for threads that no barrier has gathered",
                    pending.op, pending.write ? "written here" : "read here");
    }
    if (needsFence(pending, release)) {
      return report(release,
                    "lets TMA overwrite a slot of " + nameOf(pending.memory) +
                        " without tgpu.fence_async after threads " +
                        (pending.write ? "wrote it" : "read it"),
                    pending.op, pending.write ? "written here" : "read here");
    }
  }
}

/// What is handed over its role has: acquired where somebody gives it back, else waited for on another
/// channel that guards it, and not handed over before.
bool Checker::hasSlot(tgpu::PublishOp publish) {
  const Position position = Position::of(publish.getPosition());
  auto isHere = [&](const Held &held) {
    return held.position.equals(position) && !held.given && isHeld(held);
  };
  if (withEmpty.contains(publish.getChannel())) {
    return llvm::any_of(state.acquired, [&](const Held &held) {
      return held.channel == publish.getChannel() && isHere(held);
    });
  }
  bool isGuarded = false;
  for (Operation *alloc : handedOver(publish)) {
    for (Value channel : guardsOf(alloc)) {
      isGuarded |= channel != publish.getChannel();
      if (llvm::any_of(state.held,
                       [&](const Held &held) { return held.channel == channel && isHere(held); })) {
        return true;
      }
    }
  }
  return !isGuarded;
}

void Checker::checkPublish(tgpu::PublishOp publish) {
  if (!hasSlot(publish)) {
    return report(publish,
                  "hands over a slot of " + nameOf(publish.getChannel()) +
                      " that its threads do not have at this position",
                  publish.getChannel().getDefiningOp(), "the channel");
  }
  state.unpublished.clear();
  for (const Access &pending : state.pending) {
    if (pending.flight != Flight::None && handsOver(publish, pending)) {
      return report(publish,
                    "hands over a slot of " + nameOf(pending.memory) + " that is still " +
                        (pending.write ? "being filled" : "being read"),
                    pending.op, "started here, not waited for");
    }
    if (needsFence(pending, publish)) {
      return report(publish,
                    "lets TMA overwrite a slot of " + nameOf(pending.memory) +
                        " without tgpu.fence_async after threads " +
                        (pending.write ? "wrote it" : "read it"),
                    pending.op, pending.write ? "written here" : "read here");
    }
    if (!pending.write || pending.async ||
        !llvm::is_contained(guardsOf(pending.memory), publish.getChannel())) {
      continue;
    }
    if (pending.flight != Flight::None) {
      return report(publish,
                    "hands over " + nameOf(pending.memory) + " while it is still being filled",
                    pending.op, "started here");
    }
    if (usedAsync.contains(pending.memory.alloc) && !pending.fenced) {
      return report(publish,
                    "hands over " + nameOf(pending.memory) +
                        " to the async proxy without tgpu.fence_async",
                    pending.op, "written here");
    }
    if (context.oneThread && pending.thread != context.warp && !pending.synced) {
      return report(publish,
                    "hands over " + nameOf(pending.memory) +
                        " for threads that no barrier has gathered",
                    pending.op, "written here");
    }
  }
}

/// The nearest operation of type `Op` on the same channel and position before `op`, in its block or
/// one around it inside the same one_thread.
template <typename Op>
static Op findBefore(Operation *op, Value channel, const Position &position) {
  while (op && !isa<tgpu::OneThreadOp, tgpu::KernelOp>(op)) {
    for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
      auto found = dyn_cast<Op>(before);
      if (found && found.getChannel() == channel &&
          Position::of(found.getPosition()).equals(position)) {
        return found;
      }
    }
    op = op->getParentOp();
  }
  return {};
}

void Checker::collectHandovers(Region &role) {
  SmallVector<Operation *> used;
  role.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto publish = dyn_cast<tgpu::PublishOp>(op)) {
      for (Operation *alloc : used) {
        handovers[alloc][&role].push_back(publish.getChannel());
      }
    }
    for (const Access &access : accessesOf(op)) {
      if (access.memory.alloc && !isa<tgpu::TmaLoadOp>(op)) {
        used.push_back(access.memory.alloc);
        handovers[access.memory.alloc][&role];
      }
    }
  });
}

/// Instead of an empty barrier the thread holds, at the position that the slot had before, a channel of
/// every other role that uses the buffer.
void Checker::checkRefill(tgpu::TmaLoadOp load) {
  const Memory memory = Memory::of(load.getDest());
  Position before = Position::of(load.getPosition());
  before.forms.front().constant -= memory.slots;
  for (auto &[role, channels] : handovers[memory.alloc]) {
    bool own = role->isAncestor(load->getParentRegion());
    bool told = llvm::any_of(state.held, [&](const Held &held) {
      return llvm::is_contained(channels, held.channel) && held.position.equals(before) &&
             isHeld(held);
    });
    if (!own && !told) {
      return report(
          load, "refills " + nameOf(memory) + ", but has not heard from another role that uses it",
          role->getParentOp(), "the roles");
    }
  }
}

/// Where nobody gives slots back each can be filled so once: acquire does not wait for who refills it.
void Checker::checkFirstRound(tgpu::TmaLoadOp load) {
  if (withEmpty.contains(load.getChannel())) {
    return;
  }
  const int64_t slots = cast<tgpu::ChannelType>(load.getChannel().getType()).getSlots();
  Linear position = Linear::of(load.getPosition());
  if (holds(Less{position, Linear{{}, slots}}) != true) {
    report(load, "may fill a slot of " + nameOf(load.getChannel()) +
                     " again, which nobody gives back: it has no consumers");
  }
}

void Checker::checkLoad(tgpu::TmaLoadOp load) {
  Position position = Position::of(load.getPosition());
  Memory memory = Memory::of(load.getDest());
  if (!context.oneThread) {
    return report(load, "is issued by all threads: it belongs into tgpu.one_thread");
  }
  if (memory.slot && !memory.slot->equals(position)) {
    return report(load, "fills another slot than the one whose barrier counts it");
  }
  if (tgpu::kRefill.has(load)) {
    checkRefill(load);
  } else {
    checkFirstRound(load);
  }
  if (!tgpu::kRefill.has(load) && !findBefore<tgpu::AcquireOp>(load, load.getChannel(), position)) {
    return report(load, "fills a slot of " + nameOf(memory) + " that its thread has not acquired");
  }
  if (!findBefore<tgpu::ExpectOp>(load, load.getChannel(), position)) {
    return report(load, "is not expected by its full barrier: tgpu.expect is missing before it");
  }
}

void Checker::checkExpect(tgpu::ExpectOp expect) {
  Position position = Position::of(expect.getPosition());
  int64_t bytes = 0;
  for (Operation *op = expect->getNextNode(); op; op = op->getNextNode()) {
    auto next = dyn_cast<tgpu::ExpectOp>(op);
    if (next && next.getChannel() == expect.getChannel() &&
        Position::of(next.getPosition()).equals(position)) {
      break;
    }
    op->walk([&](tgpu::TmaLoadOp load) {
      if (load.getChannel() == expect.getChannel() &&
          Position::of(load.getPosition()).equals(position)) {
        const layout::SharedLayout *layout = tgpu::getLayout(load.getDest().getType());
        bytes += layout ? tmaBytes(*layout) : 0;
      }
    });
  }
  if (bytes != int64_t(expect.getBytes())) {
    report(expect, "announces " + Twine(expect.getBytes()) +
                       " bytes, but the loads that follow bring " + Twine(bytes));
  }
}

/// Whether an arrival at `position` may be the one at the constant position `wanted`.
static bool reaches(Value position, int64_t wanted) {
  Linear linear = Linear::of(position);
  for (Value leaf : linear.leaves) {
    auto argument = dyn_cast<BlockArgument>(leaf);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    if (loop && leaf == loop.getInductionVar()) {
      Linear start = Linear::of(loop.getLowerBound());
      return !start.leaves.empty() || start.constant + linear.constant <= wanted;
    }
    if (argument && isa<tgpu::KernelOp>(argument.getOwner()->getParentOp())) {
      return false; // a number of the launch, not a fixed position
    }
  }
  return !linear.leaves.empty() || linear.constant == wanted;
}

/// A wait at a constant position needs somebody who arrives there.
void Checker::checkArrival(tgpu::WaitOp wait) {
  Linear wanted = Linear::of(wait.getPosition());
  bool arrives = llvm::any_of(wait.getChannel().getUsers(), [&](Operation *user) {
    return isa<tgpu::PublishOp, tgpu::ExpectOp>(user) &&
           reaches(user->getOperand(1), wanted.constant);
  });
  if (wanted.leaves.empty() && !arrives) {
    report(wait, "waits for ever: nobody arrives at this position of " + nameOf(wait.getChannel()));
  }
}

/// The block's memory is another one's when it ends: what fills it must be complete by then.
void Checker::checkWaits() {
  kernel.walk([&](tgpu::TmaLoadOp load) {
    if (llvm::none_of(load.getChannel().getUsers(), llvm::IsaPred<tgpu::WaitOp>)) {
      report(load, "fills a slot that nobody waits for: the block may end before it is complete",
             load.getChannel().getDefiningOp(), "the channel");
    }
  });
}

namespace {
/// Who arrives at a barrier of a slot: of each role, or of the block, all do at every place or none.
struct Arrivals {
  llvm::MapVector<Region *, int64_t> counts;
  Operation *differing = nullptr; ///< arrives with another number than its role elsewhere

  void add(Operation *op, Region *region, int64_t count) {
    auto [it, isNew] = counts.insert({region, count});
    differing = isNew || it->second == count ? differing : op;
  }
  int64_t sum() const {
    int64_t all = 0;
    for (auto &[region, count] : counts) {
      all += count;
    }
    return all;
  }
};
} // namespace

/// The role that `op` is in, or the kernel's body, and its threads.
static std::pair<Region *, int64_t> roleOf(tgpu::KernelOp kernel, Operation *op) {
  auto roles = op->getParentOfType<tgpu::RolesOp>();
  if (!roles) {
    return {&kernel.getBody(), kernel.getLaunchedThreads()};
  }
  const unsigned role = roles.getRoleOf(op);
  return {&roles.getBodies()[role], 32 * int64_t(roles.getNumWarps()[role])};
}

/// A barrier completes when as many have arrived as it counts: each warp that releases a slot does
/// once, each thread that publishes or expects does.
void Checker::checkArrivals() {
  kernel.walk([&](tgpu::ChannelOp channel) {
    Arrivals full, empty;
    const SmallVector<Operation *> users(channel.getResult().getUsers()); // the last one first
    for (Operation *user : llvm::reverse(users)) {
      auto [role, threads] = roleOf(kernel, user);
      const bool isOne = bool(user->getParentOfType<tgpu::OneThreadOp>());
      if (isa<tgpu::ReleaseOp>(user)) {
        empty.add(user, role, isOne ? 1 : threads / 32);
      } else if (isa<tgpu::PublishOp, tgpu::ExpectOp>(user)) {
        full.add(user, role, isOne ? 1 : threads);
      }
    }
    for (Operation *differing : {full.differing, empty.differing}) {
      if (differing) {
        report(differing, "arrives with another number of threads than elsewhere in its role",
               channel, "the channel");
      }
    }
    if (empty.sum() != int64_t(channel.getConsumers())) {
      report(channel, "counts " + Twine(channel.getConsumers()) + " consumers, but " +
                          Twine(empty.sum()) + " warps release its slots");
    }
    if (full.sum() != int64_t(channel.getProducers())) {
      report(channel, "counts " + Twine(channel.getProducers()) + " producers, but " +
                          Twine(full.sum()) + " threads fill its slots");
    }
  });
}

/// A named barrier lets go those who have arrived when they are as many as it counts: all threads of
/// the roles that use it, or of the block, and nobody else.
void Checker::checkBarriers() {
  llvm::MapVector<int64_t, std::pair<int64_t, Arrivals>> barriers;
  llvm::MapVector<int64_t, Operation *> ofOthers;
  kernel.walk([&](Operation *op) {
    auto barrier = dyn_cast<tgpu::BarrierOp>(op);
    auto arrive = dyn_cast<tgpu::BarrierArriveOp>(op);
    if (!barrier && !arrive) {
      return;
    }
    int64_t id = barrier ? barrier.getId() : arrive.getId();
    if (barrier && barrier.getGroups() != 1) {
      id = groupBarrier(id); // and those behind it, for the other groups
    }
    int64_t counted = barrier ? barrier.getThreads() : arrive.getThreads();
    counted = counted == 0 ? kernel.getLaunchedThreads() : counted;
    auto [it, isNew] = barriers.insert({id, {counted, Arrivals()}});
    if (it->second.first != counted) {
      report(op, "counts " + Twine(counted) + " threads, but elsewhere " + Twine(it->second.first) +
                     " meet at this barrier");
    }
    auto [role, threads] = roleOf(kernel, op);
    it->second.second.add(op, role, threads);
    // Each team has a barrier of its own, numbered behind the first one's.
    auto roles = op->getParentOfType<tgpu::RolesOp>();
    const int64_t teams = roles ? roles.getTeams()[roles.getRoleOf(op)] : 1;
    for (int64_t team = 1; team < teams; ++team) {
      ofOthers.insert({id + team, op});
    }
  });
  for (auto &[id, op] : ofOthers) {
    if (barriers.contains(id)) {
      report(op, "meets at barrier " + Twine(id) +
                     " in another team, but the number is used elsewhere, too");
    }
  }
  for (auto &[id, barrier] : barriers) {
    if (const int64_t sum = barrier.second.sum(); sum != barrier.first) {
      report(kernel, "counts " + Twine(barrier.first) + " threads at barrier " + Twine(id) +
                         ", but the roles that meet there have " + Twine(sum));
    }
  }
}
