//===- Initialisation.cpp - Reads of what was never written ---------------===//
//
// For each buffer and each point of the program: on which paths from the declaration to here was
// the buffer's first access a write? If there is such a path, or none at all that leads here, nothing
// can be said. Otherwise a read is an error of the program whenever it is executed:
//   - Declared       some path arrives without having accessed the buffer,
//   - Written        some path arrives on which the first access was a write.
// A read takes `Declared` away, since the path ends in an error there. That is what finds the
// accumulator of a product in a loop: the product does write it, but never first.
//
// Writing one element counts as writing the buffer: nothing is ever reported that might be right.
// Iterations of `parallel` are independent, so none sees what another wrote. Threads of a region see
// each other's writes behind a barrier that both passed, and there is a path through the region
// that follows the one thread to the barrier and the other from there.
//
// A loop begins with what comes from before it and from its own end. What came from the end is
// kept from one walk over the launch to the next, and it only grows, two bits for each buffer;
// so walking ends, after about as many walks as loops are nested. Only the last walk reports.
//
//===----------------------------------------------------------------------===//
#include "compiler/sema/Initialisation.h"

#include "compiler/sema/ExprWalk.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tilec::sema {

namespace {

enum : uint8_t { Declared = 1, Written = 2 };

/// What holds at one point, for the buffers that are visible there in the order of declaration.
struct State {
  bool reachable = false;
  llvm::SmallVector<uint8_t, 16> buffers;

  /// Adds the paths of `other`; buffers that only one of the two knows are gone afterwards. True if
  /// that is news.
  bool join(const State &other) {
    if (!other.reachable) {
      return false;
    }
    if (!reachable) {
      *this = other;
      return true;
    }
    buffers.truncate(std::min(buffers.size(), other.buffers.size()));
    bool news = false;
    for (auto [mine, theirs] : llvm::zip_first(buffers, other.buffers)) {
      news |= (theirs & ~mine) != 0;
      mine |= theirs;
    }
    return news;
  }
};

class InitialisationCheck {
public:
  explicit InitialisationCheck(DiagnosticEngine &engine) : engine(engine) {}

  void run(Block launch) {
    do {
      news = false;
      walkLaunch(launch);
    } while (news);
    reporting = true;
    walkLaunch(launch);
  }

private:
  struct Loop {
    State atBreak, atContinue;
  };

  void walkLaunch(Block launch) {
    state = State();
    state.reachable = true;
    scope(launch);
  }

  //===--- Buffers --------------------------------------------------------===//

  /// The reference at the bottom of a place: to a buffer, a view or a tensor.
  static const RefExpr *reference(const Expr *e) {
    while (true) {
      switch (e->kind) {
      case Expr::Kind::Ref:
        return llvm::cast<RefExpr>(e);
      case Expr::Kind::Element:
        e = llvm::cast<ElementExpr>(e)->base;
        break;
      case Expr::Kind::VecAccess:
        e = llvm::cast<VecAccessExpr>(e)->base;
        break;
      case Expr::Kind::VecElement:
        e = llvm::cast<VecElementExpr>(e)->vec;
        break;
      case Expr::Kind::Slice:
        e = llvm::cast<SliceExpr>(e)->base;
        break;
      case Expr::Kind::Origin:
        e = llvm::cast<OriginExpr>(e)->base;
        break;
      case Expr::Kind::Reshape:
        e = llvm::cast<ReshapeExpr>(e)->base;
        break;
      case Expr::Kind::BitcastView:
        e = llvm::cast<BitcastViewExpr>(e)->base;
        break;
      default:
        return nullptr; // of a value
      }
    }
  }

  /// The buffer that `ref` names, perhaps by a view. Null for tensors and values.
  static const BufferDecl *bufferOf(const RefExpr *ref) {
    while (ref) {
      auto *view = llvm::dyn_cast<ViewDecl>(ref->decl);
      if (!view) {
        return llvm::dyn_cast<BufferDecl>(ref->decl);
      }
      ref = reference(view->place);
    }
    return nullptr;
  }

  uint8_t *find(const BufferDecl *buffer) {
    auto it = buffer ? positions.find(buffer) : positions.end();
    return state.reachable && it != positions.end() ? &state.buffers[it->second] : nullptr;
  }

  void declare(const BufferDecl *buffer, bool initialised) {
    positions[buffer] = state.buffers.size();
    state.buffers.push_back(initialised ? Written : Declared);
  }

