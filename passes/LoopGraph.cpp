//===- LoopGraph.cpp - what must stay in order in a pipelined loop --------===//
#include "passes/LoopGraph.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Pipeline.h"
#include "passes/Sync.h"

using namespace mlir;
using namespace tilec;

bool tilec::countsIterations(scf::ForOp loop) {
  return loop.getInductionVar().getType().isInteger(32) &&
         matchPattern(loop.getLowerBound(), m_Zero()) && matchPattern(loop.getStep(), m_One());
}

LoopGraph::LoopGraph(scf::ForOp loop) : loop(loop) {
  findRecomputed();
  findRings();
  makeUnits();
  findChained();
  addDataEdges();
  addRegisterEdges();
  addChannelEdges();
  addNestedChannelEdges();
  addTurnEdges();
  addMemoryEdges();
  joinStreams();
}

std::optional<unsigned> LoopGraph::unitOf(Operation *op) const {
  auto found = places.find(op);
  return found == places.end() ? std::nullopt : std::optional(found->second);
}

std::optional<unsigned> LoopGraph::carrierOf(unsigned argument) const {
  Operation *definition = loop.getBody()->getTerminator()->getOperand(argument).getDefiningOp();
  return definition ? unitOf(definition) : std::nullopt;
}

std::optional<unsigned> LoopGraph::retireOf(unsigned product) const {
  auto found = retires.find(product);
  return found == retires.end() ? std::nullopt : std::optional(found->second);
}

std::optional<unsigned> LoopGraph::productOf(unsigned retire) const {
  auto found = products.find(retire);
  return found == products.end() ? std::nullopt : std::optional(found->second);
}

int64_t LoopGraph::depthOf(Value channel) {
  return cast<tgpu::ChannelType>(channel.getType()).getSlots();
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// A tile that is cheaper to make again than to keep.
static bool makesConstantTile(Operation *op) {
  return isa<tile::SplatOp, tgpu::CoordinateOp, arith::ConstantOp>(op);
}

/// Views and slots are names of memory, which are made anew where they are used, whatever tells where they
/// are.
static bool isView(Operation *op) {
  return op->getNumResults() == 1 && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         isa<tile::GlobalType, tgpu::SmemType>(op->getResult(0).getType());
}

/// What tells loads that run ahead where to read: tiles of indices and masks are computed with the load.
static llvm::DenseSet<Operation *> neededEarly(scf::ForOp loop) {
  SmallVector<Operation *> pending;
  for (Operation &op : loop.getBody()->without_terminator()) {
    tgpu::StageAttr place = tgpu::kSchedule.get(&op);
    if (place && place.getStage() < 0 && loadsFragment(&op)) {
      pending.push_back(&op);
    }
  }
  llvm::DenseSet<Operation *> needed;
  while (!pending.empty()) {
    for (Value operand : pending.pop_back_val()->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (definition && definition->getBlock() == loop.getBody() &&
          needed.insert(definition).second) {
        pending.push_back(definition);
      }
    }
  }
  return needed;
}

void LoopGraph::findRecomputed() {
  const llvm::DenseSet<Operation *> early = neededEarly(loop);
  auto isKnown = [&](Value value) {
    if (value == loop.getInductionVar() ||
        !loop->isAncestor(value.getParentBlock()->getParentOp())) {
      return true;
    }
    Operation *definition = value.getDefiningOp();
    return definition && recomputed.contains(definition);
  };
  auto isStable = [&](Value global) {
    return !loop.walk([&](Operation *op) {
                  return mayChange(op, global) ? WalkResult::interrupt() : WalkResult::advance();
                })
                .wasInterrupted();
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isView(&op)) {
      views.insert(&op);
    }
    if (op.getNumRegions() != 0 || !llvm::all_of(op.getOperands(), isKnown)) {
      continue;
    }
    const bool hasTiles = llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
    if (hasTiles && !makesConstantTile(&op) && !early.contains(&op)) {
      continue;
    }
    Value read = globalRead(&op);
    if (isMemoryEffectFree(&op) || (read && isStable(read))) {
      recomputed.insert(&op);
    }
  }
}

bool tilec::isSlotFill(Operation *op) {
  return isa<tgpu::OneThreadOp>(op) &&
         llvm::any_of(op->getRegion(0).front(), llvm::IsaPred<tgpu::AcquireOp>) &&
         llvm::any_of(op->getRegion(0).front(), llvm::IsaPred<tgpu::TmaLoadOp>);
}

