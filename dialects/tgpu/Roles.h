//===- Roles.h - facts of kernels whose warps get roles --------*- C++ -*-===//
#ifndef TILEC_DIALECTS_TGPU_ROLES_H
#define TILEC_DIALECTS_TGPU_ROLES_H

#include "dialects/tile/Facts.h"

namespace tilec::tgpu {

/// On an operation of a kernel whose warps share its work by operation: the number of the role that does it, i32 from 0.
/// Written by tgpu-plan-roles, and by passes that add synchronisation for a role; tgpu-slice-roles takes it away.
inline constexpr Fact<mlir::IntegerAttr> kRole{"tgpu.role"};
/// On a `tgpu.alloc_shared`: one role writes all of it once in each execution of a block, and others read it behind that.
inline constexpr Fact<mlir::UnitAttr> kHandOver{"tgpu.hand_over"};

/// On a `tgpu.alloc_shared` with an offset: that of the first team's buffer; the others have theirs `team_bytes` of the roles apart.
/// Written by tgpu-allocate-shared.
inline constexpr Fact<mlir::UnitAttr> kOfEachTeam{"tgpu.of_each_team"};

} // namespace tilec::tgpu

#endif // TILEC_DIALECTS_TGPU_ROLES_H
