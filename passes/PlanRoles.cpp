//===- PlanRoles.cpp - which role does which operation --------------------===//
//
// Where `@warp_specialize(operations)` asks for it, products of a pipelined loop that need each other through element-wise
// work are done by different warps, so that the tensor cores multiply for some while others compute:
//     role 0:     S = Q * K[n]; softmax; P stored to shared memory
//     role 1, ..: O = O * factor + P * V[n]
// A sum that each iteration takes from the one before and adds a product to is a recurrence. What is on its way round, from
// the sum to the next sum, belongs together: it is the work of a role of its own. All else of the kernel is that of role 0,
// but what comes of its sum behind the loop, and what only makes a tile larger for a role (a row repeated). Where a tile is
// of one role and needed by another a buffer of shared memory takes it over: written behind the operation that computes it,
// read before the first that needs it, by products in place. The kernel stays serial and means what it did;
// tgpu-make-channels makes a ring of such a buffer, tgpu-slice-roles the programs.
//
// A role has one warpgroup. Recurrences share one, in the order of the program, as long as its registers hold their sums.
//
// Invariants: a kernel is planned once, before layouts are chosen, and not at all where something is refused; then it keeps
// its warps. Afterwards no tile passes from role to role but through such a buffer (RoleMap.h). A buffer is written once in
// each execution of its block, before all that reads it.
//
//===----------------------------------------------------------------------===//
#include "dialects/tgpu/Roles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/RolePlanner.h"
#include "passes/SelectMma.h"

