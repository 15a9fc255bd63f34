//===- BlockFootprint.cpp - registers and shared memory of a block -------===//
#include "passes/BlockFootprint.h"

#include "passes/Analysis.h"
#include "passes/Registers.h"
#include "passes/RoleRegisters.h"
#include "passes/Shared.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;
using tgpu::CopyPath;

//===----------------------------------------------------------------------===//
// Stages and shared memory
//===----------------------------------------------------------------------===//

static bool isUsedIn(Value buffer, scf::ForOp loop) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    if (auto part = dyn_cast<tgpu::SubviewOp>(user)) {
      return isUsedIn(part.getResult(), loop);
    }
    return loop->isProperAncestor(user);
  });
}

/// The copies that fill rings of their own.
static SmallVector<tgpu::CopyOp> copiesAhead(scf::ForOp loop) {
  SmallVector<tgpu::CopyOp> copies;
  for (auto copy : loop.getBody()->getOps<tgpu::CopyOp>()) {
    if (copy.getPath() != CopyPath::Vector && copy.getDest().getDefiningOp<tgpu::AllocSharedOp>() &&
        isUsedIn(copy.getDest(), loop)) {
      copies.push_back(copy);
    }
  }
  return copies;
}

static int64_t roomOf(tgpu::AllocSharedOp alloc) {
  return llvm::alignTo(sharedBytes(alloc.getResult().getType()), 1024);
}

std::optional<LoopStages> tilec::stagesOf(scf::ForOp loop, const Target &target) {
  IntegerAttr wanted = tile::kStages.get(loop);
  if (!wanted) {
    return std::nullopt;
  }
  LoopStages result;
  result.allTma = true;
  llvm::SetVector<Operation *> filled;
  for (tgpu::CopyOp copy : copiesAhead(loop)) {
    result.copies.push_back(copy);
    result.allTma &= copy.getPath() == CopyPath::Tma;
    filled.insert(copy.getDest().getDefiningOp());
  }
  if (filled.empty()) {
    return std::nullopt;
  }
  int64_t perStage = 0, others = 0;
  loop->getParentOfType<tgpu::KernelOp>().walk([&](tgpu::AllocSharedOp alloc) {
    (filled.contains(alloc) ? perStage : others) += roomOf(alloc);
  });
  constexpr int64_t barriers = 1024;
  const int64_t fitting = std::max<int64_t>(1, (target.sharedPerBlock - others - barriers) /
                                                   std::max<int64_t>(perStage, 1));
  result.stages = std::min<int64_t>(wanted.getInt(), fitting);
  if (result.stages < 2 && !result.allTma) {
    return std::nullopt;
  }
  return result;
}

int64_t tilec::leastShared(tgpu::KernelOp kernel) {
  int64_t most = 0;
  kernel.walk([&](scf::ForOp loop) {
    if (!tile::kStages.has(loop)) {
      return;
    }
    llvm::SmallPtrSet<Operation *, 8> buffers; // counted only
    int64_t bytes = 0;
    loop.walk([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        const bool isBuffer = isa<tgpu::SmemType>(operand.getType());
        tgpu::AllocSharedOp alloc = isBuffer ? getAllocation(operand) : tgpu::AllocSharedOp();
        if (alloc && buffers.insert(alloc).second) {
          bytes += roomOf(alloc);
        }
      }
    });
    most = std::max(most, bytes);
  });
  return most;
}

int64_t tilec::estimateShared(tgpu::KernelOp kernel, const Target &target) {
  DenseMap<Operation *, int64_t> stages; // looked up only
  kernel.walk([&](scf::ForOp loop) {
    if (std::optional<LoopStages> plan = stagesOf(loop, target)) {
      for (Operation *copy : plan->copies) {
        stages[cast<tgpu::CopyOp>(copy).getDest().getDefiningOp()] = plan->stages;
      }
    }
  });
  int64_t bytes = 0, staging = 0;
  kernel.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<tgpu::AllocSharedOp>(op)) {
      bytes += roomOf(alloc) * std::max<int64_t>(1, stages.lookup(alloc));
    } else if (auto store = dyn_cast<tgpu::StoreOp>(op);
               store && store.getPath() == CopyPath::Tma) {
      // Two panels of 128 bytes a row.
      auto type = cast<RankedTensorType>(store.getValue().getType());
      staging = std::max(staging, 2 * 128 * type.getShape().front());
    }
  });
  // Staging may lie where buffers are that are no longer used.
  return std::min(target.sharedPerBlock, bytes + staging);
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Registers that code without fragments takes: addresses, counters, predicates.
static constexpr int64_t kBaseRegisters = 32;

