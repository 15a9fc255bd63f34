//===- TakeTurns.cpp - teams of warps that take turns at points -----------===//
#include "passes/TakeTurns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Analysis.h"
#include "passes/GlobalAccess.h"
#include "passes/Pipeline.h"
#include "passes/RingPositions.h"

using namespace mlir;
using namespace tilec;

/// Whether each team may do `op`, which stands outside of the points, for itself.
static bool isForEachTeam(Operation *op) {
  if (auto one = dyn_cast<tgpu::OneThreadOp>(op)) { // waits for the stores of its own thread
    return llvm::all_of(one.getBody().getOps(), [](Operation &inner) {
      return isa<tgpu::TmaStoreWaitOp>(inner) || isMemoryEffectFree(&inner);
    });
  }
  return isa<tgpu::AllocSharedOp, tgpu::ChannelOp>(op) || isMemoryEffectFree(op) ||
         op->hasTrait<OpTrait::IsTerminator>() || bool(globalRead(op));
}

Turns::Turns(tgpu::KernelOp kernel) : RoleSlice(kernel) {
  Block &body = kernel.getBody().front();
  auto found = llvm::find_if(body, [](Operation &op) { return runsOverGrid(&op); });
  if (found == body.end()) {
    refuse("the kernel has no loop over the points of its grid");
    return;
  }
  points = dyn_cast<scf::ForOp>(*found);
  if (!points) {
    refuse("a counter deals the points of its grid");
    return;
  }
  if (!llvm::all_of(body, [&](Operation &op) { return &op == points || isForEachTeam(&op); })) {
    refuse("the kernel does something outside of the points of its grid");
  }
  llvm::for_each(points.getBody()->getTerminator()->getOperands(),
                 [&](Value carried) { needValue(carried); });
}

void Turns::needDefinition(Operation *definition) {
  if (llvm::any_of(definition->getResultTypes(), llvm::IsaPred<RankedTensorType>) ||
      definition->getNumRegions() != 0) {
    return refuse("what a point leaves to the next one depends on tiles that it computes");
  }
  if (!isMemoryEffectFree(definition)) {
    Value read = globalRead(definition);
    if (!read || mayChangeIn(kernel, read)) {
      return refuse("what a point leaves to the next one depends on memory that it may change");
    }
  }
  needWhole(definition);
}

StringRef Turns::refuseRegion(Operation *) const {
  return "code of single threads decides what a point leaves to the next one";
}

void Turns::take(int64_t teams) {
  Block &body = *points.getBody();
  const Location loc = points.getLoc();
  OpBuilder builder(points);
  Value team = tgpu::TeamOp::create(builder, loc, builder.getI32Type());
  // The point itself is that of the loop: what follows knows by it that the loop runs over the grid.
  Operation *point = *body.getOps<tgpu::GridPointOp>().begin();
  builder.setInsertionPointAfter(point);
  Value round = points.getInductionVar();
  Value turn = arith::RemUIOp::create(builder, loc, round, constantI32(builder, loc, teams));
  Value isOwn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, turn, team);
  auto branch = scf::IfOp::create(builder, loc, body.getTerminator()->getOperandTypes(), isOwn,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  builder.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Operation *> work;
  for (Operation &op :
       llvm::make_range(std::next(branch->getIterator()), body.getTerminator()->getIterator())) {
    work.push_back(&op);
  }
  RoleProgram skipped(*this, [](Operation *, Operation *) {});
  skipped.clone(llvm::make_range(std::next(branch->getIterator()), body.end()), builder);
  SmallVector<Value> left = llvm::map_to_vector(body.getTerminator()->getOperands(),
                                                [&](Value value) { return skipped.lookup(value); });
  scf::YieldOp::create(builder, loc, left);
  for (Operation *op : work) {
    op->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  }
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc, body.getTerminator()->getOperands());
  body.getTerminator()->setOperands(branch.getResults());
  orderTeams(*branch.thenBlock(), round, teams);
}

/// Waits for what another role fills, or has such a wait inside.
static bool waits(Operation &op) {
  return op.walk([](tgpu::WaitOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// `work` up to its last wait comes behind what the team before did up to its own.
void Turns::orderTeams(Block &work, Value round, int64_t teams) {
  auto first = llvm::find_if(work, waits);
  if (first == work.end()) {
    return;
  }
  const Location loc = points.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value turns = tgpu::ChannelOp::create(
      builder, loc, tgpu::ChannelType::get(kernel.getContext(), teams),
      builder.getStringAttr("turns"), /*producers=*/int32_t(kernel.getThreads()), /*consumers=*/0,
      IntegerAttr(), DenseI32ArrayAttr(), ValueRange());
  builder.setInsertionPoint(&work, first);
  Value isBehind = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, round,
                                         constantI32(builder, loc, 0));
  Value before = arith::SubIOp::create(builder, loc, round, constantI32(builder, loc, 1));
  auto branch = scf::IfOp::create(builder, loc, isBehind, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    tgpu::WaitOp::create(builder, loc, turns, before);
  }
  builder.setInsertionPoint(work.getTerminator());
  // By all threads: one that is behind still waits for the turn before, whose slot the other team must not publish again.
  tgpu::PublishOp::create(builder, loc, turns, round);
  handOnEarly(kernel);
}

void Turns::handOnEarly(tgpu::KernelOp kernel) {
  kernel.walk([](tgpu::PublishOp publish) {
    // In a role of teams nobody gives back what is a turn, and no other role knows of it.
    auto roles = publish->getParentOfType<tgpu::RolesOp>();
    auto channel = publish.getChannel().getDefiningOp<tgpu::ChannelOp>();
    if (!roles || roles.getTeams()[roles.getRoleOf(publish)] == 1 || !channel ||
        channel.getConsumers() != 0 || !channel.getGuards().empty()) {
      return;
    }
    Region &own = roles.getBodies()[roles.getRoleOf(publish)];
    if (!llvm::all_of(channel->getUsers(),
                      [&](Operation *user) { return own.isAncestor(user->getParentRegion()); })) {
      return;
    }
    while (publish->getPrevNode() && !waits(*publish->getPrevNode())) {
      publish->moveBefore(publish->getPrevNode());
    }
  });
}
