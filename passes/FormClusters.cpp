//===- FormClusters.cpp - loads that blocks of a cluster do for each other ===//
#include "dialects/layout/Compatibility.h"
#include "dialects/tgpu/Cluster.h"
#include "dialects/tile/Remark.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "passes/ClusterLoads.h"
#include "passes/Passes.h"
#include "passes/Shared.h"

namespace tilec {
#define GEN_PASS_DEF_FORMCLUSTERS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {
struct FormClusters : tilec::impl::FormClustersBase<FormClusters> {
  void runOnOperation() override {
    SmallVector<tgpu::KernelOp> clustered;
    llvm::copy_if(getOperation().getOps<tgpu::KernelOp>(), std::back_inserter(clustered),
                  [](tgpu::KernelOp kernel) { return bool(kernel.getCluster()); });
    for (tgpu::KernelOp kernel : clustered) {
      if (std::string reason = shareLoads(kernel); !reason.empty()) {
        if (failed(checkRequiredInside(kernel, "cluster", reason))) {
          return signalPassFailure();
        }
        erase(kernel);
      } else if (tgpu::KernelOp other = withoutClusters(kernel)) {
        if (other.getGuard() == kernel.getGuard()) {
          erase(other);
        } else {
          priceNoMore(kernel, other);
        }
      }
    }
  }

  /// Why no load is shared; empty if some are.
  std::string shareLoads(tgpu::KernelOp kernel) {
    const ClusterVariation variation(kernel);
    Builder builder(kernel.getContext());
    unsigned shared = 0, all = 0;
    std::string reason = "nothing is loaded by TMA";
    kernel.walk([&](tgpu::ChannelOp channel) {
      auto loads = llvm::count_if(channel.getResult().getUsers(), llvm::IsaPred<tgpu::TmaLoadOp>);
      if (loads == 0) {
        return;
      }
      all += loads;
      const SharedLoads found = findSharedLoads(channel, variation);
      if (found.loads.empty()) {
        reason = found.reason;
        return;
      }
      shared += found.loads.size();
      channel.setAcrossAttr(builder.getDenseI32ArrayAttr(dimsOf(found.across)));
      for (auto [op, dims] : found.loads) {
        auto load = cast<tgpu::TmaLoadOp>(op);
        load.setAcrossAttr(builder.getDenseI32ArrayAttr(dimsOf(dims)));
        if (failed(cutBoxes(kernel, load))) {
          signalPassFailure();
        }
      }
    });
    InFlightDiagnostic remark = tile::remarkOn(kernel.getSymName(), kernel.getLoc());
    if (shared == 0) {
      remark << "@cluster: no clusters are formed: " << reason;
      return reason;
    }
    remark << "blocks of a cluster load for each other: " << shared << " of " << all
           << " loads are multicast";
    return "";
  }

  /// Smaller boxes, where each block then loads as many.
  static LogicalResult cutBoxes(tgpu::KernelOp kernel, tgpu::TmaLoadOp load) {
    const layout::SharedLayout *layout = tgpu::getLayout(load.getDest().getType());
    const auto sharers = int64_t(tgpu::ranksAcross(*kernel.getCluster(), *load.getAcross()).size());
    if (!layout) {
      return success();
    }
    layout::Answer<layout::TmaBoxes> whole = layout::tmaBoxes(*layout),
                                     cut = layout::tmaBoxes(*layout, sharers);
    if (!whole || whole->extents == cut->extents) {
      return success();
    }
    FailureOr<int64_t> map =
        getTensorMap(kernel, load, analyseSlice(load.getSource()), *layout, sharers);
    if (mlir::failed(map)) {
      return failure();
    }
    load.setMap(*map);
    dropUnusedMaps(kernel);
    return success();
  }

  static void dropUnusedMaps(tgpu::KernelOp kernel) {
    const ArrayAttr all = *kernel.getTensorMaps();
    SmallVector<std::pair<Operation *, int64_t>> users;
    bool isKnown = true;
    kernel.walk([&](Operation *op) {
      if (isa<tgpu::TmaLoadOp, tgpu::TmaStoreOp>(op)) {
        users.push_back({op, op->getAttrOfType<IntegerAttr>("map").getInt()});
        isKnown = isKnown && uint64_t(users.back().second) < all.size();
      }
    });
    if (!isKnown) {
      return; // the lowering says so
    }
    llvm::MapVector<int64_t, int64_t> numbers;
    SmallVector<Attribute> maps;
    Builder builder(kernel.getContext());
    for (auto [op, map] : users) {
      if (numbers.insert({map, maps.size()}).second) {
        maps.push_back(all[map]);
      }
      op->setAttr("map", builder.getI32IntegerAttr(int32_t(numbers[map])));
    }
    kernel.setTensorMapsAttr(builder.getArrayAttr(maps));
  }

  /// The variant that the launch would take in its place; null if there is none.
  tgpu::KernelOp withoutClusters(tgpu::KernelOp kernel) {
    for (auto other : getOperation().getOps<tgpu::KernelOp>()) { // the preferred one first
      if (!other.getCluster() && other.getLaunch() == kernel.getLaunch()) {
        return other;
      }
    }
    return {};
  }

  SmallVector<tgpu::CostOp> costsOf(tgpu::KernelOp kernel) {
    SmallVector<tgpu::CostOp> costs;
    getOperation().walk([&](tgpu::CostOp cost) {
      if (cost.getEntryAttr().getAttr() == kernel.getSymNameAttr()) {
        costs.push_back(cost);
      }
    });
    return costs;
  }

  /// Clusters were asked for: they cost no more than the launch without, and of two variants that cost the same a call takes the first one.
  void priceNoMore(tgpu::KernelOp kernel, tgpu::KernelOp other) {
    for (auto [own, its] : llvm::zip_equal(costsOf(kernel), costsOf(other))) {
      Operation *yield = own.getBody().front().getTerminator();
      OpBuilder builder(yield);
      IRMapping copies;
      for (Operation &op : its.getBody().front().without_terminator()) {
        builder.clone(op, copies);
      }
      yield->setOperand(0, arith::MinNumFOp::create(builder, own.getLoc(), yield->getOperand(0),
                                                    copies.lookupOrDefault(its.getValue())));
    }
  }

  void erase(tgpu::KernelOp kernel) {
    llvm::for_each(costsOf(kernel), [](tgpu::CostOp cost) { cost.erase(); });
    kernel.erase();
  }
};
} // namespace
