//===- LowerDots.cpp - matrix products become instructions ---------------===//
#include "passes/Analysis.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_LOWERDOTS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using layout::RegisterLayout;
using tgpu::DotOp;
using tgpu::MmaKind;

/// The zero accumulator of a product.
static Value zeroLike(OpBuilder &builder, Location loc, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(tensor.getElementType()));
  return tile::SplatOp::create(builder, loc, tensor, zero);
}

static Value add(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isa<FloatType>(getElementTypeOrSelf(a.getType()))) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  return arith::AddIOp::create(builder, loc, a, b);
}

/// The part of a shared operand with elements [offset, offset + extent) of dimension `dim`.
static Value sharedPart(OpBuilder &builder, Location loc, Value buffer, unsigned dim,
                        int64_t offset, int64_t extent) {
  auto type = cast<tgpu::SmemType>(buffer.getType());
  if (extent == type.getShape()[dim]) {
    return buffer;
  }
  SmallVector<int64_t> offsets(type.getRank(), 0), shape(type.getShape());
  offsets[dim] = offset;
  shape[dim] = extent;
  auto part =
      tgpu::SmemType::get(builder.getContext(), shape, type.getElementType(), type.getLayout());
  return tgpu::SubviewOp::create(builder, loc, part, buffer, offsets);
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

/// The wait for a product whose sum `dot` alone goes on with, at once; null if there is none.
static tgpu::WgmmaWaitOp waitBefore(DotOp dot, Value acc) {
  auto wait = acc.getDefiningOp<tgpu::WgmmaWaitOp>();
  if (!wait || wait->getBlock() != dot->getBlock() || wait.getInputs().size() != 1 ||
      !acc.hasOneUse() || !isa_and_nonnull<tgpu::WgmmaCommitOp>(wait->getPrevNode())) {
    return {};
  }
  for (Operation *op = wait->getNextNode(); op != dot; op = op->getNextNode()) {
    if (!isMemoryEffectFree(op) ||
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>)) {
      return {};
    }
  }
  return wait;
}

/// acc + A * B over all of k in one group, in that of the product before where it only goes on with its sum: instructions
/// that add to one sum need no wait in between.
static Value emitWgmma(OpBuilder &builder, DotOp dot, Value a, Value b, Value acc,
                       bool accumulate) {
  Location loc = dot.getLoc();
  auto fragment = cast<RankedTensorType>(dot.getResult().getType());
  tgpu::WgmmaWaitOp before = accumulate ? waitBefore(dot, acc) : tgpu::WgmmaWaitOp();
  SmallVector<Value> registers;
  if (before) {
    registers.assign(before.getFragments().begin(), before.getFragments().end());
  } else {
    tgpu::WgmmaFenceOp::create(builder, loc);
  }
  if (isa<RankedTensorType>(a.getType())) {
    registers.push_back(a);
  }
  Value sum = before ? before.getInputs().front() : acc;
  Value pending = tgpu::WgmmaOp::create(
      builder, loc, tgpu::PendingType::get(dot.getContext(), fragment), a, b, sum,
      /*use_acc=*/Value(), dot.getTransposeA(), dot.getTransposeB(), accumulate, dot.getAUnsigned(),
      dot.getBUnsigned(), dot.getMmaAttr());
  tgpu::WgmmaCommitOp::create(builder, loc);
  auto wait = tgpu::WgmmaWaitOp::create(builder, loc, TypeRange{fragment}, 0, pending, registers);
  if (before) {
    acc.replaceAllUsesWith(wait.getResult(0)); // of the product that goes, the one use
    before->getPrevNode()->erase();
    before.erase();
  }
  return wait.getResult(0);
}

/// Elements [offset, offset + extent) of k of A of a wgmma.
static FailureOr<Value> operandPart(OpBuilder &builder, DotOp dot, unsigned kDim, int64_t offset,
                                    int64_t extent) {
  Value a = dot.getA();
  auto fragment = dyn_cast<RankedTensorType>(a.getType());
  if (!fragment) {
    return sharedPart(builder, dot.getLoc(), a, kDim, offset, extent);
  }
  if (extent == fragment.getShape()[kDim]) {
    return a;
  }
  ArrayRef<int64_t> acc = cast<RankedTensorType>(dot.getResult().getType()).getShape();
  auto product =
      tgpu::matrixProduct(*dot.getMma(), fragment.getElementType(), acc[0], acc[1], extent);
  auto layout = product ? product->a() : layout::Refusal{product.reason()};
  if (!layout) {
    return dot.emitError("no operand layout for this product: ") << layout.reason();
  }
  if (dot.getTransposeA()) {
    layout = layout->transposed();
  }
  SmallVector<int64_t> offsets(2, 0);
  offsets[kDim] = offset;
  auto type = RankedTensorType::get(layout->shape(), fragment.getElementType());
  return Value(tgpu::FragmentSliceOp::create(builder, dot.getLoc(), tgpu::withLayout(type, *layout),
                                             a, offsets));
}

