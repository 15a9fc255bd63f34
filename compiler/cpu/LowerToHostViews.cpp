//===- LowerToHostViews.cpp - slices, buffers, elements, copies -----------===//
#include "compiler/cpu/HostCodegen.h"

namespace tilec::cpu {

using namespace mlir;

LogicalResult HostCodegen::emitViewOp(Operation *op) {
  if (auto slice = dyn_cast<tile::SliceOp>(op)) {
    return emitSlice(slice);
  }
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    return emitReshape(reshape);
  }
  if (auto cast = dyn_cast<tile::BitcastViewOp>(op)) {
    return emitBitcastView(cast);
  }
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    return emitLoad(load);
  }
  if (auto store = dyn_cast<tile::StoreOp>(op)) {
    return emitStore(store);
  }
  if (auto alloc = dyn_cast<tile::AllocOp>(op)) {
    emitAlloc(alloc);
  } else if (auto read = dyn_cast<tile::ReadOp>(op)) {
    emitRead(read);
  } else if (auto write = dyn_cast<tile::WriteOp>(op)) {
    emitWrite(write);
  } else {
    auto copy = cast<tile::CopyOp>(op);
    Type from = elementTypeOf(copy.getSource().getType());
    Type to = elementTypeOf(copy.getDest().getType());
    if (from != to && dtypeOf(to) == DType::E8M0) {
      return op->emitOpError("has no conversion from ") << from << " to " << to;
    }
    copyRegion(op, getView(copy.getSource()), getView(copy.getDest()),
               (copy.getSrcUnsigned() ? 1 : 0) | (copy.getDstUnsigned() ? 2 : 0));
  }
  return success();
}

void HostCodegen::copyRegion(Operation *op, const View &from, const View &to, int64_t flags) {
  call("tile_host_copy", b.getVoidTy(),
       {thread, describe(from), describe(to), word(flags), where(op)});
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Number of elements from the start of the view to index `i` of a dimension; `inside` becomes
/// false if out of range.
HostValue HostCodegen::distance(const CodeDim &dim, HostValue i, HostValue &inside) {
  HostValue here = b.CreateAnd(b.CreateICmpSGE(i, dim.lo), b.CreateICmpSLT(i, dim.hi));
  if (dim.indices) {
    // An index outside must not read outside the index tile, whatever the access then does.
    llvm::Type *type = b.getIntNTy(dim.indexBits);
    HostValue entry = b.CreateSelect(here, b.CreateAdd(dim.indexStart, i), word(0));
    i = toWord(b.CreateLoad(type, b.CreateInBoundsGEP(type, dim.indices, entry)));
    here = b.CreateAnd(
        here, b.CreateAnd(b.CreateICmpSGE(i, dim.indexLo), b.CreateICmpSLT(i, dim.indexHi)));
  }
  inside = b.CreateAnd(inside, here);
  return b.CreateMul(i, dim.stride);
}

/// Packed elements are sliced at whole bytes.
void HostCodegen::checkEven(Operation *op, Type element, HostValue index) {
  if (tile::isPacked(element)) {
    trapIf(b.CreateIsNotNull(b.CreateAnd(index, word(1))), op,
           "a slice of packed elements starts at an odd index [packed-slice]");
  }
}

/// Bounds of a slice are its own and those of its source, shifted to where the slice begins.
LogicalResult HostCodegen::emitSlice(tile::SliceOp op) {
  auto saturating = [&](llvm::Intrinsic::ID operation, HostValue x, HostValue y) {
    return b.CreateBinaryIntrinsic(operation, x, y);
  };
  View source = getView(op.getSource());
  View result = source;
  result.dims.clear();
  result.present = nullptr;
  for (unsigned axis = 0; axis < source.dims.size(); ++axis) {
    const CodeDim &from = source.dims[axis];
    CodeDim to = from;
    if (op.isGather(axis)) {
      emitGather(op, axis, from, to);
      result.dims.push_back(to);
      continue;
    }
    HostValue offset = toWord(get(op.getOffsets()[axis]));
    if (op.isDropped(axis)) {
      HostValue inside = b.getTrue();
      HostValue elements = distance(from, offset, inside);
      if (source.bounded) {
        result.valid = b.CreateAnd(result.valid, inside);
      } else {
        checkIndex(op, source, axis, offset, inside);
      }
      result.offset = b.CreateAdd(result.offset, elements);
      continue;
    }
    if (axis + 1 == source.dims.size()) {
      checkEven(op, source.element, offset);
    }
    HostValue size = word(op.getStaticSizes()[axis]);
    if (mlir::Value dynamic = op.getDynamicSize(axis)) {
      size = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, toWord(get(dynamic)), word(0));
    }
    if (!source.bounded) {
      HostValue inside = b.CreateAnd(b.CreateICmpSGE(offset, word(0)),
                                     b.CreateICmpSLE(offset, b.CreateSub(from.size, size)));
      HostValue last = saturating(llvm::Intrinsic::sadd_sat, offset, b.CreateSub(size, word(1)));
      HostValue wrong = b.CreateSelect(b.CreateICmpSLT(offset, word(0)), offset, last);
      checkIndex(op, source, axis, wrong, inside);
    }
    to.size = size;
    // `lo` is never negative, so what does not fit 64 bits is beyond every index.
    HostValue lo = saturating(llvm::Intrinsic::ssub_sat, from.lo, offset);
    HostValue hi = saturating(llvm::Intrinsic::ssub_sat, from.hi, offset);
    to.lo = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, word(0), lo);
    to.hi = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, size, hi);
    if (from.indices) {
      to.indexStart = b.CreateAdd(from.indexStart, offset);
    } else {
      result.offset = b.CreateAdd(result.offset, b.CreateMul(offset, from.stride));
    }
    result.dims.push_back(to);
  }
  if (!isTile(op.getResult().getType())) {
    views[op.getResult()] = result;
    return success();
  }
  set(op.getResult(), newTile(op.getResult().getType()));
  copyRegion(op, result, tileView(op.getResult()), 0);
  return success();
}

