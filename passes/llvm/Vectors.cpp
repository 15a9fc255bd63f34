//===- Vectors.cpp - `vec`s of a thread ----------------------------------===//
//
// A vector is one scalar for each of its elements, as a fragment is one for each slot: element-wise
// operations are those of fragments (Elementwise.cpp). Wide accesses put the scalars together where
// they are made; LLVM packs what the target computes in pairs.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/llvm/KernelLowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::lowering {

/// An element at a position that is a constant or an index, of which one outside is an error of the
/// program.
static std::optional<int64_t> constantPosition(ArrayRef<OpFoldResult> positions) {
  return positions.size() == 1 ? getConstantIntValue(positions[0]) : std::nullopt;
}

LogicalResult KernelLowering::lowerVectorReduce(tile::ReduceOp op) {
  Type element = getElementTypeOrSelf(op.getInput().getType());
  const bool isNarrow = element.isF16() || element.isBF16();
  Type inner = isNarrow ? Type(b.getF32Type()) : element;
  FailureOr<Fragment> values = flatten(op, op.getInput());
  if (succeeded(values)) {
    values = convertAll(op, *values, element, inner, false, false);
  }
  if (failed(values)) {
    return failure();
  }
  Value total = values->front();
  for (Value value : llvm::drop_begin(*values)) {
    total = combine(layout::Combine(op.getKind()), total, value, op.getIsUnsigned());
  }
  FailureOr<Fragment> result = convertAll(op, total, inner, element, false, false);
  if (failed(result)) {
    return failure();
  }
  scalars[op.getResult()] = *result;
  return success();
}

LogicalResult KernelLowering::lowerVectorOp(Operation *op) {
  SmallVector<Type> types;
  FailureOr<Fragment> operands = flatten(op, op->getOperands());
  if (failed(operands) || failed(flattenTypes(op, op->getResultTypes(), types))) {
    return failure();
  }
  auto isPosition = [&](int64_t i) { // which is the last operand
    Value position = operands->back();
    return compare(arith::CmpIPredicate::eq, position, constant(i, position.getType()));
  };
  Fragment result;
  if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
    SmallVector<OpFoldResult> positions = extract.getMixedPosition();
    const int64_t count = extract.getSourceVectorType().getNumElements();
    if (positions.size() != 1 || extract.getSourceVectorType().getRank() != 1) {
      return unsupported(op, "part of such a vector");
    }
    if (std::optional<int64_t> position = constantPosition(positions)) {
      result = {(*operands)[std::clamp<int64_t>(*position, 0, count - 1)]};
    } else {
      result = {operands->front()};
      for (int64_t i = 1; i < count; ++i) {
        result[0] = b.createOrFold<arith::SelectOp>(loc, isPosition(i), (*operands)[i], result[0]);
      }
    }
  } else if (auto insert = dyn_cast<vector::InsertOp>(op)) {
    SmallVector<OpFoldResult> positions = insert.getMixedPosition();
    if (positions.size() != 1 || isa<VectorType>(insert.getValueToStore().getType())) {
      return unsupported(op, "part of such a vector");
    }
    Value value = operands->front();
    std::optional<int64_t> position = constantPosition(positions);
    for (int64_t i = 0; i < int64_t(types.size()); ++i) {
      Value old = (*operands)[1 + i];
      result.push_back(position ? (*position == i ? value : old)
                                : b.createOrFold<arith::SelectOp>(loc, isPosition(i), value, old));
    }
  } else if (isa<vector::BitCastOp>(op)) {
    const unsigned from = (*operands)[0].getType().getIntOrFloatBitWidth();
    const unsigned to = types[0].getIntOrFloatBitWidth();
    if (from < 8 || to < 8) {
      return unsupported(op, "a vector of such elements");
    }
    Fragment words = from < to ? packBits(*operands, to) : *operands;
    for (Value word : words) {
      unpackBits(word, types[0], result);
    }
  } else if (isa<vector::BroadcastOp>(op) && operands->size() == 1) {
    result = Fragment(types.size(), operands->front());
  } else if (isa<vector::FromElementsOp, vector::ToElementsOp>(op)) {
    result = *operands;
  } else if (auto shuffled = dyn_cast<vector::ShuffleOp>(op)) {
    for (int64_t i : shuffled.getMask()) {
      result.push_back((*operands)[std::max<int64_t>(i, 0)]); // -1: any value
    }
  } else {
    return unsupported(op, "this operation on a vector");
  }
  bind(op->getResults(), result);
  return success();
}

} // namespace tilec::lowering
