//===- LowerToHostFlow.cpp - loops, branches, thread regions --------------===//
#include "compiler/cpu/HostCodegen.h"

namespace tilec::cpu {

using namespace mlir;

LogicalResult HostCodegen::emitFlow(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return emitFor(loop);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    return emitWhile(loop);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    return emitIf(branch);
  }
  if (auto parallel = dyn_cast<tile::ParallelOp>(op)) {
    return emitParallel(parallel);
  }
  if (auto threads = dyn_cast<tile::ThreadsOp>(op)) {
    return emitThreads(threads);
  }
  if (isa<tile::TileDialect>(op->getDialect())) {
    return emitWarpOp(op);
  }
  return op->emitOpError("is not supported by the cpu target");
}

/// Any loop: pipelined and unrolled ones mean the serial one.
LogicalResult HostCodegen::emitFor(scf::ForOp op) {
  bool isUnsigned = op.getUnsignedCmp();
  HostValue from = toWord(get(op.getLowerBound()), isUnsigned);
  HostValue to = toWord(get(op.getUpperBound()), isUnsigned);
  HostValue step = toWord(get(op.getStep()), isUnsigned);
  trapIf(isUnsigned ? b.CreateICmpEQ(step, word(0)) : b.CreateICmpSLE(step, word(0)), op,
         "the step of the loop is not positive [loop-step]");
  bool carriesTiles = false;
  SmallVector<HostValue> carried;
  for (auto [init, argument] : llvm::zip_equal(op.getInitArgs(), op.getRegionIterArgs())) {
    HostValue initial = get(init);
    carriesTiles |= isTile(init.getType());
    carried.push_back(slot(initial->getType()));
    b.CreateStore(initial, carried.back());
  }
  LogicalResult result = success();
  auto body = [&] {
    for (auto [argument, memory] : llvm::zip_equal(op.getRegionIterArgs(), carried)) {
      set(argument, b.CreateLoad(cast<llvm::AllocaInst>(memory)->getAllocatedType(), memory));
    }
    result = emitBody(*op.getBody());
    if (failed(result)) {
      return;
    }
    SmallVector<HostValue> next;
    for (mlir::Value value : op.getBody()->getTerminator()->getOperands()) {
      next.push_back(get(value));
    }
    for (auto [value, memory] : llvm::zip_equal(next, carried)) {
      b.CreateStore(value, memory);
    }
  };
  auto once = [&](HostValue index) {
    set(op.getInductionVar(),
        b.CreateSExtOrTrunc(index, scalarType(op.getInductionVar().getType())));
    carriesTiles ? body() : scoped(op.getRegion(), body);
  };
  loop(from, to, step, once, isUnsigned);
  for (auto [value, memory] : llvm::zip_equal(op.getResults(), carried)) {
    set(value, b.CreateLoad(cast<llvm::AllocaInst>(memory)->getAllocatedType(), memory));
  }
  return result;
}

LogicalResult HostCodegen::emitWhile(scf::WhileOp op) {
  auto *head = llvm::BasicBlock::Create(context, "while", function);
  auto *body = llvm::BasicBlock::Create(context, "do", function);
  auto *after = llvm::BasicBlock::Create(context, "done", function);
  SmallVector<HostValue> carried;
  bool carriesTiles = llvm::any_of(op.getResultTypes(), isTile);
  for (auto [init, argument] : llvm::zip_equal(op.getInits(), op.getBeforeArguments())) {
    HostValue initial = get(init);
    carriesTiles |= isTile(init.getType());
    carried.push_back(slot(initial->getType()));
    b.CreateStore(initial, carried.back());
  }
  HostValue mark = call("tile_host_mark", i64, {thread});
  b.CreateBr(head);
  b.SetInsertPoint(head);
  if (!carriesTiles) {
    call("tile_host_release", b.getVoidTy(), {thread, mark});
  }
  for (auto [argument, memory] : llvm::zip_equal(op.getBeforeArguments(), carried)) {
    set(argument, b.CreateLoad(cast<llvm::AllocaInst>(memory)->getAllocatedType(), memory));
  }
  if (failed(emitBody(op.getBefore().front()))) {
    return failure();
  }
  scf::ConditionOp condition = op.getConditionOp();
  for (auto [value, argument, result] :
       llvm::zip_equal(condition.getArgs(), op.getAfterArguments(), op.getResults())) {
    set(argument, get(value));
    set(result, get(value));
  }
  b.CreateCondBr(get(condition.getCondition()), body, after);
  b.SetInsertPoint(body);
  if (failed(emitBody(op.getAfter().front()))) {
    return failure();
  }
  SmallVector<HostValue> next;
  for (mlir::Value value : op.getAfter().front().getTerminator()->getOperands()) {
    next.push_back(get(value));
  }
  for (auto [value, memory] : llvm::zip_equal(next, carried)) {
    b.CreateStore(value, memory);
  }
  b.CreateBr(head);
  b.SetInsertPoint(after);
  return success();
}

