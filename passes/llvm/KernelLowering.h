//===- KernelLowering.h - one tgpu.kernel becomes an llvm.func -*- C++ -*-===//
//
// A walk over the kernel in program order that writes the code of one thread: arith, scf and LLVM/NVVM operations. The
// pass then lowers arith and scf by the upstream patterns. Each group of operations has its own file. What the target
// or this lowering cannot do is an error at the operation, ending in [not-supported].
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_LLVM_KERNELLOWERING_H
#define TILEC_PASSES_LLVM_KERNELLOWERING_H

#include "dialects/layout/Compatibility.h"
#include "dialects/layout/Conversion.h"
#include "dialects/layout/PartialReduction.h"
#include "dialects/tgpu/Tgpu.h"
#include "dialects/tile/Divisions.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "passes/IntegerAnalysis.h"
#include "passes/llvm/Values.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <map>
#include <memory>

namespace tilec::lowering {

class Clusters;
class Neighbours;

/// How two parts of some elements become one: as many values in each part as are combined together.
/// `isReal` says in which threads both are parts of elements of the program's (null: in all).
struct Combiner {
  std::function<mlir::FailureOr<Fragment>(llvm::ArrayRef<mlir::Value> first,
                                          llvm::ArrayRef<mlir::Value> second, mlir::Value isReal)>
      combine;
  bool commutes = false; // to the last bit
  bool asks = false;     // `isReal` matters: it holds tests of `--check`, or loops
};

/// Name of the dynamic shared memory of every kernel.
inline constexpr llvm::StringLiteral kSharedMemory = "tilec_shared_memory";

/// The type of a slot: that of the language, floats of 8 and 4 bits as integers.
mlir::Type slotType(mlir::Type element);

class KernelLowering {
public:
  /// `sharedMemory` is the zero-length global of address space 3.
  KernelLowering(tgpu::KernelOp kernel, mlir::LLVM::GlobalOp sharedMemory);

  /// Adds the function before the kernel; the kernel stays. Errors are emitted.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> run();

  // ---- Used by the address helpers (Addresses.h).
  mlir::OpBuilder &builder() { return b; }
  mlir::Location location() const { return loc; }
  mlir::Value constant(int64_t value, mlir::Type type);
  mlir::Value i32(int64_t value) { return constant(value, b.getI32Type()); }
  mlir::Value i64(int64_t value) { return constant(value, b.getI64Type()); }
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y);
  mlir::Value mul(mlir::Value x, int64_t y);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y);
  mlir::Value both(mlir::Value x, mlir::Value y); // of conditions; null is true
  mlir::Value negated(mlir::Value condition);     // not null
  /// Sign-extends or truncates an integer or index to i32 or i64.
  mlir::Value toInteger(mlir::Value value, mlir::Type type);
  /// Coordinate of the calling thread along `dim` of a layout, without the slot's part (i32).
  mlir::Value threadCoordinate(const layout::RegisterLayout &layout, unsigned dim);
  /// A digit of the calling thread's lane or warp number (i32), without its stride.
  mlir::Value digitOf(const layout::ThreadTerm &term, const layout::RegisterLayout &layout);
  mlir::Value lane() const { return laneId; }
  /// An integer as one of which LLVM knows nothing before this place. Constants stay what they are.
  mlir::Value fromHere(mlir::Value value);
  /// Number of the calling warp counted from `first`.
  mlir::Value warpFrom(int64_t first);
  /// Address of a byte of shared memory: `bytes` is constant, `dynamic` is an i32 or null.
  mlir::Value sharedPointer(mlir::Value dynamic, int64_t bytes);
  /// The coordinate of an index of a view, or the nearest number of its type. `range` is that of the
  /// index, and then that of the coordinate; `saturates`: it may be another number.
  mlir::Value coordinateOf(const ViewDim &dim, mlir::Value index, IntegerRange &range,
                           bool &saturates);
  /// Whether a coordinate is in range of a view and its tensor.
  mlir::Value coordinateInRange(const ViewDim &dim, mlir::Value coordinate);
  /// Whether an index of a view, whose coordinate this is, is in range of view and tensor.
  mlir::Value indexInRange(const ViewDim &dim, const ElementIndex &index, mlir::Value coordinate);
  /// The coordinate that the index in a slot of a gathered dimension's tile gives, and whether it is
  /// in range.
  mlir::Value gatheredCoordinate(const ViewDim &dim, int64_t slot, mlir::Value &inRange);
  /// The sum of a buffer's dynamic steps; null when there are none.
  mlir::Value sharedSteps(const Shared &buffer);

