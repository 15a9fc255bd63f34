#include "compiler/benchmark/BenchPlan.h"

#include "compiler/basic/Version.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;

namespace tilec {

namespace {
/// A kernel that is compiled for a line that names its parameters.
struct AddedKernel {
  std::string kernel, symbol;
  CaseParameters params;
};

/// "M=64,128 N=7" as "bench: M in [64, 128]; N = 7"; empty if it is none of these.
std::string lineOfShape(StringRef shape) {
  std::string line;
  SmallVector<StringRef> words;
  SplitString(shape, words, " \t\r");
  for (StringRef word : words) {
    auto [name, values] = word.rtrim(',').split('=');
    SmallVector<StringRef> list;
    values.split(list, ',');
    int64_t number = 0;
    if (name.empty() ||
        any_of(list, [&](StringRef value) { return value.getAsInteger(10, number); })) {
      return {};
    }
    line += line.empty() ? "bench: " : "; ";
    line +=
        name.str() + (list.size() == 1 ? " = " + list[0].str() : " in [" + join(list, ", ") + "]");
  }
  return line;
}

class Planner {
public:
  Planner(const Options &options, Compilation &compilation, BenchPlan &plan)
      : options(options), compilation(compilation), diags(compilation.getDiags()), plan(plan) {}
  bool run();

private:
  bool readLines();
  KernelBenches readKernel(Compilation &from, const sema::KernelInstance &kernel) const {
    return readBenches(from.getMain(), from.getSources(), from.getTrees(), from.getDiags(), kernel,
                       lines);
  }
  std::vector<AddedKernel> findMissing(const sema::Program &program,
                                       ArrayRef<KernelBenches> benches) const;
  bool addKernels(const sema::Program &program, ArrayRef<AddedKernel> added);
  void take(const sema::KernelInstance &kernel, KernelBenches benches, const AddedKernel *added);
  std::string lineOf(const std::string &symbol, const BenchCase &one) const;
  void nameFiles();

