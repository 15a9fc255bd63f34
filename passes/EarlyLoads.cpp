//===- EarlyLoads.cpp - loads that a pipelined loop makes ahead, in registers ===//
//
// Registers are the only memory that such loads have, so they decide: beside what the loop needs
// anyway each iteration ahead takes the loaded fragments once more. Where that is too much for
// all, the largest stay in their place.
//
//===----------------------------------------------------------------------===//
#include "passes/EarlyLoads.h"

#include "passes/CodeSize.h"
#include "passes/Registers.h"

using namespace mlir;
using namespace tilec;

/// Registers of a thread for addresses, numbers and what passes through.
constexpr int64_t kOtherRegisters = 48;
/// Iterations ahead that a loop is repeated for: of tiny bodies, too, more only take time to compile.
constexpr int64_t kFurthest = 15;

bool tilec::isRepeated(scf::ForOp loop, bool hasRings, int64_t ahead) {
  if (hasRings || ahead == 0 || ahead > kFurthest) {
    return false;
  }
  const bool isLong = loop.getBody()
                          ->walk([](Operation *op) {
                            return isa<LoopLikeOpInterface, tile::ThreadsOp, tgpu::MmaOp,
                                       tgpu::WgmmaOp, tgpu::FmaOp>(op)
                                       ? WalkResult::interrupt()
                                       : WalkResult::advance();
                          })
                          .wasInterrupted();
  return !isLong && ahead + 2 <= mostCopies(*loop.getBody());
}

/// Registers that keep what `load` reads until it is used. Elements that one access takes lie beside each other in them;
/// those of narrow accesses have one each, for packing would wait for them.
static int64_t registersAhead(Operation *load) {
  auto type = cast<RankedTensorType>(load->getResult(0).getType());
  const layout::RegisterLayout *layout = tgpu::getLayout(type);
  const int64_t bits = tile::getStorageBits(type.getElementType());
  int64_t together = 1;
  if (auto whole = dyn_cast<tgpu::LoadOp>(load); whole && layout->rank() > 0) {
    together = std::clamp<int64_t>(whole.getBytes().value_or(0) * 8 / bits, 1,
                                   layout->contiguousElements(layout->rank() - 1));
  }
  return llvm::divideCeil(layout->registersPerThread(), together) *
         llvm::divideCeil(together * bits, 32);
}

static int64_t registersOfAll(ArrayRef<Operation *> loads) {
  int64_t registers = 0;
  for (Operation *load : loads) {
    registers += registersAhead(load);
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
      return registersAhead(a) < registersAhead(b);
    });
    stays(*largest,
          "it takes " + std::to_string(registersAhead(*largest)) + " registers, " + beside());
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
