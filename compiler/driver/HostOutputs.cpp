// Compilation, continued: objects and headers, which programs in C and C++ call kernels by.
#include "compiler/driver/Compilation.h"
#include "compiler/emit/HostHeader.h"
#include "compiler/emit/HostObject.h"
#include "compiler/emit/Manifest.h"

using namespace llvm;

namespace tilec {

/// Takes the signatures of another module over; false after an error.
static bool addSignatures(std::optional<json::Object> &all, json::Object own,
                          DiagnosticEngine &diags) {
  if (!all) {
    all = std::move(own);
    return true;
  }
  return mergeManifest(*all, std::move(own), diags);
}

bool Compilation::writeHeaderOf(ArrayRef<ModuleJob> jobs) {
  std::optional<json::Object> all;
  for (const ModuleJob &job : jobs) {
    mlir::OwningOpRef<mlir::ModuleOp> module = lowerFor(job);
    std::optional<json::Object> own =
        module ? buildSignatures(*module, diags) : std::optional<json::Object>();
    if (!own || !addSignatures(all, std::move(*own), diags)) {
      return false;
    }
  }
  if (all->getArray("kernels")->empty()) {
    diags.report(diag::Id::NothingToCompile, SMRange(), input);
    return false;
  }
  return writeText(EmitKind::Header, writeHeader(describeInterface(*all, options.hostPrefix)));
}

bool Compilation::writeHostOutputs(const json::Object &manifest, StringRef pack,
                                   MutableArrayRef<DeviceCode> codes) {
  if (options.emit < EmitKind::Object) {
    return true;
  }
  std::optional<json::Object> all;
  for (DeviceCode &code : codes) {
    if (!addSignatures(all, std::move(*code.signatures), diags)) {
      return false;
    }
  }
  std::vector<std::string> symbols;
  for (const json::Value &kernel : *manifest.getArray("kernels")) {
    symbols.push_back(kernel.getAsObject()->getString("symbol")->str());
  }
  const std::vector<HostKernel> kernels = describeInterface(*all, options.hostPrefix);
  if (options.wants(EmitKind::Object)) {
    std::optional<std::string> object = writeObject(kernels, pack, symbols, options.host, diags);
    if (!object || !writeText(EmitKind::Object, *object)) {
      return false;
    }
  }
  return !options.wants(EmitKind::Header) || writeText(EmitKind::Header, writeHeader(kernels));
}

} // namespace tilec
