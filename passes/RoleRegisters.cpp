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

int64_t tilec::mostRegisters(tgpu::KernelOp kernel, const Target &target) {
  if (!asksForRoles(kernel)) {
    return registersPerThread(kernel, target);
  }
  const int64_t left = target.registersPerSM - std::end(kLoadRegisters)[-1] * kLoadThreads;
  return std::min(kMostRegisters, left / int64_t(kernel.getThreads()) / 8 * 8);
}

std::optional<RoleRegisters> tilec::shareRegisters(tgpu::KernelOp kernel, int64_t teams,
                                                   const Target &target) {
  const int64_t threads = teams * kernel.getThreads(), all = threads + kLoadThreads;
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

std::optional<SmallVector<int64_t>> tilec::shareRegisters(tgpu::KernelOp kernel,
                                                          ArrayRef<int64_t> fragments, int64_t sum,
                                                          const Target &target) {
  constexpr int64_t kUnit = 8; // of setmaxnreg
  const int64_t threads = 32 * kRoleWarps, roles = fragments.size();
  const int64_t blocks = std::max<int64_t>(1, kernel.getMinBlocks().value_or(1));
  int64_t atEntry = std::min<int64_t>(target.registersPerThread,
                                      target.registersPerSM / (blocks * threads * roles));
  atEntry = std::min<int64_t>(atEntry, kernel.getMaxRegisters().value_or(atEntry)) / kUnit * kUnit;
  if (sum + kRegistersBesideFragmentsOfRole > atEntry) {
    return std::nullopt;
  }
  SmallVector<int64_t> needed = llvm::map_to_vector(fragments, [](int64_t own) {
    return int64_t(llvm::alignTo(own + kRegistersBesideFragmentsOfRole, kUnit));
  });
  int64_t left = atEntry * roles;
  for (int64_t need : needed) {
    left -= need;
  }
  const int64_t most = *llvm::max_element(needed);
  if (most <= atEntry) {
    return SmallVector<int64_t>(roles, 0);
  }
  // setmaxnreg moves registers within one block that a multiprocessor has alone.
  if (left < 0 || most > kMostRegisters || blocks > 1 || kernel.getMaxRegisters()) {
    return std::nullopt;
  }
  // What is left goes to who needs most: estimates leave out what addresses and positions take.
  while (left >= kUnit && *llvm::min_element(needed) < kMostRegisters) {
    int64_t &largest = *llvm::max_element(needed, [](int64_t a, int64_t b) {
      return (a < kMostRegisters ? a : 0) < (b < kMostRegisters ? b : 0);
    });
    largest += kUnit;
    left -= kUnit;
  }
  return needed;
}

std::optional<SmallVector<int64_t>>
tilec::shareRegisters(tgpu::KernelOp kernel, const RoleMap &roles, const Target &target) {
  SmallVector<int64_t> fragments(roles.count(), 0);
  kernel.walk([&](scf::ForOp loop) {
    for (auto [role, most] : llvm::enumerate(fragments)) {
      most = std::max(most, registersInUse(loop, [&, role = int64_t(role)](Value value) {
                        return roles.roleOf(value) == role ? registersOf(value) : 0;
                      }));
    }
  });
  return shareRegisters(kernel, fragments, largestSum(kernel), target);
}
