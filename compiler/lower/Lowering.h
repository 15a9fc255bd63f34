// The state of a lowering, shared by the files of this folder; Lower.h is the interface.
//
// Each file holds the members of one subject, with one member for each kind of node:
//   Lower.cpp        entry, locations, types, constants, diagnostics
//   Host.cpp         kernels: arguments, dimensions, checks, host statements, launches
//   Statements.cpp   statements of launches
//   ControlFlow.cpp  `if`, loops, and the desugaring of jumps
//   Variables.cpp    variables and flags, in buffers or as SSA values
//   Expressions.cpp  operators, choices, conversions
//   Math.cpp         built-in functions of elements
//   Functions.cpp    inlining of scalar functions: at a call, over tiles, in reductions and scans
//   Views.cpp        places: views of global memory and buffers, elements of them
//   Tiles.cpp        copy, gemm, reductions, atomics, operations of warps
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/sema/Program.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

#include <optional>

namespace tilec::lower {

using mlir::Value;
using Values = llvm::SmallVector<Value, 2>;

/// What holds a mutable scalar: a declaration or a jump flag. `part` tells apart the flags of one
/// loop, launch or function, and the results of a function.
using VarKey = std::pair<const void *, unsigned>;
enum : unsigned { kVariable = 0, kBroken = 1, kContinued = 2, kReturned = 3, kResult = 4 };

/// How variables are kept. Block code and regions have buffers of rank 0 (of a `vec`: rank 1),
/// which later passes promote together with fragments. Code that runs for each element (functions,
/// `parallel`) has SSA values, so that it stays free of side effects.
enum class VarMode { Uniform, Local, Ssa };

/// The jumps that leave a statement: `break` and `continue` to the innermost loop around it.
struct Jumps {
  bool breaks = false, continues = false, returns = false;
  bool any() const { return breaks || continues || returns; }
  Jumps operator|(Jumps o) const {
    return {breaks || o.breaks, continues || o.continues, returns || o.returns};
  }
};

class Lowering {
public:
  Lowering(mlir::ModuleOp module, DiagnosticEngine &diagnostics)
      : diagnostics(diagnostics), b(module.getLoc(), module.getContext()) {
    b.setInsertionPointToEnd(module.getBody());
  }

  // Host.cpp
  void lowerKernel(const sema::KernelInstance &kernel);

private:
  /// Sets the builder's location for its lifetime.
  class At {
  public:
    At(Lowering &l, sema::SourceRange range) : l(l), saved(l.b.getLoc()) {
      l.b.setLoc(l.location(range));
    }
    ~At() { l.b.setLoc(saved); }

  private:
    Lowering &l;
    mlir::Location saved;
  };

  // Lower.cpp
  mlir::Location location(sema::SourceRange range);
  mlir::Type elementType(sema::Scalar scalar);
  /// Type of a value: scalar, vector or tensor.
  mlir::Type valueType(const sema::Type &type);
  tile::GlobalType globalType(const sema::Type &type);
  tile::BufferType bufferType(const sema::Type &type, tile::Scope scope);
  Value constant(const sema::ConstantExpr &expr);
  mlir::TypedAttr constantAttr(const sema::ConstantExpr &expr);
  Value intConstant(mlir::Type type, int64_t value);
  /// A constant of every element of `type`, a value type of integers or floats.
  Value constantLike(mlir::Type type, double value);
  Value boolConstant(bool value);
  /// An unspecified value, for results that no path reads: zero.
  Value placeholder(mlir::Type type);
  Value splat(Value scalar, mlir::Type type);
  /// Reports [not-supported]; the caller goes on with a placeholder.
  void unsupported(sema::SourceRange range, const llvm::Twine &what);

  // Host.cpp
  void lowerDimensions(const sema::KernelInstance &kernel);
  void lowerDimCheck(const sema::DimCheck &check);
  void lowerWorkspace(const sema::WorkspaceStmt &stmt);
  void lowerLaunch(const sema::LaunchStmt &stmt);
  /// An extent as i32, or as i64 if it was computed so.
  Value extentValue(const sema::Extent &extent);
  Value hostExtent(Value value, sema::Scalar elem);
  Value panelHeight(const sema::Expr *expr);

  // Statements.cpp
  void lowerStmt(const sema::Stmt &stmt);
  void lowerStmtInner(const sema::Stmt &stmt);
  void attachAnnotations(const sema::Stmt &stmt, mlir::Block *block, mlir::Operation *before);
  mlir::ArrayAttr requireAttr(llvm::ArrayRef<sema::Requirement> list);
  void lowerLetTuple(const sema::LetTupleStmt &stmt);
  void lowerBuffer(const sema::BufferStmt &stmt);
  void lowerThreads(const sema::ThreadsStmt &stmt);
  void lowerParallel(const sema::ParallelStmt &stmt);
  void lowerAssign(const sema::AssignStmt &stmt);
  /// The value to store, from the old one where `stmt` is `op=`.
  Value assignedValue(const sema::AssignStmt &stmt, llvm::function_ref<Value()> old);
  void lowerPrint(const sema::PrintStmt &stmt);
  void lowerAssert(const sema::AssertStmt &stmt);
  /// Appends the values that a format shows; the positions of those without sign, null if none.
  mlir::DenseI32ArrayAttr lowerFormatArgs(const sema::FormatString &format,
                                          llvm::SmallVectorImpl<mlir::Value> &args);

