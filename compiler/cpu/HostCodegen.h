//===- HostCodegen.h - from the tile dialect to host LLVM IR --------------===//
//
// One walk over a kernel that writes LLVM IR, operation by operation, none of the GPU passes in
// between.
//
// * A scalar is an LLVM value: f64, f32 and integers as themselves, i1 as i1, narrow floats as
//   their bits (i16, i8).
// * A tile value or vector is a pointer to a dense row-major array in the arena, which nobody
//   writes after the operation that made it. i1 and 4-bit types take a byte per element.
// * A view or buffer is a `View`: its base and, per dimension, stride and bounds, all of them LLVM
//   values that fold when they are constant. It becomes a HostView record only for a call of the
//   runtime.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/cpu/HostRuntime.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace tilec::cpu {

using HostValue = llvm::Value *;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

/// See ViewDim; `indices` is null where the dimension is not gathered.
struct CodeDim {
  HostValue size, stride, lo, hi;
  HostValue indices = nullptr;
  unsigned indexBits = 0;
  HostValue indexStart = nullptr, indexLo = nullptr, indexHi = nullptr;
};

/// See HostView.
struct View {
  HostValue base = nullptr;
  HostValue offset = nullptr;
  HostValue valid = nullptr; ///< i1
  mlir::Type element;
  bool packed = true;
  bool bounded = false; ///< global memory: what is out of range reads 0; otherwise it is an error
  HostValue present = nullptr; ///< i1; of a kernel argument
  HostValue perThread =
      nullptr;        ///< elements between the copies of a local buffer; null if there is one
  int64_t copies = 1; ///< number of those copies
  std::string name;   ///< for messages
  SmallVector<CodeDim, 4> dims;
};

class HostCodegen {
public:
  /// `checksHost`: see CpuOptions.
  HostCodegen(llvm::Module &module, int32_t smCount, bool checksHost);

  /// Writes `kernel` as `void symbol(HostThread *, const HostArgument *)`.
  mlir::LogicalResult emitKernel(tile::KernelOp kernel);

private:
  // --- LowerToHost.cpp: dispatch, host part
  mlir::LogicalResult emit(mlir::Operation *op);
  mlir::LogicalResult emitBody(mlir::Block &block);
  mlir::LogicalResult emitHostOp(mlir::Operation *op);
  mlir::LogicalResult emitLaunch(tile::LaunchOp op);
  mlir::LogicalResult emitWorkspace(tile::WorkspaceOp op);
  View argumentView(tile::GlobalType type, HostValue argument, llvm::StringRef name);

  // --- LowerToHostFlow.cpp: loops, branches, regions
  mlir::LogicalResult emitFlow(mlir::Operation *op);
  mlir::LogicalResult emitFor(mlir::scf::ForOp op);
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult emitIf(mlir::scf::IfOp op);
  mlir::LogicalResult emitParallel(tile::ParallelOp op);
  mlir::LogicalResult emitThreads(tile::ThreadsOp op);
  mlir::LogicalResult emitThreadLoop(tile::ThreadsOp op, int64_t count);
  mlir::LogicalResult emitFibers(tile::ThreadsOp op, int64_t count);
  mlir::LogicalResult emitWarpOp(mlir::Operation *op);
  HostValue laneBits(HostValue all, HostValue lane);
  void emitShuffle(tile::ShuffleOp op, HostValue lane, HostValue all);
  mlir::LogicalResult emitWarpReduction(tile::WarpOp op, HostValue lane, HostValue all);
  void bindThread(tile::ThreadsOp op, HostValue number);

  // --- LowerToHostScalar.cpp: element-wise operations and constants
  mlir::LogicalResult emitElementwise(mlir::Operation *op);
  mlir::LogicalResult emitConstant(mlir::Operation *op, mlir::Attribute value);
  /// The results of `op` on scalars.
  mlir::LogicalResult emitScalar(mlir::Operation *op, ArrayRef<HostValue> in,
                                 SmallVectorImpl<HostValue> &out);
  HostValue emitInteger(mlir::Operation *op, ArrayRef<HostValue> in);
  HostValue emitFloat(mlir::Operation *op, ArrayRef<HostValue> in);
  HostValue emitMath(mlir::Operation *op, ArrayRef<HostValue> in);
  HostValue emitChecked(mlir::Operation *op, ArrayRef<HostValue> in,
                        mlir::arith::IntegerOverflowFlags flags);
  HostValue emitDivisionOrShift(mlir::Operation *op, ArrayRef<HostValue> in);
  HostValue emitDivision(mlir::Operation *op, ArrayRef<HostValue> in, tile::Rounding rounding,
                         bool isUnsigned, bool remainder);
  HostValue emitShift(mlir::Operation *op, ArrayRef<HostValue> in, bool left, bool isUnsigned,
                      bool isExact);
  HostValue emitCompare(mlir::arith::CmpFPredicate predicate, HostValue a, HostValue b);

