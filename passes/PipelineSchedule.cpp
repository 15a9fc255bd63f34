//===- PipelineSchedule.cpp - does a schedule mean what its loop means? ---===//
//
// A schedule may let operations of different iterations change places. It means the same as the
// serial loop if for each two accesses of one piece of memory, one of them a write, the order
// stays. Two such operations of one stage keep it, in an iteration (order of the body) and between
// iterations (steps). Of different stages they would meet in one step, from different iterations,
// so they are a conflict, with one exception: what fills a ring of n slots is n steps away from the
// next one that fills the same slot, and whoever uses the slot does it in between.
//
// A load of global memory into a fragment has no slot: its value is carried from the step of the load to
// that of the work. What it reads nothing in the loop may write, as for a fill.
//
//===----------------------------------------------------------------------===//
#include "passes/Pipeline.h"
#include "passes/Sync.h"

using namespace mlir;
using namespace tilec;

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

int64_t tilec::stageOf(Operation *op, int64_t stages) {
  auto stage = tgpu::kSchedule.get(op);
  return stage ? stage.getStage() : stages - 1;
}

void tilec::setStage(Operation *op, int64_t stage, int64_t order) {
  tgpu::kSchedule.set(op, tgpu::StageAttr::get(op->getContext(), stage, order, 0));
}

bool tilec::isFill(Operation *op, int64_t stages) {
  auto copy = dyn_cast<tgpu::CopyOp>(op);
  return copy && copy.getPath() != tgpu::CopyPath::Vector &&
         isa<tgpu::SmemType>(copy.getDest().getType()) && tgpu::kSchedule.has(op) &&
         stageOf(op, stages) == 0;
}

bool tilec::isEarlyLoad(Operation *op, int64_t stages) {
  return tgpu::kSchedule.has(op) && stageOf(op, stages) < stages - 1 && loadsFragment(op);
}

bool tilec::isRecomputable(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar() || !loop->isAncestor(value.getParentBlock()->getParentOp())) {
    return true;
  }
  Operation *definition = value.getDefiningOp();
  return definition && definition->getBlock() == loop.getBody() &&
         definition->getNumRegions() == 0 &&
         (isMemoryEffectFree(definition) || globalRead(definition)) &&
         llvm::all_of(definition->getOperands(),
                      [&](Value operand) { return isRecomputable(operand, loop); });
}

//===----------------------------------------------------------------------===//
// What may leave its place
//===----------------------------------------------------------------------===//

llvm::SetVector<Operation *> tilec::findFirstReads(scf::ForOp loop) {
  auto products = loop.getBody()->getOps<tgpu::MmaOp>();
  if (products.empty()) {
    return {};
  }
  tgpu::MmaOp first = *products.begin();
  SmallVector<Operation *> pending = {first.getA().getDefiningOp(), first.getB().getDefiningOp()};
  llvm::SetVector<Operation *> reads, inOrder;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (!op || op->getBlock() != loop.getBody()) {
      continue;
    }
    if (!isa<tgpu::LocalLoadOp, tgpu::SubviewOp, tile::TransposeOp>(op)) {
      return {};
    }
    reads.insert(op);
    for (Value operand : op->getOperands()) {
      pending.push_back(operand.getDefiningOp());
    }
  }
  // An operand that comes from outside or from the iteration before is not read here.
  for (Value operand : {first.getA(), first.getB()}) {
    if (!reads.contains(operand.getDefiningOp())) {
      return {};
    }
  }
  for (Operation &op : *loop.getBody()) {
    if (reads.contains(&op)) {
      inOrder.insert(&op);
    }
  }
  return inOrder;
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

Value tilec::globalRead(Operation *op) {
  Value source;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    source = load.getSource();
  } else if (auto load = dyn_cast<tgpu::LoadOp>(op)) {
    source = load.getSource();
  } else if (auto gather = dyn_cast<tgpu::GatherOp>(op)) {
    source = gather.getSource();
  }
  return source && isa<tile::GlobalType>(source.getType()) ? source : Value();
}

bool tilec::loadsFragment(Operation *op) {
  return globalRead(op) && isa<RankedTensorType>(op->getResult(0).getType());
}

