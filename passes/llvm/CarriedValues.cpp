//===- CarriedValues.cpp - what loops and branches carry ------------------===//
#include "passes/Registers.h"
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

/// The fragment that a value is, or will be.
static Type fragmentOf(Type type) {
  auto pending = dyn_cast<tgpu::PendingType>(type);
  return pending ? Type(pending.getFragment()) : type;
}

LogicalResult KernelLowering::flattenTypes(Operation *user, TypeRange types,
                                           SmallVectorImpl<Type> &flat) {
  for (Type type : types) {
    type = fragmentOf(type);
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      const layout::RegisterLayout *layout = tgpu::getLayout(tensor);
      if (!layout) {
        return unsupported(user, "a fragment without a layout");
      }
      flat.append(layout->registersPerThread(), slotType(tensor.getElementType()));
    } else if (auto vector = dyn_cast<VectorType>(type)) {
      flat.append(vector.getNumElements(), slotType(vector.getElementType()));
    } else if (type.isIntOrIndexOrFloat()) {
      flat.push_back(slotType(type));
    } else {
      return unsupported(user, "a loop or branch that carries such a value");
    }
  }
  return success();
}

FailureOr<Fragment> KernelLowering::flatten(Operation *user, ValueRange values) {
  Fragment flat;
  for (Value value : values) {
    auto it = scalars.find(value);
    if (it == scalars.end()) {
      return unsupported(user, "an operand that is no scalar or fragment");
    }
    flat.append(it->second);
  }
  return flat;
}

/// How many slots a value has.
static size_t slotsOf(Type type) {
  type = fragmentOf(type);
  if (isa<RankedTensorType>(type)) {
    return tgpu::getLayout(type)->registersPerThread();
  }
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

void KernelLowering::bind(ValueRange old, ValueRange flat) {
  size_t next = 0;
  for (Value value : old) {
    const size_t count = slotsOf(value.getType());
    scalars[value] = Fragment(flat.begin() + next, flat.begin() + next + count);
    next += count;
  }
}

static Type slotTypeOf(Type type) { return slotType(getElementTypeOrSelf(fragmentOf(type))); }

static size_t perWord(Type slot) { return 32 / std::max(8U, slot.getIntOrFloatBitWidth()); }

/// So many halves that are loaded one by one may be under way in registers of their own.
constexpr size_t kMostApart = 16;

/// Whether a slot of two bytes comes out of memory by itself, maybe in a branch. A word of two such
/// loads can be formed only when both have come, before the work that they should run beside.
static bool isLoadedAlone(Value slot) {
  llvm::SetVector<Value> pending;
  pending.insert(slot);
  for (size_t next = 0; next < pending.size();
       ++next) { // branches may pass a value on several ways
    const Value value = pending[next];
    if (auto bits = value.getDefiningOp<LLVM::BitcastOp>()) {
      pending.insert(bits.getArg());
    } else if (auto branch = value.getDefiningOp<scf::IfOp>()) {
      const unsigned number = cast<OpResult>(value).getResultNumber();
      pending.insert(branch.thenYield().getOperand(number));
      pending.insert(branch.elseYield().getOperand(number));
    } else if (value.getType().isIntOrFloat() &&
               isa_and_present<LLVM::LoadOp, LLVM::InlineAsmOp>(value.getDefiningOp())) {
      return true;
    }
  }
  return false;
}

llvm::BitVector KernelLowering::pairsOfHalves(TypeRange types, ArrayRef<Fragment> slots) {
  llvm::BitVector result(types.size());
  for (auto [i, type] : llvm::enumerate(types)) {
    const Type slot = isa<RankedTensorType>(type) ? slotTypeOf(type) : Type();
    const layout::RegisterLayout *layout = slot ? tgpu::getLayout(type) : nullptr;
    result[i] =
        layout && (slot.isF16() || slot.isBF16()) && layout->registersPerThread() % 2 == 0 &&
        (slots.empty() || slots[i].size() > kMostApart || llvm::none_of(slots[i], isLoadedAlone));
  }
  return result;
}

FailureOr<llvm::BitVector> KernelLowering::carriedAsWords(scf::ForOp op) {
  SmallVector<Fragment> inits;
  for (Value init : op.getInitArgs()) {
    FailureOr<Fragment> slots = flatten(op, init);
    if (failed(slots)) {
      return failure();
    }
    inits.push_back(std::move(*slots));
  }
  llvm::BitVector result = pairsOfHalves(op.getResultTypes(), inits);
  const bool shares = isCrowded(op);
  for (auto [i, init] : llvm::enumerate(op.getInitArgs())) {
    const size_t inWord = size_t(packedInWord(slotTypeOf(init.getType())));
    result[i] = result[i] || areWordsOfBytes(inits[i]) ||
                (shares && inWord > 1 && inits[i].size() % inWord == 0);
  }
  return result;
}

LogicalResult KernelLowering::flattenCarriedTypes(Operation *user, TypeRange types,
                                                  const llvm::BitVector &asWords,
                                                  SmallVectorImpl<Type> &flat) {
  for (auto [i, type] : llvm::enumerate(types)) {
    if (asWords[i]) {
      flat.append(slotsOf(type) / perWord(slotTypeOf(type)), b.getI32Type());
    } else if (failed(flattenTypes(user, type, flat))) {
      return failure();
    }
  }
  return success();
}

FailureOr<Fragment> KernelLowering::flattenCarried(Operation *user, ValueRange values,
                                                   const llvm::BitVector &asWords) {
  Fragment flat;
  for (auto [i, value] : llvm::enumerate(values)) {
    FailureOr<Fragment> slots = flatten(user, value);
    if (failed(slots)) {
      return failure();
    }
    flat.append(asWords[i] ? packWords(*slots) : *slots);
  }
  return flat;
}

void KernelLowering::bindCarried(ValueRange old, ValueRange flat, const llvm::BitVector &asWords) {
  for (auto [i, value] : llvm::enumerate(old)) {
    const Type slot = slotTypeOf(value.getType());
    const size_t slots = slotsOf(value.getType());
    const size_t count = asWords[i] ? slots / perWord(slot) : slots;
    Fragment carried(flat.take_front(count));
    flat = flat.drop_front(count);
    if (asWords[i]) {
      Fragment words = std::exchange(carried, {});
      llvm::for_each(words, [&](Value word) { unpackBits(word, slot, carried); });
    }
    scalars[value] = carried;
  }
}

} // namespace tilec::lowering
