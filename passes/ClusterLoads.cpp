//===- ClusterLoads.cpp - what blocks of a cluster load alike -------------===//
//
// Forward from the indices of grid points, of which index i varies along dimension i, until nothing new is found: bits are only
// ever added, so that ends. A result of control flow varies with what decides it, too.
//
//===----------------------------------------------------------------------===//
#include "passes/ClusterLoads.h"

#include "dialects/tgpu/Cluster.h"
#include "dialects/tgpu/Roles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/GlobalAccess.h"
#include "passes/Pipeline.h"
#include "passes/Sync.h"

using namespace mlir;
using namespace tilec;

ClusterVariation::ClusterVariation(tgpu::KernelOp kernel) : kernel(kernel) {
  for (auto [dim, extent] : llvm::enumerate(*kernel.getCluster())) {
    everything |= extent > 1 ? 1U << dim : 0;
  }
  for (bool isNew = true; isNew;) {
    isNew = false;
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { isNew |= visit(op); });
  }
}

bool ClusterVariation::note(Value value, ClusterDims dims) {
  if (dims == 0) {
    return false;
  }
  ClusterDims &known = values[value];
  const bool isNew = (dims & ~known) != 0;
  known |= dims;
  return isNew;
}

ClusterDims ClusterVariation::ofOperands(Operation *op) const {
  ClusterDims dims = 0;
  for (Value operand : op->getOperands()) {
    dims |= of(operand);
  }
  return dims;
}

/// What decides whether and how often the regions of an operation run, and which.
static SmallVector<Value> decidersOf(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    return {branch.getCondition()};
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    return {loop.getConditionOp().getCondition()};
  }
  return {};
}

ClusterDims ClusterVariation::ofControl(Operation *op) const {
  ClusterDims dims = 0;
  for (Operation *parent = op->getParentOp(); parent && parent != kernel;
       parent = parent->getParentOp()) {
    if (!isa<scf::ForOp, scf::IfOp, scf::WhileOp, tgpu::RolesOp, tgpu::OneThreadOp, tgpu::StreamOp>(
            parent)) {
      return everything;
    }
    for (Value decider : decidersOf(parent)) {
      dims |= of(decider);
    }
  }
  return dims;
}

/// Whether `op` divides an index of a grid point by a multiple of the cluster's extent along its dimension. The index is such a multiple plus
/// the block's place along it, which is less than the extent and not negative: all blocks get the same quotient.
static bool dividesPlaceOff(Operation *op) {
  APInt divisor;
  if (!isa<arith::DivSIOp, arith::DivUIOp>(op) ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&divisor))) {
    return false;
  }
  auto point = op->getOperand(0).getDefiningOp<tgpu::GridPointOp>();
  if (!point || !point.getCluster() || !divisor.isStrictlyPositive()) {
    return false;
  }
  const unsigned dim = cast<OpResult>(op->getOperand(0)).getResultNumber();
  const ArrayRef<int32_t> cluster = *point.getCluster();
  return dim < cluster.size() && divisor.getSExtValue() % cluster[dim] == 0;
}

ClusterDims ClusterVariation::ofResult(OpResult result) const {
  Operation *op = result.getOwner();
  if (auto point = dyn_cast<tgpu::GridPointOp>(op)) {
    const unsigned dim = result.getResultNumber();
    const bool isOwn = point.getCluster() && of(point.getLinear()) == 0;
    return isOwn ? everything & 1U << dim : everything;
  }
  if (isa<tgpu::BlockIdOp>(op)) {
    return everything;
  }
  if (dividesPlaceOff(op)) {
    return of(op->getOperand(0).getDefiningOp<tgpu::GridPointOp>().getLinear());
  }
  Value read = globalRead(op);
  const bool isFixed = isMemoryEffectFree(op) || isa<tgpu::AllocSharedOp, tgpu::ChannelOp>(op) ||
                       (read && !mayChangeIn(kernel, read));
  return isFixed ? ofOperands(op) : everything;
}

