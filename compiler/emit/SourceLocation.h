// Locations of MLIR as places of the sources.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "mlir/IR/Location.h"

#include <string>

namespace tilec {

/// File, line and column of an MLIR location, the first that it holds; zeros if it holds none.
struct SourcePlace {
  std::string file; ///< as the compiler's messages name it, but never with an absolute path
  unsigned line = 0, column = 0;
};
SourcePlace sourcePlace(mlir::Location location);

/// The place in the engine's sources that an MLIR location names; no place (an invalid range) if it
/// names none: of fused and named locations the first part, of call sites the callee.
llvm::SMRange sourceRange(mlir::Location location, const DiagnosticEngine &diags);

} // namespace tilec
