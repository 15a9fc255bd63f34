#include "dialects/layout/ConversionPrice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace tilec::layout {

int64_t ConversionPrice::cost(int64_t warps) const {
  const int64_t issued = divideCeil(uint64_t(instructions * warps), 4);
  const int64_t wavefronts = divideCeil(uint64_t(sharedBytes), 128) + conflicts;
  return issued + shuffles * warps + wavefronts + 30 * barriers;
}

std::string ConversionPrice::str() const {
  if (isFree()) {
    return "free";
  }
  SmallVector<std::string, 3> parts;
  auto add = [&](int64_t count, StringRef one, StringRef many) {
    if (count != 0) {
      parts.push_back((Twine(count) + " " + (count == 1 ? one : many)).str());
    }
  };
  add(shuffles, "shuffle", "shuffles");
  add(accesses, "access", "accesses");
  add(instructions, "instruction", "instructions");
  std::string text = join(parts, ", ") + " a thread";
  if (sharedBytes != 0) {
    parts.clear();
    add(conflicts, "bank conflict", "bank conflicts");
    add(barriers, "barrier", "barriers");
    text += ("; " + Twine(sharedBytes) + " bytes through shared memory").str();
    for (const std::string &part : parts) {
      text += ", " + part;
    }
  }
  return text;
}

/// Accesses of shared memory by which a thread moves a fragment.
static int64_t accessesOf(const SharedLayout &shared, const RegisterLayout &fragment, bool matrices,
                          bool store) {
  if (matrices && fragment.rank() == 2 && shared.rank() == 2 && !fragment.hasPadding() &&
      shared.elementBits() >= 8) {
    for (bool trans : {false, true}) {
      Answer<MatrixPlan> plan =
          store ? stmatrixPlan(shared, fragment, trans) : ldmatrixPlan(shared, fragment, trans);
      if (plan && plan->address.isSeparable()) {
        return plan->address.registersPerThread();
      }
    }
  }
  Answer<AccessPlan> plan = accessPlan(shared, fragment);
  return plan ? int64_t(plan->groups.size()) : fragment.registersPerThread();
}

/// Words of the target that are no words of the source: elements of less than 32 bits share them.
static int64_t repackedWords(const Conversion &plan, unsigned elementBits) {
  const int64_t perWord = 32 / elementBits;
  ArrayRef<int64_t> slots = plan.registers;
  int64_t words = 0;
  for (size_t first = 0; perWord > 1 && first < slots.size(); first += perWord) {
    ArrayRef<int64_t> word = slots.slice(first, std::min<size_t>(perWord, slots.size() - first));
    bool same = word.front() % perWord == 0;
    for (auto [i, slot] : enumerate(word)) {
      same &= slot == word.front() + int64_t(i);
    }
    words += !same;
  }
  return words;
}

ConversionPrice priceOf(const Conversion &plan, const RegisterLayout &source,
                        const RegisterLayout &target, unsigned elementBits, bool storesMatrices) {
  ConversionPrice price;
  switch (plan.kind) {
  case Conversion::Kind::None:
    break;
  case Conversion::Kind::Registers:
    price.instructions = elementBits < 32 ? repackedWords(plan, elementBits) : 0;
    break;
  case Conversion::Kind::Shuffles: {
    SmallVector<bool> isWritten(target.registersPerThread(), false);
    const int64_t words = divideCeil(elementBits, 32u);
    for (const ShuffleStep &step : plan.shuffles) {
      price.shuffles += step.sourceLane.isIdentity() ? 0 : words;
      price.instructions += step.select >= 0 && isWritten[step.target] ? words : 0; // selects
      isWritten[step.target] = true;
    }
    price.instructions += price.shuffles;
    break;
  }
  case Conversion::Kind::Swaps:
    // Beside each shuffle what it sends is selected, and where what came goes, and what stays.
    price.shuffles = plan.swaps.shuffles();
    price.instructions = 4 * price.shuffles;
    break;
  case Conversion::Kind::Shared:
    price.accesses = accessesOf(plan.shared, source, storesMatrices, /*store=*/true) +
                     accessesOf(plan.shared, target, /*matrices=*/true, /*store=*/false);
    price.instructions = price.accesses;
    price.sharedBytes = int64_t(elementBits) *
                        (source.registersPerThread() * source.numWarps() +
                         target.registersPerThread() * target.numWarps()) *
                        32 / 8;
    price.barriers = 1;
    price.conflicts = plan.conflicts;
    break;
  }
  return price;
}

} // namespace tilec::layout
