//===- Mma.cpp - mma.sync and scalar multiply-adds -----------------------===//
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/llvm/Addresses.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::lowering {

namespace {

/// An mma.sync instruction: intrinsic, and how many 32-bit words of A and B it takes.
struct Instruction {
  std::string name;
  unsigned wordsA = 4, wordsB = 2;
  bool halfOperands = false;    // A and B as <2 x half>
  bool halfAccumulator = false; // C and D as two <2 x half>
};

StringRef fp8Name(Type type) {
  return isa<Float8E4M3FNType>(type) ? "e4m3" : isa<Float8E5M2Type>(type) ? "e5m2" : "";
}

/// The instruction for these types and m16n8k<k>; nothing when there is none on `arch`.
std::optional<Instruction> instructionFor(tgpu::MmaOp op, unsigned arch) {
  Type a = cast<RankedTensorType>(op.getA().getType()).getElementType();
  Type bType = cast<RankedTensorType>(op.getB().getType()).getElementType();
  Type acc = cast<RankedTensorType>(op.getAcc().getType()).getElementType();
  const int64_t k = op.getMma().getK();
  if (op.getMma().getM() != 16 || op.getMma().getN() != 8 || arch < 80) {
    return std::nullopt;
  }
  Instruction result;
  std::string shape = "llvm.nvvm.mma.m16n8k" + std::to_string(k) + ".row.col.";
  const bool halves = k == 8;
  if (a.isF16() && bType.isF16() && (k == 16 || k == 8) && (acc.isF32() || acc.isF16())) {
    result.name = shape + (acc.isF32() ? "f32.f32" : "f16.f16");
    result.halfOperands = true;
    result.halfAccumulator = acc.isF16();
    result.wordsA = halves ? 2 : 4;
    result.wordsB = halves ? 1 : 2;
    return result;
  }
  if (a.isBF16() && bType.isBF16() && acc.isF32() && (k == 16 || k == 8)) {
    result.name = shape + "bf16";
    result.wordsA = halves ? 2 : 4;
    result.wordsB = halves ? 1 : 2;
    return result;
  }
  if (a.isF32() && bType.isF32() && acc.isF32() && k == 8) {
    result.name = shape + "tf32";
    return result;
  }
  if (a.isInteger(8) && bType.isInteger(8) && acc.isInteger(32) && k == 32) {
    StringRef left = op.getAUnsigned() ? "u8" : "s8", right = op.getBUnsigned() ? "u8" : "s8";
    result.name = shape + (left == right ? left.str() : (left + "." + right).str());
    return result;
  }
  if (!fp8Name(a).empty() && !fp8Name(bType).empty() && acc.isF32() && k == 32 && arch >= 89) {
    result.name = shape + ("f32." + fp8Name(a) + "." + fp8Name(bType) + ".f32").str();
    return result;
  }
  return std::nullopt;
}

} // namespace

LogicalResult KernelLowering::lowerMma(tgpu::MmaOp op) {
  const layout::RegisterLayout *accLayout = tgpu::getLayout(op.getAcc().getType());
  std::optional<Instruction> instruction = instructionFor(op, arch);
  if (!accLayout || !instruction) {
    return unsupported(op, "an mma.sync of these types, shape and target");
  }
  ArrayRef<int64_t> shape = accLayout->shape();
  tgpu::MmaAttr mma = op.getMma();
  const int64_t tilesM = llvm::divideCeil(shape[0], 16 * mma.getWarpsM());
  const int64_t tilesN = llvm::divideCeil(shape[1], 8 * mma.getWarpsN());
  const int64_t steps =
      llvm::divideCeil(cast<RankedTensorType>(op.getA().getType()).getShape()[1], mma.getK());
  Fragment a = packWords(scalars[op.getA()]), bWords = packWords(scalars[op.getB()]);
  Fragment acc = scalars[op.getAcc()];
  const unsigned wordsA = instruction->wordsA, wordsB = instruction->wordsB;
  if (int64_t(a.size()) != tilesM * steps * wordsA ||
      int64_t(bWords.size()) != tilesN * steps * wordsB ||
      int64_t(acc.size()) != tilesM * tilesN * 4) {
    return unsupported(op, "an mma.sync whose fragments are not in its layouts");
  }
  auto pair = VectorType::get({2}, b.getF16Type());
  auto asOperand = [&](Value word) -> Value {
    return instruction->halfOperands ? Value(LLVM::BitcastOp::create(b, loc, pair, word)) : word;
  };
  Type element = cast<RankedTensorType>(op.getAcc().getType()).getElementType();
  const bool halfAcc = instruction->halfAccumulator;
  Type result = LLVM::LLVMStructType::getLiteral(
      b.getContext(), halfAcc ? SmallVector<Type>(2, pair) : SmallVector<Type>(4, element));
  StringAttr name = b.getStringAttr(instruction->name);
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t m = 0; m < tilesM; ++m) {
      for (int64_t n = 0; n < tilesN; ++n) {
        SmallVector<Value> operands;
        for (unsigned i = 0; i < wordsA; ++i) {
          operands.push_back(asOperand(a[(m * steps + step) * wordsA + i]));
        }
        for (unsigned i = 0; i < wordsB; ++i) {
          operands.push_back(asOperand(bWords[(n * steps + step) * wordsB + i]));
        }
        MutableArrayRef<Value> c = MutableArrayRef<Value>(acc).slice((m * tilesN + n) * 4, 4);
        if (halfAcc) {
          for (Value word : packWords(c)) {
            operands.push_back(asOperand(word));
          }
        } else {
          operands.append(c.begin(), c.end());
        }
        Value d = LLVM::CallIntrinsicOp::create(b, loc, result, name, operands).getResult(0);
        Fragment done;
        for (unsigned i = 0; i < (halfAcc ? 2u : 4u); ++i) {
          Value part = LLVM::ExtractValueOp::create(b, loc, d, i);
          if (halfAcc) {
            unpackWord(LLVM::BitcastOp::create(b, loc, b.getI32Type(), part), element, done);
          } else {
            done.push_back(part);
          }
        }
        llvm::copy(done, c.begin());
      }
    }
  }
  scalars[op.getResult()] = acc;
  return success();
}

