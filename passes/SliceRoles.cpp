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
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Analysis.h"
#include "passes/GlobalAccess.h"
#include "passes/LoopGraph.h"
#include "passes/Mail.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/RoleBarriers.h"
#include "passes/RoleRegisters.h"
#include "passes/Shared.h"
#include "passes/SharedPieces.h"
#include "passes/Sync.h"

#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_SLICEROLES
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

constexpr int32_t kLoadRole = 0, kComputeRole = 1;

/// What the fills of a kernel need.
class Slice {
public:
  explicit Slice(tgpu::KernelOp kernel, ArrayRef<Post> posts = {}) : kernel(kernel), posts(posts) {
    kernel.walk([&](tgpu::OneThreadOp op) {
      if (isPost(op) || isSlotFill(op)) {
        fills.push_back(op);
      }
    });
    for (Operation *fill : fills) {
      needOp(fill);
      llvm::SetVector<Value> used;
      getUsedValuesDefinedAbove(fill->getRegions(), used);
      llvm::for_each(used, [&](Value value) { needValue(value); });
    }
    for (Post post : posts) { // all warps give it back, whether or not they need it
      for (Operation *op : {post.wait.getOperation(), post.release.getOperation()}) {
        needOp(op);
        llvm::for_each(op->getOperands(), [&](Value operand) { needValue(operand); });
      }
    }
    while (addMail()) {
    }
  }

  ArrayRef<Operation *> allFills() const { return fills; }
  /// What has to be handed over.
  ArrayRef<Mail> allMail() const { return mail; }
  bool isPost(Operation *op) const {
    return llvm::any_of(posts, [&](const Post &post) { return post.fill == op; });
  }
  bool needs(Operation *op) const { return ops.contains(op); }
  bool needs(Value value) const { return values.contains(value); }
  /// Why there can be no load role; empty if there can.
  StringRef refusal() const { return reason; }

private:
  void refuse(StringRef why) { reason = reason.empty() ? why : StringRef(reason); }

