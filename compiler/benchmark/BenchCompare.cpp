#include "compiler/benchmark/BenchCompare.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;

namespace tilec {

/// Two runs of the same code differ by so much without any spread within them: another place in memory, another
/// temperature.
static constexpr double leastNoise = 0.02;

/// Share of the median within which half of the launches were, to either side.
static double spreadOf(const BenchTime &time) {
  return (time.upper - time.lower) / (2 * time.median);
}

bool BenchChange::isSignificant() const { return std::abs(change) > noise; }

/// How much longer, as a logarithm: it is the same there and back.
static double logRatio(const BenchTime &before, const BenchTime &after) {
  return std::log(after.median / before.median);
}

static BenchChange compareRows(const BenchRow &before, const BenchRow &after) {
  const double wall = logRatio(before.time, after.time);
  double square = std::pow(spreadOf(before.time), 2) + std::pow(spreadOf(after.time), 2);
  double other = wall; // by the second way to look at it
  const auto &oldPeer = before.peer, &newPeer = after.peer;
  if (oldPeer && newPeer && oldPeer->time && newPeer->time) {
    other = wall - logRatio(*oldPeer->time, *newPeer->time);
    square += std::pow(spreadOf(*oldPeer->time), 2) + std::pow(spreadOf(*newPeer->time), 2);
  } else if (before.megahertz > 0 && after.megahertz > 0) {
    other = wall + std::log(after.megahertz / before.megahertz);
  }
  BenchChange change{&before, &after, 0, std::max(leastNoise, 2 * std::sqrt(square))};
  if ((wall > 0) == (other > 0)) {
    change.change = std::expm1(std::abs(wall) < std::abs(other) ? wall : other);
  }
  return change;
}

BenchComparison compareReports(const BenchReport &before, const BenchReport &after) {
  BenchComparison result;
  if (before.device != after.device || before.arch != after.arch) {
    result.problem = "there it was " + before.arch + " on `" + before.device + "`, here " +
                     after.arch + " on `" + after.device + "`";
    return result;
  }
  auto find = [](const BenchReport &report, const BenchRow &wanted) {
    auto found = find_if(report.rows, [&](const BenchRow &row) {
      return row.kernel == wanted.kernel && row.call == wanted.call;
    });
    return found == report.rows.end() ? nullptr : &*found;
  };
  for (const BenchRow &row : after.rows) {
    if (const BenchRow *old = find(before, row)) {
      result.changes.push_back(compareRows(*old, row));
    } else {
      result.added.push_back(&row);
    }
  }
  for (const BenchRow &row : before.rows) {
    if (!find(after, row)) {
      result.gone.push_back(&row);
    }
  }
  if (result.changes.empty()) {
    result.problem = "it has none of these cases";
  }
  return result;
}

std::string printComparison(const BenchComparison &comparison, StringRef oldName) {
  std::string text = ("against `" + oldName + "`:\n").str();
  size_t same = 0;
  for (const BenchChange &one : comparison.changes) {
    if (!one.isSignificant()) {
      ++same;
      continue;
    }
    text += formatv("  {0}: {1}: {2:f1} % {3} ({4:f1} us, was {5:f1}; {6:f1} % would be noise)\n",
                    one.after->kernel, one.after->call, std::abs(one.change) * 100,
                    one.change > 0 ? "slower" : "faster", one.after->time.median,
                    one.before->time.median, one.noise * 100);
  }
  text += formatv("  {0} of {1} cases: no change\n", same, comparison.changes.size());
  for (auto [rows, what] : {std::pair(&comparison.added, "is new"),
                            std::pair(&comparison.gone, "is no longer there")}) {
    for (const BenchRow *row : *rows) {
      text += "  " + row->kernel + ": " + row->call + " " + what + "\n";
    }
  }
  return text;
}

} // namespace tilec
