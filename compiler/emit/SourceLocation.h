// Locations of MLIR as places of the sources.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "mlir/IR/Location.h"

namespace tilec {

/// The place in the engine's sources that an MLIR location names; no place (an invalid range) if it
/// names none: of fused and named locations the first part, of call sites the callee.
llvm::SMRange sourceRange(mlir::Location location, const DiagnosticEngine &diags);

} // namespace tilec
