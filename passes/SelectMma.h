//===- SelectMma.h - instructions of matrix products -----------*- C++ -*-===//
#ifndef TILEC_PASSES_SELECTMMA_H
#define TILEC_PASSES_SELECTMMA_H

#include "dialects/support/Target.h"
#include "dialects/tgpu/Tgpu.h"

namespace tilec {

/// An instruction; null with the reason why there is none.
struct MmaChoice {
  tgpu::MmaAttr mma;
  std::string refusal;
};

/// How `warps` warps share a product by wgmma.
MmaChoice selectWgmma(tgpu::DotOp dot, const Target &target, int64_t warps);

} // namespace tilec

#endif // TILEC_PASSES_SELECTMMA_H
