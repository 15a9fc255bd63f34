// What a call on the cpu target is checked and planned by.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/src/Manifest.h"

#include <optional>

namespace tilec {

/// The kernels of a module in the tile dialect, with host parts as manifests for GPUs have them, so that a call that is wrong
/// is refused in the same words here as there. A kernel that no GPU takes, because its host part or what its launches use cannot
/// be told apart from the rest, has none: there the code of the cpu target finds what is wrong. Problems are reported, and
/// nothing returned.
std::optional<tile_rt::Manifest> manifestForCpu(mlir::ModuleOp module, DiagnosticEngine &diags);

inline bool hasHostParts(const tile_rt::Manifest &manifest) { return !manifest.modules.empty(); }

} // namespace tilec
