#include "compiler/tuning/TunePlan.h"

#include "compiler/basic/Version.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

#include <set>
#include <tuple>

using namespace llvm;

namespace tilec {

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {
/// Names with the values that are to be tried, in the order given.
using Extents = std::vector<std::pair<std::string, std::vector<int64_t>>>;

class ShapeReader {
public:
  ShapeReader(const TunableKernel &kernel, DiagnosticEngine &diags)
      : kernel(kernel), diags(diags) {}

  /// "M=64,128"; `where` begins the message. What is in `extents` is replaced, but what is in `names`.
  bool read(StringRef text, StringRef where, Extents &extents, std::set<std::string> &names) {
    auto [name, list] = text.split('=');
    name = name.trim();
    std::vector<int64_t> values;
    SmallVector<StringRef> parts;
    list.split(parts, ',');
    for (StringRef part : parts) {
      int64_t value = 0;
      const bool isScalar = is_contained(kernel.scalars, name);
      if (part.trim().getAsInteger(10, value) || (value < 0 && !isScalar)) {
        return usage(where + "`" + text + "` is not NAME=VALUE or NAME=VALUE,VALUE,...");
      }
      values.push_back(value);
    }
    auto fixed = kernel.fixed.find(name.str());
    if (!is_contained(kernel.extents, name)) {
      return usage(where + "`" + kernel.symbol + "` has no dimension `" + name + "`; it has " +
                   join(kernel.extents, ", "));
    }
    if (fixed != kernel.fixed.end() &&
        any_of(values, [&](int64_t value) { return value != fixed->second; })) {
      return usage(where + "`" + name + "` is compiled as " + std::to_string(fixed->second));
    }
    if (!names.insert(name.str()).second) {
      return usage(where + "`" + name + "` is given twice: write `" + name + "=V,V,...`");
    }
    auto known = find_if(extents, [&](const auto &entry) { return entry.first == name; });
    if (known != extents.end()) {
      known->second = std::move(values);
    } else {
      extents.emplace_back(name.str(), std::move(values));
    }
    return true;
  }

  /// All combinations; the last name varies fastest.
  bool expand(Extents extents, StringRef where, std::vector<Shape> &shapes) {
    for (const auto &[name, value] : kernel.fixed) {
      extents.emplace_back(name, std::vector<int64_t>{value});
    }
    for (const std::string &name : kernel.extents) {
      if (none_of(extents, [&](const auto &entry) { return entry.first == name; })) {
        return usage(where + "no value is given for `" + name + "`: `--dim " + name + "=...`");
      }
    }
    auto tooMany = [&] {
      return usage(where + "these are more than " + std::to_string(maxShapes) + " shapes");
    };
    size_t count = 1;
    for (const auto &[name, values] : extents) {
      count *= values.size();
      if (count > maxShapes) {
        return tooMany();
      }
    }
    for (size_t n = 0; n < count; ++n) {
      Shape shape;
      size_t rest = n;
      for (const auto &[name, values] : reverse(extents)) {
        shape[name] = values[rest % values.size()];
        rest /= values.size();
      }
      if (known.insert(shape).second) {
        shapes.push_back(std::move(shape));
      }
      if (shapes.size() > maxShapes) {
        return tooMany();
      }
    }
    return true;
  }

  bool usage(const Twine &text) {
    diags.report(diag::Id::Usage, SMRange(), text);
    return false;
  }

private:
  static constexpr size_t maxShapes = 10000;
  const TunableKernel &kernel;
  DiagnosticEngine &diags;
  std::set<Shape> known; ///< those that are among the shapes
};
} // namespace

bool readShapes(const Options &options, const TunableKernel &kernel, DiagnosticEngine &diags,
                std::vector<Shape> &shapes) {
  ShapeReader reader(kernel, diags);
  Extents common;
  std::set<std::string> names;
  for (const std::string &text : options.tune.dims) {
    if (!reader.read(text, "--dim: ", common, names)) {
      return false;
    }
  }
  if (options.tune.shapesFile.empty()) {
    return reader.expand(common, "", shapes);
  }
  const std::string &path = options.tune.shapesFile;
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
  if (!file) {
    diags.report(diag::Id::FileRead, SMRange(), path, file.getError().message());
    return false;
  }
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n');
  for (auto [i, line] : enumerate(lines)) {
    const std::string where = path + ":" + std::to_string(i + 1) + ": ";
    Extents extents = common;
    names.clear();
    SmallVector<StringRef> words;
    SplitString(line.split('#').first, words, " \t\r");
    for (StringRef word : words) {
      if (!reader.read(word.rtrim(','), where, extents, names)) {
        return false;
      }
    }
    if (!words.empty() && !reader.expand(extents, where, shapes)) {
      return false;
    }
  }
  return !shapes.empty() || reader.usage("`" + path + "` has no shapes");
}

std::string describeShape(const Shape &shape) {
  std::string text;
  for (const auto &[name, value] : shape) {
    text.append(text.empty() ? "" : ", ").append(name).append(" = ");
    text += std::to_string(value);
  }
  return text;
}

std::string caseOf(const TunableKernel &kernel, const Shape &shape) {
  std::string text;
  for (const auto &[name, value] : shape) {
    const bool isScalar = is_contained(kernel.scalars, name);
    text += (text.empty() ? "" : " ") + std::string(isScalar ? "--arg " : "--dim ") + name + "=" +
            std::to_string(value);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

std::string describeCandidate(const TunableKernel &kernel, unsigned candidate) {
  std::string text;
  for (const auto &[name, value] : kernel.ownParams(candidate)) {
    text.append(text.empty() ? "" : ", ").append(name).append(" = ").append(value);
  }
  return text.empty() ? "its only candidate" : text;
}

/// What the model has to know of a call: extents, and scalar arguments that are numbers.
static CallSample sampleOf(const Shape &shape, const TuneOptions &tune) {
  CallSample sample;
  for (const std::string &arg : tune.args) {
    auto [name, text] = StringRef(arg).split('=');
    double value = 0;
    if (!text.getAsDouble(value)) {
      sample[name] = value;
    }
  }
  for (const auto &[name, value] : shape) {
    sample[name] = double(value);
  }
  return sample;
}

/// The candidates that are usable and take such a call, the cheapest first.
static std::vector<PredictedTime> sorted(ArrayRef<CandidatePrice> prices, size_t shape,
                                         RowKind rows) {
  std::vector<PredictedTime> list;
  for (auto [i, price] : enumerate(prices)) {
    const bool isWorthwhile = price.refused.empty() && price.refusedFor[rows].empty();
    if (isWorthwhile && price.served[shape]) {
      list.push_back({unsigned(i), price.seconds[rows][shape]});
    }
  }
  sort(list, [](const auto &a, const auto &b) {
    return std::tie(a.seconds, a.candidate) < std::tie(b.seconds, b.candidate);
  });
  return list;
}

/// Which of the codes by alignment takes a call is only known when it is made: where extents leave that open, the best for each are
/// taken in turn.
static std::vector<PredictedTime> rankingOf(ArrayRef<CandidatePrice> prices, size_t number,
                                            const Shape &shape) {
  constexpr int64_t kAnyRow = 16; // elements, the least of which are bytes, that end at 16 bytes
  std::vector<PredictedTime> aligned = sorted(prices, number, RowKind::Aligned);
  if (all_of(shape, [](const auto &extent) { return extent.second % kAnyRow == 0; })) {
    return aligned;
  }
  const std::vector<PredictedTime> any = sorted(prices, number, RowKind::Any),
                                   words = sorted(prices, number, RowKind::Words);
  std::vector<PredictedTime> result;
  std::set<unsigned> taken;
  for (size_t i = 0; i < std::max({aligned.size(), words.size(), any.size()}); ++i) {
    for (ArrayRef<PredictedTime> list : {ArrayRef(any), ArrayRef(words), ArrayRef(aligned)}) {
      if (i < list.size() && taken.insert(list[i].candidate).second) {
        result.push_back(list[i]);
      }
    }
  }
  return result;
}

/// Tells files of different code and different measurements apart.
static std::string fileName(const Options &options, const TunableKernel &kernel,
                            unsigned candidate) {
  SHA256 hash;
  auto add = [&](StringRef text) { hash.update((Twine(text.size()) + ":" + text).str()); };
  add(kVersion);
  add(kernel.sourceHash);
  add(options.archs.front()->name);
  add(std::to_string(options.optLevel) + (options.check ? "c" : ""));
  add(std::to_string(options.tune.repeat));
  for (const auto &[name, value] : kernel.candidates[candidate]) {
    add(name);
    add(value);
  }
  for (const auto *list : {&options.tune.args, &options.tune.pitch}) {
    add(std::to_string(list->size()));
    for (const std::string &text : *list) {
      add(text);
    }
  }
  for (const auto &[name, value] : kernel.fixed) {
    add(name + "=" + std::to_string(value));
  }
  return kernel.symbol + "-" + toHex(hash.final(), /*LowerCase=*/true).substr(0, 16);
}

bool makePlan(const Options &options, Compilation &compilation, TunePlan &plan) {
  DiagnosticEngine &diags = compilation.getDiags();
  std::optional<TunableKernel> kernel = compilation.findTunable();
  if (!kernel || !readShapes(options, *kernel, diags, plan.shapes)) {
    return false;
  }
  plan.kernel = std::move(*kernel);
  for (const std::string &name : plan.kernel.otherScalars) {
    if (none_of(options.tune.args,
                [&](StringRef arg) { return arg.split('=').first.trim() == name; })) {
      diags.report(diag::Id::Usage, SMRange(),
                   Twine("`") + name + "` needs a value: `--arg " + name + "=...`");
      return false;
    }
  }
  std::vector<CallSample> samples;
  samples.reserve(plan.shapes.size());
  for (const Shape &shape : plan.shapes) {
    samples.push_back(sampleOf(shape, options.tune));
  }
  std::optional<std::vector<CandidatePrice>> prices =
      compilation.priceCandidates(plan.kernel, samples);
  if (!prices) {
    return false;
  }
  plan.refused = size_t(count_if(*prices, [](const auto &one) { return !one.refused.empty(); }));
  std::map<unsigned, TuneJob> jobs;
  for (auto [number, shape] : enumerate(plan.shapes)) {
    plan.ranking.push_back(rankingOf(*prices, number, shape));
    for (const PredictedTime &one :
         ArrayRef(plan.ranking.back()).take_front(options.tune.candidates)) {
      TuneJob &job = jobs[one.candidate];
      job.candidate = one.candidate;
      job.shapes.push_back(number);
    }
  }
  if (jobs.empty()) {
    const std::string &refused = prices->front().refused;
    diags.report(diag::Id::NothingMeasured, SMRange(), plan.kernel.symbol)
            .hint("none is worth compiling: list other values in `tune`")
        << note(SMRange(), refused.empty()
                               ? "a `where` of the kernel does not hold at these extents"
                               : refused);
    return false;
  }
  for (auto &[candidate, job] : jobs) {
    job.name = fileName(options, plan.kernel, candidate);
    plan.jobs.push_back(std::move(job));
  }
  return true;
}

} // namespace tilec
