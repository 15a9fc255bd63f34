//===- ScheduleOrder.cpp - the order of a step of a loop ------------------===//
#include "passes/SchedulePlanner.h"
#include "passes/UnitPrices.h"

using namespace mlir;
using namespace tilec;

/// Clocks of exponentials from which on a wait goes into them.
constexpr int64_t kHoldClocks = 64;

bool SchedulePlanner::isMain(unsigned unit) const {
  return !llvm::is_contained({Unit::Kind::Fill, Unit::Kind::Wait, Unit::Kind::Release},
                             graph.units()[unit].kind);
}

/// True for what makes a slot ready for the products that read it, and is good for nothing else: zeros beyond the bounds of a view.
bool SchedulePlanner::isPreparation(unsigned unit) const {
  // What stores a tile lets its registers go, and is not put off.
  auto hasTiles = [&](Operation *op) {
    return op->getNumResults() != 0 || llvm::any_of(graph.usedBy(op), [](Value value) {
             return isa<RankedTensorType>(value.getType());
           });
  };
  if (graph.units()[unit].kind != Unit::Kind::Other ||
      llvm::any_of(graph.units()[unit].ops, hasTiles)) {
    return false;
  }
  bool prepares = false;
  for (const Edge &edge : graph.edges()) {
    if (edge.from == unit && edge.distance == 0 && isMain(edge.to)) {
      if (graph.units()[edge.to].kind != Unit::Kind::Product) {
        return false;
      }
      prepares = true;
    }
  }
  return prepares;
}

bool SchedulePlanner::planOrder(bool reordered) {
  order.clear();
  llvm::BitVector taken(graph.units().size()), prepares(graph.units().size());
  SmallVector<int64_t> issued(graph.units().size(), -1), ranks;
  for (unsigned unit = 0; unit < graph.units().size(); ++unit) {
    ranks.push_back(isDrawn ? random() % 1000 : 0);
    prepares[unit] = isPreparation(unit);
  }
  auto isReady = [&](unsigned unit) {
    // What goes on with its sum does so before it is waited for.
    std::optional<unsigned> product = graph.productOf(unit);
    if (product && llvm::is_contained(deferred, *product) && !taken.test(*product)) {
      return false;
    }
    return llvm::none_of(inEdges[unit], [&](const Edge &edge) {
      return isMain(edge.from) && kernelDistance(edge) == 0 && !taken.test(edge.from);
    });
  };
  auto rank = [&](unsigned unit) {
    using Rank = std::tuple<int64_t, int64_t, int64_t>;
    const Unit::Kind kind = graph.units()[unit].kind;
    if (isDrawn) {
      return Rank(0, ranks[unit], unit);
    }
    if (stage[unit] < 0) {
      return Rank(0, 0, unit); // loads for later iterations, as early as they can be
    }
    if (!reordered) {
      return Rank(1, 0, unit);
    }
    if (kind == Unit::Kind::Retire && graph.productOf(unit)) {
      // Of those in flight the oldest first.
      const unsigned product = *graph.productOf(unit);
      const bool isOfBefore = stage[unit] > stage[product];
      return Rank(3, isOfBefore ? -1 : issued[product], unit);
    }
    return Rank(kind == Unit::Kind::Product || prepares.test(unit) ? 1 : 2, stage[unit], unit);
  };
  const unsigned count = llvm::count_if(llvm::seq<unsigned>(0, graph.units().size()),
                                        [&](unsigned unit) { return isMain(unit); });
  while (order.size() < count) {
    std::optional<unsigned> best;
    for (unsigned unit = 0; unit < graph.units().size(); ++unit) {
      if (isMain(unit) && !taken.test(unit) && isReady(unit) &&
          (!best || rank(unit) < rank(*best))) {
        best = unit;
      }
    }
    if (!best) {
      return false;
    }
    taken.set(*best);
    issued[*best] = order.size();
    order.push_back({*best, {}, 0});
  }
  return true;
}