namespace tilec {
#define GEN_PASS_DEF_PLANROLES
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// Registers of a thread for the sums of a role: of 160, the least that ptxas takes for a sum of 128.
static constexpr int64_t kMostOfSums = 128;

int64_t tilec::bitsOf(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  return type.getNumElements() * int64_t(tile::getStorageBits(type.getElementType()));
}

/// Shared memory has a place for it.
static bool isStorable(Value tile) {
  Type element = cast<RankedTensorType>(tile.getType()).getElementType();
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8;
}

SmallVector<Value> tilec::takenBy(Operation *op) {
  return llvm::filter_to_vector(tilesOf(op),
                                [&](Value tile) { return tile.getDefiningOp() != op; });
}

//===----------------------------------------------------------------------===//
// Recurrences
//===----------------------------------------------------------------------===//

/// Operations of the loop's body that need `argument`.
RolePlanner::Operations RolePlanner::aheadOf(Value argument) {
  Operations found;
  SmallVector<Value> pending = {argument};
  while (!pending.empty()) {
    for (Operation *user : pending.pop_back_val().getUsers()) {
      Operation *top = loop.getBody()->findAncestorOpInBlock(*user);
      if (!top->hasTrait<OpTrait::IsTerminator>() && found.insert(top)) {
        llvm::append_range(pending, top->getResults());
      }
    }
  }
  return found;
}

/// Operations of the loop's body that `next` needs.
RolePlanner::Operations RolePlanner::behind(Value next) {
  Operations found;
  llvm::SetVector<Value> pending;
  pending.insert(next);
  for (size_t at = 0; at < pending.size(); ++at) {
    Operation *op = pending[at].getDefiningOp();
    if (op && op->getBlock() == loop.getBody() && found.insert(op)) {
      pending.insert_range(op->getOperands());
      getUsedValuesDefinedAbove(op->getRegions(), pending);
    }
  }
  return found;
}

/// Those that go through a product; what two have in common makes them one.
std::string RolePlanner::findRecurrences() {
  auto multiplies = [](Operation *op) {
    return op->walk([](tgpu::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  };
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    const Operations after = aheadOf(argument), before = behind(yield.getOperand(number));
    Operations around;
    for (Operation *op : after) {
      if (before.contains(op)) {
        around.insert(op);
      }
    }
    if (llvm::none_of(around, multiplies)) {
      continue;
    }
    SmallVector<unsigned> arguments = {unsigned(number)};
    llvm::erase_if(recurrences, [&](auto &other) {
      const bool meets =
          llvm::any_of(around, [&](Operation *op) { return other.first.contains(op); });
      if (meets) {
        around.insert_range(other.first);
        llvm::append_range(arguments, other.second);
      }
      return meets;
    });
    recurrences.emplace_back(around, arguments);
  }
  const bool others = llvm::any_of(loop.getBody()->getOps<tgpu::DotOp>(), [&](Operation *dot) {
    return llvm::none_of(recurrences,
                         [&](auto &recurrence) { return recurrence.first.contains(dot); });
  });
  if (recurrences.empty() || !others) {
    return "its loop has no product whose result goes into the sum of another";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Owners
//===----------------------------------------------------------------------===//

/// What loops and branches hand on of each other is one tile, and that of a recurrence the role's.
void RolePlanner::joinCarried() {
  auto number = [&](Value value) {
    auto [it, isNew] = carriedNumbers.insert({value, unsigned(carriedNumbers.size())});
    if (isNew) {
      carried.grow(it->second + 1);
    }
    return it->second;
  };
  auto isCarrier = [](Value value) {
    return isTile(value) && (isa<BlockArgument>(value) ||
                             isa<scf::ForOp, scf::IfOp>(cast<OpResult>(value).getOwner()));
  };
  auto join = [&](Value a, Value b) {
    if (isCarrier(a) && isCarrier(b)) {
      const unsigned first = number(a), second = number(b);
      carried.join(first, second);
    }
  };
  kernel.walk([&](Operation *op) {
    if (auto around = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, argument, result, next] :
           llvm::zip_equal(around.getInitArgs(), around.getRegionIterArgs(), around.getResults(),
                           around.getBody()->getTerminator()->getOperands())) {
        join(argument, init);
        join(argument, result);
        join(argument, next);
      }
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (auto [index, result] : llvm::enumerate(branch.getResults())) {
        join(result, branch.thenYield().getOperand(index));
        join(result, branch.elseYield().getOperand(index));
      }
    }
  });
  // Sums fill a role up to its registers, then the next one begins.
  int64_t bits = 0;
  for (auto &[operations, arguments] : recurrences) {
    int64_t own = 0;
    for (unsigned argument : arguments) {
      Value sum = loop.getRegionIterArg(argument);
      own += isTile(sum) ? bitsOf(sum) : 0;
    }
    if (roles == 1 || (bits + own) / (32 * kRoleThreads) > kMostOfSums) {
      ++roles;
      bits = 0;
    }
    bits += own;
    for (unsigned argument : arguments) {
      Value sum = loop.getRegionIterArg(argument);
      if (isTile(sum)) {
        carriedRoles[carried.findLeader(number(sum))] = roles - 1;
      }
    }
    for (Operation *op : operations) {
      op->walk([&](Operation *inner) { owners[inner] = roles - 1; });
    }
  }
}

/// Of what is known so far; 0 for what loops and branches hand on of no recurrence.
std::optional<int64_t> RolePlanner::roleOf(Value tile) {
  auto known = carriedNumbers.find(tile);
  if (known != carriedNumbers.end()) {
    auto role = carriedRoles.find(carried.findLeader(known->second));
    return role == carriedRoles.end() ? 0 : role->second;
  }
  Operation *definition = tile.getDefiningOp();
  auto owner = definition ? owners.find(definition) : owners.end();
  return owner == owners.end() ? std::nullopt : std::optional(owner->second);
}

/// The role that needs a tile at a use.
int64_t RolePlanner::roleOfUse(OpOperand &use) {
  Operation *user = use.getOwner();
  const unsigned number = use.getOperandNumber();
  if (auto around = dyn_cast<scf::ForOp>(user)) {
    return roleOf(around.getTiedLoopRegionIterArg(&use)).value_or(0);
  }
  if (isa<scf::YieldOp>(user)) {
    return roleOf(user->getParentOp()->getResult(number)).value_or(0);
  }
  while (user && !owners.contains(user)) { // in a region that combines
    user = user->getParentOp();
  }
  return user ? owners.lookup(user) : 0;
}

SmallVector<int64_t> RolePlanner::rolesOfUses(Value tile) {
  llvm::SmallSetVector<int64_t, 4> found;
  for (OpOperand &use : tile.getUses()) {
    found.insert(roleOfUse(use));
  }
  SmallVector<int64_t> sorted(found.begin(), found.end());
  llvm::sort(sorted);
  return sorted;
}

/// What only makes tiles larger, a row repeated or a load, is done by each role that needs it, and so is a mask.
void RolePlanner::assignLate(Operation *op) {
  if (op->getNumResults() != 1 || !isTile(op->getResult(0)) || op->use_empty() ||
      !(isMemoryEffectFree(op) || loadsFragment(op))) {
    return;
  }
  int64_t taken = 0;
  for (Value tile : takenBy(op)) {
    taken += bitsOf(tile);
  }
  Value result = op->getResult(0);
  if (bitsOf(result) <= taken && isStorable(result)) {
    return;
  }
  const SmallVector<int64_t> users = rolesOfUses(result);
  owners[op] = users.front();
  for (int64_t role : ArrayRef<int64_t>(users).drop_front()) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses()) {
      if (roleOfUse(use) == role) {
        uses.push_back(&use);
      }
    }
    Operation *copy = OpBuilder(op).clone(*op);
    owners[copy] = role;
    copies.push_back(copy);
    for (OpOperand *use : uses) {
      use->set(copy->getResult(0));
    }
  }
}

