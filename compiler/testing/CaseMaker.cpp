#include "compiler/testing/CaseMaker.h"

#include "compiler/basic/NumberText.h"
#include "runtime/harness/Generate.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

using sema::ConstValue;

const CaseValue *TestCase::find(StringRef name) const {
  auto found = find_if(values, [&](const CaseValue &v) { return v.name == name; });
  return found == values.end() ? nullptr : &*found;
}

std::string TestCase::describe() const {
  std::string text;
  for (const CaseValue &value : values) {
    if (!value.isDefault) {
      text += (text.empty() ? "" : ", ") + value.name + " = " + value.text;
    }
  }
  return text;
}

std::string TestCase::parameters() const {
  std::string text;
  for (const CaseValue &value : values) {
    if (!value.isDefault && value.kind == CaseValue::Kind::Parameter) {
      text += (text.empty() ? "" : ", ") + value.name + " = " + value.text;
    }
  }
  return text;
}

CaseSignature::CaseSignature(const ast::KernelItem &kernel, const LoadedFile &file)
    : kernel(kernel) {
  addConstants(file);
  for (const ast::KernelParam &param : kernel.params) {
    for (const ast::Expr *extent : param.type.shape) {
      addDims(extent);
    }
  }
}

void CaseSignature::addConstants(const LoadedFile &file) {
  for (const ast::Item *item : file.ast->items) {
    if (const auto *constant = dyn_cast<ast::ConstItem>(item)) {
      constants.insert(constant->decl.name.name);
    }
  }
  for (const LoadedFile::Import &import : file.imports) {
    addConstants(*import.file);
  }
}

void CaseSignature::addDims(const ast::Expr *extent) {
  if (const auto *name = dyn_cast<ast::NameExpr>(extent)) {
    if (!generic(name->name) && !param(name->name) && !constants.contains(name->name) &&
        !is_contained(dims, name->name)) {
      dims.push_back(name->name);
    }
  } else if (const auto *unary = dyn_cast<ast::UnaryExpr>(extent)) {
    addDims(unary->operand);
  } else if (const auto *binary = dyn_cast<ast::BinaryExpr>(extent)) {
    addDims(binary->left);
    addDims(binary->right);
  } else if (const auto *call = dyn_cast<ast::CallExpr>(extent)) {
    for (const ast::Arg &arg : call->args) {
      addDims(arg.value);
    }
  }
}

std::optional<CaseValue::Kind> CaseSignature::kindOf(StringRef name) const {
  if (generic(name)) {
    return CaseValue::Kind::Parameter;
  }
  if (const ast::KernelParam *found = param(name)) {
    return found->isTensor ? CaseValue::Kind::Tensor : CaseValue::Kind::Scalar;
  }
  return is_contained(dims, name) ? std::optional(CaseValue::Kind::Dimension) : std::nullopt;
}

static json::Value jsonOf(const ConstValue &value) {
  if (value.isBool()) {
    return bool(value.i);
  }
  if (value.isIntLike()) {
    return int64_t(value.i);
  }
  return value.isFloatLike() ? json::Value(value.f) : json::Value(value.str());
}

static std::string textOf(const ConstValue &value) {
  return value.isFloatLike() ? numberText(value.f) : value.str();
}

/// `uniform(-1, 1)`.
std::optional<CaseValue> CaseMaker::drawn(const CaseChoice &choice, const ast::CallExpr *call) {
  std::string text = call->callee.name.str();
  for (const ast::Arg &arg : call->args) {
    std::optional<ConstValue> bound = constants.evaluate(arg.value, names, "a bound");
    if (!bound) {
      return std::nullopt;
    }
    text += (&arg == call->args.begin() ? "(" : ",") + textOf(*bound);
  }
  text += ")";
  if (!tile_rt::parseDistribution(text)) {
    error(call->range, "the bounds of `" + call->callee.name + "` are two numbers" +
                           (call->callee.name == "steps" ? "" : ", the lower first"));
    return std::nullopt;
  }
  return CaseValue{choice.name.name.str(), choice.kind, false, text, nullptr};
}

/// `normal`, `none`, `uniform(-1, 1)`, a number: how a tensor is filled.
std::optional<CaseValue> CaseMaker::tensorValue(const CaseChoice &choice, const ast::Expr *expr) {
  CaseValue result{choice.name.name.str(), choice.kind, false, "", nullptr};
  if (const auto *word = dyn_cast<ast::NameExpr>(expr)) {
    if (word->name == "none" && !signature.param(choice.name.name)->isOptional) {
      error(expr->range, "`" + choice.name.name + "` is not optional and cannot be `none`");
      return std::nullopt;
    }
    if (word->name == "normal" || word->name == "uniform" || word->name == "none") {
      result.text = word->name.str();
      return result;
    }
  }
  const auto *call = dyn_cast<ast::CallExpr>(expr);
  bool isDrawn = call && call->args.size() == 2 &&
                 (call->callee.name == "normal" || call->callee.name == "uniform" ||
                  call->callee.name == "integers" || call->callee.name == "steps");
  if (isDrawn) {
    return drawn(choice, call);
  }
  if (isa<ast::IntExpr, ast::FloatExpr, ast::UnaryExpr>(expr)) {
    if (std::optional<ConstValue> number = constants.evaluate(expr, names, "the elements")) {
      result.text = textOf(*number);
      return result;
    }
    return std::nullopt;
  }
  error(expr->range, "tensor `" + choice.name.name +
                         "` is drawn from `normal`, `uniform(a, b)` or `integers(a, b)`, runs in "
                         "`steps(a, b)`, is a number, or `none`");
  return std::nullopt;
}

