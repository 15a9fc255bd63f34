//===- ScheduleStages.cpp - which iterations a step of a loop works on ----===//
#include "passes/SchedulePlanner.h"
#include "passes/UnitPrices.h"

using namespace mlir;
using namespace tilec;

/// Clocks of element-wise work between two products from which on they do not follow each other.
constexpr int64_t kGapClocks = 64;

/// The least stages, 0 or 1, that keep all edges and `bounds`.
bool SchedulePlanner::solve(ArrayRef<Bound> bounds) {
  stage.assign(graph.units().size(), 0);
  for (unsigned number = 0; number < graph.units().size(); ++number) {
    if (fixed[number]) {
      stage[number] = *fixed[number];
    } else if (behind.contains(number)) {
      stage[number] = 1;
    }
  }
  SmallVector<Bound> all(bounds);
  for (const Edge &edge : graph.edges()) {
    if (graph.units()[edge.from].kind != Unit::Kind::Fill &&
        graph.units()[edge.to].kind != Unit::Kind::Fill) {
      all.push_back({edge.from, edge.to, -edge.distance});
    }
  }
  bool changed = true;
  for (size_t round = 0; changed; ++round) {
    if (round > graph.units().size()) {
      return false; // they go in a circle
    }
    changed = false;
    for (const Bound &bound : all) {
      const int64_t least = stage[bound.from] + bound.least;
      if (stage[bound.to] < least) {
        if (least > 1 || fixed[bound.to]) {
          return false;
        }
        stage[bound.to] = least;
        changed = true;
      }
    }
  }
  return true;
}

/// Pairs of products of one iteration, the second needing the first through work that takes longer than
/// the queue of the tensor cores hides.
SmallVector<std::pair<unsigned, unsigned>> SchedulePlanner::findGaps() {
  const unsigned count = graph.units().size();
  SmallVector<llvm::BitVector> behind(count, llvm::BitVector(count)); // who needs a unit
  // Edges within an iteration lead forward but for streams, which stand where their last one does.
  bool changed = true;
  for (unsigned unit = 0; unit < count; ++unit) {
    behind[unit].set(unit);
  }
  while (changed) {
    changed = false;
    for (const Edge &edge : graph.edges()) {
      if (edge.distance == 0) {
        llvm::BitVector before = behind[edge.from];
        behind[edge.from] |= behind[edge.to];
        changed |= before != behind[edge.from];
      }
    }
  }
  SmallVector<std::pair<unsigned, unsigned>> result;
  for (unsigned first = 0; first < count; ++first) {
    for (unsigned second = 0; second < count; ++second) {
      if (first == second || graph.units()[first].kind != Unit::Kind::Product ||
          graph.units()[second].kind != Unit::Kind::Product || !behind[first].test(second)) {
        continue;
      }
      int64_t clocks = 0;
      for (unsigned between = 0; between < count; ++between) {
        if (behind[first].test(between) && behind[between].test(second)) {
          clocks += issueClocks(graph.units()[between]);
        }
      }
      if (clocks >= kGapClocks) {
        result.emplace_back(first, second);
      }
    }
  }
  return result;
}

/// Some units run behind, with all that needs them; a product with the wait for it.
void SchedulePlanner::drawStages(SmallVector<Bound> &bounds) {
  for (auto [number, unit] : llvm::enumerate(graph.units())) {
    if (std::optional<unsigned> retire = graph.retireOf(number)) {
      bounds.push_back({*retire, unsigned(number), 0});
    }
  }
  for (unsigned unit = 0; unit < graph.units().size(); ++unit) {
    if (isMain(unit) && draws(1, 6)) {
      behind.insert(unit);
      if (!solve(bounds)) {
        behind.erase(unit);
      }
    }
  }
}

/// What makes a slot ready does so in the step of the product that reads it: a step before it would wait for the slot there.
void SchedulePlanner::delayPreparations() {
  for (unsigned unit = 0; unit < graph.units().size(); ++unit) {
    if (!isPreparation(unit) || fixed[unit]) {
      continue;
    }
    int64_t latest = 1;
    for (const Edge &edge : graph.edges()) {
      if (edge.from == unit && graph.units()[edge.to].kind != Unit::Kind::Fill) {
        latest = std::min(latest, edge.distance + stage[edge.to]);
      }
    }
    stage[unit] = std::max(stage[unit], latest);
  }
}

bool SchedulePlanner::planStages(Freedom freedom) {
  SmallVector<Bound> bounds;
  behind.clear();
  gaps.clear();
  deferred.clear();
  held.clear();
  if (!solve(bounds)) {
    return false;
  }
  auto add = [&](Bound bound) {
    bounds.push_back(bound);
    if (solve(bounds)) {
      return true;
    }
    bounds.pop_back();
    return false;
  };
  const bool isBehind = freedom.gaps && draws(1, 2);
  if (isBehind) {
    drawStages(bounds);
  }
  for (auto [first, second] :
       freedom.gaps ? findGaps() : SmallVector<std::pair<unsigned, unsigned>>()) {
    if (add({first, second, 1})) {
      gaps.emplace_back(first, second);
    }
  }
  for (auto [number, unit] : llvm::enumerate(graph.units())) {
    // Either a product is in flight from step to step, or others run behind.
    if (!freedom.deferred || !gaps.empty() || isBehind || unit.kind != Unit::Kind::Product ||
        !graph.isChained(number)) {
      continue;
    }
    // With two slots the next one could be filled only when the product that reads this one is done.
    const unsigned retire = *graph.retireOf(number);
    const bool hasRoom = llvm::none_of(graph.edges(), [&](const Edge &edge) {
      const Unit &to = graph.units()[edge.to];
      return edge.from == retire && edge.distance == 0 && to.kind == Unit::Kind::Release &&
             LoopGraph::depthOf(to.channel) < 3;
    });
    if (!hasRoom || !add({unsigned(number), retire, 1})) {
      continue;
    }
    deferred.push_back(number);
    const bool isAlone =
        llvm::all_of(llvm::seq<unsigned>(0, graph.units().size()), [&](unsigned u) {
          return stage[u] < 1 || graph.units()[u].kind == Unit::Kind::Release ||
                 llvm::any_of(deferred, [&](unsigned p) { return graph.retireOf(p) == u; });
        });
    if (!isAlone || !planOrder(freedom.reordered)) {
      deferred.pop_back();
      bounds.pop_back();
      held.push_back(retire);
    }
  }
  solve(bounds);
  if (!isDrawn) {
    delayPreparations();
  }
  // A slot is awaited where it is read first, and filled a whole ring behind its release.
  for (const Edge &edge : graph.edges()) {
    if (graph.units()[edge.from].kind == Unit::Kind::Wait && edge.distance == 0) {
      int64_t earliest = 1;
      for (const Edge &other : graph.edges()) {
        if (other.from == edge.from && other.distance == 0) {
          earliest = std::min(earliest, stage[other.to]);
        }
      }
      stage[edge.from] = earliest;
    }
  }
  for (const Edge &edge : graph.edges()) {
    if (graph.units()[edge.from].kind == Unit::Kind::Release &&
        graph.units()[edge.to].kind == Unit::Kind::Fill) {
      stage[edge.to] = stage[edge.from] - edge.distance;
    }
  }
  return true;
}
