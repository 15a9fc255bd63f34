#include "Choices.h"

#include <algorithm>

namespace tile_rt {

namespace {
/// Whether some launch takes a variant of this name.
bool takes(const LaunchPlan &plan, const std::string &variant) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [&](const PlanStep &step) {
    return step.isLaunch && step.launch.variant->name == variant;
  });
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
  /// of all those for it the preferred one is taken, else the cheapest, or the first if one has no cost.
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
                   *candidate.cost < *best->cost) {
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
  /// `first` is what the first configuration to take the call takes.
  bool holds(const Preference &preference, const LaunchPlan &first) const {
    if (!preference.with.empty() && !takes(first, preference.with)) {
      return false;
    }
    return std::all_of(preference.ranges.begin(), preference.ranges.end(), [&](const auto &range) {
      const Int value = (range.isScalar ? env.scalars : env.dims)[range.index].integer;
      return range.least <= value && value <= range.most;
    });
  }

  static bool agrees(const Preference &preference, const LaunchPlan &plan) {
    return (preference.with.empty() || takes(plan, preference.with)) &&
           (preference.without.empty() || !takes(plan, preference.without));
  }

  /// By the first preference for these dimensions whose configuration takes the call with code for the
  /// architecture of `first`, and with variants as the preference says.
  std::optional<LaunchPlan> preferred(const LaunchPlan &first) const {
    for (const Preference &preference : kernel.preferences) {
      if (!holds(preference, first)) {
        continue;
      }
      std::optional<LaunchPlan> candidate;
      try {
        candidate = preference.configuration == first.configuration
                        ? first
                        : plan(preference.configuration);
      } catch (const Error &) {
        candidate.reset(); // the next one, or what is cheapest
      }
      if (candidate && candidate->arch == first.arch && agrees(preference, *candidate)) {
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
