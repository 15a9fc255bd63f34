#include "dialects/layout/ConversionPlans.h"

using namespace llvm;

namespace tilec::layout {

size_t ConversionPlans::Hash::operator()(const Question &question) const {
  return hash_combine(question.source, question.target, question.elementBits);
}

Answer<Conversion> ConversionPlans::get(const RegisterLayout &source, const RegisterLayout &target,
                                        unsigned elementBits) {
  const Question question{source, target, elementBits};
  {
    sys::SmartScopedReader</*mt_only=*/false> lock(mutex);
    if (auto it = plans.find(question); it != plans.end()) {
      return it->second;
    }
  }
  Answer<Conversion> plan = planConversion(source, target, elementBits); // others may go on
  sys::SmartScopedWriter</*mt_only=*/false> lock(mutex);
  return plans.try_emplace(question, std::move(plan)).first->second;
}

} // namespace tilec::layout
