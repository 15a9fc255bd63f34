#include "Choices.h"

#include <algorithm>

namespace tile_rt {

namespace {
using Rows = Preference::Rows;

/// What rows the plan is for; nothing if no launch's code says.
std::optional<Rows> rowsOf(const LaunchPlan &plan) {
  std::optional<Rows> rows;
  for (const PlanStep &step : plan.steps) {
    if (!step.isLaunch) {
      continue;
    }
    const std::string &name = step.launch.variant->name;
    if (name == "aligned" || name == "clustered") {
      rows = rows.value_or(Rows::Aligned);
    } else if (name == "words") {
      rows = std::max(rows.value_or(Rows::Words), Rows::Words);
    } else if (name == "any") {
      rows = Rows::Any;
    }
  }
  return rows;
}

bool isCheaper(const LaunchPlan &plan, const std::optional<LaunchPlan> &than) {
  return !than ||
         std::pair(*plan.cost, plan.configuration) < std::pair(*than->cost, than->configuration);
}

class Chooser {
public:
  Chooser(const Manifest &manifest, const Kernel &kernel, const Env &env, const DeviceInfo &device,
          const VariantFilter &filter)
      : manifest(manifest), kernel(kernel), env(env), device(device), filter(filter) {}

  LaunchPlan plan(unsigned configuration) const {
    return planConfiguration(manifest, kernel, configuration, env, device, filter);
  }

  /// The first configuration that takes the call says for which architecture code is looked for; of all those for it the
  /// preferred one is taken, else the cheapest, or the first if it has no cost. Where some is for aligned rows, none that is for
  /// others: what costs leave out of account it does better.
  LaunchPlan choose() const {
    std::optional<std::string> arch;
    std::optional<LaunchPlan> best, bestForOthers;
    bool hasAligned = false;
    std::optional<Error> first;
    std::string others;
    for (unsigned i = 0; i < kernel.configurations.size(); ++i) {
      try {
        LaunchPlan candidate = plan(i);
        if (!arch) {
          arch = candidate.arch;
          if (std::optional<LaunchPlan> known = preferred(candidate)) {
            return std::move(*known);
          }
          if (!candidate.cost) {
            return candidate;
          }
        }
        if (candidate.arch != *arch || !candidate.cost) {
          continue;
        }
        const std::optional<Rows> rows = rowsOf(candidate);
        hasAligned = hasAligned || rows == Rows::Aligned;
        std::optional<LaunchPlan> &least =
            rows.value_or(Rows::Aligned) == Rows::Aligned ? best : bestForOthers;
        if (isCheaper(candidate, least)) {
          least = std::move(candidate);
        }
      } catch (const Error &error) {
        if (!first) {
          first = error;
        } else if (error.status != TILE_ERROR_ARGUMENT ||
                   std::string_view(error.what()) !=
                       first->what()) { // of the call, not of this one
          others += "; " + describeConfiguration(kernel, i) + ": " + error.what();
        }
      }
    }
    if (!best && !bestForOthers) {
      throw Error(first->status, first->what() + others);
    }
    const bool isForOthers = bestForOthers && !hasAligned && isCheaper(*bestForOthers, best);
    return std::move(isForOthers ? *bestForOthers : *best);
  }

private:
  bool holds(const Preference &preference) const {
    return std::all_of(preference.ranges.begin(), preference.ranges.end(), [&](const auto &range) {
      const Int value = (range.isScalar ? env.scalars : env.dims)[range.index].integer;
      return range.least <= value && value <= range.most;
    });
  }

  /// What `first` is, or what the configuration takes; nothing if it takes no such call, or with code for another architecture.
  std::optional<LaunchPlan> planBeside(const LaunchPlan &first, unsigned configuration) const {
    if (configuration == first.configuration) {
      return first;
    }
    try {
      LaunchPlan own = plan(configuration);
      return own.arch == first.arch ? std::optional(std::move(own)) : std::nullopt;
    } catch (const Error &) {
      return std::nullopt;
    }
  }

  /// What the call's rows are: what some configuration, of those from that of `first` on, takes it for.
  Rows rowsOfCall(const LaunchPlan &first) const {
    std::optional<Rows> rows = rowsOf(first);
    for (unsigned i = first.configuration + 1;
         i < kernel.configurations.size() && rows != Rows::Aligned; ++i) {
      const std::optional<LaunchPlan> own = planBeside(first, i);
      const std::optional<Rows> its = own ? rowsOf(*own) : std::nullopt;
      rows = its ? std::min(rows.value_or(*its), *its) : rows;
    }
    return rows.value_or(Rows::Aligned);
  }

  /// By the first preference for these dimensions and rows whose configuration takes the call with code for the architecture of
  /// `first`, which the first configuration to take the call takes.
  std::optional<LaunchPlan> preferred(const LaunchPlan &first) const {
    std::optional<Rows> rows;
    for (const Preference &preference : kernel.preferences) {
      if (!holds(preference)) {
        continue;
      }
      if (preference.rows && !rows) {
        rows = rowsOfCall(first);
      }
      if (preference.rows && preference.rows != rows) {
        continue;
      }
      if (std::optional<LaunchPlan> candidate = planBeside(first, preference.configuration)) {
        return candidate;
      }
    }
    return std::nullopt;
  }

  const Manifest &manifest;
  const Kernel &kernel;
  const Env &env;
  const DeviceInfo &device;
  const VariantFilter &filter;
};
} // namespace

LaunchPlan planCall(const Manifest &manifest, const Kernel &kernel, const Env &env,
                    const DeviceInfo &device, const VariantFilter &filter) {
  const Chooser chooser(manifest, kernel, env, device, filter);
  return filter.configuration ? chooser.plan(*filter.configuration) : chooser.choose();
}

} // namespace tile_rt