void RolePlanner::assign() {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<tgpu::KernelOp, scf::ForOp, scf::IfOp>(op)) {
      return WalkResult::advance();
    }
    if (!tilesOf(op).empty() || isa<tgpu::StoreOp>(op)) {
      ops.push_back(op);
    }
    return WalkResult::skip();
  });
  llvm::DenseSet<Operation *> fixed;
  for (Operation *op : ops) {
    if (owners.contains(op)) {
      fixed.insert(op);
      continue;
    }
    // Of the largest tile that it takes.
    int64_t role = 0, most = 0;
    for (Value tile : takenBy(op)) {
      if (std::optional<int64_t> of = roleOf(tile); of && bitsOf(tile) > most) {
        most = bitsOf(tile);
        role = *of;
      }
    }
    owners[op] = role;
  }
  for (Operation *op : llvm::reverse(ops)) {
    if (!fixed.contains(op)) {
      assignLate(op);
    }
  }
  llvm::append_range(ops, copies);
}

//===----------------------------------------------------------------------===//
// What is handed over
//===----------------------------------------------------------------------===//

std::string RolePlanner::findCrossings() {
  auto note = [&](Value tile) {
    const int64_t role = roleOf(tile).value_or(0);
    if (isTile(tile) && !isMadeAnew(tile) &&
        llvm::any_of(rolesOfUses(tile), [&](int64_t user) { return user != role; })) {
      crossing.insert(tile);
    }
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions()) {
      if (isa<scf::ForOp>(op)) {
        llvm::for_each(region.front().getArguments(), note);
      }
    }
    llvm::for_each(op->getResults(), note);
  });
  for (Value tile : crossing) {
    if (!isStorable(tile)) {
      return "a mask would have to pass from one role to another";
    }
  }
  return "";
}

/// The uses of a role: products read the buffer in place, all else a fragment.
void RolePlanner::useInRole(Value tile, Value buffer, int64_t role) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : tile.getUses()) {
    if (!isa<tgpu::LocalStoreOp>(use.getOwner()) && roleOfUse(use) == role) {
      uses.push_back(&use);
    }
  }
  Operation *first = nullptr;
  for (OpOperand *use : uses) {
    auto dot = dyn_cast<tgpu::DotOp>(use->getOwner());
    if (dot && use->getOperandNumber() == 0) {
      continue;
    }
    Operation *top = tile.getParentBlock()->findAncestorOpInBlock(*use->getOwner());
    first = !first || top->isBeforeInBlock(first) ? top : first;
  }
  Value fragment;
  if (first) {
    OpBuilder builder(first);
    auto load = tgpu::LocalLoadOp::create(builder, tile.getLoc(), tile.getType(), buffer);
    tgpu::kRole.set(load, builder.getI32IntegerAttr(role));
    fragment = load.getResult();
  }
  for (OpOperand *use : uses) {
    const bool inPlace = isa<tgpu::DotOp>(use->getOwner()) && use->getOperandNumber() == 0;
    use->set(inPlace ? buffer : fragment);
  }
}