SmallVector<Value> tilec::placeOf(Operation *access) {
  auto copy = dyn_cast<tgpu::CopyOp>(access);
  return copy ? SmallVector<Value>{copy.getSource()} : SmallVector<Value>(access->getOperands());
}

SmallVector<Value> tilec::globalReads(Operation *access, scf::ForOp loop) {
  SmallVector<Value> pending = placeOf(access);
  SmallVector<Value> reads = {isa<tgpu::CopyOp>(access) ? pending.front() : globalRead(access)};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || !seen.insert(op).second) {
      continue;
    }
    if (Value read = globalRead(op)) {
      reads.push_back(read);
    }
    llvm::append_range(pending, op->getOperands());
  }
  return reads;
}

/// True if something in `loop` may write the global memory that `access` reads in other iterations.
static bool isSourceWritten(Operation *access, scf::ForOp loop) {
  SmallVector<Value> reads = globalReads(access, loop);
  return loop
      .walk([&](Operation *op) {
        const bool changes = llvm::any_of(reads, [&](Value read) { return mayChange(op, read); });
        return changes ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

std::string tilec::refuseAhead(Operation *access, scf::ForOp loop) {
  if (!llvm::all_of(placeOf(access), [&](Value value) { return isRecomputable(value, loop); })) {
    return "where it reads from depends on what the loop computes";
  }
  return isSourceWritten(access, loop) ? "the loop writes to the tensor that it reads" : "";
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

namespace {

/// An access of shared memory by an operation of the body, or inside one.
struct Use {
  Operation *top; ///< the operation of the body
  sync::Access access;
  int64_t stage;
};

class CopySchedule {
public:
  CopySchedule(scf::ForOp loop, int64_t stages) : loop(loop), stages(stages) {
    for (Operation &top : loop.getBody()->without_terminator()) {
      if (isFill(&top, stages)) {
        auto copy = cast<tgpu::CopyOp>(top);
        fills[copy.getDest().getDefiningOp()] = copy;
      }
      top.walk([&](Operation *op) {
        for (const sync::Access &access : sync::accessesOf(op)) {
          uses.push_back({&top, access, stageOf(&top, stages)});
        }
      });
    }
  }

  std::optional<Conflict> findConflict() {
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (isFill(&op, stages) || isEarlyLoad(&op, stages)) {
        if (std::string reason = refuseAhead(&op, loop); !reason.empty()) {
          return Conflict{&op, loop, reason};
        }
      }
    }
    for (size_t i = 0; i < uses.size(); ++i) {
      for (size_t j = i; j < uses.size(); ++j) {
        std::optional<Conflict> conflict = between(uses[i], uses[j]);
        if (conflict) {
          return conflict;
        }
      }
    }
    return std::nullopt;
  }

private:
  /// What is wrong between two uses, `x` not after `y` in the body.
  std::optional<Conflict> between(const Use &x, const Use &y) {
    if ((!x.access.write && !y.access.write) || !x.access.memory.overlaps(y.access.memory)) {
      return std::nullopt;
    }
    auto filled = fills.find(x.access.memory.alloc);
    if (filled != fills.end() && x.access.memory.alloc == y.access.memory.alloc) {
      if (x.top == filled->second && (y.top == x.top || !y.access.write)) {
        return std::nullopt;
      }
      if (y.top == filled->second && !x.access.write) {
        return Conflict{y.top, x.top, "the buffer is used before it is filled"};
      }
      return Conflict{filled->second, y.access.write ? y.top : x.top,
                      "the buffer is written twice in an iteration"};
    }
    if (x.stage == y.stage) {
      return std::nullopt;
    }
    const bool xMoved = x.stage != stages - 1;
    return Conflict{xMoved ? x.top : y.top, xMoved ? y.top : x.top,
                    "the loop also writes what it reads"};
  }

  scf::ForOp loop;
  int64_t stages;
  llvm::MapVector<Operation *, tgpu::CopyOp> fills; ///< buffer to the copy that fills its ring
  SmallVector<Use, 0> uses;                         ///< in the order of the body
};

} // namespace

std::optional<Conflict> tilec::findConflict(scf::ForOp loop, int64_t stages) {
  return CopySchedule(loop, stages).findConflict();
}
