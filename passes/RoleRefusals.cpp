//===- RoleRefusals.cpp - what has no roles by operation ------------------===//
#include "passes/Analysis.h"
#include "passes/CopiesAhead.h"
#include "passes/GlobalAccess.h"
#include "passes/Pipeline.h"
#include "passes/Registers.h"
#include "passes/RolePlanner.h"
#include "passes/SelectMma.h"
#include "passes/Sync.h"
#include "passes/TileFills.h"

using namespace mlir;
using namespace tilec;

//===----------------------------------------------------------------------===//
// What can be shared out
//===----------------------------------------------------------------------===//

std::string RolePlanner::findLoop() {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp candidate) {
    if (tile::kStages.has(candidate) && !candidate.getBody()->getOps<tgpu::DotOp>().empty()) {
      loops.push_back(candidate);
    }
  });
  if (loops.size() != 1) {
    return loops.empty() ? "no pipelined loop has products"
                         : "more than one pipelined loop has products";
  }
  loop = loops.front();
  return "";
}

/// Fills are made by one thread, and all roles read what they fill.
std::string RolePlanner::refuseCopy(tgpu::CopyOp copy) {
  if (!isa<tile::GlobalType>(copy.getSource().getType())) {
    return "it stores from shared memory";
  }
  if (copy.getPath() != tgpu::CopyPath::Tma) {
    return "not all that it copies to shared memory can use TMA";
  }
  if (!copy.getDest().getDefiningOp<tgpu::AllocSharedOp>()) {
    return "it fills part of a buffer";
  }
  if (copy->getParentOp() == loop) {
    return "";
  }
  std::string reason = refusePlaceOfFill(copy); // else threads of all roles would make it
  return reason.empty() ? avoidTileFill(copy) : reason;
}

std::string RolePlanner::refuseOperations() {
  std::string reason;
  SmallVector<Value> read;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<tgpu::KernelOp, scf::ForOp, scf::IfOp, tgpu::AllocSharedOp, tgpu::StoreOp, tgpu::DotOp>(
            op) ||
        op->hasTrait<OpTrait::IsTerminator>()) {
      return WalkResult::advance();
    }
    if (auto copy = dyn_cast<tgpu::CopyOp>(op)) {
      reason = refuseCopy(copy);
      read.push_back(copy.getSource());
    } else if (Value global = globalRead(op)) {
      read.push_back(global);
    } else if (!isMemoryEffectFree(op)) {
      reason = "only copies, products, work on fragments and stores have roles of their own";
    }
    return reason.empty() ? WalkResult::skip() : WalkResult::interrupt();
  });
  for (Value global : read) {
    kernel.walk([&](Operation *op) {
      if (reason.empty() && mayChange(op, global)) {
        reason = "it writes to a tensor that it reads";
      }
    });
  }
  if (reason.empty()) {
    // In its place such a copy is the work of all threads.
    if (const CopiesOfLoop copies = sortCopies(loop, tile::kStages.get(loop).getInt());
        !copies.serial.empty()) {
      reason = "a copy of its loop cannot run ahead: " + copies.serial.front().second;
    }
  }
  return reason;
}

//===----------------------------------------------------------------------===//
// What roles would lack
//===----------------------------------------------------------------------===//

std::string RolePlanner::refuseProducts() {
  std::string reason;
  kernel.walk([&](tgpu::DotOp dot) {
    if (reason.empty()) {
      reason = selectWgmma(dot, target, kRoleWarps).refusal;
    }
  });
  return reason;
}

