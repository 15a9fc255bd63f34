//===- Clusters.h - blocks that fill each other's shared memory -*- C++ -*-===//
//
// Nothing reaches into the shared memory of another block before that block's barriers are initialised, nor after it has ended:
// all threads of a cluster meet at the start of a kernel and at its end.
//
// A load that several blocks share is a share of its boxes in each, written into all of them at the same place; each block's full
// barrier counts the bytes of all boxes. Before a block loads into a slot it must be free in all of them:
//
// - Where nothing else ever has the memory of the slots, and the warps that compute only multiply (isGivenBackToAll), each of these gives a slot
//   back to all blocks: lane i to block i, whose empty barrier counts the warps of all. In round 0 all slots are free, and nobody waits.
// - Otherwise what the block itself did with the memory before has to be over, too, which only its own thread that loads knows. It waits for
//   the empty barrier of its own block, tells all blocks (itself among them), and waits until all have. The warps that compute have no fence. But
//   for each slot that takes the way of a message between blocks, one slot behind the other: products of small tiles take up to half as
//   long again (docs/performance-schedules.md).
//
// Arrivals at other blocks release, and the wait for them acquires, what threads did with the slot, at the scope of the cluster: a fence on
// either side, restricted to shared memory.
//
// No phase is missed: none of a barrier completes without the block's own arrivals, which for round r + 1 come behind its own load of that
// round, and that behind its wait for round r.
//
// One may be counted for the round before: PTX does not order arrivals at several blocks behind one fence, so that one of round r can still
// be under way to block P when all at block Q are there, Q loads round r + 1 and arrives at P for it. That does no harm. A block arrives for
// round r + 1 behind its own wait for round r, so behind all arrivals of round r at itself, each of which has its fence in common with one at
// P: what P learns from the early arrival is all that it would have learned from the late one. And there are as many arrivals: the late
// one is counted in round r + 1, which is not complete before P's own ones for it are made. On the emulator, where in random
// schedules arrivals take as long as they like, it happens.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_LLVM_CLUSTERS_H
#define TILEC_PASSES_LLVM_CLUSTERS_H

#include "passes/llvm/KernelLowering.h"

namespace tilec::lowering {

class Clusters {
public:
  /// At the start of a kernel of clusters.
  Clusters(KernelLowering &lowering, llvm::ArrayRef<int32_t> cluster);

  /// All threads of the cluster meet behind the initialisation of their barriers (with its fence), and at the end of the kernel.
  void begin();
  void end();
  /// This block's place along a dimension, i32.
  mlir::Value coordinate(unsigned dim);
  /// How many blocks are alike along all dimensions but these.
  int64_t groupSize(llvm::ArrayRef<int32_t> dims) const;
  /// This block's number among these, i32.
  mlir::Value memberOf(llvm::ArrayRef<int32_t> dims);
  /// One bit for each of these blocks, at its rank: the i16 mask of a multicast.
  mlir::Value maskOf(llvm::ArrayRef<int32_t> dims);
  /// Which of these blocks does what comes next of what they share: each in turn.
  int64_t nextShare(llvm::ArrayRef<int32_t> dims) { return shares++ % groupSize(dims); }
  /// Arrives at the barrier of shared memory of each of these blocks, for what this one's threads did before.
  void arriveAtAll(llvm::ArrayRef<int32_t> dims, mlir::Value barrier);
  /// The same at one of these blocks, by its number among them, i32.
  void arriveAt(llvm::ArrayRef<int32_t> dims, mlir::Value barrier, mlir::Value member);
  /// The same address, as one of the cluster's.
  mlir::Value inCluster(mlir::Value pointer);

private:
  /// Rank of the first of these blocks.
  mlir::Value firstOf(llvm::ArrayRef<int32_t> dims);
  /// What arrivals at other blocks release.
  void release();
  void arriveAtRank(mlir::Value rank, mlir::Value barrier);

  KernelLowering &lowering;
  llvm::SmallVector<int32_t, 3> cluster;
  mlir::Value rank;
  int64_t shares = 0;
};

} // namespace tilec::lowering

#endif // TILEC_PASSES_LLVM_CLUSTERS_H
