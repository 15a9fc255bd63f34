//===- GlobalAssembly.cpp - accesses that LLVM has no word for ------------===//
//
// Under `@cache`: evict_first and evict_last say in which order L2 (and L1) gives lines up;
// no_allocate keeps them out of L1, which TMA and 16-byte cp.async pass by anyhow. cp.async has an
// operand for a policy, too (PTX ISA 9.7.9.25.3.1), but where its shared address is the sum of a
// register and a uniform one, as ours are, ptxas makes an illegal instruction of it
// (docs/performance.md), so it goes without.
//
// Under a condition: a predicate costs nothing, a branch around each access of a tile makes dozens
// of blocks, over which nothing is scheduled. A predicated load of read-only memory is a plain
// ld.global: `.nc` lets ptxas lift it over barriers, and rows of weights then wait in registers for
// the end of a reduction.
//
// Both are inline assembly: ld and st (PTX ISA 9.7.9.8 and 9.7.9.11).
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

/// Of the register that holds a word.
unsigned registerBits(const Words &words) { return words.constraint == 'h' ? 16 : words.bits; }

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

Fragment KernelLowering::loadByAssembly(Value pointer, Type element, int64_t count,
                                        const GlobalUse &use) {
  Type slot = memoryType(element);
  const Words words = wordsOf(count * memoryBytes(element), slot.getIntOrFloatBitWidth());
  const bool nonCoherent = use.readOnly && use.hint != tile::CacheHint::None;
  std::string vector = words.count == 1 ? "" : ".v" + std::to_string(words.count);
  int64_t next = words.count + 1; // number of an operand
  std::string text, constraints;
  for (int64_t i = 0; i < words.count; ++i) {
    constraints += std::string(use.condition ? "=&" : "=") + words.constraint + ",";
    if (use.condition) {
      text += "mov.b" + std::to_string(registerBits(words)) + " $" + std::to_string(i) + ", 0; ";
    }
  }
  constraints += "l";
  SmallVector<Value> operands = {pointer};
  auto operand = [&](Value value, StringRef constraint) {
    operands.push_back(value);
    constraints += ("," + constraint).str();
    return "$" + std::to_string(next++);
  };
  if (use.condition) {
    text += "@" + operand(use.condition, "b") + " ";
  }
  text += ("ld.global" + Twine(nonCoherent ? ".nc" : "") + modifiersOf(use.hint) + vector + "." +
           words.type + " " + operandList(0, words.count) + ", [$" + Twine(words.count) + "]" +
           (use.policy ? ", " + operand(use.policy, "l") : std::string()) + ";")
              .str();
  // Of read-only memory nothing is lost when the load moves; other loads keep their place.
  constraints += use.readOnly ? "" : ",~{memory}";
  Type word = b.getIntegerType(registerBits(words));
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

void KernelLowering::storeByAssembly(Value pointer, ArrayRef<Value> values, const GlobalUse &use) {
  const unsigned elementBits = values[0].getType().getIntOrFloatBitWidth();
  const Words words = wordsOf(values.size() * elementBits / 8, elementBits);
  std::string vector = words.count == 1 ? "" : ".v" + std::to_string(words.count);
  std::string constraints = "l";
  SmallVector<Value> operands = {pointer};
  for (Value bits : packBits(values, words.bits)) {
    operands.push_back(words.bits == 8 ? Value(LLVM::ZExtOp::create(b, loc, b.getI16Type(), bits))
                                       : bits);
    constraints += std::string(",") + words.constraint;
  }
  auto operand = [&](Value value, StringRef constraint) {
    operands.push_back(value);
    constraints += ("," + constraint).str();
    return "$" + std::to_string(operands.size() - 1);
  };
  std::string text = use.condition ? "@" + operand(use.condition, "b") + " " : "";
  text += ("st.global" + modifiersOf(use.hint) + vector + "." + words.type + " [$0], " +
           operandList(1, words.count) +
           (use.policy ? ", " + operand(use.policy, "l") : std::string()) + ";")
              .str();
  assembly(b, loc, TypeRange(), operands, text, constraints + ",~{memory}",
           /*hasSideEffects=*/true);
}

} // namespace tilec::lowering
