#include "compiler/testing/TestCases.h"

#include "compiler/parse/Parser.h"
#include "compiler/testing/CaseMaker.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace llvm;

namespace tilec {

/// Combinations of one line beyond which it is surely a mistake.
static constexpr uint64_t maxCombinations = 100'000;

namespace {

/// A line taken apart.
struct Line {
  StringRef only; ///< the kernel in brackets
  SMRange onlyRange;
  StringRef kind, text; ///< "test" and what follows the colon
  SMRange range;        ///< from `//!` to its end
};

/// Reads the lines of one file.
class Reader {
public:
  Reader(const LoadedFile &main, SourceManager &sources, ast::Context &context,
         DiagnosticEngine &diags, unsigned perLine)
      : main(main), sources(sources), context(context), diags(diags), perLine(perLine),
        evaluator(main, /*arch=*/90, diags) {}
  std::vector<KernelTests> read(ArrayRef<std::string> given);

private:
  bool split(const ast::HeaderLine &header);
  void replaceTests(ArrayRef<std::string> given);
  std::optional<KernelTests> readKernel(const ast::KernelItem &kernel);
  std::string function(const Line &line);
  void tolerances(const Line &line, std::map<std::string, double> &into);
  void testLine(const Line &line, const CaseSignature &signature, KernelTests &tests);
  bool choicesOf(const Line &line, const CaseSignature &signature,
                 SmallVectorImpl<CaseChoice> &choices);
  bool checkComplete(const Line &line, const CaseSignature &signature,
                     ArrayRef<CaseChoice> choices);
  void benchLine(const Line &line);
  void error(SMRange range, const Twine &text) { diags.report(diag::Id::CaseLine, range, text); }