  // ControlFlow.cpp
  void lowerBlock(sema::Block stmts);
  void lowerIf(const sema::IfStmt &stmt, sema::Block thenBody, sema::Block elseBody);
  void lowerFor(const sema::ForStmt &stmt);
  void lowerCountedFor(const sema::ForStmt &stmt, Value lo, Value hi, Value step);
  void lowerForWithExit(const sema::ForStmt &stmt, Value lo, Value hi, Value step, Jumps jumps);
  Value nextOrEnd(Value index, Value end, Value step);
  void lowerWhile(const sema::WhileStmt &stmt);
  void lowerIteration(const sema::Stmt *loop, sema::Block body, bool continues);
  void lowerJump(const sema::Stmt &stmt);
  /// Whether the flags of `jumps` are all unset. Null if there is nothing to ask.
  Value notJumped(Jumps jumps);
  void emitIf(Value condition, llvm::ArrayRef<VarKey> carried, llvm::function_ref<void()> thenBody,
              llvm::function_ref<void()> elseBody);
  void emitWhile(llvm::ArrayRef<VarKey> carried, llvm::function_ref<Value()> condition,
                 llvm::function_ref<void()> body);
  /// `condition ? a : b` with only one side evaluated.
  Values emitChoice(Value condition, mlir::TypeRange types, llvm::function_ref<Values()> a,
                    llvm::function_ref<Values()> b);

  // Variables.cpp
  void declareVariable(VarKey key, llvm::StringRef name, Value init);
  Value readVariable(VarKey key);
  void writeVariable(VarKey key, Value value);
  /// Deletes a flag's buffer if nothing reads it.
  void dropUnreadFlag(VarKey key);
  bool isSsa(VarKey key) const;
  /// The SSA variables declared outside `stmts` that these may change.
  llvm::SmallVector<VarKey> assignedIn(sema::Block stmts);
  void collectAssigned(sema::Block stmts, const sema::Stmt *loop, llvm::SetVector<VarKey> &assigned,
                       llvm::SetVector<VarKey> &declared);

  // Expressions.cpp
  /// The value of an expression that has exactly one; places are read whole.
  Value lowerValue(const sema::Expr &expr);
  Value lowerValueInner(const sema::Expr &expr);
  void noteUnsigned(Value value);
  /// The values of a call, block, reduction or scan with any number of results.
  Values lowerResults(const sema::Expr &expr);
  Value lowerBroadcast(const sema::BroadcastExpr &expr);
  Values lowerBlockExpr(const sema::BlockExpr &expr);
  Value lowerUnary(const sema::UnaryExpr &expr);
  Value lowerBinary(const sema::BinaryExpr &expr);
  Value lowerLogical(const sema::BinaryExpr &expr);
  Value lowerSelect(const sema::SelectExpr &expr);
  Value lowerBitcast(const sema::BitcastValueExpr &expr);
  Value lowerVecElement(const sema::VecElementExpr &expr);
  Value arithmetic(sema::BinaryOp op, Value lhs, Value rhs, sema::Scalar elem,
                   sema::Scalar countElem);
  Value shift(bool left, Value x, Value count, sema::Scalar elem);
  Value shiftCount(Value count, sema::Scalar from, mlir::Type type);
  Value comparison(sema::BinaryOp op, Value lhs, Value rhs, sema::Scalar elem);
  Value convert(Value value, sema::Scalar from, sema::Scalar to);
  /// Converts an integer scalar to the width of `type`.
  Value resizeInteger(Value value, sema::Scalar from, mlir::Type type);
  /// Whether evaluating `expr` where the program would not is harmless and cheap.
  bool isSpeculatable(const sema::Expr &expr);
  bool isSpeculatableElement(const sema::ElementExpr &expr);
  bool isSpeculatableBinary(const sema::BinaryExpr &expr);
  Value lowerSpeculated(const sema::Expr &expr);
  mlir::arith::IntegerOverflowFlags overflow(sema::Scalar elem) const;
  mlir::arith::FastMathFlags contract() const { return mlir::arith::FastMathFlags::contract; }
  mlir::arith::FastMathFlags approximate() const;

