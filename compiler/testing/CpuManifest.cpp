#include "compiler/testing/CpuManifest.h"

#include "compiler/driver/Pipeline.h"
#include "compiler/emit/Manifest.h"
#include "compiler/emit/Pack.h"
#include "runtime/src/Error.h"

using namespace mlir;
namespace json = llvm::json;

namespace tilec {

/// With launches whose variants have parameters, which the host computes, but no code.
static std::optional<json::Object> withHostParts(ModuleOp module) {
  OwningOpRef<ModuleOp> outlined(module.clone());
  ScopedDiagnosticHandler quiet(module.getContext(), [](mlir::Diagnostic &) { return success(); });
  PassManager passes(module.getContext());
  addOutliningPasses(passes, {.target = nullptr});
  if (failed(passes.run(*outlined))) {
    return std::nullopt;
  }
  llvm::SourceMgr none;
  DiagnosticEngine unheard(none);
  std::optional<json::Object> manifest = buildManifest(*outlined, unheard);
  if (manifest) {
    (*manifest)["source_hash"] = "";
    (*manifest)["modules"] =
        json::Array{json::Object{{"arch", "cpu"}, {"kind", "ptx"}, {"offset", 0}, {"bytes", 0}}};
  }
  return manifest;
}

std::optional<tile_rt::Manifest> manifestForCpu(ModuleOp module, DiagnosticEngine &diags) {
  std::optional<json::Object> manifest = withHostParts(module);
  if (!manifest) {
    manifest = buildSignatures(module, diags);
  }
  if (!manifest) {
    return std::nullopt;
  }
  try {
    return tile_rt::parseManifest(printManifest(*manifest), 0);
  } catch (const tile_rt::Error &error) {
    diags.report(diag::Id::InternalError, llvm::SMRange(), error.what());
    return std::nullopt;
  }
}

} // namespace tilec