private:
  mlir::LogicalResult unsupported(mlir::Operation *op, const llvm::Twine &what);

  // ---- Entry (KernelLowering.cpp).
  void createFunction();
  llvm::SmallVector<mlir::NamedAttribute> argumentAttributes(unsigned index, mlir::Type type);
  void mapArguments();
  void emitEntry();
  mlir::LogicalResult initChannels();
  bool isWritten(mlir::Value argument);

  // ---- Dispatch and control flow (ControlFlow.cpp).
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerTgpuOp(mlir::Operation *op);
  mlir::LogicalResult lowerGroupOp(mlir::Operation *op);
  mlir::LogicalResult lowerTileOp(mlir::Operation *op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp op);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp op);
  mlir::LogicalResult lowerWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult lowerRoles(tgpu::RolesOp op);
  mlir::LogicalResult lowerRoleBody(tgpu::RolesOp op, unsigned index);
  mlir::LogicalResult lowerOneThread(tgpu::OneThreadOp op);
  /// A block of one thread, run by its whole warp: `elected` is true in that thread.
  mlir::LogicalResult lowerElected(mlir::Block &block, mlir::Value elected);
  mlir::LogicalResult lowerGridPoint(tgpu::GridPointOp op);
  /// Scalars that a value becomes; a fragment gives one for each slot.
  mlir::FailureOr<Fragment> flatten(mlir::Operation *user, mlir::ValueRange values);
  mlir::LogicalResult flattenTypes(mlir::Operation *user, mlir::TypeRange types,
                                   llvm::SmallVectorImpl<mlir::Type> &flat);
  /// Binds old values to consecutive new ones.
  void bind(mlir::ValueRange old, mlir::ValueRange flat);
  /// Which values a loop carries as words of four bytes: those that were loaded as such, and where registers are few all that can
  /// (passes/Registers.h). Each byte for itself would take a register. And what branches carry so, too:
  mlir::FailureOr<llvm::BitVector> carriedAsWords(mlir::scf::ForOp op);
  /// Fragments of f16 and bf16: what products take, and apart ptxas moves their halves; but not a few whose `slots` come of loads.
  llvm::BitVector pairsOfHalves(mlir::TypeRange types, llvm::ArrayRef<Fragment> slots = {});
  mlir::LogicalResult flattenCarriedTypes(mlir::Operation *user, mlir::TypeRange types,
                                          const llvm::BitVector &asWords,
                                          llvm::SmallVectorImpl<mlir::Type> &flat);
  mlir::FailureOr<Fragment> flattenCarried(mlir::Operation *user, mlir::ValueRange values,
                                           const llvm::BitVector &asWords);
  void bindCarried(mlir::ValueRange old, mlir::ValueRange flat, const llvm::BitVector &asWords);
  /// What `compute` gives, under `condition` (null: always), else `otherwise`.
  mlir::FailureOr<Fragment> valuesUnder(mlir::Value condition,
                                        llvm::ArrayRef<mlir::Value> otherwise,
                                        llvm::function_ref<mlir::FailureOr<Fragment>()> compute);
  /// `then` runs under `condition` (null: always).
  void guarded(mlir::Value condition, llvm::function_ref<void()> then);

  // ---- Elementwise (Elementwise.cpp, Convert.cpp).
  mlir::LogicalResult lowerGeneric(mlir::Operation *op);
  mlir::LogicalResult lowerElementwise(mlir::Operation *op);
  mlir::LogicalResult lowerConstant(mlir::arith::ConstantOp op, size_t count);
  /// The operation on each of the `count` slots of its operands.
  void emitSlots(mlir::Operation *op, llvm::ArrayRef<Fragment> operands, size_t count);
  /// The results of `op` on scalars: nothing that is undefined or poison in LLVM.
  Fragment emitScalar(mlir::Operation *op, mlir::ValueRange in);
  // ---- Integers.cpp
  /// `isNonNegative`: x is, read with sign.
  mlir::Value divide(mlir::Value x, mlir::Value y, tile::Division division, bool isNonNegative);
  /// What rounding makes of the quotient towards zero and of what that leaves.
  mlir::Value rounded(mlir::Value x, mlir::Value y, tile::Division division, mlir::Value quotient,
                      llvm::function_ref<mlir::Value()> rest);
  // ---- Divisors whose reciprocals the host passes (Reciprocals.cpp).
  void readReciprocals(mlir::Block &entry);
  /// Null: y is no such divisor.
  mlir::Value multiplyByReciprocal(mlir::Value x, mlir::Value y, tile::Division division,
                                   bool isNonNegative);
  mlir::Value shift(mlir::Value x, mlir::Value count, bool left, bool isUnsigned);
  /// An index of the program in the type of coordinates; what does not fit becomes the nearest
  /// number that does, which is out of range as well.
  mlir::Value fitIndex(mlir::Value index, IntegerRange &range, mlir::Type type);
  /// The sum of two coordinates of such ranges, or the nearest number of their type.
  mlir::Value addCoordinates(mlir::Value x, IntegerRange &range, mlir::Value y, IntegerRange other);
  mlir::LogicalResult lowerConvert(tile::ConvertOp op);
  mlir::LogicalResult lowerMap(tile::MapOp op);
  friend class SlotCode;

  // ---- Element-wise work that waits interrupt (Streams.cpp).
  mlir::LogicalResult lowerStream(tgpu::StreamOp op);
  /// A zero of which neither LLVM nor ptxas knows that it is one (i32).
  mlir::Value hiddenZero();
  friend class StreamLowering;

  mlir::FailureOr<Fragment> convertAll(mlir::Operation *op, llvm::ArrayRef<mlir::Value> values,
                                       mlir::Type from, mlir::Type to, bool srcUnsigned,
                                       bool dstUnsigned);
  Fragment floatToFp8(llvm::ArrayRef<mlir::Value> values, mlir::Type to);
  Fragment fp8ToHalf(llvm::ArrayRef<mlir::Value> values, mlir::Type from);
  /// The four 8-bit floats of a word as two words of two f16, on any target.
  std::array<mlir::Value, 2> fp8WordToHalves(mlir::Value word, mlir::Type from);
  Fragment decodedWords(llvm::ArrayRef<mlir::Value> words, mlir::Type type, size_t rows);
  Fragment truncatePairs(llvm::ArrayRef<mlir::Value> values, mlir::Type to);
  mlir::Value floatToInteger(mlir::Value value, mlir::Type to, bool isUnsigned);
  mlir::Value powerOfTwo(mlir::Value byte);

  // ---- Elements of 4 bits (PackedElements.cpp).
  mlir::LogicalResult lowerUnpack(tgpu::UnpackOp op);
  mlir::LogicalResult lowerPack(tgpu::PackOp op);
  Fragment packPairs(llvm::ArrayRef<mlir::Value> elements);
  /// The elements of type `from` in bytes, two in each, as numbers of type `to`: f16, bf16 or i8.
  Fragment decodeBytes(llvm::ArrayRef<mlir::Value> bytes, mlir::Type from, mlir::Type to,
                       bool isUnsigned);
  /// Conversions from and to elements of 4 bits; `bytes`: where the values were unpacked from, or
  /// empty.
  mlir::FailureOr<Fragment> convertFromPacked(mlir::Operation *op,
                                              llvm::ArrayRef<mlir::Value> values,
                                              llvm::ArrayRef<mlir::Value> bytes, mlir::Type from,
                                              mlir::Type to, bool srcUnsigned, bool dstUnsigned);
  mlir::FailureOr<Fragment> convertToPacked(mlir::Operation *op, llvm::ArrayRef<mlir::Value> values,
                                            mlir::Type from, mlir::Type to, bool srcUnsigned,
                                            bool dstUnsigned);
  /// The bytes that the elements of a value were unpacked from; empty if they were not.
  Fragment packedSource(mlir::Value value);

  // ---- Checks (Checks.cpp).
  mlir::LogicalResult lowerVerify(tile::VerifyOp op);
  void recordFailure(tile::VerifyOp op, llvm::ArrayRef<mlir::Value> values);
  void recordFailureOfLanes(tile::VerifyOp op, mlir::Value fails,
                            llvm::ArrayRef<mlir::Value> values);
  void recordFailuresOfMap();
  mlir::Value failureField(int32_t offset);

  // ---- `print` (Prints.cpp).
  mlir::LogicalResult lowerPrint(tile::PrintOp op);
  mlir::LogicalResult printScalars(tile::PrintOp op);
  mlir::LogicalResult printTiles(tile::PrintOp op);
  mlir::Value printField(mlir::Value offset);
  mlir::Value reserveMessages(mlir::Value count, int64_t bytesOfOne);
  mlir::Value reserveByWarp(int64_t bytes);
  mlir::Value ringPointer(mlir::Value at, mlir::Value bytes);
  void writeElements(mlir::Value at, int64_t offset, mlir::Type element,
                     llvm::ArrayRef<mlir::Value> values);
  void writeTile(mlir::Value at, int64_t offset, mlir::Type element,
                 const layout::RegisterLayout &layout, llvm::ArrayRef<mlir::Value> slots);
  void publishMessage(tile::PrintOp op, mlir::Value at, int64_t bytes);

  // ---- Views and global memory (Views.cpp, Global.cpp).
  mlir::LogicalResult lowerView(tgpu::ViewOp op);
  mlir::LogicalResult lowerSlice(tile::SliceOp op);
  void sliceDim(ViewDim &dim, mlir::Value index);
  /// The indices of `dim` that a tile (of the old code) gives.
  mlir::FailureOr<GatheredIndices> gatherDim(mlir::Operation *op, const ViewDim &dim,
                                             mlir::Value tile);
  /// Each thread has the indices of what `registers` gives it of a view.
  mlir::LogicalResult checkGathered(mlir::Operation *op, const View &view,
                                    const layout::RegisterLayout &registers);
  mlir::LogicalResult lowerExtent(tile::ExtentOp op);
  mlir::LogicalResult lowerLoad(tgpu::LoadOp op);
  mlir::LogicalResult lowerStore(tgpu::StoreOp op);
  Fragment loadGlobal(mlir::Operation *op, const View &view,
                      const layout::RegisterLayout &registers, std::optional<uint32_t> accessBytes,
                      tile::CacheHint cache);
  void storeGlobal(mlir::Operation *op, const View &view, const layout::RegisterLayout &registers,
                   llvm::ArrayRef<mlir::Value> slots, std::optional<uint32_t> accessBytes,
                   tile::CacheHint cache);
  /// `store` for all elements of a fragment that are in range, with as many neighbours at a time as
  /// one access of `accessBytes` takes.
  void forEachGroup(mlir::Operation *op, const View &view, const layout::RegisterLayout &registers,
                    llvm::ArrayRef<mlir::Value> slots, std::optional<uint32_t> accessBytes,
                    llvm::function_ref<void(mlir::Value pointer, llvm::ArrayRef<mlir::Value> values,
                                            mlir::Value condition)>
                        store);
  /// Whether the calling thread is the owner of its elements (RegisterLayout::replicaDigits): where
  /// several hold the same ones, one of them stores. Null when all are.
  mlir::FailureOr<mlir::Value> ownsSlots(mlir::Operation *op,
                                         const layout::RegisterLayout &registers);
  /// `store` runs in the owners.
  mlir::LogicalResult byOwners(mlir::Operation *op, const layout::RegisterLayout &registers,
                               llvm::function_ref<void()> store);
  mlir::LogicalResult lowerElementLoad(tile::LoadOp op);
  mlir::LogicalResult lowerElementStore(tile::StoreOp op);
  /// The indices of an element, of the new code.
  mlir::FailureOr<llvm::SmallVector<ElementIndex>> elementIndices(mlir::Operation *op,
                                                                  mlir::ValueRange indices);

  // ---- Elements at computed indices (Elements.cpp).
  mlir::LogicalResult lowerCoordinate(tgpu::CoordinateOp op);
  mlir::LogicalResult lowerGather(tgpu::GatherOp op);
  mlir::LogicalResult lowerScatter(tgpu::ScatterOp op);
  struct ElementAccess;
  mlir::LogicalResult prepareAccess(ElementAccess &access);
  /// Whether the indices of a slot are inside of the buffer, if it is one; null: always. What an index
  /// outside of it does, an error of the program, must not reach what is behind it.
  mlir::Value insideBuffer(const ElementAccess &access, size_t slot);
  mlir::Value onlyElement(ElementAccess &access, const Fragment &values);
  /// The place of a slot's element; `condition` (null: always): whether it may be accessed.
  mlir::Value placeOf(const ElementAccess &access, size_t slot, mlir::Value &condition);

  // ---- Constant arrays (Tables.cpp).
  mlir::LogicalResult lowerLookup(tgpu::LookupOp op);

  // ---- Atomic operations (Atomics.cpp).
  mlir::LogicalResult lowerAtomic(tgpu::AtomicOp op);
  mlir::LogicalResult lowerAtomicTile(tgpu::AtomicTileOp op);
  /// `use` with the policy that `op` asks for, if the instruction takes one (else a remark).
  AtomicUse atomicUse(mlir::Operation *op, AtomicUse use, mlir::Type element, bool compares);
  /// An atomic operation of one element; the old value if `wantsOld`.
  mlir::Value emitAtomic(const AtomicUse &use, mlir::Value pointer, mlir::Value value,
                         mlir::Value expected, bool wantsOld);
  mlir::Value atomicInstruction(const AtomicUse &use, llvm::StringRef operation,
                                llvm::StringRef type, mlir::Value pointer, mlir::Value value,
                                mlir::Value expected, bool wantsOld);
  mlir::Value atomicLoop(const AtomicUse &use, mlir::Value pointer, mlir::Value value);
  void reduceNeighbours(const AtomicUse &use, mlir::Value pointer,
                        llvm::ArrayRef<mlir::Value> values);

  // ---- Elements and their neighbours (Neighbours.cpp, SharedElements.cpp, LocalMemory.cpp). Indices
  // are values of the old code.
  Fragment loadNeighbours(Neighbours &elements, int64_t accessBytes, const GlobalUse &use);
  void storeNeighbours(Neighbours &elements, llvm::ArrayRef<mlir::Value> values,
                       int64_t accessBytes, const GlobalUse &use);
  mlir::LogicalResult lowerLoadElement(tgpu::LoadElementOp op);
  mlir::LogicalResult lowerStoreElement(tgpu::StoreElementOp op);
  /// Whether `indices` are inside of `shape`, with `count` neighbours; null where that is known.
  mlir::Value indicesInside(llvm::ArrayRef<int64_t> shape, mlir::ValueRange indices, int64_t count);
  /// The indices as i32, each brought inside unless known to be, the last one to a multiple of `unit`.
  llvm::SmallVector<mlir::Value> clampedIndices(llvm::ArrayRef<int64_t> shape,
                                                mlir::ValueRange indices, int64_t count,
                                                int64_t unit);
  /// Neighbours in one access of a buffer at these indices.
  int64_t sharedAccess(const Shared &buffer, mlir::ValueRange indices, int64_t count);
  mlir::Value sharedElement(const Shared &buffer, llvm::ArrayRef<mlir::Value> indices, int64_t i);
  mlir::LogicalResult lowerLocalAlloc(tile::AllocOp op);
  mlir::LogicalResult lowerLocalLoad(tile::LoadOp op);
  mlir::LogicalResult lowerLocalStore(tile::StoreOp op);
  mlir::Value localElement(const Local &local, llvm::ArrayRef<mlir::Value> indices, int64_t i);
  /// In a region all threads write, in block code the first one of its warps.
  mlir::Value writes(mlir::Operation *op);

  // ---- Code of single threads (Threads.cpp, Vectors.cpp).
  mlir::LogicalResult lowerThreads(tile::ThreadsOp op);
  mlir::LogicalResult lowerWarpOp(mlir::Operation *op);
  mlir::Value reduceLanes(tile::WarpOp op, mlir::Value own);
  mlir::Value scanLanes(tile::WarpScanOp op, mlir::Value own);
  mlir::Value voteLanes(tile::WarpOp op);
  mlir::Value shuffleLanes(tile::ShuffleOp op);
  mlir::LogicalResult lowerVectorOp(mlir::Operation *op);
  mlir::LogicalResult lowerVectorReduce(tile::ReduceOp op);

  // ---- Accesses under `@cache` or a condition (GlobalAssembly.cpp).
  GlobalUse globalUse(const View &view, tile::CacheHint cache);
  mlir::Value cachePolicy(tile::CacheHint cache);
  /// `count` neighbours in one access; they are aligned to their bytes.
  Fragment loadByAssembly(mlir::Value pointer, mlir::Type element, int64_t count,
                          const GlobalUse &use);
  void storeByAssembly(mlir::Value pointer, llvm::ArrayRef<mlir::Value> values,
                       const GlobalUse &use);

  // ---- Shared memory (SharedMemory.cpp).
  mlir::LogicalResult lowerAlloc(tgpu::AllocSharedOp op);
  mlir::LogicalResult lowerSlot(tgpu::SlotOp op);
  mlir::LogicalResult lowerSubview(tgpu::SubviewOp op);
  mlir::LogicalResult lowerLocalLoad(tgpu::LocalLoadOp op);
  mlir::LogicalResult lowerLocalStore(tgpu::LocalStoreOp op);
  mlir::LogicalResult lowerZeroBeyond(tgpu::ZeroBeyondOp op);
  std::optional<layout::MatrixPlan> matrixPlan(const Shared &buffer,
                                               const layout::RegisterLayout &fragment, bool store);
  mlir::FailureOr<layout::AccessPlan> accessPlan(mlir::Operation *op, const Shared &buffer,
                                                 const layout::RegisterLayout &fragment);
  /// Whether a slot lies inside the tile for the calling thread; null when always.
  mlir::Value slotInTile(const layout::RegisterLayout &fragment, int64_t reg);
  Fragment loadMatrices(const Shared &buffer, const layout::MatrixPlan &plan);
  std::optional<layout::WordPlan> wordPlan(const Shared &buffer,
                                           const layout::RegisterLayout &fragment);
  Fragment loadWords(const Shared &buffer, const layout::RegisterLayout &fragment,
                     const layout::WordPlan &plan);
  void storeMatrices(const Shared &buffer, const layout::MatrixPlan &plan,
                     llvm::ArrayRef<mlir::Value> slots);
  mlir::FailureOr<Fragment> loadShared(mlir::Operation *op, const Shared &buffer,
                                       const layout::RegisterLayout &fragment);
  mlir::LogicalResult storeShared(mlir::Operation *op, const Shared &buffer,
                                  const layout::RegisterLayout &fragment,
                                  llvm::ArrayRef<mlir::Value> slots);

  // ---- Synchronisation (Synchronisation.cpp).
  mlir::Value barrierPointer(const Channel &channel, mlir::Value position, Channel::Barrier which);
  void waitFor(const Channel &channel, mlir::Value position, Channel::Barrier which);
  mlir::LogicalResult lowerChannelUse(mlir::Operation *op);
  mlir::LogicalResult lowerBarrier(mlir::Operation *op, int64_t id, int64_t threads, bool arrive);
  mlir::LogicalResult lowerBarrier(tgpu::BarrierOp op);
  mlir::LogicalResult lowerTurn(mlir::Operation *op, int64_t groups);
  void blockBarrier();
  /// A barrier of the warps that run this code.
  mlir::LogicalResult synchronise(mlir::Operation *op);
  bool readsShared();

  // ---- Positions in rings (Rings.cpp). Positions are values of the old code.
  RingPlace ringPlace(mlir::Value position, int64_t slots);
  RingPlace divide(mlir::Value position, int64_t slots); // of the new code
  RingPlace advance(RingPlace place, int64_t distance, int64_t slots);
  /// What `loop` should carry for `position`, which is the counter's plus `distance`.
  std::optional<RingCounter> counterFor(mlir::scf::ForOp loop, mlir::Value position, int64_t slots,
                                        int64_t &distance);
  llvm::SmallVector<RingCounter> findCounters(mlir::scf::ForOp loop);
  /// Appends the places of the first trip to the loop's initial values.
  void startCounters(mlir::scf::ForOp loop, llvm::ArrayRef<RingCounter> counters,
                     mlir::Value lowerBound, Fragment &inits);

  // ---- Copies (Copies.cpp, Tma.cpp).
  mlir::LogicalResult lowerTma(mlir::Operation *op, const View &view, const Shared &buffer,
                               int64_t map, tile::CacheHint cache, const Channel *channel,
                               mlir::Value position);
  mlir::LogicalResult lowerCpAsync(tgpu::CpAsyncOp op);
  mlir::LogicalResult lowerCopy(tgpu::CopyOp op);
  using MoveRows = mlir::LogicalResult(const View &, const Shared &,
                                       const layout::RegisterLayout &);
  mlir::LogicalResult byRows(mlir::Operation *op, const View &view, const Shared &buffer,
                             int64_t bytes, int64_t rows, llvm::function_ref<MoveRows> move);
  int64_t rowsPerTrip(const View &view, const Shared &buffer, int64_t bytes, int64_t inFlight);
  GatheredIndices indicesOfTrip(const GatheredIndices &all, const layout::RegisterLayout &part,
                                mlir::Value trip);
  /// How the threads of the calling warps share a copy of a tile, `bytes` an access.
  mlir::FailureOr<layout::RegisterLayout> copyLayout(mlir::Operation *op, const Shared &buffer,
                                                     int64_t bytes);

  // ---- Matrix products (Wgmma.cpp, Mma.cpp, Fma.cpp).
  mlir::LogicalResult lowerWgmma(tgpu::WgmmaOp op);
  mlir::LogicalResult lowerWgmmaFence(tgpu::WgmmaFenceOp op);
  bool addsTo(tgpu::WgmmaOp op);
  mlir::LogicalResult lowerWgmmaWait(tgpu::WgmmaWaitOp op);
  /// The words of an A fragment: those of before where they reach here, else made here.
  Fragment wordsOfA(mlir::Value fragment);
  mlir::LogicalResult lowerMma(tgpu::MmaOp op);
  mlir::LogicalResult lowerFma(tgpu::FmaOp op);

  // ---- Layouts (Layouts.cpp).
  mlir::LogicalResult lowerConvertLayout(tgpu::ConvertLayoutOp op);
  mlir::LogicalResult lowerBroadcast(tile::BroadcastOp op);
  mlir::LogicalResult lowerFragmentSlice(tgpu::FragmentSliceOp op);
  mlir::LogicalResult lowerFragmentInsert(tgpu::FragmentInsertOp op);
  mlir::LogicalResult lowerTranspose(tile::TransposeOp op);
  /// `reach`: PTX's operand c. `isReached`: whether the lane to read from is within it.
  mlir::Value shuffle(mlir::NVVM::ShflKind kind, mlir::Value value, mlir::Value lane,
                      int64_t reach = 31, mlir::Value *isReached = nullptr);
  mlir::Value laneFunction(const layout::LaneFunction &function);
  Fragment swapLanes(llvm::ArrayRef<mlir::Value> slots, const layout::LaneSwaps &plan);
  mlir::FailureOr<Fragment> convertLayout(mlir::Operation *op, llvm::ArrayRef<mlir::Value> slots,
                                          mlir::Type element, const layout::RegisterLayout &from,
                                          const layout::RegisterLayout &to,
                                          std::optional<int64_t> scratch);

  // ---- Elements that are combined (Combine.cpp).
  mlir::Value combine(layout::Combine kind, mlir::Value x, mlir::Value y, bool isUnsigned);
  Combiner combinerOf(tile::CombineKind kind, bool isUnsigned);
  /// Scalar code that need not end where its operands are no elements, but what pads a layout.
  bool hasLoops(mlir::Region &body);
  /// A user's function: a region that takes the elements of two parts.
  Combiner combinerOf(mlir::Region &region);
  /// Both parts combined where both are real (null: they are), else `otherwise`. `isElement`: that the
  /// result is of an element of the program's, for checks.
  mlir::FailureOr<Fragment> combineReal(const Combiner &combiner, llvm::ArrayRef<mlir::Value> first,
                                        llvm::ArrayRef<mlir::Value> second, mlir::Value areReal,
                                        llvm::ArrayRef<mlir::Value> otherwise,
                                        mlir::Value isElement);
  mlir::Value neutral(layout::Combine kind, mlir::Type type, bool isUnsigned);
  /// A bit of the calling lane's number, as i32.
  mlir::Value laneBit(unsigned bit);

  // ---- Reductions (Reductions.cpp).
  mlir::LogicalResult lowerReduce(tile::ReduceOp op);
  mlir::LogicalResult lowerReduceWith(tile::ReduceWithOp op);
  mlir::LogicalResult lowerReduceInWarps(tgpu::ReduceInWarpsOp op);
  mlir::LogicalResult lowerReduction(mlir::Operation *op, const Combiner &combiner, uint64_t axis,
                                     bool inWarps);
  mlir::FailureOr<Fragment> reduceSlots(const Combiner &combiner, llvm::ArrayRef<Fragment> inputs,
                                        const layout::RegisterLayout &layout, unsigned axis,
                                        llvm::ArrayRef<int64_t> slots, int64_t threadReach,
                                        mlir::Value isElement);
  mlir::FailureOr<Fragment> reduceLanes(const Combiner &combiner,
                                        llvm::ArrayRef<mlir::Value> values, unsigned bit,
                                        mlir::Value highIsReal, mlir::Value isElement);
  mlir::FailureOr<Fragment> reduceSlot(const Combiner &combiner, llvm::ArrayRef<Fragment> inputs,
                                       const layout::RegisterLayout &layout, unsigned axis,
                                       const layout::ReductionPlan &plan, int64_t slot);
  /// What each warp makes of its elements along `axis`: the slots of the plan's result.
  mlir::FailureOr<llvm::SmallVector<Fragment>> reduceInWarps(const Combiner &combiner,
                                                             llvm::ArrayRef<Fragment> inputs,
                                                             const layout::RegisterLayout &layout,
                                                             unsigned axis,
                                                             const layout::ReductionPlan &plan);

  // ---- Partial values (Partial.cpp).
  mlir::LogicalResult lowerBeginPartial(tgpu::BeginPartialOp op);
  mlir::LogicalResult lowerAccumulatePartial(tgpu::AccumulatePartialOp op);
  mlir::LogicalResult lowerScalePartial(tgpu::ScalePartialOp op);
  Fragment reduceInThread(layout::Combine kind, llvm::ArrayRef<mlir::Value> inputs,
                          const layout::PartialReduction::Step &step, mlir::Value none,
                          bool isUnsigned);

  // ---- Scans (Scans.cpp).
  mlir::LogicalResult lowerScan(tile::ScanOp op);
  mlir::LogicalResult lowerScanWith(tile::ScanWithOp op);
  mlir::LogicalResult lowerScanInWarps(tgpu::ScanInWarpsOp op);
  mlir::LogicalResult lowerScanAcrossWarps(tgpu::ScanAcrossWarpsOp op);
  /// `identity`: of an exclusive scan, else null. `totals`: results of the operation, behind those of
  /// its inputs.
  mlir::LogicalResult scanInWarps(mlir::Operation *op, const Combiner &combiner, uint64_t axis,
                                  bool reverse, mlir::Value identity, mlir::ValueRange totals);
  mlir::FailureOr<Fragment> carryOfWarp(const Combiner &combiner, llvm::ArrayRef<Fragment> totals,
                                        llvm::ArrayRef<int64_t> parts, mlir::Value ownPart,
                                        bool reverse, mlir::Value isElement);
  mlir::LogicalResult addCarry(const Combiner &combiner, llvm::MutableArrayRef<Fragment> results,
                               llvm::ArrayRef<int64_t> slots, llvm::ArrayRef<mlir::Value> carry,
                               mlir::Value isLater, const layout::RegisterLayout &layout);
  friend class WarpScan;

