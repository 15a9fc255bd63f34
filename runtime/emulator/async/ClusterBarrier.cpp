// barrier.cluster.arrive and .wait: PTX ISA, "barrier.cluster". A phase is complete when all
// threads of the cluster that have not exited have arrived.
#include "Async.h"
#include "Shared.h"

namespace tile_emu {

static size_t firstWarpOf(const Block &block) { return block.rank * block.warps.size(); }

static bool isFull(const Cluster &cluster, const BarrierPhase &phase) {
  for (const std::unique_ptr<Block> &block : cluster.blocks) {
    for (const Warp &warp : block->warps) {
      if (liveLanes(warp) & ~phase.arrived[firstWarpOf(*block) + warp.index]) {
        return false;
      }
    }
  }
  return true;
}

static void completeIfFull(Cluster &cluster) {
  if (cluster.barrier.filling && isFull(cluster, *cluster.barrier.filling)) {
    cluster.barrier.filling->complete = true;
    cluster.barrier.filling = nullptr;
  }
}

static BarrierWaits &arrivalsOf(Step &step) {
  std::vector<BarrierWaits> &all = step.block.cluster->barrier.arrived;
  all.resize(step.block.cluster->blocks.size() * step.block.warps.size());
  return all[firstWarpOf(step.block) + step.warp.index];
}

static void checkAligned(Step &step, bool aligned) {
  if (aligned && step.lanes != liveLanes(step.warp)) {
    step.fault(Report::Kind::Barrier, "only some threads of the warp execute this instruction, "
                                      "which is `.aligned`: all must");
  }
}

static Outcome arrive(Step &step, bool releases) {
  BarrierWaits &arrivals = arrivalsOf(step);
  Cluster &cluster = *step.block.cluster;
  completeIfFull(cluster);
  if (!cluster.barrier.filling) {
    cluster.barrier.filling = std::make_shared<BarrierPhase>();
    cluster.barrier.filling->arrived.resize(cluster.blocks.size() * step.block.warps.size());
  }
  std::shared_ptr<BarrierPhase> phase = cluster.barrier.filling;
  step.forLanes([&](unsigned lane) {
    if (arrivals[lane]) {
      step.fault(Report::Kind::Barrier,
                 "arrives at the cluster's barrier again without having waited for it", lane);
    }
    arrivals[lane] = phase;
  });
  phase->arrived[firstWarpOf(step.block) + step.warp.index] |= step.lanes;
  phase->count += uint32_t(std::popcount(step.lanes));
  if (step.block.started) {
    step.machine.checker.complete(phase->point, step.block.started, 1);
  }
  if (releases) {
    step.machine.checker.release(lanesOf(step), phase->point);
  } else {
    step.machine.checker.releaseRelaxed(lanesOf(step), phase->point);
  }
  completeIfFull(cluster);
  return Outcome::Next;
}

static std::string describeWait(const Cluster &cluster) {
  uint32_t running = 0;
  for (const std::unique_ptr<Block> &block : cluster.blocks) {
    running += block->running;
  }
  uint32_t arrived = cluster.barrier.filling ? cluster.barrier.filling->count : 0;
  return "the cluster's barrier: " + std::to_string(arrived) + " threads have arrived, " +
         std::to_string(running) + " are running";
}

static Outcome wait(Step &step) {
  BarrierWaits &arrivals = arrivalsOf(step);
  Cluster &cluster = *step.block.cluster;
  completeIfFull(cluster);
  bool complete = true;
  step.forLanes([&](unsigned lane) {
    if (!arrivals[lane]) {
      step.fault(Report::Kind::Barrier,
                 "waits for the cluster's barrier without having arrived at it", lane);
    }
    complete &= arrivals[lane]->complete;
  });
  if (!complete) {
    step.waitFor([&cluster] { return describeWait(cluster); });
    return Outcome::Blocked;
  }
  step.forLanes([&](unsigned lane) {
    step.machine.checker.acquire(step.thread(lane), arrivals[lane]->point);
    arrivals[lane] = nullptr;
  });
  return Outcome::Next;
}

Execute decodeClusterBarrier(Decoder &d) {
  bool isWait = d.take("wait");
  if (!isWait) {
    d.expect("arrive");
  }
  bool relaxed = !isWait && d.take("relaxed");
  if (!relaxed) {
    d.take(isWait ? "acquire" : "release");
  }
  bool aligned = d.take("aligned");
  d.op.together = aligned ? Together::Warp : Together::No;
  return [isWait, relaxed, aligned](Step &step) {
    checkAligned(step, aligned);
    return isWait ? wait(step) : arrive(step, !relaxed);
  };
}

} // namespace tile_emu