/// A wait for a product, with what it lets go, moves into the exponentials before it.
void SchedulePlanner::holdRetires() {
  for (size_t at = 0; at < order.size(); ++at) {
    const unsigned retire = order[at].unit;
    std::optional<unsigned> product = graph.productOf(retire);
    if (!product || stage[retire] != stage[*product] || graph.passesSumOn(retire)) {
      continue;
    }
    // Not before anything that it needs.
    size_t first = 0;
    for (const Edge &edge : graph.edges()) {
      if (edge.to == retire && isMain(edge.from) && kernelDistance(edge) == 0) {
        auto *need = llvm::find_if(order, [&](const Place &p) { return p.unit == edge.from; });
        first = std::max<size_t>(first, need - order.begin() + 1);
      }
    }
    for (size_t into = at; into-- > first;) {
      Place &stream = order[into];
      const Unit &work = graph.units()[stream.unit];
      const int64_t special = work.kind == Unit::Kind::Stream ? specialClocks(work) : 0;
      if (work.kind == Unit::Kind::Stream && draws(1, 2) && stream.events.empty()) {
        stream.hold = 1 + random() % 100;
        stream.events.push_back(retire);
        order.erase(order.begin() + at);
        --at;
        break;
      }
      if (isDrawn || special < kHoldClocks) {
        continue;
      }
      const int64_t share = 40 * tensorClocks(graph.units()[*graph.productOf(retire)]) / special;
      IntegerAttr asked = tile::kHold.get(graph.getLoop());
      const int64_t hold = asked        ? asked.getInt()
                           : share < 13 ? 0
                           : share < 31 ? 25
                           : share < 44 ? 37
                                        : 50;
      if (hold != 0 && (stream.events.empty() || stream.hold == hold)) {
        stream.hold = hold;
        stream.events.push_back(retire);
        order.erase(order.begin() + at);
        --at;
      }
      break;
    }
  }
}

/// Waits, releases and fills of slots.
void SchedulePlanner::placeSlots() {
  auto positionOf = [&](unsigned unit) -> std::pair<size_t, bool> {
    for (auto [at, place] : llvm::enumerate(order)) {
      if (place.unit == unit) {
        return {at, false};
      }
      if (llvm::is_contained(place.events, unit)) {
        return {at, true};
      }
    }
    llvm_unreachable("every main unit has a place");
  };
  for (auto [number, unit] : llvm::enumerate(graph.units())) {
    if (unit.kind != Unit::Kind::Wait) {
      continue;
    }
    // With what interrupts a stream: a wait there costs nothing, and is the branch that it needs.
    auto *held = llvm::find_if(order, [](const Place &place) { return !place.events.empty(); });
    const bool fits = llvm::all_of(graph.edges(), [&](const Edge &edge) {
      return edge.from != number || graph.units()[edge.to].kind != Unit::Kind::Release ||
             stage[edge.to] < LoopGraph::depthOf(unit.channel);
    });
    if (held != order.end() && stage[number] == 1 && fits) {
      stage[number] = 0;
      auto *retire = llvm::find_if(held->events, [&](unsigned event) {
        return graph.units()[event].kind == Unit::Kind::Retire;
      });
      held->events.insert(retire, number);
      continue;
    }
    size_t first = order.size();
    for (const Edge &edge : graph.edges()) {
      if (edge.from == number && isMain(edge.to) && kernelDistance(edge) == 0) {
        first = std::min(first, positionOf(edge.to).first);
      }
    }
    order.insert(order.begin() + first, Place{unsigned(number), {}, 0});
  }
  for (auto [number, unit] : llvm::enumerate(graph.units())) {
    if (unit.kind != Unit::Kind::Release) {
      continue;
    }
    std::pair<size_t, bool> last(0, false);
    bool follows = false;
    for (const Edge &edge : graph.edges()) {
      if (edge.to == number && edge.distance == 0 && kernelDistance(edge) == 0) {
        last = std::max(last, positionOf(edge.from));
        follows = true;
      }
    }
    std::optional<unsigned> fill;
    for (const Edge &edge : graph.edges()) {
      if (edge.from == number && graph.units()[edge.to].kind == Unit::Kind::Fill) {
        fill = edge.to;
      }
    }
    if (last.second) {
      order[last.first].events.push_back(number);
      if (fill) {
        order.insert(order.begin() + last.first + 1, Place{*fill, {}, 0});
      }
      continue;
    }
    auto *at = order.begin() + (follows ? last.first + 1 : 0);
    at = order.insert(at, Place{unsigned(number), {}, 0});
    if (fill) {
      order.insert(at + 1, Place{*fill, {}, 0});
    }
  }
  // Fills that nobody waits for.
  for (auto [number, unit] : llvm::enumerate(graph.units())) {
    if (unit.kind == Unit::Kind::Fill &&
        llvm::none_of(order, [&](const Place &place) { return place.unit == number; })) {
      order.push_back({unsigned(number), {}, 0});
    }
  }
}

/// Whether a proxy fence comes with a unit: it gives back a slot that threads have read, not the tensor cores, or its threads write
/// shared memory.
bool SchedulePlanner::isFenced(unsigned number) const {
  const Unit &unit = graph.units()[number];
  if (unit.kind != Unit::Kind::Release) {
    return llvm::any_of(unit.ops, llvm::IsaPred<tgpu::LocalStoreOp>);
  }
  return llvm::any_of(inEdges[number], [&](const Edge &edge) {
    return edge.distance == 0 && isMain(edge.from) &&
           graph.units()[edge.from].kind != Unit::Kind::Retire;
  });
}

