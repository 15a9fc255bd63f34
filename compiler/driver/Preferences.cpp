#include "compiler/driver/Preferences.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;

namespace tilec {

/// What was not measured at a shape, to the best that was. `tilec tune` measures those that the model predicts to be best.
static constexpr double unknownAtLeast = 1.01;

static std::optional<unsigned> candidateOf(const TuneGroup &group, const TuneRow &row,
                                           ArrayRef<ParameterTexts> candidates) {
  ParameterTexts all = group.params;
  all.insert(row.params.begin(), row.params.end());
  const auto *found = find(candidates, all);
  return found == candidates.end() ? std::nullopt
                                   : std::optional(unsigned(found - candidates.begin()));
}

/// For what rows the variants are that ran, by the one that relies on least; nothing if none says.
static std::optional<RowKind> rowsOf(const TuneRow &row) {
  for (RowKind rows : {RowKind::Any, RowKind::Words, RowKind::Aligned}) {
    if (is_contained(row.variants, variantOf(rows)) ||
        (rows == RowKind::Aligned && is_contained(row.variants, "clustered"))) {
      return rows;
    }
  }
  return std::nullopt;
}

/// What rows the calls of each shape had: what the candidate that relied on most was for. Not each has code for all kinds.
static std::map<Shape, RowKind> rowsByShape(const TuneGroup &group) {
  std::map<Shape, RowKind> result;
  for (const TuneRow &row : group.rows) {
    if (std::optional<RowKind> rows = rowsOf(row)) {
      RowKind &known = result.try_emplace(row.shape, *rows).first->second;
      known = std::min(known, *rows);
    }
  }
  return result;
}

std::vector<MeasuredShape> measuredShapes(ArrayRef<const TuneGroup *> groups,
                                          ArrayRef<ParameterTexts> candidates,
                                          const std::set<std::string> &names) {
  // Times of different devices have nothing to do with each other: of each only what is best there counts.
  using Times = std::map<unsigned, double>;
  std::map<std::pair<Shape, RowKind>, std::map<std::string, Times>> byShape;
  for (const TuneGroup *group : groups) {
    std::map<Shape, RowKind> rowsOfCalls = rowsByShape(*group);
    for (const TuneRow &row : group->rows) {
      const bool isKnown = all_of(row.shape, [&](const auto &e) { return names.count(e.first); });
      std::optional<unsigned> candidate = candidateOf(*group, row, candidates);
      if (isKnown && !row.shape.empty() && candidate) {
        const RowKind rows = rowsOfCalls.try_emplace(row.shape, RowKind::Aligned).first->second;
        byShape[{row.shape, rows}][group->device][*candidate] = row.median;
      }
    }
  }
  std::vector<MeasuredShape> shapes;
  for (const auto &[key, devices] : byShape) {
    MeasuredShape measured{key.first, key.second, {}};
    std::map<unsigned, unsigned> counts;
    for (const auto &[device, times] : devices) {
      double best = std::numeric_limits<double>::infinity();
      for (const auto &[candidate, time] : times) {
        best = std::min(best, time);
      }
      for (const auto &[candidate, time] : times) {
        measured.excess[candidate] += std::log(time / best);
        ++counts[candidate];
      }
    }
    for (auto &[candidate, excess] : measured.excess) {
      excess /= counts[candidate];
    }
    shapes.push_back(std::move(measured));
  }
  return shapes;
}

std::pair<int64_t, int64_t> bucketOf(int64_t extent) {
  if (extent <= 0) {
    return {extent, extent};
  }
  const double power = std::round(std::log2(double(extent)));
  if (power > 62) { // the last one ends where numbers do
    return {int64_t(std::ceil(std::exp2(62.5))), std::numeric_limits<int64_t>::max()};
  }
  // No power of two with a half is an integer, but for the one below 1.
  return {int64_t(std::ceil(std::exp2(power - 0.5))), int64_t(std::floor(std::exp2(power + 0.5)))};
}

static Ranges bucketOf(const Shape &shape) {
  Ranges ranges;
  for (const auto &[name, extent] : shape) {
    ranges[name] = bucketOf(extent);
  }
  return ranges;
}

std::vector<MeasuredShape> relevantShapes(ArrayRef<MeasuredShape> shapes, const Shape &fixed) {
  ByRowKind<std::vector<MeasuredShape>> exact, near;
  for (const MeasuredShape &one : shapes) {
    bool isExact = true, isNear = true;
    for (const auto &[name, extent] : one.shape) {
      auto given = fixed.find(name);
      if (given != fixed.end()) {
        isExact = isExact && given->second == extent;
        isNear = isNear && bucketOf(given->second) == bucketOf(extent);
      }
    }
    if (isExact) {
      exact[one.rows].push_back(one);
    } else if (isNear) {
      near[one.rows].push_back(one);
    }
  }
  std::vector<MeasuredShape> result;
  for (RowKind rows : kRowKinds) {
    append_range(result, exact[rows].empty() ? near[rows] : exact[rows]);
  }
  return result;
}

std::vector<double> correctedPrices(const MeasuredShape &shape, ArrayRef<double> prices) {
  double difference = 0, least = std::numeric_limits<double>::infinity();
  size_t count = 0;
  for (const auto &[candidate, excess] : shape.excess) {
    if (candidate < prices.size() && prices[candidate] > 0 && std::isfinite(prices[candidate])) {
      difference += std::log(prices[candidate]) - excess;
      least = std::min(least, excess);
      ++count;
    }
  }
  std::vector<double> corrected = prices.vec();
  if (count == 0) {
    return corrected;
  }
  const double scale = std::exp(difference / double(count));
  for (auto [candidate, price] : enumerate(corrected)) {
    auto measured = shape.excess.find(unsigned(candidate));
    if (price > 0 && std::isfinite(price)) {
      price = measured != shape.excess.end()
                  ? scale * std::exp(measured->second)
                  : std::max(price, scale * std::exp(least) * unknownAtLeast);
    }
  }
  return corrected;
}

/// The best at most of these shapes; nothing if none of them was measured there.
static std::optional<unsigned> bestOf(ArrayRef<const MeasuredShape *> shapes,
                                      ArrayRef<unsigned> kept) {
  std::optional<unsigned> best;
  std::pair<size_t, double> bestKey; // shapes where it was not measured, excess at the others
  for (unsigned candidate : kept) {
    size_t missing = 0;
    double sum = 0;
    for (const MeasuredShape *shape : shapes) {
      auto found = shape->excess.find(candidate);
      missing += found == shape->excess.end();
      sum += found == shape->excess.end() ? 0 : found->second;
    }
    const std::pair<size_t, double> key{missing, sum};
    if (missing < shapes.size() && (!best || key < bestKey)) {
      best = candidate;
      bestKey = key;
    }
  }
  return best;
}

/// What the model takes of `kept` from these prices.
static std::optional<unsigned> cheapestOf(ArrayRef<double> prices, ArrayRef<unsigned> kept) {
  std::optional<unsigned> cheapest;
  for (unsigned candidate : kept) {
    const double price = candidate < prices.size() ? prices[candidate] : 0;
    if (price > 0 && std::isfinite(price) && (!cheapest || price < prices[*cheapest])) {
      cheapest = candidate;
    }
  }
  return cheapest;
}

/// The mean, over the shapes that know both, of how much longer what the model takes was than this candidate (logarithms); nothing if none does.
static std::optional<double> gainOf(unsigned candidate, ArrayRef<const MeasuredShape *> shapes,
                                    ArrayRef<std::optional<unsigned>> taken) {
  double sum = 0;
  size_t count = 0;
  for (auto [shape, cheapest] : zip_equal(shapes, taken)) {
    auto own = shape->excess.find(candidate);
    auto other = cheapest ? shape->excess.find(*cheapest) : shape->excess.end();
    if (own != shape->excess.end() && other != shape->excess.end()) {
      sum += other->second - own->second;
      ++count;
    }
  }
  return count == 0 ? std::nullopt : std::optional(sum / double(count));
}

std::vector<PreferredCandidate> preferencesOf(ArrayRef<MeasuredShape> shapes,
                                              ArrayRef<unsigned> kept,
                                              ArrayRef<std::vector<double>> predicted) {
  std::vector<PreferredCandidate> result;
  struct Inside {
    std::vector<const MeasuredShape *> shapes;
    std::vector<std::optional<unsigned>> taken;
  };
  std::map<Ranges, Inside> buckets;
  for (auto [shape, prices] : zip_equal(shapes, predicted)) {
    Inside &bucket = buckets[bucketOf(shape.shape)];
    bucket.shapes.push_back(&shape);
    bucket.taken.push_back(cheapestOf(prices, kept));
    if (std::optional<unsigned> best = bestOf(&shape, kept)) {
      PreferredCandidate preferred{{}, *best, shape.rows};
      for (const auto &[name, extent] : shape.shape) {
        preferred.ranges[name] = {extent, extent};
      }
      result.push_back(std::move(preferred));
    }
  }
  // What is best at one shape by little is not at its neighbours.
  for (const auto &[ranges, inside] : buckets) {
    std::optional<unsigned> best = bestOf(inside.shapes, kept);
    if (best &&
        gainOf(*best, inside.shapes, inside.taken).value_or(kNoticeableGain) >= kNoticeableGain) {
      result.push_back({ranges, *best, inside.shapes.front()->rows});
    }
  }
  return result;
}

} // namespace tilec
