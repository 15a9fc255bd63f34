#include "compiler/driver/IrDiagnostics.h"

#include "compiler/emit/SourceLocation.h"
#include "dialects/tgpu/Tgpu.h"
#include "dialects/tile/Remark.h"
#include "dialects/tile/Tile.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tilec {

IrDiagnostics::IrDiagnostics(MLIRContext &context, DiagnosticEngine &diags,
                             const KernelSubjects &subjects, bool remarks)
    : diags(diags), subjects(subjects), remarks(remarks),
      handler(&context, [this](mlir::Diagnostic &diagnostic) { handle(diagnostic); }) {}

/// The entry that a diagnostic without a known name is reported as.
static diag::Id unnamed(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Remark:
  case DiagnosticSeverity::Note:
    return diag::Id::Remark;
  case DiagnosticSeverity::Warning:
    return diag::Id::ToolWarning;
  case DiagnosticSeverity::Error:
    return diag::Id::InternalError;
  }
  llvm_unreachable("a severity that MLIR does not have");
}

static diag::Severity translate(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Remark:
  case DiagnosticSeverity::Note:
    return diag::Severity::Remark;
  case DiagnosticSeverity::Warning:
    return diag::Severity::Warning;
  case DiagnosticSeverity::Error:
    return diag::Severity::Error;
  }
  llvm_unreachable("a severity that MLIR does not have");
}

/// Tells the diagnostics what a pass works on.
class IrDiagnostics::Tracker : public PassInstrumentation {
public:
  explicit Tracker(IrDiagnostics &diagnostics) : diagnostics(diagnostics) {}

  void runBeforePass(Pass *, Operation *op) override { diagnostics.current = op; }
  void runAfterPass(Pass *, Operation *) override { diagnostics.current = nullptr; }
  void runAfterPassFailed(Pass *, Operation *) override { diagnostics.current = nullptr; }

private:
  IrDiagnostics &diagnostics;
};

std::unique_ptr<PassInstrumentation> IrDiagnostics::trackKernels() {
  return std::make_unique<Tracker>(*this);
}

Subject IrDiagnostics::subjectOf(mlir::Diagnostic &diagnostic) const {
  if (llvm::StringRef name = tile::remarkedKernel(diagnostic); !name.empty()) {
    return subjects.named(name, dyn_cast_or_null<ModuleOp>(current));
  }
  if (auto host = dyn_cast_or_null<tile::KernelOp>(current)) {
    return subjects.named(host.getSymName(), nullptr);
  }
  auto kernel = dyn_cast_or_null<tgpu::KernelOp>(current);
  return kernel ? subjects.of(kernel) : Subject();
}

void IrDiagnostics::handle(mlir::Diagnostic &diagnostic) {
  DiagnosticSeverity severity = diagnostic.getSeverity();
  if (severity == DiagnosticSeverity::Remark && !remarks) {
    return;
  }
  std::string full = diagnostic.str();
  llvm::StringRef message = full;
  std::optional<diag::Id> named = diag::splitName(message);
  diag::Id id = named.value_or(unnamed(severity));
  std::string text = message.str();
  if (id == diag::Id::InternalError && !message.starts_with("internal error")) {
    text = "internal error: " + text;
  }
  llvm::SMRange range = sourceRange(diagnostic.getLocation(), diags);
  if (severity == DiagnosticSeverity::Error && range.isValid() &&
      llvm::any_of(diags.diagnostics(), [&](const auto &earlier) {
        return earlier->id == id && earlier->range.Start == range.Start;
      })) {
    return; // the same of another variant of the kernel, with other numbers
  }
  DiagnosticEngine::Builder builder = id == diag::Id::Remark
                                          ? diags.remark(subjectOf(diagnostic), range, text)
                                          : diags.reportText(id, translate(severity), range, text);
  for (mlir::Diagnostic &attached : diagnostic.getNotes()) {
    builder << note(sourceRange(attached.getLocation(), diags), attached.str());
  }
}

} // namespace tilec