  // --- LowerToHostViews.cpp: slices, elements, copies
  mlir::LogicalResult emitViewOp(mlir::Operation *op);
  mlir::LogicalResult emitSlice(tile::SliceOp op);
  void emitGather(tile::SliceOp op, unsigned axis, const CodeDim &from, CodeDim &to);
  void copyRegion(mlir::Operation *op, const View &from, const View &to, int64_t flags);
  HostValue distance(const CodeDim &dim, HostValue i, HostValue &inside);
  mlir::LogicalResult emitReshape(tile::ReshapeOp op);
  mlir::LogicalResult emitBitcastView(tile::BitcastViewOp op);
  void emitAlloc(tile::AllocOp op);
  void emitRead(tile::ReadOp op);
  void emitWrite(tile::WriteOp op);
  mlir::LogicalResult emitLoad(tile::LoadOp op);
  mlir::LogicalResult emitStore(tile::StoreOp op);

  // --- LowerToHostTiles.cpp: operations on whole tiles
  mlir::LogicalResult emitTileOp(mlir::Operation *op);
  mlir::LogicalResult emitMap(tile::MapOp op);
  void emitGemm(tile::GemmOp op);
  void fill(mlir::Value tile, HostValue scalar);
  mlir::LogicalResult emitAtomic(mlir::Operation *op);
  void emitAtomicTile(tile::AtomicTileOp op);
  HostValue updated(tile::AtomicKind kind, mlir::Type type, bool isUnsigned, HostValue old,
                    HostValue value);
  mlir::LogicalResult emitPrint(mlir::Operation *op);
  mlir::LogicalResult emitVectorOp(mlir::Operation *op);

  // --- LowerToHostReduce.cpp
  mlir::LogicalResult emitReduce(tile::ReduceOp op);
  mlir::LogicalResult emitScan(tile::ScanOp op);
  void emitWarpScan(tile::WarpScanOp op, HostValue lane, HostValue all);
  mlir::LogicalResult emitReduceWith(tile::ReduceWithOp op);
  mlir::LogicalResult emitScanWith(tile::ScanWithOp op);
  using Combine = llvm::function_ref<mlir::LogicalResult(SmallVectorImpl<HostValue> &acc,
                                                         ArrayRef<HostValue> next)>;
  /// One input of a reduction or scan: its elements, and the running value with its type.
  struct Strip {
    HostValue base;
    mlir::Type element, accumulator;
    HostValue memory;
  };
  SmallVector<Strip> stripsOf(mlir::ValueRange inputs, std::optional<tile::CombineKind> kind);
  HostValue loadStrip(const Strip &strip, HostValue position);
  HostValue runningValue(const Strip &strip);
  mlir::LogicalResult advance(ArrayRef<Strip> strips, HostValue position, Combine combine);
  void forEachStrip(ArrayRef<int64_t> shape, std::optional<uint64_t> axis,
                    llvm::function_ref<void(HostValue first, HostValue out)> body);
  mlir::LogicalResult reduceStrips(mlir::Operation *op, llvm::MutableArrayRef<Strip> strips,
                                   std::optional<uint64_t> axis, Combine combine);
  mlir::LogicalResult scanStrips(mlir::Operation *op, llvm::MutableArrayRef<Strip> strips,
                                 uint64_t axis, bool reverse, HostValue identity, Combine combine);
  mlir::LogicalResult callCombine(mlir::Region &region, SmallVectorImpl<HostValue> &acc,
                                  ArrayRef<HostValue> next);
  HostValue combine(tile::CombineKind kind, mlir::Type type, bool isUnsigned, HostValue a,
                    HostValue b);
  HostValue identityOf(tile::CombineKind kind, mlir::Type type, bool isUnsigned);