/// Arguments and results of control flow: all that may be passed to them, and what decides.
bool ClusterVariation::visitRegions(Operation *op) {
  ClusterDims deciders = 0;
  for (Value decider : decidersOf(op)) {
    deciders |= of(decider);
  }
  bool isNew = false;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    isNew |= note(loop.getInductionVar(), deciders);
    for (auto [init, argument, yielded, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues(),
                         loop.getResults())) {
      const ClusterDims dims = of(init) | of(yielded);
      isNew |= note(argument, dims);
      isNew |= note(result, dims | deciders);
    }
    return isNew;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (OpResult result : branch.getResults()) {
      ClusterDims dims = deciders;
      for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
        dims |= block ? of(block->getTerminator()->getOperand(result.getResultNumber())) : 0;
      }
      isNew |= note(result, dims);
    }
    return isNew;
  }
  // Of other regions nobody asks for a value but by their results.
  ClusterDims dims = deciders | ofOperands(op);
  op->walk([&](Operation *inner) { dims |= inner != op ? ofOperands(inner) : 0; });
  for (Region &region : op->getRegions()) {
    for (Value argument : region.getArguments()) {
      isNew |= note(argument, dims);
    }
  }
  for (Value result : op->getResults()) {
    isNew |= note(result, dims);
  }
  return isNew;
}

bool ClusterVariation::visit(Operation *op) {
  if (op->getNumRegions() != 0) {
    return visitRegions(op);
  }
  bool isNew = false;
  for (OpResult result : op->getResults()) {
    isNew |= note(result, ofResult(result));
  }
  return isNew;
}

/// The load's thread acquires the same position before, in the same block, and does nothing between that others would have to wait for:
/// it has told them that they may fill the slot.
static bool isAcquired(tgpu::TmaLoadOp load) {
  const auto position = sync::Position::of(load.getPosition());
  for (Operation *op = load->getPrevNode(); op; op = op->getPrevNode()) {
    auto acquire = dyn_cast<tgpu::AcquireOp>(op);
    if (acquire && acquire.getChannel() == load.getChannel() &&
        sync::Position::of(acquire.getPosition()).equals(position)) {
      return bool(acquire->getParentOfType<tgpu::OneThreadOp>());
    }
    if (!isMemoryEffectFree(op) && !isa<tgpu::AcquireOp, tgpu::ExpectOp, tgpu::TmaLoadOp>(op)) {
      return false;
    }
  }
  return false;
}

/// The position in the ring that a user of a channel names.
static Value positionOf(Operation *user) {
  auto load = dyn_cast<tgpu::TmaLoadOp>(user);
  return load ? load.getPosition() : user->getOperand(1);
}

