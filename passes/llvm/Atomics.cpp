//===- Atomics.cpp - atomic operations on elements and tiles --------------===//
//
// What the hardware has is one instruction, `red` where nobody asks for the old value; the rest is a
// loop around compare and exchange. LLVM's own atomics drop order and scope (all but cmpxchg's), so
// the instructions are inline assembly. PTX ISA 9.7.13.6 (atom), 9.7.13.7 (red).
//
//===----------------------------------------------------------------------===//
#include "dialects/tile/Remark.h"
#include "passes/llvm/ElementAccess.h"

using namespace mlir;

namespace tilec::lowering {

using tile::AtomicKind;
using tile::MemoryOrder;

namespace {

unsigned bitsOf(Type type) { return type.getIntOrFloatBitWidth(); }

/// The class of registers of a type in inline assembly.
char registersOf(Type type) {
  if (isa<FloatType>(type) && bitsOf(type) > 16) {
    return bitsOf(type) == 32 ? 'f' : 'd';
  }
  return bitsOf(type) == 16 ? 'h' : bitsOf(type) == 32 ? 'r' : 'l';
}

/// `add` with its rounding, `min`, ...
StringRef operationOf(AtomicKind kind, Type type) {
  switch (kind) {
  case AtomicKind::Add:
    return isa<FloatType>(type) && bitsOf(type) == 16 ? "add.noftz" : "add";
  case AtomicKind::Min:
    return "min";
  case AtomicKind::Max:
    return "max";
  case AtomicKind::And:
    return "and";
  case AtomicKind::Or:
    return "or";
  case AtomicKind::Xor:
    return "xor";
  case AtomicKind::Exchange:
    return "exch";
  }
  llvm_unreachable("no such atomic operation");
}

/// The type in the name of the instruction.
std::string typeOf(const AtomicUse &use, Type type) {
  const std::string bits = std::to_string(bitsOf(type));
  switch (use.kind) {
  case AtomicKind::Add:
    return type.isBF16() ? "bf16" : (isa<FloatType>(type) ? "f" : "u") + bits;
  case AtomicKind::Min:
  case AtomicKind::Max:
    return (use.isUnsigned ? "u" : "s") + bits;
  default:
    return "b" + bits;
  }
}

/// Whether an instruction does it. Extremes of floats have none, nor has an exchange of 16 bits.
bool isNative(AtomicKind kind, Type type, unsigned arch) {
  if (isa<FloatType>(type)) {
    return kind == AtomicKind::Add ? !type.isBF16() || arch >= 90
                                   : kind == AtomicKind::Exchange && bitsOf(type) >= 32;
  }
  return true;
}

layout::Combine combineOf(AtomicKind kind) {
  switch (kind) {
  case AtomicKind::Add:
    return layout::Combine::Sum;
  case AtomicKind::Min:
    return layout::Combine::Min;
  case AtomicKind::Max:
    return layout::Combine::Max;
  case AtomicKind::And:
    return layout::Combine::And;
  case AtomicKind::Or:
    return layout::Combine::Or;
  case AtomicKind::Xor:
    return layout::Combine::Xor;
  case AtomicKind::Exchange:
    break;
  }
  llvm_unreachable("combines nothing");
}

/// `.relaxed.gpu.global`
std::string suffixOf(const AtomicUse &use, bool relaxed) {
  return std::string(relaxed ? ".relaxed" : ".acq_rel") + (use.isShared ? ".cta" : ".gpu") +
         (use.isShared ? ".shared" : ".global");
}

std::string hintOf(const AtomicUse &use) { return use.policy ? ".L2::cache_hint" : ""; }

LLVM::InlineAsmOp assembly(OpBuilder &b, Location loc, TypeRange results, ValueRange operands,
                           StringRef text, StringRef constraints) {
  return LLVM::InlineAsmOp::create(
      b, loc, results, operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
}

/// The address in a register: of shared memory in 32 bits.
Value addressOf(OpBuilder &b, Location loc, const AtomicUse &use, Value pointer) {
  return use.isShared ? Value(LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), pointer)) : pointer;
}

} // namespace

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

