#include "compiler/driver/CandidatePrices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace llvm;

namespace tilec {

/// Calls are this many, if there is a dimension to vary.
static constexpr unsigned numSamples = 192;
static constexpr double least = 8, most = 16384, multiple = 8, lines = 64;

/// The i-th prime from 2 on: the bases of Halton's sequence.
static unsigned primeNumber(unsigned i) {
  for (unsigned n = 2;; ++n) {
    bool isPrime = true;
    for (unsigned d = 2; d * d <= n; ++d) {
      isPrime = isPrime && n % d != 0;
    }
    if (isPrime && i-- == 0) {
      return n;
    }
  }
}

/// Halton's sequence in one dimension: the digits of `index` in `base`, behind the point in reverse.
static double radicalInverse(unsigned index, unsigned base) {
  double result = 0, digit = 1;
  for (; index != 0; index /= base) {
    digit /= base;
    result += digit * (index % base);
  }
  return result;
}

/// What an extent of a matrix is multiplied by, for calls with many short rows and with few long ones.
static double slimness(size_t numDimensions, size_t dimension, size_t call) {
  constexpr double much = 64;
  const size_t part = call * 8 / numSamples % 4; // points behind each other are spread evenly
  if (numDimensions != 2 || dimension > 1 || part < 2) {
    return 1;
  }
  return (part == 2) == (dimension == 0) ? much : 1 / much;
}

std::vector<CallSample> sampleCalls(ArrayRef<std::string> names, size_t numDimensions) {
  std::vector<CallSample> samples(names.empty() ? 1 : numSamples);
  for (auto [dimension, name] : enumerate(names)) {
    const unsigned base = primeNumber(dimension);
    for (auto [i, sample] : enumerate(samples)) {
      const double value = least * std::pow(most / least, radicalInverse(i + 1, base)) *
                           slimness(numDimensions, dimension, i);
      // Half of the calls have rows of whole lines of 128 bytes, as most that people make.
      const double unit = i >= numSamples / 2 && value >= lines ? lines : multiple;
      sample[name] = std::max(std::round(value / unit) * unit, least);
    }
  }
  return samples;
}

std::vector<CallSample> probeCalls(ArrayRef<std::string> names, size_t numDimensions) {
  std::vector<CallSample> calls = sampleCalls(names, numDimensions);
  for (auto [i, call] : enumerate(calls)) {
    // Points behind each other are spread evenly, those some steps apart are not.
    constexpr double offsets[] = {0, 4, 2, 1}, far = 64;
    const size_t part = i * 8 / calls.size();
    for (auto &extent : call) {
      extent.second = extent.second * (part < 4 ? 1 : far) + offsets[part % 4];
    }
  }
  return calls;
}

CallCosts costsOf(ArrayRef<CandidatePrice> candidates, RowKind rows) {
  CallCosts costs;
  auto isGood = [&](const CandidatePrice &one) {
    return one.refused.empty() && one.refusedFor[rows].empty();
  };
  const bool areSomeGood = any_of(candidates, isGood);
  for (const CandidatePrice &candidate : candidates) {
    const bool isUsable = areSomeGood ? isGood(candidate) : candidate.refused.empty();
    costs.seconds.push_back(isUsable ? candidate.seconds[rows] : std::vector<double>());
    if (isUsable) {
      costs.weights.assign(candidate.seconds[rows].size(), 1);
    }
  }
  for (size_t call = 0; call < costs.weights.size(); ++call) {
    auto takes = [&](size_t i) {
      return !costs.seconds[i].empty() &&
             (candidates[i].served.empty() || candidates[i].served[call]);
    };
    if (!any_of(seq(candidates.size()), takes)) {
      continue; // nobody would: what it costs still tells them apart
    }
    for (auto [i, own] : enumerate(costs.seconds)) {
      if (!own.empty() && !takes(i)) {
        own[call] = std::numeric_limits<double>::infinity();
      }
    }
  }
  return costs;
}

/// What a call counts that is not served at all: more than any that is, so that calls are served first.
static constexpr double unserved = 1e28;

void addProbes(CallCosts &costs, ArrayRef<CandidatePrice> candidates) {
  constexpr double share = 0.01; // of the weight of all calls
  const size_t count = candidates.empty() ? 0 : candidates.front().probes.size();
  const double weight = std::accumulate(costs.weights.begin(), costs.weights.end(), 0.0);
  for (size_t probe = 0; probe < count; ++probe) {
    bool someDo = false, someDoNot = false;
    for (auto [one, own] : zip_equal(candidates, costs.seconds)) {
      const bool takes = one.probes.empty() || one.probes[probe];
      someDo |= !own.empty() && takes;
      someDoNot |= !own.empty() && !takes;
    }
    if (!someDo || !someDoNot) {
      continue;
    }
    costs.weights.push_back(share * weight / double(count));
    for (auto [one, own] : zip_equal(candidates, costs.seconds)) {
      if (!own.empty()) {
        const bool takes = one.probes.empty() || one.probes[probe];
        own.push_back(takes ? 1 : std::numeric_limits<double>::infinity());
      }
    }
  }
}

/// The mean of the logarithms of each call's cost.
static double meanLog(ArrayRef<double> costs, ArrayRef<double> weights) {
  double sum = 0, weight = 0;
  for (auto [cost, one] : zip_equal(costs, weights)) {
    sum += one * std::log(std::clamp(cost, 1e-12, unserved));
    weight += one;
  }
  return weight == 0 ? 0 : sum / weight;
}

/// For each call the lesser of the two; no costs are more than any.
static std::vector<double> lesser(std::vector<double> a, ArrayRef<double> b) {
  if (a.empty()) {
    return b.vec();
  }
  for (auto [mine, other] : zip_equal(a, b)) {
    mine = std::min(mine, other);
  }
  return a;
}

std::vector<unsigned> coverCalls(const CallCosts &costs, unsigned limit, double leastGain) {
  std::vector<unsigned> chosen;
  std::vector<double> cheapest;
  double mean = std::numeric_limits<double>::infinity();
  while (chosen.size() < limit) {
    std::optional<unsigned> next;
    double nextMean = mean - leastGain;
    for (auto [candidate, own] : enumerate(costs.seconds)) {
      if (own.empty() || is_contained(chosen, unsigned(candidate))) {
        continue;
      }
      const double with = meanLog(lesser(cheapest, own), costs.weights);
      if (with < nextMean) {
        next = unsigned(candidate);
        nextMean = with;
      }
    }
    if (!next) {
      break;
    }
    chosen.push_back(*next);
    cheapest = lesser(cheapest, costs.seconds[*next]);
    mean = nextMean;
  }
  return chosen;
}

} // namespace tilec
