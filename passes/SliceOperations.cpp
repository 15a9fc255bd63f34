//===- SliceOperations.cpp - programs of roles by operation ---------------===//
//
// Each role gets the operations that are marked as its own or belong to its tiles (RoleMap.h), with what these need. Scalars
// and control flow are computed by every role that needs them; fragments never are: they pass through shared memory, in
// rings with channels by now.
//
// Invariants: every operation with effects is in exactly one role, but for reads of global memory that nothing writes;
// buffers and channels stand before the roles. Layouts count warps from the first one of their role.
//
//===----------------------------------------------------------------------===//
#include "passes/SliceOperations.h"

#include "dialects/tgpu/Roles.h"
#include "passes/Pipeline.h"
#include "passes/RoleBarriers.h"
#include "passes/RoleRegisters.h"
#include "passes/RoleSlice.h"

using namespace mlir;
using namespace tilec;

namespace {

class OperationSlice : public RoleSlice {
public:
  OperationSlice(tgpu::KernelOp kernel, const RoleMap &roles, int64_t role)
      : RoleSlice(kernel), roles(roles), role(role) {
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isControl(op)) {
        return WalkResult::advance();
      }
      if (!isMemoryEffectFree(op) && roles.roleOf(op) == role) {
        needWhole(op);
      }
      return WalkResult::skip();
    });
  }

  static bool isControl(Operation *op) {
    return isa<tgpu::KernelOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op);
  }

private:
  void needDefinition(Operation *definition) override {
    if (isa<tgpu::AllocSharedOp, tgpu::ChannelOp>(definition) &&
        definition->getParentOp() == kernel) {
      return;
    }
    const std::optional<int64_t> owner = roles.roleOf(definition);
    if (owner && owner != role) {
      return refuse("a role needs what another computes");
    }
    if (!owner && !isMemoryEffectFree(definition) && !globalRead(definition)) {
      return refuse("a role needs what no role does");
    }
    needWhole(definition);
  }
  StringRef refuseRegion(Operation *) const override { return ""; }

  const RoleMap &roles;
  int64_t role;
};

} // namespace

/// The layouts of `type`, on the warps from `first` on.
static Type onWarps(Type type, int64_t first) {
  if (auto pending = dyn_cast<tgpu::PendingType>(type)) {
    return tgpu::PendingType::get(type.getContext(),
                                  cast<RankedTensorType>(onWarps(pending.getFragment(), first)));
  }
  auto tile = dyn_cast<RankedTensorType>(type);
  const layout::RegisterLayout *layout = tile ? tgpu::getLayout(tile) : nullptr;
  return layout ? tgpu::withLayout(tile, layout->onWarps(first)) : type;
}

/// A program written for the first warps of the block becomes one for those from `first` on.
static void moveToWarps(Region &program, unsigned role) {
  const int64_t first = int64_t(role) * kRoleWarps;
  program.walk([&](Operation *op) {
    tgpu::kRole.remove(op);
    for (Value result : op->getResults()) {
      result.setType(onWarps(result.getType(), first));
    }
    for (Region &region : op->getRegions()) {
      for (Block &block : region) {
        for (BlockArgument argument : block.getArguments()) {
          argument.setType(onWarps(argument.getType(), first));
        }
      }
    }
    if (auto one = dyn_cast<tgpu::OneThreadOp>(op)) {
      one.setWarp(int32_t(first));
    } else if (auto barrier = dyn_cast<tgpu::BarrierOp>(op); barrier && barrier.getThreads() == 0) {
      barrier.setId(int32_t(barrierOfRole(role)));
      barrier.setThreads(32 * kRoleWarps);
    }
  });
}

/// The first operation with effects that no role would do.
static Operation *findLost(tgpu::KernelOp kernel, const RoleMap &roles) {
  Operation *lost = nullptr;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (OperationSlice::isControl(op)) {
      return WalkResult::advance();
    }
    const bool isPlace = isa<tgpu::AllocSharedOp, tgpu::ChannelOp>(op);
    if (!isPlace && !op->hasTrait<OpTrait::IsTerminator>() && !isMemoryEffectFree(op) &&
        !roles.roleOf(op) && !globalRead(op)) {
      lost = op;
      return WalkResult::interrupt();
    }
    return WalkResult::skip();
  });
  return lost;
}

LogicalResult tilec::sliceOperations(tgpu::KernelOp kernel, const Target &target) {
  const RoleMap roles(kernel);
  if (Operation *op = roles.conflict()) {
    return op->emitOpError("is the work of two roles");
  }
  if (Operation *op = findLost(kernel, roles)) {
    return op->emitOpError("is the work of no role");
  }
  std::optional<SmallVector<int64_t>> registers = shareRegisters(kernel, roles, target);
  const auto count = int32_t(roles.count());
  if (!registers) { // tgpu-plan-roles asked before layouts were known
    kernel.emitRemark(
        "fragments of the roles need more registers than a block has: each role has as "
        "many as the others, and may spill");
    registers.emplace(count, 0);
  }
  SmallVector<OperationSlice, 0> slices;
  for (int32_t role = 0; role < count; ++role) {
    slices.emplace_back(kernel, roles, role);
    if (!slices.back().refusal().empty()) {
      return kernel.emitOpError("cannot be sliced: ") << slices.back().refusal();
    }
  }
  Block &body = kernel.getBody().front();
  OpBuilder builder(body.getTerminator());
  SmallVector<Attribute> names;
  SmallVector<int32_t> first, warps(count, kRoleWarps), budgets;
  for (int32_t role = 0; role < count; ++role) {
    names.push_back(builder.getStringAttr(role == 0 ? "work" : "sum" + std::to_string(role)));
    first.push_back(int32_t(role * kRoleWarps));
    budgets.push_back(int32_t((*registers)[role]));
  }
  auto made = tgpu::RolesOp::create(builder, kernel.getLoc(), builder.getArrayAttr(names),
                                    builder.getDenseI32ArrayAttr(first),
                                    builder.getDenseI32ArrayAttr(warps),
                                    builder.getDenseI32ArrayAttr(SmallVector<int32_t>(count, 1)),
                                    builder.getDenseI32ArrayAttr(budgets), IntegerAttr(), count);
  for (int32_t role = 0; role < count; ++role) {
    builder.setInsertionPointToEnd(&made.getBodies()[role].emplaceBlock());
    RoleProgram(slices[role], [](Operation *, Operation *) {}).clone(body, builder);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
    if (&op != made && !op.hasTrait<OpTrait::IsTerminator>() &&
        !isa<tgpu::AllocSharedOp, tgpu::ChannelOp>(op)) {
      op.erase();
    }
  }
  for (int32_t role = 0; role < count; ++role) {
    moveToWarps(made.getBodies()[role], unsigned(role));
  }
  kernel.setBlockThreads(int32_t(32 * kRoleWarps * count));
  return success();
}