LogicalResult HostCodegen::emitIf(scf::IfOp op) {
  auto *yes = llvm::BasicBlock::Create(context, "then", function);
  auto *no = llvm::BasicBlock::Create(context, "else", function);
  auto *after = llvm::BasicBlock::Create(context, "endif", function);
  SmallVector<HostValue> results;
  for (Type type : op.getResultTypes()) {
    results.push_back(slot(isTile(type) ? ptr : scalarType(type)));
  }
  b.CreateCondBr(get(op.getCondition()), yes, no);
  for (auto [block, region] : {std::pair(yes, &op.getThenRegion()), {no, &op.getElseRegion()}}) {
    b.SetInsertPoint(block);
    if (!region->empty()) {
      if (failed(emitBody(region->front()))) {
        return failure();
      }
      mlir::ValueRange yielded = region->front().getTerminator()->getOperands();
      for (auto [value, memory] : llvm::zip_equal(yielded, results)) {
        b.CreateStore(get(value), memory);
      }
    }
    b.CreateBr(after);
  }
  b.SetInsertPoint(after);
  for (auto [value, memory] : llvm::zip_equal(op.getResults(), results)) {
    set(value, b.CreateLoad(cast<llvm::AllocaInst>(memory)->getAllocatedType(), memory));
  }
  return success();
}

LogicalResult HostCodegen::emitParallel(tile::ParallelOp op) {
  SmallVector<HostValue> extents;
  for (mlir::Value extent : op.getExtents()) {
    extents.push_back(toWord(get(extent)));
  }
  LogicalResult result = success();
  auto nest = [&](auto &self, size_t axis) -> void {
    if (axis == extents.size()) {
      scoped(op.getBody(), [&] { result = emitBody(op.getBody().front()); });
      return;
    }
    BlockArgument argument = op.getBody().getArgument(axis);
    loop(word(0), extents[axis], word(1), [&](HostValue index) {
      set(argument, b.CreateTrunc(index, scalarType(argument.getType())));
      self(self, axis + 1);
    });
  };
  nest(nest, 0);
  return result;
}

//===----------------------------------------------------------------------===//
// Thread regions
//===----------------------------------------------------------------------===//

/// Sets the axis variables of thread `number`, the first axis fastest.
void HostCodegen::bindThread(tile::ThreadsOp op, HostValue number) {
  threadNumber = number;
  HostValue rest = number;
  for (auto [axis, argument] : llvm::zip_equal(op.getAxes(), op.getBody().getArguments())) {
    set(argument, b.CreateTrunc(b.CreateURem(rest, word(axis)), b.getInt32Ty()));
    rest = b.CreateUDiv(rest, word(axis));
  }
}

/// Threads that never wait for each other are a loop; others need a stack each.
LogicalResult HostCodegen::emitThreads(tile::ThreadsOp op) {
  int64_t count = 1;
  for (int32_t axis : op.getAxes()) {
    count *= axis;
  }
  bool waits = op.getBody()
                   .walk([](Operation *inner) {
                     return isa<tile::SyncThreadsOp, tile::SyncWarpOp, tile::WarpOp,
                                tile::WarpScanOp, tile::ShuffleOp, tile::BallotOp>(inner)
                                ? WalkResult::interrupt()
                                : WalkResult::advance();
                   })
                   .wasInterrupted();
  LogicalResult result = waits ? emitFibers(op, count) : emitThreadLoop(op, count);
  threadNumber = nullptr;
  return result;
}

LogicalResult HostCodegen::emitThreadLoop(tile::ThreadsOp op, int64_t count) {
  LogicalResult result = success();
  loop(word(0), word(count), word(1), [&](HostValue number) {
    bindThread(op, number);
    scoped(op.getBody(), [&] { result = emitBody(op.getBody().front()); });
  });
  return result;
}

