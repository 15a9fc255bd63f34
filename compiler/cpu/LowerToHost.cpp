//===- LowerToHost.cpp - kernels, host part and launches ------------------===//
#include "compiler/cpu/HostCodegen.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/IR/Intrinsics.h"

namespace tilec::cpu {

using namespace mlir;

LogicalResult HostCodegen::emitKernel(tile::KernelOp kernel) {
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {ptr, ptr}, /*isVarArg=*/false);
  function = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                    SymbolTable::getSymbolName(kernel).getValue(), module);
  auto *entry = llvm::BasicBlock::Create(context, "entry", function);
  auto *start = llvm::BasicBlock::Create(context, "start", function);
  b.SetInsertPoint(entry);
  b.CreateBr(start);
  b.SetInsertPoint(start);
  thread = function->getArg(0);
  HostValue arguments = function->getArg(1);
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    unsigned number = argument.getArgNumber();
    HostValue record = b.CreateConstInBoundsGEP1_64(
        i64, arguments, number * (sizeof(HostArgument) / sizeof(int64_t)));
    if (auto global = dyn_cast<tile::GlobalType>(argument.getType())) {
      views[argument] = argumentView(global, record, kernel.getArgumentName(number));
    } else {
      HostValue bits = b.CreateLoad(i64, b.CreateConstInBoundsGEP1_64(i64, record, 1));
      set(argument, fromBits(argument.getType(), bits));
    }
  }
  if (failed(emitBody(kernel.getBody().front()))) {
    return failure();
  }
  b.CreateRetVoid();
  return success();
}

View HostCodegen::argumentView(tile::GlobalType type, HostValue record, llvm::StringRef name) {
  auto field = [&](unsigned index) {
    return b.CreateLoad(i64, b.CreateConstInBoundsGEP1_64(i64, record, index));
  };
  View view;
  view.base = b.CreateLoad(ptr, record);
  view.offset = word(0);
  view.valid = b.getTrue();
  view.element = type.getElementType();
  view.bounded = true;
  view.present = b.CreateIsNotNull(view.base);
  view.name = name.str();
  for (unsigned d = 0; d < type.getRank(); ++d) {
    CodeDim dim;
    dim.size = dim.hi = field(2 + d);
    dim.lo = word(0);
    dim.stride = field(2 + kMaxRank + d);
    view.dims.push_back(dim);
  }
  return view;
}

