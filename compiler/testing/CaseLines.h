// What the readers of case lines share (kernels/README.md): lines taken apart, values by name, combinations.
#pragma once

#include "compiler/parse/Parser.h"
#include "compiler/testing/CaseMaker.h"

namespace tilec {

/// A line taken apart.
struct CaseLine {
  llvm::StringRef only; ///< the kernel in brackets
  llvm::SMRange onlyRange;
  llvm::StringRef kind, text; ///< "test" and what follows the colon
  llvm::SMRange range;        ///< from `//!` to its end
};

llvm::SMRange rangeOf(llvm::StringRef text);

/// Combinations of one line beyond which it is surely a mistake.
constexpr uint64_t maxCaseCombinations = 100'000;

/// The value of each list for combination `i`: the last list varies fastest.
void pickAll(uint64_t i, llvm::ArrayRef<size_t> sizes, llvm::MutableArrayRef<size_t> picks);
/// The same for sample `i`: diagonals through the lists, so that few samples have each value of
/// each list.
void pickSample(uint64_t i, llvm::ArrayRef<size_t> sizes, llvm::MutableArrayRef<size_t> picks);

/// The lines of one file.
class CaseLines {
public:
  CaseLines(const LoadedFile &main, SourceManager &sources, ast::Context &context,
            DiagnosticEngine &diags)
      : main(main), sources(sources), context(context), diags(diags),
        evaluator(main, /*arch=*/90, diags) {}

protected:
  /// Takes the lines of the file apart, those of `kind` from `given` instead, if there are any.
  void split(llvm::StringRef kind, llvm::ArrayRef<std::string> given);
  void tolerances(const CaseLine &line, std::map<std::string, double> &into);
  bool parse(const CaseLine &line, llvm::SmallVectorImpl<ast::CaseClause> &clauses) {
    return parseCaseClauses(line.text, sources.getMgr(), context, diags, clauses);
  }
  /// What a line lets its names be; false after a diagnostic, also where a dimension or an argument has no value.
  bool choicesOf(const CaseLine &line, llvm::ArrayRef<ast::CaseClause> clauses,
                 const CaseSignature &signature, llvm::SmallVectorImpl<CaseChoice> &choices);
  /// The number of values of each choice, and of all combinations; nothing after a diagnostic.
  std::optional<uint64_t> countCombinations(const CaseLine &line,
                                            llvm::ArrayRef<CaseChoice> choices,
                                            llvm::SmallVectorImpl<size_t> &sizes);
  void error(llvm::SMRange range, const llvm::Twine &text) {
    diags.report(diag::Id::CaseLine, range, text);
  }

  const LoadedFile &main;
  SourceManager &sources;
  ast::Context &context;
  DiagnosticEngine &diags;
  sema::ConstEval evaluator;
  std::vector<CaseLine> lines;

private:
  bool splitLine(const ast::HeaderLine &header);
  bool checkComplete(const CaseLine &line, const CaseSignature &signature,
                     llvm::ArrayRef<CaseChoice> choices);
};

} // namespace tilec
