#include "tools/tile-run/Case.h"

#include "runtime/harness/Compare.h"
#include "runtime/harness/Signature.h"
#include "tools/tile-run/AbsentGpu.h"
#include "tools/tile-run/Arithmetic.h"
#include "tools/tile-run/Baseline.h"
#include "tools/tile-run/CudaExecutor.h"
#include "tools/tile-run/EmulatorExecutor.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace tile_rt;

namespace tile_run {

namespace {
std::string rates(double milliseconds, const std::map<std::string, double> &amounts) {
  std::string text;
  char buffer[80];
  for (const auto &[name, amount] : amounts) {
    if (name == "flops") {
      std::snprintf(buffer, sizeof(buffer), ", %.1f TFLOPS", amount / milliseconds * 1e-9);
    } else if (name == "bytes") {
      std::snprintf(buffer, sizeof(buffer), ", %.1f GB/s", amount / milliseconds * 1e-6);
    } else {
      std::snprintf(buffer, sizeof(buffer), ", %.4g %.40s per second", amount / milliseconds * 1e3,
                    name.c_str());
    }
    text += buffer;
  }
  return text;
}

/// What the formulas of --bench may use.
Names namesOf(const Call &call, const Kernel &kernel) {
  Names names;
  names.values = call.values();
  names.types = call.types();
  for (const auto &[name, value] : kernel.params) {
    char *end = nullptr;
    double number = std::strtod(value.c_str(), &end);
    if (*end == 0 && end != value.c_str()) {
      names.values[name] = number;
    } else {
      names.types[name] = value;
    }
  }
  return names;
}

Times timesOf(std::vector<float> list) {
  std::sort(list.begin(), list.end());
  auto quarter = [&](size_t i) { return static_cast<double>(list[i * (list.size() - 1) / 4]); };
  return {list.size(), static_cast<double>(list[list.size() / 2]), quarter(0), quarter(1),
          quarter(3)};
}

std::string describe(const Times &times, const std::map<std::string, double> &amounts) {
  char buffer[120];
  std::snprintf(buffer, sizeof(buffer), "%.4f ms (median of %zu, least %.4f, half %.4f to %.4f)",
                times.median, times.launches, times.least, times.lower, times.upper);
  return buffer + rates(times.median, amounts);
}

/// Runs the baseline once; nothing but a note where there is none. `problem` says how its result differs from the kernel's.
std::unique_ptr<Baseline> checkBaseline(const CaseOptions &options, const tile_kernel &kernel,
                                        std::span<const tile_arg> args, BaselineResult &result,
                                        std::string &problem) {
  const BaselineSpec spec = parseBaseline(options.baseline);
  const tile_context &context = *kernel.pack->context;
  result.name = "cublas";
  try {
    std::unique_ptr<Baseline> baseline = openBaseline(spec, context, *kernel.kernel, args);
    result.name = baseline->name();
    baseline->run();
    context.driver->check(context.driver->ctxSynchronize(), "running " + result.name);
    const auto &arguments = kernel.kernel->arguments;
    auto isOutput = [&](const Argument &argument) { return argument.name == spec.c; };
    const auto output = std::find_if(arguments.begin(), arguments.end(), isOutput);
    const tile_arg &arg = args[static_cast<size_t>(output - arguments.begin())];
    const Comparison comparison =
        compareArrays(readTensor(*context.driver, arg), baseline->result(),
                      options.call.tolerance.value_or(defaultTolerance(output->dtype)));
    result.error = comparison.error;
    problem = comparison.ok
                  ? ""
                  : spec.c + " is not what " + result.name + " computes: " + comparison.text;
    return baseline;
  } catch (const NoBaseline &error) {
    result.note = error.what();
  }
  return nullptr;
}

/// Times a call that has run. What goes wrong is in the result.
void timeCall(CudaExecutor &executor, const tile_kernel &kernel, const CaseOptions &options,
              CaseResult &result) {
  std::unique_ptr<Baseline> baseline;
  if (!options.baseline.empty()) {
    std::string problem;
    baseline =
        checkBaseline(options, kernel, executor.arguments(), result.baseline.emplace(), problem);
    if (!problem.empty()) {
      result.ok = false;
      result.text += "; " + problem;
      return;
    }
  }
  std::unique_ptr<Sensors> sensors;
  if (options.sensors) {
    const tile_context &context = *kernel.pack->context;
    sensors = std::make_unique<Sensors>(*context.driver, context.device);
  }
  const Timing timing{options.warmup, options.repeat, options.seconds, options.flushL2};
  auto other = [&] { baseline->run(); };
  const Rounds rounds =
      executor.time(timing, baseline ? std::function<void()>(other) : std::function<void()>());
  if (sensors) {
    result.readings = sensors->finish();
  }
  result.times = timesOf(rounds.own);
  if (baseline) {
    result.baseline->times = timesOf(rounds.other);
  }
}

/// What is printed of the times.
std::string describeTimes(const CaseResult &result, const std::map<std::string, double> &amounts) {
  std::string text = "; " + describe(*result.times, amounts);
  if (const auto &baseline = result.baseline) {
    text += "; " + baseline->name + ": " +
            (baseline->note.empty() ? describe(baseline->times, amounts) : baseline->note);
  }
  if (const auto &readings = result.readings) {
    char buffer[80];
    std::snprintf(buffer, sizeof(buffer), "; %.0f MHz, %.0f W", readings->megahertz,
                  readings->watts);
    text += readings->note.empty() ? buffer : "; " + readings->note;
  }
  return text;
}

/// `time` does what is to be timed after a right run.
CaseResult runOn(
    PlanExecutor &executor, const Kernel &kernel, const CaseOptions &options,
    const std::function<void(CaseResult &)> &time = [](CaseResult &) {}) {
  if (options.repeat > 0 && !executor.isTimed()) {
    throw InputError("`--repeat` measures a GPU: it needs `--on=cuda`");
  }
  if (options.repeat <= 0 &&
      (options.seconds > 0 || !options.baseline.empty() || options.sensors)) {
    throw InputError("`--seconds`, `--baseline` and `--sensors` are for timed launches: give "
                     "`--repeat`");
  }
  Call call(executor, kernel, options.call);
  CaseResult result;
  static_cast<CallResult &>(result) = call.run();
  result.variants = executor.variants();
  if (options.repeat > 0 && result.ok) {
    try {
      const auto amounts = evaluateFormulas(options.bench, namesOf(call, kernel));
      time(result);
      result.text += result.times ? describeTimes(result, amounts) : "";
    } catch (const Error &error) {
      result.ok = false;
      result.deviceLost = error.status == TILE_ERROR_DRIVER;
      result.text += std::string("; error: ") + error.what();
    }
  }
  result.text = executor.name() + ": " + result.text;
  if (options.showPrints) {
    result.printed = executor.printed();
  }
  result.reports = executor.findings().text;
  result.profile = executor.profile();
  return result;
}

tile_kernel &findKernel(tile_pack &pack, const std::string &name) {
  for (tile_kernel &kernel : pack.kernels) {
    if (kernel.kernel->symbol == name || (name.empty() && pack.kernels.size() == 1)) {
      return kernel;
    }
  }
  refuseKernel(pack.manifest, name);
}

/// What is to run of the pack.
tile_kernel &chooseKernel(tile_pack &pack, const CaseOptions &options) {
  tile_kernel &kernel = findKernel(pack, options.kernel);
  const size_t configurations = kernel.kernel->configurations.size();
  if (options.configuration.value_or(0) >= configurations) {
    throw InputError("no configuration number " + std::to_string(*options.configuration) + ": `" +
                     kernel.kernel->symbol + "` has " + std::to_string(configurations));
  }
  kernel.filter = {options.arch, options.variant, options.configuration};
  kernel.calls.clear();
  return kernel;
}

/// In which orders a case runs: none is round-robin, else the seed of a random one.
using Schedule = std::optional<uint64_t>;

CaseResult runSchedule(tile_kernel &kernel, const CaseOptions &options, Schedule schedule,
                       uint64_t &steps) {
  EmulatorExecutor executor(kernel, options, schedule);
  CaseResult result = runOn(executor, *kernel.kernel, options);
  steps = executor.steps();
  return result;
}

std::string repeating(uint64_t seed) {
  return ": --schedule=random --schedule-seed=" + std::to_string(seed);
}

/// So many random schedules, up to the first that is wrong.
CaseResult runRandomSchedules(tile_kernel &kernel, const CaseOptions &options, uint64_t first) {
  CaseResult result;
  uint64_t steps = 0;
  for (unsigned i = 0; i < options.schedules; ++i) {
    result = runSchedule(kernel, options, first + i, steps);
    if (!result.ok) {
      result.text += "; in schedule " + std::to_string(i + 1) + " of " +
                     std::to_string(options.schedules) + repeating(first + i);
      return result;
    }
  }
  result.text += "; " + std::to_string(options.schedules) + " random schedules";
  return result;
}

/// Round-robin, whose result and profile are shown, and a few random schedules, unless one of them
/// is wrong.
CaseResult runOnEmulator(tile_kernel &kernel, const CaseOptions &options) {
  uint64_t first = options.scheduleSeed.value_or(options.call.seed), steps = 0, ignored = 0;
  if (options.schedules > 0) {
    return runRandomSchedules(kernel, options, first);
  }
  if (options.schedule == "random") {
    return runSchedule(kernel, options, first, steps);
  }
  CaseResult result = runSchedule(kernel, options, std::nullopt, steps);
  bool more = result.ok && options.schedule.empty();
  CaseOptions others = options;
  others.profile = false;
  for (unsigned i = 0; more && i < tile_emu::schedulesAfter(steps); ++i) {
    CaseResult random = runSchedule(kernel, others, first + i, ignored);
    if (!random.ok) {
      random.text += "; in a random schedule" + repeating(first + i);
      return random;
    }
  }
  return result;
}
} // namespace

CaseResult runCase(tile_pack &pack, const CaseOptions &options) {
  tile_kernel &kernel = chooseKernel(pack, options);
  if (!pack.context) {
    return runOnEmulator(kernel, options);
  }
  CudaExecutor executor(kernel);
  return runOn(executor, *kernel.kernel, options,
               [&](CaseResult &result) { timeCall(executor, kernel, options, result); });
}

std::optional<CaseResult> findMistake(tile_pack &pack, const CaseOptions &options) {
  const tile_kernel &kernel = chooseKernel(pack, options);
  AbsentGpu executor(kernel, options);
  CaseResult result = runOn(executor, *kernel.kernel, options);
  return executor.wasAsked() ? std::nullopt : std::optional(result);
}

} // namespace tile_run
