// What a register layout is made of, to make another one from.
#pragma once

#include "dialects/layout/RegisterLayout.h"

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

} // namespace tilec::layout
