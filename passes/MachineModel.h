//===- MachineModel.h - rates and latencies of the targets ------*- C++ -*-===//
//
// What the cost model (EstimateCost.cpp) knows of the hardware, one entry for each generation. "Clock" is one
// clock of a multiprocessor; rates are those of a whole multiprocessor unless they say otherwise.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_MACHINEMODEL_H
#define TILEC_PASSES_MACHINEMODEL_H

#include "dialects/support/Target.h"

namespace tilec {

struct MachineModel {
  int multiprocessors; ///< where no launch says how many there are

  // Time outside the multiprocessors, in seconds.
  double launch;     ///< of an empty kernel
  double nextLaunch; ///< of one that follows another in the same call
  double
      dealing; ///< more, where points come off a counter: it is filled before, and a block waits for its first answer
  double dramStart; ///< until memory delivers at its rate
  double nextBlock; ///< from the start of a block to that of the next one, anywhere on the chip

  // Clocks. Tensor cores at work draw power, and the clock falls with the size of the work:
  // gigahertz = mostGHz - perDoubling * busy * (log2(f16 FLOP of the launch) - 30.3), at least leastGHz; busy: share of the multiprocessors.
  double mostGHz, leastGHz, perDoubling;
  double plainGHz;   ///< where there are no products
  double behindGHz;  ///< where products wait for work on elements, however large the launch is
  double blockStart; ///< clocks from the start of the kernel to a block's first instruction
  double plainStart; ///< the same of blocks without products
  double warpStart;  ///< the same, for each warp of the block more

  // Memory. Bytes per second of the whole chip, bytes per clock of a multiprocessor.
  double
      exposed; ///< share of the lesser of memory's time and the multiprocessors' that does not overlap
  double exposedWaits; ///< the same of what blocks wait, in kernels without products
  double lastWrites;   ///< share of what a last round of blocks writes that nothing hides
  double flightShare; ///< of the time that tiles are in flight, what does not overlap with memory's
  double dramRead, dramWrite;
  double
      narrowPieces; ///< what reading a byte in pieces of 128, with others between, takes more than a byte; none in pieces of 256
  double
      unalignedRows;   ///< what writing a byte of a row between sectors takes more than another one
  double piecesOfRows; ///< the same of threads that write pieces of 64 bytes
  double partsOfRows;  ///< the same of tiles that take less than a row
  double
      dirtyBytes; ///< of L2 that reads push out to memory, and that the launch did not write itself
  double tmaBytes;      ///< from L2 by TMA or cp.async, where all multiprocessors load
  double tmaBytesAlone; ///< the same of one
  /// What a row of up to 128 bytes takes more by TMA where rows begin between lines of 128 bytes, and between sectors of 32.
  double acrossLines, acrossSectors;
  double beyondBytes; ///< zeros that TMA writes for rows beyond a tensor's end
  double beyondColumns,
      beyondColumnsAlone; ///< for whole boxes beyond the end of rows, and where one multiprocessor loads
  double multicast;    ///< what a tile takes, of that, that a block gets from loads of its cluster
  double clusterStart; ///< clocks until the blocks of a cluster have met, and at their end
  double clusterRound; ///< what they wait for each other from one tile to the next
  double loadBytes;    ///< from L2 by loads
  double storeBytes;   ///< to L2
  double sharedBytes;
  double operandBytes; ///< of operands in shared memory that wgmma reads, beside what arrives there

  // Instructions.
  double issue;        ///< of a warp, started in a clock
  double lanesSpecial; ///< special functions in a clock
  double
      elementCopies; ///< clocks for a warp's load of up to 4 bytes a lane with its guard and its store to shared memory
  double asyncWords; ///< clocks for a warp's cp.async of less than 16 bytes a lane
  double accesses;   ///< instructions of a warp that access memory, started in a clock
  double alone;      ///< clocks from one instruction of a lone warp to the next

  // Tensor cores, operations (2 for each product) of f16 in a clock.
  double wgmmaFlop, mmaFlop;
  double lanesF32; ///< products of f32 that are no matrix instruction's, in a clock
  double f64Flop;  ///< operations of f64 in a clock
  double fmaSlots; ///< instructions of a warp for 32 scalar products, with those of their reads

  // Latencies in clocks.
  double
      iteration; ///< of a pipelined loop, beside what its operations take: waits, the order of products, requests
  double shortRing; ///< what a step takes more where a ring by TMA has three slots
  /// What a step takes beside its busiest resource, where a product needs another one through work on its elements: an iteration behind
  /// it, and where registers are short for that.
  double behindProduct, inOrderProduct;
  double
      soonerStart; ///< of blockStart and the first loads, what a block alone on the chip does not wait
  double soonerElements; ///< the same, beside that, where threads load elements into shared memory
  double queueing;   ///< of missLatency, what a slot waits longer where memory is busy all the time
  double storeOfSum; ///< for each of a thread's sums of products that it stores
  double storeByTma; ///< of a tile from its last panel in shared memory to the end
  double exchange;   ///< of a product's sums between threads, before they store them
  double missLatency;    ///< of a slot of a ring from its request to the tile's arrival from memory
  double elementLatency; ///< of elements that threads load one by one into shared memory
  double globalLatency, sharedLatency, specialLatency, mmaLatency, shuffleLatency, barrier, atomic;
};

/// The entry for a target's generation.
const MachineModel &machineModel(const Target &target);
/// The same for a device of this architecture: 90.
const MachineModel &machineModelOf(int arch);

/// The most operations (2 for each product) on operands of a type ("f16"; "tf32" is what rounds f32) that a
/// multiprocessor of such an architecture does in a clock.
double mostFlop(int arch, llvm::StringRef type);

} // namespace tilec

#endif // TILEC_PASSES_MACHINEMODEL_H