Value KernelLowering::atomicInstruction(const AtomicUse &use, StringRef operation, StringRef type,
                                        Value pointer, Value value, Value expected, bool wantsOld) {
  const bool relaxed = use.order == MemoryOrder::Relaxed;
  Type held = value.getType();
  Type bits = isa<FloatType>(held) && bitsOf(held) == 16 ? b.getI16Type() : held;
  auto asBits = [&](Value x) -> Value {
    return held == bits ? x : Value(arith::BitcastOp::create(b, loc, bits, x));
  };
  SmallVector<Value> operands = {addressOf(b, loc, use, pointer)};
  if (expected) {
    operands.push_back(asBits(expected));
  }
  operands.push_back(asBits(value));
  const bool reduces = relaxed && !wantsOld && operation != "exch" && operation != "cas";
  std::string text = reduces ? "red" : "atom";
  text += suffixOf(use, relaxed) + "." + operation.str() + hintOf(use) + "." + type.str() +
          (reduces ? " " : " $0, ");
  std::string constraints = reduces ? "" : std::string("=") + registersOf(bits) + ",";
  for (auto [i, operand] : llvm::enumerate(operands)) {
    const std::string name = "$" + std::to_string(i + (reduces ? 0 : 1));
    text += i == 0 ? "[" + name + "]" : ", " + name;
    constraints += i == 0 ? (use.isShared ? "r" : "l") : std::string(",") + registersOf(bits);
  }
  if (use.policy) {
    text += ", $" + std::to_string(operands.size() + (reduces ? 0 : 1));
    constraints += ",l";
    operands.push_back(use.policy);
  }
  auto done = assembly(b, loc, reduces ? TypeRange() : TypeRange(bits), operands, text + ";",
                       constraints + ",~{memory}");
  if (reduces) {
    return {};
  }
  Value old = done.getResult(0);
  return held == bits ? old : Value(arith::BitcastOp::create(b, loc, held, old));
}

/// Computes from what the place was seen to hold, and puts that there if the place still holds it.
/// Compares bits: a NaN is what it is. The result is what the place held before.
Value KernelLowering::atomicLoop(const AtomicUse &use, Value pointer, Value value) {
  Type type = value.getType(), bits = b.getIntegerType(bitsOf(type));
  const std::string width = "b" + std::to_string(bitsOf(type));
  const std::string load = "ld" + suffixOf(use, /*relaxed=*/true) + "." + width + " $0, [$1];";
  const std::string constraints =
      std::string("=") + registersOf(bits) + (use.isShared ? ",r" : ",l") + ",~{memory}";
  Value seen =
      assembly(b, loc, bits, addressOf(b, loc, use, pointer), load, constraints).getResult(0);
  auto loop = scf::WhileOp::create(b, loc, TypeRange(bits), ValueRange(seen));
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, TypeRange(bits), {loc});
  Value current = before->getArgument(0);
  Value next = value;
  if (use.kind != AtomicKind::Exchange) {
    Value held = arith::BitcastOp::create(b, loc, type, current);
    next = combine(combineOf(use.kind), held, value, use.isUnsigned);
  }
  next = arith::BitcastOp::create(b, loc, bits, next);
  Value found = atomicInstruction(use, "cas", width, pointer, next, current, /*wantsOld=*/true);
  Value again = compare(arith::CmpIPredicate::ne, found, current);
  scf::ConditionOp::create(b, loc, again, found);
  Block *after = b.createBlock(&loop.getAfter(), {}, TypeRange(bits), {loc});
  scf::YieldOp::create(b, loc, after->getArgument(0));
  b.setInsertionPointAfter(loop);
  return arith::BitcastOp::create(b, loc, type, loop.getResult(0));
}

Value KernelLowering::emitAtomic(const AtomicUse &use, Value pointer, Value value, Value expected,
                                 bool wantsOld) {
  Type type = value.getType();
  if (expected) {
    return atomicInstruction(use, "cas", "b" + std::to_string(bitsOf(type)), pointer, value,
                             expected, wantsOld);
  }
  if (isNative(use.kind, type, arch)) {
    return atomicInstruction(use, operationOf(use.kind, type), typeOf(use, type), pointer, value,
                             Value(), wantsOld);
  }
  return atomicLoop(use, pointer, value);
}

/// Whether the language has atomics on elements of this type, in any form.
static bool isAtomicType(Type type) {
  return type.isInteger(32) || type.isInteger(64) || type.isF16() || type.isBF16() ||
         type.isF32() || type.isF64();
}

AtomicUse KernelLowering::atomicUse(Operation *op, AtomicUse use, Type element, bool compares) {
  const tile::CacheHint hint = tile::getCacheHint(op);
  if (hint == tile::CacheHint::None) {
    return use;
  }
  auto hasNoEffect = [&](StringRef reason) {
    tile::remarkOn(kernel.getSymName(), op->getLoc())
        << "@cache(" << tile::stringifyCacheHint(hint) << ") has no effect: " << reason;
  };
  if (hint == tile::CacheHint::NoAllocate) {
    hasNoEffect("atomic operations of global memory pass by L1");
  } else if (compares || !isNative(use.kind, element, arch)) {
    hasNoEffect("an atomic compare and exchange takes no policy");
  } else {
    use.policy = cachePolicy(hint);
  }
  return use;
}

