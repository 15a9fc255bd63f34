// Compilation, continued: which parameters `auto` gives, and compilations side by side.
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/TimeTrace.h"
#include "dialects/tgpu/Tgpu.h"
#include "passes/CostModel.h"
#include "passes/MachineModel.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"

#include <atomic>
#include <thread>
#include <unistd.h>

using namespace mlir;

namespace tilec {

/// How long other compilations may go on when one has crashed, perhaps with a lock that they wait for.
static constexpr unsigned secondsAfterCrash = 300;

/// Room for recursion over trees of the greatest depth that the parser lets through.
static constexpr unsigned stackBytes = 256u << 20;

//===----------------------------------------------------------------------===//
// Side by side
//===----------------------------------------------------------------------===//

/// The same place in the buffer of the same name of another SourceMgr; none if it has no such buffer.
static llvm::SMLoc translated(llvm::SMLoc loc, const llvm::SourceMgr &from,
                              const llvm::SourceMgr &to) {
  const unsigned id = loc.isValid() ? from.FindBufferContainingLoc(loc) : 0;
  if (id == 0) {
    return {};
  }
  const llvm::MemoryBuffer *buffer = from.getMemoryBuffer(id);
  for (unsigned other = 1; other <= to.getNumBuffers(); ++other) {
    const llvm::MemoryBuffer *same = to.getMemoryBuffer(other);
    if (same->getBufferIdentifier() == buffer->getBufferIdentifier() &&
        same->getBufferSize() == buffer->getBufferSize()) {
      return llvm::SMLoc::getFromPointer(same->getBufferStart() +
                                         (loc.getPointer() - buffer->getBufferStart()));
    }
  }
  return {};
}

void Compilation::adopt(const DiagnosticEngine &others) {
  auto place = [&](llvm::SMRange range) {
    const llvm::SourceMgr &from = others.getSources(), &to = diags.getSources();
    return llvm::SMRange(translated(range.Start, from, to), translated(range.End, from, to));
  };
  for (const auto &one : others.diagnostics()) {
    Diagnostic own = *one;
    own.range = place(own.range);
    for (Note &note : own.notes) {
      note.range = place(note.range);
    }
    diags.adopt(std::move(own));
  }
}

void Compilation::addTextsOf(const SourceManager &others) {
  for (unsigned id = 1; id <= others.numFiles(); ++id) {
    sources.addText(others.name(id), others.text(id));
  }
}

bool Compilation::inParallel(size_t count, bool keeps,
                             llvm::function_ref<void(size_t, Compilation &)> work, bool parses) {
  Options quiet = options;
  if (!keeps) {
    quiet.report = quiet.printIrAfterAll = quiet.saveTemps = false;
    quiet.warnings = {};
  }
  std::vector<std::unique_ptr<Compilation>> compilations(count);
  std::vector<char> survived(count, 0);
  std::atomic<size_t> next = 0;
  auto worker = [&] {
    for (size_t i = next++; i < count; i = next++) {
      compilations[i] = std::make_unique<Compilation>(quiet, input);
      Compilation &own = *compilations[i];
      own.mayDivide = false;
      if (input == "-") { // which can be read once
        own.standardInput = sources.text(1);
      }
      llvm::CrashRecoveryContext guard;
      survived[i] = guard.RunSafelyOnThread(
          [&] {
            TimeTrace::Thread trace(!options.timeTrace.empty());
            if (!parses) {
              own.addTextsOf(sources);
            }
            if (!parses || own.load()) {
              work(i, own);
            }
          },
          stackBytes);
      if (!survived[i]) {
        next = count; // a crash is reported first of all
        // For those that are still at work, instead of the few that a report has.
        alarm(secondsAfterCrash);
      } else if (!keeps) {
        compilations[i].reset();
      }
    }
  };
  const unsigned processors =
      options.jobs != 0 ? options.jobs : std::thread::hardware_concurrency();
  const unsigned wanted = quiet.printIrAfterAll ? 1 : processors; // which all print to one stream
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min<size_t>(std::max(wanted, 1u), count); ++i) {
    threads.emplace_back(worker);
  }
  worker();
  for (std::thread &thread : threads) {
    thread.join();
  }
  const bool crashed = llvm::any_of(llvm::zip(compilations, survived), [](auto one) {
    return std::get<0>(one) != nullptr && std::get<1>(one) == 0;
  });
  if (crashed) {
    alarm(0);
  }
  bool done = true;
  for (auto [i, own] : llvm::enumerate(compilations)) {
    if (own && !survived[i]) {
      diags.report(diag::Id::InternalError, llvm::SMRange(), "crash (during " + own->phase + ")");
      (void)own.release(); // in no state to be destroyed
      done = false;
    } else if (own) {
      adopt(own->diags);
      timer.add(own->timer);
    }
  }
  return done && !failed();
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

bool Compilation::usesAuto() const {
  auto asks = [](const LoadedFile &file) {
    return llvm::any_of(file.ast->items, [](const ast::Item *item) {
      auto *instantiate = llvm::dyn_cast<ast::InstantiateItem>(item);
      return instantiate && llvm::any_of(instantiate->given,
                                         [](const ast::Given &given) { return given.isAuto(); });
    });
  };
  return options.autoParams || asks(*main) ||
         llvm::any_of(instantiates, [&](const LoadedFile *file) { return asks(*file); });
}

namespace {
/// What a kernel takes in calls that launch it, computed for one call after the other.
class LaunchPrice {
public:
  explicit LaunchPrice(tgpu::CostOp cost) : LaunchPrice(wantedOf(cost)) {}

