//===- SliceOperations.h - programs of roles by operation ------*- C++ -*-===//
#ifndef TILEC_PASSES_SLICEOPERATIONS_H
#define TILEC_PASSES_SLICEOPERATIONS_H

#include "dialects/support/Target.h"
#include "dialects/tgpu/Tgpu.h"

namespace tilec {

/// Makes `tgpu.roles` of a kernel whose operations tgpu-plan-roles has given to roles: each has one warpgroup, the first
/// the first one of the block. An error, at what is in the way, where a role cannot have what it needs.
llvm::LogicalResult sliceOperations(tgpu::KernelOp kernel, const Target &target);

} // namespace tilec

#endif // TILEC_PASSES_SLICEOPERATIONS_H