//===----------------------------------------------------------------------===//
// Scalar multiply-adds
//===----------------------------------------------------------------------===//

/// The position of element (row, k) of A or (k, column) of B in its buffer, as a layout of one slot
/// for each of the accumulator's rows or columns.
static FailureOr<layout::RegisterLayout> operandLayout(const layout::RegisterLayout &acc,
                                                       unsigned accDim, unsigned bufferDim) {
  // Drop the other dimension of the accumulator, then add one of extent 1 for k.
  layout::RegisterLayout line = acc.sliceDim(1 - accDim);
  return line.insertDim(1 - bufferDim);
}

/// Bytes from an element to the one `step` further along `dim`, where that is the same everywhere
/// in the buffer; nothing where it is not, because of swizzles or panels.
static std::optional<int64_t> evenStride(const Shared &buffer, unsigned dim, int64_t step) {
  const int64_t other = buffer.shape[1 - dim], extent = buffer.shape[dim];
  std::optional<int64_t> stride;
  for (int64_t i = 0; i < other; ++i) {
    for (int64_t k = 0; k + step < extent; ++k) {
      layout::Coords at = buffer.origin, next = buffer.origin;
      at[dim] += k;
      next[dim] += k + step;
      at[1 - dim] += i;
      next[1 - dim] += i;
      const int64_t found = buffer.layout.byteOffset(next) - buffer.layout.byteOffset(at);
      if (stride && *stride != found) {
        return std::nullopt;
      }
      stride = found;
    }
  }
  return stride;
}

static int64_t strideOf(const Shared &buffer, unsigned dim, int64_t step) {
  return *evenStride(buffer, dim, step);
}

/// The smallest number of elements of k, at least kLeastUnrolled, after which the addresses of both
/// operands repeat; all of k if there is none.
static int64_t stepsAlike(const Shared &a, unsigned aDim, const Shared &b, unsigned bDim) {
  constexpr int64_t kLeastUnrolled = 4; // enough to hide the latency of shared memory
  const int64_t depth = a.shape[aDim];
  for (int64_t step = kLeastUnrolled; step < depth; ++step) {
    if (depth % step == 0 && evenStride(a, aDim, step) && evenStride(b, bDim, step)) {
      return step;
    }
  }
  return depth;
}

