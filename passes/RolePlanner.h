//===- RolePlanner.h - which role does which operation ---------*- C++ -*-===//
//
// See PlanRoles.cpp for the rules. RoleRefusals.cpp says what has no roles.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_ROLEPLANNER_H
#define TILEC_PASSES_ROLEPLANNER_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/RoleMap.h"
#include "passes/RoleRegisters.h"

#include "llvm/ADT/IntEqClasses.h"

namespace tilec {

inline constexpr int64_t kRoleThreads = 32 * kRoleWarps;

/// Bits of a tile's elements.
int64_t bitsOf(mlir::Value tile);
/// Tiles that an operation takes: operands, and what its regions use.
llvm::SmallVector<mlir::Value> takenBy(mlir::Operation *op);

class RolePlanner {
public:
  RolePlanner(tgpu::KernelOp kernel, const Target &target) : kernel(kernel), target(target) {}

  /// Plans the kernel; or says why not, and changes nothing that counts.
  std::string run();

private:
  using Operations = llvm::SetVector<mlir::Operation *>;

  std::string findLoop();
  std::string refuseOperations();
  std::string refuseCopy(tgpu::CopyOp copy);
  std::string findRecurrences();
  Operations aheadOf(mlir::Value argument);
  Operations behind(mlir::Value next);
  void joinCarried();
  void assign();
  void assignLate(mlir::Operation *op);
  std::optional<int64_t> roleOf(mlir::Value tile);
  int64_t roleOfUse(mlir::OpOperand &use);
  llvm::SmallVector<int64_t> rolesOfUses(mlir::Value tile);
  std::string findCrossings();
  std::string refuseProducts();
  std::string refuseNumbers();
  std::string refuseStores();
  std::string refuseRegisters();
  std::string refuseShared();
  void handOver(mlir::Value tile);
  void useInRole(mlir::Value tile, mlir::Value buffer, int64_t role);
  void write();

  tgpu::KernelOp kernel;
  const Target &target;
  mlir::scf::ForOp loop;
  int64_t roles = 1;
  llvm::SmallVector<mlir::Operation *>
      ops; ///< of tiles, no control flow, in the order of the program
  llvm::SmallVector<mlir::Operation *> copies;          ///< of some of these, for other roles
  llvm::DenseMap<mlir::Operation *, int64_t> owners;    ///< of these; looked up only
  llvm::DenseMap<mlir::Value, unsigned> carriedNumbers; ///< of what loops and branches hand on
  llvm::IntEqClasses carried;
  llvm::DenseMap<unsigned, int64_t> carriedRoles; ///< of these classes
  llvm::SmallVector<std::pair<Operations, llvm::SmallVector<unsigned>>, 0>
      recurrences; ///< with arguments of the loop
  llvm::SetVector<mlir::Value> crossing;
};

} // namespace tilec

#endif // TILEC_PASSES_ROLEPLANNER_H