  // Math.cpp
  Value lowerMath(const sema::MathExpr &expr);
  Value floatMath(sema::MathFn fn, llvm::ArrayRef<Value> args);
  Value floatFunction(sema::MathFn fn, llvm::ArrayRef<Value> args);
  Value integerMath(sema::MathFn fn, llvm::ArrayRef<Value> args, sema::Scalar elem);
  Value minMax(bool isMin, Value x, Value y, sema::Scalar elem);
  Value sigmoid(Value x);

  // Functions.cpp
  Values lowerCall(const sema::CallExpr &expr);
  Values callOnVectors(const sema::CallExpr &expr, mlir::ValueRange args);
  /// Runs the body of `fn` in place.
  Values inlineFunction(const sema::Function &fn, mlir::ValueRange args);
  Values lowerReduceFn(const sema::ReduceFnExpr &expr);
  Values lowerScanFn(const sema::ScanFnExpr &expr);
  void fillCombine(mlir::Region &region, const sema::Function &fn, mlir::ValueRange inputs);

  // Views.cpp
  /// A view of global memory, a buffer or part of one, or a constant array.
  Value lowerPlace(const sema::Expr &expr);
  Value lowerPlaceRef(const sema::RefExpr &expr);
  Value lowerSubscripted(const sema::Expr &base);
  Value lowerSlice(const sema::SliceExpr &expr);
  Value lowerOrigin(const sema::OriginExpr &expr);
  Value lowerReshape(const sema::ReshapeExpr &expr);
  void checkReshape(const sema::ReshapeExpr &expr, Value base, llvm::ArrayRef<Value> extents);
  void checkBitcast(const sema::BitcastViewExpr &expr, mlir::Value base);
  Value lowerBitcastView(const sema::BitcastViewExpr &expr);
  Value distance(Value begin, Value end);
  Value makeSlice(Value base, llvm::ArrayRef<Value> offsets, llvm::ArrayRef<int64_t> sizes,
                  llvm::ArrayRef<Value> dynamicSizes);
  Value readPlace(Value place);
  /// The extent of a place as i32 (i64 where it was declared so).
  Value extentOf(Value place, unsigned axis);
  Value lowerExtentOf(const sema::ExtentOfExpr &expr);
  Value lowerIndex(const sema::Expr &expr);
  Value constantArray(const sema::ConstArrayDecl &decl);
  struct Access {
    Value place;
    Values indices;
  };
  void atGatheredElement(Access &access, bool isVector);
  Access lowerAccess(const sema::Expr &base, llvm::ArrayRef<const sema::Expr *> indices,
                     const sema::Type &type);
  Value load(const Access &access, const sema::Type &type);
  void store(const Access &access, Value value, sema::SourceRange range);
  /// Gives an access of `place` the hint of the statements around it, if that is global memory.
  void hint(mlir::Operation *access, Value place);

  // Tiles.cpp
  Value lowerTileOperand(const sema::Expr &expr);
  void lowerCopy(const sema::CopyStmt &stmt);
  void lowerGemm(const sema::GemmStmt &stmt);
  Value lowerReduce(const sema::ReduceExpr &expr);
  Value lowerScan(const sema::ScanExpr &expr);
  Value lowerTranspose(const sema::TransposeExpr &expr);
  Value lowerAtomic(const sema::AtomicExpr &expr);
  Value lowerWarp(const sema::WarpExpr &expr);

  DiagnosticEngine &diagnostics;
  mlir::ImplicitLocOpBuilder b;
  /// The call that is being inlined, if one is.
  std::optional<mlir::Location> callSite;

  /// Values of declarations other than variables: places, `let`s, indices, dimensions, parameters.
  llvm::DenseMap<const sema::Decl *, Value> values;
  llvm::DenseMap<VarKey, Value> variables; ///< the buffer, or the current SSA value
  /// Extents of views of global memory, null where static.
  llvm::DenseMap<Value, llvm::SmallVector<Value>> extents;
  llvm::DenseMap<const sema::Expr *, Value> tensorExtents;     ///< computed at the kernel's start
  llvm::DenseMap<const sema::Decl *, int64_t> parallelExtents; ///< of indices, where constant

  VarMode mode = VarMode::Ssa;
  const sema::Stmt *loop = nullptr; ///< the innermost loop that `break` and `continue` mean
  const void *activation = nullptr; ///< the launch or function that `return` ends
  int64_t threads = 0;              ///< of the launch; 0 in the host part
  bool inRegion = false;            ///< inside `threads`
  bool noTma = false;               ///< of the launch or an enclosing statement
  /// What an enclosing statement says of accesses of global memory, and how many that concerned.
  tile::CacheHint cache = tile::CacheHint::None;
  unsigned hintedAccesses = 0;
  std::string symbol; ///< of the kernel
  bool fastMath = false;
  bool speculating = false; ///< results may go unused: overflow is no error
};

} // namespace tilec::lower
