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
  bool decodes = false;         // takes words of 8-bit floats as two of f16
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
  if (!fp8Name(a).empty() && !fp8Name(bType).empty() && acc.isF32() && k == 32) {
    result.decodes = arch < 89;
    result.halfOperands = result.decodes;
    result.name = result.decodes
                      ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
                      : shape + ("f32." + fp8Name(a) + "." + fp8Name(bType) + ".f32").str();
    return result;
  }
  return std::nullopt;
}

} // namespace

/// Words of 8-bit floats as words of f16, for instructions of half the k. Of the k that a lane holds
/// in a word, four neighbours, the first two take the places of a lane's lower k in the operand of
/// f16 and the others those of its upper k: another order of k, but the same for A and B. `rows` is
/// how many words one k has, so many lie between the two.
Fragment KernelLowering::decodedWords(ArrayRef<Value> words, Type type, size_t rows) {
  Fragment result;
  for (size_t first = 0; first < words.size(); first += rows) {
    Fragment upper;
    for (Value word : words.slice(first, rows)) {
      auto [low, high] = fp8WordToHalves(word, type);
      result.push_back(low);
      upper.push_back(high);
    }
    result.append(upper);
  }
  return result;
}

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
  Fragment a = packWords(scalars[op.getA()]), bWords = packWords(scalars[op.getB()]);
  Fragment acc = scalars[op.getAcc()];
  constexpr unsigned wordsA = 4, wordsB = 2;
  if (instruction->decodes) {
    a = decodedWords(a, aType.getElementType(), wordsA / 2);
    bWords = decodedWords(bWords, getElementTypeOrSelf(op.getB()), wordsB / 2);
  }
  const int64_t steps = product->steps() * (instruction->decodes ? 2 : 1);
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
