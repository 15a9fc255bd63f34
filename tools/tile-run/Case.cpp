#include "tools/tile-run/Case.h"

#include "tools/tile-run/Arithmetic.h"
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

Times timeCall(Executor &executor, const CaseOptions &options) {
  std::vector<float> list = executor.time(options.warmup, options.repeat, options.flushL2);
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

CaseResult runOn(PlanExecutor &executor, const Kernel &kernel, const CaseOptions &options) {
  if (options.repeat > 0 && !executor.isTimed()) {
    throw InputError("`--repeat` measures a GPU: it needs `--on=cuda`");
  }
  Call call(executor, kernel, options.call);
  CaseResult result;
  static_cast<CallResult &>(result) = call.run();
  result.variants = executor.variants();
  if (options.repeat > 0 && result.ok) {
    try {
      const auto amounts = evaluateFormulas(options.bench, namesOf(call, kernel));
      result.times = timeCall(executor, options);
      result.text += "; " + describe(*result.times, amounts);
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
  std::string known;
  for (tile_kernel &kernel : pack.kernels) {
    known += " " + kernel.kernel->symbol;
    if (kernel.kernel->symbol == name || (name.empty() && pack.kernels.size() == 1)) {
      return kernel;
    }
  }
  throw InputError(name.empty() ? "the pack has several kernels, choose with --kernel:" + known
                                : "the pack has no kernel `" + name + "`; it has:" + known);
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
  tile_kernel &kernel = findKernel(pack, options.kernel);
  const size_t configurations = kernel.kernel->configurations.size();
  if (options.configuration.value_or(0) >= configurations) {
    throw InputError("no configuration number " + std::to_string(*options.configuration) + ": `" +
                     kernel.kernel->symbol + "` has " + std::to_string(configurations));
  }
  kernel.filter = {options.arch, options.variant, options.configuration};
  kernel.choices.clear();
  if (!pack.context) {
    return runOnEmulator(kernel, options);
  }
  CudaExecutor executor(kernel);
  return runOn(executor, *kernel.kernel, options);
}

} // namespace tile_run
