//===- Sync.h - who touches memory when, and in what order -----*- C++ -*-===//
//
// What tgpu-insert-sync and tgpu-verify-sync share: a walk over a kernel in program order that
// knows, at each operation, which earlier accesses of shared and global memory no barrier has
// ordered yet, and which channel slots the threads hold. Loops are walked until nothing new arrives
// over the back edge. The walk reports hazards; what follows from them is up to the pass.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_SYNC_H
#define TILEC_PASSES_SYNC_H

#include "passes/Analysis.h"
#include "passes/GlobalAccess.h"
#include "passes/IntegerAnalysis.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tilec::sync {

/// A sum of SSA values and a constant.
struct Linear {
  llvm::SmallVector<mlir::Value, 2> leaves; ///< in the order of mlir::Value's opaque pointers
  int64_t constant = 0;

  /// Sums and differences with constants are taken apart, everything else is a leaf.
  static Linear of(mlir::Value value);
  /// Replaces the leaves of `from` by `to`, once; false when they are not all here.
  bool replace(const Linear &from, const Linear &to);
  bool operator==(const Linear &) const = default;
};

/// A ring position: equal expressions for the same number. None: nothing is known.
struct Position {
  llvm::SmallVector<Linear, 2> forms;

  static Position of(mlir::Value value) { return {{Linear::of(value)}}; }
  bool equals(const Position &other) const;
  /// True when the two are different slots of a ring of `slots`.
  bool isOtherSlot(const Position &other, int64_t slots) const;
  /// True when the two are the same slot of a ring of `slots`.
  bool isSameSlot(const Position &other, int64_t slots) const;
  bool operator==(const Position &) const = default;
};

/// A part of shared or of global memory.
struct Memory {
  std::optional<GlobalRegion> global; ///< what is said below is of shared memory
  bool messages = false; ///< what the block prints: written in the order of its statements
  mlir::Operation *alloc = nullptr; ///< the alloc_shared; null for scratch space
  int64_t begin = -1, end = -1; ///< bytes of the whole allocation; -1 before tgpu-allocate-shared
  std::optional<Position> slot; ///< of a ring; nothing: all of it
  int64_t slots = 1;
  /// In a ring of rings the slots of the inner ones, from outside to inside.
  llvm::SmallVector<std::pair<Position, int64_t>, 1> inner;
  llvm::SmallVector<int64_t, 4> low, high; ///< elements of the slot

  static Memory of(mlir::Value buffer);
  bool overlaps(const Memory &other) const;
  bool operator==(const Memory &) const = default;
};

/// Asynchronous accesses are in flight until the wait of their kind.
enum class Flight { None, Wgmma, CpAsync, TmaStore, TmaLoad };

/// How threads learn that a TMA load is complete.
struct Arrival {
  mlir::Value channel;
  Position position;
  std::optional<Linear> end; ///< positions up to here, exclusive, may be filled
  bool operator==(const Arrival &) const = default;
};

/// Who makes an access: all threads, the elected lane of a warp (its number; of each of several groups of warps kOfGroups times
/// their number more), or the first thread of warp w (kFirstThread - w).
constexpr int64_t kAllThreads = -1, kFirstThread = -2, kOfGroups = 1024;

struct Access {
  mlir::Operation *op = nullptr;
  Memory memory;
  bool write = false;
  /// An atomic operation whose order among others of its kind nobody can tell.
  std::optional<tile::AtomicKind> atomic;
  bool async = false;           ///< by the async proxy
  Flight flight = Flight::None; ///< kind while in flight
  int64_t age = -1;             ///< groups of this kind closed since; -1: its own is still open
  int64_t thread = kAllThreads; ///< who made it
  int64_t groups = 1;    ///< of warps, each in a part of its own (RegisterLayout::hasRowGroups)
  int64_t met = 0;       ///< so many groups have each met since, after all fences; 0: none have
  bool fenced = false;   ///< a generic access after which its threads fenced
  bool synced = false;   ///< an unfenced generic access that a barrier has ordered
  bool released = false; ///< its slot of a guarded buffer has been given back
  mlir::Type fragment;   ///< what the threads move, for plain accesses of global memory
  std::optional<Arrival> arrival; ///< of the slot that a TMA load fills

