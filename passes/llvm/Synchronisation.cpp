//===- Synchronisation.cpp - channels, barriers, groups and fences -------===//
//
// A channel of n slots is n full barriers and n empty ones (mbarrier objects of 8 bytes). Position
// p is slot p mod n in round p / n. A wait of round r waits for the phase of parity r & 1; an
// acquire for the one before, so that it passes at once in round 0. Where blocks of a cluster fill each other's slots the empty barriers
// count the warps of all; or there is one more for each, which an acquire of round r then waits for, phase r & 1 (Clusters.h).
//
//===----------------------------------------------------------------------===//
#include "passes/ClusterLoads.h"
#include "passes/RoleBarriers.h"
#include "passes/llvm/Clusters.h"
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

LogicalResult KernelLowering::initChannels() {
  SmallVector<tgpu::ChannelOp> ops;
  kernel.walk([&](tgpu::ChannelOp op) { ops.push_back(op); });
  for (tgpu::ChannelOp op : ops) {
    if (!op.getOffset()) {
      return unsupported(op, "a channel without an address");
    }
    channels[op.getResult()] = Channel{
        int64_t(*op.getOffset()), int64_t(op.getResult().getType().getSlots()),
        op.getAcross().value_or(ArrayRef<int32_t>()), op.getAcross() && isGivenBackToAll(op)};
  }
  if (ops.empty() && tensorMaps.empty()) {
    return success();
  }
  guarded(compare(arith::CmpIPredicate::eq, threadId, i32(0)), [&] {
    for (Value map : tensorMaps) {
      NVVM::PrefetchOp::create(b, loc, NVVM::PrefetchCacheLevelAttr(),
                               NVVM::CacheEvictionPriorityAttr(), map, Value(), /*tensormap=*/true,
                               /*uniform=*/false, /*in_param_space=*/true);
    }
    for (tgpu::ChannelOp op : ops) {
      const Channel &channel = channels[op.getResult()];
      for (int64_t i = 0; i < channel.slots; ++i) {
        Value full = sharedPointer(Value(), channel.bytes + 8 * i);
        NVVM::MBarrierInitOp::create(b, loc, full, i32(op.getProducers()), Value());
        if (op.getConsumers() == 0) {
          continue; // nobody gives slots back, and no barrier counts 0
        }
        Value empty = sharedPointer(Value(), channel.bytes + 8 * (channel.slots + i));
        const int64_t blocks = channel.isGivenBackToAll ? clusters->groupSize(channel.across)
                                                        : 1; // that give slots back
        NVVM::MBarrierInitOp::create(b, loc, empty, i32(int64_t(op.getConsumers()) * blocks),
                                     Value());
        if (!channel.across.empty() && !channel.isGivenBackToAll) {
          Value peers = sharedPointer(Value(), channel.bytes + 8 * (2 * channel.slots + i));
          NVVM::MBarrierInitOp::create(b, loc, peers, i32(clusters->groupSize(channel.across)),
                                       Value());
        }
      }
    }
    if (!ops.empty() && arch >= 90) {
      NVVM::FenceMbarrierInitOp::create(b, loc);
    }
  });
  if (clusters) {
    clusters->begin();
  } else if (!ops.empty()) {
    blockBarrier();
  }
  return success();
}

LogicalResult KernelLowering::synchronise(Operation *op) {
  const bool inRole = warps.barrier != 0;
  if ((inRole ? warps.count : kernel.getLaunchedThreads() / 32) == 1) {
    NVVM::SyncWarpOp::create(b, loc, i32(-1));
    return success();
  }
  return lowerBarrier(op, warps.barrier, inRole ? warps.count * 32 : 0, /*arrive=*/false);
}

void KernelLowering::blockBarrier() { NVVM::BarrierOp::create(b, loc); }