public:
  // ---- Packing (Packing.cpp).
  /// 32-bit words of consecutive slots (of 8, 16 or 32 bits).
  Fragment packWords(llvm::ArrayRef<mlir::Value> slots) { return packBits(slots, 32); }
  void unpackWord(mlir::Value word, mlir::Type element, Fragment &slots) {
    unpackBits(word, slotType(element), slots);
  }
  /// A vector of scalars of one type. Elements that were taken from such a vector in order fold back.
  mlir::Value buildVector(llvm::ArrayRef<mlir::Value> values);
  void takeVector(mlir::Value vector, Fragment &values);
  /// A vector of two f16 or bf16 with this value in both.
  mlir::Value pairOf(mlir::Type pair, double value);
  /// pair * scale + offset of two f16 or bf16, rounded once. Subnormals count under @fast_math, too,
  /// where those of `llvm.fma` may become 0: decoding is exact.
  mlir::Value fmaPair(mlir::Value pair, double scale, mlir::Value offset);
  /// Consecutive slots as integers of `width` bits, and the slots of type `slot` in an integer.
  Fragment packBits(llvm::ArrayRef<mlir::Value> slots, unsigned width);
  void unpackBits(mlir::Value bits, mlir::Type slot, Fragment &slots);
  /// Whether slots are bytes that were taken, in order, from words.
  static bool areWordsOfBytes(llvm::ArrayRef<mlir::Value> slots);
  /// Loads or stores `count` neighbouring elements; `element` is the type in the language.
  Fragment loadElements(mlir::Value pointer, mlir::Type element, int64_t count, int64_t align,
                        const GlobalUse &use = {});
  void storeElements(mlir::Value pointer, mlir::Type element, llvm::ArrayRef<mlir::Value> values,
                     int64_t align, const GlobalUse &use = {});

