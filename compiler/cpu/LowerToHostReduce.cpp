//===- LowerToHostReduce.cpp - reductions and scans ------------------------===//
//
// Both walk the strips of their inputs: the elements along one dimension, in order. Sums and
// products of f16 and bf16 are kept in f32.
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/HostCodegen.h"

namespace tilec::cpu {

using namespace mlir;

/// `kind` of two scalars of `type`. `max` and `min` of a NaN and a number are the number.
HostValue HostCodegen::combine(tile::CombineKind kind, Type type, bool isUnsigned, HostValue x,
                               HostValue y) {
  if (kind == tile::CombineKind::And) {
    return b.CreateAnd(x, y);
  }
  if (kind == tile::CombineKind::Or) {
    return b.CreateOr(x, y);
  }
  if (kind == tile::CombineKind::Xor) {
    return b.CreateXor(x, y);
  }
  bool larger = kind == tile::CombineKind::Max;
  bool ordering = larger || kind == tile::CombineKind::Min;
  if (isa<FloatType>(type)) {
    HostValue a = widen(type, x), c = widen(type, y);
    if (ordering) {
      HostValue takeY = larger ? b.CreateFCmpOGT(c, a) : b.CreateFCmpOLT(c, a);
      return b.CreateSelect(b.CreateOr(takeY, b.CreateFCmpUNO(a, a)), y, x);
    }
    return narrow(type, kind == tile::CombineKind::Sum ? b.CreateFAdd(a, c) : b.CreateFMul(a, c));
  }
  if (ordering) {
    auto intrinsic = isUnsigned ? (larger ? llvm::Intrinsic::umax : llvm::Intrinsic::umin)
                                : (larger ? llvm::Intrinsic::smax : llvm::Intrinsic::smin);
    return b.CreateBinaryIntrinsic(intrinsic, x, y);
  }
  return kind == tile::CombineKind::Sum ? b.CreateAdd(x, y) : b.CreateMul(x, y);
}

/// What leaves every number as it is.
HostValue HostCodegen::identityOf(tile::CombineKind kind, Type type, bool isUnsigned) {
  if (isa<FloatType>(type)) {
    double value = kind == tile::CombineKind::Prod  ? 1.0
                   : kind == tile::CombineKind::Max ? -std::numeric_limits<double>::infinity()
                   : kind == tile::CombineKind::Min ? std::numeric_limits<double>::infinity()
                                                    : 0.0;
    return scalarOf(type, tile_rt::encodeFloat(*dtypeOf(type), value));
  }
  unsigned width = scalarType(type)->getIntegerBitWidth();
  llvm::APInt value(width, 0);
  switch (kind) {
  case tile::CombineKind::Prod:
    value = llvm::APInt(width, 1);
    break;
  case tile::CombineKind::And:
    value = llvm::APInt::getAllOnes(width);
    break;
  case tile::CombineKind::Max:
    value = isUnsigned ? value : llvm::APInt::getSignedMinValue(width);
    break;
  case tile::CombineKind::Min:
    value = isUnsigned ? llvm::APInt::getAllOnes(width) : llvm::APInt::getSignedMaxValue(width);
    break;
  default:
    break;
  }
  return scalarOf(type, value.getZExtValue());
}

/// The type in which `kind` accumulates elements of `type`.
static Type accumulatorOf(tile::CombineKind kind, Type type) {
  bool sums = kind == tile::CombineKind::Sum || kind == tile::CombineKind::Prod;
  return sums && isa<Float16Type, BFloat16Type>(type) ? Float32Type::get(type.getContext()) : type;
}

HostValue HostCodegen::loadStrip(const Strip &strip, HostValue position) {
  HostValue value = loadTile(strip.element, strip.base, position);
  return strip.element == strip.accumulator
             ? value
             : narrow(strip.accumulator, widen(strip.element, value));
}

HostValue HostCodegen::runningValue(const Strip &strip) {
  HostValue value = b.CreateLoad(scalarType(strip.accumulator), strip.memory);
  return strip.element == strip.accumulator
             ? value
             : narrow(strip.element, widen(strip.accumulator, value));
}

/// Sets the running values to what `combine` makes of them and of the elements at `position`.
LogicalResult HostCodegen::advance(ArrayRef<Strip> strips, HostValue position, Combine combine) {
  SmallVector<HostValue> running, next;
  for (const Strip &strip : strips) {
    running.push_back(b.CreateLoad(scalarType(strip.accumulator), strip.memory));
    next.push_back(loadStrip(strip, position));
  }
  if (failed(combine(running, next))) {
    return failure();
  }
  for (auto [strip, value] : llvm::zip_equal(strips, running)) {
    b.CreateStore(value, strip.memory);
  }
  return success();
}

SmallVector<HostCodegen::Strip> HostCodegen::stripsOf(mlir::ValueRange inputs,
                                                      std::optional<tile::CombineKind> kind) {
  SmallVector<Strip> strips;
  for (mlir::Value input : inputs) {
    Type element = elementTypeOf(input.getType());
    Type accumulator = kind ? accumulatorOf(*kind, element) : element;
    strips.push_back({get(input), element, accumulator, slot(scalarType(accumulator))});
  }
  return strips;
}

/// Calls `body` with the position of the first element of each strip along `axis`, and of its
/// result in a tile without that dimension.
void HostCodegen::forEachStrip(ArrayRef<int64_t> shape, std::optional<uint64_t> axis,
                               llvm::function_ref<void(HostValue first, HostValue out)> body) {
  if (!axis) {
    return body(word(0), word(0));
  }
  int64_t outer = ShapedType::getNumElements(shape.take_front(*axis));
  int64_t inner = ShapedType::getNumElements(shape.drop_front(*axis + 1));
  loop(word(0), word(outer), word(1), [&](HostValue i) {
    loop(word(0), word(inner), word(1), [&](HostValue j) {
      HostValue first = b.CreateAdd(b.CreateMul(i, word(shape[*axis] * inner)), j);
      body(first, b.CreateAdd(b.CreateMul(i, word(inner)), j));
    });
  });
}

LogicalResult HostCodegen::reduceStrips(Operation *op, MutableArrayRef<Strip> strips,
                                        std::optional<uint64_t> axis, Combine combine) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0).getType());
  int64_t length = axis ? shape[*axis] : ShapedType::getNumElements(shape);
  int64_t stride = axis ? ShapedType::getNumElements(shape.drop_front(*axis + 1)) : 1;
  SmallVector<HostValue> results;
  for (mlir::Value result : op->getResults()) {
    results.push_back(isTile(result.getType()) ? newTile(result.getType()) : nullptr);
  }
  LogicalResult status = success();
  forEachStrip(shape, axis, [&](HostValue first, HostValue out) {
    for (const Strip &strip : strips) {
      b.CreateStore(loadStrip(strip, first), strip.memory);
    }
    loop(word(1), word(length), word(1), [&](HostValue k) {
      status = advance(strips, b.CreateAdd(first, b.CreateMul(k, word(stride))), combine);
    });
    for (auto [strip, result] : llvm::zip_equal(strips, results)) {
      if (result) {
        storeTile(strip.element, result, out, runningValue(strip));
      }
    }
  });
  for (auto [strip, result, value] : llvm::zip_equal(strips, results, op->getResults())) {
    set(value, result ? result : runningValue(strip));
  }
  return status;
}

