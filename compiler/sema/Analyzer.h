//===- Analyzer.h - The elaborator of function and kernel bodies -*- C++ -*-===//
//
// One Analyzer elaborates one file's instantiations into a Program. Its methods are spread over
// files by subject; state that belongs to the current body (names, mode, loops) is in `Frame`.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/sema/Builtins.h"
#include "compiler/sema/NameCheck.h"
#include "compiler/sema/Scope.h"
#include "compiler/sema/Sema.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace tilec::sema {

struct Deferred;

/// The result of analysing an expression: an error, a constant, or an expression. `expr` is null
/// for a constant until `materialize` makes one. An untyped value that is not constant (a `?:` of
/// literals under a condition of the running program) is `deferred` until its type is known.
struct Value {
  Type type;
  const Expr *expr = nullptr;
  std::optional<ConstValue> constant;
  const Deferred *deferred = nullptr;
  PlaceInfo place;
  SourceRange range;

  bool isError() const { return type.isError(); }
  bool isPlace() const { return place.root != nullptr; }
  bool isUntyped() const { return type.isUntyped(); }
};

struct Deferred {
  const Expr *cond;
  Value ifTrue, ifFalse;
};

/// Which kind of code is being analysed.
enum class Mode : uint8_t { Constant, Host, Block, Parallel, Region, Fn };

/// What the analysis of a subscripted expression is for.
enum class Want : uint8_t {
  Value,  ///< to be read
  Place,  ///< to be named or subscripted further
  Target, ///< to be assigned
  Region, ///< an operand of copy or of an atomic: plain subscripts are an origin
};

/// One statement that a jump may concern, inside out.
enum class Enclosing : uint8_t { SerialLoop, UnrolledLoop, PipelinedLoop, Parallel, Region, Call };

/// State of the body being analysed; saved and restored around inlined calls.
struct Frame {
  Env *env = nullptr;
  Mode mode = Mode::Constant;
  llvm::SmallVectorImpl<const Stmt *> *out = nullptr;
  llvm::SmallVector<Enclosing, 8> enclosing;
  StmtAnnotations annotations; ///< of the statement being analysed
  /// Return types of the scalar function; null elsewhere.
  const llvm::SmallVectorImpl<Type> *fnResults = nullptr;
  bool hasWrongReturn = false; ///< of a value that an error elsewhere spoils
};

struct KernelState {
  const ast::KernelItem *item = nullptr;
  const Module *module = nullptr;
  KernelInstance *instance = nullptr;
  unsigned numLaunches = 0;
  const ast::LaunchStmt *launch = nullptr;           ///< the one being analysed
  std::optional<int64_t> threads;                    ///< of that launch
  llvm::SmallVector<const TensorParam *, 4> present; ///< known not to be null here
  unsigned conditionDepth = 0; ///< `if`s and loops around the current statement
  unsigned unrolling = 0;      ///< fully unrolled loops around it
  uint64_t unrolled = 0;       ///< what they have given each thread of the launch so far
  int64_t repeated = 1;        ///< elements of a `parallel` around it that a thread has
};

/// The region or parallel loop being analysed: who may be assigned, what diverges.
struct ParallelState {
  llvm::SmallVector<const IndexDecl *, 5> indices;
  llvm::SmallVector<int64_t, 5> extents; ///< kDynamic if unknown
  unsigned conditionDepth = 0;
};

/// A value given to a compile-time parameter or a dimension.
using Bindings = std::map<std::string, ConstValue, std::less<>>;

/// Arguments of a built-in function by parameter.
struct BoundArgs {
  llvm::SmallVector<llvm::SmallVector<const ast::Expr *, 2>, 9> slots;
  const ast::Expr *one(unsigned i) const { return slots[i].empty() ? nullptr : slots[i][0]; }
};

class Analyzer {
public:
  Analyzer(Program &program, const SemaOptions &options, DiagnosticEngine &engine, NameCheck &names)
      : program(program), options(options), engine(engine), names(names) {}

