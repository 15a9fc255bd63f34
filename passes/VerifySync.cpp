//===- VerifySync.cpp - is every dependency through shared memory ordered? -===//
//
// Walks the kernel as tgpu-insert-sync does and reports what is not ordered. Besides barriers and
// fences it checks the protocols that no other pass derives: channels (acquire, expect, load; wait,
// read, release), groups of matrix products, and the fence before the registers of a product.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/Shared.h"
#include "passes/Sync.h"

namespace tilec {
#define GEN_PASS_DEF_VERIFYSYNC
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

static std::string nameOf(const Memory &memory) {
  if (memory.global) {
    BlockArgument base = memory.global->base;
    auto kernel = base ? cast<tgpu::KernelOp>(base.getOwner()->getParentOp()) : tgpu::KernelOp();
    StringAttr name = base ? tile::kName.get(kernel, base.getArgNumber()) : StringAttr();
    return name ? "`" + name.str() + "`" : "global memory";
  }
  if (memory.messages) {
    return "what the block prints";
  }
  auto alloc = dyn_cast_or_null<tgpu::AllocSharedOp>(memory.alloc);
  return alloc ? "`" + alloc.getName().value_or("buffer").str() + "`" : "scratch space";
}

static std::string nameOf(Value channel) {
  auto op = channel.getDefiningOp<tgpu::ChannelOp>();
  return "`" + (op ? op.getName().value_or("channel") : "channel").str() + "`";
}

namespace {

class Checker : public Walker {
public:
  Checker(tgpu::KernelOp kernel) : Walker(kernel) {
    kernel.walk([&](Operation *op) {
      if (auto acquire = dyn_cast<tgpu::AcquireOp>(op)) {
        withEmpty.insert(acquire.getChannel());
      } else if (auto load = dyn_cast<tgpu::TmaLoadOp>(op)) {
        loaded.insert({getAllocation(load.getDest()), load.getChannel()});
        if (tgpu::kRefill.has(load)) {
          refilled.insert(load.getChannel());
        }
      }
      for (const Access &access : accessesOf(op)) {
        if (access.async && access.memory.alloc) {
          usedAsync.insert(access.memory.alloc);
        }
      }
    });
    for (Value channel : refilled) {
      withEmpty.erase(channel); // acquired in the first round alone
    }
    kernel.walk([&](tgpu::RolesOp roles) {
      for (Region &role : roles.getBodies()) {
        collectHandovers(role);
      }
    });
  }

  bool failed = false;

  void checkConsumers();
  void checkWaits();
  /// Reports releases in branches that no walk has found after a wait.
  void checkBranches() {
    for (Operation *release : releasesToProve) {
      if (!releasesWaited.contains(release)) {
        reportNotWaited(cast<tgpu::ReleaseOp>(release));
      }
    }
  }

private:
  /// One error for each operation, with a note at `earlier`.
  void report(Operation *op, const Twine &message, Operation *earlier = nullptr,
              StringRef note = "") {
    failed = true;
    if (!reported.insert(op).second) {
      return;
    }
    InFlightDiagnostic error = op->emitOpError(message);
    if (earlier) {
      error.attachNote(earlier->getLoc()) << note;
    }
  }

  bool hazard(Hazard kind, Operation *outer, const Access &now, const Access &before) override;
  void visit(Operation *op) override;
  void atEnd(Operation *parent) override;

  /// Channels on which a role says that it has used a buffer.
  void collectHandovers(Region &role);
  void checkRefill(tgpu::TmaLoadOp load);
  void checkArrival(tgpu::WaitOp wait);
  void checkGuard(const Access &access);
  void checkRelease(tgpu::ReleaseOp release);
  void reportNotWaited(tgpu::ReleaseOp release);
  void checkPublish(tgpu::PublishOp publish);
  void checkProduct(tgpu::WgmmaOp product);
  void checkWait(tgpu::WgmmaWaitOp wait);
  void checkOperands(Operation *op);
  void checkLoad(tgpu::TmaLoadOp load);
  void checkExpect(tgpu::ExpectOp expect);

  bool holds(ArrayRef<Held> list, Value channel, const Memory &memory) const {
    return llvm::any_of(list, [&](const Held &held) {
      return held.channel == channel && (!memory.slot || held.position.equals(*memory.slot));
    });
  }