/// `identity`: begin with it, and write each running value before its element counts.
LogicalResult HostCodegen::scanStrips(Operation *op, MutableArrayRef<Strip> strips, uint64_t axis,
                                      bool reverse, HostValue identity, Combine combine) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0).getType());
  int64_t length = shape[axis], stride = ShapedType::getNumElements(shape.drop_front(axis + 1));
  SmallVector<HostValue> results;
  for (mlir::Value result : op->getResults()) {
    results.push_back(newTile(result.getType()));
    set(result, results.back());
  }
  LogicalResult status = success();
  forEachStrip(shape, axis, [&](HostValue first, HostValue) {
    auto position = [&](HostValue k) {
      HostValue step = reverse ? b.CreateSub(word(length - 1), k) : k;
      return b.CreateAdd(first, b.CreateMul(step, word(stride)));
    };
    auto write = [&](HostValue k) {
      for (auto [strip, result] : llvm::zip_equal(strips, results)) {
        storeTile(strip.element, result, position(k), runningValue(strip));
      }
    };
    for (const Strip &strip : strips) {
      b.CreateStore(identity ? identity : loadStrip(strip, position(word(0))), strip.memory);
    }
    if (!identity) {
      write(word(0));
    }
    loop(word(identity ? 0 : 1), word(length), word(1), [&](HostValue k) {
      if (identity) {
        write(k);
      }
      status = advance(strips, position(k), combine);
      if (!identity) {
        write(k);
      }
    });
  });
  return status;
}

