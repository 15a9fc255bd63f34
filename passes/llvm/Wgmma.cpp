//===- Wgmma.cpp - matrix products of warpgroups -------------------------===//
//
// One instruction is inline assembly whose accumulator operands are tied to its results: LLVM then
// keeps each slot in one register from the first product to the wait, and ptxas sees no move. The
// wait ties the accumulators that are complete, so that nothing reads them earlier.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/llvm/KernelLowering.h"
#include "passes/llvm/SumsInFlight.h"
#include "passes/llvm/TiedAssembly.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::lowering {

namespace {

bool isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

/// Name in PTX of an operand's type; empty for types that wgmma does not take.
StringRef typeName(Type element, bool isUnsigned) {
  if (element.isF16()) {
    return "f16";
  }
  if (element.isBF16()) {
    return "bf16";
  }
  if (element.isF32()) {
    return "tf32";
  }
  if (isa<Float8E4M3FNType>(element)) {
    return "e4m3";
  }
  if (isa<Float8E5M2Type>(element)) {
    return "e5m2";
  }
  return element.isInteger(8) ? (isUnsigned ? "u8" : "s8") : "";
}

/// One matrix operand in shared memory.
struct Operand {
  layout::WgmmaDescriptor descriptor;
  Value base; // i64: constant fields and start address of the calling warpgroup's part
  unsigned mnDim = 0, kDim = 1;
  layout::Coords origin;

  /// Encoded distance of the instruction at (mn, k) of the warpgroup's part from `base`.
  int64_t advance(int64_t mn, int64_t k) const {
    return (descriptor.advanceBytes(origin[mnDim] + mn, origin[kDim] + k)) >> 4;
  }
};

/// Everything about one product.
class Product {
public:
  /// Without `accumulate` the first step ignores what the accumulator holds.
  Product(KernelLowering &lowering, tgpu::WgmmaOp op, const layout::MatrixProduct &product,
          int64_t firstWarp, bool accumulate)
      : lowering(lowering), b(lowering.builder()), loc(lowering.location()), op(op),
        mma(op.getMma()), product(product), firstWarp(firstWarp), accumulate(accumulate) {}

  /// Why the product cannot be done; empty when it can.
  std::string prepare(const Shared *aBuffer, const Shared &bBuffer) {
    nameA = typeName(elementOf(op.getA().getType()), op.getAUnsigned());
    nameB = typeName(op.getB().getType().getElementType(), op.getBUnsigned());
    Type result = op.getResult().getType().getFragment().getElementType();
    if (nameA.empty() || nameB.empty() || !(result.isF32() || result.isInteger(32))) {
      return "a wgmma of these element types";
    }
    isInteger = result.isInteger(32);
    if (aBuffer) {
      std::string reason =
          place(a, *aBuffer, op.getTransposeA() ? 1 : 0, 64, product.rows(), /*isA=*/true);
      if (!reason.empty()) {
        return reason;
      }
    }
    return place(bOperand, bBuffer, op.getTransposeB() ? 0 : 1, mma.getN(), product.columns(),
                 /*isA=*/false);
  }

  Fragment emit(Fragment slots, ArrayRef<Value> aWords, Value useAcc) {
    for (int64_t step = 0; step < product.steps(); ++step) {
      for (int64_t block = 0; block < product.rowBlocks(); ++block) {
        for (int64_t column = 0; column < product.columnBlocks(); ++column) {
          MutableArrayRef<Value> acc = MutableArrayRef<Value>(slots).slice(
              product.accSlot(block, column), product.accSlotsPerInstruction());
          Fragment done = instruction(acc, aWords, step, block, column, useAcc);
          llvm::copy(done, acc.begin());
        }
      }
    }
    return slots;
  }

private:
  static Type elementOf(Type type) {
    if (auto smem = dyn_cast<tgpu::SmemType>(type)) {
      return smem.getElementType();
    }
    return cast<RankedTensorType>(type).getElementType();
  }

  /// Number of the calling warpgroup along rows (isA) or columns of the accumulator; null: there is
  /// one.
  Value warpgroup(bool isA) {
    const int64_t count = isA ? mma.getWarpsM() : mma.getWarpsN();
    if (count == 1) {
      return Value();
    }
    Value group =
        b.createOrFold<arith::ShRUIOp>(loc, lowering.warpFrom(firstWarp), lowering.i32(2));
    if (isA && mma.getWarpsN() > 1) {
      return b.createOrFold<arith::RemUIOp>(loc, group, lowering.i32(count));
    }
    if (!isA && mma.getWarpsM() > 1) {
      return b.createOrFold<arith::DivUIOp>(loc, group, lowering.i32(mma.getWarpsM()));
    }
    return group;
  }