/// `to` becomes the dimension `from` of the source, seen through an index tile.
void HostCodegen::emitGather(tile::SliceOp op, unsigned axis, const CodeDim &from, CodeDim &to) {
  mlir::Value tile = op.getOffsets()[axis];
  Type element = elementTypeOf(tile.getType());
  HostValue indices = get(tile);
  int64_t count = shapeOf(tile.getType())[0];
  to.size = to.hi = word(count);
  to.lo = to.indexStart = word(0);
  to.indexBits = element.getIntOrFloatBitWidth();
  to.indices = indices;
  to.indexLo = from.lo;
  to.indexHi = from.hi;
  if (!from.indices) {
    return;
  }
  // A gather from a gathered dimension: the index tiles compose, -1 where the inner one is out of
  // range.
  HostValue composed = call("tile_host_allocate", ptr, {thread, word(count * 8)});
  llvm::Type *inner = b.getIntNTy(from.indexBits);
  loop(word(0), word(count), word(1), [&](HostValue i) {
    HostValue position = toWord(loadTile(element, indices, i));
    HostValue inside =
        b.CreateAnd(b.CreateICmpSGE(position, from.lo), b.CreateICmpSLT(position, from.hi));
    HostValue entry = b.CreateSelect(inside, b.CreateAdd(from.indexStart, position), word(0));
    HostValue index = toWord(b.CreateLoad(inner, b.CreateInBoundsGEP(inner, from.indices, entry)));
    b.CreateStore(b.CreateSelect(inside, index, word(-1)), b.CreateInBoundsGEP(i64, composed, i));
  });
  to.indices = composed;
  to.indexBits = 64;
  to.indexLo = from.indexLo;
  to.indexHi = from.indexHi;
}

LogicalResult HostCodegen::emitReshape(tile::ReshapeOp op) {
  View view = getView(op.getSource());
  HostValue before = word(1), after = word(1);
  for (const CodeDim &dim : view.dims) {
    before = b.CreateMul(before, dim.size);
  }
  ArrayRef<int64_t> shape = shapeOf(op.getResult().getType());
  auto dynamic = op.getExtents().begin();
  view.dims.assign(shape.size(), CodeDim());
  for (auto [dim, extent] : llvm::zip_equal(view.dims, shape)) {
    dim.size = dim.hi = ShapedType::isDynamic(extent) ? toWord(get(*dynamic++)) : word(extent);
    dim.lo = word(0);
  }
  for (CodeDim &dim : llvm::reverse(view.dims)) {
    dim.stride = after;
    after = b.CreateMul(after, dim.size);
  }
  trapIf(b.CreateICmpNE(before, after), op,
         "the sizes before and after the reshape differ [reshape]");
  views[op.getResult()] = view;
  return success();
}