  void run(const Module &main);
  /// The value of an expression that stands outside of kernels (ConstEval.cpp).
  std::optional<ConstValue> constant(const ast::Expr *expr, const Module &module,
                                     const Bindings &names, llvm::StringRef what);

private:
  template <typename... Args>
  DiagnosticEngine::Builder report(diag::Id id, SourceRange range, Args &&...args) {
    return engine.report(id, range, std::forward<Args>(args)...);
  }

  //===--- Analyzer.cpp: limits, environment --------------------------------===//
  /// Counts one step of work. False, after a diagnostic, once the program is too large.
  bool step(SourceRange range);
  const Entity *lookup(llvm::StringRef name);
  const Entity *lookupConst(Module::ConstEntry &entry);
  std::optional<Scalar> lookupType(llvm::StringRef name);
  Entity constantEntity(const ast::ConstDecl &decl);
  Entity constantArray(const ast::ConstDecl &decl);
  std::optional<Scalar> resolveScalar(const ast::TypeExpr &type);
  /// A scalar or vec type; Type::error() after a diagnostic.
  Type resolveType(const ast::TypeExpr &type);
  /// A type with a constant shape of at least 1 in each dimension.
  Type resolveTileType(const ast::TileType &type, const char *what);
  /// The value of an expression that must be a constant integer; `what` names it in the diagnostic.
  std::optional<int64_t> constantInt(const ast::Expr *e, const llvm::Twine &what);
  std::optional<bool> constantBool(const ast::Expr *e, const llvm::Twine &what);
  /// That a binder does not name as many indices as `domain` has extents.
  void reportBinder(llvm::ArrayRef<ast::Ident> binder, llvm::StringRef domain, size_t extents);
  llvm::StringRef sourceText(SourceRange range);

  //===--- Expressions.cpp --------------------------------------------------===//
  Value errorValue(SourceRange range);
  Value constantValue(ConstValue v, SourceRange range);
  Value exprValue(const Expr *e);
  /// Analyses an expression as written; places are not read.
  Value analyze(const ast::Expr *e, Want want = Want::Place);
  Value analyzeKind(const ast::Expr *e, Want want);
  /// Counts what each thread gets of an expression in a fully unrolled loop. False after a diagnostic.
  bool countUnrolled(const Value &v);
  /// Analyses an operand: places are read, tensors refused.
  Value operand(const ast::Expr *e);
  /// An operand that may have open extents, where tiles beside it or a target give them.
  Value part(const ast::Expr *e);
  /// Makes a place an operand: a shared buffer, fragment or local is read whole.
  Value read(Value v);
  /// Whether all extents are given; reports if not.
  bool checkClosed(const Value &v);
  Value analyzeName(const ast::NameExpr *e);
  Value reference(const Entity &e, SourceRange range);
  Value analyzeUnary(const ast::UnaryExpr *e);
  Value analyzeBinary(const ast::BinaryExpr *e);
  Value analyzeLogical(const ast::BinaryExpr *e);
  Value analyzeConditional(const ast::ConditionalExpr *e);
  /// A bool scalar (or tile, if `tileToo`, or vec, if `vecToo`); null after a diagnostic. A constant is in `constant`.
  Value condition(const ast::Expr *e, bool tileToo = false, bool vecToo = false);

