//===- VerifyClusters.cpp - do blocks of a cluster load alike? ------------===//
//
// All else that tgpu-verify-sync says of a channel it says of one block. Where blocks fill each other's slots that holds of each of them if
// they go through the slots alike, and if all that orders a block's own use of the memory before its load stands before it acquires the slot, by
// which it tells the others (findSharedLoads). What shares memory with the ring, before or behind, needs no more than that; where nothing does
// the warps that give slots back tell the others (isGivenBackToAll).
//
//===----------------------------------------------------------------------===//
#include "passes/ClusterLoads.h"
#include "passes/SyncChecker.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

void Checker::checkClusters() {
  if (!kernel.getCluster()) {
    return;
  }
  const ClusterVariation variation(kernel);
  kernel.walk([&](tgpu::ChannelOp channel) {
    if (!channel.getAcross()) {
      return;
    }
    const SharedLoads shared = findSharedLoads(channel, variation);
    if (shared.loads.empty()) {
      report(channel, "has slots that other blocks fill: " + shared.reason);
      return;
    }
    // Some user goes through the slots in another way than blocks along the rest do.
    if ((maskOf(channel.getAcross()) & ~shared.across) != 0) {
      report(channel, "is `across` dimensions along which blocks differ in what they load");
    }
  });
  kernel.walk([&](tgpu::TmaLoadOp load) {
    if (!load.getAcross()) {
      return;
    }
    auto channel = load.getChannel().getDefiningOp<tgpu::ChannelOp>();
    const SharedLoads shared = findSharedLoads(channel, variation);
    if ((maskOf(load.getAcross()) & ~shared.loads.lookup(load)) != 0) {
      report(load, "is `across` dimensions along which blocks load different tiles", channel,
             "the channel");
    }
  });
}
