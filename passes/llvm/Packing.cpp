//===- Packing.cpp - slots in 32-bit words and in vectors ----------------===//
#include "mlir/IR/Matchers.h"
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

Value KernelLowering::buildVector(ArrayRef<Value> values) {
  auto type = VectorType::get({int64_t(values.size())}, values[0].getType());
  Value vector = LLVM::UndefOp::create(b, loc, type);
  for (auto [i, value] : llvm::enumerate(values)) {
    Value index = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i));
    vector = LLVM::InsertElementOp::create(b, loc, vector, value, index);
  }
  return vector;
}

void KernelLowering::takeVector(Value vector, Fragment &values) {
  for (int64_t i = 0; i < cast<VectorType>(vector.getType()).getNumElements(); ++i) {
    Value index = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i));
    values.push_back(LLVM::ExtractElementOp::create(b, loc, vector, index));
  }
}

Value KernelLowering::pairOf(Type pair, double value) {
  Attribute element = b.getFloatAttr(cast<VectorType>(pair).getElementType(), value);
  return LLVM::ConstantOp::create(b, loc, pair,
                                  SplatElementsAttr::get(cast<VectorType>(pair), element));
}

Value KernelLowering::fmaPair(Value pair, double scale, Value offset) {
  Value factor = pairOf(pair.getType(), scale);
  if (!kernel.getFastMath()) {
    return LLVM::FMAOp::create(b, loc, pair, factor, offset);
  }
  // LLVM gives the instructions of f16 and bf16 the mode of f32, and its intrinsics become such.
  auto asWord = [&](Value x) -> Value {
    return LLVM::BitcastOp::create(b, loc, b.getI32Type(), x);
  };
  const bool isHalf = cast<VectorType>(pair.getType()).getElementType().isF16();
  Value result =
      LLVM::InlineAsmOp::create(
          b, loc, b.getI32Type(), ValueRange{asWord(pair), asWord(factor), asWord(offset)},
          isHalf ? "fma.rn.f16x2 $0, $1, $2, $3;" : "fma.rn.bf16x2 $0, $1, $2, $3;", "=r,r,r,r",
          /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::TailCallKind::None,
          LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
          .getResult(0);
  return LLVM::BitcastOp::create(b, loc, pair.getType(), result);
}

/// A `bool` takes a byte in memory and in words, 0 or 1.
static Value asByte(OpBuilder &b, Location loc, Value slot) {
  return slot.getType().isInteger(1) ? Value(arith::ExtUIOp::create(b, loc, b.getI8Type(), slot))
                                     : slot;
}

Fragment KernelLowering::packBits(ArrayRef<Value> values, unsigned width) {
  Fragment slots, words;
  for (Value value : values) {
    slots.push_back(asByte(b, loc, value));
  }
  Type type = b.getIntegerType(width);
  const size_t perWord = width / slots[0].getType().getIntOrFloatBitWidth();
  for (size_t i = 0; i + perWord <= slots.size(); i += perWord) {
    Value value = perWord == 1 ? slots[i] : buildVector(ArrayRef<Value>(slots).slice(i, perWord));
    words.push_back(value.getType() == type ? value
                                            : Value(LLVM::BitcastOp::create(b, loc, type, value)));
  }
  return words;
}

void KernelLowering::unpackBits(Value bits, Type slot, Fragment &slots) {
  if (slot.isInteger(1)) {
    Fragment bytes;
    unpackBits(bits, b.getI8Type(), bytes);
    for (Value byte : bytes) {
      slots.push_back(compare(arith::CmpIPredicate::ne, byte, constant(0, byte.getType())));
    }
    return;
  }
  const int64_t count = bits.getType().getIntOrFloatBitWidth() / slot.getIntOrFloatBitWidth();
  if (count == 1) {
    slots.push_back(bits.getType() == slot ? bits : LLVM::BitcastOp::create(b, loc, slot, bits));
    return;
  }
  takeVector(LLVM::BitcastOp::create(b, loc, VectorType::get({count}, slot), bits), slots);
}

bool KernelLowering::areWordsOfBytes(ArrayRef<Value> slots) {
  if (slots.size() % 4 != 0 || !slots[0].getType().isInteger(8)) {
    return false;
  }
  LLVM::BitcastOp word;
  for (auto [i, slot] : llvm::enumerate(slots)) {
    auto take = slot.getDefiningOp<LLVM::ExtractElementOp>();
    auto from = take ? take.getVector().getDefiningOp<LLVM::BitcastOp>() : LLVM::BitcastOp();
    APInt place;
    if (!from || !from.getArg().getType().isInteger(32) || (i % 4 != 0 && from != word) ||
        !matchPattern(take.getPosition(), m_ConstantInt(&place)) || place != i % 4) {
      return false;
    }
    word = from;
  }
  return true;
}

Fragment KernelLowering::loadElements(Value pointer, Type element, int64_t count, int64_t align,
                                      const GlobalUse &use) {
  Type memory = memoryType(element);
  Fragment values;
  if (!use.isPlain()) {
    values = loadByAssembly(pointer, element, count, use);
  } else {
    Type type = count == 1 ? memory : Type(VectorType::get({count}, memory));
    Value loaded = LLVM::LoadOp::create(b, loc, type, pointer, align);
    if (count == 1) {
      values.push_back(loaded);
    } else {
      takeVector(loaded, values);
    }
  }
  for (Value &value : values) {
    if (element.isInteger(1)) {
      value = compare(arith::CmpIPredicate::ne, value, constant(0, memory));
    } else if (tile::isPacked(element)) {
      value = arith::TruncIOp::create(b, loc, slotType(element), value);
    }
  }
  return values;
}

void KernelLowering::storeElements(Value pointer, Type element, ArrayRef<Value> values,
                                   int64_t align, const GlobalUse &use) {
  Fragment stored(values);
  if (element.getIntOrFloatBitWidth() < 8) {
    for (Value &value : stored) {
      value = arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
    }
  }
  if (!use.isPlain()) {
    return storeByAssembly(pointer, stored, use);
  }
  Value value = stored.size() == 1 ? stored[0] : buildVector(stored);
  LLVM::StoreOp::create(b, loc, value, pointer, align);
}

} // namespace tilec::lowering
