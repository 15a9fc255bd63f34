//===- Annotations.cpp - @words before statements and launches ------------===//
#include "compiler/basic/Spelling.h"
#include "compiler/sema/Analyzer.h"
#include "dialects/support/LaunchLimits.h"

#include "llvm/ADT/StringSwitch.h"

namespace tilec::sema {

using diag::Id;

namespace {
enum Places : unsigned { OnKernel = 1, OnLaunch = 2, OnStatement = 4, OnAccess = 8, OnShared = 16 };
} // namespace

/// All annotations, and before what each may stand.
static constexpr std::pair<llvm::StringLiteral, unsigned> annotations[] = {
    {"fast_math", OnKernel},       {"persistent", OnLaunch},
    {"rasterize", OnLaunch},       {"cluster", OnLaunch},
    {"min_blocks", OnLaunch},      {"max_registers", OnLaunch},
    {"warp_specialize", OnLaunch}, {"no_tma", OnLaunch | OnStatement},
    {"overlap", OnLaunch},         {"require", OnLaunch | OnStatement},
    {"cache", OnAccess},           {"layout", OnShared},
};

static std::optional<unsigned> placesOf(llvm::StringRef name) {
  for (const auto &[known, places] : annotations) {
    if (known == name) {
      return places;
    }
  }
  return std::nullopt;
}

/// Whether the annotation is known and may stand before what `places` names; reports if not.
static bool checkPlace(DiagnosticEngine &engine, const ast::Annotation &a, unsigned places,
                       llvm::StringRef what) {
  auto allowed = placesOf(a.name.name);
  if (!allowed) {
    llvm::SmallVector<llvm::StringRef> names;
    for (const auto &[known, itsPlaces] : annotations) {
      names.push_back(known);
    }
    llvm::StringRef nearest = nearestName(a.name.name, names);
    auto builder = engine.report(Id::AnnotationUnknown, a.name.range, a.name.name);
    builder.hint(nearest.empty() ? "there are " + listed(names, "and")
                                 : "did you mean `@" + nearest.str() + "`?");
    return false;
  }
  if (!(*allowed & places)) {
    engine.report(Id::AnnotationPlace, a.name.range, a.name.name, what);
    return false;
  }
  return true;
}

static void checkTwice(DiagnosticEngine &engine, llvm::ArrayRef<ast::Annotation> list) {
  for (size_t i = 0; i < list.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (list[i].name.name == list[j].name.name && list[i].name.name != "require") {
        engine.report(Id::AnnotationArgument, list[i].name.range, list[i].name.name,
                      "stands here twice");
      }
    }
  }
}

void checkKernelAnnotations(DiagnosticEngine &engine, const ast::KernelItem &k, bool &fastMath) {
  checkTwice(engine, k.annotations);
  for (const ast::Annotation &a : k.annotations) {
    if (!checkPlace(engine, a, OnKernel, "a kernel")) {
      continue;
    }
    fastMath = true;
    if (!a.args.empty()) {
      engine.report(Id::AnnotationArgument, a.range, a.name.name, "takes no arguments");
    }
  }
}

bool Analyzer::annotationCount(const ast::Annotation &a, unsigned least, unsigned most) {
  for (const ast::Arg &arg : a.args) {
    bool named = (a.name.name == "rasterize" && arg.name.name == "group") ||
                 (a.name.name == "require" && arg.name.name == "from");
    if (arg.name && !named) {
      report(Id::AnnotationArgument, arg.name.range, a.name.name,
             llvm::Twine("has no argument `") + arg.name.name + "`");
      return false;
    }
  }
  if (a.args.size() < least || a.args.size() > most) {
    report(Id::AnnotationArgument, a.range, a.name.name,
           "takes " + (least == most ? std::string() : std::to_string(least) + " to ") +
               counted(most, "argument"));
    return false;
  }
  return true;
}

std::optional<int64_t> Analyzer::annotationInt(const ast::Annotation &a, const ast::Expr *e,
                                               int64_t least, int64_t most) {
  auto n = constantInt(e, llvm::Twine("an argument of `@") + a.name.name + "`");
  if (n && (*n < least || *n > most)) {
    report(Id::AnnotationArgument, e->range, a.name.name,
           llvm::Twine("needs a number from ") + llvm::Twine(least) + " to " + llvm::Twine(most));
    return std::nullopt;
  }
  return n;
}

/// A number of the host.
const Expr *Analyzer::rasterizeGroup(const ast::Expr *e) {
  Value v = operand(e);
  const bool isWide = v.type.kind == Type::Kind::UntypedInt && v.constant &&
                      !fitsInteger(v.constant->i, Scalar::I32);
  v = isWide ? adapt(v, Scalar::I64) : withDefaultType(v);
  if (v.isError()) {
    return nullptr;
  }
  if (!v.type.isScalar() || !isInteger(v.type.elem)) {
    report(Id::TypeMismatchKind, v.range, "an integer as height of a panel", v.type.str());
    return nullptr;
  }
  return materialize(v);
}