private:
  tgpu::KernelOp kernel;
  IntegerAnalysis integers; // of the kernel's values
  mlir::LLVM::GlobalOp sharedMemory;
  mlir::LLVM::LLVMFuncOp function;
  mlir::OpBuilder b;
  mlir::Location loc;
  unsigned arch = 80; // 90 of "sm_90a"
  bool archSpecific = false;
  WarpRange warps;
  mlir::Value threadId, laneId, warpId, smemBase; // in a role of teams: of the first team
  /// The number of the team, in a kernel that has teams; the same in their role, null outside of it.
  mlir::Value team, runningTeam;
  int64_t teams = 1, teamBytes = 0;
  std::shared_ptr<Clusters> clusters; // null: the kernel has none
  mlir::Value zeroAtRunTime;          // once it is needed
  /// What lets values depend on a wait for a product: zeros, computed from its sum in the wait itself, so that it is no use of the sum
  /// that LLVM could leave behind where other products have its registers. So many are wanted, and those of the last wait.
  size_t wantedMarks = 0;
  Fragment marks;
  llvm::SmallVector<mlir::Value, 4> tensorMaps;
  std::optional<bool> hasSharedReads;
  /// Of a kernel with checks: the record of failures, and the number of its first place there.
  mlir::Value failureRecord, failureBase;
  llvm::DenseMap<mlir::Value, Reciprocal>
      reciprocals;                    // by divisor, of the new code; looked up only
  mlir::Value printBuffer, printBase; // of one that prints: messages, and its first print
  /// In the body of a map or of a combination: whether the element is one of the tile; null: all are.
  mlir::Value mappedSlotInTile;
  /// What failed first of the slots of the map being lowered, by check: a thread reports it once,
  /// behind the map, instead of in a branch for each slot.
  struct MapFailure {
    mlir::Value fails; // i1
    Fragment values;
  };
  llvm::MapVector<mlir::Operation *, MapFailure> mapFailures;
  bool gathersMapFailures = false;
  /// In the body of a map that prints: whether the calling thread does it for the element; null: all.
  mlir::Value mappedSlotPrints;
  llvm::SmallVector<std::pair<mlir::scf::ForOp, llvm::SmallVector<RingCounter>>> activeCounters;
  /// Set while an operation of one thread is lowered whose blocks the whole warp runs.
  mlir::Value electedLane;

  // Looked up, never iterated.
  llvm::DenseMap<mlir::Value, Fragment> scalars; // scalars and fragments
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Value, Shared> buffers;
  llvm::DenseMap<mlir::Value, Channel> channels;
  llvm::DenseMap<mlir::Value, Local> locals;
  /// A fragments of wgmma as words, made before the fence and read until the wait.
  llvm::DenseMap<mlir::Value, Fragment> packedA;
  llvm::DenseMap<mlir::Operation *, Fragment> ownSums; // of wgmma, copied or passed by the fence
};

/// The attribute tgpu.in_bounds of a copy, load or store: dimensions of the view without a check.
llvm::SmallVector<bool, 4> inBoundsOf(mlir::Operation *op);

/// The type in memory: as slotType, what is less than a byte as i8. Elements of 4 bits get here in
/// values alone (PackElements.cpp); where these pass through memory, each takes a byte.
mlir::Type memoryType(mlir::Type element);
int64_t memoryBytes(mlir::Type element);

} // namespace tilec::lowering

#endif // TILEC_PASSES_LLVM_KERNELLOWERING_H