/// What closes groups of asynchronous work, waits for them or fences: one instruction each.
LogicalResult KernelLowering::lowerGroupOp(Operation *op) {
  if (auto fence = dyn_cast<tgpu::FenceAsyncOp>(op)) {
    using enum NVVM::ProxyKind;
    auto cta = NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta);
    NVVM::FenceProxyOp::create(b, loc, fence.getGlobal() ? async_global : async_shared,
                               fence.getGlobal() ? NVVM::SharedSpaceAttr() : cta);
  } else if (isa<tgpu::TmaStoreCommitOp>(op)) {
    NVVM::CpAsyncBulkCommitGroupOp::create(b, loc);
  } else if (auto wait = dyn_cast<tgpu::TmaStoreWaitOp>(op)) {
    NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, wait.getPending(),
                                         wait.getRead() ? b.getUnitAttr() : UnitAttr());
  } else if (isa<tgpu::CpAsyncCommitOp>(op)) {
    NVVM::CpAsyncCommitGroupOp::create(b, loc);
  } else if (auto wait = dyn_cast<tgpu::CpAsyncWaitOp>(op)) {
    NVVM::CpAsyncWaitGroupOp::create(b, loc, wait.getPending());
  } else if (isa<tgpu::WgmmaCommitOp>(op)) {
    NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
  } else if (isa<tgpu::LaunchDependentsOp>(op)) {
    NVVM::GriddepcontrolOp::create(b, loc, NVVM::GridDepActionKind::launch_dependents);
  } else if (isa<tgpu::WaitForLaunchesOp>(op)) {
    NVVM::GriddepcontrolOp::create(b, loc, NVVM::GridDepActionKind::wait);
  } else {
    return unsupported(op, "this operation in a kernel");
  }
  return success();
}

Value KernelLowering::barrierPointer(const Channel &channel, Value position,
                                     Channel::Barrier barrier) {
  const int64_t bytes = channel.bytes + 8 * channel.slots * int64_t(barrier);
  if (channel.slots == 1) {
    return sharedPointer(Value(), bytes);
  }
  return sharedPointer(mul(ringPlace(position, channel.slots).index, 8), bytes);
}

void KernelLowering::waitFor(const Channel &channel, Value position, Channel::Barrier barrier) {
  Value pointer = barrierPointer(channel, position, barrier);
  Value parity = ringPlace(position, channel.slots).parity;
  if (barrier == Channel::Barrier::Empty) {
    parity = b.createOrFold<arith::XOrIOp>(loc, parity, i32(1));
  }
  const bool forPeers = barrier == Channel::Barrier::Peers ||
                        (barrier == Channel::Barrier::Empty && channel.isGivenBackToAll);
  const auto scope = forPeers ? NVVM::MemScopeKind::CLUSTER : NVVM::MemScopeKind::CTA;
  auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  Value done = arch >= 90
                   ? Value(NVVM::MBarrierTryWaitOp::create(b, loc, b.getI1Type(), pointer, parity,
                                                           Value(), scope, forPeers))
                   : Value(NVVM::MBarrierTestWaitOp::create(b, loc, b.getI1Type(), pointer, parity,
                                                            NVVM::MemScopeKind::CTA, false));
  Value again = arith::XOrIOp::create(b, loc, done, constant(1, b.getI1Type()));
  scf::ConditionOp::create(b, loc, again, ValueRange());
  b.createBlock(&loop.getAfter());
  scf::YieldOp::create(b, loc);
  if (forPeers) { // what the other blocks did with their shared memory (Clusters::arriveAtAll)
    b.setInsertionPointAfter(loop);
    NVVM::FenceSyncRestrictOp::create(b, loc, NVVM::MemOrderKind::ACQUIRE);
  }
}

/// Whether some warp reads shared memory with ordinary loads, or sets to zero what is beyond a bound: its lanes must
/// then have done so before one of them releases. Reads by wgmma and TMA end with their waits.
bool KernelLowering::readsShared() {
  if (!hasSharedReads) {
    WalkResult found = kernel.walk([](Operation *op) {
      auto copy = dyn_cast<tgpu::CopyOp>(op);
      const bool reads =
          isa<tgpu::LocalLoadOp, tgpu::GatherOp, tgpu::FmaOp, tgpu::DotOp, tgpu::LoadElementOp,
              tgpu::AtomicOp, tgpu::ZeroBeyondOp, tile::ThreadsOp>(op) ||
          (copy && isa<tgpu::SmemType>(copy.getSource().getType()));
      return reads ? WalkResult::interrupt() : WalkResult::advance();
    });
    hasSharedReads = found.wasInterrupted();
  }
  return *hasSharedReads;
}

