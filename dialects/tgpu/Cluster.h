//===- Cluster.h - blocks of a cluster and their ranks ---------*- C++ -*-===//
//
// A cluster has up to three extents, e.g. {2, 2}. Its blocks stand in a row in the launch; the block at (x, y, z) has
// rank x + e0 * (y + e1 * z) there. A set of dimensions splits it into groups: the blocks of one agree along all others.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_DIALECTS_TGPU_CLUSTER_H
#define TILEC_DIALECTS_TGPU_CLUSTER_H

#include "mlir/Support/LLVM.h"

#include <cstdint>

namespace tilec::tgpu {

/// Blocks of a cluster.
int64_t blocksOfCluster(llvm::ArrayRef<int32_t> cluster);

/// How far apart the ranks of neighbours along a dimension are.
int64_t rankStride(llvm::ArrayRef<int32_t> cluster, unsigned dim);

/// Ranks of the group of block 0 along `dims`, ascending. In any other group they are as far from its first one.
llvm::SmallVector<int64_t> ranksAcross(llvm::ArrayRef<int32_t> cluster,
                                       llvm::ArrayRef<int32_t> dims);

} // namespace tilec::tgpu

#endif // TILEC_DIALECTS_TGPU_CLUSTER_H