  bool operator==(const Access &) const = default;
};

/// What `op` does with shared and global memory itself, without operations inside it.
llvm::SmallVector<Access, 2> accessesOf(mlir::Operation *op);
/// True if `op` itself accesses memory.
bool isAccess(mlir::Operation *op);
/// The part of accessesOf that concerns global memory.
void addGlobalAccesses(mlir::Operation *op, llvm::SmallVectorImpl<Access> &accesses);
/// The role that an operation is in; null outside of roles. Groups of warps are those of one role.
mlir::Region *roleAround(mlir::Operation *op);
/// Who runs what is inside.
int64_t threadOf(tgpu::OneThreadOp one);
/// Who runs an atomic operation.
int64_t threadOf(tgpu::AtomicOp atomic);
/// Whether two accesses of global memory at one point of the grid may meet, each in any iteration of the loops around it, and
/// have to be in order.
bool mayMeet(const Access &a, const Access &b);
/// Its kind, if it commutes with others of that kind: exchanges do not, nor does what returns the old
/// value or orders other accesses.
std::optional<tile::AtomicKind> commutingKind(mlir::Operation *atomic);
/// True where the layouts prove that no thread touches what another one does in the other access.
bool isOfSameThreads(const Access &now, const Access &before);
/// Adds an access. Of several that differ only in age the youngest says it all; one that loops have
/// made at many positions is at any.
void addAccess(llvm::SmallVectorImpl<Access> &into, const Access &item);
/// The same for an access of global memory, which one of a larger region stands for.
void addGlobalAccess(llvm::SmallVectorImpl<Access> &into, const Access &item);

enum class Hazard {
  None,
  Barrier,  ///< a barrier must come between
  Fence,    ///< a proxy fence and then a barrier
  InFlight, ///< the earlier access has not been waited for
};

/// A comparison of numbers, each a value (none: zero) and a constant: left < right.
struct Less {
  Linear left, right;

  /// The comparison that `condition` is, where its operands are values as they stand: a sum of them
  /// may have wrapped. Nothing for others.
  static std::optional<Less> of(mlir::Value condition);
  static Less of(mlir::Value left, mlir::Value right);
  /// True where the comparison does not hold.
  Less negation() const;
  bool operator==(const Less &) const = default;
};

/// Whether `less` holds where all of `facts` do; nothing if that cannot be said.
std::optional<bool> decide(llvm::ArrayRef<Less> facts, const Less &less);

/// A channel slot that the threads may use: waited for, or acquired for writing.
struct Held {
  mlir::Operation *op = nullptr; ///< the wait or acquire
  mlir::Value channel;
  Position position;
  std::optional<Less> when =
      std::nullopt;   ///< held only then: a loop without iterations has taken nothing
  bool given = false; ///< handed to another role or filled again: known to be full, not to be used
  bool operator==(const Held &) const = default;
};

/// What is known between two operations.
struct State {
  llvm::SmallVector<Access, 0> pending;
  llvm::SmallVector<Held, 2> held, acquired;
  /// Groups closed since the product behind a `!tgpu.pending` value was issued (-1: its own is
  /// open).
  llvm::MapVector<mlir::Value, int64_t> ages;
  /// The same of fragments that products in flight read: their registers are in use.
  llvm::MapVector<mlir::Value, int64_t> operands;
  /// Fragments written since the last wgmma_fence.
  llvm::SetVector<mlir::Value> unfenced;
  /// Writes for other roles that no publish has handed over yet.
  llvm::SetVector<mlir::Operation *> unpublished;
};

/// Threads that run a piece of code together.
struct Context {
  tgpu::RolesOp roles; ///< null outside of roles
  unsigned role = 0;
  int64_t threads = 0;
  mlir::Operation *oneThread = nullptr;
  int64_t warp = -1; ///< whose elected lane is the one thread (threadOf); -1: all threads
  /// In a `tile.threads` region, whose accesses the program orders among themselves.
  bool inRegion = false;
};