  double secondsOf(const CallSample &sample, double multiprocessors) {
    llvm::transform(evaluator.leaves(), leaves.begin(), [&](Value leaf) {
      return valueOfLeaf(leaf, sample, multiprocessors).value_or(0);
    });
    evaluator.evaluate(leaves, results);
    // The branches of the host part that it stands in.
    for (auto [taken, wanted] : llvm::zip_equal(ArrayRef(results).drop_front(), branches)) {
      if ((taken != 0) != wanted) {
        return 0;
      }
    }
    return results.front();
  }

private:
  struct Wanted {
    SmallVector<Value> values; // the cost, then conditions
    SmallVector<bool> branches;
  };

  static Wanted wantedOf(tgpu::CostOp cost) {
    Wanted wanted{{cost.getValue()}, {}};
    Region *region = cost->getParentRegion();
    while (auto branch = dyn_cast<scf::IfOp>(region->getParentOp())) {
      wanted.values.push_back(branch.getCondition());
      wanted.branches.push_back(region == &branch.getThenRegion());
      region = branch->getParentRegion();
    }
    return wanted;
  }

  explicit LaunchPrice(const Wanted &wanted)
      : evaluator(wanted.values), branches(wanted.branches), leaves(evaluator.leaves().size()),
        results(wanted.values.size()) {}