static Unit makeUnit(Operation *op) {
  if (isSlotFill(op)) {
    for (auto acquire : op->getRegion(0).front().getOps<tgpu::AcquireOp>()) {
      return {Unit::Kind::Fill, {op}, acquire.getChannel()};
    }
  }
  if (isa<tgpu::WgmmaFenceOp>(op)) {
    return {Unit::Kind::Product, {op}, {}};
  }
  if (isa<tgpu::WgmmaWaitOp>(op)) {
    return {Unit::Kind::Retire, {op}, {}};
  }
  if (auto wait = dyn_cast<tgpu::WaitOp>(op)) {
    return {Unit::Kind::Wait, {op}, wait.getChannel()};
  }
  if (auto release = dyn_cast<tgpu::ReleaseOp>(op)) {
    return {Unit::Kind::Release, {op}, release.getChannel()};
  }
  const bool isPure = op->getNumRegions() == 0 && isMemoryEffectFree(op);
  if (!isPure) {
    return {Unit::Kind::Other, {op}, {}};
  }
  // Rows of a tile have few slots in each thread.
  auto tile = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                       : RankedTensorType();
  return {tile && tile.getRank() > 1 && tgpu::isSlotwise(op) ? Unit::Kind::Stream : Unit::Kind::Row,
          {op},
          {}};
}

/// True if a loop or branch of the body takes turns at the ring of `channel`.
bool LoopGraph::hasNestedTurns(Value channel) const {
  return llvm::any_of(channel.getUsers(), [&](Operation *user) {
    Operation *top = loop.getBody()->findAncestorOpInBlock(*user);
    return top && top != user && !isSlotFill(top);
  });
}

void LoopGraph::makeUnits() {
  std::optional<unsigned> product;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isRecomputed(&op)) {
      continue;
    }
    if (product) {
      all[*product].ops.push_back(&op);
      places[&op] = *product;
      if (isa<tgpu::WgmmaCommitOp>(op)) {
        product.reset();
      } else if (!isa<tgpu::WgmmaOp>(op)) {
        irregularity = "a product is not whole between its fence and its commit";
      }
      continue;
    }
    Unit unit = makeUnit(&op);
    if (unit.kind == Unit::Kind::Product) {
      product = all.size();
    }
    if (isa<tgpu::WgmmaOp, tgpu::WgmmaCommitOp, tgpu::WgmmaBeginOp>(op)) {
      irregularity = "a product has no fence of its own";
    }
    if (unit.kind != Unit::Kind::Fill && op.getNumRegions() != 0) {
      op.walk([&](Operation *inner) {
        if (isa<tgpu::WgmmaOp>(inner)) {
          irregularity = "a loop or branch inside of it has products of its own";
        } else if (isa<tgpu::WaitOp, tgpu::ReleaseOp, tgpu::AcquireOp>(inner)) {
          irregularity = "a loop or branch inside of it waits for slots";
        }
      });
    }
    places[&op] = all.size();
    all.push_back(unit);
  }
  if (product) {
    irregularity = "a product is not whole between its fence and its commit";
  }
  // The slots of a loop inside are its own to wait for and to give back: what it finds filled is work like any
  // other.
  for (Unit &unit : all) {
    if (unit.kind == Unit::Kind::Fill && hasNestedTurns(unit.channel)) {
      unit = {Unit::Kind::Other, unit.ops, {}};
    }
  }
  for (auto [number, unit] : llvm::enumerate(all)) {
    if (unit.kind != Unit::Kind::Retire) {
      continue;
    }
    auto wait = cast<tgpu::WgmmaWaitOp>(unit.ops.front());
    Operation *issued =
        wait.getInputs().size() == 1 ? wait.getInputs()[0].getDefiningOp() : nullptr;
    std::optional<unsigned> of = issued ? unitOf(issued) : std::nullopt;
    if (!of || all[*of].kind != Unit::Kind::Product || retires.contains(*of)) {
      irregularity = "a wait is not for one product of the same iteration";
      continue;
    }
    retires[*of] = number;
    products[number] = *of;
  }
  for (auto [number, unit] : llvm::enumerate(all)) {
    if (unit.kind == Unit::Kind::Product && !retires.contains(number)) {
      irregularity = "a product is not waited for in its iteration";
    }
  }
}

llvm::SetVector<Value> LoopGraph::usedBy(Operation *op) const {
  llvm::SetVector<Value> pending(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), pending);
  llvm::SetVector<Value> used;
  for (size_t at = 0; at < pending.size(); ++at) {
    const Value value = pending[at];
    Operation *definition = value.getDefiningOp();
    if (definition && views.contains(definition)) {
      pending.insert(definition->operand_begin(), definition->operand_end());
    } else {
      used.insert(value);
    }
  }
  return used;
}

