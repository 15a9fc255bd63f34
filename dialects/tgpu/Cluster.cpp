#include "dialects/tgpu/Cluster.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

int64_t tilec::tgpu::blocksOfCluster(ArrayRef<int32_t> cluster) {
  return rankStride(cluster, cluster.size());
}

int64_t tilec::tgpu::rankStride(ArrayRef<int32_t> cluster, unsigned dim) {
  int64_t stride = 1;
  for (int32_t extent : cluster.take_front(dim)) {
    stride *= extent;
  }
  return stride;
}

SmallVector<int64_t> tilec::tgpu::ranksAcross(ArrayRef<int32_t> cluster, ArrayRef<int32_t> dims) {
  SmallVector<int64_t> ranks;
  for (int64_t rank = 0; rank < blocksOfCluster(cluster); ++rank) {
    const bool isMember = llvm::all_of(llvm::seq<unsigned>(0, cluster.size()), [&](unsigned dim) {
      return llvm::is_contained(dims, int32_t(dim)) ||
             rank / rankStride(cluster, dim) % cluster[dim] == 0;
    });
    if (isMember) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}
