//===- Clusters.cpp - blocks that fill each other's shared memory ---------===//
#include "passes/llvm/Clusters.h"

#include "dialects/tgpu/Cluster.h"

using namespace mlir;

namespace tilec::lowering {

Clusters::Clusters(KernelLowering &lowering, ArrayRef<int32_t> extents)
    : lowering(lowering), cluster(extents) {
  OpBuilder &b = lowering.builder();
  auto range =
      LLVM::ConstantRangeAttr::get(b.getContext(), 32, 0, int32_t(tgpu::blocksOfCluster(cluster)));
  rank = NVVM::ClusterId::create(b, lowering.location(), b.getI32Type(), range);
}

void Clusters::begin() {
  OpBuilder &b = lowering.builder();
  // What initialised the barriers has its own fence for that (PTX ISA, membar/fence: .mbarrier_init).
  NVVM::ClusterArriveRelaxedOp::create(b, lowering.location(), UnitAttr());
  NVVM::ClusterWaitOp::create(b, lowering.location(), UnitAttr());
}

void Clusters::end() {
  OpBuilder &b = lowering.builder();
  NVVM::ClusterArriveOp::create(b, lowering.location(), UnitAttr());
  NVVM::ClusterWaitOp::create(b, lowering.location(), UnitAttr());
}

Value Clusters::coordinate(unsigned dim) {
  OpBuilder &b = lowering.builder();
  const Location loc = lowering.location();
  if (dim >= cluster.size() || cluster[dim] == 1) {
    return lowering.i32(0);
  }
  Value above =
      b.createOrFold<arith::DivUIOp>(loc, rank, lowering.i32(tgpu::rankStride(cluster, dim)));
  return b.createOrFold<arith::RemUIOp>(loc, above, lowering.i32(cluster[dim]));
}

int64_t Clusters::groupSize(ArrayRef<int32_t> dims) const {
  return int64_t(tgpu::ranksAcross(cluster, dims).size());
}

Value Clusters::memberOf(ArrayRef<int32_t> dims) {
  Value member = lowering.i32(0);
  int64_t stride = 1;
  for (int32_t dim : dims) {
    member = lowering.add(member, lowering.mul(coordinate(dim), stride));
    stride *= cluster[dim];
  }
  return member;
}

Value Clusters::firstOf(ArrayRef<int32_t> dims) {
  Value first = lowering.i32(0);
  for (unsigned dim = 0; dim < cluster.size(); ++dim) {
    if (!llvm::is_contained(dims, int32_t(dim))) {
      first = lowering.add(first, lowering.mul(coordinate(dim), tgpu::rankStride(cluster, dim)));
    }
  }
  return first;
}

Value Clusters::maskOf(ArrayRef<int32_t> dims) {
  OpBuilder &b = lowering.builder();
  int64_t mask = 0;
  for (int64_t rank : tgpu::ranksAcross(cluster, dims)) {
    mask |= int64_t(1) << rank;
  }
  Value shifted =
      b.createOrFold<arith::ShLIOp>(lowering.location(), lowering.i32(mask), firstOf(dims));
  return b.createOrFold<arith::TruncIOp>(lowering.location(), b.getI16Type(), shifted);
}

void Clusters::arriveAtRank(Value rank, Value barrier) {
  OpBuilder &b = lowering.builder();
  auto remote =
      LLVM::LLVMPointerType::get(b.getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
  Value at = NVVM::MapaOp::create(b, lowering.location(), remote, barrier, rank);
  NVVM::MBarrierArriveOp::create(b, lowering.location(), Type(), at, Value(),
                                 NVVM::MemScopeKind::CLUSTER, /*relaxed=*/true);
}

/// One fence for all arrivals: each that releases at this scope would have its own. Restricted to what the threads of this block
/// did with its shared memory, it does not wait for global memory (PTX ISA, fence: .sync_restrict; MEMBAR.ALL.CTA, not .GPU).
void Clusters::release() {
  NVVM::FenceSyncRestrictOp::create(lowering.builder(), lowering.location(),
                                    NVVM::MemOrderKind::RELEASE);
}

void Clusters::arriveAtAll(ArrayRef<int32_t> dims, Value barrier) {
  Value first = firstOf(dims);
  release();
  for (int64_t rank : tgpu::ranksAcross(cluster, dims)) {
    arriveAtRank(lowering.add(first, rank), barrier);
  }
}

void Clusters::arriveAt(ArrayRef<int32_t> dims, Value barrier, Value member) {
  OpBuilder &b = lowering.builder();
  const Location loc = lowering.location();
  Value rank = firstOf(dims), number = member;
  for (int32_t dim : dims) {
    Value along = b.createOrFold<arith::RemUIOp>(loc, number, lowering.i32(cluster[dim]));
    rank = lowering.add(rank, lowering.mul(along, tgpu::rankStride(cluster, dim)));
    number = b.createOrFold<arith::DivUIOp>(loc, number, lowering.i32(cluster[dim]));
  }
  release();
  arriveAtRank(rank, barrier);
}

Value Clusters::inCluster(Value pointer) {
  OpBuilder &b = lowering.builder();
  auto remote =
      LLVM::LLVMPointerType::get(b.getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
  return LLVM::AddrSpaceCastOp::create(b, lowering.location(), remote, pointer);
}

} // namespace tilec::lowering