  //===--- Operators.cpp: types of operators and conversions ----------------===//
  Value binary(BinaryOp op, Value a, Value b, SourceRange range);
  Value unary(UnaryOp op, Value v, SourceRange range);
  Value select(const Value &cond, Value a, Value b, SourceRange range);
  /// Gives two operands one type: literals adapt, scalars are broadcast, tiles with open extents
  /// repeated. False after a diagnostic.
  bool unify(Value &a, Value &b, llvm::StringRef what, SourceRange range);
  bool unifyShapes(Value &a, Value &b, SourceRange range);
  /// A tile whose open extents become those of `shape`.
  Value repeat(Value v, llvm::ArrayRef<int64_t> shape);
  void reportShapes(SourceRange range, llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);
  /// The untyped value as a value of element type `s`.
  Value adapt(Value v, Scalar s);
  /// `i32` or `f32` for what is still untyped.
  Value withDefaultType(Value v);
  /// A value of exactly `type` (a scalar is broadcast), or an error.
  Value coerce(Value v, const Type &type);
  Value broadcast(Value v, const Type &shape);
  Value convert(Value v, Scalar to, SourceRange range);
  bool convertible(Scalar from, Scalar to);
  const Expr *materialize(const Value &v);
  bool checkOperator(llvm::StringRef op, const Value &v, SourceRange range, bool numbers,
                     bool integers, bool bools);
  /// What becomes of constants that do not fit, where the analysis stands.
  Overflow overflowHere() const {
    return frame.mode == Mode::Host ? Overflow::OfHost : Overflow::OfLaunch;
  }
  void reportConst(const ConstError &error, const Type &type, SourceRange range);

  //===--- Places.cpp: subscripts, slices, views ----------------------------===//
  Value analyzeIndex(const ast::IndexExpr *e, Want want);
  /// `x[:, _]`.
  Value openDimensions(const ast::IndexExpr *e, Want want);
  bool analyzeSubscripts(const ast::IndexExpr *e, llvm::ArrayRef<ast::Subscript> written,
                         const Value &base, llvm::SmallVectorImpl<Subscript> &out);
  bool analyzeSubscript(const ast::Subscript &s, const Value &base, unsigned axis, Subscript &out);
  bool analyzeRange(const ast::Subscript &s, const Value &base, unsigned axis, Subscript &out);
  /// An integer that can subscript: i32, i64, u32, or a constant made i32 or i64.
  Value index(const ast::Expr *e);
  Value indexValue(Value v);
  bool checkIndexRange(const Value &index, const Value &base, unsigned axis);
  Value makeSlice(const Value &base, llvm::ArrayRef<Subscript> subs, SourceRange range);
  Value makeElement(const Value &base, llvm::ArrayRef<Subscript> subs, SourceRange range,
                    Want want);
  Value makeVecAccess(const Value &base, llvm::ArrayRef<Subscript> subs, SourceRange range,
                      Want want);
  Value indexVec(const ast::IndexExpr *e, const Value &base, Want want);
  /// Gives an origin the shape of the other side of a copy.
  /// `operation`: what it is an operand of, for errors.
  Value resolveOrigin(const Value &origin, llvm::ArrayRef<int64_t> shape,
                      llvm::StringRef operation = "copy");
  /// The extent of a place as an i32 or i64 value (exact for tensors).
  Value extentOf(const Expr *place, unsigned axis);
  Value reshape(const ast::CallExpr *call, const BoundArgs &args);
  Value bitcast(const ast::CallExpr *call, const BoundArgs &args);
  Value bitcastPlace(Value v, Scalar to, SourceRange range);
  bool checkUse(const Value &v, SourceRange range); ///< optional tensors
  void checkRead(const Value &v, SourceRange range);
  bool checkWrite(const Value &v, SourceRange range);

