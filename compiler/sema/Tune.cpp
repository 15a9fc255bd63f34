//===- Tune.cpp - the sets of parameters that `auto` chooses from ---------===//
#include "compiler/sema/Analyzer.h"
#include "compiler/sema/Request.h"

#include "llvm/ADT/ScopeExit.h"

#include <numeric>
#include <utility>

namespace tilec::sema {

using diag::Id;

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

/// What `tune` can ask of a set: at multiples of how many bytes the code that it is for relies on rows to start. A program's own name
/// goes before it.
static constexpr llvm::StringLiteral kAlignment = "ALIGNMENT";

static void declareAlignment(Env &env, RowKind rows) {
  if (env.module->consts.count(kAlignment)) {
    return;
  }
  Entity e;
  e.name = kAlignment;
  e.constant = ConstValue::untyped(Int128(alignmentOf(rows)));
  env.declare(std::move(e));
}

static bool asksForRows(const ast::KernelItem &k, const ast::Expr *e) {
  return isNamed(e, kAlignment) && isUnknown(k, kAlignment);
}

/// How many sets to keep for such rows; nothing after a diagnostic.
std::optional<unsigned> Analyzer::keptSets(const ast::KernelItem &k, const ast::Expr *keep,
                                           RowKind rows) {
  for (const ast::GenericParam &g : k.generics) {
    if (isNamed(keep, g.name.name)) {
      report(Id::NotConstant, keep->range, "what `keep` says")
          .hint("`" + g.name.name +
                "` differs between sets; constants of the file, `ARCH` and `ALIGNMENT` do not");
      return std::nullopt;
    }
  }
  if (asksForRows(k, keep)) {
    declareAlignment(*frame.env, rows);
  }
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
      instance.keep = {};
      const bool differs = asksForRows(*request.kernel, item->keep);
      for (RowKind rows : llvm::ArrayRef(kRowKinds).take_front(differs ? kRowKinds.size() : 1)) {
        instance.keep[rows] = keptSets(*request.kernel, item->keep, rows);
        if (!instance.keep[rows]) {
          return false;
        }
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

/// How many clauses, from the first one on, hold or wait for dimensions; nothing after a diagnostic.
std::optional<size_t> Analyzer::clausesHeld(Env &env, llvm::ArrayRef<const ast::Expr *> clauses) {
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

/// The same for code of each kind of rows. The first `numOfTune` clauses are of `tune`, which knows names of its file, the others of the
/// kernel, which knows those of its own; `env` has the kernel's parameters.
std::optional<ByRowKind<size_t>>
Analyzer::clausesHeldByRows(const Request &request, Env &env,
                            llvm::ArrayRef<const ast::Expr *> clauses, size_t numOfTune) {
  const bool differs = llvm::any_of(clauses.take_front(numOfTune), [&](const ast::Expr *clause) {
    return asksForRows(*request.kernel, clause);
  });
  Env tuneEnv(request.main);
  for (const ast::GenericParam &g : request.kernel->generics) {
    tuneEnv.declare(Entity(*env.find(g.name.name)));
  }
  ByRowKind<size_t> counts;
  for (RowKind rows : kRowKinds) {
    if (!differs && rows != kRowKinds.front()) {
      counts[rows] = counts[kRowKinds.front()];
      continue;
    }
    if (differs) {
      declareAlignment(tuneEnv, rows);
    }
    std::optional<size_t> held = clausesHeld(tuneEnv, clauses.take_front(numOfTune)), own = 0;
    if (held == numOfTune) {
      own = clausesHeld(env, clauses.drop_front(numOfTune));
    }
    if (!held || !own) {
      return std::nullopt;
    }
    counts[rows] = *held + *own;
  }
  return counts;
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

/// A set of values for the kinds of rows for which all of `count` clauses hold.
static Candidate candidateOf(const KernelInstance &trial, const ByRowKind<size_t> &held,
                             size_t count) {
  Candidate candidate{trial.bindings};
  for (RowKind rows : kRowKinds) {
    candidate.isFor[rows] = held[rows] == count;
  }
  return candidate;
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
  const size_t numOfTune = clauses.size();
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
    const auto held = clausesHeldByRows(request, trialEnv, clauses, numOfTune);
    if (!held) {
      return false;
    }
    if (!llvm::is_contained(held->of, clauses.size())) {
      const uint64_t same =
          alike[*llvm::max_element(held->of)]; // the fewest: later clauses see more
      n += same - n % same - 1;
      continue;
    }
    const bool isGiven = choice != options.choices.end();
    const bool isChosen = isGiven ? choice->second == instance.candidates.size()
                                  : llvm::equal(trial.bindings, defaults.bindings, isSame);
    if (instance.candidates.empty() || isChosen) {
      chosen.assign(request.given.begin(), request.given.end());
    }
    instance.candidates.push_back(candidateOf(trial, *held, clauses.size()));
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

} // namespace tilec::sema