/// `word` or `word(n)`.
static std::pair<llvm::StringRef, const ast::Expr *> wordOf(const ast::Expr *e) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(e)) {
    return {name->name, nullptr};
  }
  auto *call = llvm::dyn_cast<ast::CallExpr>(e);
  if (call && call->args.size() == 1 && !call->args[0].name) {
    return {call->callee.name, call->args[0].value};
  }
  return {"", nullptr};
}

void Analyzer::requireAnnotation(const ast::Annotation &a,
                                 llvm::SmallVectorImpl<Requirement> &out) {
  if (!annotationCount(a, 1, 16)) {
    return;
  }
  int64_t from = 0;
  llvm::SmallVector<Requirement> wanted;
  for (const ast::Arg &arg : a.args) {
    if (arg.name) {
      auto n = annotationInt(a, arg.value, 0);
      from = n.value_or(0);
      continue;
    }
    auto [word, count] = wordOf(chosenArg(arg.value));
    using K = Requirement::Kind;
    auto kind = llvm::StringSwitch<std::optional<K>>(word)
                    .Case("wgmma", K::Wgmma)
                    .Case("mma", K::Mma)
                    .Case("tma", K::Tma)
                    .Case("cp_async", K::CpAsync)
                    .Case("pipelined", K::Pipelined)
                    .Case("stages", K::Stages)
                    .Case("warp_specialize", K::WarpSpecialize)
                    .Case("cluster", K::Cluster)
                    .Case("no_exchange", K::NoExchange)
                    .Case("no_spill", K::NoSpill)
                    .Case("no_partial", K::NoPartial)
                    .Case("no_split", K::NoSplit)
                    .Case("no_vote", K::NoVote)
                    .Case("no_narrow", K::NoNarrow)
                    .Case("vector", K::Vector)
                    .Default(std::nullopt);
    if (!kind || (count != nullptr) != (kind == K::Vector)) {
      report(Id::AnnotationArgument, arg.value->range, a.name.name,
             llvm::Twine("does not know `") + sourceText(arg.value->range) + "`")
          .hint("it takes wgmma, mma, tma, cp_async, pipelined, stages, warp_specialize, "
                "cluster, no_exchange, no_spill, no_partial, no_split, no_vote, no_narrow, "
                "vector(bytes)");
      return;
    }
    Requirement r{*kind, 0, arg.value->range};
    if (count) {
      auto n = annotationInt(a, count, 1);
      if (!n) {
        return;
      }
      r.bytes = *n;
    }
    wanted.push_back(r);
  }
  if (from <= options.arch) {
    out.append(wanted.begin(), wanted.end());
  }
}

LayoutChoice Analyzer::layoutAnnotation(const ast::Annotation &a, const ast::Stmt *s) {
  LayoutChoice choice;
  choice.range = a.range;
  if (!annotationCount(a, 1, 1)) {
    return choice;
  }
  auto [word, count] = wordOf(chosenArg(a.args[0].value));
  std::optional<int64_t> n = count ? annotationInt(a, count, 1) : std::nullopt;
  if (count && !n) {
    return choice;
  }
  bool swizzle = word == "swizzle" && n && (*n == 32 || *n == 64 || *n == 128);
  if (word == "row_major" && !count) {
    choice.kind = LayoutChoice::Kind::RowMajor;
  } else if (swizzle || (word == "padded" && n)) {
    choice.kind = swizzle ? LayoutChoice::Kind::Swizzle : LayoutChoice::Kind::Padded;
    choice.amount = *n;
  } else {
    report(Id::AnnotationArgument, a.args[0].value->range, "layout",
           llvm::Twine("does not know `") + sourceText(a.args[0].value->range) + "`")
        .hint("it takes row_major, swizzle(32), swizzle(64), swizzle(128), padded(n)");
  }
  return choice;
}

/// Whether a statement of this kind may read or write global memory, or hold others that do.
bool Analyzer::mayAccessGlobal(const ast::Stmt *s) {
  using K = ast::StmtKind;
  if (auto *call = llvm::dyn_cast<ast::CallStmt>(s)) {
    llvm::StringRef callee = call->call->callee.name;
    return findFunction(callee) || callee == "copy" || callee.starts_with("atomic_");
  }
  return llvm::is_contained(
      {K::Let, K::Var, K::Assign, K::Threads, K::Parallel, K::For, K::While, K::If}, s->kind);
}