  void read(const Expr *place) {
    const RefExpr *ref = reference(place);
    const BufferDecl *buffer = bufferOf(ref);
    uint8_t *paths = find(buffer);
    if (!paths) {
      return;
    }
    if (*paths == Declared && reporting && reported.insert(buffer).second) {
      // The word that stands there: a view's name, or that of a parameter.
      const char *begin = ref->range.Start.getPointer(), *end = ref->range.End.getPointer();
      llvm::StringRef name =
          begin && end > begin ? llvm::StringRef(begin, end - begin) : buffer->name;
      engine.report(diag::Id::Uninitialised, place->range, name)
          << note(buffer->range, "declared here");
    }
    *paths &= ~Declared;
  }

  void write(const Expr *place) {
    if (uint8_t *paths = find(bufferOf(reference(place)))) {
      *paths = *paths ? Written : 0;
    }
  }

  //===--- Expressions ----------------------------------------------------===//

  /// What is computed to know where a place is.
  void subscripts(const Expr *place) {
    auto each = [&](llvm::ArrayRef<Subscript> list) {
      for (const Subscript &s : list) {
        evaluate(s.begin);
        evaluate(s.end);
      }
    };
    if (auto *element = llvm::dyn_cast<ElementExpr>(place)) {
      subscripts(element->base);
      llvm::for_each(element->indices, [&](const Expr *e) { evaluate(e); });
    } else if (auto *vec = llvm::dyn_cast<VecAccessExpr>(place)) {
      subscripts(vec->base);
      llvm::for_each(vec->indices, [&](const Expr *e) { evaluate(e); });
    } else if (auto *part = llvm::dyn_cast<VecElementExpr>(place)) {
      subscripts(part->vec);
      evaluate(part->index);
    } else if (auto *slice = llvm::dyn_cast<SliceExpr>(place)) {
      subscripts(slice->base);
      each(slice->subscripts);
    } else if (auto *origin = llvm::dyn_cast<OriginExpr>(place)) {
      subscripts(origin->base);
      each(origin->subscripts);
    } else if (auto *reshape = llvm::dyn_cast<ReshapeExpr>(place)) {
      subscripts(reshape->base);
      llvm::for_each(reshape->extents, [&](const Extent &x) { evaluate(x.expr); });
    } else if (auto *bitcast = llvm::dyn_cast<BitcastViewExpr>(place)) {
      subscripts(bitcast->base);
    } else if (!llvm::isa<RefExpr>(place)) {
      evaluate(place); // a part of a value
    }
  }

  void perhaps(llvm::function_ref<void()> walk) {
    State before = state;
    walk();
    state.join(before);
  }

  void evaluate(const Expr *e) {
    if (!e) {
      return;
    }
    switch (e->kind) {
    case Expr::Kind::Ref:
    case Expr::Kind::Element:
    case Expr::Kind::VecAccess:
    case Expr::Kind::Slice:
    case Expr::Kind::Origin:
    case Expr::Kind::Reshape:
    case Expr::Kind::BitcastView:
      subscripts(e);
      return read(e);
    case Expr::Kind::ExtentOf:
      return subscripts(llvm::cast<ExtentOfExpr>(e)->place);
    case Expr::Kind::Select: {
      auto *select = llvm::cast<SelectExpr>(e);
      evaluate(select->cond);
      perhaps([&] { evaluate(select->ifTrue); });
      return perhaps([&] { evaluate(select->ifFalse); });
    }
    case Expr::Kind::Binary: {
      auto *binary = llvm::cast<BinaryExpr>(e);
      evaluate(binary->lhs);
      if (binary->op == BinaryOp::LogicalAnd || binary->op == BinaryOp::LogicalOr) {
        return perhaps([&] { evaluate(binary->rhs); });
      }
      return evaluate(binary->rhs);
    }
    case Expr::Kind::Atomic: {
      auto *atomic = llvm::cast<AtomicExpr>(e);
      subscripts(atomic->place);
      evaluate(atomic->expected);
      evaluate(atomic->value);
      read(atomic->place);
      return write(atomic->place);
    }
    case Expr::Kind::Block: {
      auto *call = llvm::cast<BlockExpr>(e);
      DiagnosticEngine::Context context(engine, call->range,
                                        llvm::Twine("in a call of `") + call->callee + "`");
      size_t visible = state.buffers.size();
      statements(call->body);
      llvm::for_each(call->results, [&](const Expr *x) { evaluate(x); });
      return state.buffers.truncate(std::min(visible, state.buffers.size()));
    }
    default:
      return forEachOperand(e, [&](const Expr *x) { evaluate(x); });
    }
  }

