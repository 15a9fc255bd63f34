#include "compiler/testing/BenchCases.h"

#include "compiler/testing/CaseLines.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tilec {

using sema::ConstValue;

namespace {
/// What a line says beside the call.
struct Measure {
  const ast::Expr *flops = nullptr, *bytes = nullptr, *rate = nullptr, *baseline = nullptr;

  /// The place of a name of this kind; null for others.
  const ast::Expr **find(StringRef name) {
    return name == "flops"      ? &flops
           : name == "bytes"    ? &bytes
           : name == "rate"     ? &rate
           : name == "baseline" ? &baseline
                                : nullptr;
  }
  /// Takes what it lacks from another.
  void complete(const Measure &other) {
    for (const ast::Expr *Measure::*member :
         {&Measure::flops, &Measure::bytes, &Measure::rate, &Measure::baseline}) {
      this->*member = this->*member ? this->*member : other.*member;
    }
  }
};

class Reader : public CaseLines {
public:
  Reader(const LoadedFile &main, SourceManager &sources, ast::Context &context,
         DiagnosticEngine &diags, const sema::KernelInstance &instance)
      : CaseLines(main, sources, context, diags), instance(instance) {}
  KernelBenches read(ArrayRef<std::string> given);

private:
  const ast::KernelItem *findKernel() const;
  bool takeMeasure(const CaseLine &line, const CaseSignature &signature,
                   SmallVectorImpl<ast::CaseClause> &clauses, Measure &measure);
  void benchLine(const CaseLine &line, Measure measure, const CaseSignature &signature);
  bool checkInputs(const CaseLine &line, const CaseSignature &signature,
                   ArrayRef<CaseChoice> choices);
  bool isCompiled(const TestCase &call);
  std::optional<BenchCase> makeCase(TestCase call, const Measure &measure,
                                    const CaseMaker::Names &names);
  bool amount(const ast::Expr *formula, const CaseMaker::Names &names, StringRef what,
              std::optional<double> &result);
  bool baselineOf(const ast::Expr *expr, const CaseMaker::Names &names, BenchCase &result);
  bool rateOf(const ast::Expr *expr, const CaseMaker::Names &names, BenchCase &result);
  const sema::TensorParam *tensor(StringRef name) const;

