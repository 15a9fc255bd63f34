//===- LowerToHostTiles.cpp - operations on whole tiles -------------------===//
#include "compiler/cpu/HostCodegen.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilec::cpu {

using namespace mlir;

LogicalResult HostCodegen::emitTileOp(Operation *op) {
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    return emitReduce(reduce);
  }
  if (auto scan = dyn_cast<tile::ScanOp>(op)) {
    return emitScan(scan);
  }
  if (auto reduce = dyn_cast<tile::ReduceWithOp>(op)) {
    return emitReduceWith(reduce);
  }
  if (auto scan = dyn_cast<tile::ScanWithOp>(op)) {
    return emitScanWith(scan);
  }
  if (auto map = dyn_cast<tile::MapOp>(op)) {
    return emitMap(map);
  }
  if (isa<tile::AtomicOp, tile::AtomicCasOp, tile::AtomicTileOp>(op)) {
    return emitAtomic(op);
  }
  if (isa<tile::PrintOp, tile::AssertOp>(op)) {
    return emitPrint(op);
  }
  if (auto constant = dyn_cast<tile::ConstantArrayOp>(op)) {
    return emitConstant(op, constant.getValue());
  }
  if (auto assume = dyn_cast<tile::AssumeOp>(op)) {
    trapIf(b.CreateNot(get(assume.getCondition())), op, "what `assume` says is not true [assume]");
  } else if (auto gemm = dyn_cast<tile::GemmOp>(op)) {
    emitGemm(gemm);
  } else if (auto splat = dyn_cast<tile::SplatOp>(op)) {
    fill(op->getResult(0), get(splat.getInput()));
  } else if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    View source = tileView(transpose.getInput());
    std::swap(source.dims[0], source.dims[1]);
    set(transpose, newTile(transpose.getType()));
    copyRegion(op, source, tileView(transpose), 0);
  } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    View source = tileView(broadcast.getInput());
    set(broadcast, newTile(broadcast.getType()));
    View result = tileView(broadcast);
    for (int64_t axis : broadcast.getAxes()) {
      CodeDim repeated = result.dims[axis];
      repeated.stride = word(0);
      source.dims.insert(source.dims.begin() + axis, repeated);
    }
    copyRegion(op, source, result, 0);
  } else {
    return op->emitOpError("is not supported by the cpu target");
  }
  return success();
}

/// `tile` becomes a tile or vector whose elements are all `scalar`.
void HostCodegen::fill(mlir::Value tile, HostValue scalar) {
  HostValue base = newTile(tile.getType());
  loop(word(0), word(ShapedType::getNumElements(shapeOf(tile.getType()))), word(1),
       [&](HostValue i) { storeTile(elementTypeOf(tile.getType()), base, i, scalar); });
  set(tile, base);
}

void HostCodegen::emitGemm(tile::GemmOp op) {
  int64_t flags = (op.getTransposeA() ? GemmFlags::kTransposeA : 0) |
                  (op.getTransposeB() ? GemmFlags::kTransposeB : 0) |
                  (op.getAccumulate() ? GemmFlags::kAccumulate : 0) |
                  (op.getPrecision() == tile::GemmPrecision::Tf32 ? GemmFlags::kTf32 : 0) |
                  (op.getAUnsigned() ? GemmFlags::kAUnsigned : 0) |
                  (op.getBUnsigned() ? GemmFlags::kBUnsigned : 0);
  call("tile_host_gemm", b.getVoidTy(),
       {thread, describe(getView(op.getA())), describe(getView(op.getB())),
        describe(getView(op.getAcc())), word(flags)});
}