  //===--- Statements -----------------------------------------------------===//

  void statements(Block body) {
    for (const Stmt *s : body) {
      statement(s);
    }
  }

  void scope(Block body) {
    size_t visible = state.buffers.size();
    statements(body);
    state.buffers.truncate(std::min(visible, state.buffers.size()));
  }

  /// `cond` is evaluated before each iteration, null for a counted loop.
  void loop(const Stmt *s, const Expr *cond, Block body) {
    size_t visible = state.buffers.size();
    State &atEnd = loopEnds[s];
    state.join(atEnd);
    evaluate(cond);
    State left = state;
    loops.emplace_back();
    scope(body);
    Loop jumps = loops.pop_back_val();
    state.join(jumps.atContinue);
    state.buffers.truncate(std::min(visible, state.buffers.size()));
    news |= loopEnds[s].join(state); // an inner loop may have moved the map
    state = std::move(left);
    state.join(jumps.atBreak);
  }

  void jump(State &target) {
    target.join(state);
    state.reachable = false;
  }

  void branch(const IfStmt *s) {
    evaluate(s->cond);
    State otherwise = state;
    scope(s->thenBody);
    std::swap(state, otherwise);
    scope(s->elseBody);
    state.join(otherwise);
  }

  void assign(const AssignStmt *s) {
    subscripts(s->target);
    evaluate(s->value);
    if (s->op) {
      read(s->target);
    }
    write(s->target);
  }

  void gemm(const GemmStmt *s) {
    evaluate(s->a);
    evaluate(s->b);
    subscripts(s->acc);
    if (s->accumulate) {
      read(s->acc);
    }
    write(s->acc);
  }

  void statement(const Stmt *s) {
    switch (s->kind) {
    case Stmt::Kind::Buffer: {
      auto *buffer = llvm::cast<BufferStmt>(s);
      evaluate(buffer->init);
      return declare(buffer->decl, buffer->init);
    }
    case Stmt::Kind::View:
      return subscripts(llvm::cast<ViewStmt>(s)->decl->place);
    case Stmt::Kind::Scope:
      return scope(llvm::cast<ScopeStmt>(s)->body);
    case Stmt::Kind::Threads:
      return scope(llvm::cast<ThreadsStmt>(s)->body);
    case Stmt::Kind::Parallel: {
      auto *parallel = llvm::cast<ParallelStmt>(s);
      if (parallel->domain) {
        subscripts(parallel->domain);
      }
      llvm::for_each(parallel->extents, [&](const Extent &x) { evaluate(x.expr); });
      return perhaps([&] { scope(parallel->body); });
    }
    case Stmt::Kind::For: {
      auto *loopStmt = llvm::cast<ForStmt>(s);
      evaluate(loopStmt->lo);
      evaluate(loopStmt->hi);
      evaluate(loopStmt->step);
      return loop(s, nullptr, loopStmt->body);
    }
    case Stmt::Kind::While:
      return loop(s, llvm::cast<WhileStmt>(s)->cond, llvm::cast<WhileStmt>(s)->body);
    case Stmt::Kind::If:
      return branch(llvm::cast<IfStmt>(s));
    case Stmt::Kind::Break:
      return jump(loops.back().atBreak);
    case Stmt::Kind::Continue:
      return jump(loops.back().atContinue);
    case Stmt::Kind::Return:
      state.reachable = false;
      return;
    case Stmt::Kind::Assign:
      return assign(llvm::cast<AssignStmt>(s));
    case Stmt::Kind::Copy: {
      auto *copy = llvm::cast<CopyStmt>(s);
      evaluate(copy->source);
      subscripts(copy->target);
      return write(copy->target);
    }
    case Stmt::Kind::Gemm:
      return gemm(llvm::cast<GemmStmt>(s));
    default:
      return forEachExpr(s, [&](const Expr *e) { evaluate(e); });
    }
  }

  DiagnosticEngine &engine;
  llvm::DenseMap<const BufferDecl *, size_t> positions;
  /// What arrives at the end of a loop's body, in all walks so far.
  llvm::DenseMap<const Stmt *, State> loopEnds;
  llvm::DenseSet<const BufferDecl *> reported;
  llvm::SmallVector<Loop> loops;
  State state;
  bool news = false, reporting = false;
};

} // namespace

void checkInitialised(const LaunchStmt &launch, DiagnosticEngine &engine) {
  InitialisationCheck(engine).run(launch.body);
}

} // namespace tilec::sema
