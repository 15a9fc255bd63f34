//===- CompleteReductions.h - what is combined in each iteration -*- C++ -*-===//
//
// Why a loop combines a reduction completely in each iteration, where a reader might expect that it
// carries partial values of it: for tgpu-defer-reductions, which makes them.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_COMPLETEREDUCTIONS_H
#define TILEC_PASSES_COMPLETEREDUCTIONS_H

#include "dialects/tgpu/Tgpu.h"

#include <string>

namespace tilec {

/// What a loop carries at one place, and everything whose type is that of its values.
struct CarriedValue {
  mlir::Operation *loop = nullptr;
  mlir::OpOperand *init = nullptr;
  mlir::SmallVector<mlir::Value, 3>
      places;                      // block arguments that it passes through, and the loop's result
  mlir::Value first;               // the one that the body begins with
  mlir::OpOperand *next = nullptr; // where the body hands it on
  bool isReadByCondition = false;  // of a `while`

  mlir::Value result() const { return places.back(); }
};

/// The kind of an operation of two operands that combines them, and whether it reads integers without sign.
struct Combination {
  tile::CombineKind kind;
  bool isUnsigned = false;
};
std::optional<Combination> combinationOf(mlir::Operation *op);
/// Whether `reduce` combines as `how` does.
bool combinesAs(tile::ReduceOp reduce, const Combination &how);

/// Why parts of such values may not be kept; empty where they may.
std::string refuseParts(tile::CombineKind kind, mlir::Type element);

/// The dimensions along which a tile is reduced: all of them without an axis.
mlir::SmallVector<int64_t> reducedAxes(mlir::Value tile, std::optional<uint64_t> axis);

/// A remark where `carried`, which stays complete, is combined with a reduction of the loop, and the two could be
/// partial by their kind. `reason` is that of the parts; without one it is what else happens to the value.
void remarkComplete(const CarriedValue &carried, std::string reason);

/// The same where a function of the program's own combines what one loop carries.
void remarkOwnCombines(mlir::ArrayRef<CarriedValue> carried);

} // namespace tilec

#endif // TILEC_PASSES_COMPLETEREDUCTIONS_H
