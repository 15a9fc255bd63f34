//===- Tgpu.h - the tgpu dialect ------------------------------*- C++ -*-===//
//
// What a GPU does with tiles: see TgpuDialect.td for the model, TgpuOps.td for each operation.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_DIALECTS_TGPU_TGPU_H
#define TILEC_DIALECTS_TGPU_TGPU_H

#include "dialects/layout/RegisterLayout.h"
#include "dialects/layout/SharedLayout.h"
#include "dialects/tgpu/TgpuDialect.h.inc"
#include "dialects/tgpu/TgpuEnums.h.inc"
#include "dialects/tile/Tile.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_ATTRDEF_CLASSES
#include "dialects/tgpu/TgpuAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/tgpu/TgpuTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/tgpu/TgpuOps.h.inc"

namespace tilec::tgpu {

/// Discardable attribute that holds an operation's place (StageAttr) in the schedule of its loop.
inline constexpr llvm::StringLiteral kScheduleAttr = "tgpu.schedule";
/// Argument attribute of a kernel: the value is a multiple of this (i64).
inline constexpr llvm::StringLiteral kDivisibleAttr = "tgpu.divisible";
/// Argument attribute of a kernel: alignment of an address in bytes (i64).
inline constexpr llvm::StringLiteral kAlignAttr = "tgpu.align";
/// Argument attribute of a kernel (unit): a workspace of which an extent may be 0 in a call that
/// launches the kernel all the same.
inline constexpr llvm::StringLiteral kMayBeEmptyAttr = "tgpu.may_be_empty";

/// Discardable attribute (DenseBoolArrayAttr) of accesses of global memory: dimensions of the slice
/// that cannot be out of range.
inline constexpr llvm::StringLiteral kInBoundsAttr = "tgpu.in_bounds";

/// Layout of a fragment type; nullptr when it has none yet.
const layout::RegisterLayout *getLayout(mlir::Type fragment);
/// The tensor type with `layout` as encoding.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  const layout::RegisterLayout &layout);
/// Layout of a buffer type; nullptr when it has none yet.
const layout::SharedLayout *getLayout(SmemType buffer);

} // namespace tilec::tgpu

#endif // TILEC_DIALECTS_TGPU_TGPU_H
