// What MLIR reports becomes diagnostics of ours.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "mlir/IR/Diagnostics.h"

namespace tilec {

/// While it lives, errors, warnings and remarks of a context go to the engine, at their places in
/// the sources. A text that ends in ` [name]` is the diagnostic of that name; an error without one
/// is an internal error, as passes name what users can do something about. Remarks are dropped
/// unless `remarks`.
class IrDiagnostics {
public:
  IrDiagnostics(mlir::MLIRContext &context, DiagnosticEngine &diags, bool remarks);

private:
  void handle(mlir::Diagnostic &diagnostic);

  DiagnosticEngine &diags;
  bool remarks;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tilec
