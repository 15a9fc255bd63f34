#include "compiler/testing/TestCases.h"

#include "compiler/testing/CaseLines.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace llvm;

namespace tilec {

namespace {

/// Reads the tests of one file.
class Reader : public CaseLines {
public:
  Reader(const LoadedFile &main, SourceManager &sources, ast::Context &context,
         DiagnosticEngine &diags, unsigned perLine)
      : CaseLines(main, sources, context, diags), perLine(perLine) {}
  std::vector<KernelTests> read(ArrayRef<std::string> given);

private:
  std::optional<KernelTests> readKernel(const ast::KernelItem &kernel);
  std::string function(const CaseLine &line);
  void testLine(const CaseLine &line, const CaseSignature &signature, KernelTests &tests);
  void benchLine(const CaseLine &line);

  unsigned perLine;
  SmallVector<const ast::Expr *> workFormulas; ///< of the kernel being read
};

std::string Reader::function(const CaseLine &line) {
  auto [file, name] = line.text.split(':');
  bool isName = !name.empty() && all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
  if (!file.ends_with(".py") || file.contains(' ') || !isName) {
    error(rangeOf(line.text), "expected FILE.py:FUNCTION");
    return {};
  }
  return line.text.str();
}

void Reader::testLine(const CaseLine &line, const CaseSignature &signature, KernelTests &tests) {
  SmallVector<ast::CaseClause> clauses;
  SmallVector<CaseChoice> choices;
  if (!parse(line, clauses) || !choicesOf(line, clauses, signature, choices)) {
    return;
  }
  SmallVector<size_t> sizes;
  std::optional<uint64_t> combinations = countCombinations(line, choices, sizes);
  if (!combinations) {
    return;
  }
  CaseMaker maker(signature, evaluator, workFormulas, diags);
  bool all = perLine == 0 || *combinations <= perLine;
  SmallVector<size_t> picks(sizes.size());
  std::set<std::string> seen; // samples may repeat
  for (uint64_t i = 0; i != (all ? *combinations : perLine); ++i) {
    all ? pickAll(i, sizes, picks) : pickSample(i, sizes, picks);
    std::optional<TestCase> test = maker.make(choices, picks);
    if (!test) {
      return;
    }
    if (seen.insert(test->describe()).second) {
      tests.cases.push_back(std::move(*test));
    }
  }
}

/// Takes the formulas for the amount of work; what else the line says is for other tools.
void Reader::benchLine(const CaseLine &line) {
  SmallVector<ast::CaseClause> clauses;
  if (!parse(line, clauses) || !workFormulas.empty()) {
    return;
  }
  for (const ast::CaseClause &clause : clauses) {
    StringRef name = clause.names.front().name;
    if ((name == "flops" || name == "bytes") && clause.values.size() == 1) {
      workFormulas.push_back(clause.values.front());
    }
  }
}

std::optional<KernelTests> Reader::readKernel(const ast::KernelItem &kernel) {
  KernelTests tests;
  tests.kernel = kernel.name.name.str();
  CaseSignature signature(kernel, main);
  workFormulas.clear();
  SmallVector<const CaseLine *> testLines;
  for (const CaseLine &line : lines) {
    if (!line.only.empty() && line.only != kernel.name.name) {
      continue;
    }
    if (line.kind == "reference") {
      tests.reference = function(line);
    } else if (line.kind == "inputs") {
      tests.inputs = function(line);
    } else if (line.kind == "tolerance") {
      tolerances(line, tests.tolerances);
    } else if (line.kind == "bench") {
      benchLine(line);
    } else {
      testLines.push_back(&line);
    }
  }
  for (const CaseLine *line : testLines) {
    testLine(*line, signature, tests);
  }
  if (!testLines.empty() && tests.reference.empty() && !diags.hasErrors()) {
    error(testLines.front()->range,
          "kernel `" + kernel.name.name + "` has cases but no `//! reference:` line");
  }
  return testLines.empty() ? std::nullopt : std::optional(std::move(tests));
}

std::vector<KernelTests> Reader::read(ArrayRef<std::string> given) {
  split("test", given);
  std::vector<KernelTests> list;
  for (const ast::Item *item : main.ast->items) {
    if (const auto *kernel = dyn_cast<ast::KernelItem>(item)) {
      if (std::optional<KernelTests> tests = readKernel(*kernel)) {
        list.push_back(std::move(*tests));
      }
    }
  }
  return list;
}

} // namespace

std::vector<KernelTests> readCases(const LoadedFile &main, SourceManager &sources,
                                   ast::Context &context, DiagnosticEngine &diags, unsigned perLine,
                                   ArrayRef<std::string> given) {
  return Reader(main, sources, context, diags, perLine).read(given);
}

} // namespace tilec
