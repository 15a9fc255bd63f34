#include "Choices.h"

#include <algorithm>

namespace tile_rt {

namespace {
/// What rows the plan is for.
Preference::Rows rowsOf(const LaunchPlan &plan) {
  Preference::Rows rows = Preference::Rows::Aligned;
  for (const PlanStep &step : plan.steps) {
    if (step.isLaunch) {
      const std::string &name = step.launch.variant->name;
      rows = std::max(rows, name == "any"     ? Preference::Rows::Any
                            : name == "words" ? Preference::Rows::Words
                                              : Preference::Rows::Aligned);
    }
  }
  return rows;
}

/// By what plans are compared, the least first. Code for aligned rows comes before all other, wherever there is some: what costs
/// leave out of account, it does better.
std::pair<bool, double> rankOf(const LaunchPlan &plan) {
  return {rowsOf(plan) != Preference::Rows::Aligned, *plan.cost};
}

class Chooser {
public:
  Chooser(const Manifest &manifest, const Kernel &kernel, const Env &env, const DeviceInfo &device,
          const VariantFilter &filter)
      : manifest(manifest), kernel(kernel), env(env), device(device), filter(filter) {}

  LaunchPlan plan(unsigned configuration) const {
    return planConfiguration(manifest, kernel, configuration, env, device, filter);
  }

  /// The first configuration that takes the call says for which architecture code is looked for;
  /// of all those for it the preferred one is taken, else the cheapest (`rankOf`), or the first if one has no cost.
  LaunchPlan choose() const {
    std::optional<LaunchPlan> best;
    std::optional<Error> first;
    std::string others;
    for (unsigned i = 0; i < kernel.configurations.size(); ++i) {
      try {
        LaunchPlan candidate = plan(i);
        if (!best) {
          best = std::move(candidate);
          if (std::optional<LaunchPlan> known = preferred(*best)) {
            return std::move(*known);
          }
        } else if (candidate.arch == best->arch && candidate.cost && best->cost &&
                   rankOf(candidate) < rankOf(*best)) {
          best = std::move(candidate);
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
      if (best && !best->cost) {
        break; // whatever follows
      }
    }
    if (!best) {
      throw Error(first->status, first->what() + others);
    }
    return std::move(*best);
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
  Preference::Rows rowsOfCall(const LaunchPlan &first) const {
    Preference::Rows rows = rowsOf(first);
    for (unsigned i = first.configuration + 1;
         i < kernel.configurations.size() && rows != Preference::Rows::Aligned; ++i) {
      if (std::optional<LaunchPlan> own = planBeside(first, i)) {
        rows = std::min(rows, rowsOf(*own));
      }
    }
    return rows;
  }

  /// By the first preference for these dimensions and rows whose configuration takes the call with code for the architecture of
  /// `first`, which the first configuration to take the call takes, and relies on as much.
  std::optional<LaunchPlan> preferred(const LaunchPlan &first) const {
    std::optional<Preference::Rows> rows;
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
      std::optional<LaunchPlan> candidate = planBeside(first, preference.configuration);
      if (candidate && (!preference.rows || rowsOf(*candidate) == preference.rows)) {
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