  HostEvaluator evaluator;
  SmallVector<bool> branches;
  SmallVector<double> leaves, results;
};
} // namespace

/// Whether another kernel takes all calls that this one may, or is for grids of whole clusters what this one is for all others.
static bool hasTwin(ModuleOp module, tgpu::KernelOp kernel) {
  const bool isClustered = kernel.getVariant() == "clustered";
  return llvm::any_of(module.getOps<tgpu::KernelOp>(), [&](tgpu::KernelOp other) {
    const bool assumesAsMuch = other.getGuard() == kernel.getGuard();
    return other.getLaunch() == kernel.getLaunch() && other != kernel &&
           (isClustered ? other.getVariant() == "aligned" && !assumesAsMuch
                        : other.getVariant() == "clustered" && assumesAsMuch);
  });
}

/// What code a kernel is; of one for all rows, nothing.
static std::optional<RowKind> rowsOf(tgpu::KernelOp kernel) {
  for (RowKind rows : {RowKind::Any, RowKind::Words}) {
    if (kernel.getVariant() == variantOf(rows)) {
      return rows;
    }
  }
  return kernel.getGuard() ? std::optional(RowKind::Aligned) : std::nullopt;
}

/// Whether calls with such rows take this kernel for its launch: of those that rely on no more the one that relies on most.
static bool isTaken(ModuleOp module, tgpu::KernelOp kernel, RowKind rows) {
  const std::optional<RowKind> own = rowsOf(kernel);
  return !own ||
         (*own >= rows && llvm::none_of(module.getOps<tgpu::KernelOp>(), [&](tgpu::KernelOp other) {
           const std::optional<RowKind> its = rowsOf(other);
           return other.getLaunch() == kernel.getLaunch() && its && *its >= rows && *its < *own;
         }));
}

/// Whether `where` of the kernels lets each call through, by what the call says of it.
static std::vector<bool> servedCalls(ModuleOp module, ArrayRef<CallSample> samples,
                                     const Target &target) {
  std::vector<bool> served(samples.size(), true);
  module.walk([&](tile::CheckOp check) {
    if (check.getDiagnostic() != "where-failed" || check.getTensor() ||
        check->getParentOp() != check->getParentOfType<tile::KernelOp>()) {
      return;
    }
    HostEvaluator condition(check.getCondition());
    SmallVector<double> leaves(condition.leaves().size());
    for (auto [i, sample] : llvm::enumerate(samples)) {
      bool isKnown = true;
      for (auto [leaf, value] : llvm::zip_equal(condition.leaves(), leaves)) {
        std::optional<double> given =
            valueOfLeaf(leaf, sample, machineModel(target).multiprocessors);
        isKnown &= given.has_value();
        value = given.value_or(0);
      }
      served[i] = served[i] && (!isKnown || condition.evaluate(leaves) != 0);
    }
  });
  return served;
}

/// Seconds that each call with such rows takes.
static std::vector<double> secondsOf(ModuleOp module, const llvm::StringMap<tgpu::CostOp> &costs,
                                     RowKind rows, ArrayRef<CallSample> samples,
                                     const Target &target) {
  std::vector<double> sums(samples.size());
  for (auto kernel : module.getOps<tgpu::KernelOp>()) {
    auto cost = costs.find(kernel.getSymName());
    if (cost == costs.end() || !isTaken(module, kernel, rows) || hasTwin(module, kernel)) {
      continue;
    }
    LaunchPrice price(cost->second);
    for (auto [sum, sample] : llvm::zip_equal(sums, samples)) {
      sum += price.secondsOf(sample, machineModel(target).multiprocessors);
    }
  }
  return sums;
}

CandidatePrice Compilation::price(const ModuleJob &job, llvm::ArrayRef<CallSample> samples,
                                  llvm::ArrayRef<CallSample> probes) {
  llvm::TimeTraceScope trace(
      "price", [&] { return llvm::join(llvm::make_second_range(job.parameters), ", "); });
  CandidatePrice result;
  auto refuse = [&](std::string reason) {
    for (const auto &diagnostic : diags.diagnostics()) {
      if (diagnostic->severity == diag::Severity::Error) {
        reason = diagnostic->message;
        break;
      }
    }
    result.refused = std::move(reason);
    return result;
  };
  OwningOpRef<ModuleOp> module = lowerFor(job);
  PipelineOptions pipeline{job.target, options.optLevel, options.check, allVariants()};
  if (!module || !runPasses(*module, *job.target, "outlining",
                            [&](OpPassManager &passes) { addOutliningPasses(passes, pipeline); })) {
    return refuse("it does not compile");
  }
  setTarget(*module, *job.target);
  if (!runPasses(*module, *job.target, "pricing",
                 [&](OpPassManager &passes) { addCostPasses(passes, pipeline); })) {
    return refuse("it does not compile");
  }
  for (auto kernel : module->getOps<tgpu::KernelOp>()) {
    const std::optional<RowKind> rows = rowsOf(kernel);
    if (rows) {
      result.hasCode[*rows] = true;
    }
    if (std::optional<std::string> reason = refusalOf(kernel)) {
      // Without TMA the code for aligned rows copies, too, and needs about as much.
      if (rows.value_or(RowKind::Aligned) == RowKind::Aligned || !job.target->hasTma) {
        return refuse(*reason);
      }
      result.refusedFor[*rows] = *reason;
    }
  }
  if (!result.hasCode[RowKind::Words]) { // their calls take the code for any
    result.refusedFor[RowKind::Words] = result.refusedFor[RowKind::Any];
  }
  const llvm::StringMap<tgpu::CostOp> costs = findCosts(*module);
  result.served = servedCalls(*module, samples, *job.target);
  result.probes = servedCalls(*module, probes, *job.target);
  for (RowKind rows : kRowKinds) {
    result.seconds[rows] = secondsOf(*module, costs, rows, samples, *job.target);
  }
  return result;
}

/// "BM = 128, BN = 64" of those that `tune` lists.
static std::string parametersOf(const sema::KernelInstance &kernel, unsigned candidate) {
  std::string text;
  for (const sema::Binding &binding : kernel.candidates[candidate].bindings) {
    const bool differs = llvm::any_of(kernel.candidates, [&](const auto &other) {
      return llvm::none_of(other.bindings, [&](const sema::Binding &its) {
        return its.name == binding.name && its.value == binding.value;
      });
    });
    if (differs) {
      text += (text.empty() ? "" : ", ") + binding.name.str() + " = " + binding.value;
    }
  }
  return text;
}

std::vector<std::string> pricedNames(const sema::KernelInstance &kernel) {
  std::vector<std::string> names;
  names.reserve(kernel.dims.size() + kernel.params.size());
  for (const sema::DimDecl *dim : kernel.dims) {
    names.push_back(dim->name.str());
  }
  for (const sema::Param &param : kernel.params) {
    if (param.scalar) {
      names.push_back(param.scalar->name.str());
    }
  }
  return names;
}

bool Compilation::planTuned(const sema::KernelInstance &kernel, const Target &target, bool single,
                            std::vector<ModuleJob> &jobs) {
  const std::vector<MeasuredShape> measured = measurementsOf(kernel, target);
  std::vector<CallSample> samples = sampleCalls(pricedNames(kernel), kernel.dims.size());
  const std::vector<CallSample> probes = probeCalls(pricedNames(kernel), kernel.dims.size());
  for (const MeasuredShape &shape : measured) {
    samples.push_back(samples.front()); // what a tune file does not name is as in any call
    for (const auto &[name, extent] : shape.shape) {
      samples.back()[name] = double(extent);
    }
  }
  auto jobOf = [&](unsigned candidate) {
    ModuleJob job{&target, ModuleJob::Select::Chosen, {{kernel.symbol, candidate}}};
    job.parameters[kernel.symbol] = parametersOf(kernel, candidate);
    job.name = kernel.symbol + "." + std::to_string(candidate);
    return job;
  };
  std::vector<CandidatePrice> prices(kernel.candidates.size());
  if (!inParallel(prices.size(), /*keeps=*/false, [&](size_t i, Compilation &own) {
        prices[i] = own.price(jobOf(i), samples, probes);
      })) {
    return false;
  }
  auto remark = [&](const llvm::Twine &text) {
    if (options.report) {
      diags.remark({kernel.symbol, target.name.str()}, kernel.requested, text);
    }
  };
  for (auto [i, price] : llvm::enumerate(prices)) {
    if (!price.refused.empty()) {
      remark("auto leaves out " + parametersOf(kernel, i) + ": " + price.refused);
    } else if (const std::string &reason = price.refusedFor[RowKind::Any];
               !reason.empty() && kernel.candidates[i].isFor[RowKind::Any]) {
      remark("auto leaves out " + parametersOf(kernel, i) + " for any rows: " + reason);
    }
  }
  ChosenCandidates chosen = chooseCandidates(kernel, measured, prices, single);
  if (chosen.of[RowKind::Aligned].empty()) { // compiling one says why
    chosen.of = {};
    chosen.of[RowKind::Aligned] = {0};
  }
  const bool hasVariants = !chosen.of[RowKind::Any].empty();
  std::map<unsigned, size_t> jobNumbers; // by candidate
  const size_t known = jobs.size();
  for (RowKind rows : kRowKinds) {
    for (unsigned candidate : chosen.of[rows]) {
      auto [number, isNew] = jobNumbers.try_emplace(candidate, jobs.size());
      if (isNew) {
        jobs.push_back(jobOf(candidate));
      }
      // Where nothing is gained by words their calls take the code for any rows.
      const bool isAny = rows == RowKind::Words && !prices[candidate].hasCode[rows];
      const RowKind own = isAny ? RowKind::Any : rows;
      if (hasVariants && !llvm::is_contained(jobs[number->second].variants, variantOf(own))) {
        jobs[number->second].variants.push_back(variantOf(own).str());
      }
    }
  }
  for (const ModuleJob &job : llvm::drop_begin(jobs, known)) {
    if (const std::string &parameters = job.parameters.at(kernel.symbol); !parameters.empty()) {
      remark("auto takes " + parameters +
             (hasVariants ? "; rows: " + llvm::join(job.variants, ", ") : ""));
    }
  }
  for (PreferredCandidate &one : chosen.preferences) {
    if (auto job = jobNumbers.find(one.candidate); job != jobNumbers.end() && !single) {
      for (const sema::DimDecl *dim : kernel.dims) {
        if (dim->constant) { // the rows are of calls with that, and no call has another
          one.ranges.erase(dim->name.str());
        }
      }
      preferences.push_back({kernel.symbol, std::move(one.ranges), job->second, one.rows});
    }
  }
  return true;
}

bool Compilation::planJobs(bool single, std::vector<ModuleJob> &jobs) {
  for (const Target *target : options.archs) {
    std::unique_ptr<sema::Program> program = analyze({target});
    if (!program) {
      return false;
    }
    std::vector<ModuleJob> tuned;
    const size_t known = preferences.size();
    bool hasOthers = false;
    for (const auto &kernel : program->kernels) {
      hasOthers = hasOthers || kernel->candidates.empty();
      if (!kernel->candidates.empty() && !planTuned(*kernel, *target, single, tuned)) {
        return false;
      }
    }
    if (single) { // all in one module
      ModuleJob job{target};
      for (const ModuleJob &one : tuned) {
        job.choices.insert(one.choices.begin(), one.choices.end());
        job.parameters.insert(one.parameters.begin(), one.parameters.end());
      }
      jobs.push_back(std::move(job));
      continue;
    }
    if (hasOthers || tuned.empty()) {
      jobs.push_back({target, ModuleJob::Select::NotTuned});
    }
    for (JobPreference &preference : llvm::drop_begin(preferences, known)) {
      preference.job += jobs.size();
    }
    llvm::append_range(jobs, tuned);
  }
  return true;
}

} // namespace tilec
