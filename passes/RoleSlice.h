//===- RoleSlice.h - part of a kernel as the program of a role -*- C++ -*-===//
//
// A role runs some of a kernel's operations, and what these need: backwards from them, the operations that compute their
// operands, and the loops and branches around; of what those carry only what is needed. Since control flow is cloned with all
// that decides it, copies of a loop or branch go the same way in all roles.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_ROLESLICE_H
#define TILEC_PASSES_ROLESLICE_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include <functional>

namespace tilec {

/// What a role needs of a kernel.
class RoleSlice {
public:
  virtual ~RoleSlice() = default;
  bool needs(mlir::Operation *op) const { return ops.contains(op); }
  bool needs(mlir::Value value) const { return values.contains(value); }
  /// Why the role cannot have what it needs; empty if it can.
  llvm::StringRef refusal() const { return reason; }

protected:
  explicit RoleSlice(tgpu::KernelOp kernel) : kernel(kernel) {}
  RoleSlice(const RoleSlice &) = default;
  RoleSlice &operator=(const RoleSlice &) = default;

  void refuse(llvm::StringRef why) { reason = reason.empty() ? why : llvm::StringRef(reason); }
  /// `op`, and the control flow around it.
  void needOp(mlir::Operation *op);
  void needValue(mlir::Value value);
  /// `op` and all values that it uses, in its regions, too.
  void needWhole(mlir::Operation *op);
  /// The operation that computes a value, no control flow: needs it, with its operands, or refuses.
  virtual void needDefinition(mlir::Operation *definition) = 0;
  /// Why nothing in the region of `op`, no control flow, can be in the role; empty if it can.
  virtual llvm::StringRef refuseRegion(mlir::Operation *op) const = 0;

  tgpu::KernelOp kernel;

private:
  void needCarried(mlir::scf::ForOp loop, unsigned number);
  void needPassed(mlir::scf::WhileOp loop, unsigned number);
  void needTested(mlir::scf::WhileOp loop, unsigned number);

  llvm::DenseSet<mlir::Operation *> ops; ///< looked up only
  llvm::DenseSet<mlir::Value> values;    ///< looked up only
  std::string reason;
};

/// The program of a role: what its slice needs of a block, and so on inside.
class RoleProgram {
public:
  /// `placed` sees each operation that has been cloned, no control flow, and its copy.
  RoleProgram(const RoleSlice &slice,
              std::function<void(mlir::Operation *from, mlir::Operation *copy)> placed)
      : slice(slice), placed(std::move(placed)) {}

  void clone(llvm::iterator_range<mlir::Block::iterator> from, mlir::OpBuilder &builder);
  /// What stands for `value` in the program.
  mlir::Value lookup(mlir::Value value) const { return mapping.lookupOrDefault(value); }

private:
  void clone(mlir::Operation &op, mlir::OpBuilder &builder);
  void cloneLoop(mlir::scf::ForOp loop, mlir::OpBuilder &builder);
  void cloneWhile(mlir::scf::WhileOp loop, mlir::OpBuilder &builder);
  void cloneBranch(mlir::scf::IfOp branch, mlir::OpBuilder &builder);
  llvm::SmallVector<mlir::Value> kept(mlir::ValueRange from, mlir::ValueRange results);
  void bind(mlir::ValueRange from, mlir::ValueRange to);

  const RoleSlice &slice;
  std::function<void(mlir::Operation *, mlir::Operation *)> placed;
  mlir::IRMapping mapping;
};

} // namespace tilec

#endif // TILEC_PASSES_ROLESLICE_H