/// Writes the body as a function of (thread, closure, number); what it uses from outside lies in
/// the closure.
LogicalResult HostCodegen::emitFibers(tile::ThreadsOp op, int64_t count) {
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {ptr, ptr, i64}, /*isVarArg=*/false);
  auto *body = llvm::Function::Create(type, llvm::Function::InternalLinkage, "threads", module);
  llvm::MapVector<HostValue, HostValue> taken;
  llvm::Function *outerFunction = function;
  HostValue outerThread = thread;
  LogicalResult result = success();
  {
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    function = body;
    thread = body->getArg(0);
    closure = body->getArg(1);
    captures = &taken;
    auto *entry = llvm::BasicBlock::Create(context, "entry", body);
    auto *start = llvm::BasicBlock::Create(context, "start", body);
    b.SetInsertPoint(entry);
    b.CreateBr(start);
    b.SetInsertPoint(start);
    bindThread(op, body->getArg(2));
    result = emitBody(op.getBody().front());
    b.CreateRetVoid();
  }
  function = outerFunction;
  thread = outerThread;
  closure = nullptr;
  captures = nullptr;
  HostValue record = slot(i64, taken.size() + 1);
  for (auto [index, pair] : llvm::enumerate(taken)) {
    b.CreateStore(pair.first, b.CreateConstInBoundsGEP1_64(i64, record, index));
  }
  call("tile_host_threads", b.getVoidTy(), {thread, body, record, word(count), where(op)});
  return result;
}

LogicalResult HostCodegen::emitWarpOp(Operation *op) {
  HostValue lane = b.CreateAnd(local(threadNumber), word(31));
  if (isa<tile::LaneOp>(op)) {
    set(op->getResult(0), b.CreateTrunc(lane, b.getInt32Ty()));
    return success();
  }
  if (isa<tile::SyncThreadsOp>(op)) {
    call("tile_host_sync", b.getVoidTy(), {thread, where(op)});
    return success();
  }
  HostValue given = op->getNumOperands() ? toBits(get(op->getOperand(0))) : word(0);
  HostValue all = call("tile_host_exchange", ptr, {thread, given, where(op)});
  if (auto shuffle = dyn_cast<tile::ShuffleOp>(op)) {
    emitShuffle(shuffle, lane, all);
  } else if (auto warp = dyn_cast<tile::WarpOp>(op)) {
    return emitWarpReduction(warp, lane, all);
  } else if (auto scan = dyn_cast<tile::WarpScanOp>(op)) {
    emitWarpScan(scan, lane, all);
  } else if (isa<tile::BallotOp>(op)) {
    HostValue mask = word(0);
    for (int64_t other = 0; other < 32; ++other) {
      mask = b.CreateOr(mask, b.CreateShl(laneBits(all, word(other)), other));
    }
    set(op->getResult(0), b.CreateTrunc(mask, b.getInt32Ty()));
  }
  return success();
}

/// What lane `lane` gave to an exchange.
HostValue HostCodegen::laneBits(HostValue all, HostValue lane) {
  return b.CreateLoad(i64, b.CreateInBoundsGEP(i64, all, lane));
}

void HostCodegen::emitShuffle(tile::ShuffleOp op, HostValue lane, HostValue all) {
  HostValue width = word(op.getWidth());
  HostValue first = b.CreateAnd(lane, b.CreateNeg(width));
  HostValue by = toWord(get(op.getLane()));
  HostValue from;
  switch (op.getKind()) {
  case tile::WarpOpKind::ShuffleXor:
    from = b.CreateXor(lane, by);
    break;
  case tile::WarpOpKind::ShuffleUp:
    from = b.CreateSub(lane, by);
    break;
  case tile::WarpOpKind::ShuffleDown:
    from = b.CreateAdd(lane, by);
    break;
  default:
    from = b.CreateAdd(first, b.CreateAnd(by, b.CreateSub(width, word(1))));
    break;
  }
  // Outside of its group a lane finds its own value.
  HostValue inside =
      b.CreateAnd(b.CreateICmpSGE(from, first), b.CreateICmpSLT(from, b.CreateAdd(first, width)));
  set(op, fromBits(op.getType(), laneBits(all, b.CreateSelect(inside, from, lane))));
}

LogicalResult HostCodegen::emitWarpReduction(tile::WarpOp op, HostValue lane, HostValue all) {
  tile::CombineKind kind;
  switch (op.getKind()) {
  case tile::WarpOpKind::Sum:
    kind = tile::CombineKind::Sum;
    break;
  case tile::WarpOpKind::Min:
    kind = tile::CombineKind::Min;
    break;
  case tile::WarpOpKind::Max:
    kind = tile::CombineKind::Max;
    break;
  case tile::WarpOpKind::Any:
    kind = tile::CombineKind::Or;
    break;
  case tile::WarpOpKind::All:
    kind = tile::CombineKind::And;
    break;
  default:
    return op.emitOpError("exchanges among lanes are tile.shuffle");
  }
  HostValue first = b.CreateAnd(lane, word(-(int64_t)op.getWidth()));
  HostValue total = fromBits(op.getType(), laneBits(all, first));
  for (int64_t other = 1; other < op.getWidth(); ++other) {
    HostValue next = fromBits(op.getType(), laneBits(all, b.CreateAdd(first, word(other))));
    total = combine(kind, op.getType(), op.getIsUnsigned(), total, next);
  }
  set(op, total);
  return success();
}

} // namespace tilec::cpu
