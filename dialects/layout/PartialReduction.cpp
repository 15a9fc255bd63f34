#include "dialects/layout/PartialReduction.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tilec::layout {

/// The sums of an offset of each set. Digits of the warp number that walk different dimensions are
/// different ones, so that a warp is counted once.
static std::optional<uint32_t> sums(uint32_t a, uint32_t b) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 32; ++i) {
    result |= a >> i & 1 ? uint64_t(b) << i : 0;
  }
  return result >> 32 ? std::nullopt : std::optional<uint32_t>(uint32_t(result));
}

/// `spec`, of which no register walks `dim` any more, with the threads that walk it at consecutive
/// coordinates of it, in the order of their digits.
static void countThreads(RegisterLayout::Spec &spec, unsigned dim) {
  int64_t count = 1;
  for (HwDim hw : {HwDim::Lane, HwDim::Warp}) {
    for (Coords &v : spec.bases[unsigned(hw)]) {
      if (v[dim] != 0) {
        v[dim] = count;
        count *= 2;
      }
    }
  }
  for (Repeat &r : spec.repeats) {
    if (r.dim == int(dim)) {
      r.stride = count;
      count *= r.count;
    }
  }
  spec.shape[dim] = count;
}

/// The source without the registers that its reduced dimensions need.
static Answer<RegisterLayout> partsOf(const RegisterLayout &source, const RegisterLayout &result,
                                      ArrayRef<int64_t> dims) {
  RegisterLayout::Spec spec;
  spec.shape.assign(source.shape().begin(), source.shape().end());
  spec.firstWarp = source.firstWarp();
  RegisterLayout registers = result; // the slots are those of the result
  for (int64_t dim : dims) {
    registers = registers.insertDim(unsigned(dim));
  }
  spec.bases[unsigned(HwDim::Register)] = registers.bases(HwDim::Register);
  copy_if(registers.repeats(), std::back_inserter(spec.repeats),
          [](const Repeat &r) { return r.hw == HwDim::Register; });
  for (HwDim hw : {HwDim::Lane, HwDim::Warp}) {
    spec.bases[unsigned(hw)] = source.bases(hw);
    copy_if(source.repeats(), std::back_inserter(spec.repeats),
            [hw](const Repeat &r) { return r.hw == hw; });
  }
  for (int64_t dim : dims) {
    countThreads(spec, unsigned(dim));
  }
  return RegisterLayout::get(std::move(spec));
}

Answer<PartialReduction> planPartialReduction(const RegisterLayout &source, ArrayRef<int64_t> dims,
                                              Combine combine) {
  PartialReduction whole;
  Partial partial{combine, 0, 1};
  RegisterLayout left = source;
  for (int64_t dim : reverse(dims)) {
    Answer<ReductionPlan> plan = planReduction(left, unsigned(dim));
    if (!plan) {
      return Refusal{plan.reason()};
    }
    std::optional<uint32_t> offsets = sums(partial.warpOffsets, plan->warpOffsets);
    if (!offsets) {
      return Refusal{"the warps that share an element are not an offset from each other"};
    }
    partial.laneMask |= plan->laneMask;
    partial.warpOffsets = *offsets;
    whole.steps.push_back({left, unsigned(dim), *plan});
    left = plan->result;
  }
  Answer<RegisterLayout> parts = partsOf(source, left, dims);
  if (!parts) {
    return Refusal{parts.reason()};
  }
  whole.parts = *parts;
  const bool isPartial = partial.laneMask != 0 || partial.warpOffsets != 1;
  whole.result = isPartial ? left.withPartial(partial) : left;
  return whole;
}

} // namespace tilec::layout
