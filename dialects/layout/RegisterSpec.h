// What a register layout is made of, to make another one from, and vectors of coordinates.
#pragma once

#include "dialects/layout/RegisterLayout.h"

#include "llvm/ADT/STLExtras.h"

namespace tilec::layout {

/// RegisterLayout::get() of it is `layout` again.
inline RegisterLayout::Spec specOf(const RegisterLayout &layout) {
  RegisterLayout::Spec spec;
  spec.shape.assign(layout.shape().begin(), layout.shape().end());
  for (HwDim hw : {HwDim::Register, HwDim::Lane, HwDim::Warp}) {
    spec.bases[unsigned(hw)] = layout.bases(hw);
  }
  spec.repeats.assign(layout.repeats().begin(), layout.repeats().end());
  spec.firstWarp = layout.firstWarp();
  spec.partial = layout.partial();
  return spec;
}

inline bool isZero(const Coords &v) {
  return llvm::all_of(v, [](int64_t x) { return x == 0; });
}

inline void xorInto(Coords &v, const Coords &w) {
  for (size_t d = 0; d < v.size(); ++d) {
    v[d] ^= w[d];
  }
}

} // namespace tilec::layout