void RolePlanner::handOver(Value tile) {
  const int64_t own = roleOf(tile).value_or(0);
  auto type = cast<RankedTensorType>(tile.getType());
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  auto buffer = tgpu::AllocSharedOp::create(
      builder, tile.getLoc(),
      tgpu::SmemType::get(kernel.getContext(), type.getShape(), type.getElementType(),
                          tgpu::SharedAttr()),
      builder.getStringAttr("handed over"), StringAttr(), IntegerAttr());
  tgpu::kHandOver.set(buffer, builder.getUnitAttr());
  const SmallVector<int64_t> users = rolesOfUses(tile);
  if (Operation *definition = tile.getDefiningOp()) {
    builder.setInsertionPointAfter(definition);
  } else {
    builder.setInsertionPointToStart(tile.getParentBlock());
  }
  auto store = tgpu::LocalStoreOp::create(builder, tile.getLoc(), tile, buffer);
  tgpu::kRole.set(store, builder.getI32IntegerAttr(own));
  for (int64_t role : users) {
    if (role != own) {
      useInRole(tile, buffer, role);
    }
  }
}

void RolePlanner::write() {
  OpBuilder builder(kernel.getContext());
  for (Value tile : crossing) {
    handOver(tile);
  }
  for (Operation *op : ops) {
    tgpu::kRole.set(op, builder.getI32IntegerAttr(owners.lookup(op)));
  }
  kernel.walk([&](tgpu::DotOp dot) { dot.setMmaAttr(selectWgmma(dot, target, kRoleWarps).mma); });
  kernel.walk([&](tgpu::StoreOp store) {
    if (store.getPath() == tgpu::CopyPath::Tma) {
      store.setPathAttr(tgpu::CopyPathAttr::get(kernel.getContext(), tgpu::CopyPath::Vector));
      store.emitRemark("copy stores from registers, not by TMA: what it would be staged in "
                       "goes to rings and to what roles hand over");
    }
  });
  kernel.setThreads(kRoleThreads);
  kernel.emitRemark("roles by operation: ")
      << roles << " of " << kRoleThreads << " threads, " << crossing.size()
      << (crossing.size() == 1 ? " tile is" : " tiles are") << " handed over in shared memory";
}

std::string RolePlanner::run() {
  for (auto step :
       {&RolePlanner::findLoop, &RolePlanner::refuseOperations, &RolePlanner::findRecurrences}) {
    if (std::string reason = (this->*step)(); !reason.empty()) {
      return reason;
    }
  }
  joinCarried();
  if (roles * kRoleThreads > 1024) {
    return "its sums would take more than 1024 threads";
  }
  assign();
  for (auto step :
       {&RolePlanner::findCrossings, &RolePlanner::refuseNumbers, &RolePlanner::refuseStores,
        &RolePlanner::refuseProducts, &RolePlanner::refuseRegisters, &RolePlanner::refuseShared}) {
    if (std::string reason = (this->*step)(); !reason.empty()) {
      return reason;
    }
  }
  write();
  return "";
}

namespace {

struct PlanRoles : tilec::impl::PlanRolesBase<PlanRoles> {
  void runOnOperation() override {
    tgpu::KernelOp kernel = getOperation();
    if (kernel.getWarpSpecialize() != "operations") {
      return;
    }
    const Target *target = getTarget(kernel);
    if (!target) {
      return signalPassFailure();
    }
    const std::string reason = !target->hasTma ? "only targets with TMA have roles of warps"
                                               : RolePlanner(kernel, *target).run();
    if (reason.empty()) {
      return;
    }
    kernel.emitRemark("all warps have one role: ") << reason;
    kernel.setWarpSpecialize("off");
    if (failed(checkRequiredInside(kernel, "warp_specialize", reason))) {
      signalPassFailure();
    }
  }
};

} // namespace