/// With `spread`, elements that a loop may carry in one register have one each.
static int64_t registersOf(Type type, int64_t threads, bool spread = false) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? llvm::divideCeil(
                        vector.getNumElements() * tile::getStorageBits(vector.getElementType()), 32)
                  : 0;
  }
  const bool isSpread = spread && packedInWord(tensor.getElementType()) > 1;
  const int64_t bits = isSpread ? 32 : std::max(8u, tile::getStorageBits(tensor.getElementType()));
  return llvm::divideCeil(tensor.getNumElements() * bits, 32 * threads);
}

/// Across what values have to stay: behind it nothing can be computed piece by piece with what was before.
static bool isStep(Operation &op) {
  return isa<tgpu::DotOp, tile::ReduceOp, tile::ReduceWithOp, tile::ScanOp, tile::ScanWithOp,
             tile::TransposeOp, tgpu::CopyOp>(op) ||
         op.getNumRegions() != 0;
}

namespace {
/// The most registers that fragments take at any step of a block.
class Liveness {
public:
  Liveness(int64_t threads, int64_t available) : threads(threads), available(available) {}

  /// `carried`: the arguments of a loop's body, with one register for each element where `spread`.
  int64_t most(Block &block, ArrayRef<Value> carried = {}, bool spread = false) {
    int64_t most = 0; // where the body begins, all that it gets
    for (Value value : carried) {
      most += registersOf(value.getType(), threads, spread);
    }
    llvm::SetVector<Value> live; // values of this block that a later step still needs
    live.insert(carried.begin(), carried.end());
    for (Operation &op : block) {
      if (isStep(op)) {
        int64_t now = 0;
        for (Value value : live) {
          const bool isSpread = spread && isa<BlockArgument>(value);
          now += isAliveAt(value, op) ? registersOf(value.getType(), threads, isSpread) : 0;
        }
        most = std::max(most, now + ownOf(op));
      }
      live.insert(op.result_begin(), op.result_end());
    }
    return most;
  }

private:
  /// Used by the step or behind it; what it computes in place of an operand shares that one's registers.
  static bool isAliveAt(Value value, Operation &step) {
    if (isa_and_nonnull<tile::SplatOp, tile::BroadcastOp, tgpu::CoordinateOp>(
            value.getDefiningOp())) {
      return false;
    }
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *inBlock = step.getBlock()->findAncestorOpInBlock(*user);
      return inBlock && (inBlock == &step ? user != inBlock || isa<tgpu::DotOp>(user)
                                          : step.isBeforeInBlock(inBlock));
    });
  }

  /// A product that starts from zero does not read its accumulator.
  static bool isRead(BlockArgument argument) {
    return !llvm::all_of(argument.getUses(), [](OpOperand &use) {
      auto dot = dyn_cast<tgpu::DotOp>(use.getOwner());
      return dot && !dot.getAccumulate() && &use == &dot.getAccMutable();
    });
  }

  /// What a step has besides: carried values, what its regions hold, its result.
  int64_t ownOf(Operation &op) {
    int64_t own = 0;
    for (Region &region : op.getRegions()) {
      for (Block &inner : region) {
        SmallVector<Value> carried;
        int64_t spread = 0;
        if (isa<LoopLikeOpInterface>(op)) {
          for (BlockArgument argument : llvm::make_filter_range(inner.getArguments(), isRead)) {
            carried.push_back(argument);
            spread += registersOf(argument.getType(), threads, /*spread=*/true);
          }
        }
        own = std::max(own, most(inner, carried, !isCrowded(spread, available)));
      }
    }
    if (auto dot = dyn_cast<tgpu::DotOp>(op)) {
      // A sum that nobody else needs goes on in its registers.
      const bool isFresh =
          !dot.getAccumulate() || !(isa<BlockArgument>(dot.getAcc()) || dot.getAcc().hasOneUse());
      own = (isFresh ? registersOf(dot.getType(), threads) : 0) + ofOperands(dot);
      // What the tensor cores sum of 8 bits is added to that every so many elements, and has registers until then.
      own += promotesSums(dot) ? registersOf(dot.getType(), threads) : 0;
    }
    return own;
  }

  /// What mma.sync takes from shared memory for one step along K; wgmma reads it there.
  static int64_t ofOperands(tgpu::DotOp dot) {
    std::optional<tgpu::MmaAttr> mma = dot.getMma();
    if (!mma || mma->getKind() != tgpu::MmaKind::MmaSync) {
      return 0;
    }
    ArrayRef<int64_t> shape = cast<RankedTensorType>(dot.getType()).getShape();
    const int64_t rows = llvm::divideCeil(shape[0], mma->getWarpsM()),
                  columns = llvm::divideCeil(shape[1], mma->getWarpsN());
    auto registers = [&](Value operand, int64_t lines) -> int64_t {
      auto buffer = dyn_cast<tgpu::SmemType>(operand.getType());
      const int64_t bits = buffer ? tile::getStorageBits(buffer.getElementType()) : 0;
      return llvm::divideCeil(lines * mma->getK() * bits, 32 * 32);
    };
    return registers(dot.getA(), rows) + registers(dot.getB(), columns);
  }

  int64_t threads, available;
};
} // namespace

