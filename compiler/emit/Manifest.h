// The manifest of a pack, from the host part of kernels (docs/pack.md).
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/emit/Assembler.h"
#include "dialects/support/Target.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/JSON.h"

#include <map>
#include <optional>
#include <string>

namespace tilec {

/// The manifest of one module after the GPU passes: each `tile.kernel` with its `tgpu.launch`es,
/// whose variants are the `tgpu.kernel`s of the same launch name, all in module 0. What the manifest cannot
/// say is reported, and nothing returned. The result has the members "format", "tilec" and "kernels",
/// and refers to nothing of the module.
std::optional<llvm::json::Object> buildManifest(mlir::ModuleOp module, DiagnosticEngine &diags);

/// Says of each variant in which module of the pack its entry is.
void setModules(llvm::json::Object &manifest, llvm::function_ref<size_t(llvm::StringRef)> moduleOf);

/// The same without the host parts and for a module without device code: what a caller has to know
/// to make arguments. Host programs and "modules" are empty.
std::optional<llvm::json::Object> buildSignatures(mlir::ModuleOp module, DiagnosticEngine &diags);

/// Adds the kernels of `other`, made for another architecture or with other values of parameters, to
/// those of `manifest`: configurations of a kernel that both have stand one behind the other. It must
/// have the same arguments in both; where it has not, that is reported and the result is false.
bool mergeManifest(llvm::json::Object &manifest, llvm::json::Object other, DiagnosticEngine &diags);

/// Writes what ptxas said of the entries of module `moduleIndex` into their variants, and from it
/// how many blocks of a persistent one a multiprocessor of `target` holds.
void addResources(llvm::json::Object &manifest, unsigned moduleIndex, const Target &target,
                  const std::map<std::string, FunctionResources> &resources);

} // namespace tilec
