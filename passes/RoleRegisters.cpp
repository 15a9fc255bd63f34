//===- RoleRegisters.cpp - registers of warps that load and that compute -===//
#include "passes/RoleRegisters.h"

#include "passes/Analysis.h"
#include "passes/Pipeline.h"
#include "passes/Registers.h"
#include "passes/SchedulePlanner.h"

using namespace mlir;
using namespace tilec;

/// Registers that a thread of the load role may be left with: the first that leaves enough to others.
/// All of its threads walk its loops; with 24, the least that setmaxnreg takes, they did not spill either.
static constexpr int64_t kLoadRegisters[] = {40, 32, 24};
/// setmaxnreg takes multiples of 8 up to 256 (PTX ISA); no role here has needed more than this.
static constexpr int64_t kMostRegisters = 240;

namespace {
/// Registers of a thread that computes: the least, with the iterations of its pipelined loops one by one, and
/// those that their schedules want.
struct Need {
  int64_t least = 0, wanted = 0;
};
} // namespace

static Need registersNeeded(tgpu::KernelOp kernel) {
  Need need;
  kernel.walk([&](scf::ForOp loop) {
    if (tgpu::kPipeline.get(loop)) {
      const int64_t serial = registersInUse(loop);
      const int64_t planned =
          countsIterations(loop) ? SchedulePlanner(loop, 0, /*seed=*/0).registersWanted() : 0;
      need.least = std::max(need.least, serial);
      need.wanted = std::max({need.wanted, serial, planned});
    }
  });
  need.least += kRegistersBesideFragmentsOfRole;
  need.wanted += kRegistersBesideFragmentsOfRole;
  return need;
}

/// Registers of the sum of the largest instruction: ptxas holds each against the count at entry,
/// whatever setmaxnreg says (its error C7602).
static int64_t largestSum(tgpu::KernelOp kernel) {
  int64_t most = 0;
  kernel.walk([&](tgpu::WgmmaOp product) {
    auto type = cast<tgpu::PendingType>(product.getResult().getType()).getFragment();
    const int64_t bits = type.getElementType().getIntOrFloatBitWidth();
    most = std::max<int64_t>(most, product.getMma().getN() * bits / 64);
  });
  return most;
}

std::optional<RoleRegisters> tilec::shareRegisters(tgpu::KernelOp kernel, const Target &target) {
  const int64_t threads = kernel.getThreads(), all = threads + kLoadThreads;
  const int64_t blocks = std::max<int64_t>(1, kernel.getMinBlocks().value_or(1));
  int64_t atEntry =
      std::min<int64_t>(target.registersPerThread, target.registersPerSM / (blocks * all) / 8 * 8);
  atEntry = std::min<int64_t>(atEntry, kernel.getMaxRegisters().value_or(atEntry));
  if (largestSum(kernel) + kRegistersBesideFragmentsOfRole > atEntry) {
    return std::nullopt;
  }
  const Need need = registersNeeded(kernel);
  const int64_t fitting = std::max<int64_t>(1, target.registersPerSM / (need.wanted * all));
  const int64_t aimed = std::min<int64_t>(kernel.getAimedBlocks().value_or(1), fitting);
  if (need.wanted <= atEntry && fitting >= 2) {
    return RoleRegisters{0, 0, aimed};
  }
  // setmaxnreg moves registers within one block that a multiprocessor has alone.
  const bool isAlone = blocks == 1 && aimed == 1 && !kernel.getMaxRegisters();
  std::optional<RoleRegisters> most;
  for (int64_t load : kLoadRegisters) {
    const int64_t rest = (atEntry * all - load * kLoadThreads) / threads / 8 * 8;
    const int64_t compute = std::min(kMostRegisters, rest);
    if (isAlone && compute > atEntry && need.least <= compute &&
        (!most || compute > most->compute)) {
      most = RoleRegisters{load, compute, aimed};
    }
    if (most && need.wanted <= most->compute) {
      break;
    }
  }
  return most || need.least > atEntry ? most : RoleRegisters{0, 0, aimed};
}
