//===- LayoutAssignment.h - which fragment gets which layout ---*- C++ -*-===//
#ifndef TILEC_PASSES_LAYOUTASSIGNMENT_H
#define TILEC_PASSES_LAYOUTASSIGNMENT_H

#include "passes/TransposedAccess.h"

#include "llvm/ADT/MapVector.h"

#include <deque>

namespace tilec {

/// A fragment that has this layout before others spread to it.
using LayoutPin = std::pair<mlir::Value, layout::RegisterLayout>;

/// True for what each thread has in any layout without an operation on others: a splat, coordinates.
bool isFree(mlir::Value value);

/// Layouts for the fragments of a kernel, which stays as it is; of its constants none is a tile.
class LayoutAssignment {
public:
  LayoutAssignment(tgpu::KernelOp kernel, int64_t warps);

  /// From nothing. A trial reports no errors.
  llvm::LogicalResult run(llvm::ArrayRef<LayoutPin> pins, bool isTrial);

  /// Whether errors are reported, of demands too; a run decides that anew.
  void setQuiet(bool isQuiet) { quiet = isQuiet; }

  const llvm::MapVector<mlir::Value, layout::RegisterLayout> &all() const { return layouts; }
  /// The layout of a fragment that is not free.
  const layout::RegisterLayout &of(mlir::Value value) const;
  /// True if what a product or an index tile demands has reached it: its layout was not chosen for an
  /// access of global memory.
  bool isDemanded(mlir::Value value) const;

  using See = llvm::function_ref<void(mlir::OpOperand &, const layout::RegisterLayout &)>;
  /// Each fragment among the operands of `op` for which it needs a certain layout, and which. What flows
  /// through control flow needs that of the place that it flows to.
  llvm::LogicalResult forEachDemand(mlir::Operation *op, See see);

private:
  llvm::LogicalResult addAnchors();
  llvm::LogicalResult addGatherAnchors();
  void addOperandAnchors();
  void addTransposeAnchors();
  void assign(mlir::Value value, const layout::RegisterLayout &layout);
  void assignAll(mlir::ValueRange values, const layout::RegisterLayout &layout);
  void spread();
  void spreadFrom(mlir::Value value);
  void spreadAcross(mlir::Operation *op, mlir::Value from);
  llvm::LogicalResult chooseFree();
  mlir::FailureOr<layout::RegisterLayout> freeLayout(mlir::Value value) const;
  mlir::FailureOr<std::optional<layout::RegisterLayout>> commonLayout(mlir::Operation *op) const;
  llvm::LogicalResult seeInputs(tile::ReduceWithOp reduce, See see);
  llvm::LogicalResult tooLarge(mlir::Value value, llvm::StringRef reason) const;
  llvm::LogicalResult complain(mlir::Operation *op, const llvm::Twine &text) const;

  tgpu::KernelOp kernel;
  int64_t warps;
  bool quiet = false;
  size_t demanded = 0; // the first of `layouts` are demanded
  llvm::MapVector<mlir::Value, layout::RegisterLayout> layouts;
  LayoutTies tied; // looked up by value, never iterated
  llvm::DenseSet<mlir::Operation *>
      turns; // transposes between layouts that do not follow from each other
  std::deque<mlir::Value> work;
};

} // namespace tilec

#endif // TILEC_PASSES_LAYOUTASSIGNMENT_H