LogicalResult KernelLowering::lowerFma(Operation *op, const Shared &aBuffer, const Shared &bBuffer,
                                       Value accValue, bool transposeA, bool transposeB,
                                       bool accumulate, bool aUnsigned, bool bUnsigned) {
  const layout::RegisterLayout *acc = tgpu::getLayout(accValue.getType());
  Type element = cast<RankedTensorType>(accValue.getType()).getElementType();
  if (!acc || acc->rank() != 2 || aBuffer.layout.rank() != 2 || bBuffer.layout.rank() != 2) {
    return unsupported(op, "a product of such operands");
  }
  auto rowsOf = operandLayout(*acc, 0, transposeA ? 1 : 0);
  auto columnsOf = operandLayout(*acc, 1, transposeB ? 0 : 1);
  if (failed(rowsOf) || failed(columnsOf) || !rowsOf->isSeparable() || !columnsOf->isSeparable()) {
    return unsupported(op, "a product in such a layout");
  }
  const int64_t depth = aBuffer.shape[transposeA ? 0 : 1];
  // Which slot of the row (column) layout each slot of the accumulator uses.
  const int rowDim = transposeA ? 1 : 0, columnDim = transposeB ? 0 : 1;
  SmallVector<int> dimsA = {-1, -1}, dimsB = {-1, -1};
  dimsA[rowDim] = 0;
  dimsB[columnDim] = 1;
  auto rowSlots = layout::broadcastRegisters(*rowsOf, *acc, dimsA);
  auto columnSlots = layout::broadcastRegisters(*columnsOf, *acc, dimsB);
  if (!rowSlots || !columnSlots) {
    return unsupported(op, "a product in such a layout");
  }
  Fragment slots = scalars[accValue];
  if (!accumulate) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
    slots.assign(slots.size(), zero);
  }
  auto load = [&](const Shared &buffer, const layout::RegisterLayout &line, unsigned kDim,
                  int64_t k, bool isUnsigned) -> FailureOr<Fragment> {
    Shared at = buffer;
    at.origin[kDim] += k;
    at.shape[kDim] = 1;
    SharedAddresses addresses(*this, at, line);
    Fragment values;
    for (int64_t reg = 0; reg < line.registersPerThread(); ++reg) {
      values.append(
          loadElements(addresses.pointer(reg), buffer.element, 1, memoryBytes(buffer.element)));
    }
    return convertAll(op, values, buffer.element, element, isUnsigned, false);
  };
  // One trip of a loop takes `step` elements of k: unrolled whole, the code would be too long.
  const int64_t step = stepsAlike(aBuffer, 1 - rowDim, bBuffer, 1 - columnDim);
  Shared left = aBuffer, right = bBuffer;
  scf::ForOp loop;
  OpBuilder::InsertionGuard guard(b);
  if (step < depth) {
    loop = scf::ForOp::create(b, loc, i32(0), i32(depth / step), i32(1), slots);
    b.setInsertionPointToStart(loop.getBody());
    left.steps.push_back({loop.getInductionVar(), strideOf(aBuffer, 1 - rowDim, step)});
    right.steps.push_back({loop.getInductionVar(), strideOf(bBuffer, 1 - columnDim, step)});
    slots.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  }
  for (int64_t k = 0; k < step; ++k) {
    FailureOr<Fragment> rows = load(left, *rowsOf, 1 - rowDim, k, aUnsigned);
    FailureOr<Fragment> columns = load(right, *columnsOf, 1 - columnDim, k, bUnsigned);
    if (failed(rows) || failed(columns)) {
      return failure();
    }
    for (auto [i, slot] : llvm::enumerate(slots)) {
      Value x = (*rows)[(*rowSlots)[i]], y = (*columns)[(*columnSlots)[i]];
      if (isa<FloatType>(element)) {
        slot = math::FmaOp::create(b, loc, x, y, slot);
      } else {
        slot = add(slot, arith::MulIOp::create(b, loc, x, y));
      }
    }
  }
  if (loop) {
    scf::YieldOp::create(b, loc, slots);
    slots.assign(loop.getResults().begin(), loop.getResults().end());
  }
  scalars[op->getResult(0)] = slots;
  return success();
}

} // namespace tilec::lowering