/// Whether anything that may come before a load of this channel writes the ring. What becomes zero behind a wait does not.
static bool isWrittenByOthers(tgpu::KernelOp kernel, Value channel, Operation *ring) {
  return kernel
      .walk([&](Operation *op) {
        auto load = dyn_cast<tgpu::TmaLoadOp>(op);
        const bool isOwn = isa<tgpu::ZeroBeyondOp>(op) || (load && load.getChannel() == channel);
        const bool writes =
            !isOwn && llvm::any_of(sync::accessesOf(op), [&](const sync::Access &access) {
              return access.write && access.memory.alloc == ring;
            });
        return writes ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

SharedLoads tilec::findSharedLoads(tgpu::ChannelOp channel, const ClusterVariation &variation) {
  SharedLoads result;
  auto refuse = [&](StringRef reason) {
    result.loads.clear();
    result.across = 0;
    result.reason = reason.str();
    return result;
  };
  if (channel.getConsumers() == 0 || channel.getProducers() != 1) {
    return refuse("only warps that load alone (@warp_specialize) do it for other blocks");
  }
  ClusterDims varies = 0; // how the blocks go through the slots
  SmallVector<tgpu::TmaLoadOp> loads;
  for (Operation *user : channel.getResult().getUsers()) {
    if (isa<tgpu::PublishOp>(user)) {
      return refuse("threads fill the slots, too");
    }
    varies |= variation.ofControl(user) | variation.of(positionOf(user));
    if (auto load = dyn_cast<tgpu::TmaLoadOp>(user)) {
      loads.push_back(load);
    }
  }
  const bool isEach = varies == variation.all();
  for (tgpu::TmaLoadOp load : llvm::reverse(loads)) { // users come last first
    Operation *ring = sync::Memory::of(load.getDest()).alloc;
    if (!isAcquired(load) || !ring || isWrittenByOthers(variation.getKernel(), channel, ring)) {
      return refuse(
          "its ring is written otherwise, too, or loaded without being acquired just before");
    }
    ClusterDims dims = variation.all() & ~(varies | variation.of(load.getSource()));
    if (mayChangeIn(variation.getKernel(), load.getSource())) {
      dims = 0;
    }
    if (dims != 0) {
      result.loads[load] = dims;
      result.across |= dims;
    }
  }
  if (result.loads.empty()) {
    return refuse(loads.empty() ? "nothing is loaded by TMA"
                  : isEach      ? "a loop or a branch around its loads differs between blocks"
                                : "blocks load different tiles");
  }
  return result;
}

int64_t tilec::sharersExpected(tgpu::CopyOp copy, const ClusterVariation &variation) {
  Value source = copy.getSource();
  if (copy.getPath() != tgpu::CopyPath::Tma || !isa<tile::GlobalType>(source.getType()) ||
      !asksForRoles(variation.getKernel()) || mayChangeIn(variation.getKernel(), source)) {
    return 1;
  }
  const ClusterDims dims = variation.all() & ~(variation.ofControl(copy) | variation.of(source));
  return int64_t(tgpu::ranksAcross(*variation.getKernel().getCluster(), dimsOf(dims)).size());
}

/// Whether an innermost loop that gives slots back computes elements of fragments.
static bool computesElements(tgpu::ChannelOp channel) {
  const auto users = channel.getResult().getUsers();
  return llvm::any_of(users, [&](Operation *user) {
    auto loop = user->getParentOfType<scf::ForOp>();
    if (!isa<tgpu::ReleaseOp>(user) || !loop || llvm::any_of(users, [&](Operation *other) {
          return other->getParentOfType<scf::ForOp>() &&
                 loop->isProperAncestor(other->getParentOfType<scf::ForOp>());
        })) {
      return false;
    }
    return loop.getBody()
        ->walk([](Operation *op) {
          const bool isArithmetic =
              isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
              !op->hasTrait<OpTrait::ConstantLike>() &&
              llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
          return isArithmetic ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  });
}

static bool areFreeAtStart(tgpu::ChannelOp channel) {
  auto kernel = channel->getParentOfType<tgpu::KernelOp>();
  SmallVector<sync::Memory, 0> rings;
  for (Operation *user : channel.getResult().getUsers()) {
    if (auto load = dyn_cast<tgpu::TmaLoadOp>(user)) {
      rings.push_back(sync::Memory::of(load.getDest()));
    }
  }
  const bool areKnown = llvm::all_of(rings, [](const sync::Memory &ring) {
    return ring.alloc && ring.begin >= 0 && !tgpu::kOfEachTeam.has(ring.alloc);
  });
  auto touches = [&](const sync::Access &access) {
    const sync::Memory &memory = access.memory;
    if (memory.global || memory.messages ||
        llvm::is_contained(llvm::map_range(rings, [](auto &ring) { return ring.alloc; }),
                           memory.alloc)) {
      return false;
    }
    // Each team has its own of some buffers, all behind the first team's.
    const bool isOfTeams = memory.alloc && tgpu::kOfEachTeam.has(memory.alloc);
    return memory.begin < 0 ||
           llvm::any_of(
               rings,
               [&](const sync::Memory &ring) {
                 return memory.begin < ring.end && (isOfTeams || ring.begin < memory.end);
               });
  };
  return areKnown && !kernel
                          .walk([&](Operation *op) {
                            return llvm::any_of(sync::accessesOf(op), touches)
                                       ? WalkResult::interrupt()
                                       : WalkResult::advance();
                          })
                          .wasInterrupted();
}

bool tilec::isGivenBackToAll(tgpu::ChannelOp channel) {
  return !computesElements(channel) && areFreeAtStart(channel);
}

SmallVector<int32_t> tilec::dimsOf(ClusterDims dims) {
  SmallVector<int32_t> list;
  for (int32_t dim = 0; dims >> dim; ++dim) {
    if (dims >> dim & 1) {
      list.push_back(dim);
    }
  }
  return list;
}

ClusterDims tilec::maskOf(std::optional<ArrayRef<int32_t>> numbers) {
  ClusterDims mask = 0;
  for (int32_t dim : numbers.value_or(ArrayRef<int32_t>())) {
    mask |= 1U << dim;
  }
  return mask;
}
