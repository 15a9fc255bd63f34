//===- LoopGraph.h - what must stay in order in a pipelined loop -*- C++ -*-===//
//
// The operations of a loop over the numbers of its iterations, whose rings have channels, as units that
// a schedule places: and the edges that it has to keep. With stage s of a unit its work on iteration n
// is done in step n + s of the expanded loop, and in a step units stand in their order. An edge of
// distance d from u to v says: u of iteration n before v of iteration n + d. It is kept if
// k = d + s(v) - s(u) >= 0, and where k = 0 if u stands before v.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_LOOPGRAPH_H
#define TILEC_PASSES_LOOPGRAPH_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/SetVector.h"

namespace tilec {

/// Operations of a loop's body that are scheduled together.
struct Unit {
  enum class Kind {
    Fill,    ///< one thread fills a slot by TMA
    Product, ///< from wgmma_fence to wgmma_commit
    Retire,  ///< wgmma_wait
    Wait,    ///< for a slot
    Release, ///< of a slot
    Stream,  ///< element-wise work on a tile
    Row,     ///< other work on values alone
    Other    ///< all else, with effects or regions
  };
  Kind kind;
  llvm::SmallVector<mlir::Operation *, 1> ops; ///< in the order of the body
  mlir::Value channel;                         ///< of a fill, wait or release
};

struct Edge {
  unsigned from, to; ///< numbers of units
  int64_t distance;
  /// What one would name the edge in a message.
  const char *reason;
};

/// True for the loops that the graph is made for: from 0 by 1, in 32 bits.
bool countsIterations(mlir::scf::ForOp loop);

/// True for one thread that fills slots of rings by TMA.
bool isSlotFill(mlir::Operation *op);

/// What a unit does with memory, as far as its place among others is concerned.
struct Touched;

class LoopGraph {
public:
  /// `loop` has the form above.
  explicit LoopGraph(mlir::scf::ForOp loop);

  llvm::ArrayRef<Unit> units() const { return all; }
  llvm::ArrayRef<Edge> edges() const { return kept; }
  mlir::scf::ForOp getLoop() const { return loop; }
  /// True for an operation of the body that has no unit: scalars, views, slots and the like, which are
  /// computed for any iteration where they are needed.
  bool isRecomputed(mlir::Operation *op) const {
    return recomputed.contains(op) || views.contains(op);
  }
  /// The values that an operation of the body uses, in its regions, too; in place of a view what tells
  /// where it is.
  llvm::SetVector<mlir::Value> usedBy(mlir::Operation *op) const;
  /// The unit of an operation of the body.
  std::optional<unsigned> unitOf(mlir::Operation *op) const;
  /// The unit that computes what the next iteration gets as argument number `argument`; nothing if it
  /// is no unit's.
  std::optional<unsigned> carrierOf(unsigned argument) const;
  /// The retire of a product; every product of the body has one there, see `irregular`.
  std::optional<unsigned> retireOf(unsigned product) const;
  /// The product that a retire waits for.
  std::optional<unsigned> productOf(unsigned retire) const;
  /// True for a product whose sum goes nowhere but into the same product of the next iteration, and
  /// behind the loop: it may go on before it has been waited for.
  bool isChained(unsigned product) const { return chained.contains(product); }
  /// True for a retire whose sum another product, or the same one of the next iteration, goes on with as
  /// it is.
  bool passesSumOn(unsigned retire) const;
  /// Slots of the ring of a channel.
  static int64_t depthOf(mlir::Value channel);
  /// Why the loop cannot be scheduled but in the order of its body, with its fills ahead; empty if it
  /// can.
  llvm::StringRef irregular() const { return irregularity; }
  /// False where a slot is used more than once in an iteration: then nothing is known of its fills either.
  bool hasRegularChannels() const { return regularChannels; }

private:
  void findRecomputed();
  /// Numbers of the units whose results a unit uses in its iteration.
  llvm::SetVector<unsigned> unitsUsedBy(const Unit &unit) const;
  void findRings();
  bool guards(mlir::Value channel, mlir::Operation *alloc) const;
  Touched touchedBy(const Unit &unit) const;
  bool hasNestedTurns(mlir::Value channel) const;
  void addTurnEdges();
  void makeUnits();
  llvm::SmallVector<unsigned> groupStreams() const;
  void joinStreams();
  void addEdge(unsigned from, unsigned to, int64_t distance, const char *reason);
  void addDataEdges();
  void findChained();
  void addRegisterEdges();
  void addSumEdges(unsigned product, unsigned retire);
  void addLoopEdges(unsigned product, unsigned retire);
  void addChannelEdges();
  void addNestedChannelEdges();
  void addMemoryEdges();
  /// Where an access by `unit` ends.
  unsigned endOf(unsigned unit) const;

  mutable mlir::scf::ForOp loop;
  llvm::SmallVector<Unit, 0> all;
  llvm::SmallVector<Edge, 0> kept;
  llvm::DenseSet<std::pair<std::pair<unsigned, unsigned>, int64_t>> known; ///< looked up only
  llvm::DenseSet<mlir::Operation *> recomputed;                            ///< looked up only
  llvm::DenseSet<mlir::Operation *> views;                                 ///< looked up only
  llvm::DenseMap<mlir::Operation *, unsigned> places;                      ///< looked up only
  llvm::DenseMap<unsigned, unsigned> retires, products;
  llvm::DenseSet<unsigned> chained;
  /// Channels that say when slots of an alloc_shared may be read: of TMA, or of who hands them over.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 1>>
      ringChannels; ///< looked up only
  std::string irregularity;
  bool regularChannels = true;
};

} // namespace tilec

#endif // TILEC_PASSES_LOOPGRAPH_H
