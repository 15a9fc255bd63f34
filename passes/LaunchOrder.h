// What a kernel's launches are called, which of a call may overlap, and what the earlier ones may write meanwhile.
#pragma once

#include "dialects/tgpu/Tgpu.h"

#include <string>

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

/// The name of a kernel's launch of this number, from 0: `k_0` of `k`, with more behind it where another kernel's name begins so,
/// for its code for rows like these is `k_0_aligned`.
std::string nameOfLaunch(tile::KernelOp host, size_t number);

} // namespace tilec
