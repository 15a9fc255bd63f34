#include "compiler/driver/CandidatePrices.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;

namespace tilec {

/// Calls are this many, if there is a dimension to vary.
static constexpr unsigned numSamples = 192;
static constexpr double least = 8, most = 16384, multiple = 8;
/// What another candidate has to gain.
static constexpr double leastGain = 0.001;

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

std::vector<CallSample> sampleCalls(ArrayRef<std::string> names) {
  std::vector<CallSample> samples(names.empty() ? 1 : numSamples);
  for (auto [dimension, name] : enumerate(names)) {
    const unsigned base = primeNumber(dimension);
    for (auto [i, sample] : enumerate(samples)) {
      const double value = least * std::pow(most / least, radicalInverse(i + 1, base));
      sample[name] = std::max(std::round(value / multiple) * multiple, least);
    }
  }
  return samples;
}

namespace {
using Seconds = std::vector<double> CandidatePrice::*;

/// The mean of the logarithms of each sample's cost.
double meanLog(ArrayRef<double> costs) {
  double sum = 0;
  for (double cost : costs) {
    sum += std::log(std::max(cost, 1e-12));
  }
  return costs.empty() ? 0 : sum / double(costs.size());
}

/// For each sample the lesser of the two.
std::vector<double> lesser(ArrayRef<double> a, ArrayRef<double> b) {
  std::vector<double> result(a.size());
  for (size_t i = 0; i != a.size(); ++i) {
    result[i] = std::min(a[i], b[i]);
  }
  return result;
}

std::vector<double> cheapest(ArrayRef<CandidatePrice> candidates, Seconds seconds,
                             ArrayRef<unsigned> chosen) {
  std::vector<double> costs;
  for (unsigned i : chosen) {
    const std::vector<double> &own = candidates[i].*seconds;
    costs = costs.empty() ? own : lesser(costs, own);
  }
  return costs;
}

std::vector<unsigned> usable(ArrayRef<CandidatePrice> candidates) {
  std::vector<unsigned> result;
  for (auto [i, candidate] : enumerate(candidates)) {
    if (candidate.refused.empty()) {
      result.push_back(i);
    }
  }
  return result;
}
} // namespace

std::vector<unsigned> coverSamples(ArrayRef<CandidatePrice> candidates, Seconds seconds,
                                   unsigned limit, std::vector<unsigned> chosen) {
  const std::vector<unsigned> all = usable(candidates);
  std::vector<double> costs = cheapest(candidates, seconds, chosen);
  double mean = chosen.empty() ? std::numeric_limits<double>::infinity() : meanLog(costs);
  while (chosen.size() < limit) {
    std::optional<unsigned> next;
    double nextMean = mean - (chosen.empty() ? 0 : leastGain);
    for (unsigned i : all) {
      const std::vector<double> &own = candidates[i].*seconds;
      const double with = meanLog(costs.empty() ? own : lesser(costs, own));
      if (with < nextMean) {
        next = i;
        nextMean = with;
      }
    }
    if (!next) {
      break;
    }
    chosen.push_back(*next);
    costs = cheapest(candidates, seconds, chosen);
    mean = nextMean;
  }
  return chosen;
}

double excessOf(ArrayRef<CandidatePrice> candidates, Seconds seconds, ArrayRef<unsigned> chosen) {
  return std::expm1(meanLog(cheapest(candidates, seconds, chosen)) -
                    meanLog(cheapest(candidates, seconds, usable(candidates))));
}

} // namespace tilec
