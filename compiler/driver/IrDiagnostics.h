// What MLIR reports becomes diagnostics of ours.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/driver/KernelSubjects.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <memory>
#include <string>

namespace tilec {

/// While it lives, errors, warnings and remarks of a context go to the engine, at their places in
/// the sources. A text that ends in ` [name]` is the diagnostic of that name; an error without one
/// is an internal error, as passes name what users can do something about. Remarks are dropped
/// unless `remarks`; what they are about is looked up in `subjects`. Of errors with one name and place the first is kept: variants of a kernel have
/// the same faults.
class IrDiagnostics {
public:
  IrDiagnostics(mlir::MLIRContext &context, DiagnosticEngine &diags, const KernelSubjects &subjects,
                bool remarks);

  /// For a pass manager whose remarks are to say which kernel they are about. Must not outlive this.
  std::unique_ptr<mlir::PassInstrumentation> trackKernels();

private:
  class Tracker;

  void handle(mlir::Diagnostic &diagnostic);

  Subject subjectOf(mlir::Diagnostic &diagnostic) const;

  DiagnosticEngine &diags;
  const KernelSubjects &subjects;
  bool remarks;
  mlir::Operation *current = nullptr; // what a pass works on
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tilec
