//===- FragmentSteps.h - taking operations on fragments apart --*- C++ -*-===//
//
// What the passes share that replace an operation on whole fragments by steps.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_FRAGMENTSTEPS_H
#define TILEC_PASSES_FRAGMENTSTEPS_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/IR/Builders.h"

namespace tilec {

/// An error [not-supported] at `op` for the target of its kernel; `what` is a noun.
llvm::LogicalResult emitUnsupported(mlir::Operation *op, const llvm::Twine &what);

/// Steps in front of an operation.
class FragmentSteps {
protected:
  explicit FragmentSteps(mlir::Operation *op) : op(op), builder(op) {}

  /// The layout of a fragment that has one.
  static const layout::RegisterLayout &layoutOf(mlir::Value fragment);
  /// A fragment or scalar with floats of this type for elements; itself if it has.
  mlir::Value converted(mlir::Value value, mlir::Type element);
  /// A fragment in this layout; itself if it is.
  mlir::Value inLayout(mlir::Value fragment, const layout::RegisterLayout &layout);
  llvm::LogicalResult unsupported(const llvm::Twine &what) { return emitUnsupported(op, what); }

  mlir::Operation *op;
  mlir::OpBuilder builder;
};

} // namespace tilec

#endif // TILEC_PASSES_FRAGMENTSTEPS_H
