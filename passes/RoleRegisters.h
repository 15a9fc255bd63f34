//===- RoleRegisters.h - registers of warps that load and that compute -*- C++ -*-===//
#ifndef TILEC_PASSES_ROLEREGISTERS_H
#define TILEC_PASSES_ROLEREGISTERS_H

#include "dialects/support/Target.h"
#include "dialects/tgpu/Tgpu.h"
#include "passes/RoleMap.h"

namespace tilec {

/// Threads of the load role: setmaxnreg is for whole warpgroups.
inline constexpr int64_t kLoadThreads = 128;

/// Warps of a role of those that share a kernel's work by operation: one warpgroup.
inline constexpr int64_t kRoleWarps = 4;

/// Registers of the threads of both roles, 0: as many as at entry; and how many blocks a multiprocessor has room
/// for, of those that ptxas is to aim at.
struct RoleRegisters {
  int64_t load = 0, compute = 0, blocks = 1;
};

/// The most registers that a thread can have of one of the kernel's threads that compute, where it asks for warps that load, which
/// give up theirs; else of all its threads.
int64_t mostRegisters(tgpu::KernelOp kernel, const Target &target);

/// Shares the registers of a block with a load role; nothing where it has too few. The kernel's threads are those
/// of one of the `teams` that compute.
std::optional<RoleRegisters> shareRegisters(tgpu::KernelOp kernel, int64_t teams,
                                            const Target &target);

/// Registers of the threads of each role that shares a kernel's work by operation, 0: as many as at entry; nothing where
/// the block has too few. `fragments`: what those of each role take of a thread at one time; `sum`: what the largest sum of one
/// instruction takes.
std::optional<llvm::SmallVector<int64_t>> shareRegisters(tgpu::KernelOp kernel,
                                                         llvm::ArrayRef<int64_t> fragments,
                                                         int64_t sum, const Target &target);
std::optional<llvm::SmallVector<int64_t>>
shareRegisters(tgpu::KernelOp kernel, const RoleMap &roles, const Target &target);

} // namespace tilec

#endif // TILEC_PASSES_ROLEREGISTERS_H