llvm::SetVector<unsigned> LoopGraph::unitsUsedBy(const Unit &unit) const {
  llvm::SetVector<unsigned> units;
  for (Operation *op : unit.ops) {
    for (Value value : usedBy(op)) {
      Operation *definition = value.getDefiningOp();
      if (std::optional<unsigned> from = definition ? unitOf(definition) : std::nullopt) {
        units.insert(*from);
      }
    }
  }
  return units;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// Element-wise operations of one shape and layout that use each other are one stream, unless what
/// one needs of another goes through something outside of it. The number of a group for each unit.
SmallVector<unsigned> LoopGraph::groupStreams() const {
  SmallVector<unsigned> group(llvm::to_vector(llvm::seq<unsigned>(0, all.size())));
  // What a unit has to follow in its iteration, and whose results it uses.
  SmallVector<llvm::SetVector<unsigned>, 0> follows(all.size()), uses;
  for (const Edge &edge : kept) {
    if (edge.distance == 0) {
      follows[edge.to].insert(edge.from);
    }
  }
  for (const Unit &unit : all) {
    uses.push_back(unitsUsedBy(unit));
  }
  // Whether group `to` needs group `from` through a third one.
  auto needsThroughOthers = [&](unsigned to, unsigned from) {
    llvm::SetVector<unsigned> seen;
    SmallVector<unsigned> pending = {to};
    while (!pending.empty()) {
      const unsigned at = pending.pop_back_val();
      for (unsigned unit = 0; unit < all.size(); ++unit) {
        for (unsigned used :
             group[unit] == at ? follows[unit].getArrayRef() : ArrayRef<unsigned>()) {
          const unsigned next = group[used];
          if (next == from && at != to) {
            return true;
          }
          if (next != from && next != at && seen.insert(next)) {
            pending.push_back(next);
          }
        }
      }
    }
    return false;
  };
  // What comes behind the wait for a product would keep what comes before waiting, and alive.
  auto isWaitBetween = [&](unsigned first, unsigned second) {
    return llvm::any_of(llvm::seq(first, second),
                        [&](unsigned unit) { return all[unit].kind == Unit::Kind::Retire; });
  };
  auto typeOf = [&](unsigned unit) {
    return cast<RankedTensorType>(all[unit].ops.front()->getResult(0).getType());
  };
  for (unsigned unit = 0; unit < all.size(); ++unit) {
    for (unsigned used : uses[unit]) {
      const unsigned a = group[used], b = group[unit];
      if (a == b || all[unit].kind != Unit::Kind::Stream || all[used].kind != Unit::Kind::Stream ||
          typeOf(unit).getShape() != typeOf(used).getShape() ||
          typeOf(unit).getEncoding() != typeOf(used).getEncoding() || isWaitBetween(used, unit) ||
          needsThroughOthers(b, a) || needsThroughOthers(a, b)) {
        continue;
      }
      llvm::replace(group, b, a);
    }
  }
  return group;
}

/// A stream stands where the last of its operations does.
void LoopGraph::joinStreams() {
  const SmallVector<unsigned> group = groupStreams();
  SmallVector<unsigned> last(all.size(), 0);
  for (unsigned unit = 0; unit < all.size(); ++unit) {
    last[group[unit]] = unit;
  }
  SmallVector<Unit, 0> joined;
  SmallVector<unsigned> number(all.size());
  for (unsigned unit = 0; unit < all.size(); ++unit) {
    if (last[group[unit]] != unit) {
      continue;
    }
    number[group[unit]] = joined.size();
    Unit &into = joined.emplace_back(Unit{all[unit].kind, {}, all[unit].channel});
    for (unsigned member = 0; member <= unit; ++member) {
      if (group[member] == group[unit]) {
        into.ops.append(all[member].ops);
      }
    }
    for (Operation *op : into.ops) {
      places[op] = joined.size() - 1;
    }
  }
  for (auto *map : {&retires, &products}) {
    llvm::DenseMap<unsigned, unsigned> fresh;
    for (auto [from, to] : *map) {
      fresh[number[group[from]]] = number[group[to]];
    }
    *map = std::move(fresh);
  }
  llvm::DenseSet<unsigned> freshChained;
  for (unsigned product : chained) {
    freshChained.insert(number[group[product]]);
  }
  chained = std::move(freshChained);
  SmallVector<Edge, 0> edges = std::move(kept);
  kept.clear();
  known.clear();
  for (const Edge &edge : edges) {
    addEdge(number[group[edge.from]], number[group[edge.to]], edge.distance, edge.reason);
  }
  all = std::move(joined);
}