static Type elementOf(Value operand) {
  if (auto smem = dyn_cast<tgpu::SmemType>(operand.getType())) {
    return smem.getElementType();
  }
  return cast<RankedTensorType>(operand.getType()).getElementType();
}

/// Elements of k that the hardware sums by itself, whole instructions; 0: all of them. Of 8-bit
/// floats the tensor cores sum in about 14 bits, so at least every `promote` elements of k a fresh
/// sum is added to the f32 one. Decoded to f16 they are summed in f32 from the start.
static int64_t promotedChunk(DotOp dot) {
  const Target *target =
      findTarget(dot->getParentOfType<tgpu::KernelOp>().getTarget().value_or(""));
  bool fp8 = isa<Float8E4M3FNType, Float8E5M2Type>(elementOf(dot.getA())) &&
             !(target && !target->hasFp8Mma());
  int64_t step = dot.getMma()->getK(), promote = dot.getPromote();
  return fp8 && promote > 0 ? std::max(step, promote / step * step) : 0;
}

static FailureOr<Value> emitPromoted(OpBuilder &builder, DotOp dot, int64_t chunk) {
  unsigned aDim = dot.getTransposeA() ? 0 : 1, bDim = dot.getTransposeB() ? 1 : 0;
  int64_t k = cast<tgpu::SmemType>(dot.getB().getType()).getShape()[bDim];
  Value acc = dot.getAccumulate() ? dot.getAcc() : Value();
  for (int64_t offset = 0; offset < k; offset += chunk) {
    const int64_t extent = std::min(chunk, k - offset);
    FailureOr<Value> a = operandPart(builder, dot, aDim, offset, extent);
    if (failed(a)) {
      return failure();
    }
    Value b = sharedPart(builder, dot.getLoc(), dot.getB(), bDim, offset, extent);
    Value zero = zeroLike(builder, dot.getLoc(), dot.getResult().getType());
    Value sum = emitWgmma(builder, dot, *a, b, zero, /*accumulate=*/false);
    acc = acc ? add(builder, dot.getLoc(), acc, sum) : sum;
  }
  return acc;
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

/// Elements [offset, offset + extent) of k of an operand as a fragment in `wanted` (rows k or
/// columns k as the instruction reads it). `kDim` is the dimension of k in the operand as stored; a
/// stored transpose is read as such and transposed in name only.
static Value operandFragment(OpBuilder &builder, Location loc, Value operand, unsigned kDim,
                             int64_t offset, int64_t extent, const RegisterLayout &wanted,
                             bool transposed) {
  RegisterLayout stored = transposed ? wanted.transposed() : wanted;
  Value fragment;
  if (isa<tgpu::SmemType>(operand.getType())) {
    Value part = sharedPart(builder, loc, operand, kDim, offset, extent);
    auto type = RankedTensorType::get(stored.shape(), elementOf(operand));
    fragment = tgpu::LocalLoadOp::create(builder, loc, tgpu::withLayout(type, stored), part);
  } else {
    SmallVector<int64_t> offsets(2, 0);
    offsets[kDim] = offset;
    auto type = RankedTensorType::get(stored.shape(), elementOf(operand));
    fragment = tgpu::FragmentSliceOp::create(builder, loc, tgpu::withLayout(type, stored), operand,
                                             offsets);
  }
  if (!transposed) {
    return fragment;
  }
  auto type = RankedTensorType::get(wanted.shape(), elementOf(operand));
  return tile::TransposeOp::create(builder, loc, tgpu::withLayout(type, wanted), fragment);
}

static FailureOr<Value> emitMmaSync(OpBuilder &builder, DotOp dot) {
  tgpu::MmaAttr mma = *dot.getMma();
  auto accType = cast<RankedTensorType>(dot.getResult().getType());
  int64_t m = accType.getShape()[0], n = accType.getShape()[1];
  unsigned aDim = dot.getTransposeA() ? 0 : 1, bDim = dot.getTransposeB() ? 1 : 0;
  auto shapeOf = [](Value operand) {
    auto smem = dyn_cast<tgpu::SmemType>(operand.getType());
    return smem ? smem.getShape() : cast<RankedTensorType>(operand.getType()).getShape();
  };
  int64_t k = shapeOf(dot.getA())[aDim];
  Location loc = dot.getLoc();
  const int64_t chunk = promotedChunk(dot);
  Value total = dot.getAccumulate() ? dot.getAcc() : Value(); // of what is promoted
  Value acc = total && !chunk ? total : zeroLike(builder, loc, accType);
  auto promote = [&] { total = total ? add(builder, loc, total, acc) : acc; };
  // The last step may be shorter than the instruction: its layouts are padded, and padding reads as
  // zero.
  using Operands = std::pair<Value, Value>;
  auto read = [&](int64_t offset) -> FailureOr<Operands> {
    int64_t extent = std::min(mma.getK(), k - offset);
    auto product = tgpu::matrixProduct(mma, elementOf(dot.getA()), m, n, extent);
    if (!product) {
      return dot.emitError("no operand layout for this product: ") << product.reason();
    }
    auto a = product->a(), b = product->b();
    if (!a || !b) {
      return dot.emitError("no operand layout for this product: ") << (a ? b.reason() : a.reason());
    }
    return Operands(
        operandFragment(builder, loc, dot.getA(), aDim, offset, extent, *a, dot.getTransposeA()),
        operandFragment(builder, loc, dot.getB(), bDim, offset, extent, *b, dot.getTransposeB()));
  };
  // The fragments of a step are read before the products of the step before it, which hide the
  // latency.
  FailureOr<Operands> next = read(0);
  for (int64_t offset = 0; succeeded(next) && offset < k; offset += mma.getK()) {
    auto [aPart, bPart] = *next;
    if (offset + mma.getK() < k) {
      next = read(offset + mma.getK());
    }
    if (chunk && offset > 0 && offset % chunk == 0) {
      promote();
      acc = zeroLike(builder, loc, accType);
    }
    acc = tgpu::MmaOp::create(builder, loc, accType, aPart, bPart, acc, dot.getAUnsigned(),
                              dot.getBUnsigned(), mma);
  }
  if (failed(next)) {
    return failure();
  }
  if (!chunk) {
    return acc;
  }
  promote();
  return total;
}

namespace {
struct LowerDots : tilec::impl::LowerDotsBase<LowerDots> {
  void runOnOperation() override {
    SmallVector<DotOp> dots;
    getOperation().walk([&](DotOp dot) { dots.push_back(dot); });
    for (DotOp dot : dots) {
      FailureOr<Value> result = lower(dot);
      if (failed(result)) {
        return signalPassFailure();
      }
      dot.getResult().replaceAllUsesWith(*result);
      dot.erase();
    }
  }

  FailureOr<Value> lower(DotOp dot) {
    OpBuilder builder(dot);
    if (!dot.getMma() || !tgpu::getLayout(dot.getResult().getType())) {
      return dot.emitError(
          "has no instruction or layout: run tgpu-select-mma and tgpu-infer-layouts first");
    }
    switch (dot.getMma()->getKind()) {
    case MmaKind::Wgmma:
      if (int64_t chunk = promotedChunk(dot)) {
        return emitPromoted(builder, dot, chunk);
      }
      // What is not read is no operand, so that no loop carries it.
      return emitWgmma(builder, dot, dot.getA(), dot.getB(),
                       dot.getAccumulate()
                           ? dot.getAcc()
                           : zeroLike(builder, dot.getLoc(), dot.getResult().getType()),
                       dot.getAccumulate());
    case MmaKind::MmaSync:
      return emitMmaSync(builder, dot);
    case MmaKind::Fma:
      break;
    }
    Value acc = dot.getAccumulate() ? dot.getAcc()
                                    : zeroLike(builder, dot.getLoc(), dot.getResult().getType());
    return Value(tgpu::FmaOp::create(builder, dot.getLoc(), dot.getResult().getType(), dot.getA(),
                                     dot.getB(), acc, dot.getTransposeA(), dot.getTransposeB(),
                                     dot.getAUnsigned(), dot.getBUnsigned()));
  }
};
} // namespace