  std::string place(Operand &operand, const Shared &buffer, unsigned mnDim, int64_t mn,
                    int64_t perGroup, bool isA) {
    const layout::Coords extents(buffer.shape.begin(), buffer.shape.end());
    auto descriptor = layout::wgmmaDescriptor(
        buffer.layout, {mnDim, 1 - mnDim, mn, mma.getK(), buffer.origin, extents});
    if (!descriptor) {
      return descriptor.reason();
    }
    operand.descriptor = *descriptor;
    operand.mnDim = mnDim;
    operand.kDim = 1 - mnDim;
    operand.origin = buffer.origin;
    const int64_t groups = isA ? mma.getWarpsM() : mma.getWarpsN();
    for (int64_t g = 1; g < groups; ++g) {
      for (int64_t at = 0; at < perGroup; at += mn) {
        if (operand.advance(perGroup * g + at, 0) - operand.advance(perGroup * g, 0) !=
            operand.advance(at, 0) - operand.advance(0, 0)) {
          return "the parts of warpgroups are not alike in its panels";
        }
      }
    }
    Value address = LLVM::PtrToIntOp::create(b, loc, b.getI32Type(),
                                             lowering.sharedPointer(Value(), buffer.bytes));
    if (Value group = warpgroup(isA)) {
      address = lowering.add(address, partOf(operand, group, groups, perGroup));
    }
    address = b.createOrFold<arith::AndIOp>(loc, address, lowering.i32(0x3ffff));
    address = b.createOrFold<arith::ShRUIOp>(loc, address, lowering.i32(4));
    Value base = arith::ExtUIOp::create(b, loc, b.getI64Type(), address);
    base = withBits(base, int64_t(descriptor->bits()));
    for (auto [index, bytes] : buffer.steps) {
      Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), index);
      base = lowering.add(base, lowering.mul(wide, bytes >> 4));
    }
    operand.base = base;
    return "";
  }

  /// `address` with the bits of a descriptor that are the same for all of an operand, as assembly that LLVM does
  /// not look into: it makes (address | bits) + n a sum of the address and a constant of 64 bits, of which
  /// ptxas 13.0 drops the high half where the address is a product of 32 bits (slot * bytes) and the sum goes into
  /// uniform registers: all is read without a swizzle then.
  Value withBits(Value address, int64_t bits) {
    return LLVM::InlineAsmOp::create(
               b, loc, b.getI64Type(), address, "or.b64 $0, $1, " + std::to_string(bits) + ";",
               "=l,l", /*has_side_effects=*/false, /*is_align_stack=*/false,
               LLVM::tailcallkind::TailCallKind::None,
               LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
        .getResult(0);
  }

  /// Bytes from the first warpgroup's part of an operand to that of `group`. Parts narrower than a
  /// panel share one, so that their distances differ within panels and between them.
  Value partOf(const Operand &operand, Value group, int64_t groups, int64_t perGroup) {
    auto start = [&](int64_t g) { return operand.advance(perGroup * g, 0) << 4; };
    const int64_t first = start(0), step = groups > 1 ? start(1) - first : 0;
    int64_t run = 1; // groups that are `step` apart from the first on
    while (run < groups && start(run) == first + run * step) {
      ++run;
    }
    if (run == groups) {
      return lowering.mul(group, step);
    }
    const int64_t panels = start(run) - first;
    for (int64_t g = 0; g < groups; ++g) {
      if (start(g) != first + g / run * panels + g % run * step) {
        return chosenPart(group, llvm::map_to_vector(llvm::seq(groups),
                                                     [&](int64_t g) { return start(g) - first; }));
      }
    }
    Value panel = b.createOrFold<arith::DivUIOp>(loc, group, lowering.i32(run));
    Value inPanel = b.createOrFold<arith::RemUIOp>(loc, group, lowering.i32(run));
    return lowering.add(lowering.mul(panel, panels), lowering.mul(inPanel, step));
  }

  /// The part's distance where it follows no rule.
  Value chosenPart(Value group, ArrayRef<int64_t> parts) {
    Value result = lowering.i32(parts[0]);
    for (auto [g, bytes] : llvm::enumerate(parts)) {
      Value here = lowering.compare(arith::CmpIPredicate::eq, group, lowering.i32(int64_t(g)));
      result = b.createOrFold<arith::SelectOp>(loc, here, lowering.i32(bytes), result);
    }
    return result;
  }

  Value descriptorOf(const Operand &operand, int64_t mn, int64_t k) {
    return lowering.add(operand.base, operand.advance(mn, k));
  }

  Fragment instruction(ArrayRef<Value> acc, ArrayRef<Value> aWords, int64_t step, int64_t block,
                       int64_t column, Value useAcc) {
    const int64_t count = acc.size();
    SmallVector<Value> inputs;
    std::string constraints, text;
    int64_t next = 2 * count;
    llvm::raw_string_ostream os(text);
    // The first step may ignore what the accumulator holds.
    std::string scale;
    const bool first = step == 0;
    if (first && accumulate && useAcc) {
      scale = "$" + std::to_string(next++);
      inputs.push_back(useAcc);
      constraints += ",b";
    }
    os << "{\n";
    if (scale.empty()) {
      scale = "p";
      os << ".reg .pred p;\nsetp.ne.b32 p, " << (first && !accumulate ? 0 : 1) << ", 0;\n";
    }
    os << "wgmma.mma_async.sync.aligned.m64n" << mma.getN() << 'k' << mma.getK() << '.'
       << (isInteger ? "s32" : "f32") << '.' << nameA << '.' << nameB << " {";
    for (int64_t i = 0; i < count; ++i) {
      os << (i ? ", " : "") << '$' << i;
    }
    os << "}, ";
    if (aWords.empty()) {
      os << '$' << next++;
      inputs.push_back(descriptorOf(a, block * 64, step * mma.getK()));
      constraints += ",l";
    } else {
      os << '{';
      const int64_t first = product.aSlot(block, step) / product.aSlotsPerInstruction() * 4;
      for (int64_t i = 0; i < 4; ++i) {
        os << (i ? ", " : "") << '$' << next++;
        inputs.push_back(aWords[first + i]);
        constraints += ",r";
      }
      os << '}';
    }
    os << ", $" << next++ << ", " << scale;
    inputs.push_back(descriptorOf(bOperand, column * mma.getN(), step * mma.getK()));
    constraints += ",l";
    if (!isInteger) {
      os << ", 1, 1";
    }
    if (nameA == "f16" || nameA == "bf16") {
      if (aWords.empty()) {
        os << ", " << int(a.descriptor.mnMajor);
      }
      os << ", " << int(bOperand.descriptor.mnMajor);
    }
    os << ";\n}";
    return tiedAssembly(b, loc, text, acc, inputs, constraints, /*clobbersMemory=*/false);
  }

  KernelLowering &lowering;
  OpBuilder &b;
  Location loc;
  tgpu::WgmmaOp op;
  tgpu::MmaAttr mma;
  const layout::MatrixProduct &product;
  int64_t firstWarp;
  bool accumulate;
  StringRef nameA, nameB;
  bool isInteger = false;
  Operand a, bOperand;
};

} // namespace