LogicalResult HostCodegen::emitMap(tile::MapOp op) {
  SmallVector<HostValue> inputs, results;
  for (mlir::Value input : op.getInputs()) {
    inputs.push_back(get(input));
  }
  for (mlir::Value result : op.getResults()) {
    results.push_back(newTile(result.getType()));
    set(result, results.back());
  }
  LogicalResult status = success();
  Type shaped = op->getNumResults() ? op.getResult(0).getType() : op.getInputs()[0].getType();
  mlir::Block &body = op.getBody().front();
  loop(word(0), word(ShapedType::getNumElements(shapeOf(shaped))), word(1), [&](HostValue i) {
    for (auto [argument, base] : llvm::zip_equal(body.getArguments(), inputs)) {
      set(argument, loadTile(argument.getType(), base, i));
    }
    status = emitBody(body);
    if (failed(status)) {
      return;
    }
    for (auto [value, base] : llvm::zip_equal(body.getTerminator()->getOperands(), results)) {
      storeTile(value.getType(), base, i, get(value));
    }
  });
  return status;
}

//===----------------------------------------------------------------------===//
// Atomics: one thread runs at a time
//===----------------------------------------------------------------------===//

/// What an atomic operation leaves at its place.
HostValue HostCodegen::updated(tile::AtomicKind kind, Type type, bool isUnsigned, HostValue old,
                               HostValue value) {
  switch (kind) {
  case tile::AtomicKind::Add:
    return combine(tile::CombineKind::Sum, type, isUnsigned, old, value);
  case tile::AtomicKind::Min:
    return combine(tile::CombineKind::Min, type, isUnsigned, old, value);
  case tile::AtomicKind::Max:
    return combine(tile::CombineKind::Max, type, isUnsigned, old, value);
  case tile::AtomicKind::And:
    return combine(tile::CombineKind::And, type, isUnsigned, old, value);
  case tile::AtomicKind::Or:
    return combine(tile::CombineKind::Or, type, isUnsigned, old, value);
  case tile::AtomicKind::Xor:
    return combine(tile::CombineKind::Xor, type, isUnsigned, old, value);
  case tile::AtomicKind::Exchange:
    return value;
  }
  llvm_unreachable("unknown atomic");
}

void HostCodegen::emitAtomicTile(tile::AtomicTileOp op) {
  View view = getView(op.getPlace()), source = tileView(op.getValue());
  SmallVector<HostValue> index;
  auto nest = [&](auto &self) -> void {
    if (index.size() < source.dims.size()) {
      loop(word(0), source.dims[index.size()].size, word(1), [&](HostValue i) {
        index.push_back(i);
        self(self);
        index.pop_back();
      });
      return;
    }
    Place at = place(view, index);
    HostValue value = loadPlace(source, place(source, index));
    storePlace(view, at,
               updated(op.getKind(), view.element, op.getIsUnsigned(), loadPlace(view, at), value));
  };
  nest(nest);
}

