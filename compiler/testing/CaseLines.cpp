#include "compiler/testing/CaseLines.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tilec {

SMRange rangeOf(StringRef text) {
  return {SMLoc::getFromPointer(text.begin()), SMLoc::getFromPointer(text.end())};
}

/// `[name] kind: text`.
bool CaseLines::splitLine(const ast::HeaderLine &header) {
  CaseLine line;
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

/// `f16 1e-3, i32 exact`.
void CaseLines::tolerances(const CaseLine &line, std::map<std::string, double> &into) {
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

bool CaseLines::choicesOf(const CaseLine &line, ArrayRef<ast::CaseClause> clauses,
                          const CaseSignature &signature, SmallVectorImpl<CaseChoice> &choices) {
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
  return checkComplete(line, signature, choices);
}

bool CaseLines::checkComplete(const CaseLine &line, const CaseSignature &signature,
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

/// Takes these lines instead of those of the file.
void CaseLines::split(StringRef kind, ArrayRef<std::string> given) {
  for (const ast::HeaderLine &header : main.ast->header) {
    splitLine(header);
  }
  if (given.empty()) {
    return;
  }
  llvm::erase_if(lines, [&](const CaseLine &line) { return line.kind == kind; });
  for (const std::string &text : given) {
    StringRef kept = sources.text(sources.addText("<command line>", text));
    if (splitLine({rangeOf(kept), kept}) && lines.back().kind != kind) {
      error(rangeOf(lines.back().kind), "`--line` gives a `" + kind + ":` line");
    }
  }
}

std::optional<uint64_t> CaseLines::countCombinations(const CaseLine &line,
                                                     ArrayRef<CaseChoice> choices,
                                                     SmallVectorImpl<size_t> &sizes) {
  uint64_t combinations = 1;
  for (const CaseChoice &choice : choices) {
    sizes.push_back(choice.values.size());
    combinations = std::min(combinations * choice.values.size(), maxCaseCombinations + 1);
  }
  if (combinations > maxCaseCombinations) {
    error(rangeOf(line.text), "this line has more than " + Twine(maxCaseCombinations) + " cases");
    return std::nullopt;
  }
  return combinations;
}

} // namespace tilec
