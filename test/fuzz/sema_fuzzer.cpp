// libFuzzer over the parser and semantic analysis: no text crashes them, and what is reported can
// be printed. Imports are not followed.
#include "compiler/basic/Source.h"
#include "compiler/diag/DiagnosticPrinter.h"
#include "compiler/parse/Parser.h"
#include "compiler/sema/Sema.h"

#include "llvm/Support/raw_ostream.h"

using namespace tilec;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources.getMgr());
  ast::Context context;
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  LoadedFile file;
  file.ast = parse(sources.addText("input.tile", text), sources.getMgr(), context, diagnostics);
  if (!diagnostics.hasErrors()) {
    sema::analyze(file, sema::SemaOptions(), diagnostics);
  }
  printDiagnostics(diagnostics, DiagnosticsFormat::Json, llvm::nulls());
  printDiagnostics(diagnostics, DiagnosticsFormat::Text, llvm::nulls());
  return 0;
}
