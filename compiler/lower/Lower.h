// From the typed program to the tile dialect.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilec {

class DiagnosticEngine;

namespace sema {
class Program;
} // namespace sema

/// Makes a module with one `tile.kernel` for each kernel instance of `program`, in their order,
/// named by its symbol. Loads the dialects that it uses into `context`. Scalar functions and `tile
/// fn`s are inlined; no `func` operation remains. Locations are lines and columns of the sources
/// that `diagnostics` knows; inlined code has the call around it (CallSiteLoc).
///
/// The program is complete and checked, so the only errors are of what is not supported yet
/// ([not-supported]), reported at their place; then, and if the module does not verify (reported as
/// [internal]), the result is null.
mlir::OwningOpRef<mlir::ModuleOp> lowerToTile(const sema::Program &program,
                                              mlir::MLIRContext &context,
                                              DiagnosticEngine &diagnostics);

} // namespace tilec
