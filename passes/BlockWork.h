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

  Linear &of(Resource resource) { return resources[unsigned(resource)]; }
  const Linear &of(Resource resource) const { return resources[unsigned(resource)]; }
};

/// The work of one point of the grid.
BlockWork workOf(tgpu::KernelOp kernel, const Target &target, DeviceEstimates &estimates,
                 HostMath &math);

} // namespace tilec

#endif // TILEC_PASSES_BLOCKWORK_H
