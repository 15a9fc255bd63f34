//===- ControlFlow.cpp - dispatch, loops, branches, roles ----------------===//
#include "passes/RoleBarriers.h"
#include "passes/llvm/Clusters.h"
#include "passes/llvm/TiedAssembly.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilec::lowering {

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

FailureOr<Fragment> KernelLowering::valuesUnder(Value condition, ArrayRef<Value> otherwise,
                                                llvm::function_ref<FailureOr<Fragment>()> compute) {
  if (!condition) {
    return compute();
  }
  auto branch = scf::IfOp::create(b, loc, ValueRange(otherwise).getTypes(), condition,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  FailureOr<Fragment> values = compute();
  if (failed(values)) {
    return failure();
  }
  scf::YieldOp::create(b, loc, *values);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  return Fragment(branch.getResults());
}

void KernelLowering::guarded(Value condition, llvm::function_ref<void()> then) {
  if (!condition) {
    then();
    return;
  }
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  then();
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerBlock(Block &block) {
  if (Value elected = std::exchange(electedLane, Value())) {
    LogicalResult lowered = lowerElected(block, elected);
    electedLane = elected; // for the other blocks of the same operation
    return lowered;
  }
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      break; // the parent operation deals with it
    }
    loc = op.getLoc();
    if (failed(lowerOp(&op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult KernelLowering::lowerOp(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "tgpu") {
    return lowerTgpuOp(op);
  }
  if (dialect == "tile") {
    return lowerTileOp(op);
  }
  if (dialect == "vector") {
    return lowerVectorOp(op);
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<scf::ForOp>([&](auto o) { return lowerFor(o); })
      .Case<scf::IfOp>([&](auto o) { return lowerIf(o); })
      .Case<scf::WhileOp>([&](auto o) { return lowerWhile(o); })
      .Default([&](Operation *o) { return lowerGeneric(o); });
}

LogicalResult KernelLowering::lowerTgpuOp(Operation *op) {
  auto bindScalar = [&](Value value) {
    scalars[op->getResult(0)] = {value};
    return success();
  };
  auto nothing = [](auto) { return success(); };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tgpu::BlockIdOp>(
          [&](auto) { return bindScalar(NVVM::BlockIdXOp::create(b, loc, b.getI32Type())); })
      .Case<tgpu::NumBlocksOp>(
          [&](auto) { return bindScalar(NVVM::GridDimXOp::create(b, loc, b.getI32Type())); })
      .Case<tgpu::ClusterIdOp>(
          [&](auto) { return bindScalar(NVVM::ClusterIdXOp::create(b, loc, b.getI32Type())); })
      .Case<tgpu::NumClustersOp>(
          [&](auto) { return bindScalar(NVVM::ClusterDimXOp::create(b, loc, b.getI32Type())); })
      .Case<tgpu::WarpIdOp>([&](auto) { return bindScalar(warpId); })
      .Case<tgpu::TeamOp>([&](auto) { return bindScalar(team ? team : i32(0)); })
      .Case<tgpu::GridPointOp>([&](auto o) { return lowerGridPoint(o); })
      .Case<tgpu::ViewOp>([&](auto o) { return lowerView(o); })
      .Case<tgpu::RolesOp>([&](auto o) { return lowerRoles(o); })
      .Case<tgpu::OneThreadOp>([&](auto o) { return lowerOneThread(o); })
      .Case<tgpu::AllocSharedOp>([&](auto o) { return lowerAlloc(o); })
      .Case<tgpu::SlotOp>([&](auto o) { return lowerSlot(o); })
      .Case<tgpu::SubviewOp>([&](auto o) { return lowerSubview(o); })
      .Case<tgpu::ChannelOp>(nothing) // initialised at entry
      .Case<tgpu::AcquireOp, tgpu::PublishOp, tgpu::WaitOp, tgpu::ReleaseOp, tgpu::ExpectOp>(
          [&](Operation *o) { return lowerChannelUse(o); })
      .Case<tgpu::BarrierOp>([&](auto o) { return lowerBarrier(o); })
      .Case<tgpu::AwaitTurnOp, tgpu::PassTurnOp>(
          [&](auto o) { return lowerTurn(o, o.getGroups()); })
      .Case<tgpu::BarrierArriveOp>(
          [&](tgpu::BarrierArriveOp o) { return lowerBarrier(o, o.getId(), o.getThreads(), true); })
      .Case<tgpu::CopyOp>([&](auto o) { return lowerCopy(o); })
      .Case<tgpu::TmaLoadOp>([&](tgpu::TmaLoadOp o) {
        return lowerTma(o, views[o.getSource()], buffers[o.getDest()], o.getMap(), o.getCache(),
                        &channels[o.getChannel()], o.getPosition());
      })
      .Case<tgpu::TmaStoreOp>([&](tgpu::TmaStoreOp o) {
        return lowerTma(o, views[o.getDest()], buffers[o.getSource()], o.getMap(), o.getCache(),
                        nullptr, Value());
      })
      .Case<tgpu::CpAsyncOp>([&](auto o) { return lowerCpAsync(o); })
      .Case<tgpu::LoadOp>([&](auto o) { return lowerLoad(o); })
      .Case<tgpu::StoreOp>([&](auto o) { return lowerStore(o); })
      .Case<tgpu::CoordinateOp>([&](auto o) { return lowerCoordinate(o); })
      .Case<tgpu::GatherOp>([&](auto o) { return lowerGather(o); })
      .Case<tgpu::UnpackOp>([&](auto o) { return lowerUnpack(o); })
      .Case<tgpu::PackOp>([&](auto o) { return lowerPack(o); })
      .Case<tgpu::ScatterOp>([&](auto o) { return lowerScatter(o); })
      .Case<tgpu::LookupOp>([&](auto o) { return lowerLookup(o); })
      .Case<tgpu::AtomicOp>([&](auto o) { return lowerAtomic(o); })
      .Case<tgpu::AtomicTileOp>([&](auto o) { return lowerAtomicTile(o); })
      .Case<tgpu::LocalLoadOp>([&](auto o) { return lowerLocalLoad(o); })
      .Case<tgpu::LocalStoreOp>([&](auto o) { return lowerLocalStore(o); })
      .Case<tgpu::ZeroBeyondOp>([&](auto o) { return lowerZeroBeyond(o); })
      .Case<tgpu::LoadElementOp>([&](auto o) { return lowerLoadElement(o); })
      .Case<tgpu::StoreElementOp>([&](auto o) { return lowerStoreElement(o); })
      .Case<tgpu::ConvertLayoutOp>([&](auto o) { return lowerConvertLayout(o); })
      .Case<tgpu::WgmmaOp>([&](auto o) { return lowerWgmma(o); })
      .Case<tgpu::WgmmaFenceOp>([&](auto o) { return lowerWgmmaFence(o); })
      .Case<tgpu::WgmmaBeginOp, tgpu::HiddenOp>([&](Operation *o) {
        Fragment value = scalars.lookup(o->getOperand(0));
        scalars[o->getResult(0)] = isa<tgpu::HiddenOp>(o) ? inOwnRegisters(b, loc, value) : value;
        return success();
      })
      .Case<tgpu::BeginPartialOp>([&](auto o) { return lowerBeginPartial(o); })
      .Case<tgpu::AccumulatePartialOp>([&](auto o) { return lowerAccumulatePartial(o); })
      .Case<tgpu::ScalePartialOp>([&](auto o) { return lowerScalePartial(o); })
      .Case<tgpu::PartialPartsOp>([&](tgpu::PartialPartsOp o) {
        scalars[o.getResult()] = Fragment(scalars.lookup(o.getPartial()));
        return success();
      })
      .Case<tgpu::ReduceInWarpsOp>([&](auto o) { return lowerReduceInWarps(o); })
      .Case<tgpu::StreamOp>([&](auto o) { return lowerStream(o); })
      .Case<tgpu::ScanInWarpsOp>([&](auto o) { return lowerScanInWarps(o); })
      .Case<tgpu::ScanAcrossWarpsOp>([&](auto o) { return lowerScanAcrossWarps(o); })
      .Case<tgpu::FragmentSliceOp>([&](auto o) { return lowerFragmentSlice(o); })
      .Case<tgpu::FragmentInsertOp>([&](auto o) { return lowerFragmentInsert(o); })
      .Case<tgpu::WgmmaWaitOp>([&](auto o) { return lowerWgmmaWait(o); })
      .Case<tgpu::MmaOp>([&](auto o) { return lowerMma(o); })
      .Case<tgpu::FmaOp>([&](auto o) { return lowerFma(o); })
      .Default([&](Operation *o) { return lowerGroupOp(o); });
}

LogicalResult KernelLowering::lowerTileOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tile::SliceOp>([&](auto o) { return lowerSlice(o); })
      .Case<tile::ExtentOp>([&](auto o) { return lowerExtent(o); })
      .Case<tile::SplatOp>([&](tile::SplatOp o) -> LogicalResult {
        SmallVector<Type> types;
        if (failed(flattenTypes(o, o->getResultTypes(), types))) {
          return failure();
        }
        scalars[o.getResult()] = Fragment(types.size(), scalars[o.getInput()][0]);
        return success();
      })
      .Case<tile::ConvertOp>([&](auto o) { return lowerConvert(o); })
      .Case<tile::DivOp, tile::RemOp, tile::ShlOp, tile::ShrOp>(
          [&](Operation *o) { return lowerGeneric(o); })
      .Case<tile::MapOp>([&](auto o) { return lowerMap(o); })
      .Case<tile::ReduceOp>([&](tile::ReduceOp o) {
        return isa<VectorType>(o.getInput().getType()) ? lowerVectorReduce(o) : lowerReduce(o);
      })
      .Case<tile::ReduceWithOp>([&](auto o) { return lowerReduceWith(o); })
      .Case<tile::ScanOp>([&](auto o) { return lowerScan(o); })
      .Case<tile::ScanWithOp>([&](auto o) { return lowerScanWith(o); })
      .Case<tile::TransposeOp>([&](auto o) { return lowerTranspose(o); })
      .Case<tile::BroadcastOp>([&](auto o) { return lowerBroadcast(o); })
      .Case<tile::LoadOp>([&](tile::LoadOp o) {
        return locals.contains(o.getSource()) ? lowerLocalLoad(o) : lowerElementLoad(o);
      })
      .Case<tile::StoreOp>([&](tile::StoreOp o) {
        return locals.contains(o.getDest()) ? lowerLocalStore(o) : lowerElementStore(o);
      })
      .Case<tile::AllocOp>([&](auto o) { return lowerLocalAlloc(o); })
      .Case<tile::ThreadsOp>([&](auto o) { return lowerThreads(o); })
      .Case<tile::WarpOp, tile::WarpScanOp, tile::ShuffleOp, tile::BallotOp, tile::LaneOp,
            tile::SyncWarpOp>([&](Operation *o) { return lowerWarpOp(o); })
      .Case<tile::SyncThreadsOp>([&](auto) {
        blockBarrier();
        return success();
      })
      .Case<tile::AssumeOp, tile::AssertOp>([](auto) { return success(); })
      .Case<tile::VerifyOp>([&](auto o) { return lowerVerify(o); })
      .Case<tile::PrintOp>([&](auto o) { return lowerPrint(o); })
      .Case<tile::BitcastViewOp>(
          [&](Operation *o) { return unsupported(o, "`bitcast` of a tensor or buffer"); })
      .Default([&](Operation *o) { return unsupported(o, "this operation in a kernel"); });
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerFor(scf::ForOp op) {
  FailureOr<Fragment> bounds = flatten(op, {op.getLowerBound(), op.getUpperBound(), op.getStep()});
  FailureOr<llvm::BitVector> asWords = carriedAsWords(op);
  if (failed(bounds) || failed(asWords)) {
    return failure();
  }
  FailureOr<Fragment> inits = flattenCarried(op, op.getInitArgs(), *asWords);
  if (failed(inits)) {
    return failure();
  }
  const size_t carried = inits->size();
  SmallVector<RingCounter> counters = findCounters(op);
  startCounters(op, counters, (*bounds)[0], *inits);
  auto loop = scf::ForOp::create(
      b, loc, (*bounds)[0], (*bounds)[1], (*bounds)[2], *inits,
      [](OpBuilder &, Location, Value, ValueRange) {}, op.getUnsignedCmp());
  scalars[op.getInductionVar()] = {loop.getInductionVar()};
  for (auto [i, counter] : llvm::enumerate(counters)) {
    counter.place = {loop.getRegionIterArg(carried + 2 * i),
                     loop.getRegionIterArg(carried + 2 * i + 1)};
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  bindCarried(op.getRegionIterArgs(), loop.getRegionIterArgs(), *asWords);
  activeCounters.push_back({op, counters});
  LogicalResult body = lowerBlock(*op.getBody());
  activeCounters.pop_back();
  if (failed(body)) {
    return failure();
  }
  Operation *end = op.getBody()->getTerminator();
  loc = end->getLoc();
  FailureOr<Fragment> yields = flattenCarried(op, end->getOperands(), *asWords);
  if (failed(yields)) {
    return failure();
  }
  for (const RingCounter &counter : counters) {
    RingPlace next = advance(counter.place, 1, counter.slots);
    yields->append({next.index, next.parity});
  }
  if (!loop.getBody()->mightHaveTerminator()) {
    scf::YieldOp::create(b, loc, *yields);
  }
  b.setInsertionPointAfter(loop);
  bindCarried(op.getResults(), loop.getResults(), *asWords);
  return success();
}

LogicalResult KernelLowering::lowerIf(scf::IfOp op) {
  FailureOr<Fragment> condition = flatten(op, op.getCondition());
  if (failed(condition)) {
    return failure();
  }
  // What each way gives says how it is carried, and so the types of the results: they come last.
  auto ways = scf::IfOp::create(b, loc, TypeRange(), (*condition)[0], /*addThenBlock=*/true,
                                /*addElseBlock=*/op.elseBlock() != nullptr);
  llvm::BitVector asWords = pairsOfHalves(op.getResultTypes());
  const std::array fromTo{std::pair(op.thenBlock(), ways.thenBlock()),
                          std::pair(op.elseBlock(), ways.elseBlock())};
  OpBuilder::InsertionGuard guard(b);
  for (auto [from, to] : fromTo) {
    if (!from) {
      continue;
    }
    b.setInsertionPointToStart(to);
    if (failed(lowerBlock(*from))) {
      return failure();
    }
    SmallVector<Fragment> given;
    for (Value value : from->getTerminator()->getOperands()) {
      FailureOr<Fragment> slots = flatten(op, value);
      if (failed(slots)) {
        return failure();
      }
      given.push_back(std::move(*slots));
    }
    asWords &= pairsOfHalves(op.getResultTypes(), given);
  }
  for (auto [from, to] : fromTo) {
    if (!from) {
      continue;
    }
    b.setInsertionPointToEnd(to);
    FailureOr<Fragment> yields = flattenCarried(op, from->getTerminator()->getOperands(), asWords);
    if (failed(yields)) {
      return failure();
    }
    scf::YieldOp::create(b, from->getTerminator()->getLoc(), *yields);
  }
  SmallVector<Type> types;
  if (failed(flattenCarriedTypes(op, op.getResultTypes(), asWords, types))) {
    return failure();
  }
  b.setInsertionPointAfter(ways);
  auto branch = scf::IfOp::create(b, ways.getLoc(), types, (*condition)[0], /*addThenBlock=*/false,
                                  /*addElseBlock=*/false);
  branch.getThenRegion().takeBody(ways.getThenRegion());
  branch.getElseRegion().takeBody(ways.getElseRegion());
  ways.erase();
  b.setInsertionPointAfter(branch);
  bindCarried(op.getResults(), branch.getResults(), asWords);
  return success();
}

LogicalResult KernelLowering::lowerWhile(scf::WhileOp op) {
  const TypeRange initTypes = ValueRange(op.getInits()).getTypes();
  const llvm::BitVector beforeAsWords = pairsOfHalves(initTypes),
                        asWords = pairsOfHalves(op.getResultTypes());
  SmallVector<Type> types, beforeTypes;
  FailureOr<Fragment> inits = flattenCarried(op, op.getInits(), beforeAsWords);
  if (failed(inits) || failed(flattenCarriedTypes(op, op.getResultTypes(), asWords, types)) ||
      failed(flattenCarriedTypes(op, initTypes, beforeAsWords, beforeTypes))) {
    return failure();
  }
  auto loop = scf::WhileOp::create(b, loc, types, *inits);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, beforeTypes,
                                SmallVector<Location>(beforeTypes.size(), loc));
  bindCarried(op.getBeforeArguments(), before->getArguments(), beforeAsWords);
  if (failed(lowerBlock(*op.getBeforeBody()))) {
    return failure();
  }
  scf::ConditionOp condition = op.getConditionOp();
  FailureOr<Fragment> test = flatten(op, condition.getCondition());
  FailureOr<Fragment> passed = flattenCarried(op, condition.getArgs(), asWords);
  if (failed(test) || failed(passed)) {
    return failure();
  }
  scf::ConditionOp::create(b, loc, (*test)[0], *passed);
  Block *after =
      b.createBlock(&loop.getAfter(), {}, types, SmallVector<Location>(types.size(), loc));
  bindCarried(op.getAfterArguments(), after->getArguments(), asWords);
  if (failed(lowerBlock(*op.getAfterBody()))) {
    return failure();
  }
  FailureOr<Fragment> yields = flattenCarried(op, op.getYieldOp().getOperands(), beforeAsWords);
  if (failed(yields)) {
    return failure();
  }
  scf::YieldOp::create(b, loc, *yields);
  b.setInsertionPointAfter(loop);
  bindCarried(op.getResults(), loop.getResults(), asWords);
  return success();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerRoles(tgpu::RolesOp op) {
  OpBuilder::InsertionGuard guard(b);
  for (unsigned i = 0; i < op.getBodies().size(); ++i) {
    const int64_t first = op.getFirstWarps()[i], count = op.getAllWarps(i);
    const int64_t all = kernel.getLaunchedThreads() / 32;
    Value mine;
    if (first != 0) {
      mine = compare(arith::CmpIPredicate::uge, warpId, i32(first));
    }
    if (first + count != all) {
      mine = both(mine, compare(arith::CmpIPredicate::ult, warpId, i32(first + count)));
    }
    if (!mine) {
      return lowerRoleBody(op, i); // every warp
    }
    auto branch = scf::IfOp::create(b, loc, mine, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    if (failed(lowerRoleBody(op, i))) {
      return failure();
    }
    loc = op.getLoc();
    b.setInsertionPointToStart(branch.elseBlock());
  }
  return success();
}

LogicalResult KernelLowering::lowerRoleBody(tgpu::RolesOp op, unsigned index) {
  if (int64_t registers = op.getRegisters()[index]) {
    if (arch < 90 || !archSpecific) {
      return unsupported(op, "setmaxnreg on this target");
    }
    const int64_t threads = kernel.getLaunchedThreads();
    int64_t atEntry = std::min<int64_t>(255, 65536 / threads / 8 * 8);
    if (kernel.getMaxRegisters()) {
      atEntry = std::min<int64_t>(atEntry, *kernel.getMaxRegisters());
    }
    NVVM::SetMaxRegisterOp::create(b, loc, registers,
                                   registers < atEntry ? NVVM::SetMaxRegisterAction::decrease
                                                       : NVVM::SetMaxRegisterAction::increase);
  }
  llvm::SaveAndRestore range(
      warps, WarpRange{op.getFirstWarps()[index], op.getNumWarps()[index], barrierOfRole(index)});
  // The threads of each team have the numbers of the first one's, and barriers of their own.
  const bool isOfTeams = op.getTeams()[index] > 1;
  llvm::SaveAndRestore thread(threadId), warp(warpId), running(runningTeam);
  if (isOfTeams) {
    const int64_t count = op.getNumWarps()[index];
    runningTeam = team;
    threadId = arith::SubIOp::create(b, loc, threadId, mul(team, 32 * count));
    warpId = arith::SubIOp::create(b, loc, warpId, mul(team, count));
  }
  return lowerBlock(op.getBodies()[index].front());
}

/// Waits for a barrier somewhere in it, by a loop.
static bool spins(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<tgpu::AcquireOp, tgpu::WaitOp>(inner) ? WalkResult::interrupt()
                                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Uses one of `values`, itself or in its regions.
static bool usesAny(Operation *op, const llvm::DenseSet<Value> &values) {
  return op
      ->walk([&](Operation *inner) {
        bool uses = llvm::any_of(inner->getOperands(), [&](Value v) { return values.contains(v); });
        return uses ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// All lanes of the warp compute and wait, the elected one does the rest. A lane that spun alone
/// would let the others run on (ptxas puts a YIELD into such loops, which gives up their
/// reconvergence), and these share its uniform registers, in which TMA's operands are: seen as
/// misaligned addresses and illegal instructions, rarely, at UTMALDG.
LogicalResult KernelLowering::lowerElected(Block &block, Value elected) {
  OpBuilder::InsertionGuard outside(b);
  scf::IfOp branch;                     // the one being filled
  llvm::DenseSet<Value> inBranch, lost; // computed in it; in one that a wait has closed
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      break;
    }
    loc = op.getLoc();
    const bool waits = spins(&op), usesBranch = usesAny(&op, inBranch);
    if (usesAny(&op, lost) || (waits && usesBranch)) {
      return unsupported(&op, "a value of one thread that is used after a wait");
    }
    const bool forAll = isMemoryEffectFree(&op) && !usesBranch;
    if (!waits && !forAll && !branch) {
      branch = scf::IfOp::create(b, loc, elected, /*withElseRegion=*/false);
    }
    OpBuilder::InsertionGuard guard(b);
    if (waits) {
      branch = scf::IfOp();
      lost.insert(inBranch.begin(), inBranch.end());
      electedLane = elected; // for its blocks, and for arrivals at other blocks between two waits
    } else if (!forAll) {
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
      inBranch.insert(op.result_begin(), op.result_end());
    } else if (branch) {
      b.setInsertionPoint(branch);
    }
    LogicalResult lowered = lowerOp(&op);
    electedLane = Value();
    if (failed(lowered)) {
      return failure();
    }
  }
  return success();
}

LogicalResult KernelLowering::lowerOneThread(tgpu::OneThreadOp op) {
  if (warps.count % op.getGroups() != 0) {
    return op.emitOpError("is of groups of warps that there are not");
  }
  OpBuilder::InsertionGuard guard(b);
  Value inGroup = op.getGroups() == 1
                      ? warpId // in all of them
                      : b.createOrFold<arith::RemUIOp>(loc, warpFrom(warps.first),
                                                       i32(warps.count / op.getGroups()));
  Value isWarp = compare(arith::CmpIPredicate::eq, inGroup,
                         i32(op.getGroups() == 1 ? op.getWarp() : op.getWarp() - warps.first));
  auto warpBranch = scf::IfOp::create(b, loc, isWarp, /*withElseRegion=*/false);
  b.setInsertionPointToStart(warpBranch.thenBlock());
  Value elected = arch >= 90 ? Value(NVVM::ElectSyncOp::create(b, loc, b.getI1Type(), Value()))
                             : compare(arith::CmpIPredicate::eq, laneId, i32(0));
  // The other lanes wait at the end: what follows may be instructions that a whole warp executes
  // (.sync.aligned: PTX ISA 9.7.14 mma, ldmatrix; 9.7.15 wgmma).
  auto together = NVVM::SyncWarpOp::create(b, loc, i32(-1));
  b.setInsertionPoint(together);
  return lowerElected(op.getBody().front(), elected);
}

} // namespace tilec::lowering
