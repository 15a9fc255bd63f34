#include "Choices.h"

#include <algorithm>
#include <cstring>

namespace tile_rt {

std::optional<Choice> KnownChoices::find(uint64_t call) const {
  std::lock_guard<std::mutex> lock(mutex);
  for (size_t i = 0; i < size; ++i) {
    if (choices[i].call == call) {
      return choices[i].choice;
    }
  }
  return std::nullopt;
}

void KnownChoices::add(uint64_t call, const Choice &choice) {
  std::lock_guard<std::mutex> lock(mutex);
  choices[next] = {call, choice};
  next = (next + 1) % kKept;
  size = std::min(size + 1, kKept);
}

void KnownChoices::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  size = next = 0;
}

namespace {
/// Mixes a number into a hash (the finaliser of SplitMix64).
uint64_t mix(uint64_t hash, uint64_t value) {
  hash += value + 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

uint64_t hashOf(const Value &value) {
  uint64_t real = 0;
  std::memcpy(&real, &value.real, sizeof(real));
  return mix(mix(static_cast<uint64_t>(value.integer), real), static_cast<uint64_t>(value.kind));
}

} // namespace

// Of addresses the low bits count: no guard asks for multiples of more bytes than they tell apart.
uint64_t hashOfCall(const Env &env) {
  uint64_t hash = 0;
  for (const Value &value : env.dims) {
    hash = mix(hash, hashOf(value));
  }
  for (const Value &value : env.scalars) {
    hash = mix(hash, hashOf(value));
  }
  for (const TensorView &tensor : env.tensors) {
    hash = mix(hash, tensor.present);
    hash = mix(hash, tensor.address % 4096);
    for (int64_t extent : tensor.extents) {
      hash = mix(hash, static_cast<uint64_t>(extent));
    }
    for (int64_t stride : tensor.strides) {
      hash = mix(hash, static_cast<uint64_t>(stride));
    }
  }
  return hash;
}

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
        } else {
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
        candidate = preference.configuration == first.choice.configuration
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

LaunchPlan planCall(const Manifest &manifest, const Kernel &kernel, Span<const tile_arg> args,
                    const DeviceInfo &device, const VariantFilter &filter, KnownChoices *choices) {
  const Env env = bindArguments(kernel, args);
  const Chooser chooser(manifest, kernel, env, device, filter);
  const uint64_t call = choices ? hashOfCall(env) : 0;
  std::optional<Choice> known = choices ? choices->find(call) : std::nullopt;
  if (known && filter.configuration.value_or(known->configuration) == known->configuration) {
    try {
      return planChoice(manifest, kernel, *known, env, device, filter);
    } catch (const Error &) {
      known.reset(); // of another call with this hash; or the error is found again
    }
  }
  LaunchPlan plan = filter.configuration ? chooser.plan(*filter.configuration) : chooser.choose();
  if (choices) {
    choices->add(call, plan.choice);
  }
  return plan;
}

} // namespace tile_rt
