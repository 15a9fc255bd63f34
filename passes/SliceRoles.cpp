//===- SliceRoles.cpp - the kernel as programs of warps that load and that compute ===//
//
// The fills of rings, and all that decides where they read and how often, become the program of one more
// warpgroup; the rest stays that of the warps that there are. Both have the same loops and branches:
//     roles load:    for ..: one_thread: acquire; expect; tma_load
//           compute: for ..: wait; work; release
// Slots and positions are those of the serial program, so the roles meet in channels alone.
//
// What the fills need is found backwards from them: pure operations on scalars, loads of scalars from
// memory that the kernel does not write, and control flow; of what loops and branches carry only what is
// needed. Since control flow is cloned with all that decides it, copies of a loop or branch go the same
// way in both roles, and each position of a ring is filled as often as it is awaited.
//
// What an atomic operation gives cannot be computed twice: where the fills need it the load role posts it
// for all warps (Mail.h).
//
// Invariants: nothing in the load role has effects but its fills and posts; no tile is in it; channels and
// buffers stand before the roles. A kernel is sliced once, since no fill is left outside of roles then.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Analysis.h"
#include "passes/GlobalAccess.h"
#include "passes/LoopGraph.h"
#include "passes/Mail.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/RoleBarriers.h"
#include "passes/RoleRegisters.h"
#include "passes/RoleSlice.h"
#include "passes/Shared.h"
#include "passes/SharedPieces.h"
#include "passes/SliceOperations.h"
#include "passes/Sync.h"
#include "passes/TakeTurns.h"

namespace tilec {
#define GEN_PASS_DEF_SLICEROLES
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

constexpr int32_t kLoadRole = 0, kComputeRole = 1;

/// What the fills of a kernel need.
class LoadSlice : public RoleSlice {
public:
  explicit LoadSlice(tgpu::KernelOp kernel, ArrayRef<Post> posts = {})
      : RoleSlice(kernel), posts(posts) {
    kernel.walk([&](tgpu::OneThreadOp op) {
      if (isPost(op) || isSlotFill(op)) {
        fills.push_back(op);
      }
    });
    for (Operation *fill : fills) {
      needWhole(fill);
    }
    for (Post post : posts) { // all warps give it back, whether or not they need it
      for (Operation *op : {post.wait.getOperation(), post.release.getOperation()}) {
        needWhole(op);
      }
    }
    while (addMail()) {
    }
  }

  ArrayRef<Operation *> allFills() const { return fills; }
  /// What has to be handed over.
  ArrayRef<Mail> allMail() const { return mail; }
  bool isPost(Operation *op) const { return findPost(op) != posts.end(); }
  /// So that no fill waits for what comes from global memory; but one that is not to come early does.
  bool isByAnotherWarp(Operation *op) const { return isPost(op) && !findPost(op)->isNextPoint; }

private:
  StringRef refuseRegion(Operation *op) const override {
    return isa<tgpu::OneThreadOp>(op) ? "" : "code of single threads decides what is loaded";
  }

  ArrayRef<Post>::iterator findPost(Operation *fill) const {
    return llvm::find_if(posts, [&](const Post &post) { return post.fill == fill; });
  }

  /// The value that an atomic operation gave.
  void needMail(tgpu::LoadElementOp load) {
    for (Post post : posts) {
      if (readsPost(load, post)) {
        return needWhole(load);
      }
    }
    std::optional<Mail> found = mailOf(load);
    if (!found) {
      return refuse("what is loaded depends on shared memory or on what an atomic operation gives");
    }
    needOp(load);
    if (llvm::none_of(mail, [&](const Mail &other) { return other.box == found->box; })) {
      mail.push_back(*found);
      for (Value operand : found->atomic->getOperands()) {
        if (operand != found->box) {
          needValue(operand);
        }
      }
    }
  }

  /// One thread does the atomic operations in their order, ahead of what other warps do: nobody else may be at the
  /// same memory, so what others ask of it becomes mail, too. Returns whether there was such.
  bool addMail() {
    tgpu::LoadElementOp more;
    kernel.walk([&](Operation *op) {
      auto meets = [&](const sync::Access &access) {
        return access.memory.global && llvm::any_of(mail, [&](Mail own) {
                 return mayOverlap(access.memory.global->base, tgpu::getBase(own.atomic.getDest()));
               });
      };
      if (llvm::any_of(mail, [&](const Mail &own) { return own.atomic == op; }) ||
          llvm::none_of(sync::accessesOf(op), meets)) {
        return;
      }
      if (tgpu::LoadElementOp read = readerOf(op)) {
        more = read;
      } else {
        refuse("what is loaded depends on an atomic operation on memory that other warps use, too");
      }
    });
    if (!more || !refusal().empty()) {
      return false;
    }
    needMail(more);
    return true;
  }