LogicalResult KernelLowering::lowerChannelUse(Operation *op) {
  auto found = channels.find(op->getOperand(0));
  if (found == channels.end()) {
    return unsupported(op, "a channel that is passed on");
  }
  const Channel channel = found->second;
  Value position = op->getOperand(1);
  Type state = b.getI64Type();
  if (isa<tgpu::AcquireOp, tgpu::WaitOp>(op)) {
    const bool acquires = isa<tgpu::AcquireOp>(op);
    waitFor(channel, position, acquires ? Channel::Barrier::Empty : Channel::Barrier::Full);
    if (acquires && !channel.across.empty() && !channel.isGivenBackToAll) {
      Value peers = barrierPointer(channel, position, Channel::Barrier::Peers);
      guarded(electedLane, [&] { clusters->arriveAtAll(channel.across, peers); });
      waitFor(channel, position, Channel::Barrier::Peers);
    }
    // Lanes may leave the loop apart, and what is `.aligned` (wgmma, ldmatrix, mma.sync, elect) needs them together. Where ptxas
    // sees that they are it makes a NOP of this.
    if (!op->getParentOfType<tgpu::OneThreadOp>()) {
      NVVM::SyncWarpOp::create(b, loc, i32(-1));
    }
  } else if (isa<tgpu::PublishOp>(op)) {
    NVVM::MBarrierArriveOp::create(b, loc, state,
                                   barrierPointer(channel, position, Channel::Barrier::Full),
                                   Value(), NVVM::MemScopeKind::CTA, false);
  } else if (auto expect = dyn_cast<tgpu::ExpectOp>(op)) {
    NVVM::MBarrierArriveExpectTxOp::create(
        b, loc, Type(), barrierPointer(channel, position, Channel::Barrier::Full),
        i32(expect.getBytes()), NVVM::MemScopeKind::CTA, false, Value());
  } else { // release
    if (readsShared()) {
      NVVM::SyncWarpOp::create(b, loc, i32(-1));
    }
    Value empty = barrierPointer(channel, position, Channel::Barrier::Empty);
    if (channel.isGivenBackToAll) {
      Value isMember =
          compare(arith::CmpIPredicate::ult, laneId, i32(clusters->groupSize(channel.across)));
      guarded(isMember, [&] { clusters->arriveAt(channel.across, empty, laneId); });
      return success();
    }
    guarded(compare(arith::CmpIPredicate::eq, laneId, i32(0)), [&] {
      NVVM::MBarrierArriveOp::create(b, loc, state, empty, Value(), NVVM::MemScopeKind::CTA, false);
    });
  }
  return success();
}

LogicalResult KernelLowering::lowerBarrier(Operation *op, int64_t id, int64_t threads,
                                           bool arrive) {
  if (id + (runningTeam ? teams - 1 : 0) > 15 || threads % 32 != 0) {
    return op->emitOpError("names one of 16 barriers and whole warps");
  }
  Value number = runningTeam ? add(runningTeam, id) : i32(id);
  if (arrive) {
    // The intrinsic is convergent; the operation of the dialect is inline assembly, which is not.
    LLVM::CallIntrinsicOp::create(b, loc,
                                  b.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
                                  ValueRange{number, i32(threads)});
  } else if (id == 0 && threads == 0) {
    blockBarrier();
  } else {
    NVVM::BarrierOp::create(b, loc, Type(), number, threads ? i32(threads) : Value(),
                            NVVM::BarrierReductionAttr(), Value());
  }
  return success();
}

LogicalResult KernelLowering::lowerBarrier(tgpu::BarrierOp op) {
  const int64_t groups = op.getGroups();
  if (groups == 1) {
    return lowerBarrier(op, op.getId(), op.getThreads(), /*arrive=*/false);
  }
  if (groups > int64_t(kMostGroups) || op.getId() > kMostGroupedBarrier ||
      warps.count % groups != 0 || runningTeam) {
    return op->emitOpError("is of groups of warps that there are not");
  }
  Value group =
      b.createOrFold<arith::DivUIOp>(loc, warpFrom(warps.first), i32(warps.count / groups));
  Value number = add(group, groupBarrier(op.getId()));
  NVVM::BarrierOp::create(b, loc, Type(), number, i32(warps.count / groups * 32),
                          NVVM::BarrierReductionAttr(), Value());
  return success();
}

/// Turns of warpgroups: two meet at each of their barriers, one of which only arrives.
LogicalResult KernelLowering::lowerTurn(Operation *op, int64_t groups) {
  const int64_t ofGroup = warps.count / groups;
  if (warps.count % groups != 0 || runningTeam) {
    return op->emitOpError("is of groups of warps that there are not");
  }
  Value group = b.createOrFold<arith::DivUIOp>(loc, warpFrom(warps.first), i32(ofGroup));
  Value threads = i32(2 * 32 * ofGroup);
  if (isa<tgpu::AwaitTurnOp>(op)) {
    NVVM::BarrierOp::create(b, loc, Type(), add(group, kFirstTurnBarrier), threads,
                            NVVM::BarrierReductionAttr(), Value());
    return success();
  }
  Value isLast = compare(arith::CmpIPredicate::eq, group, i32(groups - 1));
  Value next = arith::SelectOp::create(b, loc, isLast, i32(0), add(group, 1));
  LLVM::CallIntrinsicOp::create(b, loc,
                                b.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
                                ValueRange{add(next, kFirstTurnBarrier), threads});
  return success();
}

} // namespace tilec::lowering