  const sema::KernelInstance &instance;
  std::map<std::string, double> tolerancesByType;
  bool drawsInputs = false; ///< tests have a function for what is not free
  KernelBenches result;
};

const ast::KernelItem *Reader::findKernel() const {
  for (const ast::Item *item : main.ast->items) {
    const auto *kernel = dyn_cast<ast::KernelItem>(item);
    if (kernel && kernel->name.name == instance.sourceName) {
      return kernel;
    }
  }
  return nullptr;
}

const sema::TensorParam *Reader::tensor(StringRef name) const {
  for (const sema::Param &param : instance.params) {
    if (param.tensor && param.tensor->name == name) {
      return param.tensor;
    }
  }
  return nullptr;
}

/// Takes what is no part of the call from the clauses: an argument that is called `rate` is one.
bool Reader::takeMeasure(const CaseLine &line, const CaseSignature &signature,
                         SmallVectorImpl<ast::CaseClause> &clauses, Measure &measure) {
  if (!parse(line, clauses)) {
    return false;
  }
  bool isGood = true;
  erase_if(clauses, [&](const ast::CaseClause &clause) {
    const ast::Ident &name = clause.names.front();
    const ast::Expr **place = measure.find(name.name);
    if (!place || signature.kindOf(name.name)) {
      return false;
    }
    if (clause.names.size() != 1 || clause.isIn || *place) {
      error(name.range, "`" + name.name + "` is followed by `=`, once on a line");
      isGood = false;
    } else {
      *place = clause.values.front();
    }
    return true;
  });
  return isGood;
}

bool Reader::amount(const ast::Expr *formula, const CaseMaker::Names &names, StringRef what,
                    std::optional<double> &result) {
  if (!formula) {
    return true;
  }
  std::optional<ConstValue> value = evaluator.evaluate(formula, names, what);
  if (!value) {
    return false;
  }
  result = value->isIntLike() ? double(value->i) : value->f;
  if ((!value->isIntLike() && !value->isFloatLike()) || !(*result > 0)) {
    error(formula->range, what + " is a number above 0, not `" + value->str() + "`");
    return false;
  }
  return true;
}

/// `cublas(A, B, C, transpose_b = true, precision = tf32)`.
bool Reader::baselineOf(const ast::Expr *expr, const CaseMaker::Names &names, BenchCase &result) {
  if (!expr) {
    return true;
  }
  const auto *call = dyn_cast<ast::CallExpr>(expr);
  if (!call || call->callee.name != "cublas") {
    error(expr->range, "a baseline is `cublas(A, B, C)`, with the names of tensors");
    return false;
  }
  std::string text = "cublas(";
  SmallVector<const sema::TensorParam *> tensors;
  for (const ast::Arg &arg : call->args) {
    const auto *word = dyn_cast<ast::NameExpr>(arg.value);
    text += &arg == call->args.begin() ? "" : ", ";
    if (arg.name.name.empty()) {
      tensors.push_back(word ? tensor(word->name) : nullptr);
      if (!tensors.back()) {
        error(arg.value->range, "`" + instance.sourceName + "` has no tensor of this name");
        return false;
      }
      text += word->name.str();
    } else if (arg.name.name == "precision" && word &&
               (word->name == "tf32" || word->name == "full")) {
      text += "precision = " + word->name.str();
      result.rate = word->name == "tf32" ? "tf32" : "";
    } else if (arg.name.name == "transpose_a" || arg.name.name == "transpose_b") {
      std::optional<ConstValue> value = evaluator.evaluate(arg.value, names, "a transposition");
      if (!value || !value->isBool()) {
        error(arg.value->range, "`" + arg.name.name + "` is `true` or `false`");
        return false;
      }
      text += arg.name.name.str() + (value->i ? " = true" : " = false");
    } else {
      error(arg.name.range, "beside tensors a baseline has `transpose_a`, `transpose_b`, and "
                            "`precision = tf32` or `full`");
      return false;
    }
  }
  if (tensors.size() != 3 || tensors[2]->dir != sema::Direction::Out) {
    error(expr->range, "a baseline names three tensors: two operands and an output");
    return false;
  }
  result.baseline = text + ")";
  if (result.rate.empty()) {
    result.rate = sema::scalarName(tensors[0]->type.elem).str();
  }
  auto tolerance = tolerancesByType.find(sema::scalarName(tensors[2]->type.elem).str());
  if (tolerance != tolerancesByType.end()) {
    result.tolerance = tolerance->second;
  }
  return true;
}

/// A type, a parameter that is one, or `tf32`; without it the type of what is multiplied, as far as that is known.
bool Reader::rateOf(const ast::Expr *expr, const CaseMaker::Names &names, BenchCase &result) {
  const auto *word = dyn_cast_or_null<ast::NameExpr>(expr);
  if (word && word->name == "tf32") {
    result.rate = "tf32";
    return true;
  }
  if (expr) {
    std::optional<ConstValue> value = evaluator.evaluate(expr, names, "the rate");
    if (value && !value->isTypeName()) {
      error(expr->range, "`rate` is the type of what is multiplied, or `tf32`");
    }
    if (!value || !value->isTypeName()) {
      return false;
    }
    result.rate = sema::scalarName(value->named).str();
    return true;
  }
  for (const sema::Param &param : instance.params) {
    if (result.rate.empty() && param.tensor) {
      result.rate = sema::scalarName(param.tensor->type.elem).str();
    }
  }
  return true;
}

std::optional<BenchCase> Reader::makeCase(TestCase call, const Measure &measure,
                                          const CaseMaker::Names &names) {
  BenchCase made{std::move(call), std::nullopt, std::nullopt, "", "", std::nullopt};
  if (!amount(measure.flops, names, "the number of operations", made.flops) ||
      !amount(measure.bytes, names, "the number of bytes", made.bytes) ||
      !baselineOf(measure.baseline, names, made) || !rateOf(measure.rate, names, made)) {
    return std::nullopt;
  }
  return made;
}

/// Whether the call is one of this kernel, as it is compiled. What else it would take is written down.
bool Reader::isCompiled(const TestCase &call) {
  CaseParameters asked;
  bool isSame = true;
  for (const CaseValue &value : call.values) {
    if (value.kind == CaseValue::Kind::Parameter && !value.isDefault) {
      asked.emplace_back(value.name, value.text);
      isSame = isSame && any_of(instance.bindings, [&](const sema::Binding &binding) {
                 return binding.name == value.name && binding.value == value.text;
               });
    } else if (value.kind == CaseValue::Kind::Dimension) {
      for (const sema::DimDecl *dim : instance.dims) {
        if (dim->name == value.name && dim->constant &&
            std::to_string(*dim->constant) != value.text) {
          return false;
        }
      }
    }
  }
  if (!isSame && !is_contained(result.others, asked)) {
    result.others.push_back(std::move(asked));
  }
  return isSame;
}

/// What tests have a function for is no input that may be anything.
bool Reader::checkInputs(const CaseLine &line, const CaseSignature &signature,
                         ArrayRef<CaseChoice> choices) {
  for (const sema::Param &param : instance.params) {
    const bool isIndex = param.tensor && param.tensor->dir != sema::Direction::Out &&
                         !param.tensor->optional && sema::isInteger(param.tensor->type.elem);
    if (drawsInputs && isIndex && none_of(choices, [&](const CaseChoice &choice) {
          return choice.name.name == param.tensor->name;
        })) {
      error(rangeOf(line.text), "`" + param.tensor->name +
                                    "`, which `inputs` draws for tests, has no "
                                    "value on this line: `" +
                                    param.tensor->name + " in steps(0, 8)`");
      return false;
    }
  }
  return true;
}

void Reader::benchLine(const CaseLine &line, Measure measure, const CaseSignature &signature) {
  SmallVector<ast::CaseClause> clauses;
  Measure own;
  SmallVector<CaseChoice> choices;
  SmallVector<size_t> sizes;
  if (!takeMeasure(line, signature, clauses, own) ||
      !choicesOf(line, clauses, signature, choices) || !checkInputs(line, signature, choices)) {
    return;
  }
  own.complete(measure);
  std::optional<uint64_t> combinations = countCombinations(line, choices, sizes);
  CaseMaker maker(signature, evaluator, {}, diags);
  CaseMaker::Names compiled;
  for (const sema::Binding &binding : instance.bindings) {
    int64_t number = 0;
    if (binding.kind == sema::Binding::Kind::Type) {
      if (std::optional<sema::Scalar> type = sema::scalarByName(binding.value)) {
        compiled[binding.name.str()] = ConstValue::typeName(*type);
      }
    } else if (binding.kind == sema::Binding::Kind::Bool) {
      compiled[binding.name.str()] = ConstValue::boolean(binding.value == "true");
    } else if (!StringRef(binding.value).getAsInteger(10, number)) {
      compiled[binding.name.str()] = ConstValue::untyped(sema::Int128(number));
    }
  }
  maker.setCompiled(std::move(compiled));
  SmallVector<size_t> picks(sizes.size());
  for (uint64_t i = 0; i != combinations.value_or(0); ++i) {
    pickAll(i, sizes, picks);
    std::optional<TestCase> call = maker.make(choices, picks);
    if (!call) {
      return;
    }
    if (!isCompiled(*call)) {
      continue;
    }
    std::optional<BenchCase> made = makeCase(std::move(*call), own, maker.getNames());
    if (!made) {
      return;
    }
    if (none_of(result.cases, [&](const BenchCase &other) {
          return other.call.describe() == made->call.describe();
        })) {
      result.cases.push_back(std::move(*made));
    }
  }
}

KernelBenches Reader::read(ArrayRef<std::string> given) {
  const ast::KernelItem *kernel = findKernel();
  if (!kernel) {
    return {};
  }
  auto isOwn = [&](const CaseLine &line) {
    return line.only.empty() || line.only == kernel->name.name;
  };
  const CaseSignature signature(*kernel, main);
  Measure common;
  split("bench", {});
  if (diags.hasErrors()) {
    return {};
  }
  for (const CaseLine &line : lines) {
    SmallVector<ast::CaseClause> clauses;
    if (isOwn(line) && line.kind == "bench") {
      takeMeasure(line, signature, clauses, common);
      break;
    }
  }
  if (given.empty()) {
    common = {};
  } else {
    lines.clear();
    split("bench", given);
  }
  for (const CaseLine &line : lines) {
    if (isOwn(line) && line.kind == "tolerance") {
      tolerances(line, tolerancesByType);
    }
    drawsInputs = drawsInputs || (isOwn(line) && line.kind == "inputs");
  }
  for (const CaseLine &line : lines) {
    if (isOwn(line) && line.kind == "bench" && !diags.hasErrors()) {
      benchLine(line, common, signature);
    }
  }
  return std::move(result);
}
} // namespace

KernelBenches readBenches(const LoadedFile &main, SourceManager &sources, ast::Context &context,
                          DiagnosticEngine &diags, const sema::KernelInstance &kernel,
                          ArrayRef<std::string> given) {
  return Reader(main, sources, context, diags, kernel).read(given);
}

} // namespace tilec