LogicalResult HostCodegen::emitBitcastView(tile::BitcastViewOp op) {
  View view = getView(op.getSource());
  Type element = elementTypeOf(op.getResult().getType());
  int64_t before = dtypeBits(*dtypeOf(view.element)), after = dtypeBits(*dtypeOf(element));
  bool smaller = after <= before;
  HostValue factor = word(smaller ? before / after : after / before);
  auto scale = [&](HostValue &value) {
    value = smaller ? b.CreateMul(value, factor) : b.CreateSDiv(value, factor);
  };
  if (!smaller) {
    trapIf(b.CreateIsNotNull(b.CreateSRem(view.dims.back().size, factor)), op,
           "the last extent is no multiple of the new element size [bitcast-extent]");
  }
  if (after != before) {
    HostValue misses = b.CreateICmpNE(view.dims.back().stride, word(1));
    auto isSplit = [&](HostValue value) {
      misses = b.CreateOr(misses, b.CreateIsNotNull(b.CreateSRem(value, factor)));
    };
    if (!smaller) {
      isSplit(view.offset);
      for (CodeDim &dim : llvm::drop_end(view.dims)) {
        isSplit(dim.stride);
      }
    }
    trapIf(misses, op, "rows are not made of whole elements of the new size [bitcast-extent]");
  }
  for (CodeDim &dim : llvm::drop_end(view.dims)) {
    scale(dim.stride);
  }
  CodeDim &last = view.dims.back();
  for (HostValue *value : {&last.size, &last.lo, &last.hi, &view.offset}) {
    scale(*value);
  }
  if (view.perThread) {
    scale(view.perThread);
  }
  view.element = element;
  views[op.getResult()] = view;
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// A local buffer of block code has a copy for each thread.
void HostCodegen::emitAlloc(tile::AllocOp op) {
  tile::BufferType type = op.getResult().getType();
  Type element = type.getElementType();
  int64_t count = type.getNumElements();
  int64_t copies = type.getScope() == tile::Scope::Local && !threadNumber ? numThreads : 1;
  int64_t bytes = (count * copies * dtypeBits(*dtypeOf(element)) + 7) / 8;
  HostValue base = call("tile_host_buffer", ptr,
                        {thread, word(bytes), word(isa<FloatType>(element) ? 0xFF : 0xCB)});
  View view = denseView(element, type.getShape(), base, /*packed=*/true);
  view.name = op.getName().value_or("buffer").str();
  if (type.getScope() == tile::Scope::Local && !threadNumber) {
    view.perThread = word(count);
    view.copies = copies;
  }
  views[op.getResult()] = view;
}

/// All copies of a local buffer: one more dimension in front, as block code sees it.
static View allCopies(View view, HostValue zero, HostValue copies) {
  CodeDim dim;
  dim.size = dim.hi = copies;
  dim.lo = zero;
  dim.stride = view.perThread;
  view.dims.insert(view.dims.begin(), dim);
  view.perThread = nullptr;
  return view;
}

void HostCodegen::emitRead(tile::ReadOp op) {
  View view = getView(op.getSource());
  if (!isTile(op.getType())) {
    set(op, loadPlace(view, place(view, {})));
    return;
  }
  if (view.perThread) {
    view = allCopies(view, word(0), word(view.copies));
  }
  set(op, newTile(op.getType()));
  copyRegion(op, view, tileView(op), 0);
}

void HostCodegen::emitWrite(tile::WriteOp op) {
  View view = getView(op.getDest());
  mlir::Value value = op.getValue();
  int64_t copies = view.copies;
  if (view.perThread) {
    view = allCopies(view, word(0), word(copies));
  }
  if (!isTile(value.getType())) {
    HostValue scalar = get(value);
    if (view.dims.empty()) {
      storePlace(view, place(view, {}), scalar);
    } else {
      loop(word(0), word(copies), word(1),
           [&](HostValue i) { storePlace(view, place(view, {i}), scalar); });
    }
    return;
  }
  View source = tileView(value);
  if (source.dims.size() < view.dims.size()) {
    // One value for all threads.
    source.perThread = word(0);
    source = allCopies(source, word(0), word(copies));
  }
  copyRegion(op, source, view, 0);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

LogicalResult HostCodegen::emitLoad(tile::LoadOp op) {
  View view = getView(op.getSource());
  SmallVector<HostValue> index;
  for (mlir::Value value : op.getIndices()) {
    index.push_back(toWord(get(value)));
  }
  auto element = [&] {
    checkIndices(op, view, index);
    return loadPlace(view, place(view, index));
  };
  if (!isTile(op.getType())) {
    set(op, element());
    return success();
  }
  HostValue result = newTile(op.getType());
  HostValue first = index.back();
  checkEven(op, view.element, first);
  loop(word(0), word(shapeOf(op.getType())[0]), word(1), [&](HostValue i) {
    index.back() = b.CreateAdd(first, i);
    storeTile(view.element, result, i, element());
  });
  set(op, result);
  return success();
}

LogicalResult HostCodegen::emitStore(tile::StoreOp op) {
  View view = getView(op.getDest());
  SmallVector<HostValue> index;
  for (mlir::Value value : op.getIndices()) {
    index.push_back(toWord(get(value)));
  }
  HostValue value = get(op.getValue());
  auto element = [&](HostValue scalar) {
    checkIndices(op, view, index);
    storePlace(view, place(view, index), scalar);
  };
  Type type = op.getValue().getType();
  if (!isTile(type)) {
    element(value);
    return success();
  }
  HostValue first = index.back();
  checkEven(op, view.element, first);
  loop(word(0), word(shapeOf(type)[0]), word(1), [&](HostValue i) {
    index.back() = b.CreateAdd(first, i);
    element(loadTile(view.element, value, i));
  });
  return success();
}

} // namespace tilec::cpu
