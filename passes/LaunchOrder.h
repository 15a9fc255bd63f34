// Which launches of a call may overlap, and what the earlier ones may write meanwhile.
#pragma once

#include "dialects/tgpu/Tgpu.h"

namespace tilec {

/// A launch of the host code and what runs on the device.
struct OutlinedLaunch {
  tgpu::LaunchOp launch;
  tgpu::KernelOp kernel;
  bool mayOverlap; ///< it may begin before those before it have ended
};

/// Says of each kernel whether it `precedes` and `follows` others, and which of its arguments are written before; `launches`
/// are those of `host` in their order.
void noteOverlap(tile::KernelOp host, llvm::ArrayRef<OutlinedLaunch> launches);

} // namespace tilec