LogicalResult HostCodegen::emitBody(mlir::Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      continue;
    }
    if (failed(emit(&op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult HostCodegen::emit(Operation *op) {
  if (isa<tile::DimOp, tile::CheckOp, tile::ExtentOp, tile::StrideOp, tile::SmCountOp,
          tile::PresentOp, tile::WorkspaceOp, tile::LaunchOp>(op)) {
    return emitHostOp(op);
  }
  if (isa<scf::SCFDialect>(op->getDialect()) ||
      isa<tile::ParallelOp, tile::ThreadsOp, tile::SyncThreadsOp, tile::SyncWarpOp, tile::WarpOp,
          tile::WarpScanOp, tile::ShuffleOp, tile::BallotOp, tile::LaneOp>(op)) {
    return emitFlow(op);
  }
  if (isa<tile::SliceOp, tile::ReshapeOp, tile::BitcastViewOp, tile::AllocOp, tile::ReadOp,
          tile::WriteOp, tile::LoadOp, tile::StoreOp, tile::CopyOp>(op)) {
    return emitViewOp(op);
  }
  if (isa<tile::ConvertOp, tile::DivOp, tile::RemOp, tile::ShlOp, tile::ShrOp>(op)) {
    return emitElementwise(op);
  }
  if (isa<tile::TileDialect>(op->getDialect())) {
    return emitTileOp(op);
  }
  llvm::StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "vector" || dialect == "tensor") {
    return emitVectorOp(op);
  }
  if (dialect == "arith" || dialect == "math") {
    return emitElementwise(op);
  }
  return op->emitOpError("is not supported by the cpu target");
}

LogicalResult HostCodegen::emitHostOp(Operation *op) {
  if (auto dim = dyn_cast<tile::DimOp>(op)) {
    HostValue extent = getView(dim.getTensor()).dims[dim.getAxis()].size;
    HostValue value = b.CreateSub(extent, word((int64_t)dim.getOffset()));
    if (dim.getType().isInteger(32)) {
      trapIf(b.CreateICmpSGT(value, word(INT32_MAX)), op,
             "dimension `" + dim.getName() + "` is 2^31 or more [extent-too-large]");
    }
    set(dim, b.CreateSExtOrTrunc(value, scalarType(dim.getType())));
  } else if (auto check = dyn_cast<tile::CheckOp>(op)) {
    HostValue fails = b.CreateNot(get(check.getCondition()));
    HostValue given = check.getTensor() ? getView(check.getTensor()).present : nullptr;
    trapIf(given ? b.CreateAnd(fails, given) : fails, op,
           check.getText() + " [" + check.getDiagnostic() + "]");
  } else if (auto extent = dyn_cast<tile::ExtentOp>(op)) {
    HostValue size = getView(extent.getSource()).dims[extent.getAxis()].size;
    set(extent, b.CreateSExtOrTrunc(size, scalarType(extent.getType())));
  } else if (auto stride = dyn_cast<tile::StrideOp>(op)) {
    set(stride, getView(stride.getSource()).dims[stride.getAxis()].stride);
  } else if (auto count = dyn_cast<tile::SmCountOp>(op)) {
    set(count, b.getInt32(smCount));
  } else if (auto present = dyn_cast<tile::PresentOp>(op)) {
    HostValue given = getView(present.getSource()).present;
    set(present, given ? given : b.getTrue());
  } else if (auto workspace = dyn_cast<tile::WorkspaceOp>(op)) {
    return emitWorkspace(workspace);
  } else {
    return emitLaunch(cast<tile::LaunchOp>(op));
  }
  return success();
}

LogicalResult HostCodegen::emitWorkspace(tile::WorkspaceOp op) {
  tile::GlobalType type = op.getResult().getType();
  SmallVector<HostValue> extents;
  auto dynamic = op.getExtents().begin();
  for (int64_t extent : type.getShape()) {
    extents.push_back(ShapedType::isDynamic(extent) ? toWord(get(*dynamic++)) : word(extent));
  }
  HostValue count = word(1);
  for (HostValue &extent : extents) {
    extent = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, extent, word(0)); // docs/pack.md
    count = b.CreateMul(count, extent);
  }
  Type element = type.getElementType();
  int64_t bits = dtypeBits(*dtypeOf(element));
  View view;
  view.base =
      call("tile_host_workspace", ptr,
           {thread, count, word(bits), word(isa<FloatType>(element) ? 0xFF : 0xCB), where(op)});
  view.offset = word(0);
  view.valid = b.getTrue();
  view.element = element;
  view.bounded = true;
  view.name = op.getName().str();
  HostValue stride = word(1);
  view.dims.resize(extents.size());
  for (size_t d = extents.size(); d-- > 0;) {
    view.dims[d].size = view.dims[d].hi = extents[d];
    view.dims[d].lo = word(0);
    view.dims[d].stride = stride;
    stride = b.CreateMul(stride, extents[d]);
  }
  if (op.getInit()) {
    View flat = denseView(element, {0}, view.base, /*packed=*/true);
    flat.dims[0].hi = flat.dims[0].size = count;
    uint64_t bitsOfInit = 0;
    if (auto number = dyn_cast<FloatAttr>(*op.getInit())) {
      bitsOfInit = number.getValue().bitcastToAPInt().getZExtValue();
    } else if (auto integer = dyn_cast<IntegerAttr>(*op.getInit())) {
      bitsOfInit = integer.getValue().getZExtValue();
    } else {
      return op->emitOpError("has an initial value that is no number");
    }
    HostValue init = scalarOf(element, bitsOfInit);
    loop(word(0), count, word(1), [&](HostValue i) { storePlace(flat, place(flat, {i}), init); });
  }
  views[op.getResult()] = view;
  return success();
}

/// All points of the grid one after another, the first index fastest.
LogicalResult HostCodegen::emitLaunch(tile::LaunchOp op) {
  HostValue extents = slot(i64, op.getGrid().size());
  SmallVector<HostValue> sizes;
  for (auto [d, extent] : llvm::enumerate(op.getGrid())) {
    sizes.push_back(toWord(get(extent)));
    b.CreateStore(sizes.back(), b.CreateConstInBoundsGEP1_64(i64, extents, d));
  }
  HostValue points =
      call("tile_host_grid", i64, {thread, extents, word((int64_t)sizes.size()), where(op)});
  numThreads = op.getThreads();
  LogicalResult result = success();
  loop(word(0), points, word(1), [&](HostValue point) {
    HostValue rest = point;
    for (auto [argument, size] : llvm::zip_equal(op.getBody().getArguments(), sizes)) {
      set(argument, b.CreateTrunc(b.CreateURem(rest, size), b.getInt32Ty()));
      rest = b.CreateUDiv(rest, size);
    }
    scoped(op.getBody(), [&] { result = emitBody(op.getBody().front()); });
  });
  return result;
}

} // namespace tilec::cpu