/// Adding to zeros is not adding: it saves the moves that would make them, in the middle of the
/// pipeline stage.
bool KernelLowering::addsTo(tgpu::WgmmaOp op) {
  return op.getAccumulate() && !llvm::all_of(scalars[op.getAcc()], isZero);
}

LogicalResult KernelLowering::lowerWgmma(tgpu::WgmmaOp op) {
  if (arch != 90 || !archSpecific) {
    return unsupported(op, "wgmma on this target");
  }
  const layout::RegisterLayout *layout = tgpu::getLayout(op.getResult().getType().getFragment());
  auto aFragment = dyn_cast<RankedTensorType>(op.getA().getType());
  if (!layout || (aFragment && !tgpu::getLayout(aFragment))) {
    return unsupported(op, "a wgmma without a layout");
  }
  auto own = ownSums.find(op);
  Fragment acc = own == ownSums.end() ? scalars[op.getAcc()] : own->second;
  const bool accumulate = addsTo(op);
  ArrayRef<int64_t> shape = layout->shape(), shapeB = op.getB().getType().getShape();
  auto split = tgpu::matrixProduct(op.getMma(), op.getB().getType().getElementType(), shape[0],
                                   shape[1], shapeB[op.getTransposeB() ? 1 : 0]);
  if (!split) {
    return unsupported(op, "a wgmma (" + split.reason() + ")");
  }
  Product product(*this, op, *split, layout->firstWarp(), accumulate);
  auto aBuffer = buffers.find(op.getA());
  const bool inRegisters = aBuffer == buffers.end();
  std::string reason =
      product.prepare(inRegisters ? nullptr : &aBuffer->second, buffers[op.getB()]);
  if (!reason.empty()) {
    return unsupported(op, "wgmma on these operands (" + reason + ")");
  }
  Fragment aWords;
  if (inRegisters) {
    aWords = wordsOfA(op.getA());
  }
  if (!accumulate) {
    for (Value &slot : acc) {
      slot = LLVM::UndefOp::create(b, loc, slot.getType());
    }
  }
  Value useAcc = op.getUseAcc() ? scalars[op.getUseAcc()][0] : Value();
  scalars[op.getResult()] = product.emit(acc, aWords, useAcc);
  return success();
}