  //===--- Calls.cpp, Functions.cpp, TileFunctions.cpp ----------------------===//
  Value analyzeCall(const ast::CallExpr *e);
  bool bindArgs(const ast::CallExpr *e, const BuiltinInfo &info, BoundArgs &out);
  Value callBuiltin(const ast::CallExpr *e, const BuiltinInfo &info);
  Value convertCall(const ast::CallExpr *e, Scalar to);
  const Module::Imported<ast::FunctionItem> *findFunction(llvm::StringRef name);
  bool orderArgs(const ast::CallExpr *e, const ast::FunctionItem &fn,
                 llvm::SmallVectorImpl<const ast::Expr *> &out);
  Value callFunction(const ast::CallExpr *e, const Module::Imported<ast::FunctionItem> &fn);
  /// The instance of a scalar function for scalar arguments; null after a diagnostic. Untyped
  /// arguments are adapted in place.
  const Function *instantiate(const Module::Imported<ast::FunctionItem> &fn,
                              llvm::MutableArrayRef<Value> args, SourceRange range);
  bool inferFunction(const Module::Imported<ast::FunctionItem> &fn,
                     llvm::MutableArrayRef<Value> args, Env &env, SourceRange range);
  Function *elaborateFunction(const Module::Imported<ast::FunctionItem> &fn, Env &env,
                              llvm::ArrayRef<Value> args);
  bool alwaysReturns(llvm::ArrayRef<const Stmt *> block);
  Value callTileFunction(const ast::CallExpr *e, const Module::Imported<ast::FunctionItem> &fn);
  struct TileCall;
  bool bindTileType(TileCall &call, const ast::FunctionParam &param, const Value &arg);
  bool bindTileArg(TileCall &call, const ast::FunctionParam &param, const ast::Expr *arg);
  bool bindShape(TileCall &call, llvm::ArrayRef<const ast::Expr *> shape, const Value &arg,
                 SourceRange range);
  bool bindGenericDefaults(Env &env, const ast::FunctionItem &fn, SourceRange range);
  bool checkPassed(TileCall &call);
  bool bindTileScalar(TileCall &call, const ast::FunctionParam &param, Value v);
  Value finishTileCall(TileCall &call, SourceRange range);

