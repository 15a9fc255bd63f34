//===- LoopEdges.cpp - what has to stay in order in a pipelined loop ------===//
//
// Edges of the graph of LoopGraph.h: by values, by registers of products in flight, by slots of rings, by
// memory. What is not known to be apart meets.
//
//===----------------------------------------------------------------------===//
#include "passes/GlobalAccess.h"
#include "passes/LoopGraph.h"
#include "passes/Pipeline.h"
#include "passes/Sync.h"

using namespace mlir;
using namespace tilec;

void LoopGraph::addEdge(unsigned from, unsigned to, int64_t distance, const char *reason) {
  const bool isKnown = !known.insert({{from, to}, distance}).second;
  if (from != to && !isKnown) {
    kept.push_back({from, to, distance, reason});
  }
}

unsigned LoopGraph::endOf(unsigned unit) const {
  auto found = retires.find(unit);
  return found == retires.end() ? unit : found->second;
}

void LoopGraph::findChained() {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [retire, product] : products) {
    auto wait = cast<tgpu::WgmmaWaitOp>(all[retire].ops.front());
    auto issued = wait.getInputs()[0].getDefiningOp<tgpu::WgmmaOp>();
    auto carried = dyn_cast<BlockArgument>(issued.getAcc());
    const bool isAlone = llvm::count_if(all[product].ops, llvm::IsaPred<tgpu::WgmmaOp>) == 1 &&
                         isa<tgpu::SmemType>(issued.getA().getType()) && !issued.getUseAcc();
    if (!isAlone || !carried || carried.getOwner() != loop.getBody() || !carried.hasOneUse() ||
        carried == loop.getInductionVar() || !issued.getAccumulate()) {
      continue;
    }
    Value next = yield.getOperand(carried.getArgNumber() - loop.getNumInductionVars());
    if (next == wait.getResult(0) && next.hasOneUse()) {
      chained.insert(product);
    }
  }
}

void LoopGraph::addDataEdges() {
  for (unsigned unit = 0; unit < all.size(); ++unit) {
    for (unsigned from : unitsUsedBy(all[unit])) {
      addEdge(from, unit, 0, "it uses its result");
    }
    llvm::SetVector<Value> used;
    for (Operation *op : all[unit].ops) {
      used.insert_range(usedBy(op));
    }
    for (Value value : used) {
      auto argument = dyn_cast<BlockArgument>(value);
      if (!argument || argument.getOwner() != loop.getBody() ||
          argument == loop.getInductionVar()) {
        continue;
      }
      std::optional<unsigned> from =
          carrierOf(argument.getArgNumber() - loop.getNumInductionVars());
      // A product that goes on with its own sum waits for nothing.
      if (from && !(isChained(unit) && productOf(*from) == unit)) {
        addEdge(*from, unit, 1, "it uses what the iteration before has computed");
      }
    }
  }
}

bool LoopGraph::passesSumOn(unsigned retire) const {
  Value sum = all[retire].ops.front()->getResult(0);
  auto isSum = [](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      auto product = dyn_cast<tgpu::WgmmaOp>(user);
      return product && product.getAcc() == value;
    });
  };
  for (OpOperand &use : sum.getUses()) {
    if (isa<scf::YieldOp>(use.getOwner()) && use.getOwner()->getBlock() == loop.getBody() &&
        isSum(loop.getRegionIterArg(use.getOperandNumber()))) {
      return true;
    }
  }
  return isSum(sum);
}

/// A product writes its sum over that of the iteration before: what uses this comes first.
void LoopGraph::addSumEdges(unsigned product, unsigned retire) {
  SmallVector<Value> overwritten;
  for (OpOperand &use : all[retire].ops.front()->getResult(0).getUses()) {
    if (isa<scf::YieldOp>(use.getOwner()) && use.getOwner()->getBlock() == loop.getBody()) {
      overwritten.push_back(loop.getRegionIterArg(use.getOperandNumber()));
    }
  }
  for (Operation *op : all[product].ops) {
    auto issued = dyn_cast<tgpu::WgmmaOp>(op);
    if (issued && (issued.getAccumulate() || issued.getUseAcc())) {
      overwritten.push_back(issued.getAcc());
    }
  }
  for (Value value : overwritten) {
    for (Operation *user : value.getUsers()) {
      Operation *top = loop.getBody()->findAncestorOpInBlock(*user);
      std::optional<unsigned> reader = top ? unitOf(top) : std::nullopt;
      if (reader && *reader < product) {
        addEdge(*reader, product, 0, "it writes a sum that is still used");
      }
    }
  }
}

