#include "dialects/layout/Scan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace llvm;

namespace tilec::layout {

namespace {

/// Checks that blocks of lanes and warps nest and fills the lane levels.
class Levels {
public:
  Levels(const RegisterLayout &source, unsigned dim, const ReductionPlan &rows) : dim(dim) {
    for (unsigned bit = 0; bit < 5; ++bit) {
      if (rows.laneMask >> bit & 1) {
        lanes.push_back({bit, source.bases(HwDim::Lane)[bit][dim]});
      }
    }
    sort(lanes, [](const auto &a, const auto &b) { return a.stride < b.stride; });
    for (const auto &slots : rows.slots) {
      for (int64_t slot : slots) {
        offsets.push_back(source.registerOffset(slot)[dim]);
      }
    }
  }

  bool nest() const {
    int64_t reach = 0; // of the lanes below
    for (auto [i, level] : enumerate(lanes)) {
      const int64_t block = 2 * level.stride;
      const bool below =
          all_of(offsets, [&](int64_t offset) { return offset % block + reach < level.stride; });
      const bool above = all_of(drop_begin(lanes, i + 1), [&](const ScanPlan::LaneLevel &upper) {
        return upper.stride % block == 0;
      });
      if (!below || !above) {
        return false;
      }
      reach += level.stride;
    }
    return true;
  }

  /// Each warp holds a stretch of each row of its own, which no other warp interrupts.
  bool warpsAreOutermost(const RegisterLayout &source) const {
    int64_t reach = offsets.empty() ? 0 : *max_element(offsets);
    for (const ScanPlan::LaneLevel &level : lanes) {
      reach += level.stride;
    }
    bool outermost = true;
    for (const Coords &v : source.bases(HwDim::Warp)) {
      outermost &= v[dim] == 0 || v[dim] > reach;
    }
    for (const Repeat &r : source.repeats()) {
      outermost &= r.hw != HwDim::Warp || r.dim != int(dim) || r.stride > reach;
    }
    return outermost;
  }

  SmallVector<ScanPlan::LaneLevel, 5> lanes;

private:
  unsigned dim;
  SmallVector<int64_t, 32> offsets; // of the slots of a thread
};

/// Sorts the members of rows into runs: those in the same block of `size` elements.
ScanPlan::Runs runsOf(ArrayRef<SmallVector<int64_t, 16>> rows,
                      SmallVectorImpl<SmallVector<int64_t, 16>> &next,
                      SmallVectorImpl<int64_t> &offsets, int64_t size) {
  ScanPlan::Runs runs;
  SmallVector<int64_t> begins; // of the runs
  for (const auto &row : rows) {
    next.emplace_back();
    for (int64_t member : row) {
      if (next.back().empty() || offsets[member] / size != begins.back() / size) {
        next.back().push_back(int64_t(runs.size()));
        runs.emplace_back();
        begins.push_back(offsets[member]);
      }
      runs.back().push_back(member);
    }
  }
  offsets = begins;
  return runs;
}

} // namespace

int64_t ScanPlan::exchanges() const {
  int64_t count = 0;
  for (const Runs &level : drop_end(runs)) {
    count += int64_t(level.size());
  }
  return count;
}

Answer<ScanPlan> planScan(const RegisterLayout &source, unsigned dim) {
  Answer<ReductionPlan> rows = planReduction(source, dim);
  if (!rows) {
    return Refusal{rows.reason()};
  }
  const Levels levels(source, dim, *rows);
  if (!levels.nest()) {
    return Refusal{"lanes and registers do not hold blocks of blocks of the scanned dimension"};
  }
  if (!levels.warpsAreOutermost(source)) {
    return Refusal{"other warps hold parts of what a warp holds of the scanned dimension"};
  }
  ScanPlan plan;
  plan.rows = *rows;
  plan.lanes = levels.lanes;
  // Members of each row at the present level, and where they begin in the first thread.
  SmallVector<SmallVector<int64_t, 16>> members;
  SmallVector<int64_t> offsets;
  for (const auto &slots : rows->slots) {
    members.emplace_back(slots.begin(), slots.end());
  }
  for (int64_t r = 0; r < source.registersPerThread(); ++r) {
    offsets.push_back(source.registerOffset(r)[dim]);
  }
  for (const ScanPlan::LaneLevel &level : plan.lanes) {
    SmallVector<SmallVector<int64_t, 16>> next;
    plan.runs.push_back(runsOf(members, next, offsets, level.stride));
    members = std::move(next);
  }
  plan.runs.emplace_back();
  for (const auto &row : members) {
    plan.runs.back().emplace_back(row.begin(), row.end());
  }
  std::map<Coords, int64_t> first;
  for (int64_t r = 0; r < source.registersPerThread(); ++r) {
    auto [known, isNew] = first.insert({source.registerOffset(r), r});
    if (!isNew) {
      plan.copies.push_back({r, known->second});
    }
  }
  return plan;
}

Answer<int64_t> exchangesOfScan(const RegisterLayout &source, unsigned dim) {
  Answer<ScanPlan> plan = planScan(source, dim);
  if (!plan) {
    return Refusal{plan.reason()};
  }
  if (plan->rows.warpOffsets == 1) {
    return plan->exchanges();
  }
  Answer<WarpParts> parts = planWarpParts(source, dim);
  if (!parts) {
    return Refusal{parts.reason()};
  }
  return plan->exchanges() + parts->whole.registersPerThread();
}

Answer<RegisterLayout> blockedForScan(ArrayRef<int64_t> shape, unsigned dim, int64_t warps) {
  RegisterLayout::BlockedOptions options;
  options.contiguousDim = int(dim);
  options.warpsTakeRows = true;
  std::optional<RegisterLayout> best;
  for (int64_t run = 1; run < 2 * shape[dim]; run *= 2) {
    Answer<RegisterLayout> layout = RegisterLayout::blocked(shape, run, warps, options);
    if (!layout || (best && layout->registersPerThread() > best->registersPerThread())) {
      continue; // longer runs for as many registers: fewer lanes share a row
    }
    Answer<ScanPlan> plan = planScan(*layout, dim);
    if (plan && (plan->lanes.empty() ||
                 all_of(plan->runs.back(), [](const auto &row) { return row.size() < 2; }))) {
      best = *layout;
    }
  }
  if (!best) {
    return Refusal{"no layout gives each thread one run of each row"};
  }
  return *best;
}

} // namespace tilec::layout