//===----------------------------------------------------------------------===//
// Elements at computed indices
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerAtomic(tgpu::AtomicOp op) {
  ElementAccess access{op, op.getDest(), op.getIndices(), op.getMask(), op.getValue().getType()};
  FailureOr<Fragment> values = flatten(op, op.getValue());
  FailureOr<Fragment> expected =
      op.getExpected() ? flatten(op, op.getExpected()) : FailureOr<Fragment>(Fragment());
  if (failed(values) || failed(expected) || failed(prepareAccess(access))) {
    return failure();
  }
  Type type = slotType(access.element);
  if (!isAtomicType(type)) {
    return unsupported(op, "an atomic operation on elements of this type");
  }
  const AtomicUse use =
      atomicUse(op, {op.getKind(), op.getIsUnsigned(), op.getOrder(), access.buffer != nullptr},
                type, bool(op.getExpected()));
  const bool isUsed = op.getOld() || (op.getResult() && !op.getResult().use_empty());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  auto element = [&](size_t slot) -> Value {
    Value condition, pointer = placeOf(access, slot, condition);
    condition = both(condition, insideBuffer(access, slot));
    auto run = [&] {
      return emitAtomic(use, pointer, (*values)[slot],
                        op.getExpected() ? (*expected)[slot] : Value(), isUsed);
    };
    if (!isUsed) {
      guarded(condition, [&] { run(); });
      return {};
    }
    return (*valuesUnder(condition, zero, [&] { return FailureOr<Fragment>(Fragment{run()}); }))[0];
  };
  if (op.getResult()) {
    scalars[op.getResult()] = {isUsed ? element(0) : (element(0), zero)};
    return success();
  }
  const Shared *old = op.getOld() ? &buffers[op.getOld()] : nullptr;
  auto all = [&] {
    for (size_t slot = 0; slot < access.slots; ++slot) {
      Value before = element(slot);
      if (!old) {
        continue;
      }
      Value isReal = access.layout ? slotInTile(*access.layout, int64_t(slot)) : Value();
      guarded(isReal, [&] {
        Value offset = sharedOffset(*this, old->layout, [&](unsigned d) {
          return access.layout ? add(threadCoordinate(*access.layout, d),
                                     access.layout->registerOffset(int64_t(slot))[d])
                               : i32(0);
        });
        storeElements(sharedPointer(add(offset, sharedSteps(*old)), old->bytes), old->element,
                      before, memoryBytes(old->element));
      });
    }
  };
  if (access.layout) {
    return byOwners(op, *access.layout, all);
  }
  guarded(writes(op), all);
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Sums of neighbours by one instruction: words of f32, or of two floats of 16 bits each.
void KernelLowering::reduceNeighbours(const AtomicUse &use, Value pointer, ArrayRef<Value> values) {
  Type type = values.front().getType();
  const bool isNarrow = bitsOf(type) == 16;
  Fragment words = isNarrow ? packWords(values) : Fragment(values);
  std::string text =
      "red" + suffixOf(use, /*relaxed=*/true) + "." + operationOf(use.kind, type).str();
  text += hintOf(use);
  text += words.size() > 1 ? ".v" + std::to_string(words.size()) : "";
  text += "." + typeOf(use, type) + (isNarrow ? "x2" : "") + " [$0], ";
  std::string operandText, constraints = "l";
  for (auto [i, word] : llvm::enumerate(words)) {
    operandText += (i ? ",$" : "$") + std::to_string(i + 1);
    constraints += isNarrow ? ",r" : ",f";
  }
  text += words.size() > 1 ? "{" + operandText + "}" : operandText;
  SmallVector<Value> operands = {pointer};
  llvm::append_range(operands, words);
  if (use.policy) {
    text += ", $" + std::to_string(operands.size());
    constraints += ",l";
    operands.push_back(use.policy);
  }
  assembly(b, loc, TypeRange(), operands, text + ";", constraints + ",~{memory}");
}

LogicalResult KernelLowering::lowerAtomicTile(tgpu::AtomicTileOp op) {
  auto dest = views.find(op.getDest());
  auto type = cast<RankedTensorType>(op.getValue().getType());
  const layout::RegisterLayout *registers = tgpu::getLayout(type);
  if (dest == views.end() || !registers || !registers->isSeparable() || registers->partial() ||
      dest->second.element != type.getElementType() || !isAtomicType(type.getElementType())) {
    return unsupported(op, "an atomic operation on such a fragment");
  }
  FailureOr<Fragment> slots = flatten(op, op.getValue());
  if (failed(slots) || failed(checkGathered(op, dest->second, *registers))) {
    return failure();
  }
  const AtomicUse use =
      atomicUse(op, {op.getKind(), op.getIsUnsigned(), op.getOrder(), /*isShared=*/false},
                type.getElementType(), /*compares=*/false);
  return byOwners(op, *registers, [&] {
    forEachGroup(op, dest->second, *registers, *slots, op.getBytes(),
                 [&](Value pointer, ArrayRef<Value> values, Value condition) {
                   guarded(condition, [&] {
                     if (values.size() > 1) {
                       reduceNeighbours(use, pointer, values);
                     } else {
                       emitAtomic(use, pointer, values[0], Value(), /*wantsOld=*/false);
                     }
                   });
                 });
  });
}

} // namespace tilec::lowering