LogicalResult HostCodegen::emitReduce(tile::ReduceOp op) {
  SmallVector<Strip> strips = stripsOf(op.getInput(), op.getKind());
  return reduceStrips(
      op, strips, op.getAxis(), [&](SmallVectorImpl<HostValue> &acc, ArrayRef<HostValue> next) {
        acc[0] = combine(op.getKind(), strips[0].accumulator, op.getIsUnsigned(), acc[0], next[0]);
        return success();
      });
}

LogicalResult HostCodegen::emitScan(tile::ScanOp op) {
  SmallVector<Strip> strips = stripsOf(op.getInput(), op.getKind());
  Type accumulator = strips[0].accumulator;
  HostValue identity =
      op.getExclusive() ? identityOf(op.getKind(), accumulator, op.getIsUnsigned()) : nullptr;
  return scanStrips(op, strips, op.getAxis(), op.getReverse(), identity,
                    [&](SmallVectorImpl<HostValue> &acc, ArrayRef<HostValue> next) {
                      acc[0] =
                          combine(op.getKind(), accumulator, op.getIsUnsigned(), acc[0], next[0]);
                      return success();
                    });
}

/// `all`: what the lanes gave to an exchange. Every lane goes through those of its group in order
/// and takes what there is at its own place.
void HostCodegen::emitWarpScan(tile::WarpScanOp op, HostValue lane, HostValue all) {
  Type type = op.getType(), accumulator = accumulatorOf(op.getKind(), type);
  auto converted = [&](Type from, Type to, HostValue value) {
    return from == to ? value : narrow(to, widen(from, value));
  };
  const int64_t width = op.getWidth();
  HostValue first = b.CreateAnd(lane, word(-width));
  HostValue running =
      op.getExclusive() ? identityOf(op.getKind(), accumulator, op.getIsUnsigned()) : nullptr;
  HostValue result = nullptr;
  for (int64_t step = 0; step < width; ++step) {
    HostValue other = b.CreateAdd(first, word(op.getReverse() ? width - 1 - step : step));
    HostValue next = converted(type, accumulator, fromBits(type, laneBits(all, other)));
    HostValue joined =
        running ? combine(op.getKind(), accumulator, op.getIsUnsigned(), running, next) : next;
    HostValue here = op.getExclusive() ? running : joined;
    result = result ? b.CreateSelect(b.CreateICmpEQ(other, lane), here, result) : here;
    running = joined;
  }
  set(op, converted(accumulator, type, result));
}

/// Runs a user's combine: its arguments are the running values, then the next elements.
LogicalResult HostCodegen::callCombine(Region &region, SmallVectorImpl<HostValue> &acc,
                                       ArrayRef<HostValue> next) {
  mlir::Block &body = region.front();
  for (auto [argument, value] :
       llvm::zip_equal(body.getArguments(), llvm::concat<const HostValue>(acc, next))) {
    set(argument, value);
  }
  if (failed(emitBody(body))) {
    return failure();
  }
  for (auto [value, yielded] : llvm::zip_equal(acc, body.getTerminator()->getOperands())) {
    value = get(yielded);
  }
  return success();
}

LogicalResult HostCodegen::emitReduceWith(tile::ReduceWithOp op) {
  SmallVector<Strip> strips = stripsOf(op.getInputs(), std::nullopt);
  return reduceStrips(op, strips, op.getAxis(),
                      [&](SmallVectorImpl<HostValue> &acc, ArrayRef<HostValue> next) {
                        return callCombine(op.getCombine(), acc, next);
                      });
}

LogicalResult HostCodegen::emitScanWith(tile::ScanWithOp op) {
  SmallVector<Strip> strips = stripsOf(op.getInputs(), std::nullopt);
  return scanStrips(op, strips, op.getAxis(), op.getReverse(), nullptr,
                    [&](SmallVectorImpl<HostValue> &acc, ArrayRef<HostValue> next) {
                      return callCombine(op.getCombine(), acc, next);
                    });
}

} // namespace tilec::cpu
