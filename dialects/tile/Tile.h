//===- Tile.h - the tile dialect ------------------------------*- C++ -*-===//
//
// What a program says: see TileDialect.td for the model, TileOps.td for each operation.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_DIALECTS_TILE_TILE_H
#define TILEC_DIALECTS_TILE_TILE_H

#include "dialects/tile/Facts.h"
#include "dialects/tile/FailureRecord.h"
#include "dialects/tile/PrintBuffer.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

// clang-format off: generated headers follow what they use.
#include "dialects/tile/TileDialect.h.inc"
#include "dialects/tile/TileEnums.h.inc"
// clang-format on

#define GET_ATTRDEF_CLASSES
#include "dialects/tile/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/tile/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/tile/TileOps.h.inc"

namespace tilec::tile {

/// A fact of accesses of elements of global memory, and of atomic operations: how caches keep what
/// they access. Copies have an attribute of their own for it.
inline constexpr Fact<CacheHintAttr> kCache{"tile.cache"};
/// What the fact says; None without it.
CacheHint getCacheHint(mlir::Operation *op);
/// Makes `op` say what `from` says.
void copyCacheHint(mlir::Operation *from, mlir::Operation *op);

/// Checks what a launch or its kernel asks for against what every target can do (dialects/support/LaunchLimits.h); an error at `op`.
llvm::LogicalResult verifyLaunchLimits(mlir::Operation *op,
                                       std::optional<llvm::ArrayRef<int32_t>> cluster,
                                       std::optional<uint32_t> minBlocks,
                                       std::optional<uint32_t> maxRegisters);

/// Bits that one element takes in memory: `i1` a byte, `i4` and `f4E2M1FN` half a byte.
unsigned getStorageBits(mlir::Type elementType);
/// True for elements of which memory holds two in a byte.
inline bool isPacked(mlir::Type elementType) { return getStorageBits(elementType) == 4; }

/// True where `divisor` is a constant, of all elements if it is a tile, by which any number can be
/// divided without overflow: neither 0 nor, with sign, -1.
bool isSafeDivisor(mlir::Value divisor, bool isUnsigned);
/// True where `count` is a constant below the width of its type.
bool isSafeShift(mlir::Value count);

/// x / y, x % y and x >> count: operations of `arith` where the second operand is a constant with
/// which they are defined for every x, else `tile.div`, `tile.rem` and `tile.shr`.
mlir::Value createDiv(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y,
                      Rounding rounding, bool isUnsigned);
mlir::Value createRem(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y,
                      Rounding rounding, bool isUnsigned);
mlir::Value createShr(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value count,
                      bool isUnsigned);

} // namespace tilec::tile

#endif // TILEC_DIALECTS_TILE_TILE_H