  void needOp(Operation *op) {
    for (; ops.insert(op).second; op = op->getParentOp()) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        needValue(loop.getLowerBound());
        needValue(loop.getUpperBound());
        needValue(loop.getStep());
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        needValue(branch.getCondition());
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        needValue(loop.getConditionOp().getCondition());
      } else if (op->getNumRegions() != 0 && !isa<tgpu::OneThreadOp>(op)) {
        refuse("code of single threads decides what is loaded");
      }
      if (isa<tgpu::KernelOp>(op->getParentOp())) {
        break;
      }
    }
  }

  void needCarried(scf::ForOp loop, unsigned number) {
    needOp(loop);
    if (values.insert(loop.getRegionIterArg(number)).second) {
      needValue(loop.getInitArgs()[number]);
      needValue(loop.getBody()->getTerminator()->getOperand(number));
    }
    values.insert(loop.getResult(number));
  }

  /// What a loop that ends on a condition hands to its iterations, and to what follows it.
  void needPassed(scf::WhileOp loop, unsigned number) {
    needOp(loop);
    values.insert(loop.getResult(number));
    if (values.insert(loop.getAfterArguments()[number]).second) {
      needValue(loop.getConditionOp().getArgs()[number]);
    }
  }

  void needTested(scf::WhileOp loop, unsigned number) {
    needOp(loop);
    if (values.insert(loop.getBeforeArguments()[number]).second) {
      needValue(loop.getInits()[number]);
      needValue(loop.getYieldOp().getResults()[number]);
    }
  }

  /// The value that an atomic operation gave.
  void needMail(tgpu::LoadElementOp load) {
    for (Post post : posts) {
      if (readsPost(load, post)) {
        needOp(load);
        llvm::for_each(load->getOperands(), [&](Value operand) { needValue(operand); });
        return;
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
    if (!more || !reason.empty()) {
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

  void needValue(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *owner = argument.getOwner()->getParentOp();
      if (auto loop = dyn_cast<scf::ForOp>(owner)) {
        needOp(loop);
        if (argument != loop.getInductionVar()) {
          needCarried(loop, argument.getArgNumber() - loop.getNumInductionVars());
        }
      } else if (auto loop = dyn_cast<scf::WhileOp>(owner)) {
        const bool isTested = argument.getOwner() == loop.getBeforeBody();
        isTested ? needTested(loop, argument.getArgNumber())
                 : needPassed(loop, argument.getArgNumber());
      } else if (!isa<tgpu::KernelOp>(owner)) {
        refuse("code of single threads decides what is loaded");
      }
      return;
    }
    if (!values.insert(value).second) {
      return;
    }
    Operation *definition = value.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(definition)) {
      return needCarried(loop, cast<OpResult>(value).getResultNumber());
    }
    if (auto loop = dyn_cast<scf::WhileOp>(definition)) {
      return needPassed(loop, cast<OpResult>(value).getResultNumber());
    }
    if (auto load = dyn_cast<tgpu::LoadElementOp>(definition)) {
      return needMail(load);
    }
    if (auto branch = dyn_cast<scf::IfOp>(definition)) {
      needOp(branch);
      const unsigned number = cast<OpResult>(value).getResultNumber();
      needValue(branch.thenYield().getOperand(number));
      needValue(branch.elseYield().getOperand(number));
      return;
    }
    if (isa<tgpu::AllocSharedOp, tgpu::ChannelOp>(definition)) {
      if (definition->getParentOp() != kernel) {
        refuse("a buffer of a loop is filled");
      }
      return;
    }
    if (isa<RankedTensorType>(value.getType()) || definition->getNumRegions() != 0) {
      return refuse("what is loaded depends on tiles that the block computes");
    }
    if (!isMemoryEffectFree(definition)) {
      Value read = globalRead(definition);
      if (!read) {
        return refuse(
            "what is loaded depends on shared memory or on what an atomic operation gives");
      }
      if (isChanged(read)) {
        return refuse("what is loaded depends on memory that the kernel may see change");
      }
    }
    needOp(definition);
    llvm::for_each(definition->getOperands(), [&](Value operand) { needValue(operand); });
  }

  bool isChanged(Value global) {
    return kernel
        .walk([&](Operation *op) {
          return mayChange(op, global) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  tgpu::KernelOp kernel;
  ArrayRef<Post> posts;
  SmallVector<Operation *> fills;
  SmallVector<Mail> mail;
  llvm::DenseSet<Operation *> ops;
  llvm::DenseSet<Value> values;
  std::string reason;
};

/// The program of the load role: what the slice needs of a block, and so on inside.
class LoadRole {
public:
  LoadRole(const Slice &slice, int32_t firstWarp) : slice(slice), firstWarp(firstWarp) {}

  void clone(Block &from, OpBuilder &builder) {
    for (Operation &op : from) {
      if (slice.needs(&op)) {
        clone(op, builder);
      }
    }
  }

private:
  void clone(Operation &op, OpBuilder &builder) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      return cloneLoop(loop, builder);
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      return cloneBranch(branch, builder);
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      return cloneWhile(loop, builder);
    }
    Operation *copy = builder.clone(op, mapping);
    if (auto one = dyn_cast<tgpu::OneThreadOp>(copy)) {
      // Another warp posts, so that no fill waits for what comes from global memory.
      one.setWarp(slice.isPost(&op) ? firstWarp + 1 : firstWarp);
    }
  }

  SmallVector<Value> kept(ValueRange from, ValueRange results) {
    SmallVector<Value> values;
    for (auto [value, result] : llvm::zip_equal(from, results)) {
      if (slice.needs(result)) {
        values.push_back(mapping.lookupOrDefault(value));
      }
    }
    return values;
  }

  void bind(ValueRange from, ValueRange to) {
    size_t at = 0;
    for (Value value : from) {
      if (slice.needs(value)) {
        mapping.map(value, to[at++]);
      }
    }
  }

  void cloneLoop(scf::ForOp loop, OpBuilder &builder) {
    auto copy = scf::ForOp::create(
        builder, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
        mapping.lookupOrDefault(loop.getUpperBound()), mapping.lookupOrDefault(loop.getStep()),
        kept(loop.getInitArgs(), loop.getResults()), nullptr, loop.getUnsignedCmp());
    copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    if (copy.getBody()->mightHaveTerminator()) {
      copy.getBody()->getTerminator()->erase();
    }
    mapping.map(loop.getInductionVar(), copy.getInductionVar());
    bind(loop.getRegionIterArgs(), copy.getRegionIterArgs());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(copy.getBody());
    clone(*loop.getBody(), builder);
    scf::YieldOp::create(builder, loop.getLoc(),
                         kept(loop.getBody()->getTerminator()->getOperands(), loop.getResults()));
    bind(loop.getResults(), copy.getResults());
  }

  void cloneWhile(scf::WhileOp loop, OpBuilder &builder) {
    auto typesOf = [&](ValueRange values) {
      SmallVector<Type> types;
      for (Value value : values) {
        if (slice.needs(value)) {
          types.push_back(value.getType());
        }
      }
      return types;
    };
    const Location loc = loop.getLoc();
    auto copy = scf::WhileOp::create(builder, loc, typesOf(loop.getResults()),
                                     kept(loop.getInits(), loop.getBeforeArguments()));
    OpBuilder::InsertionGuard guard(builder);
    auto fill = [&](Block *from, Region &to) {
      const SmallVector<Type> types = typesOf(from->getArguments());
      Block *block = builder.createBlock(&to, {}, types, SmallVector<Location>(types.size(), loc));
      bind(from->getArguments(), block->getArguments());
      clone(*from, builder);
    };
    fill(loop.getBeforeBody(), copy.getBefore());
    scf::ConditionOp test = loop.getConditionOp();
    scf::ConditionOp::create(builder, loc, mapping.lookupOrDefault(test.getCondition()),
                             kept(test.getArgs(), loop.getResults()));
    fill(loop.getAfterBody(), copy.getAfter());
    scf::YieldOp::create(builder, loc,
                         kept(loop.getYieldOp().getResults(), loop.getBeforeArguments()));
    bind(loop.getResults(), copy.getResults());
  }

  void cloneBranch(scf::IfOp branch, OpBuilder &builder) {
    SmallVector<Type> types;
    for (Value result : branch.getResults()) {
      if (slice.needs(result)) {
        types.push_back(result.getType());
      }
    }
    const bool hasElse = branch.elseBlock() != nullptr;
    auto copy = scf::IfOp::create(builder, branch.getLoc(), types,
                                  mapping.lookupOrDefault(branch.getCondition()),
                                  /*addThenBlock=*/false, /*addElseBlock=*/false);
    OpBuilder::InsertionGuard guard(builder);
    auto fill = [&](Block *from, Region &to, Operation *yield) {
      builder.createBlock(&to);
      clone(*from, builder);
      scf::YieldOp::create(builder, branch.getLoc(),
                           kept(yield->getOperands(), branch.getResults()));
    };
    fill(branch.thenBlock(), copy.getThenRegion(), branch.thenYield());
    if (hasElse) {
      fill(branch.elseBlock(), copy.getElseRegion(), branch.elseYield());
    }
    bind(branch.getResults(), copy.getResults());
  }

  const Slice &slice;
  int32_t firstWarp;
  IRMapping mapping;
};

struct SliceRoles : tilec::impl::SliceRolesBase<SliceRoles> {
  void runOnOperation() override {
    tgpu::KernelOp kernel = getOperation();
    const Target *target = getTarget(kernel);
    if (!target) {
      return signalPassFailure();
    }
    const StringRef word = kernel.getWarpSpecialize().value_or("auto");
    std::string reason;
    if (asksForRoles(kernel)) {
      Slice slice(kernel);
      std::optional<RoleRegisters> registers = shareRegisters(kernel, *target);
      reason = refuse(kernel, slice, registers.has_value());
      if (reason.empty()) {
        SmallVector<Post> posts;
        for (const Mail &mail : slice.allMail()) {
          posts.push_back(handOver(mail, kernel.getNumWarps() + kLoadThreads / 32));
        }
        formRoles(kernel, Slice(kernel, posts), *registers);
      } else {
        kernel.emitRemark("all warps have one role: ") << reason;
      }
    } else {
      reason = target->hasTma
                   ? "`@warp_specialize(producer)` asks for it, `" + word.str() + "` does not"
                   : "only targets with TMA have roles of warps";
    }
    if (word == "pingpong") {
      kernel.emitRemark("@warp_specialize(pingpong): warps that compute take no turns yet");
      reason = reason.empty() ? "warps that compute take no turns yet" : reason;
    }
    if (reason.empty()) {
      return;
    }
    WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      return failed(checkRequired(op, "warp_specialize", reason)) ? WalkResult::interrupt()
                                                                  : WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      signalPassFailure();
    }
  }

  static std::string refuse(tgpu::KernelOp kernel, const Slice &slice, bool hasRegisters) {
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
    if (kernel.getThreads() + kLoadThreads > 1024) {
      return "a block has at most 1024 threads, and 128 would load";
    }
    if (!hasRegisters) {
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
  static bool fitsShared(tgpu::KernelOp kernel, const Slice &slice) {
    SmallVector<SharedPiece> pieces =
        collectSharedPieces(kernel, [](tgpu::AllocSharedOp) { return PlannedRing(); });
    int64_t bytes = llvm::alignTo(placeSharedPieces(pieces), 8);
    kernel.walk([&](tgpu::ChannelOp channel) { bytes += channelBytes(channel); });
    for (const Mail &mail : slice.allMail()) {
      bytes += mailBytes(mail);
    }
    return bytes <= getTarget(kernel)->sharedPerBlock;
  }

  static void formRoles(tgpu::KernelOp kernel, const Slice &slice, RoleRegisters registers) {
    Block &body = kernel.getBody().front();
    const auto warps = int32_t(kernel.getThreads() / 32);
    constexpr int32_t loadWarps = kLoadThreads / 32;
    OpBuilder builder(body.getTerminator());
    auto roles = tgpu::RolesOp::create(
        builder, kernel.getLoc(), builder.getStrArrayAttr({"load", "compute"}),
        builder.getDenseI32ArrayAttr({warps, 0}), builder.getDenseI32ArrayAttr({loadWarps, warps}),
        builder.getDenseI32ArrayAttr({int32_t(registers.load), int32_t(registers.compute)}), 2);
    Block &load = roles.getBodies()[kLoadRole].emplaceBlock(),
          &compute = roles.getBodies()[kComputeRole].emplaceBlock();
    builder.setInsertionPointToEnd(&load);
    LoadRole(slice, warps).clone(body, builder);
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
    // What was for all threads of the block is for those that compute.
    roles.getBodies()[kComputeRole].walk([&](tgpu::BarrierOp barrier) {
      if (barrier.getThreads() == 0) {
        barrier.setId(int32_t(barrierOfRole(kComputeRole)));
        barrier.setThreads(int32_t(kernel.getThreads()));
      }
    });
    kernel.setBlockThreads(int32_t(kernel.getThreads() + kLoadThreads));
    if (kernel.getAimedBlocks()) {
      kernel.setAimedBlocks(uint32_t(registers.blocks));
    }
    kernel.emitRemark("roles: ") << loadWarps << " warps load, " << warps << " compute"
                                 << (registers.compute == 0
                                         ? ""
                                         : ", with " + std::to_string(registers.compute) +
                                               " registers a thread");
  }
};

} // namespace