  /// Who reads the mail that `op` would be; null if it would be none.
  static tgpu::LoadElementOp readerOf(Operation *op) {
    auto atomic = dyn_cast<tgpu::AtomicOp>(op);
    if (!atomic || !atomic.getOld()) {
      return {};
    }
    for (Operation *user : atomic.getOld().getUsers()) {
      if (auto read = dyn_cast<tgpu::LoadElementOp>(user); read && mailOf(read)) {
        return read;
      }
    }
    return {};
  }

  void needDefinition(Operation *definition) override {
    if (auto load = dyn_cast<tgpu::LoadElementOp>(definition)) {
      return needMail(load);
    }
    if (isa<tgpu::AllocSharedOp, tgpu::ChannelOp>(definition)) {
      if (definition->getParentOp() != kernel) {
        refuse("a buffer of a loop is filled");
      }
      return;
    }
    if (llvm::any_of(definition->getResultTypes(), llvm::IsaPred<RankedTensorType>) ||
        definition->getNumRegions() != 0) {
      return refuse("what is loaded depends on tiles that the block computes");
    }
    if (!isMemoryEffectFree(definition)) {
      Value read = globalRead(definition);
      if (!read) {
        return refuse(
            "what is loaded depends on shared memory or on what an atomic operation gives");
      }
      if (mayChangeIn(kernel, read)) {
        return refuse("what is loaded depends on memory that the kernel may see change");
      }
    }
    needWhole(definition);
  }

  ArrayRef<Post> posts;
  SmallVector<Operation *> fills;
  SmallVector<Mail> mail;
};

struct SliceRoles : tilec::impl::SliceRolesBase<SliceRoles> {
  void runOnOperation() override {
    tgpu::KernelOp kernel = getOperation();
    const Target *target = getTarget(kernel);
    if (!target) {
      return signalPassFailure();
    }
    const StringRef word = kernel.getWarpSpecialize().value_or("auto");
    if (word == "operations" && asksForRoles(kernel)) {
      if (failed(sliceOperations(kernel, *target))) {
        signalPassFailure();
      }
      return;
    }
    std::string reason, noTurns;
    if (asksForRoles(kernel)) {
      std::optional<Turns> turns;
      LoadSlice slice(kernel);
      if (word == "pingpong") {
        turns.emplace(kernel);
        noTurns = refuse(kernel, slice, *target);
        noTurns = noTurns.empty() ? turns->refusal().str() : noTurns;
      }
      if (!noTurns.empty()) {
        kernel.emitRemark("@warp_specialize(pingpong): warps that compute take no turns: ")
            << noTurns;
        kernel.setWarpSpecialize("producer");
      }
      reason = refuse(kernel, slice, *target);
      if (reason.empty()) {
        SmallVector<Post> posts;
        for (const Mail &mail : slice.allMail()) {
          posts.push_back(handOver(mail, kernel.getNumWarps() + kLoadThreads / 32));
        }
        formRoles(kernel, LoadSlice(kernel, posts), turns,
                  *shareRegisters(kernel, teamsWanted(kernel), *target));
      } else {
        kernel.emitRemark("all warps have one role: ") << reason;
      }
    } else {
      reason = target->hasTma
                   ? "`@warp_specialize(producer)` asks for it, `" + word.str() + "` does not"
                   : "only targets with TMA have roles of warps";
    }
    reason = reason.empty() ? noTurns : reason;
    if (reason.empty()) {
      return;
    }
    if (failed(checkRequiredInside(kernel, "warp_specialize", reason))) {
      signalPassFailure();
    }
  }