Fragment KernelLowering::wordsOfA(Value fragment) {
  // What is made in this region or one around it is there; products in flight have used these very
  // registers, so they are not made twice.
  auto packed = packedA.find(fragment);
  if (packed != packedA.end() &&
      packed->second.front().getParentRegion()->isAncestor(b.getInsertionBlock()->getParent())) {
    return packed->second;
  }
  Fragment words = packWords(scalars[fragment]);
  packedA[fragment] = words;
  return words;
}

LogicalResult KernelLowering::lowerWgmmaFence(tgpu::WgmmaFenceOp op) {
  // Words of A fragments and copies of sums are made before the fence: afterwards nothing may write what the
  // products read. The other sums pass through it, and the words are its inputs: LLVM, which may find out later that they are constants,
  // has them in registers by then.
  SmallVector<tgpu::WgmmaOp> beginning;
  Fragment sums;
  SetVector<Value> words;
  for (Operation *next = op->getNextNode(); next && !isa<tgpu::WgmmaFenceOp>(next);
       next = next->getNextNode()) {
    auto product = dyn_cast<tgpu::WgmmaOp>(next);
    if (product && scalars.contains(product.getAcc()) && addsTo(product)) {
      if (outlivesProduct(product)) {
        ownSums[product] = inOwnRegisters(b, loc, scalars[product.getAcc()]);
      } else {
        beginning.push_back(product);
        sums.append(scalars[product.getAcc()]);
      }
    }
    if (product && isa<RankedTensorType>(product.getA().getType()) &&
        scalars.contains(product.getA())) {
      words.insert_range(wordsOfA(product.getA()));
    }
  }
  if (sums.empty() && words.empty()) {
    NVVM::WgmmaFenceAlignedOp::create(b, loc);
    return success();
  }
  std::string constraints;
  for (size_t i = 0; i < words.size(); ++i) {
    constraints += constraints.empty() && sums.empty() ? "r" : ",r";
  }
  sums = tiedAssembly(b, loc, "wgmma.fence.sync.aligned;", sums, words.getArrayRef(), constraints,
                      /*clobbersMemory=*/true);
  size_t next = 0;
  for (tgpu::WgmmaOp product : beginning) {
    const size_t count = scalars[product.getAcc()].size();
    ownSums[product] = Fragment(sums.begin() + next, sums.begin() + next + count);
    next += count;
  }
  return success();
}

LogicalResult KernelLowering::lowerWgmmaWait(tgpu::WgmmaWaitOp op) {
  Fragment complete;
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), op.getResults())) {
    if (!isa<tgpu::PendingType>(result.getType())) {
      complete.append(scalars[input]);
    }
  }
  // Operands in registers are read until here. As inputs of the wait they live that long: LLVM,
  // which knows nothing of the flight, gives their registers to nothing else before.
  Fragment words;
  for (Value fragment : op.getFragments()) {
    auto packed = packedA.find(fragment);
    if (packed == packedA.end() ||
        !packed->second.front().getParentRegion()->isAncestor(b.getInsertionBlock()->getParent())) {
      return unsupported(op, "a wait for a product whose operand was put into registers elsewhere");
    }
    words.append(packed->second);
  }
  if (complete.empty() && words.empty()) {
    NVVM::WgmmaWaitGroupSyncOp::create(b, loc, op.getPending());
  } else {
    std::string text = "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";";
    std::string constraints;
    for (size_t i = 0; i < words.size(); ++i) {
      constraints += constraints.empty() && complete.empty() ? "r" : ",r";
    }
    const size_t sums = complete.size();
    const size_t marked = sums == 0 ? 0 : wantedMarks;
    for (size_t i = 0; i < marked; ++i) {
      complete.push_back(hiddenZero());
      text += llvm::formatv("\n\tand.b32 ${0}, ${1}, ${0};", sums + i, i % sums).str();
    }
    complete = tiedAssembly(b, loc, text, complete, words, constraints, /*clobbersMemory=*/true);
    if (marked > 0) {
      marks.assign(complete.begin() + sums, complete.end());
    }
  }
  size_t next = 0;
  for (auto [number, input, result] : llvm::enumerate(op.getInputs(), op.getResults())) {
    Fragment slots = scalars[input];
    if (!isa<tgpu::PendingType>(result.getType())) {
      slots = Fragment(complete.begin() + next, complete.begin() + next + slots.size());
      next += slots.size();
      if (outlivesWait(op, number)) {
        slots = inOwnRegisters(b, loc, slots);
      }
    }
    scalars[result] = slots;
  }
  return success();
}

} // namespace tilec::lowering
