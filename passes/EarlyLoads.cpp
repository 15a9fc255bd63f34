//===- EarlyLoads.cpp - loads that a pipelined loop makes ahead, in registers ===//
//
// Registers are the only memory that such loads have, so they decide: beside what the loop needs
// anyway each iteration ahead takes the loaded fragments once more. Where that is too much for
// all, the largest stay in their place.
//
//===----------------------------------------------------------------------===//
#include "passes/EarlyLoads.h"

#include "passes/Registers.h"

using namespace mlir;
using namespace tilec;

/// Registers of a thread for addresses, numbers and what passes through.
constexpr int64_t kOtherRegisters = 48;
/// Elements that a thread computes in all copies of a loop's body: 64 KiB of code, half of what a
/// multiprocessor keeps of it.
constexpr int64_t kMostRepeated = 4096;
/// Iterations ahead that a loop is repeated for: of tiny bodies, too, more only take time to compile.
constexpr int64_t kFurthest = 15;

bool tilec::isRepeated(scf::ForOp loop, bool hasRings, int64_t ahead) {
  if (hasRings || ahead == 0 || ahead > kFurthest) {
    return false;
  }
  int64_t elements = 0;
  const bool isLong =
      loop.getBody()
          ->walk([&](Operation *op) {
            int64_t most = 1;
            for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                                                   SmallVector<Value>(op->getResults()))) {
              most = std::max(most, registersOf(value, /*apart=*/true));
            }
            elements += most;
            return isa<LoopLikeOpInterface, tile::ThreadsOp, tgpu::MmaOp, tgpu::WgmmaOp,
                       tgpu::FmaOp>(op)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
  return !isLong && elements * (ahead + 2) <= kMostRepeated;
}

static int64_t registersOfAll(ArrayRef<Operation *> loads) {
  int64_t registers = 0;
  for (Operation *load : loads) {
    registers += registersOf(load->getResult(0));
  }
  return registers;
}

EarlyLoads tilec::planEarlyLoads(scf::ForOp loop, bool hasRings, int64_t wanted,
                                 const Target &target) {
  EarlyLoads plan;
  auto stays = [&](Operation *load, const std::string &reason) {
    load->emitRemark("copy overlaps nothing: ") << reason;
    plan.missed = reason;
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (!loadsFragment(&op)) {
      continue;
    }
    std::string reason = refuseAhead(&op, loop);
    if (reason.empty()) {
      plan.loads.push_back(&op);
    } else {
      stays(&op, reason);
    }
  }
  if (plan.loads.empty() || wanted < 1) {
    plan.loads.clear();
    return plan;
  }
  auto kernel = loop->getParentOfType<tgpu::KernelOp>();
  int64_t available =
      registersPerThread(kernel, target, std::max<int64_t>(1, kernel.getMinBlocks().value_or(1)));
  available = std::min<int64_t>(available, kernel.getMaxRegisters().value_or(available));
  const int64_t inUse = registersInUse(loop) + kOtherRegisters;
  auto fitting = [&] {
    const int64_t each = std::max<int64_t>(1, registersOfAll(plan.loads));
    return std::clamp<int64_t>((available - inUse) / each, 0, wanted);
  };
  auto beside = [&] {
    return std::to_string(inUse) + " of " + std::to_string(available) +
           " registers of a thread are taken by other values";
  };
  while (!plan.loads.empty() && fitting() == 0) {
    auto *largest = llvm::max_element(plan.loads, [](Operation *a, Operation *b) {
      return registersOf(a->getResult(0)) < registersOf(b->getResult(0));
    });
    stays(*largest, "it takes " + std::to_string(registersOf((*largest)->getResult(0))) +
                        " registers, " + beside());
    plan.loads.erase(largest);
  }
  if (plan.loads.empty()) {
    return plan;
  }
  plan.ahead = fitting();
  if (plan.ahead < wanted) {
    loop.emitRemark("loads into registers run ")
        << plan.ahead << (plan.ahead == 1 ? " iteration ahead, not " : " iterations ahead, not ")
        << wanted << ": those of one take " << registersOfAll(plan.loads) << " registers, "
        << beside();
  }
  if (plan.ahead > 1 && !isRepeated(loop, hasRings, plan.ahead)) {
    while (plan.ahead > 1 && !isRepeated(loop, hasRings, plan.ahead)) {
      --plan.ahead;
    }
    loop.emitRemark("loads into registers run ")
        << plan.ahead << (plan.ahead == 1 ? " iteration ahead, not " : " iterations ahead, not ")
        << wanted
        << (hasRings ? ": a loop with rings is not repeated, so that what is loaded moves from "
                       "register to register at the end of each iteration"
                     : ": more copies of the loop's body would be too long");
  }
  return plan;
}
