//===- ClusterLoads.h - what blocks of a cluster load alike ----*- C++ -*-===//
//
// Blocks of a cluster run the same program for neighbouring points of the grid. A value varies along a dimension of the cluster
// if blocks that are neighbours along it may have different ones; so does control flow, if one may execute what the other does
// not. Of what varies along no dimension but others, all blocks along the rest have the same.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_CLUSTERLOADS_H
#define TILEC_PASSES_CLUSTERLOADS_H

#include "dialects/tgpu/Tgpu.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <optional>
#include <string>

namespace tilec {

/// Bit i: along dimension i of the cluster.
using ClusterDims = unsigned;

class ClusterVariation {
public:
  /// `kernel` has a cluster.
  explicit ClusterVariation(tgpu::KernelOp kernel);

  /// Of what corresponding threads of the blocks have.
  ClusterDims of(mlir::Value value) const { return values.lookup(value); }
  /// Of whether and how often they come to `op`.
  ClusterDims ofControl(mlir::Operation *op) const;
  /// Those along which there are several blocks.
  ClusterDims all() const { return everything; }
  tgpu::KernelOp getKernel() const { return kernel; }

private:
  bool note(mlir::Value value, ClusterDims dims);
  /// True if anything new was found.
  bool visit(mlir::Operation *op);
  bool visitRegions(mlir::Operation *op);
  ClusterDims ofResult(mlir::OpResult result) const;
  ClusterDims ofOperands(mlir::Operation *op) const;

  tgpu::KernelOp kernel;
  ClusterDims everything = 0;
  llvm::DenseMap<mlir::Value, ClusterDims> values; // absent: 0
};

/// The loads of a channel that blocks of a cluster may do for each other.
struct SharedLoads {
  llvm::MapVector<mlir::Operation *, ClusterDims> loads; ///< tma_loads, along these dimensions
  ClusterDims across = 0;                                ///< of any of them
  std::string reason; ///< why there is none, after "no: "; else empty
};

/// A load may be shared where all blocks go through the channel's slots alike, have the same source, acquire the slot before each load,
/// and nothing but the channel's loads writes its slots beforehand.
SharedLoads findSharedLoads(tgpu::ChannelOp channel, const ClusterVariation &variation);

/// Whether the warps that give slots of a channel back do so to all blocks of the cluster themselves. For that nothing else may ever have the
/// memory of the slots, so that all blocks have them free from the start; and it pays where these warps only multiply: what they would
/// wait for anyway hides the fence, which warps that compute elements have no time for. Needs places (tgpu-allocate-shared).
bool isGivenBackToAll(tgpu::ChannelOp channel);

/// How many blocks of its cluster are to have the same tile by this copy, if warps load alone in the end (findSharedLoads). Needs copies
/// with paths (tgpu-select-copies).
int64_t sharersExpected(tgpu::CopyOp copy, const ClusterVariation &variation);

/// The dimensions of these numbers, as `across` of channels and loads has them; none where it is absent.
ClusterDims maskOf(std::optional<llvm::ArrayRef<int32_t>> numbers);
/// The numbers of the dimensions, ascending.
llvm::SmallVector<int32_t> dimsOf(ClusterDims dims);

} // namespace tilec

#endif // TILEC_PASSES_CLUSTERLOADS_H