  const Options &options;
  Compilation &compilation;
  DiagnosticEngine &diags;
  BenchPlan &plan;
  std::vector<std::string> lines; ///< that are given
};

/// Lines of the command line and of the file of shapes.
bool Planner::readLines() {
  lines = options.bench.lines;
  const std::string &path = options.bench.shapesFile;
  if (path.empty()) {
    return true;
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
  if (!file) {
    diags.report(diag::Id::FileRead, SMRange(), path, file.getError().message());
    return false;
  }
  SmallVector<StringRef> shapes;
  (*file)->getBuffer().split(shapes, '\n');
  for (auto [i, text] : enumerate(shapes)) {
    const StringRef shape = text.split('#').first.trim();
    if (shape.empty()) {
      continue;
    }
    lines.push_back(lineOfShape(shape));
    if (lines.back().empty()) {
      diags.report(diag::Id::Usage, SMRange(),
                   path + ":" + std::to_string(i + 1) + ": `" + shape +
                       "` is not NAME=VALUE NAME=VALUE,VALUE,...");
      return false;
    }
  }
  if (lines.empty()) {
    diags.report(diag::Id::Usage, SMRange(), "`" + path + "` has no shapes");
  }
  return !lines.empty();
}

CaseParameters namedParameters(const TestCase &call) {
  CaseParameters named;
  for (const CaseValue &value : call.values) {
    if (value.kind == CaseValue::Kind::Parameter && !value.isDefault) {
      named.emplace_back(value.name, value.text);
    }
  }
  return named;
}

/// What lines ask for and no kernel has, each once.
std::vector<AddedKernel> Planner::findMissing(const sema::Program &program,
                                              ArrayRef<KernelBenches> benches) const {
  std::vector<AddedKernel> missing;
  for (auto [kernel, own] : zip_equal(program.kernels, benches)) {
    if (!options.kernel.empty() && options.kernel != kernel->sourceName) {
      continue; // one symbol is wanted, as it is
    }
    for (const CaseParameters &params : own.others) {
      const bool isKnown = any_of(zip_equal(program.kernels, benches), [&](const auto &pair) {
        const auto &[other, cases] = pair;
        return other->sourceName == kernel->sourceName &&
               any_of(cases.cases,
                      [&](const BenchCase &one) { return namedParameters(one.call) == params; });
      });
      std::string symbol = kernel->sourceName.str();
      for (const auto &[name, value] : params) {
        symbol.append("_").append(name).append("_").append(value);
      }
      for (char &c : symbol) {
        c = isAlnum(c) ? c : '_';
      }
      if (!isKnown && none_of(missing, [&](const auto &one) { return one.symbol == symbol; })) {
        missing.push_back({kernel->sourceName.str(), symbol, params});
      }
    }
  }
  return missing;
}

/// Has them compiled, beside what is compiled without being asked for, which would no longer be.
bool Planner::addKernels(const sema::Program &program, ArrayRef<AddedKernel> added) {
  for (const auto &kernel : program.kernels) {
    if (kernel->requested.Start == kernel->range.Start) {
      plan.options.instantiate.push_back(kernel->sourceName.str() + " as " + kernel->symbol);
    }
  }
  for (const AddedKernel &one : added) {
    std::string text;
    for (const auto &[name, value] : one.params) {
      text.append(text.empty() ? "" : ", ").append(name).append(" = ").append(value);
    }
    const bool isTuned = any_of(program.kernels, [&](const auto &kernel) {
      return kernel->sourceName == one.kernel && !kernel->candidates.empty();
    });
    plan.options.instantiate.push_back(one.kernel + "<" + text + (isTuned ? ", auto" : "") +
                                       "> as " + one.symbol);
  }
  return true;
}

std::string Planner::lineOf(const std::string &symbol, const BenchCase &one) const {
  std::string text = "--kernel " + symbol;
  for (const CaseValue &value : one.call.values) {
    if (value.kind == CaseValue::Kind::Dimension) {
      text += " --dim " + value.name + "=" + value.text;
    } else if (value.kind != CaseValue::Kind::Parameter) {
      text += " --arg " + value.name + "=" + value.text;
    }
  }
  if (!one.baseline.empty() && options.bench.baseline != "none") {
    text += " --baseline \"" + one.baseline + "\"";
    if (one.tolerance) {
      raw_string_ostream(text) << " --tolerance " << format("%g", *one.tolerance);
    }
  }
  return text;
}

void Planner::take(const sema::KernelInstance &kernel, KernelBenches benches,
                   const AddedKernel *added) {
  for (BenchCase &one : benches.cases) {
    std::string call = one.call.describe();
    const bool isAsked = StringRef(kernel.symbol + ": " + call).contains(options.bench.filter);
    if (isAsked && (!added || namedParameters(one.call) == added->params)) {
      std::string line = lineOf(kernel.symbol, one);
      plan.runs.push_back({kernel.symbol, std::move(call), std::move(one), std::move(line)});
    }
  }
}

void Planner::nameFiles() {
  SHA256 hash;
  auto add = [&](StringRef text) { hash.update((Twine(text.size()) + ":" + text).str()); };
  add(kVersion);
  add(plan.sourceHash);
  add(options.archs.front()->name);
  add(std::to_string(options.optLevel) + (options.check ? "c" : "") +
      (options.autoParams ? "a" : "") + std::to_string(options.variants));
  add(options.kernel);
  for (const auto &[name, value] : options.params) {
    add(name);
    add(value);
  }
  for (const std::string &text : plan.options.instantiate) {
    add(text);
  }
  const std::string tuneFile =
      options.tuneFile.empty() ? tuneFileBeside(compilation.getInput()) : options.tuneFile;
  if (ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(tuneFile)) {
    add((*file)->getBuffer());
  }
  const std::string stem = sys::path::stem(compilation.getInput()).str();
  plan.pack = stem + "-" + toHex(hash.result(), /*LowerCase=*/true).substr(0, 16) + ".pack";
  add(std::to_string(options.bench.repeat));
  add(std::to_string(options.bench.launchSeconds));
  plan.results = stem + "-" + toHex(hash.result(), /*LowerCase=*/true).substr(0, 16) + ".results";
}

bool Planner::run() {
  if (!readLines()) {
    return false;
  }
  std::unique_ptr<sema::Program> program = compilation.analyzeKernels();
  if (!program) {
    return false;
  }
  std::vector<KernelBenches> benches;
  for (const auto &kernel : program->kernels) {
    benches.push_back(readKernel(compilation, *kernel));
    if (diags.hasErrors()) {
      return false;
    }
  }
  plan.options = options;
  plan.sourceHash = compilation.tunedSourceHash();
  const std::vector<AddedKernel> added = findMissing(*program, benches);
  if (added.empty()) {
    for (auto [kernel, own] : zip_equal(program->kernels, benches)) {
      take(*kernel, std::move(own), nullptr);
    }
  } else {
    addKernels(*program, added);
    Compilation more(plan.options, compilation.getInput());
    program = more.analyzeKernels();
    for (size_t i = 0; program && i < program->kernels.size(); ++i) {
      const sema::KernelInstance &kernel = *program->kernels[i];
      const auto found =
          find_if(added, [&](const auto &one) { return one.symbol == kernel.symbol; });
      take(kernel, readKernel(more, kernel), found == added.end() ? nullptr : &*found);
    }
    if (more.getDiags().hasErrors()) {
      more.finish(errs());
      diags.report(diag::Id::CaseLine, SMRange(),
                   "a `bench` line names parameters that the kernel does not compile with");
      return false;
    }
  }
  nameFiles();
  if (plan.runs.empty()) {
    diags.report(diag::Id::NoCases, SMRange(), compilation.getInput());
    return false;
  }
  return true;
}
} // namespace

bool makePlan(const Options &options, Compilation &compilation, BenchPlan &plan) {
  return Planner(options, compilation, plan).run();
}

} // namespace tilec