StmtAnnotations Analyzer::stmtAnnotations(const ast::Stmt *s) {
  StmtAnnotations result;
  if (s->annotations.empty()) {
    return result;
  }
  checkTwice(engine, s->annotations);
  auto *buffer = llvm::dyn_cast<ast::BufferStmt>(s);
  bool inLaunch = frame.mode != Mode::Host && frame.mode != Mode::Fn;
  unsigned places = inLaunch ? OnStatement : 0;
  places |= inLaunch && mayAccessGlobal(s) ? OnAccess : 0;
  places |= buffer && buffer->bufferKind == ast::BufferKind::Shared ? OnShared : 0;
  llvm::SmallVector<Requirement> require;
  for (const ast::Annotation &a : s->annotations) {
    if (!checkPlace(engine, a, places, "this statement")) {
      continue;
    }
    if (a.name.name == "no_tma") {
      result.noTma = annotationCount(a, 0, 0);
    } else if (a.name.name == "require") {
      requireAnnotation(a, require);
    } else if (a.name.name == "cache" && annotationCount(a, 1, 1)) {
      auto word = wordArg(a.args[0].value);
      result.cache = word == "evict_first"   ? CachePolicy::EvictFirst
                     : word == "evict_last"  ? CachePolicy::EvictLast
                     : word == "no_allocate" ? CachePolicy::NoAllocate
                                             : CachePolicy::None;
      if (result.cache == CachePolicy::None) {
        report(Id::AnnotationArgument, a.args[0].value->range, "cache",
               "takes `evict_first`, `evict_last` or `no_allocate`");
      }
    }
  }
  result.require = program.list<Requirement>(require);
  return result;
}

LaunchAnnotations Analyzer::launchAnnotations(const ast::LaunchStmt *s, StmtAnnotations &common) {
  LaunchAnnotations result;
  checkTwice(engine, s->annotations);
  llvm::SmallVector<Requirement> require;
  const ast::Annotation *pingpong = nullptr;
  for (const ast::Annotation &a : s->annotations) {
    llvm::StringRef name = a.name.name;
    if (!checkPlace(engine, a, OnLaunch, "a launch")) {
      continue;
    }
    if (name == "no_tma") {
      common.noTma = annotationCount(a, 0, 0);
    } else if (name == "overlap") {
      result.overlap = annotationCount(a, 0, 0);
    } else if (name == "require") {
      requireAnnotation(a, require);
    } else if (name == "persistent" && annotationCount(a, 0, 1)) {
      result.persistent = true;
      if (!a.args.empty()) {
        std::string word = wordArg(a.args[0].value).value_or("");
        result.persistentDynamic = word == "dynamic";
        if (!result.persistentDynamic && word != "static") {
          report(Id::AnnotationArgument, a.args[0].value->range, name,
                 "takes `static`, `dynamic` or nothing");
        }
      }
    } else if (name == "warp_specialize" && annotationCount(a, 1, 1)) {
      using W = LaunchAnnotations::WarpSpecialize;
      auto word = wordArg(a.args[0].value).value_or("");
      auto w = llvm::StringSwitch<std::optional<W>>(word)
                   .Case("auto", W::Auto)
                   .Case("off", W::Off)
                   .Case("producer", W::Producer)
                   .Case("operations", W::Operations)
                   .Case("pingpong", W::PingPong)
                   .Default(std::nullopt);
      if (!w) {
        report(Id::AnnotationArgument, a.args[0].value->range, name,
               "takes `auto`, `off`, `producer`, `operations` or `pingpong`");
        continue;
      }
      result.warpSpecialize = *w;
      pingpong = w == W::PingPong ? &a : pingpong;
    } else if (name == "rasterize" && annotationCount(a, 1, 1)) {
      result.rasterizeGroup = rasterizeGroup(a.args[0].value);
    } else if (name == "cluster" && annotationCount(a, 1, 3)) {
      llvm::SmallVector<int64_t> extents;
      int64_t blocks = 1;
      for (const ast::Arg &arg : a.args) {
        extents.push_back(annotationInt(a, arg.value, 1, kMaxClusterBlocks).value_or(1));
        blocks *= extents.back();
      }
      if (blocks > kMaxClusterBlocks) {
        report(Id::AnnotationArgument, a.range, name,
               llvm::Twine("has ") + llvm::Twine(blocks) + " blocks, a cluster has at most " +
                   llvm::Twine(kMaxClusterBlocks));
      }
      result.cluster = program.list<int64_t>(extents);
    } else if (name == "min_blocks" && annotationCount(a, 1, 1)) {
      result.minBlocks = annotationInt(a, a.args[0].value, 1, kMaxBlocksPerSM);
    } else if (name == "max_registers" && annotationCount(a, 1, 1)) {
      result.maxRegisters = annotationInt(a, a.args[0].value, kLeastRegisters, kMostRegisters);
    }
  }
  if (pingpong && !result.persistent) {
    report(Id::AnnotationArgument, pingpong->range, "warp_specialize",
           "with `pingpong` needs `@persistent`");
  }
  common.require = program.list<Requirement>(require);
  return result;
}

} // namespace tilec::sema
