//===- CacheHints.cpp - accesses of global memory under `@cache` ---------===//
//
// evict_first and evict_last say in which order L2 (and L1) gives lines up; no_allocate keeps them
// out of L1, which TMA and 16-byte cp.async pass by anyhow. LLVM has no word for any of them, so
// the accesses are inline assembly: ld and st (PTX ISA 9.7.9.8 and 9.7.9.11). cp.async has an
// operand for a policy, too (9.7.9.25.3.1), but where its shared address is the sum of a register
// and a uniform one, as ours are, ptxas makes an illegal instruction of it (docs/performance.md), so
// it goes without.
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

namespace {

/// How the bytes of one access travel in registers.
struct Words {
  unsigned bits;   // of a register's part that is moved
  int64_t count;   // registers
  StringRef type;  // of the instruction
  char constraint; // of the registers
};

Words wordsOf(int64_t bytes, unsigned elementBits) {
  if (elementBits == 64) {
    return {64, bytes / 8, "b64", 'l'};
  }
  if (bytes >= 4) {
    return {32, bytes / 4, "b32", 'r'};
  }
  return {unsigned(bytes * 8), 1, bytes == 2 ? "b16" : "u8", 'h'};
}

/// `.L1::evict_first.L2::cache_hint`, or `.L1::no_allocate`.
StringRef modifiersOf(tile::CacheHint cache) {
  switch (cache) {
  case tile::CacheHint::EvictFirst:
    return ".L1::evict_first.L2::cache_hint";
  case tile::CacheHint::EvictLast:
    return ".L1::evict_last.L2::cache_hint";
  case tile::CacheHint::NoAllocate:
    return ".L1::no_allocate";
  case tile::CacheHint::None:
    return "";
  }
  llvm_unreachable("unknown cache hint");
}

/// `{$2,$3}`, or `$2` alone.
std::string operandList(int64_t first, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    text += (i ? ",$" : "$") + std::to_string(first + i);
  }
  return count == 1 ? text : "{" + text + "}";
}

LLVM::InlineAsmOp assembly(OpBuilder &b, Location loc, TypeRange results, ValueRange operands,
                           StringRef text, StringRef constraints, bool hasSideEffects) {
  return LLVM::InlineAsmOp::create(
      b, loc, results, operands, text, constraints, hasSideEffects, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
}

} // namespace

Value KernelLowering::cachePolicy(tile::CacheHint cache) {
  if (cache != tile::CacheHint::EvictFirst && cache != tile::CacheHint::EvictLast) {
    return {};
  }
  std::string text = std::string("createpolicy.fractional.L2::evict_") +
                     (cache == tile::CacheHint::EvictFirst ? "first" : "last") + ".b64 $0, 1.0;";
  return assembly(b, loc, b.getI64Type(), {}, text, "=l", /*hasSideEffects=*/false).getResult(0);
}

Fragment KernelLowering::loadHinted(Value pointer, Type element, int64_t count,
                                    const CacheUse &use) {
  Type slot = memoryType(element);
  const Words words = wordsOf(count * memoryBytes(element), slot.getIntOrFloatBitWidth());
  std::string vector = words.count == 1 ? "" : ".v" + std::to_string(words.count);
  std::string text =
      ("ld.global" + Twine(use.readOnly ? ".nc" : "") + modifiersOf(use.hint) + vector + "." +
       words.type + " " + operandList(0, words.count) + ", [$" + Twine(words.count) + "]" +
       (use.policy ? ", $" + Twine(words.count + 1) : Twine()) + ";")
          .str();
  std::string constraints;
  for (int64_t i = 0; i < words.count; ++i) {
    constraints += std::string("=") + words.constraint + ",";
  }
  constraints += "l";
  SmallVector<Value> operands = {pointer};
  if (use.policy) {
    constraints += ",l";
    operands.push_back(use.policy);
  }
  // Of read-only memory nothing is lost when the load moves; other loads keep their place.
  constraints += use.readOnly ? "" : ",~{memory}";
  Type word = b.getIntegerType(words.constraint == 'h' ? 16 : words.bits);
  SmallVector<Type> types(words.count, word);
  Type result = words.count == 1 ? word : LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  Value loaded = assembly(b, loc, result, operands, text, constraints, !use.readOnly).getResult(0);
  Fragment values;
  for (int64_t i = 0; i < words.count; ++i) {
    Value bits = words.count == 1 ? loaded : Value(LLVM::ExtractValueOp::create(b, loc, loaded, i));
    unpackBits(toInteger(bits, b.getIntegerType(words.bits)), slot, values);
  }
  return values;
}

void KernelLowering::storeHinted(Value pointer, ArrayRef<Value> values, const CacheUse &use) {
  const unsigned elementBits = values[0].getType().getIntOrFloatBitWidth();
  const Words words = wordsOf(values.size() * elementBits / 8, elementBits);
  std::string vector = words.count == 1 ? "" : ".v" + std::to_string(words.count);
  std::string text =
      ("st.global" + modifiersOf(use.hint) + vector + "." + words.type + " [$0], " +
       operandList(1, words.count) + (use.policy ? ", $" + Twine(words.count + 1) : Twine()) + ";")
          .str();
  std::string constraints = "l";
  SmallVector<Value> operands = {pointer};
  for (Value bits : packBits(values, words.bits)) {
    operands.push_back(words.bits == 8 ? Value(LLVM::ZExtOp::create(b, loc, b.getI16Type(), bits))
                                       : bits);
    constraints += std::string(",") + words.constraint;
  }
  if (use.policy) {
    constraints += ",l";
    operands.push_back(use.policy);
  }
  assembly(b, loc, TypeRange(), operands, text, constraints + ",~{memory}",
           /*hasSideEffects=*/true);
}

} // namespace tilec::lowering