  const LoadedFile &main;
  SourceManager &sources;
  ast::Context &context;
  DiagnosticEngine &diags;
  unsigned perLine;
  sema::ConstEval evaluator;
  std::vector<Line> lines;
  SmallVector<const ast::Expr *> workFormulas; ///< of the kernel being read
};

SMRange rangeOf(StringRef text) {
  return {SMLoc::getFromPointer(text.begin()), SMLoc::getFromPointer(text.end())};
}

/// `[name] kind: text`.
bool Reader::split(const ast::HeaderLine &header) {
  Line line;
  line.range = header.range;
  StringRef rest = header.text.trim();
  if (rest.empty()) {
    return true;
  }
  if (rest.consume_front("[")) {
    size_t close = rest.find(']');
    line.only = rest.take_front(close).trim();
    line.onlyRange = rangeOf(line.only);
    if (close == StringRef::npos || line.only.empty()) {
      error(header.range, "`[` begins the name of a kernel, with `]` after it");
      return false;
    }
    rest = rest.drop_front(close + 1).ltrim();
    bool isKernel = any_of(main.ast->items, [&](const ast::Item *item) {
      const auto *kernel = dyn_cast<ast::KernelItem>(item);
      return kernel && kernel->name.name == line.only;
    });
    if (!isKernel) {
      error(line.onlyRange, "`" + line.only + "` is no kernel of this file");
      return false;
    }
  }
  size_t colon = rest.find(':');
  line.kind = rest.take_front(colon).trim();
  line.text = colon == StringRef::npos ? StringRef() : rest.drop_front(colon + 1).trim();
  static constexpr StringLiteral kinds[] = {"reference", "inputs", "tolerance", "test", "bench"};
  if (colon == StringRef::npos || !is_contained(kinds, line.kind)) {
    error(line.kind.empty() ? header.range : rangeOf(line.kind),
          "a `//!` line begins with `reference:`, `inputs:`, `tolerance:`, `test:` or `bench:`");
    return false;
  }
  if (line.text.empty()) {
    error(rangeOf(line.kind), "nothing follows `" + line.kind + ":`");
    return false;
  }
  lines.push_back(line);
  return true;
}

std::string Reader::function(const Line &line) {
  auto [file, name] = line.text.split(':');
  bool isName = !name.empty() && all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
  if (!file.ends_with(".py") || file.contains(' ') || !isName) {
    error(rangeOf(line.text), "expected FILE.py:FUNCTION");
    return {};
  }
  return line.text.str();
}

/// `f16 1e-3, i32 exact`.
void Reader::tolerances(const Line &line, std::map<std::string, double> &into) {
  SmallVector<StringRef> parts;
  line.text.split(parts, ',');
  for (StringRef part : parts) {
    part = part.trim();
    auto [type, value] = part.split(' ');
    value = value.trim();
    double tolerance = 0;
    if (!sema::scalarByName(type)) {
      error(rangeOf(part), "expected a type and what its outputs may be off, `f16 1e-3` or "
                           "`i32 exact`");
    } else if (value != "exact" && (value.getAsDouble(tolerance) || !(tolerance > 0))) {
      error(rangeOf(value.empty() ? part : value), "a tolerance is a number above 0, or `exact`");
    } else {
      into[type.str()] = tolerance;
    }
  }
}

bool Reader::choicesOf(const Line &line, const CaseSignature &signature,
                       SmallVectorImpl<CaseChoice> &choices) {
  SmallVector<ast::CaseClause> clauses;
  if (!parseCaseClauses(line.text, sources.getMgr(), context, diags, clauses)) {
    return false;
  }
  for (const ast::CaseClause &clause : clauses) {
    for (const ast::Ident &name : clause.names) {
      std::optional<CaseValue::Kind> kind = signature.kindOf(name.name);
      if (!kind) {
        error(name.range, "`" + name.name + "` is no parameter, dimension or argument of `" +
                              signature.kernel.name.name + "`");
        return false;
      }
      if (any_of(choices, [&](const CaseChoice &c) { return c.name.name == name.name; })) {
        error(name.range, "`" + name.name + "` has two values on this line");
        return false;
      }
      if (clause.isIn && !clause.isList && *kind != CaseValue::Kind::Tensor) {
        error(clause.values.front()->range, "`in` is followed by a list: `[1, 2]`");
        return false;
      }
      choices.push_back({name, *kind, clause.values});
    }
  }
  return true;
}

bool Reader::checkComplete(const Line &line, const CaseSignature &signature,
                           ArrayRef<CaseChoice> choices) {
  auto isGiven = [&](StringRef name) {
    return any_of(choices, [&](const CaseChoice &c) { return c.name.name == name; });
  };
  for (StringRef dim : signature.dims) {
    if (!isGiven(dim)) {
      error(rangeOf(line.text), "dimension `" + dim + "` of `" + signature.kernel.name.name +
                                    "` has no value on this line");
      return false;
    }
  }
  for (const ast::KernelParam &param : signature.kernel.params) {
    if (!param.isTensor && !isGiven(param.name.name)) {
      error(rangeOf(line.text), "argument `" + param.name.name + "` of `" +
                                    signature.kernel.name.name + "` has no value on this line");
      return false;
    }
  }
  return true;
}

/// The value of each list for combination `i`: the last list varies fastest.
void pickAll(uint64_t i, ArrayRef<size_t> sizes, MutableArrayRef<size_t> picks) {
  for (size_t k = sizes.size(); k-- != 0;) {
    picks[k] = i % sizes[k];
    i /= sizes[k];
  }
}

/// The same for sample `i`: diagonals through the lists, so that few samples have each value of
/// each list.
void pickSample(uint64_t i, ArrayRef<size_t> sizes, MutableArrayRef<size_t> picks) {
  for (size_t k = 0; k < sizes.size(); ++k) {
    picks[k] = (i + k * (1 + i / sizes[k])) % sizes[k];
  }
}

void Reader::testLine(const Line &line, const CaseSignature &signature, KernelTests &tests) {
  SmallVector<CaseChoice> choices;
  if (!choicesOf(line, signature, choices) || !checkComplete(line, signature, choices)) {
    return;
  }
  uint64_t combinations = 1;
  SmallVector<size_t> sizes;
  for (const CaseChoice &choice : choices) {
    sizes.push_back(choice.values.size());
    combinations = std::min(combinations * choice.values.size(), maxCombinations + 1);
  }
  if (combinations > maxCombinations) {
    error(rangeOf(line.text), "this line has more than " + Twine(maxCombinations) + " cases");
    return;
  }
  CaseMaker maker(signature, evaluator, workFormulas, diags);
  bool all = perLine == 0 || combinations <= perLine;
  SmallVector<size_t> picks(sizes.size());
  std::set<std::string> seen; // samples may repeat
  for (uint64_t i = 0; i != (all ? combinations : perLine); ++i) {
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
void Reader::benchLine(const Line &line) {
  SmallVector<ast::CaseClause> clauses;
  if (!parseCaseClauses(line.text, sources.getMgr(), context, diags, clauses) ||
      !workFormulas.empty()) {
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
  SmallVector<const Line *> testLines;
  for (const Line &line : lines) {
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
  for (const Line *line : testLines) {
    testLine(*line, signature, tests);
  }
  if (!testLines.empty() && tests.reference.empty() && !diags.hasErrors()) {
    error(testLines.front()->range,
          "kernel `" + kernel.name.name + "` has cases but no `//! reference:` line");
  }
  return testLines.empty() ? std::nullopt : std::optional(std::move(tests));
}

/// Takes these `test` lines instead of those of the file.
void Reader::replaceTests(ArrayRef<std::string> given) {
  llvm::erase_if(lines, [](const Line &line) { return line.kind == "test"; });
  for (const std::string &text : given) {
    StringRef kept = sources.text(sources.addText("<command line>", text));
    if (split({rangeOf(kept), kept}) && lines.back().kind != "test") {
      error(rangeOf(lines.back().kind), "`--line` gives a `test:` line");
    }
  }
}

std::vector<KernelTests> Reader::read(ArrayRef<std::string> given) {
  for (const ast::HeaderLine &header : main.ast->header) {
    split(header);
  }
  if (!given.empty()) {
    replaceTests(given);
  }
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