std::optional<CaseValue> CaseMaker::constantValue(const CaseChoice &choice, const ast::Expr *expr) {
  StringRef name = choice.name.name;
  std::optional<ConstValue> value =
      constants.evaluate(expr, names, ("the value of `" + name + "`").str());
  if (!value) {
    return std::nullopt;
  }
  const ast::GenericParam *generic = signature.generic(name);
  bool wantsInt = choice.kind == CaseValue::Kind::Dimension ||
                  (generic && generic->kind == ast::ParamKind::Int);
  bool wantsType = generic && generic->kind == ast::ParamKind::Type;
  bool wantsBool = generic && generic->kind == ast::ParamKind::Bool;
  bool isNumber = value->isIntLike() || value->isFloatLike() || value->isBool();
  if ((wantsInt && !value->isIntLike()) || (wantsType && !value->isTypeName()) ||
      (wantsBool && !value->isBool()) || (!wantsType && !isNumber)) {
    error(expr->range, "`" + name + "` is " +
                           (wantsInt    ? "an integer"
                            : wantsType ? "a type"
                            : wantsBool ? "`true` or `false`"
                                        : "a number") +
                           ", not `" + value->str() + "`");
    return std::nullopt;
  }
  if (value->isIntLike() && (value->i > INT64_MAX || value->i < INT64_MIN)) {
    error(expr->range, "`" + value->str() + "` does not fit 64 bits");
    return std::nullopt;
  }
  if (choice.kind == CaseValue::Kind::Dimension && value->i < 0) {
    error(expr->range, "dimension `" + name + "` cannot be " + value->str());
    return std::nullopt;
  }
  names[name.str()] = *value;
  return CaseValue{name.str(), choice.kind, false, textOf(*value), jsonOf(*value)};
}

/// Gives parameters that the line does not name the values that they are compiled with, or their defaults.
bool CaseMaker::addParameters(TestCase &test) {
  for (const ast::GenericParam &generic : signature.kernel.generics) {
    auto given = compiled.find(generic.name.name);
    if (test.find(generic.name.name) || (given == compiled.end() && !generic.defaultValue)) {
      continue; // without a value the kernel does not compile, which is then said
    }
    std::optional<ConstValue> value =
        given != compiled.end()
            ? std::optional(given->second)
            : constants.evaluate(generic.defaultValue, names, "a default value");
    if (!value) {
      return false;
    }
    names[generic.name.name.str()] = *value;
    test.values.push_back({generic.name.name.str(), CaseValue::Kind::Parameter, true,
                           textOf(*value), jsonOf(*value)});
  }
  return true;
}

double CaseMaker::workOf(const TestCase &test) {
  double work = 0;
  for (const ast::Expr *formula : workFormulas) {
    std::optional<ConstValue> value = constants.evaluate(formula, names, "an amount of work");
    if (value && (value->isIntLike() || value->isFloatLike())) {
      work = std::max(work, value->isIntLike() ? double(value->i) : value->f);
    }
  }
  if (workFormulas.empty()) {
    work = 1;
    for (const CaseValue &value : test.values) {
      if (value.kind == CaseValue::Kind::Dimension) {
        work *= std::max<double>(1, double(value.value.getAsInteger().value_or(1)));
      }
    }
  }
  return work;
}

std::optional<TestCase> CaseMaker::make(ArrayRef<CaseChoice> choices, ArrayRef<size_t> picks) {
  TestCase test;
  names.clear();
  for (const auto &[name, value] : compiled) {
    if (none_of(choices, [&](const CaseChoice &choice) { return choice.name.name == name; })) {
      names.emplace(name, value);
    }
  }
  for (auto [choice, pick] : zip_equal(choices, picks)) {
    const ast::Expr *expr = choice.values[pick];
    std::optional<CaseValue> value = choice.kind == CaseValue::Kind::Tensor
                                         ? tensorValue(choice, expr)
                                         : constantValue(choice, expr);
    if (!value) {
      return std::nullopt;
    }
    test.values.push_back(std::move(*value));
  }
  if (!addParameters(test)) {
    return std::nullopt;
  }
  test.work = workOf(test);
  return test;
}

} // namespace tilec