/// Loads for later iterations go behind the fence after which most is done before the next one: a proxy fence is a MEMBAR,
/// which waits for all loads that its thread has under way.
void SchedulePlanner::placeLoadsAhead() {
  auto isAhead = [&](unsigned unit) { return isMain(unit) && stage[unit] < 0; };
  auto fences = [&](const Place &place) {
    return isFenced(place.unit) ||
           llvm::any_of(place.events, [&](unsigned event) { return isFenced(event); });
  };
  SmallVector<Place> loads, rest;
  for (const Place &place : order) {
    (isAhead(place.unit) ? loads : rest).push_back(place);
  }
  size_t behind = 0; // so many places of the rest come before them
  int64_t most = -1;
  for (size_t at = 0; at < rest.size(); ++at) {
    if (!fences(rest[at])) {
      continue;
    }
    int64_t clocks = 0;
    for (size_t n = 1; n < rest.size() && !fences(rest[(at + n) % rest.size()]); ++n) {
      const Unit &unit = graph.units()[rest[(at + n) % rest.size()].unit];
      clocks += issueClocks(unit) + (unit.kind == Unit::Kind::Product ? tensorClocks(unit) : 0);
    }
    if (clocks > most) {
      most = clocks;
      behind = at + 1;
    }
  }
  if (loads.empty() || behind == 0) {
    return;
  }
  llvm::DenseMap<unsigned, size_t> position;
  for (auto [at, place] : llvm::enumerate(rest)) {
    position[place.unit] = at;
    for (unsigned event : place.events) {
      position[event] = at;
    }
  }
  const bool fits = llvm::all_of(graph.edges(), [&](const Edge &edge) {
    const bool from = isAhead(edge.from), to = isAhead(edge.to);
    return from == to || kernelDistance(edge) != 0 ||
           (from ? position[edge.to] >= behind : position[edge.from] < behind);
  });
  if (fits) {
    rest.insert(rest.begin() + behind, loads.begin(), loads.end());
    order = std::move(rest);
  }
}

/// The release of a slot in another role that has been planned; null if there is none.
static tgpu::ReleaseOp plannedRelease(scf::ForOp loop, Value channel) {
  for (Operation *user : channel.getUsers()) {
    auto release = dyn_cast<tgpu::ReleaseOp>(user);
    if (release && !loop->isAncestor(release) && tgpu::kSchedule.get(release)) {
      return release;
    }
  }
  return {};
}

/// A loop that only fills slots, in a role of its own, does so in the order in which its consumers give them
/// back. False for other loops, and where that order takes more than an iteration.
bool SchedulePlanner::planFills() {
  struct Turn {
    int64_t step, order, hold; ///< in the loop of the consumer, of what makes room for iteration 0
    unsigned fill;
  };
  SmallVector<Turn> turns;
  for (auto [number, unit] : llvm::enumerate(graph.units())) {
    tgpu::ReleaseOp release =
        unit.kind == Unit::Kind::Fill ? plannedRelease(loop, unit.channel) : tgpu::ReleaseOp();
    if (!release) {
      return false;
    }
    tgpu::StageAttr place = tgpu::kSchedule.get(release);
    turns.push_back({place.getStage() - LoopGraph::depthOf(unit.channel), place.getOrder(),
                     place.getHold(), unsigned(number)});
  }
  if (turns.empty()) {
    return false;
  }
  auto [first, last] = std::minmax_element(
      turns.begin(), turns.end(), [](const Turn &a, const Turn &b) { return a.step < b.step; });
  const int64_t least = first->step;
  if (last->step > least + 1 || (last->step > least && !graph.irregular().empty())) {
    return false;
  }
  llvm::sort(turns, [](const Turn &a, const Turn &b) {
    return std::tuple(a.order, a.hold, a.fill) < std::tuple(b.order, b.hold, b.fill);
  });
  order.clear();
  for (const Turn &turn : turns) {
    stage[turn.fill] = turn.step - least;
    order.push_back({turn.fill, {}, 0});
  }
  return true;
}

/// Other loops without waits, of a role that loads, keep their order: whoever waits for a slot has waited in
/// the same order before it was given to roles. So do loops of whose slots nothing is known.
bool SchedulePlanner::planInOrder() {
  const bool fills =
      llvm::any_of(graph.units(), [](const Unit &unit) { return unit.kind == Unit::Kind::Fill; });
  const bool waits =
      llvm::any_of(graph.units(), [](const Unit &unit) { return unit.kind == Unit::Kind::Wait; });
  if ((graph.hasRegularChannels() && (!fills || waits)) || !solve({})) {
    return false;
  }
  order.clear();
  for (unsigned unit = 0; unit < graph.units().size(); ++unit) {
    order.push_back({unit, {}, 0});
  }
  return true;
}
