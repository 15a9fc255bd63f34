#include "compiler/driver/IrDiagnostics.h"

#include "compiler/emit/SourceLocation.h"
#include "dialects/tgpu/Tgpu.h"

using namespace mlir;

namespace tilec {

IrDiagnostics::IrDiagnostics(MLIRContext &context, DiagnosticEngine &diags, bool remarks)
    : diags(diags), remarks(remarks),
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

/// Tells the diagnostics which variant a pass works on.
class IrDiagnostics::Tracker : public PassInstrumentation {
public:
  explicit Tracker(IrDiagnostics &diagnostics) : diagnostics(diagnostics) {}

  void runBeforePass(Pass *, Operation *op) override {
    auto kernel = dyn_cast<tgpu::KernelOp>(op);
    diagnostics.variant = kernel ? kernel.getVariant().value_or("").str() : "";
  }
  void runAfterPass(Pass *, Operation *) override { diagnostics.variant.clear(); }
  void runAfterPassFailed(Pass *, Operation *) override { diagnostics.variant.clear(); }

private:
  IrDiagnostics &diagnostics;
};

std::unique_ptr<PassInstrumentation> IrDiagnostics::trackVariants() {
  return std::make_unique<Tracker>(*this);
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
  if (severity == DiagnosticSeverity::Remark && !variant.empty()) {
    text += " (variant `" + variant + "`)";
  }
  DiagnosticEngine::Builder builder = diags.reportText(id, translate(severity), range, text);
  for (mlir::Diagnostic &attached : diagnostic.getNotes()) {
    builder << note(sourceRange(attached.getLocation(), diags), attached.str());
  }
}

} // namespace tilec
