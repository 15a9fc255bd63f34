//===- LocalMemory.cpp - arrays of each thread's own ---------------------===//
//
// An array is memory on the thread's stack, which LLVM turns into registers where all indices are
// constants in the end. What was never written LLVM takes for whatever suits it at each use, and
// would delete the statements that depend on it: so what is read is frozen, some value but one.
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

LogicalResult KernelLowering::lowerLocalAlloc(tile::AllocOp op) {
  tile::BufferType type = op.getResult().getType();
  const int64_t bytes = memoryBytes(type.getElementType());
  if (type.getScope() != tile::Scope::Local || bytes == 0) {
    return unsupported(op, "such a buffer");
  }
  const int64_t elements = type.getNumElements();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  Type array = LLVM::LLVMArrayType::get(memoryType(type.getElementType()), elements);
  Value pointer = LLVM::AllocaOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), array,
                                         i32(1), /*alignment=*/elements * bytes % 16 == 0 ? 16 : 8);
  locals[op.getResult()] = {pointer, SmallVector<int64_t, 4>(type.getShape()),
                            type.getElementType()};
  return success();
}

/// The address of neighbour `i` of the element at `indices` (i32, inside of the array).
Value KernelLowering::localElement(const Local &local, ArrayRef<Value> indices, int64_t i) {
  Value linear = i32(0);
  for (auto [index, extent] : llvm::zip_equal(indices, local.shape)) {
    linear = add(mul(linear, extent), index);
  }
  return LLVM::GEPOp::create(b, loc, local.pointer.getType(), memoryType(local.element),
                             local.pointer, ValueRange{add(linear, i)});
}

LogicalResult KernelLowering::lowerLocalLoad(tile::LoadOp op) {
  const Local local = locals[op.getSource()];
  auto vector = dyn_cast<VectorType>(op.getResult().getType());
  const int64_t count = vector ? vector.getNumElements() : 1;
  if (!local.pointer || failed(flatten(op, op.getIndices()))) {
    return unsupported(op, "a load of such an element");
  }
  SmallVector<Value> indices = clampedIndices(local.shape, op.getIndices(), count, /*unit=*/1);
  Fragment values;
  for (int64_t i = 0; i < count; ++i) {
    Value value = loadElements(localElement(local, indices, i), local.element, 1,
                               memoryBytes(local.element))[0];
    values.push_back(LLVM::FreezeOp::create(b, loc, value));
  }
  scalars[op.getResult()] = values;
  return success();
}

LogicalResult KernelLowering::lowerLocalStore(tile::StoreOp op) {
  const Local local = locals[op.getDest()];
  FailureOr<Fragment> values = flatten(op, op.getValue());
  if (!local.pointer || failed(values) || failed(flatten(op, op.getIndices()))) {
    return unsupported(op, "a store of such an element");
  }
  guarded(indicesInside(local.shape, op.getIndices(), values->size()), [&] {
    SmallVector<Value> indices;
    for (Value index : op.getIndices()) {
      indices.push_back(toInteger(scalars[index][0], b.getI32Type()));
    }
    for (auto [i, value] : llvm::enumerate(*values)) {
      storeElements(localElement(local, indices, i), local.element, value,
                    memoryBytes(local.element));
    }
  });
  return success();
}

} // namespace tilec::lowering
