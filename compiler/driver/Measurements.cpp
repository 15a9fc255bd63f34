// Compilation, continued: what a tune file says of its kernels.
#include "compiler/driver/Compilation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

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
  for (const std::vector<sema::Binding> &bindings : kernel.candidates) {
    ParameterTexts &texts = result.emplace_back();
    for (const sema::Binding &binding : bindings) {
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

/// Sets of parameters for rows that start anywhere. Each costs the time to compile it; of gemm a fourth gains nothing more.
static constexpr unsigned mostForAnyRows = 3;

ChosenCandidates Compilation::chooseCandidates(const sema::KernelInstance &kernel,
                                               const Target &target,
                                               ArrayRef<CandidatePrice> prices, unsigned limit) {
  std::vector<unsigned> usable;
  for (auto [i, price] : enumerate(prices)) {
    if (price.refused.empty()) {
      usable.push_back(unsigned(i));
    }
  }
  std::vector<MeasuredShape> aligned, any;
  for (MeasuredShape &shape : measurementsOf(kernel, target)) {
    (shape.isAny ? any : aligned).push_back(std::move(shape));
  }
  ChosenCandidates chosen{coverShapes(aligned, usable, limit), coverShapes(any, usable, limit), {}};
  if (chosen.aligned.empty() || !isFixed(kernel)) {
    chosen.aligned = coverSamples(prices, &CandidatePrice::aligned, limit, chosen.aligned);
  }
  if (chosen.any.empty()) {
    chosen.any = coverSamples(prices, &CandidatePrice::any, std::min(limit, mostForAnyRows));
  }
  chosen.preferences = preferencesOf(aligned, chosen.aligned);
  append_range(chosen.preferences, preferencesOf(any, chosen.any));
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
                       {preference.isAny ? "with" : "without", "any"}});
    }
    if (!list.empty()) {
      kernel["preferences"] = std::move(list);
    }
  }
}

} // namespace tilec