class LoopEdges;

class Walker {
public:
  explicit Walker(tgpu::KernelOp kernel);
  virtual ~Walker() = default;
  /// Fails, with an error at a loop, when the state at its head does not settle: `maxWalks` of its
  /// body are not enough (0: as many as the rings of the kernel may need).
  llvm::LogicalResult run(int64_t maxWalks);

protected:
  /// `now` (in `at`) would race with `before`. `outer` is the operation before which all threads of
  /// the context still run together: `at` itself, or the one_thread or roles around it. True when
  /// the pass has put a barrier (and fence) there, or, for what is in flight, its wait.
  virtual bool hazard(Hazard kind, mlir::Operation *outer, const Access &now,
                      const Access &before) = 0;
  /// True when a barrier that a branch needs should come before it, so that the next branch finds
  /// it too.
  virtual bool hoistsOutOfBranches() const { return false; }
  /// Before the effects of `op` on the state.
  virtual void visit(mlir::Operation *op) {}
  /// `held` is given back on one way through `branch` only, or taken on one only; if `acquired`, for
  /// writing.
  virtual void oneSided(mlir::Operation *branch, const Held &held, bool acquired) {}
  /// At the end of a branch that all threads of the context take together, or none.
  virtual void atBranchEnd(mlir::Block &branch) {}
  /// At the end of the kernel, of a role, or of what one thread does.
  virtual void atEnd(mlir::Operation *parent) {}

  /// Channels that order the accesses of a buffer: those of its TMA loads, and those that a role
  /// publishes after writing it. Empty for buffers that barriers order.
  llvm::ArrayRef<mlir::Value> guardsOf(mlir::Operation *alloc) const;
  llvm::ArrayRef<mlir::Value> guardsOf(const Memory &memory) const {
    return guardsOf(memory.alloc);
  }
  bool isGuarded(const Memory &memory) const { return !guardsOf(memory).empty(); }
  /// Threads write to what TMA has filled: few tiles need that, and order it where they do.
  bool isRepaired(const Memory &memory) const { return repaired.contains(memory.alloc); }
  Hazard classify(const Access &now, const Access &before) const;
  /// Threads read the slot that `release` gives back, TMA fills it again, and no fence has come
  /// between. PTX ISA, "Causality order": accesses of different proxies are ordered across a proxy
  /// fence only, a read before the write that follows it too.
  bool needsFence(const Access &pending, tgpu::ReleaseOp release) const;
  /// The same of a publish, which says that what its role has read may be filled again.
  bool needsFence(const Access &pending, tgpu::PublishOp publish) const;
  /// True if `publish` says to other roles that its own has done with what `access` used: no empty
  /// barrier does.
  bool handsOver(tgpu::PublishOp publish, const Access &access) const;
  llvm::ArrayRef<mlir::Operation *> handedOver(tgpu::PublishOp publish) const;
  /// The threads of the context, or the one of `warp`, fence what they have done.
  void fenceAsync(bool global = false);
  /// All threads of the context meet in a barrier.
  void applyBarrier();
  /// Those of each group do.
  void applyGroupBarrier(tgpu::BarrierOp barrier);
  /// True if the threads hold the slot here: `held` may depend on a condition.
  bool isHeld(const Held &held) { return !held.when || holds(*held.when) == true; }
  /// Whether `less` holds here; nothing if that cannot be said.
  std::optional<bool> holds(const Less &less);
  bool failsForChoice(const Less &less);
  unsigned choices = 0; ///< how deep failsForChoice is
  /// True for a barrier of all threads of the context.
  bool coversContext(tgpu::BarrierOp barrier) const;

