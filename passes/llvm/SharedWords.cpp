//===- SharedWords.cpp - bytes of shared memory by whole words -----------===//
//
// Where the lanes of a quad hold one byte each of a word, as operands of products that were decoded
// from less than a byte are: every lane loads the words, all lanes of the quad the same ones, which
// costs no more than one of them would, and takes its own bytes out of several words at once.
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/Addresses.h"

using namespace mlir;

namespace tilec::lowering {

std::optional<layout::WordPlan> KernelLowering::wordPlan(const Shared &buffer,
                                                         const layout::RegisterLayout &fragment) {
  if (buffer.layout.elementBits() != 8 || buffer.element.isInteger(1)) {
    return std::nullopt;
  }
  auto plan = layout::wordPlan(buffer.layout, fragment);
  if (!plan || alignedStart(buffer) % plan->accessBytes != 0) {
    return std::nullopt;
  }
  return *plan;
}

Fragment KernelLowering::loadWords(const Shared &buffer, const layout::RegisterLayout &fragment,
                                   const layout::WordPlan &plan) {
  SharedAddresses addresses(*this, buffer, plan.address);
  Type word = b.getI32Type();
  auto permute = [&](Value low, Value high, Value selector) -> Value {
    return NVVM::PermuteOp::create(b, loc, word, low, high, selector, NVVM::PermuteMode::DEFAULT);
  };
  // The lane's first byte in each of its words, and with it in a pair of them: one byte of each in
  // the low half, or two of each.
  Value byte = b.createOrFold<arith::AndIOp>(
      loc, threadCoordinate(fragment, buffer.layout.contiguousDim()), i32(3));
  Value ownBytes = plan.unit == 1 ? add(mul(byte, 0x0011), 0x0040) : add(mul(byte, 0x1111), 0x5410);
  Fragment slots(fragment.registersPerThread());
  for (ArrayRef<int64_t> group : plan.groups) {
    const int64_t count = plan.accessBytes / 4;
    Value loaded = LLVM::LoadOp::create(b, loc, VectorType::get({count}, word),
                                        addresses.pointer(group[0]), plan.accessBytes);
    Fragment all, words;
    takeVector(loaded, all);
    for (int64_t i = 0; i < count; i += 2) {
      words.push_back(permute(all[i], all[i + 1], ownBytes));
    }
    if (plan.unit == 1 && words.size() == 2) {
      words = {permute(words[0], words[1], i32(0x5410))};
    }
    Fragment bytes;
    for (Value own : words) {
      unpackWord(own, b.getI8Type(), bytes);
    }
    for (auto [i, slot] : llvm::enumerate(group)) {
      slots[slot] = bytes[i];
    }
  }
  return slots;
}

} // namespace tilec::lowering
