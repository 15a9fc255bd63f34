// Compilation, continued: the what `tilec tune` and `tilec bench` ask.
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Pipeline.h"

using namespace llvm;

namespace tilec {

/// Whether all candidates agree in it.
static bool isShared(const TunableKernel &kernel, const std::string &name,
                     const std::string &value) {
  return all_of(kernel.candidates, [&](const ParameterTexts &params) {
    auto found = params.find(name);
    return found != params.end() && found->second == value;
  });
}

ParameterTexts TunableKernel::sharedParams() const {
  ParameterTexts shared;
  for (const auto &[name, value] : candidates.front()) {
    if (isShared(*this, name, value)) {
      shared[name] = value;
    }
  }
  return shared;
}

ParameterTexts TunableKernel::ownParams(unsigned candidate) const {
  ParameterTexts own;
  for (const auto &[name, value] : candidates[candidate]) {
    if (!isShared(*this, name, value)) {
      own[name] = value;
    }
  }
  return own;
}

static TunableKernel describe(const sema::KernelInstance &kernel, const TuneOptions &tune) {
  TunableKernel result;
  result.symbol = kernel.symbol;
  result.name = kernel.sourceName.str();
  result.candidates = candidatesOf(kernel);
  for (const sema::DimDecl *dim : kernel.dims) {
    result.extents.push_back(dim->name.str());
    if (dim->constant) {
      result.fixed[dim->name.str()] = *dim->constant;
    }
  }
  const std::vector<std::string> integers = integerScalars(kernel);
  for (const std::string &name : integers) {
    const bool isGiven =
        any_of(tune.args, [&](StringRef arg) { return arg.split('=').first.trim() == name; });
    if (!isGiven) {
      result.extents.push_back(name);
      result.scalars.push_back(name);
    }
  }
  for (const sema::Param &param : kernel.params) {
    if (param.scalar && !is_contained(integers, param.scalar->name)) {
      result.otherScalars.push_back(param.scalar->name.str());
    }
  }
  return result;
}

std::unique_ptr<sema::Program> Compilation::analyzeKernels() {
  if (!load()) {
    return nullptr;
  }
  if (!main) {
    diags.report(diag::Id::Usage, SMRange(), "`tilec bench` takes source, not IR");
    return nullptr;
  }
  return analyze({options.archs.front()});
}

std::optional<TunableKernel> Compilation::findTunable() {
  auto usage = [&](const Twine &text) {
    diags.report(diag::Id::Usage, SMRange(), text);
    return std::nullopt;
  };
  if (!load()) {
    return std::nullopt;
  }
  if (!main) {
    return usage("`tilec tune` takes source, not IR");
  }
  forcesAuto = !usesAuto();
  std::unique_ptr<sema::Program> program = analyze({options.archs.front()});
  if (!program) {
    return std::nullopt;
  }
  std::optional<TunableKernel> result;
  std::string known;
  for (const auto &kernel : program->kernels) {
    if (!kernel->candidates.empty()) {
      known += " " + kernel->symbol;
      result = result ? *result : describe(*kernel, options.tune);
      result->sourceHash = tunedSourceHash();
    }
  }
  if (!result) {
    diags.report(diag::Id::NothingToCompile, SMRange(), input);
    return std::nullopt;
  }
  if (StringRef(known).count(' ') > 1) {
    return usage("choose one kernel with `--kernel`; there are" + known);
  }
  return result;
}

std::optional<std::vector<CandidatePrice>>
Compilation::priceCandidates(const TunableKernel &kernel, ArrayRef<CallSample> samples) {
  std::vector<CandidatePrice> prices(kernel.candidates.size());
  auto priceOne = [&](size_t i, Compilation &own) {
    own.forcesAuto = forcesAuto;
    prices[i] = own.price(jobOf(kernel, unsigned(i)), samples);
  };
  if (!inParallel(prices.size(), /*keeps=*/false, priceOne)) {
    return std::nullopt;
  }
  return prices;
}

ModuleJob Compilation::jobOf(const TunableKernel &kernel, unsigned candidate) const {
  return {options.archs.front(),
          ModuleJob::Select::Chosen,
          {{kernel.symbol, candidate}},
          allVariants()};
}

std::optional<std::vector<std::string>>
Compilation::compileCandidates(const TunableKernel &kernel, ArrayRef<CandidatePack> packs) {
  std::vector<std::string> problems(packs.size());
  std::vector<std::optional<diag::Id>> unfit(
      packs.size()); // what has nothing to do with the candidate
  auto compileOne = [&](size_t i, Compilation &own) {
    own.forcesAuto = forcesAuto;
    own.setOutput(packs[i].path);
    const ModuleJob job = jobOf(kernel, packs[i].candidate);
    DeviceCode code;
    if (own.compileJob(job, code) && own.bundle(job, code)) {
      return;
    }
    problems[i] = "it does not compile";
    for (const auto &diagnostic : own.diags.diagnostics()) {
      if (diagnostic->severity == diag::Severity::Error) {
        problems[i] = diagnostic->message;
        if (diagnostic->id == diag::Id::ToolMissing || diagnostic->id == diag::Id::FileWrite) {
          unfit[i] = diagnostic->id;
        }
        break;
      }
    }
  };
  if (!inParallel(packs.size(), /*keeps=*/false, compileOne)) {
    return std::nullopt;
  }
  for (auto [problem, id] : zip_equal(problems, unfit)) {
    if (id) { // the next time it may be another
      auto report = diags.reportText(*id, diag::Severity::Error, SMRange(), problem);
      if (*id == diag::Id::ToolMissing) {
        report.hint("install CUDA or give its folder with `--cuda-path`");
      }
      return std::nullopt;
    }
  }
  return problems;
}

} // namespace tilec