bool tilec::promotesSums(tgpu::DotOp dot) {
  std::optional<tgpu::MmaAttr> mma = dot.getMma();
  auto buffer = dyn_cast<tgpu::SmemType>(dot.getA().getType());
  Type element = buffer ? buffer.getElementType()
                        : cast<RankedTensorType>(dot.getA().getType()).getElementType();
  return mma && mma->getKind() == tgpu::MmaKind::Wgmma && isa<FloatType>(element) &&
         element.getIntOrFloatBitWidth() == 8 && dot.getPromote() != 0;
}

int64_t tilec::estimateRegisters(tgpu::KernelOp kernel) {
  const Target *target = getTarget(kernel);
  const int64_t blocks = kernel.getMinBlocks().value_or(1);
  const int64_t available = target ? registersPerThread(kernel, *target, blocks) : 255;
  int64_t registers =
      kBaseRegisters + Liveness(kernel.getThreads(), available).most(kernel.getBody().front());
  if (std::optional<uint32_t> most = kernel.getMaxRegisters()) {
    registers = std::min<int64_t>(registers, *most);
  }
  return registers;
}

/// What copies by loads and stores have on the way at least. They give way before fragments do.
static int64_t registersOfCopies(tgpu::KernelOp kernel) {
  int64_t most = 0;
  kernel.walk([&](tgpu::CopyOp copy) {
    auto buffer = dyn_cast<tgpu::SmemType>(copy.getDest().getType());
    if (buffer && copy.getPath().value_or(tgpu::CopyPath::Vector) == tgpu::CopyPath::Vector) {
      const int64_t width = copy.getBytes().value_or(4);
      const int64_t bits = ShapedType::getNumElements(buffer.getShape()) *
                           tile::getStorageBits(buffer.getElementType());
      const int64_t accesses = llvm::divideCeil(bits, 8 * width * kernel.getThreads());
      most = std::max<int64_t>(most, std::min<int64_t>(accesses, kLeastInFlight) *
                                         int64_t(llvm::divideCeil(width, 4)));
    }
  });
  return most;
}

/// What sums that are promoted hold beside one of them, where schedules find room for all that a step has.
static int64_t registersOfSums(tgpu::KernelOp kernel) {
  int64_t all = 0, most = 0;
  kernel.walk([&](tgpu::DotOp dot) {
    if (promotesSums(dot)) {
      const int64_t own = registersOf(dot.getType(), kernel.getThreads());
      all += own;
      most = std::max(most, own);
    }
  });
  return all - most;
}

int64_t tilec::estimateResident(tgpu::KernelOp kernel, const Target &target) {
  const int64_t threads = std::max<int64_t>(kernel.getLaunchedThreads(),
                                            teamsWanted(kernel) * int64_t(kernel.getThreads()) +
                                                (asksForRoles(kernel) ? kLoadThreads : 0));
  const int64_t most = target.registersPerThread;
  int64_t registers = std::min(most, estimateRegisters(kernel) + registersOfCopies(kernel) +
                                         registersOfSums(kernel));
  if (std::optional<uint32_t> blocks = kernel.getMinBlocks()) { // ptxas keeps to that
    registers = std::min(registers, target.registersPerSM / (int64_t(*blocks) * threads) / 8 * 8);
  }
  return std::max<int64_t>(
      1, residentBlocks(target, registers, threads, estimateShared(kernel, target)));
}