/// What a loop does with registers is LLVM's to choose: while one runs no product reads any.
void LoopGraph::addLoopEdges(unsigned product, unsigned retire) {
  constexpr const char *reason = "a product that reads registers would be in flight in a loop";
  for (auto [number, unit] : llvm::enumerate(all)) {
    const bool hasLoop = llvm::any_of(unit.ops, [](Operation *top) {
      return top
          ->walk([](Operation *op) {
            return isa<LoopLikeOpInterface>(op) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
    });
    if (!hasLoop) {
      continue;
    }
    if (number < product) {
      addEdge(number, product, 0, reason);
      addEdge(retire, number, 1, reason);
    } else if (number > retire) {
      addEdge(retire, number, 0, reason);
      addEdge(number, product, 1, reason);
    }
  }
}

/// Registers that a product in flight uses are written again only when it has been waited for.
void LoopGraph::addRegisterEdges() {
  for (auto [product, retire] : retires) {
    for (Operation *op : all[product].ops) {
      auto issued = dyn_cast<tgpu::WgmmaOp>(op);
      if (!issued) {
        continue;
      }
      Operation *definition = issued.getA().getDefiningOp();
      if (std::optional<unsigned> from =
              isa<RankedTensorType>(issued.getA().getType()) && definition ? unitOf(definition)
                                                                           : std::nullopt) {
        addEdge(retire, *from, 1, "it writes registers that a product in flight reads");
      }
      if (isa<RankedTensorType>(issued.getA().getType())) {
        addLoopEdges(product, retire);
      }
    }
    addSumEdges(product, retire);
    if (!isChained(product)) {
      addEdge(retire, product, 1, "one product of each kind is in flight");
    }
  }
}

/// Who fills a ring, or hands its slots over, may be in another role.
void LoopGraph::findRings() {
  auto add = [&](Operation *ring, Value channel) {
    if (ring && !llvm::is_contained(ringChannels[ring], channel)) {
      ringChannels[ring].push_back(channel);
    }
  };
  loop->getParentOfType<tgpu::KernelOp>().walk([&](Operation *op) {
    if (auto load = dyn_cast<tgpu::TmaLoadOp>(op)) {
      add(sync::Memory::of(load.getDest()).alloc, load.getChannel());
    }
    if (auto channel = dyn_cast<tgpu::ChannelOp>(op)) {
      for (Value ring : channel.getGuards()) {
        add(ring.getDefiningOp(), channel.getResult());
      }
    }
  });
}

bool LoopGraph::guards(Value channel, Operation *alloc) const {
  auto found = ringChannels.find(alloc);
  return found != ringChannels.end() && llvm::is_contained(found->second, channel);
}

/// The channels that a unit's operations take turns on; if `isNested`, those of its loops and branches that are not its own.
static llvm::SetVector<Value> channelsOf(const Unit &unit, bool isNested) {
  llvm::SetVector<Value> channels;
  for (Operation *top : unit.ops) {
    top->walk([&](Operation *op) {
      for (Value channel : op->getOperands()) {
        if (isa<tgpu::ChannelType>(channel.getType()) &&
            (!isNested || (op != top && channel != unit.channel))) {
          channels.insert(channel);
        }
      }
    });
  }
  return channels;
}

/// A loop or branch inside that takes turns at a ring itself: what the body does with that ring stays
/// where it is beside it.
void LoopGraph::addNestedChannelEdges() {
  SmallVector<llvm::SetVector<Value>> nested, used;
  for (const Unit &unit : all) {
    nested.push_back(channelsOf(unit, /*isNested=*/true));
    used.push_back(channelsOf(unit, /*isNested=*/false));
  }
  auto isShared = [&](unsigned holder, unsigned other) {
    return llvm::any_of(nested[holder],
                        [&](Value channel) { return used[other].contains(channel); });
  };
  constexpr const char *reason = "a loop or branch inside takes turns at the same ring";
  for (unsigned first = 0; first < all.size(); ++first) {
    for (unsigned second = first; second < all.size(); ++second) {
      if (isShared(first, second) || isShared(second, first)) {
        addEdge(first, second, 0, reason);
        addEdge(second, first, 1, reason);
      }
    }
  }
}

/// Roles that share a serial program wait for each other. What one waits for stays behind what it gives others before, in its
/// iteration: else they might wait for that.
void LoopGraph::addTurnEdges() {
  auto kernel = loop->getParentOfType<tgpu::KernelOp>();
  if (kernel.getWarpSpecialize() != "operations" || !loop->getParentOfType<tgpu::RolesOp>()) {
    return;
  }
  auto has = [&](const Unit &unit, llvm::function_ref<bool(Operation *)> isTurn) {
    return llvm::any_of(unit.ops, [&](Operation *top) {
      return top
          ->walk([&](Operation *op) {
            return isTurn(op) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
    });
  };
  auto gives = llvm::IsaPred<tgpu::PublishOp, tgpu::ExpectOp>;
  auto waits = llvm::IsaPred<tgpu::WaitOp, tgpu::AcquireOp>;
  SmallVector<unsigned> givers;
  for (auto [number, unit] : llvm::enumerate(all)) {
    if (unit.kind != Unit::Kind::Fill && has(unit, waits)) {
      for (unsigned giver : givers) {
        addEdge(giver, number, 0, "it waits behind what its role gives others");
      }
    }
    const bool isNested = unit.kind == Unit::Kind::Other && unit.ops.front()->getNumRegions() != 0;
    if (has(unit, gives) || (isNested && has(unit, llvm::IsaPred<tgpu::ReleaseOp>))) {
      givers.push_back(number);
    }
  }
}

/// A release that some wait for.
static bool isGivenBack(Value channel) {
  return llvm::any_of(channel.getUsers(), llvm::IsaPred<tgpu::ReleaseOp>);
}

void LoopGraph::addChannelEdges() {
  struct Uses {
    SmallVector<unsigned, 1> fills, waits, releases;
  };
  llvm::MapVector<Value, Uses> channels;
  for (auto [number, unit] : llvm::enumerate(all)) {
    if (unit.kind == Unit::Kind::Fill) {
      channels[unit.channel].fills.push_back(number);
      unit.ops.front()->walk([&](tgpu::TmaLoadOp load) {
        if (load.getChannel() != unit.channel) {
          irregularity = "one thread fills slots of two channels";
        }
      });
    } else if (unit.kind == Unit::Kind::Wait) {
      channels[unit.channel].waits.push_back(number);
    } else if (unit.kind == Unit::Kind::Release) {
      channels[unit.channel].releases.push_back(number);
    }
  }
  for (auto &entry : channels) {
    const Value channel = entry.first;
    const Uses &uses = entry.second;
    if (uses.waits.size() > 1 || uses.fills.size() > 1 ||
        (uses.releases.size() != uses.waits.size() && isGivenBack(channel))) {
      irregularity = "a slot is filled, awaited or released twice in an iteration";
      regularChannels = false;
      continue;
    }
    SmallVector<unsigned> readers;
    for (auto [number, unit] : llvm::enumerate(all)) {
      const bool reads =
          unit.kind != Unit::Kind::Fill && llvm::any_of(unit.ops, [&](Operation *top) {
            return top
                ->walk([&](Operation *op) {
                  return llvm::any_of(sync::accessesOf(op),
                                      [&](const sync::Access &access) {
                                        return access.memory.alloc &&
                                               guards(channel, access.memory.alloc);
                                      })
                             ? WalkResult::interrupt()
                             : WalkResult::advance();
                })
                .wasInterrupted();
          });
      if (reads) {
        readers.push_back(number);
      }
    }
    for (unsigned wait : uses.waits) {
      for (unsigned reader : readers) {
        addEdge(wait, reader, 0, "it reads a slot that has to be full");
      }
      for (unsigned release : uses.releases) {
        addEdge(wait, release, 0, "it gives back a slot that has to be full");
      }
      for (unsigned fill : uses.fills) {
        addEdge(fill, wait, 0, "it waits for a slot that has to be filled");
      }
    }
    for (unsigned release : uses.releases) {
      for (unsigned reader : readers) {
        addEdge(endOf(reader), release, 0, "it gives back a slot that is still read");
      }
      for (unsigned fill : uses.fills) {
        addEdge(release, fill, depthOf(channel), "it fills a slot that has to be given back");
      }
      for (unsigned wait : uses.waits) { // whoever fills it
        addEdge(release, wait, depthOf(channel), "it waits for a slot that has to be given back");
      }
    }
  }
}

struct tilec::Touched {
  struct Part {
    Operation *alloc; ///< of shared memory; null: see `base`
    BlockArgument base;
    bool isGlobal = false, isMessage = false, write = false;
  };
  SmallVector<Part> parts;
  bool isOpaque = false; ///< does what nothing is known of
  bool orders = false;   ///< what the block's threads do, but for reads of global memory

  bool onlyReadsGlobal() const {
    return !isOpaque && !orders &&
           llvm::all_of(parts, [](const Part &part) { return part.isGlobal && !part.write; });
  }
};

Touched LoopGraph::touchedBy(const Unit &unit) const {
  Touched touched;
  // Who takes a slot and hands it over does so before and behind what it writes there.
  auto touchRings = [&](Value channel) {
    bool any = false;
    for (auto alloc : loop->getParentOfType<tgpu::KernelOp>().getOps<tgpu::AllocSharedOp>()) {
      if (guards(channel, alloc)) {
        touched.parts.push_back({alloc, {}, false, false, true});
        any = true;
      }
    }
    return any;
  };
  for (Operation *top : unit.ops) {
    top->walk([&](Operation *op) {
      SmallVector<sync::Access, 2> accesses = sync::accessesOf(op);
      for (const sync::Access &access : accesses) {
        const sync::Memory &memory = access.memory;
        const bool writes = access.write || access.atomic;
        if (memory.global) {
          touched.parts.push_back({nullptr, memory.global->base, true, false, writes});
        } else if (memory.messages) {
          touched.parts.push_back({nullptr, {}, false, true, true});
        } else if (memory.alloc) {
          touched.parts.push_back({memory.alloc, {}, false, false, writes});
        }
      }
      if (isa<tile::VerifyOp>(op)) { // what it finds goes where messages go
        touched.parts.push_back({nullptr, {}, false, true, true});
      }
      const bool takesTurn =
          isa<tgpu::AcquireOp, tgpu::PublishOp>(op) && touchRings(op->getOperand(0));
      const bool isKnown =
          !accesses.empty() || takesTurn || isa<tile::VerifyOp>(op) ||
          op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || isMemoryEffectFree(op) ||
          op->hasTrait<OpTrait::IsTerminator>() ||
          isa<tgpu::WgmmaFenceOp, tgpu::WgmmaOp, tgpu::WgmmaCommitOp, tgpu::WgmmaWaitOp,
              tgpu::ConvertLayoutOp, tgpu::AllocSharedOp, tgpu::ExpectOp, tgpu::AcquireOp>(op);
      const bool isOrder =
          isa<tgpu::BarrierOp, tgpu::BarrierArriveOp, tgpu::FenceAsyncOp, tgpu::CpAsyncCommitOp,
              tgpu::CpAsyncWaitOp, tgpu::TmaStoreCommitOp, tgpu::TmaStoreWaitOp>(op);
      touched.orders |= isOrder;
      touched.isOpaque |= (!isKnown && !isOrder) || ordersGlobal(op);
    });
  }
  return touched;
}

void LoopGraph::addMemoryEdges() {
  SmallVector<std::pair<unsigned, Touched>> touching;
  for (auto [number, unit] : llvm::enumerate(all)) {
    if (llvm::is_contained({Unit::Kind::Fill, Unit::Kind::Wait, Unit::Kind::Release,
                            Unit::Kind::Retire, Unit::Kind::Stream, Unit::Kind::Row},
                           unit.kind)) {
      continue;
    }
    Touched touched = touchedBy(unit);
    if (touched.isOpaque || touched.orders || !touched.parts.empty()) {
      touching.emplace_back(number, std::move(touched));
    }
  }
  auto isAwaited = [&](Value channel) { // not in a loop inside
    return llvm::any_of(all, [&](const Unit &unit) {
      return unit.kind == Unit::Kind::Wait && unit.channel == channel;
    });
  };
  enum Meeting { Never, InIteration, Anywhere };
  auto meet = [&](const Touched &x, const Touched &y) {
    if (x.isOpaque || y.isOpaque) {
      return Anywhere;
    }
    if (x.orders || y.orders) {
      return x.onlyReadsGlobal() || y.onlyReadsGlobal() ? Never : Anywhere;
    }
    Meeting result = Never;
    for (const Touched::Part &a : x.parts) {
      for (const Touched::Part &b : y.parts) {
        if ((!a.write && !b.write) || a.isGlobal != b.isGlobal || a.isMessage != b.isMessage ||
            a.alloc != b.alloc || (a.isGlobal && !mayOverlap(a.base, b.base))) {
          continue;
        }
        // The next iteration has another slot.
        auto channels = ringChannels.find(a.alloc);
        const bool isRing =
            channels != ringChannels.end() && llvm::any_of(channels->second, [&](Value channel) {
              return depthOf(channel) > 1 && isAwaited(channel);
            });
        result = std::max(result, isRing ? InIteration : Anywhere);
      }
    }
    return result;
  };
  constexpr const char *reason = "they access the same memory";
  for (size_t i = 0; i < touching.size(); ++i) {
    for (size_t j = i; j < touching.size(); ++j) {
      auto &[first, touched] = touching[i];
      auto &[second, others] = touching[j];
      const Meeting meeting = meet(touched, others);
      if (meeting == Never) {
        continue;
      }
      if (i != j) {
        addEdge(endOf(first), second, 0, reason);
      }
      if (meeting == Anywhere) {
        addEdge(endOf(second), first, 1, reason);
      }
    }
  }
}
