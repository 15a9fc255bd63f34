//===- BlockWork.h - what one block of a kernel has to do -------*- C++ -*-===//
//
// The work of a block by resource, in clocks in which a multiprocessor that does nothing else would have it done, and the
// time that a block alone takes, which latencies and waits make longer. Counted before there are layouts: how elements are
// spread over threads is taken to be even.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_BLOCKWORK_H
#define TILEC_PASSES_BLOCKWORK_H

#include "passes/DeviceEstimates.h"
#include "passes/OperationPrices.h"

namespace tilec {

struct BlockWork {
  std::array<Linear, kResources> resources;
  Linear alone; ///< clocks of a block with the multiprocessor to itself
  /// Of these, clocks in which a pipelined loop waits for memory and nothing else, were there nothing to compute: what is in flight
  /// at a time bounds its rate.
  Linear flight;
  /// Of `alone`, the clocks of pipelined loops; what they would take if the slots of their rings alone bounded them, and of that the way of a
  /// slot's tile from memory.
  Linear looped, ring, missed;
  double cold = 0;         ///< clocks that code takes more when a block comes to it first
  bool runsBehind = false; ///< some loop has a product that waits for work on elements
  /// Of `alone`, the clocks of pipelined loops by TMA: teams of warps have turns at them.
  Linear turn;
  /// Of `alone`, what passes before the first tiles arrive: a block whose warps load for the next point meanwhile has it once.
  Linear arrival;

  Linear &of(Resource resource) { return resources[unsigned(resource)]; }
  const Linear &of(Resource resource) const { return resources[unsigned(resource)]; }
};

/// The work of one point of the grid. `busy`: the share of the multiprocessors that have blocks.
BlockWork workOf(tgpu::KernelOp kernel, const Target &target, DeviceEstimates &estimates,
                 Amount busy, HostMath &math);

} // namespace tilec

#endif // TILEC_PASSES_BLOCKWORK_H
