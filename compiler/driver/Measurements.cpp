// Compilation, continued: what a tune file says of its kernels.
#include "compiler/driver/Compilation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <limits>

using namespace llvm;

namespace tilec {

std::string tuneFileBeside(StringRef source) {
  SmallString<128> path = source;
  sys::path::replace_extension(path, "tune.json");
  return path.str().str();
}

/// SHA-256 of the source and what it imports; what the command line instantiates has its parameters in the file.
std::string Compilation::tunedSourceHash() const {
  SHA256 hash;
  for (unsigned id = 1; id <= sources.numFiles(); ++id) {
    if (sources.name(id) != "<command line>") {
      hash.update(std::to_string(sources.text(id).size()) + ":");
      hash.update(sources.text(id));
    }
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

bool Compilation::loadTuneFile() {
  const bool isGiven = !options.tuneFile.empty();
  if (options.tuneFile == "none" || (!isGiven && input == "-")) {
    return true;
  }
  const std::string path = isGiven ? options.tuneFile : tuneFileBeside(input);
  if (!isGiven && !sys::fs::exists(path)) {
    return true;
  }
  std::optional<TuneFile> file = readTuneFile(path, diags);
  if (!file) {
    return false;
  }
  tuneFile = std::move(*file);
  tuneFilePath = path;
  return true;
}

std::vector<std::string> integerScalars(const sema::KernelInstance &kernel) {
  std::vector<std::string> names;
  for (const sema::Param &param : kernel.params) {
    if (param.scalar && param.scalar->type.isScalar() && sema::isInteger(param.scalar->type.elem)) {
      names.push_back(param.scalar->name.str());
    }
  }
  return names;
}

std::vector<ParameterTexts> candidatesOf(const sema::KernelInstance &kernel) {
  std::vector<ParameterTexts> result;
  for (const sema::Candidate &candidate : kernel.candidates) {
    ParameterTexts &texts = result.emplace_back();
    for (const sema::Binding &binding : candidate.bindings) {
      texts[binding.name.str()] = binding.value;
    }
  }
  return result;
}

/// Whether some row of the group is of one of the candidates.
static bool concerns(const TuneGroup &group, StringRef kernel,
                     ArrayRef<ParameterTexts> candidates) {
  return group.kernel == kernel && any_of(group.rows, [&](const TuneRow &row) {
           ParameterTexts all = group.params;
           all.insert(row.params.begin(), row.params.end());
           return is_contained(candidates, all);
         });
}

std::vector<MeasuredShape> Compilation::measurementsOf(const sema::KernelInstance &kernel,
                                                       const Target &target) {
  const std::vector<ParameterTexts> candidates = candidatesOf(kernel);
  const std::string hash = tunedSourceHash();
  std::vector<const TuneGroup *> groups;
  size_t stale = 0;
  std::string others; // architectures
  for (const TuneGroup &group : tuneFile.groups) {
    if (!concerns(group, kernel.sourceName, candidates)) {
      continue;
    }
    if (group.sourceHash != hash) {
      stale += group.rows.size();
    } else if (group.arch == target.name) {
      groups.push_back(&group);
    } else if (!StringRef(others).contains(group.arch)) {
      others += (others.empty() ? "" : ", ") + group.arch;
    }
  }
  if (stale != 0 && staleReported.insert(kernel.symbol).second) {
    diags.report(diag::Id::TuneStale, kernel.requested, tuneFilePath, kernel.symbol, stale);
  }
  if (groups.empty() && !others.empty()) {
    diags.report(diag::Id::TuneOtherTarget, kernel.requested, tuneFilePath, kernel.symbol,
                 target.name, others);
  }
  std::set<std::string> names;
  Shape fixed;
  for (const sema::DimDecl *dim : kernel.dims) {
    names.insert(dim->name.str());
    if (dim->constant) {
      fixed[dim->name.str()] = *dim->constant;
    }
  }
  for (const std::string &name : integerScalars(kernel)) {
    names.insert(name);
  }
  return relevantShapes(measuredShapes(groups, candidates, names), fixed);
}

/// Whether all that could be chosen for is known.
static bool isFixed(const sema::KernelInstance &kernel) {
  return integerScalars(kernel).empty() &&
         all_of(kernel.dims, [](const sema::DimDecl *dim) { return dim->constant.has_value(); });
}

/// Sets of parameters for rows that are not aligned, where the model alone chooses. Each costs the time to compile it; of gemm a
/// fifth for any rows gains little more, and a third for words.
static constexpr ByRowKind<unsigned> mostSets = {{std::numeric_limits<unsigned>::max(), 2, 4}};

/// Whether a candidate was at a shape of its own faster by a twentieth than all that are for such rows.
static bool isFoundFor(RowKind rows, unsigned candidate, const sema::KernelInstance &kernel,
                       ArrayRef<MeasuredShape> shapes) {
  return any_of(shapes, [&](const MeasuredShape &shape) {
    auto own = shape.excess.find(candidate);
    return shape.rows == rows && own != shape.excess.end() &&
           all_of(shape.excess, [&](const auto &other) {
             return !kernel.candidates[other.first].isFor[rows] ||
                    other.second - own->second >= kNoticeableGain;
           });
  });
}

/// Where a kernel has code for several kinds of rows, candidates for other ones, unless measured with these they were better by more than
/// chance, or there are no more. None need be for words, whose calls any rows' code takes.
static void leaveOthersOut(CallCosts &costs, const sema::KernelInstance &kernel,
                           ArrayRef<CandidatePrice> prices, ArrayRef<MeasuredShape> shapes,
                           RowKind rows) {
  auto isWanted = [&](size_t i) {
    return !prices[i].hasCode[RowKind::Any] || kernel.candidates[i].isFor[rows] ||
           isFoundFor(rows, unsigned(i), kernel, shapes);
  };
  SmallVector<size_t> others;
  size_t usable = 0;
  for (auto [i, own] : enumerate(costs.seconds)) {
    if (!own.empty()) {
      ++usable;
      if (!isWanted(i)) {
        others.push_back(i);
      }
    }
  }
  if (others.size() < usable || rows == RowKind::Words) {
    for_each(others, [&](size_t i) { costs.seconds[i].clear(); });
  }
}

/// The calls that candidates are chosen for. The last ones of `prices` are the shapes that were measured: together they count as
/// much as the samples before them, or, where there are no other calls, alone.
static CallCosts costsOf(const sema::KernelInstance &kernel, ArrayRef<CandidatePrice> prices,
                         ArrayRef<MeasuredShape> shapes, RowKind rows, bool areAllCalls) {
  CallCosts costs = costsOf(prices, rows);
  const ptrdiff_t count =
      count_if(shapes, [&](const MeasuredShape &shape) { return shape.rows == rows; });
  if (costs.weights.empty()) {
    return costs;
  }
  const size_t samples = costs.weights.size() - shapes.size();
  if (count != 0 && areAllCalls) {
    std::fill_n(costs.weights.begin(), samples, 0);
  }
  for (auto [i, shape] : enumerate(shapes)) {
    const size_t call = samples + i;
    costs.weights[call] = shape.rows == rows ? double(samples) / double(count) : 0;
    std::vector<double> predicted;
    predicted.reserve(costs.seconds.size());
    for (const std::vector<double> &own : costs.seconds) {
      predicted.push_back(own.empty() ? 0 : own[call]);
    }
    for (auto [own, price] : zip_equal(costs.seconds, correctedPrices(shape, predicted))) {
      if (!own.empty()) {
        own[call] = price;
      }
    }
  }
  leaveOthersOut(costs, kernel, prices, shapes, rows);
  if (!areAllCalls) {
    addProbes(costs, prices);
  }
  return costs;
}

/// What each candidate's code for such rows costs at the call that so many calls of `prices` end with.
static std::vector<double> pricesOf(ArrayRef<CandidatePrice> prices, RowKind rows, size_t last) {
  std::vector<double> result;
  result.reserve(prices.size());
  for (const std::vector<double> &own : costsOf(prices, rows).seconds) {
    result.push_back(own.size() < last ? 0 : own[own.size() - last]);
  }
  return result;
}

/// How many of `wanted` sets are for such rows: most for aligned ones, which most calls have, and one at least for any, which take all calls.
static unsigned shareOf(unsigned wanted, RowKind rows, const ByRowKind<bool> &hasCode) {
  const unsigned any = hasCode[RowKind::Any] ? std::max(wanted / 3, 1u) : 0;
  const unsigned words = hasCode[RowKind::Words] ? wanted / 6 : 0;
  return rows == RowKind::Any     ? any
         : rows == RowKind::Words ? words
                                  : std::max(wanted - any - words, 1u);
}

ChosenCandidates Compilation::chooseCandidates(const sema::KernelInstance &kernel,
                                               ArrayRef<MeasuredShape> shapes,
                                               ArrayRef<CandidatePrice> prices, bool single) {
  constexpr unsigned usual = 6;
  const unsigned most = kernel.keep[RowKind::Aligned].value_or(usual);
  const bool areAllCalls = isFixed(kernel);
  ByRowKind<bool> hasCode;
  for (RowKind rows : kRowKinds) {
    hasCode[rows] = !single && any_of(prices, [&](const auto &one) { return one.hasCode[rows]; });
  }
  ChosenCandidates chosen;
  for (RowKind rows : kRowKinds) {
    if (rows != RowKind::Aligned && !hasCode[rows]) {
      continue;
    }
    std::vector<MeasuredShape> own;
    std::vector<std::vector<double>> predicted; // of each of these, by candidate
    for (auto [i, shape] : enumerate(shapes)) {
      if (shape.rows == rows) {
        own.push_back(shape);
        predicted.push_back(pricesOf(prices, rows, shapes.size() - i));
      }
    }
    unsigned limit = own.empty() ? std::min(most, mostSets[rows]) : most;
    limit = single             ? 1
            : options.variants ? shareOf(options.variants, rows, hasCode)
                               : kernel.keep[rows].value_or(limit);
    // A kernel that says how many to keep has listed few, each the best somewhere, if not at the calls that are tried.
    const double leastGain = kernel.keep[rows] ? -std::numeric_limits<double>::infinity() : 0.001;
    chosen.of[rows] =
        coverCalls(costsOf(kernel, prices, shapes, rows, areAllCalls), limit, leastGain);
    append_range(chosen.preferences, preferencesOf(own, chosen.of[rows], predicted));
  }
  return chosen;
}

void Compilation::writePreferences(json::Object &manifest,
                                   ArrayRef<std::map<std::string, size_t>> numbers) const {
  for (json::Value &item : *manifest.getArray("kernels")) {
    json::Object &kernel = *item.getAsObject();
    json::Array list;
    for (const JobPreference &preference : preferences) {
      if (preference.symbol != *kernel.getString("symbol")) {
        continue;
      }
      json::Object ranges;
      for (const auto &[name, bounds] : preference.ranges) {
        ranges[name] = json::Array{bounds.first, bounds.second};
      }
      list.push_back(
          json::Object{{"ranges", std::move(ranges)},
                       {"configuration", int64_t(numbers[preference.job].at(preference.symbol))},
                       {"rows", variantOf(preference.rows)}});
    }
    if (!list.empty()) {
      kernel["preferences"] = std::move(list);
    }
  }
}

} // namespace tilec