  static std::string refuse(tgpu::KernelOp kernel, const LoadSlice &slice, const Target &target) {
    const int64_t threads = teamsWanted(kernel) * int64_t(kernel.getThreads());
    const bool runsAhead = llvm::any_of(slice.allFills(), [](Operation *fill) {
      auto loop = fill->getParentOfType<scf::ForOp>();
      return loop && tgpu::kPipeline.get(loop);
    });
    if (!runsAhead) {
      return "no copy runs ahead by TMA";
    }
    if (kernel.getThreads() % 128 != 0) {
      return "roles are whole groups of 128 threads";
    }
    if (threads + kLoadThreads > 1024) {
      return "a block has at most 1024 threads, and 128 would load";
    }
    if (!shareRegisters(kernel, teamsWanted(kernel), target)) {
      return "128 threads that load would leave too few registers to the others";
    }
    std::string reason;
    kernel.walk([&](Operation *op) {
      if (isa<tile::ThreadsOp, tgpu::RolesOp>(op)) {
        reason = "it has code for single threads";
      } else if (ordersGlobal(op)) {
        reason = "an atomic operation orders its loads";
      }
    });
    for (Operation *fill : slice.allFills()) {
      fill->walk([&](tgpu::TmaLoadOp load) {
        kernel.walk([&](Operation *op) {
          if (reason.empty() && mayChange(op, load.getSource())) {
            reason = "the kernel writes to a tensor that it loads";
          }
        });
      });
    }
    if (reason.empty() && slice.refusal().empty() && !fitsShared(kernel, slice)) {
      reason = "rings that are filled while other loops run do not fit shared memory";
    }
    return reason.empty() ? slice.refusal().str() : reason;
  }

  /// Pieces of kernels that ask for roles are collected as those of roles are.
  static bool fitsShared(tgpu::KernelOp kernel, const LoadSlice &slice) {
    SmallVector<SharedPiece> pieces =
        collectSharedPieces(kernel, [](tgpu::AllocSharedOp) { return PlannedRing(); });
    int64_t bytes = llvm::alignTo(placeSharedPieces(pieces), 8);
    kernel.walk([&](tgpu::ChannelOp channel) { bytes += channelBytes(channel); });
    for (const Mail &mail : slice.allMail()) {
      bytes += mailBytes(mail);
    }
    return bytes <= getTarget(kernel)->sharedPerBlock;
  }

  static void formRoles(tgpu::KernelOp kernel, const LoadSlice &slice, std::optional<Turns> &turns,
                        RoleRegisters registers) {
    Block &body = kernel.getBody().front();
    const auto teams = int32_t(teamsWanted(kernel)), ofTeam = int32_t(kernel.getThreads() / 32),
               warps = teams * ofTeam;
    constexpr int32_t loadWarps = kLoadThreads / 32;
    OpBuilder builder(body.getTerminator());
    auto roles = tgpu::RolesOp::create(
        builder, kernel.getLoc(), builder.getStrArrayAttr({"load", "compute"}),
        builder.getDenseI32ArrayAttr({warps, 0}), builder.getDenseI32ArrayAttr({loadWarps, ofTeam}),
        builder.getDenseI32ArrayAttr({1, teams}),
        builder.getDenseI32ArrayAttr({int32_t(registers.load), int32_t(registers.compute)}),
        IntegerAttr(), 2);
    Block &load = roles.getBodies()[kLoadRole].emplaceBlock(),
          &compute = roles.getBodies()[kComputeRole].emplaceBlock();
    builder.setInsertionPointToEnd(&load);
    RoleProgram(slice, [&](Operation *from, Operation *copy) {
      if (auto one = dyn_cast<tgpu::OneThreadOp>(copy)) {
        one.setWarp(slice.isByAnotherWarp(from) ? warps + 1 : warps);
      }
    }).clone(body, builder);
    for (Operation &op : llvm::make_early_inc_range(body)) {
      if (&op == roles) {
        break;
      }
      if (!isa<tgpu::AllocSharedOp, tgpu::ChannelOp>(op)) {
        op.moveBefore(&compute, compute.end());
      }
    }
    for (Operation *fill : slice.allFills()) {
      fill->erase();
    }
    if (teams > 1) {
      turns->take(teams);
    }
    // What was for all threads of the block is for those that compute, or for a team of them.
    roles.getBodies()[kComputeRole].walk([&](tgpu::BarrierOp barrier) {
      if (barrier.getThreads() == 0) {
        barrier.setId(int32_t(barrierOfRole(kComputeRole)));
        barrier.setThreads(int32_t(kernel.getThreads()));
      }
    });
    kernel.setBlockThreads(32 * (warps + loadWarps));
    if (kernel.getAimedBlocks()) {
      kernel.setAimedBlocks(uint32_t(registers.blocks));
    }
    kernel.emitRemark("roles: ") << loadWarps << " warps load, " << warps << " compute"
                                 << (teams == 1 ? "" : " in two teams that take turns at points")
                                 << (registers.compute == 0
                                         ? ""
                                         : ", with " + std::to_string(registers.compute) +
                                               " registers a thread");
  }
};

} // namespace