  // --- HostCodegen.cpp: values and records
  llvm::Type *scalarType(mlir::Type type);
  llvm::Type *memoryType(mlir::Type type);
  HostValue word(int64_t value) { return b.getInt64(value); }
  HostValue scalarOf(mlir::Type type, uint64_t bits);
  HostValue toWord(HostValue integer, bool isUnsigned = false);
  /// The bits of a scalar as i64, and back.
  HostValue toBits(HostValue scalar);
  HostValue fromBits(mlir::Type type, HostValue bits);
  /// A float scalar as f32 (f32 itself) or f64 (all others), and back with one rounding.
  HostValue widen(mlir::Type type, HostValue scalar);
  HostValue narrow(mlir::Type type, HostValue wide);
  HostValue decodeTo(mlir::Type type, HostValue scalar, llvm::Type *to);

  HostValue local(HostValue value);
  HostValue get(mlir::Value value);
  void set(mlir::Value value, HostValue host) { values[value] = host; }
  View getView(mlir::Value value);
  /// A tile value or vector as a view of its array.
  View tileView(mlir::Value value);
  View denseView(mlir::Type element, ArrayRef<int64_t> shape, HostValue base, bool packed);
  HostValue describe(const View &view, HostValue record = nullptr);
  HostValue slot(llvm::Type *type, uint64_t count = 1);
  HostValue newTile(mlir::Type type);
  HostValue loadTile(mlir::Type element, HostValue base, HostValue index);
  void storeTile(mlir::Type element, HostValue base, HostValue index, HostValue value);

  struct Place {
    HostValue inside; ///< i1
    HostValue address;
    HostValue shift; ///< of a 4-bit element in its byte; null for other types
  };
  Place place(const View &view, ArrayRef<HostValue> index);
  HostValue loadPlace(const View &view, const Place &at);
  void storePlace(const View &view, const Place &at, HostValue value);
  /// Stops the program unless `inside`.
  void checkIndex(mlir::Operation *op, const View &view, unsigned axis, HostValue index,
                  HostValue inside);
  void checkIndices(mlir::Operation *op, const View &view, ArrayRef<HostValue> index);

  /// The step is positive; the bounds are compared with sign unless told otherwise.
  void loop(HostValue from, HostValue to, HostValue step, llvm::function_ref<void(HostValue)> body,
            bool isUnsigned = false);
  void when(HostValue condition, llvm::function_ref<void()> body);
  void checkEven(mlir::Operation *op, mlir::Type element, HostValue index);
  void trapIf(HostValue condition, mlir::Operation *op, const llvm::Twine &message);
  HostValue call(llvm::StringRef name, llvm::Type *result, ArrayRef<HostValue> arguments,
                 bool pure = false);
  HostValue text(llvm::StringRef string);
  /// "file:line:col: error: " of an operation, as a constant string.
  std::string whereText(mlir::Operation *op);
  HostValue where(mlir::Operation *op) { return text(whereText(op)); }
  void scoped(mlir::Region &region, llvm::function_ref<void()> body);

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::IRBuilder<> b;
  int32_t smCount;
  bool checksHost;
  llvm::Type *ptr, *i64, *f32, *f64;

  llvm::Function *function = nullptr; ///< the one being written
  HostValue thread = nullptr;         ///< its HostThread
  HostValue threadNumber = nullptr;   ///< inside a region
  int64_t numThreads = 0;             ///< of the launch
  /// While the body of a region is written as a function of its own: what it takes from outside.
  llvm::MapVector<HostValue, HostValue> *captures = nullptr;
  HostValue closure = nullptr;

  llvm::DenseMap<mlir::Value, HostValue> values;
  llvm::DenseMap<mlir::Value, View> views;
};

/// The kind of an element type; none for `index` and what the language does not have.
std::optional<DType> dtypeOf(mlir::Type type, bool isUnsigned = false);
mlir::Type elementTypeOf(mlir::Type type);
/// Shape of a tile value, vector, buffer or view; empty for scalars.
ArrayRef<int64_t> shapeOf(mlir::Type type);
bool isTile(mlir::Type type);

} // namespace tilec::cpu
