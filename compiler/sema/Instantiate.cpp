//===- Instantiate.cpp - instantiate, tune, -P ----------------------------===//
#include "compiler/basic/Spelling.h"
#include "compiler/sema/Analyzer.h"
#include "compiler/sema/Modules.h"
#include "compiler/sema/Request.h"

#include "llvm/ADT/ScopeExit.h"

#include <numeric>
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

/// Whether an extent names it, so that it may be a dimension.
static bool isNamed(const ast::Expr *e, llvm::StringRef name) {
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

/// Neither a compile-time parameter of the kernel nor perhaps a dimension.
static bool isUnknown(const ast::KernelItem &k, llvm::StringRef name) {
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

/// More combinations than any search tries.
static constexpr size_t maxCombinations = 65536;
static constexpr unsigned mostKept = 64; // as --variants

/// What `tune` lists for one parameter.
struct Analyzer::Tuned {
  llvm::StringRef name;
  llvm::SmallVector<ConstValue> values;
};

/// More than the maximum: one more than that.
uint64_t Analyzer::combinationsOf(llvm::ArrayRef<Tuned> tuned) {
  return std::accumulate(tuned.begin(), tuned.end(), uint64_t(1), [](uint64_t count, auto &t) {
    return std::min<uint64_t>(count * t.values.size(), maxCombinations + 1);
  });
}

bool Analyzer::tuneValues(const ast::TuneParam &p, Tuned &out) {
  if (p.list) {
    for (const ast::Expr *e : p.list->elements) {
      Value v = operand(e);
      if (v.isError()) {
        return false;
      }
      if (!v.constant) {
        report(Id::NotConstant, e->range, "a value in `tune`");
        return false;
      }
      out.values.push_back(*v.constant);
    }
    return true;
  }
  auto lo = constantInt(p.bounds.first, "a bound in `tune`");
  auto hi = constantInt(p.bounds.last, "a bound in `tune`");
  auto by = p.bounds.step ? constantInt(p.bounds.step, "a step in `tune`") : int64_t(1);
  if (!lo || !hi || !by) {
    return false;
  }
  if (*by < 1) {
    report(Id::LoopStep, p.bounds.step->range, *by);
    return false;
  }
  for (Int128 i = *lo; i < *hi && out.values.size() <= maxCombinations; i += *by) {
    out.values.push_back(ConstValue::untyped(i));
  }
  return true;
}

/// What `tune` can ask of a set: whether it is for code that relies on aligned rows. A program's own name goes before it.
static constexpr llvm::StringLiteral kAligned = "ALIGNED";

static void declareAligned(Env &env, bool value) {
  const Entity *known = env.find(kAligned);
  if (env.module->consts.count(kAligned) || (known && known->range.isValid())) {
    return;
  }
  Entity e;
  e.name = kAligned;
  e.constant = ConstValue::boolean(value);
  env.declare(std::move(e));
}

/// How many sets to keep, where ALIGNED has this value; nothing after a diagnostic.
std::optional<unsigned> Analyzer::keptSets(const ast::KernelItem &k, const ast::Expr *keep,
                                           bool aligned) {
  for (const ast::GenericParam &g : k.generics) {
    if (isNamed(keep, g.name.name)) {
      report(Id::NotConstant, keep->range, "what `keep` says")
          .hint("`" + g.name.name +
                "` differs between sets; constants of the file, `ARCH` and `ALIGNED` do not");
      return std::nullopt;
    }
  }
  declareAligned(*frame.env, aligned);
  const auto count = constantInt(keep, "what `keep` says");
  if (count && (*count < 1 || *count > mostKept)) {
    report(Id::TuneKeep, keep->range, *count, mostKept);
    return std::nullopt;
  }
  return count ? std::optional(unsigned(*count)) : std::nullopt;
}

/// Collects what `tune` lists and nobody gives, and its clauses.
bool Analyzer::tuneLists(const Request &request, KernelInstance &instance,
                         std::vector<Tuned> &tuned,
                         llvm::SmallVectorImpl<const ast::Expr *> &clauses) {
  bool any = false;
  for (const ast::TuneItem *item : request.main->tunes) {
    if (item->kernel.name != request.kernel->name.name) {
      continue;
    }
    any = true;
    clauses.append(item->where.begin(), item->where.end());
    if (item->keep) {
      const bool differs = isNamed(item->keep, kAligned);
      instance.keep = keptSets(*request.kernel, item->keep, true);
      instance.keepAny =
          differs && instance.keep ? keptSets(*request.kernel, item->keep, false) : std::nullopt;
      if (!instance.keep || differs != instance.keepAny.has_value()) {
        return false;
      }
    }
    for (const ast::TuneParam &p : item->params) {
      bool taken = llvm::any_of(tuned, [&](const Tuned &t) { return t.name == p.name.name; });
      if (taken || request.value(p.name.name, options)) {
        continue;
      }
      tuned.push_back({p.name.name, {}});
      if (!tuneValues(p, tuned.back())) {
        return false;
      }
    }
  }
  if (!any) {
    report(Id::NoTune, request.range, request.kernel->name.name);
  }
  return any;
}

/// Whether a parameter that `tune` lists has a value already.
bool Analyzer::givesTuned(const Request &request) const {
  return llvm::any_of(request.main->tunes, [&](const ast::TuneItem *item) {
    return item->kernel.name == request.kernel->name.name &&
           llvm::any_of(item->params, [&](const ast::TuneParam &p) {
             return request.value(p.name.name, options) != nullptr;
           });
  });
}

/// How many clauses, from the first one on, hold or wait for dimensions, for code of such rows; nothing after a diagnostic.
std::optional<size_t> Analyzer::clausesHeld(Env &env, llvm::ArrayRef<const ast::Expr *> clauses,
                                            bool aligned) {
  declareAligned(env, aligned);
  frame.env = &env;
  for (auto [i, clause] : llvm::enumerate(clauses)) {
    if (!namesKnown(clause, env)) {
      continue; // checked at launch
    }
    Value v = condition(clause);
    if (v.isError()) {
      return std::nullopt;
    }
    if (v.constant && !v.constant->i) {
      return i;
    }
  }
  return clauses.size();
}

/// The same for code of aligned rows and of any; `differs`: whether some clause asks.
std::optional<std::pair<size_t, size_t>>
Analyzer::clausesHeldByRows(Env &env, llvm::ArrayRef<const ast::Expr *> clauses, bool differs) {
  const std::optional<size_t> aligned = clausesHeld(env, clauses, /*aligned=*/true);
  const auto any = differs && aligned ? clausesHeld(env, clauses, /*aligned=*/false) : aligned;
  return any ? std::optional(std::pair(*aligned, *any)) : std::nullopt;
}

/// How many of the parameters that are tried, from the first one on, decide what `e` is, where it names parameters of `generics`: these themselves, or
/// what the default of one names that has no other value, which are some before it.
size_t Analyzer::decidersOf(const ast::Expr *e, llvm::ArrayRef<ast::GenericParam> generics,
                            const Request &request, llvm::ArrayRef<Tuned> tuned) const {
  size_t count = 0;
  for (auto [i, g] : llvm::enumerate(generics)) {
    if (!isNamed(e, g.name.name)) {
      continue;
    }
    const auto *own = llvm::find_if(tuned, [&](const Tuned &t) { return t.name == g.name.name; });
    if (own != tuned.end()) {
      count = std::max<size_t>(count, own - tuned.begin() + 1);
    } else if (g.defaultValue && !request.value(g.name.name, options)) {
      count = std::max(count, decidersOf(g.defaultValue, generics.take_front(i), request, tuned));
    }
  }
  return count;
}

/// For each clause: of so many sets, one behind the other, it fails for all or for none, where those before it hold. A clause is looked at
/// only there, so that what decides about them decides about it, too.
llvm::SmallVector<uint64_t> Analyzer::setsAlike(llvm::ArrayRef<const ast::Expr *> clauses,
                                                const Request &request,
                                                llvm::ArrayRef<Tuned> tuned) const {
  llvm::SmallVector<uint64_t> alike;
  size_t deciders = 0;
  for (const ast::Expr *clause : clauses) {
    deciders = std::max(deciders, decidersOf(clause, request.kernel->generics, request, tuned));
    alike.push_back(1);
    for (const Tuned &t : tuned.drop_front(deciders)) {
      alike.back() *= t.values.size();
    }
  }
  return alike;
}

static bool isSame(const Binding &a, const Binding &b) {
  return a.name == b.name && a.value == b.value;
}

/// Chooses values for the parameters that `tune` lists and nobody gives, and adds them to the
/// request. All admissible choices go to `instance.candidates`, up to the one that is asked for: compiling one of many tries
/// no more of them than it has to.
bool Analyzer::tune(Request &request, KernelInstance &instance) {
  const ast::KernelItem &k = *request.kernel;
  // Trying sets is no expansion, and cheap: as many steps for each kernel, of which a sixteenth counts for all of them together.
  auto rest = llvm::scope_exit([this, all = std::exchange(steps, 0)] { steps = all + steps / 16; });
  Env env(request.main);
  FrameGuard guard(*this);
  frame = Frame();
  frame.env = &env;
  std::vector<Tuned> tuned;
  llvm::SmallVector<const ast::Expr *> clauses;
  if (!tuneLists(request, instance, tuned, clauses)) {
    return false;
  }
  clauses.append(k.where.begin(), k.where.end());
  const uint64_t combinations = combinationsOf(tuned);
  if (combinations > maxCombinations) {
    report(Id::ExpansionSize, request.range, maxCombinations).hint("list fewer values in `tune`");
    return false;
  }
  // What the defaults say is the choice of those who do not choose; without them it is the first.
  const bool hasDefaults = llvm::all_of(k.generics, [&](const ast::GenericParam &g) {
    return g.defaultValue ||
           llvm::none_of(tuned, [&](const Tuned &t) { return t.name == g.name.name; });
  });
  KernelInstance defaults, trial;
  Env defaultEnv(request.home);
  if (hasDefaults && !bindGenerics(request, defaultEnv, defaults)) {
    return false;
  }
  const auto choice = options.choices.find(request.symbol);
  const llvm::SmallVector<uint64_t> alike = setsAlike(clauses, request, tuned);
  const bool differs =
      llvm::any_of(clauses, [](const ast::Expr *clause) { return isNamed(clause, kAligned); });
  size_t fixed = request.given.size();
  llvm::SmallVector<Request::Given> chosen;
  for (uint64_t n = 0; n < combinations; ++n) {
    request.given.truncate(fixed);
    // The last listed parameter varies fastest.
    uint64_t rest = n;
    for (const Tuned &t : llvm::reverse(tuned)) {
      request.given.push_back({t.name, t.values[rest % t.values.size()], SourceRange()});
      rest /= t.values.size();
    }
    Env trialEnv(request.home);
    if (!step(request.range) || !bindGenerics(request, trialEnv, trial)) {
      return false;
    }
    const auto held = clausesHeldByRows(trialEnv, clauses, differs);
    if (!held) {
      return false;
    }
    const bool forAligned = held->first == clauses.size(), forAny = held->second == clauses.size();
    if (!forAligned && !forAny) {
      const uint64_t same = std::min(alike[held->first], alike[held->second]);
      n += same - n % same - 1;
      continue;
    }
    const bool isGiven = choice != options.choices.end();
    const bool isChosen = isGiven ? choice->second == instance.candidates.size()
                                  : llvm::equal(trial.bindings, defaults.bindings, isSame);
    if (instance.candidates.empty() || isChosen) {
      chosen.assign(request.given.begin(), request.given.end());
    }
    instance.candidates.push_back({trial.bindings, forAligned, forAny});
    if (isGiven && isChosen) {
      break;
    }
  }
  request.given.truncate(fixed);
  if (instance.candidates.empty() && hasDefaults && givesTuned(request)) {
    // The lists were not made for what is given.
    instance.candidates.push_back({defaults.bindings});
    return true;
  }
  if (instance.candidates.empty()) {
    report(Id::TuneEmpty, request.range, k.name.name);
    return false;
  }
  request.given.assign(chosen.begin(), chosen.end());
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