LogicalResult HostCodegen::emitAtomic(Operation *op) {
  if (auto region = dyn_cast<tile::AtomicTileOp>(op)) {
    emitAtomicTile(region);
    return success();
  }
  auto element = [&](mlir::Value storage, mlir::ValueRange indices, auto next) {
    View view = getView(storage);
    SmallVector<HostValue> index;
    for (mlir::Value value : indices) {
      index.push_back(toWord(get(value)));
    }
    checkIndices(op, view, index);
    Place at = place(view, index);
    HostValue old = loadPlace(view, at);
    storePlace(view, at, next(old));
    set(op->getResult(0), old);
  };
  if (auto cas = dyn_cast<tile::AtomicCasOp>(op)) {
    element(cas.getPlace(), cas.getIndices(), [&](HostValue old) {
      return b.CreateSelect(b.CreateICmpEQ(old, get(cas.getExpected())), get(cas.getValue()), old);
    });
    return success();
  }
  auto atomic = cast<tile::AtomicOp>(op);
  element(atomic.getPlace(), atomic.getIndices(), [&](HostValue old) {
    return updated(atomic.getKind(), atomic.getResult().getType(), atomic.getIsUnsigned(), old,
                   get(atomic.getValue()));
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

LogicalResult HostCodegen::emitPrint(Operation *op) {
  auto print = dyn_cast<tile::PrintOp>(op);
  auto check = dyn_cast<tile::AssertOp>(op);
  mlir::ValueRange shown = print ? print.getValues() : check.getValues();
  auto write = [&] {
    constexpr int64_t recordWords = sizeof(HostView) / 8;
    HostValue records = slot(i64, recordWords * std::max<size_t>(1, shown.size()));
    for (auto [i, value] : llvm::enumerate(shown)) {
      Type type = value.getType();
      View view;
      if (isTile(type)) {
        view = tileView(value);
      } else {
        HostValue memory = slot(memoryType(type));
        storeTile(type, memory, word(0), get(value));
        view = denseView(type, {}, memory, /*packed=*/false);
      }
      describe(view, b.CreateConstInBoundsGEP1_64(i64, records, i * recordWords));
    }
    int64_t mask = 0;
    std::optional<ArrayRef<int32_t>> positions =
        print ? print.getUnsignedValues() : check.getUnsignedValues();
    for (int32_t position : positions.value_or(ArrayRef<int32_t>())) {
      mask |= int64_t(1) << (position & 63);
    }
    if (print) {
      call("tile_host_print", b.getVoidTy(),
           {thread, text(print.getFormat()), records, word((int64_t)shown.size()), word(mask)});
    } else {
      call("tile_host_trap_assert", b.getVoidTy(),
           {thread, where(op), text(check.getFormat()), records, word((int64_t)shown.size()),
            word(mask)});
    }
  };
  if (print) {
    write();
  } else {
    when(b.CreateNot(get(check.getCondition())), write);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Elements of vectors and tiles
//===----------------------------------------------------------------------===//

LogicalResult HostCodegen::emitVectorOp(Operation *op) {
  mlir::Value result = op->getResult(0);
  Type element = elementTypeOf(result.getType());
  auto position = [&](OpFoldResult index) {
    if (auto attribute = dyn_cast<Attribute>(index)) {
      return word(cast<IntegerAttr>(attribute).getInt());
    }
    return toWord(get(cast<mlir::Value>(index)));
  };
  auto at = [&](mlir::Value tile, ArrayRef<HostValue> index) {
    View view = tileView(tile);
    checkIndices(op, view, index);
    return place(view, index);
  };
  if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
    if (isTile(result.getType()) || extract.getMixedPosition().size() != 1) {
      return op->emitOpError("takes one element of a vector here");
    }
    View view = tileView(extract.getSource());
    set(result,
        loadPlace(view, at(extract.getSource(), {position(extract.getMixedPosition()[0])})));
  } else if (auto insert = dyn_cast<vector::InsertOp>(op)) {
    if (isTile(insert.getValueToStore().getType()) || insert.getMixedPosition().size() != 1) {
      return op->emitOpError("sets one element of a vector here");
    }
    set(result, newTile(result.getType()));
    copyRegion(op, tileView(insert.getDest()), tileView(result), 0);
    Place place = at(insert.getDest(), {position(insert.getMixedPosition()[0])});
    place = this->place(tileView(result), {position(insert.getMixedPosition()[0])});
    storePlace(tileView(result), place, get(insert.getValueToStore()));
  } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<HostValue> index;
    for (mlir::Value value : extract.getIndices()) {
      index.push_back(toWord(get(value)));
    }
    set(result, loadPlace(tileView(extract.getTensor()), at(extract.getTensor(), index)));
  } else if (auto bitcast = dyn_cast<vector::BitCastOp>(op)) {
    // The same bytes, which nobody changes.
    Type from = elementTypeOf(bitcast.getSource().getType());
    for (Type type : {from, element}) {
      if (type.isInteger(1) || dtypeBits(*dtypeOf(type)) == 4) {
        return op->emitOpError("of ") << type << " is not supported by the cpu target";
      }
    }
    set(result, get(bitcast.getSource()));
  } else if (isa<vector::FromElementsOp, tensor::FromElementsOp>(op)) {
    HostValue base = newTile(result.getType());
    for (auto [i, value] : llvm::enumerate(op->getOperands())) {
      storeTile(element, base, word((int64_t)i), get(value));
    }
    set(result, base);
  } else if (isa<vector::BroadcastOp, tensor::SplatOp>(op) &&
             !isTile(op->getOperand(0).getType())) {
    fill(result, get(op->getOperand(0)));
  } else {
    return op->emitOpError("is not supported by the cpu target");
  }
  return success();
}

} // namespace tilec::cpu
