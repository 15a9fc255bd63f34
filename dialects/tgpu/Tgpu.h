//===- Tgpu.h - the tgpu dialect ------------------------------*- C++ -*-===//
//
// What a GPU does with tiles: see TgpuDialect.td for the model, TgpuOps.td for each operation.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_DIALECTS_TGPU_TGPU_H
#define TILEC_DIALECTS_TGPU_TGPU_H

#include "dialects/layout/ConversionPlans.h"
#include "dialects/layout/MatrixProduct.h"
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
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_ATTRDEF_CLASSES
#include "dialects/tgpu/TgpuAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/tgpu/TgpuTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/tgpu/TgpuOps.h.inc"

namespace tilec::tgpu {

/// Facts of operations (dialects/tile/Facts.h). On an operation of a pipelined loop: its place in
/// the schedule.
inline constexpr Fact<StageAttr> kSchedule{"tgpu.schedule"};
/// On a pipelined `scf.for`: it has a schedule; how its copies move, and the stages that it gets.
inline constexpr Fact<PipelineAttr> kPipeline{"tgpu.pipeline"};
/// On an access of global memory: dimensions of the slice that cannot be out of range.
inline constexpr Fact<mlir::DenseBoolArrayAttr> kInBounds{"tgpu.in_bounds"};
/// On an `arith.mulf` of tiles: whether a warp that has only ones in the operand of fewer values skips it.
inline constexpr Fact<mlir::BoolAttr> kUnderVote{"tgpu.under_vote"};
/// On an access of neighbours in global memory by a thread (`tile.load`, `tile.store`): bytes that
/// one instruction may move, i32, a power of two up to 16.
inline constexpr Fact<mlir::IntegerAttr> kAccessBytes{"tgpu.access_bytes"};
/// On a `tgpu.tma_load`: its threads have read the slot last themselves, and the data flow says
/// that all others have, so that no empty barrier is acquired.
inline constexpr Fact<mlir::UnitAttr> kRefill{"tgpu.refill"};

/// Facts of a kernel's arguments. The value is a multiple of this, i64 >= 1.
inline constexpr Fact<mlir::IntegerAttr> kDivisible{"tgpu.divisible"};
/// The least and the greatest value that the host passes, read with sign: two i64.
inline constexpr Fact<mlir::DenseI64ArrayAttr> kRange{"tgpu.range"};
/// Alignment of an address in bytes, i64, a power of two.
inline constexpr Fact<mlir::IntegerAttr> kAlign{"tgpu.align"};
/// A workspace of which an extent may be 0 in a call that launches the kernel all the same.
inline constexpr Fact<mlir::UnitAttr> kMayBeEmpty{"tgpu.may_be_empty"};
/// The workspace of one i32, 0 at first, that counts the grid points which blocks of a persistent kernel have
/// taken beyond their first ones.
inline constexpr Fact<mlir::UnitAttr> kPointCounter{"tgpu.point_counter"};

/// Memory that an earlier launch of the same call may write: while that one runs, this one may have begun.
inline constexpr Fact<mlir::UnitAttr> kWrittenBefore{"tgpu.written_before"};

/// True if the call may pass one tensor for both: an argument admits it (`tile.may_alias`), or they
/// are the same argument. Tensors of a kernel, workspaces too, overlap in no other way
/// (docs/language.md section 6).
bool mayAlias(mlir::BlockArgument a, mlir::BlockArgument b);
/// True if some other argument of its kernel may be the same tensor.
bool mayAliasAny(mlir::BlockArgument argument);
/// The kernel argument that a region of global memory is part of; null if it is not known.
mlir::BlockArgument getBase(mlir::Value global);

/// True if the kernel records errors of the program (`tile.verify`): then it has two more
/// parameters, after its tensor maps: the address of the record and the number of its first place
/// there.
bool hasChecks(KernelOp kernel);
/// True if the kernel prints: then two more follow, the address of the buffer of messages and the
/// number of its first print there.
bool hasPrints(KernelOp kernel);

/// True if the operation, or one inside of it, may access global memory: tensors, workspaces, the record of
/// failed checks, the buffer of messages.
bool accessesGlobal(mlir::Operation *op);
/// True if every thread of the kernel waits for the launches before it (`tgpu.wait_for_launches`).
bool waitsForLaunches(KernelOp kernel);
/// True if the kernel lets the launch behind it begin (`tgpu.launch_dependents`).
bool letsLaunchesBegin(KernelOp kernel);

/// True for an operation whose region is scalar code over elements of its operands, that runs many
/// times in each thread: a map, or a combination by a function.
bool hasElementBody(mlir::Operation *op);

/// Refuses an operation of the kernel that takes partial values for complete ones: all but those made
/// for them, and control flow.
llvm::LogicalResult verifyPartialUses(KernelOp kernel);

/// True for an element-wise operation on fragments that is code for one slot at a time: those that a
/// `tgpu.stream` may have in its body.
bool isSlotwise(mlir::Operation *op);

/// The events of a stream, in its assembly format.
llvm::ParseResult parseStreamEvents(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &percents,
                                    llvm::SmallVectorImpl<std::unique_ptr<mlir::Region>> &events);
void printStreamEvents(mlir::OpAsmPrinter &printer, StreamOp stream,
                       mlir::DenseI64ArrayAttr percents,
                       llvm::MutableArrayRef<mlir::Region> events);

/// Ends a region of the tile dialect that combines as one of an operation of this one.
void endCombine(mlir::Region &region);

/// Layout of a fragment type; nullptr when it has none yet.
const layout::RegisterLayout *getLayout(mlir::Type fragment);
/// The tensor type with `layout` as encoding.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  const layout::RegisterLayout &layout);
/// How `warps` warps, from number `firstWarp` on, share a copy between global memory and a buffer of
/// this shape, in accesses of `bytes`.
layout::Answer<layout::RegisterLayout> copyLayout(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                                                  int64_t bytes, int64_t warps,
                                                  int64_t firstWarp = 0);
/// How fragments of elements of `elementBits` get from one layout to another
/// (layout::planConversion); the dialect keeps the plans.
layout::Answer<layout::Conversion> planConversion(mlir::MLIRContext *context,
                                                  const layout::RegisterLayout &from,
                                                  const layout::RegisterLayout &to,
                                                  unsigned elementBits);
/// The conversion that an operation is, if it goes through shared memory; nothing if it does not or
/// has no layouts yet.
std::optional<layout::Conversion> getExchange(ConvertLayoutOp convert);
/// Layout of a buffer type; nullptr when it has none yet.
const layout::SharedLayout *getLayout(SmemType buffer);

/// The operand type of a matrix instruction for elements of `element`: f16, bf16, tf32 for f32,
/// 8-bit integers or floats.
layout::MmaType mmaTypeOf(mlir::Type element);
/// How warps share a product [m, k] x [k, n] of elements of type `operand`; refused for scalar
/// multiply-adds.
layout::Answer<layout::MatrixProduct> matrixProduct(MmaAttr mma, mlir::Type operand, int64_t m,
                                                    int64_t n, int64_t k);

} // namespace tilec::tgpu

#endif // TILEC_DIALECTS_TGPU_TGPU_H
