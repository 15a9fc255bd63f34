//===- Instantiate.cpp - instantiate, -P ----------------------------------===//
#include "compiler/basic/Spelling.h"
#include "compiler/sema/Analyzer.h"
#include "compiler/sema/Modules.h"
#include "compiler/sema/Request.h"

#include <utility>

namespace tilec::sema {

using diag::Id;

/// The VALUE of `-P NAME=VALUE`: an integer, `true`, `false` or a type.
std::optional<ConstValue> Analyzer::optionValue(llvm::StringRef text) {
  text = text.trim();
  if (text == "true" || text == "false") {
    return ConstValue::boolean(text == "true");
  }
  if (auto s = scalarByName(text)) {
    return ConstValue::typeName(*s);
  }
  bool negative = text.consume_front("-");
  std::string digits;
  for (char c : text) {
    if (c != '_') {
      digits += c;
    }
  }
  uint64_t value;
  if (digits.empty() || llvm::StringRef(digits).getAsInteger(0, value)) {
    return std::nullopt;
  }
  return ConstValue::untyped(negative ? -Int128(value) : Int128(value));
}

bool isNamed(const ast::Expr *e, llvm::StringRef name) {
  switch (e->kind) {
  case ast::ExprKind::Name:
    return llvm::cast<ast::NameExpr>(e)->name == name;
  case ast::ExprKind::Unary:
    return isNamed(llvm::cast<ast::UnaryExpr>(e)->operand, name);
  case ast::ExprKind::Binary: {
    auto *b = llvm::cast<ast::BinaryExpr>(e);
    return isNamed(b->left, name) || isNamed(b->right, name);
  }
  case ast::ExprKind::Conditional: {
    auto *c = llvm::cast<ast::ConditionalExpr>(e);
    return isNamed(c->condition, name) || isNamed(c->whenTrue, name) || isNamed(c->whenFalse, name);
  }
  case ast::ExprKind::Call:
    return llvm::any_of(llvm::cast<ast::CallExpr>(e)->args,
                        [&](const ast::Arg &a) { return isNamed(a.value, name); });
  default:
    return false;
  }
}

bool isUnknown(const ast::KernelItem &k, llvm::StringRef name) {
  return llvm::none_of(k.generics,
                       [&](const ast::GenericParam &g) { return g.name.name == name; }) &&
         llvm::none_of(k.params, [&](const ast::KernelParam &p) {
           return p.isTensor && llvm::any_of(p.type.shape, [&](const ast::Expr *extent) {
                    return isNamed(extent, name);
                  });
         });
}

/// A parameter without a value. Where a name is given that the kernel does not have, that one is wrong.
void Analyzer::reportMissing(const Request &request, const ast::Ident &parameter) {
  const ast::KernelItem &k = *request.kernel;
  llvm::SmallVector<llvm::StringRef> names;
  for (const ast::GenericParam &g : k.generics) {
    names.push_back(g.name.name);
  }
  bool isExplained = false;
  for (const Request::Given &g : request.given) {
    if (g.range.isValid() && isUnknown(k, g.name)) {
      report(Id::UnknownParameter, g.range, k.name.name, g.name).meant(g.name, names)
          << note(k.name.range, "declared here");
      isExplained = true;
    }
  }
  if (isExplained) {
    return;
  }
  auto missing = report(Id::MissingParameter, request.range, parameter.name, k.name.name);
  for (const auto &[name, value] : *request.optionValues) {
    if (isUnknown(k, name) && nearestName(name, parameter.name) == parameter.name) {
      missing.hint("`-P " + name + "` is given: did you mean `" + parameter.name + "`?");
    }
  }
  missing << note(parameter.range, "declared here");
}

/// Gives each compile-time parameter its value: from the request, `-P`, or its default.
bool Analyzer::bindGenerics(Request &request, Env &env, KernelInstance &instance) {
  FrameGuard guard(*this);
  frame = Frame();
  frame.env = &env;
  instance.bindings.clear();
  for (const ast::GenericParam &g : request.kernel->generics) {
    std::optional<ConstValue> v;
    SourceRange range = g.name.range;
    if (const ConstValue *given = request.value(g.name.name, options)) {
      v = *given;
      for (const Request::Given &item : request.given) {
        range = item.name == g.name.name && item.range.isValid() ? item.range : range;
      }
    } else if (g.defaultValue) {
      range = g.defaultValue->range;
      Value value = operand(g.defaultValue);
      if (value.isError()) {
        return false;
      }
      if (!value.constant) {
        report(Id::NotConstant, range, "a default value");
        return false;
      }
      v = value.constant;
    } else {
      reportMissing(request, g.name);
      return false;
    }
    if (!kindMatches(g.kind, *v)) {
      report(Id::TypeMismatchKind, range,
             llvm::Twine("a value of kind `") + ast::spelling(g.kind) + "` for `" + g.name.name +
                 "`",
             v->str());
      return false;
    }
    if (v->isIntLike()) {
      v->type = Type(Type::Kind::UntypedInt);
    }
    Entity e;
    e.name = g.name.name;
    e.range = g.name.range;
    e.constant = v;
    env.declare(std::move(e));
    Binding::Kind kind = g.kind == ast::ParamKind::Int    ? Binding::Kind::Int
                         : g.kind == ast::ParamKind::Bool ? Binding::Kind::Bool
                                                          : Binding::Kind::Type;
    instance.bindings.push_back({g.name.name, v->str(), kind});
  }
  return true;
}

void Analyzer::elaborate(Request &request) {
  const ast::KernelItem &k = *request.kernel;
  kernelNames.insert({k.name.name.str(), request.symbol});
  if (!options.kernel.empty() && options.kernel != k.name.name.str() &&
      options.kernel != request.symbol) {
    return;
  }
  kernelFound = true;
  using Select = SemaOptions::Select;
  if ((options.select == Select::Chosen && !options.choices.count(request.symbol)) ||
      (options.select == Select::NotTuned && request.isAuto)) {
    return;
  }
  DiagnosticEngine::Context context(engine, request.range,
                                    llvm::Twine("in `") + request.symbol + "`");
  auto instance = std::make_unique<KernelInstance>();
  instance->symbol = request.symbol;
  instance->sourceName = k.name.name;
  instance->range = k.name.range;
  instance->requested = request.range;
  if (request.isAuto && !tune(request, *instance)) {
    return;
  }
  Env env(request.home);
  if (!bindGenerics(request, env, *instance)) {
    return;
  }
  // `where` of the instantiate itself: the wrong target skips it.
  for (const ast::Expr *clause : request.where) {
    FrameGuard guard(*this);
    frame = Frame();
    env.module = request.main;
    frame.env = &env;
    Value v = condition(clause);
    env.module = request.home;
    if (v.isError()) {
      return;
    }
    if (!v.constant) {
      report(Id::NotConstant, clause->range, "the `where` of `instantiate`");
      return;
    }
    if (!v.constant->i) {
      program.skipsKernels = true;
      return;
    }
  }
  auto [it, isNew] = symbols.try_emplace(request.symbol, request.range);
  if (!isNew) {
    report(Id::DuplicateSymbol, request.range, request.symbol) << note(it->second, "taken here");
    return;
  }
  if (elaborateKernel(request, env, *instance)) {
    program.kernels.push_back(std::move(instance));
  }
}

void Analyzer::fromItem(const Module &main, const ast::InstantiateItem &item) {
  auto it = main.kernels.find(item.kernel.name);
  if (it == main.kernels.end()) {
    return; // reported by the check of names
  }
  Request request;
  request.kernel = it->second.item;
  request.home = it->second.home;
  request.main = &main;
  request.symbol = item.symbol.name.str();
  request.range = item.symbol.range;
  request.where = item.where;
  request.isAuto = options.autoParams;
  Env env(&main);
  FrameGuard guard(*this);
  frame = Frame();
  frame.env = &env;
  for (const ast::Given &g : item.given) {
    if (g.isAuto()) {
      request.isAuto = true;
      continue;
    }
    if (llvm::any_of(request.given,
                     [&](const Request::Given &o) { return o.name == g.name.name; })) {
      report(Id::ArgumentTwice, g.name.range, item.kernel.name, g.name.name);
      return;
    }
    Value v = operand(g.value);
    if (v.isError()) {
      return;
    }
    if (!v.constant) {
      report(Id::NotConstant, g.value->range, llvm::Twine("the value of `") + g.name.name + "`");
      return;
    }
    request.given.push_back({g.name.name, *v.constant, g.range});
  }
  request.optionValues = &optionValues;
  request.optionsUsed = &optionsUsed;
  elaborate(request);
}

void Analyzer::fromDefaults(const Module &main, const ast::KernelItem &kernel) {
  Request request;
  request.kernel = &kernel;
  request.home = request.main = &main;
  request.symbol = kernel.name.name.str();
  request.range = kernel.name.range;
  request.isAuto = options.autoParams;
  request.optionValues = &optionValues;
  request.optionsUsed = &optionsUsed;
  elaborate(request);
}

void Analyzer::instantiateAll(const Module &main) {
  for (const auto &[name, text] : options.params) {
    auto v = optionValue(text);
    if (!v) {
      report(Id::OptionParameterValue, SourceRange(), name, text);
      continue;
    }
    optionValues[name] = *v;
  }
  llvm::SmallVector<const ast::InstantiateItem *> items;
  auto collect = [&](const LoadedFile &file) {
    for (const ast::Item *item : file.ast->items) {
      if (auto *i = llvm::dyn_cast<ast::InstantiateItem>(item)) {
        items.push_back(i);
      }
    }
  };
  collect(*main.file);
  for (const LoadedFile *extra : options.instantiate) {
    collect(*extra);
  }
  // In the order of the file: kernels by themselves where they stand, then the extra ones.
  auto named = [&](llvm::StringRef kernel) {
    return llvm::any_of(items, [&](auto *i) { return i->kernel.name == kernel; });
  };
  size_t own = 0;
  for (const ast::Item *item : main.file->ast->items) {
    if (auto *k = llvm::dyn_cast<ast::KernelItem>(item)) {
      auto it = main.kernels.find(k->name.name);
      if (it != main.kernels.end() && it->second.item == k && !named(k->name.name)) {
        fromDefaults(main, *k);
      }
    } else if (auto *i = llvm::dyn_cast<ast::InstantiateItem>(item)) {
      fromItem(main, *i);
      ++own;
    }
  }
  for (const ast::InstantiateItem *i : llvm::drop_begin(items, own)) {
    fromItem(main, *i);
  }
  if (!options.kernel.empty() && !kernelFound) {
    llvm::SmallVector<llvm::StringRef> names(kernelNames.begin(), kernelNames.end());
    report(Id::UndeclaredKernel, SourceRange(), options.kernel).meant(options.kernel, names);
  }
  if (options.kernel.empty()) {
    for (const auto &[name, value] : optionValues) {
      if (!optionsUsed.count(name) && options.select == SemaOptions::Select::All &&
          !engine.hasErrors()) {
        llvm::SmallVector<llvm::StringRef> names(parameterNames.begin(), parameterNames.end());
        report(Id::UnknownOptionParameter, SourceRange(), name).meant(name, names);
      }
    }
  }
}

} // namespace tilec::sema
