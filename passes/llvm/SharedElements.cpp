//===- SharedElements.cpp - elements of shared memory in any layout ------===//
//
// Coordinates are numbers of each thread's own, so that nothing of an address is known before. An
// index outside of the buffer is an error of the program, which must not reach what is behind it: a
// load reads at the nearest index instead, a store does nothing.
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/Addresses.h"

#include <numeric>

using namespace mlir;

namespace tilec::lowering {

/// Bytes from an element to the next one along a dimension that is not contiguous.
static int64_t strideOf(const layout::SharedLayout &layout, unsigned dim) {
  return int(dim) == layout.rowDim() ? layout.rowPitch() : layout.leadingStride(dim);
}

int64_t alignedRun(const Shared &buffer) {
  const layout::SharedLayout &layout = buffer.layout;
  const int64_t bytes = memoryBytes(buffer.element);
  int64_t run = std::gcd<int64_t>(16, buffer.bytes); // bytes; no swizzle parts 16
  auto limit = [&](int64_t multiple) { run = std::gcd(run, multiple); };
  limit(layout.panelCount() > 1 ? layout.panelWidth() * bytes : 0);
  limit(layout.panelCount() > 1 ? layout.panelStride() : 0);
  for (unsigned d = 0; d < layout.rank(); ++d) {
    if (d != layout.contiguousDim()) {
      limit(strideOf(layout, d));
    }
  }
  for (auto [index, stride] : buffer.steps) {
    limit(stride);
  }
  return run;
}

int64_t alignedStart(const Shared &buffer, std::optional<unsigned> along) {
  const layout::SharedLayout &layout = buffer.layout;
  int64_t run = std::gcd<int64_t>(16, buffer.bytes);
  auto limit = [&](int64_t multiple) { run = std::gcd(run, multiple); };
  for (unsigned d = 0; d < layout.rank(); ++d) {
    const int64_t at = buffer.origin[d];
    if (d == layout.contiguousDim()) {
      limit(at % layout.panelWidth() * memoryBytes(buffer.element));
      limit(at / layout.panelWidth() * layout.panelStride());
    } else {
      limit(strideOf(layout, d) * (d == along ? 1 : at));
    }
  }
  for (auto [index, stride] : buffer.steps) {
    limit(stride);
  }
  return run;
}

/// As many as are neighbours in memory too.
int64_t KernelLowering::sharedAccess(const Shared &buffer, ValueRange indices, int64_t count) {
  if (count == 1 || buffer.layout.contiguousDim() + 1 != buffer.layout.rank()) {
    return 1;
  }
  const int64_t bytes = memoryBytes(buffer.element);
  int64_t unit = alignedRun(buffer);
  for (int64_t multiple : {count, integers.divisor(indices.back()), buffer.origin.back()}) {
    unit = std::gcd(unit, multiple * bytes);
  }
  return std::max<int64_t>(unit / bytes, 1);
}

/// The address of neighbour `i` of the element at `indices` (i32, inside of the buffer).
Value KernelLowering::sharedElement(const Shared &buffer, ArrayRef<Value> indices, int64_t i) {
  Value offset = sharedOffset(*this, buffer.layout, [&](unsigned d) {
    return add(indices[d], buffer.origin[d] + (d + 1 == indices.size() ? i : 0));
  });
  return sharedPointer(add(offset, sharedSteps(buffer)), buffer.bytes);
}

LogicalResult KernelLowering::lowerLoadElement(tgpu::LoadElementOp op) {
  const Shared &buffer = buffers[op.getSource()];
  auto vector = dyn_cast<VectorType>(op.getResult().getType());
  const int64_t count = vector ? vector.getNumElements() : 1;
  if (failed(flatten(op, op.getIndices()))) {
    return failure();
  }
  const int64_t access = sharedAccess(buffer, op.getIndices(), count);
  SmallVector<Value> indices = clampedIndices(buffer.shape, op.getIndices(), count, access);
  Fragment values;
  for (int64_t i = 0; i < count; i += access) {
    values.append(loadElements(sharedElement(buffer, indices, i), buffer.element, access,
                               access * memoryBytes(buffer.element)));
  }
  scalars[op.getResult()] = values;
  return success();
}

LogicalResult KernelLowering::lowerStoreElement(tgpu::StoreElementOp op) {
  const Shared &buffer = buffers[op.getDest()];
  FailureOr<Fragment> values = flatten(op, op.getValue());
  if (failed(values) || failed(flatten(op, op.getIndices()))) {
    return failure();
  }
  const int64_t count = values->size();
  const int64_t access = sharedAccess(buffer, op.getIndices(), count);
  guarded(both(writes(op), indicesInside(buffer.shape, op.getIndices(), count)), [&] {
    SmallVector<Value> indices;
    for (Value index : op.getIndices()) {
      indices.push_back(toInteger(scalars[index][0], b.getI32Type()));
    }
    for (int64_t i = 0; i < count; i += access) {
      storeElements(sharedElement(buffer, indices, i), buffer.element,
                    ArrayRef<Value>(*values).slice(i, access),
                    access * memoryBytes(buffer.element));
    }
  });
  return success();
}

} // namespace tilec::lowering