  tgpu::KernelOp kernel;
  State state;
  Context context;
  llvm::SmallVector<Less> facts; ///< comparisons that hold here
  /// False for accesses of global memory that nothing in the kernel can conflict with.
  bool isFollowed(const Access &access) const;

private:
  void collectGuards();
  void guardPublished(tgpu::RolesOp roles);
  void collectHandovers(tgpu::RolesOp roles);
  void guard(mlir::Operation *alloc, mlir::Value channel);
  void walk(mlir::Block &block);
  void walkOp(mlir::Operation *op);
  void exchange(tgpu::ConvertLayoutOp convert);
  std::optional<IntegerRange> rangeOf(const Linear &number);
  void joinSides(mlir::Operation *branch, State &into, const std::optional<Less> &intoFact,
                 const State &other, const std::optional<Less> &otherFact);
  void joinSkipped(mlir::scf::ForOp loop, State &into, const State &skipped);
  /// Slots held under conditions that nobody can name behind an edge of `loop`.
  void forgetConditions(mlir::Operation *loop, State &end);
  void walkFor(mlir::scf::ForOp loop);
  void walkWhile(mlir::scf::WhileOp loop);
  void walkIteration(mlir::scf::ForOp loop, bool first);
  void enterLoop(mlir::Operation *loop, LoopEdges &edges, State &head);
  llvm::StringRef repeatLoop(mlir::Operation *loop, LoopEdges &edges, State next, State &head);
  void joinExit(mlir::Operation *loop, std::optional<State> &exit, State leaving);
  void skipLoop(mlir::scf::ForOp loop, LoopEdges &edges, State &before);
  void walkIf(mlir::scf::IfOp branch);
  State walkSide(mlir::Block *block, const std::optional<Less> &fact);
  void walkRoles(tgpu::RolesOp roles);
  void walkOneThread(tgpu::OneThreadOp one);
  void walkThreads(tile::ThreadsOp region);
  void walkStream(tgpu::StreamOp stream);
  /// Reports what `now` needs from before `outer`, of what passes the filter.
  void check(const Access &now, mlir::Operation *outer,
             llvm::function_ref<bool(Hazard, const Access &)> filter);
  /// Reports what the accesses inside `outer` need from before it.
  void checkInside(mlir::Operation *outer, bool onlyGlobal = false);
  void access(mlir::Operation *op);
  void applyRepair(Hazard kind, const Access &before);
  void commit(Flight kind);
  void wait(Flight kind, int64_t pending);
  /// With `sources` the thread has waited for the reading of what is stored, no more.
  void waitStores(int64_t pending, bool sources, int64_t thread);
  void effects(mlir::Operation *op);
  int64_t ringSlots() const;

  void collectGlobal();
  /// The accesses of `op` that are followed, with who makes them.
  llvm::SmallVector<Access, 2> followedAccesses(mlir::Operation *op) const;
  /// True for a generic access that later ones by the async proxy may conflict with.
  bool awaitsFence(const Access &access) const;
  /// TMA loads that the threads know to be complete after `wait`, and behind `loop`.
  void arrive(tgpu::WaitOp wait);
  /// What happens in a slot after it has been released, filled and waited for is ordered behind what
  /// was done there before. What a publish hands over is not to be used before that.
  void giveBack(mlir::Operation *op);
  void markGiven(mlir::Operation *alloc, const Position &position);
  void arriveBehind(mlir::scf::ForOp loop);
  void forgetUnmade();

  llvm::MapVector<mlir::Operation *, llvm::SmallVector<mlir::Value, 2>> guards;
  /// Buffers that the publishes of a channel in a role hand over.
  llvm::DenseMap<std::pair<mlir::Region *, mlir::Value>, llvm::SetVector<mlir::Operation *>> handed;
  llvm::SmallPtrSet<mlir::Operation *, 4> repaired; ///< buffers that isRepaired; null is none
  bool hasTmaLoads = false;
  /// Arguments of the kernel; null stands for any.
  llvm::SetVector<mlir::BlockArgument> written, readByTma, writtenByTma;
  int64_t maxWalks = 0;
  /// A loop, and what of its state still changed in the last walk.
  std::pair<mlir::Operation *, llvm::StringRef> unsettled = {nullptr, ""};
  std::unique_ptr<IntegerAnalysis> integers; ///< made when it is needed
  mlir::Operation *unknown = nullptr; ///< its regions run in an order that the walk does not know
};

} // namespace tilec::sync

#endif // TILEC_PASSES_SYNC_H
