// libFuzzer over the parser. Besides not crashing, each input must show: errors are printed; a text
// without errors prints as source that parses without errors and prints the same again.
#include "compiler/basic/Source.h"
#include "compiler/diag/DiagnosticPrinter.h"
#include "compiler/parse/AstPrinter.h"
#include "compiler/parse/Parser.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace tilec;

namespace {

struct Result {
  bool hasErrors;
  std::string plain, structure;
};

Result parseAndPrint(llvm::StringRef text) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources.getMgr());
  ast::Context context;
  const ast::File *file =
      parse(sources.addText("input.tile", text), sources.getMgr(), context, diagnostics);
  Result result;
  result.hasErrors = diagnostics.hasErrors();
  for (const ast::HeaderLine &line : file->header) { // errors there are of `tilec test`
    llvm::SmallVector<ast::CaseClause> clauses;
    parseCaseClauses(line.text.split(':').second, sources.getMgr(), context, diagnostics, clauses);
  }
  llvm::raw_string_ostream plain(result.plain), structure(result.structure);
  if (result.hasErrors) {
    printDiagnostics(diagnostics, DiagnosticsFormat::Text, plain);
    printDiagnostics(diagnostics, DiagnosticsFormat::Json, structure);
  }
  printAst(*file, plain); // also what is left of a text with errors
  printAst(*file, structure, {/*allParens=*/true});
  return result;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result first = parseAndPrint(llvm::StringRef(reinterpret_cast<const char *>(data), size));
  if (first.hasErrors) {
    return 0;
  }
  Result again = parseAndPrint(first.plain);
  if (again.hasErrors || again.plain != first.plain || again.structure != first.structure) {
    llvm::errs() << "--- printed\n" << first.plain << "--- printed again\n" << again.plain;
    std::abort();
  }
  return 0;
}