  //===--- Builtin*.cpp -----------------------------------------------------===//
  Value mathCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args);
  std::optional<Value> foldCall(MathFn fn, llvm::ArrayRef<Value> values, SourceRange range);
  Value typeQuery(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args);
  Value reduceCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args);
  Value reduceFnCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args);
  const Function *combiner(const Module::Imported<ast::FunctionItem> &fn, const ast::CallExpr *e,
                           const BuiltinInfo &info, const BoundArgs &args,
                           llvm::ArrayRef<Value> tiles);
  Value scanCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args);
  Value transposeCall(const ast::CallExpr *e, const BoundArgs &args);
  Value copyCall(const ast::CallExpr *e, const BoundArgs &args);
  Value gemmCall(const ast::CallExpr *e, const BoundArgs &args);
  bool copyShapes(Value &src, Value &dst, SourceRange range);
  bool gemmFlags(const BoundArgs &args, GemmStmt &gemm);
  bool gemmOptions(const BoundArgs &args, bool fp8, bool single, GemmStmt &gemm);
  bool gemmShapes(const Type &a, const Type &b, const Type &c, GemmStmt &gemm);
  Value atomicCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args);
  Value atomicTile(const ast::CallExpr *e, AtomicOp op, Value place, Value value, bool acqRel);
  Value printCall(const ast::CallExpr *e, const BoundArgs &args);
  Value assertCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args);
  Value threadCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args);
  bool warpOptions(WarpExpr &warp, const BuiltinInfo &info, const BoundArgs &args);
  Value hostCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args);
  std::optional<FormatString> format(const ast::Expr *text, llvm::ArrayRef<const ast::Expr *> args);
  /// An axis of `v`, 0 <= axis < rank.
  std::optional<unsigned> axisOf(const ast::Expr *e, const Value &v);
  /// A tile expression; an error value after a diagnostic.
  Value tileOperand(const ast::Expr *e, llvm::StringRef what);
  bool copyOverlaps(const Expr *a, const Expr *b);
  std::optional<std::string> wordArg(const ast::Expr *e);
  /// The part of `a ? b : c` that a constant condition chooses, and so on inside; after an error the first.
  const ast::Expr *chosenArg(const ast::Expr *e);

  //===--- Statements.cpp, Loops.cpp, Regions.cpp ---------------------------===//
  Block block(const ast::Block &b);
  Block statements(llvm::ArrayRef<const ast::Stmt *> list);
  void statement(const ast::Stmt *s);
  void emit(Stmt *s);
  void constStmt(const ast::ConstStmt *s);
  void letStmt(const ast::LetStmt *s);
  void letTuple(const ast::LetStmt *s);
  void varStmt(const ast::VarStmt *s);
  void bufferStmt(const ast::BufferStmt *s);
  void viewStmt(const ast::ViewStmt *s);
  void assignStmt(const ast::AssignStmt *s);
  Value target(const ast::Expr *e);
  Value targetName(const ast::NameExpr *e);
  void callStmt(const ast::CallStmt *s);
  void ifStmt(const ast::IfStmt *s);
  void whileStmt(const ast::WhileStmt *s);
  void forStmt(const ast::ForStmt *s);
  std::optional<int64_t> loopOption(const ast::Arg &option, diag::Id outside, int64_t most);
  bool loopOptions(const ast::ForStmt *s, ForStmt &loop);
  void unrollFully(const ast::ForStmt *s, const Value &lo, const Value &hi, const Value &step);
  void jumpStmt(const ast::Stmt *s, llvm::StringRef word);
  void returnStmt(const ast::ReturnStmt *s);
  void parallelStmt(const ast::ParallelStmt *s);
  void parallelDomain(const ast::ParallelStmt *s, ParallelStmt *stmt,
                      llvm::SmallVectorImpl<Type> &types);
  int64_t elementsOfThread(const ParallelState &state) const;
  void threadsStmt(const ast::ThreadsStmt *s);
  void threadsBody(llvm::ArrayRef<ast::Axis> axes, llvm::ArrayRef<const ast::Stmt *> body,
                   SourceRange range);
  const LetDecl *declareLet(const ast::Ident &name, const Type &type);
  void declareIndex(const IndexDecl *decl);
  /// Whether statement kind `what` may stand in the current mode; reports if not.
  bool allowed(const ast::Stmt *s);
  void notePresent(const ast::Expr *cond, bool holds,
                   llvm::SmallVectorImpl<const TensorParam *> &out);

  //===--- Host.cpp, Kernels.cpp, Instantiate.cpp, Annotations.cpp ----------===//
  void launchStmt(const ast::LaunchStmt *s);
  void launchBody(const ast::LaunchStmt *s, LaunchStmt *stmt);
  void launchThreads(const ast::LaunchStmt *s, LaunchStmt *stmt);
  void workspaceStmt(const ast::BufferStmt *s);
  bool extentValue(const ast::Expr *e, Extent &extent, llvm::StringRef what,
                   bool isOfParameter = false);
  bool mayAccessGlobal(const ast::Stmt *s);
  StmtAnnotations stmtAnnotations(const ast::Stmt *s);
  LaunchAnnotations launchAnnotations(const ast::LaunchStmt *s, StmtAnnotations &common);
  LayoutChoice layoutAnnotation(const ast::Annotation &a, const ast::Stmt *s);
  void requireAnnotation(const ast::Annotation &a, llvm::SmallVectorImpl<Requirement> &out);
  const Expr *rasterizeGroup(const ast::Expr *e);
  std::optional<int64_t> annotationInt(const ast::Annotation &a, const ast::Expr *e, int64_t least,
                                       int64_t most = INT32_MAX);
  bool annotationCount(const ast::Annotation &a, unsigned least, unsigned most);

  struct Request; // one instance to be made
  void instantiateAll(const Module &main);
  void fromItem(const Module &main, const ast::InstantiateItem &item);
  void fromDefaults(const Module &main, const ast::KernelItem &kernel);
  bool bindGenerics(Request &request, Env &env, KernelInstance &instance);
  void reportMissing(const Request &request, const ast::Ident &parameter);
  struct Tuned;
  static uint64_t combinationsOf(llvm::ArrayRef<Tuned> tuned);
  bool tuneValues(const ast::TuneParam &p, Tuned &out);
  bool tuneLists(const Request &request, KernelInstance &instance, std::vector<Tuned> &tuned,
                 llvm::SmallVectorImpl<const ast::Expr *> &clauses);
  bool givesTuned(const Request &request) const;
  std::optional<unsigned> keptSets(const ast::KernelItem &k, const ast::Expr *keep, RowKind rows);
  std::optional<size_t> clausesHeld(Env &env, llvm::ArrayRef<const ast::Expr *> clauses);
  std::optional<ByRowKind<size_t>> clausesHeldByRows(const Request &request, Env &env,
                                                     llvm::ArrayRef<const ast::Expr *> clauses,
                                                     size_t numOfTune);
  llvm::SmallVector<uint64_t> setsAlike(llvm::ArrayRef<const ast::Expr *> clauses,
                                        const Request &request, llvm::ArrayRef<Tuned> tuned) const;
  size_t decidersOf(const ast::Expr *e, llvm::ArrayRef<ast::GenericParam> generics,
                    const Request &request, llvm::ArrayRef<Tuned> tuned) const;
  bool tune(Request &request, KernelInstance &instance);
  void elaborate(Request &request);
  bool elaborateKernel(Request &request, Env &env, KernelInstance &instance);
  void kernelParams(const ast::KernelItem &k, const Request &request, KernelInstance &instance);
  TensorParam *tensorParam(const ast::KernelParam &p, unsigned index);
  struct DimTable;
  void declareDims(const ast::KernelItem &k, const Request &request, KernelInstance &instance);
  const ast::Expr *chooseExtent(const ast::Expr *e);
  void tensorExtents(const ast::KernelItem &k, KernelInstance &instance);
  void whereClauses(llvm::ArrayRef<const ast::Expr *> clauses, KernelInstance &instance);
  std::optional<ConstValue> optionValue(llvm::StringRef text);

  //===--- Provable.cpp -----------------------------------------------------===//
  void checkParallel(const ParallelStmt &stmt);
  void checkRegion(const ThreadsStmt &stmt);
  void checkSpin(const WhileStmt &stmt);
  /// Whether the value differs between the iterations or threads of the innermost loop or region.
  bool varies(const Expr *e);
  void checkElementWrite(const AssignStmt &stmt, const Value &target);

  Program &program;
  const SemaOptions &options;
  DiagnosticEngine &engine;
  NameCheck &names;
  Frame frame;
  KernelState kernel;
  std::vector<ParallelState> parallels;
  /// The nesting of regions and parallel loops in which a variable was declared.
  llvm::DenseMap<const Decl *, unsigned> levels;
  /// Of the current parallel loop or region: variables whose value depends on the iteration.
  llvm::DenseSet<const Decl *> varying;
  std::map<std::string, const Function *> instances;
  std::map<std::string, SourceRange> symbols;
  Bindings optionValues;
  std::set<std::string> optionsUsed;
  std::set<std::string> kernelNames, parameterNames; ///< that options could have named
  bool kernelFound = false; // that SemaOptions::kernel names, if it names one
  uint64_t steps = 0;
  unsigned depth = 0;
  bool stopped = false;

  friend class DepthGuard;
  friend class FrameGuard;
};

/// Restores the analyzer's frame when it dies.
class FrameGuard {
public:
  explicit FrameGuard(Analyzer &a) : analyzer(a), saved(a.frame) {}
  ~FrameGuard() { analyzer.frame = std::move(saved); }

private:
  Analyzer &analyzer;
  Frame saved;
};

/// Counts the depth of recursion while it lives.
class DepthGuard {
public:
  explicit DepthGuard(Analyzer &a) : analyzer(a) { ++analyzer.depth; }
  ~DepthGuard() { --analyzer.depth; }

private:
  Analyzer &analyzer;
};

Scalar scalarOf(const Value &v);
/// Whether a constant may stand for a compile-time parameter of that kind.
bool kindMatches(ast::ParamKind kind, const ConstValue &v);
/// Whether all names in the expression have a meaning so far.
bool namesKnown(const ast::Expr *e, const Env &env);

} // namespace tilec::sema