/// A number that comes of a tile is known to the role of the tile alone: it goes into no loop, branch or tile of another.
std::string RolePlanner::refuseNumbers() {
  for (Operation *op : ops) {
    if (takenBy(op).empty()) {
      continue;
    }
    SmallVector<Value> pending;
    llvm::copy_if(op->getResults(), std::back_inserter(pending),
                  [](Value result) { return !isTile(result); });
    llvm::DenseSet<Operation *> seen;
    while (!pending.empty()) {
      for (Operation *user : pending.pop_back_val().getUsers()) {
        Operation *top = user;
        while (!owners.contains(top) &&
               !isa<tgpu::KernelOp, scf::ForOp, scf::IfOp>(top->getParentOp())) {
          top = top->getParentOp();
        }
        const bool decides =
            isa<scf::ForOp, scf::IfOp>(top) || top->hasTrait<OpTrait::IsTerminator>();
        if (decides || (owners.contains(top) && owners.lookup(top) != owners.lookup(op))) {
          return "a number that is computed of a tile would have to pass from one role to another";
        }
        if (!owners.contains(top) && seen.insert(top).second) {
          llvm::append_range(pending, top->getResults());
        }
      }
    }
  }
  return "";
}

/// Stores of a block that meet keep their order (docs/language.md section 12), which roles have none of.
std::string RolePlanner::refuseStores() {
  SmallVector<std::pair<sync::Access, int64_t>, 0> stores;
  std::string reason;
  for (Operation *op : ops) {
    for (const sync::Access &access :
         isa<tgpu::StoreOp>(op) ? sync::accessesOf(op) : SmallVector<sync::Access, 2>()) {
      for (const auto &[before, role] : stores) {
        if (role != owners.lookup(op) && sync::mayMeet(access, before)) {
          reason = "two of them would store to the same elements";
        }
      }
      stores.emplace_back(access, owners.lookup(op));
    }
  }
  return reason;
}

/// As tgpu-slice-roles will ask, with fragments spread evenly over the threads of their role.
std::string RolePlanner::refuseRegisters() {
  auto weight = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? int64_t(llvm::divideCeil(bitsOf(value), 32 * kRoleThreads)) : 0;
  };
  // What is handed over takes registers of each role.
  auto isIn = [&](Value value, int64_t role) {
    return roleOf(value).value_or(0) == role ||
           (crossing.contains(value) && llvm::is_contained(rolesOfUses(value), role));
  };
  SmallVector<int64_t> fragments(roles, 0);
  kernel.walk([&](scf::ForOp inner) {
    for (auto [role, most] : llvm::enumerate(fragments)) {
      most = std::max(most, registersInUse(inner, [&, role = int64_t(role)](Value value) {
                        return isIn(value, role) ? weight(value) : 0;
                      }));
    }
  });
  int64_t sum = 0;
  kernel.walk([&](tgpu::DotOp dot) {
    auto mma = selectWgmma(dot, target, kRoleWarps).mma;
    auto type = cast<RankedTensorType>(dot.getResult().getType());
    const int64_t bits = tile::getStorageBits(type.getElementType());
    sum = std::max<int64_t>(sum, mma ? mma.getN() * bits / 64 : 0);
  });
  return shareRegisters(kernel, fragments, sum, target)
             ? ""
             : "their fragments would need more registers than a block has for them";
}

/// Roles run at the same time: none of the buffers takes the place of another.
std::string RolePlanner::refuseShared() {
  constexpr int64_t kBarriers = 1024, kAligned = 1024;
  int64_t bytes = kBarriers;
  auto add = [&](ArrayRef<int64_t> shape, Type element) {
    const int64_t bits = ShapedType::getNumElements(shape) * int64_t(tile::getStorageBits(element));
    bytes += llvm::alignTo(llvm::divideCeil(bits, 8), kAligned);
  };
  kernel.walk([&](tgpu::AllocSharedOp buffer) {
    tgpu::SmemType type = buffer.getResult().getType();
    add(type.getShape(), type.getElementType());
  });
  for (Value tile : crossing) {
    auto type = cast<RankedTensorType>(tile.getType());
    add(type.getShape(), type.getElementType());
  }
  return bytes <= target.sharedPerBlock
             ? ""
             : "what they hand over would not fit shared memory beside the buffers of the kernel";
}