  llvm::SmallPtrSet<Operation *, 8> reported, usedAsync, releasesWaited;
  llvm::SetVector<Operation *> releasesToProve;
  llvm::DenseSet<Value> refilled;
  /// Buffer, to each role that uses it, to the channels it publishes after a use.
  llvm::DenseMap<Operation *, llvm::MapVector<Region *, SmallVector<Value, 2>>> handovers;
  llvm::DenseSet<Value> withEmpty; // channels whose empty barriers somebody waits for
  llvm::DenseSet<std::pair<Operation *, Value>> loaded;
};

} // namespace

bool Checker::hazard(Hazard kind, Operation *, const Access &now, const Access &before) {
  std::string name = nameOf(now.memory);
  std::string other = nameOf(before.memory);
  if (name != other) {
    name += " (same bytes as " + other + ")";
  }
  switch (kind) {
  case Hazard::Fence:
    report(now.op,
           "lets the async proxy use " + name + " without tgpu.fence_async" +
               (now.memory.global ? " {global}" : "") + " and a barrier after threads " +
               (before.write ? "wrote it" : "read it"),
           before.op, before.write ? "written here" : "read here");
    break;
  case Hazard::InFlight:
    report(now.op, "uses " + name + " while an asynchronous access of it is in flight", before.op,
           "started here, not waited for");
    break;
  default:
    report(now.op,
           Twine(now.write ? "writes " : "reads ") + name +
               " without a barrier after another thread's access",
           before.op, before.write ? "written here" : "read here");
    break;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

void Checker::checkGuard(const Access &access) {
  ArrayRef<Value> guards = guardsOf(access.memory);
  if (guards.empty() || isa<tgpu::TmaLoadOp>(access.op)) {
    return;
  }
  for (Value channel : guards) {
    if (holds(state.held, channel, access.memory)) {
      return;
    }
    // A writer of a slot that no TMA fills acquires it, if anybody releases it.
    bool tma = loaded.contains({access.memory.alloc, channel});
    if (access.write && !tma &&
        (!withEmpty.contains(channel) || holds(state.acquired, channel, access.memory))) {
      return;
    }
  }
  report(access.op,
         "uses a slot of " + nameOf(access.memory) +
             " without tgpu.wait on its channel at the same position",
         guards.front().getDefiningOp(), "the channel");
}

void Checker::reportNotWaited(tgpu::ReleaseOp release) {
  report(release,
         "gives back a slot of " + nameOf(release.getChannel()) +
             " that its threads have not waited for",
         release.getChannel().getDefiningOp(), "the channel");
}

void Checker::checkRelease(tgpu::ReleaseOp release) {
  Position position = Position::of(release.getPosition());
  // Also where nobody reads the slot: its next load would arrive in the phase of this one, and
  // both may be under way at once. A branch may begin to release later than a loop begins to wait:
  // there one iteration that has waited is enough.
  bool waited = llvm::any_of(state.held, [&](const Held &held) {
    return held.channel == release.getChannel() && held.position.equals(position);
  });
  if (waited) {
    releasesWaited.insert(release);
  } else if (isa<scf::IfOp>(release->getParentOp())) {
    releasesToProve.insert(release);
  } else {
    reportNotWaited(release);
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
    if (needsFence(pending, release)) {
      return report(release,
                    "lets TMA overwrite a slot of " + nameOf(pending.memory) +
                        " without tgpu.fence_async after threads " +
                        (pending.write ? "wrote it" : "read it"),
                    pending.op, pending.write ? "written here" : "read here");
    }
  }
}

void Checker::checkPublish(tgpu::PublishOp publish) {
  state.unpublished.clear();
  for (const Access &pending : state.pending) {
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

/// Instead of an empty barrier the thread holds a channel of every other role that uses the buffer.
void Checker::checkRefill(tgpu::TmaLoadOp load) {
  Operation *alloc = getAllocation(load.getDest());
  for (auto &[role, channels] : handovers[alloc]) {
    bool own = role->isAncestor(load->getParentRegion());
    bool told = llvm::any_of(
        state.held, [&](const Held &held) { return llvm::is_contained(channels, held.channel); });
    if (!own && !told) {
      return report(load,
                    "refills " + nameOf(Memory::of(load.getDest())) +
                        ", but has not heard from another role that uses it",
                    role->getParentOp(), "the roles");
    }
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
  } else if (!findBefore<tgpu::AcquireOp>(load, load.getChannel(), position)) {
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

/// Each warp that releases a slot arrives once: as many as the empty barrier counts.
void Checker::checkConsumers() {
  kernel.walk([&](tgpu::ChannelOp channel) {
    llvm::MapVector<Region *, int64_t> warps;
    for (Operation *user : channel.getResult().getUsers()) {
      if (!isa<tgpu::ReleaseOp>(user)) {
        continue;
      }
      auto roles = user->getParentOfType<tgpu::RolesOp>();
      Region *region = roles ? user->getParentRegion() : &kernel.getBody();
      while (roles && region->getParentOp() != roles) {
        region = region->getParentOp()->getParentRegion();
      }
      warps[region] = roles ? int64_t(roles.getNumWarps()[region->getRegionNumber()])
                            : kernel.getLaunchedThreads() / 32;
    }
    int64_t sum = 0;
    for (auto &[region, count] : warps) {
      sum += count;
    }
    if (withEmpty.contains(channel.getResult()) && sum != int64_t(channel.getConsumers())) {
      report(channel, "counts " + Twine(channel.getConsumers()) + " consumers, but " + Twine(sum) +
                          " warps release its slots");
    }
  });
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

void Checker::checkProduct(tgpu::WgmmaOp product) {
  for (Value operand : {product.getAcc(), product.getA()}) {
    if (state.unfenced.contains(operand)) {
      return report(product, "uses registers that were written after the last tgpu.wgmma_fence",
                    operand.getDefiningOp(), "written here");
    }
  }
  // The registers of a new accumulator held other values until then.
  if (!isa<tgpu::PendingType>(product.getAcc().getType()) && !state.unfenced.empty()) {
    report(product, "starts an accumulator in registers that may have been used after the last "
                    "tgpu.wgmma_fence");
  }
}

/// LLVM and ptxas know nothing of the flight: what a product reads keeps its registers only as long
/// as something uses the value, so the wait has to.
void Checker::checkOperands(Operation *op) {
  if (auto wait = dyn_cast<tgpu::WgmmaWaitOp>(op)) {
    for (auto &[fragment, age] : state.operands) {
      if (age >= int64_t(wait.getPending()) && !llvm::is_contained(wait.getFragments(), fragment)) {
        return report(wait, "ends a product without using the fragment that it reads until here",
                      fragment.getDefiningOp(), "the fragment");
      }
    }
  }
  // The next iteration computes its values in the same registers.
  bool edge = op->hasTrait<OpTrait::IsTerminator>() && isa<LoopLikeOpInterface>(op->getParentOp());
  if (edge && !state.operands.empty()) {
    report(op, "begins the next iteration while a product in flight reads registers",
           state.operands.front().first.getDefiningOp(), "the fragment");
  }
}

void Checker::checkWait(tgpu::WgmmaWaitOp wait) {
  for (auto [input, result] : llvm::zip_equal(wait.getInputs(), wait.getResults())) {
    auto it = state.ages.find(input);
    if (it == state.ages.end() || isa<tgpu::PendingType>(result.getType()) ||
        it->second >= int64_t(wait.getPending())) {
      continue;
    }
    if (it->second < 0) {
      return report(wait, "gives an accumulator whose group tgpu.wgmma_commit has not closed");
    }
    return report(wait, "gives an accumulator that is still being written: only " +
                            Twine(it->second) + " groups were closed after its own, and " +
                            Twine(wait.getPending()) + " may be incomplete");
  }
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

void Checker::visit(Operation *op) {
  for (const Access &access : accessesOf(op)) {
    checkGuard(access);
    bool forOthers = context.roles && handovers.lookup(access.memory.alloc).size() > 1;
    if (forOthers && access.write && !access.async && !state.unpublished.insert(op)) {
      report(op, "overwrites what it has not handed over: tgpu.publish is missing after it");
    }
  }
  checkOperands(op);
  if (auto release = dyn_cast<tgpu::ReleaseOp>(op)) {
    checkRelease(release);
  } else if (auto publish = dyn_cast<tgpu::PublishOp>(op)) {
    checkPublish(publish);
  } else if (auto wait = dyn_cast<tgpu::WaitOp>(op)) {
    checkArrival(wait);
  } else if (auto product = dyn_cast<tgpu::WgmmaOp>(op)) {
    checkProduct(product);
  } else if (auto wait = dyn_cast<tgpu::WgmmaWaitOp>(op)) {
    checkWait(wait);
  } else if (auto load = dyn_cast<tgpu::TmaLoadOp>(op)) {
    checkLoad(load);
  } else if (auto expect = dyn_cast<tgpu::ExpectOp>(op)) {
    checkExpect(expect);
  } else if (auto barrier = dyn_cast<tgpu::BarrierOp>(op)) {
    if (context.oneThread) {
      report(barrier, "is in code of one thread, which would wait for the others for ever");
    }
  }
}

void Checker::atEnd(Operation *parent) {
  for (const Held &held : state.held) {
    if (withEmpty.contains(held.channel) && parent->isAncestor(held.op)) {
      report(held.op, "takes a slot of " + nameOf(held.channel) + " that nothing releases");
    }
  }
  for (Operation *op : state.unpublished) {
    report(op,
           "writes for other roles, but nothing hands it over: tgpu.publish is missing after it");
  }
  for (const Access &pending : state.pending) {
    // Stores complete by themselves, but what they read lives no longer than the block.
    bool reads = pending.flight == Flight::TmaStore && !pending.write;
    if (pending.flight == Flight::Wgmma || reads) {
      report(pending.op, "is not waited for before the kernel ends");
    }
  }
}

namespace {
struct VerifySync : tilec::impl::VerifySyncBase<VerifySync> {
  using VerifySyncBase::VerifySyncBase;

  void runOnOperation() override {
    Checker checker(getOperation());
    LogicalResult settled = checker.run(maxWalks);
    checker.checkBranches();
    checker.checkWaits();
    checker.checkConsumers();
    if (checker.failed || mlir::failed(settled)) {
      signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
