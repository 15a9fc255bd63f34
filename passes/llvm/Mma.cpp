//===- Mma.cpp - mma.sync ------------------------------------------------===//
#include "passes/llvm/Addresses.h"

using namespace mlir;

namespace tilec::lowering {

namespace {

/// An mma.sync instruction: its intrinsic. It takes 4 32-bit words of A and 2 of B.
struct Instruction {
  std::string name;
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
  if (a.isF16() && bType.isF16() && k == 16 && (acc.isF32() || acc.isF16())) {
    result.name = shape + (acc.isF32() ? "f32.f32" : "f16.f16");
    result.halfOperands = true;
    result.halfAccumulator = acc.isF16();
    return result;
  }
  if (a.isBF16() && bType.isBF16() && acc.isF32() && k == 16) {
    result.name = shape + "bf16";
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
  auto aType = cast<RankedTensorType>(op.getA().getType());
  auto product = tgpu::matrixProduct(op.getMma(), aType.getElementType(), accLayout->shape()[0],
                                     accLayout->shape()[1], aType.getShape()[1]);
  if (!product || !tgpu::getLayout(aType) || !tgpu::getLayout(op.getB().getType())) {
    return unsupported(op, "an mma.sync whose fragments are not in its layouts");
  }
  const int64_t tilesM = product->rowBlocks(), tilesN = product->columnBlocks();
  const int64_t steps = product->steps();
  Fragment a = packWords(scalars[op.getA()]), bWords = packWords(scalars[op.getB()]);
  Fragment acc = scalars[op.getAcc()];
  constexpr unsigned wordsA = 4, wordsB = 2;
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
        MutableArrayRef<Value> c = MutableArrayRef<Value>(acc).slice(product->accSlot(m, n), 4);
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

} // namespace tilec::lowering
