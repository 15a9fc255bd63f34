// Conversions that have been planned.
#pragma once

#include "dialects/layout/Conversion.h"

#include "llvm/Support/RWMutex.h"

#include <unordered_map>

namespace tilec::layout {

/// Plans conversions and keeps the plans. Passes ask for the plan of one conversion again and again
/// (the walks of synchronisation above all), and for many warps finding it takes tens of
/// milliseconds. Threads may ask at the same time: they may both find a plan, which is the same.
class ConversionPlans {
public:
  /// planConversion(source, target, elementBits).
  Answer<Conversion> get(const RegisterLayout &source, const RegisterLayout &target,
                         unsigned elementBits);

private:
  struct Question {
    RegisterLayout source, target;
    unsigned elementBits;

    bool operator==(const Question &) const = default;
  };
  struct Hash {
    size_t operator()(const Question &question) const;
  };

  llvm::sys::SmartRWMutex</*mt_only=*/false> mutex;
  std::unordered_map<Question, Answer<Conversion>, Hash> plans;
};

} // namespace tilec::layout
