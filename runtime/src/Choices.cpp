#include "runtime/src/Choices.h"

#include <algorithm>
#include <cstring>

namespace tile_rt {

std::optional<unsigned> ConfigurationChoices::find(uint64_t call) const {
  std::lock_guard<std::mutex> lock(mutex);
  for (size_t i = 0; i < size; ++i) {
    if (choices[i].call == call) {
      return choices[i].configuration;
    }
  }
  return std::nullopt;
}

void ConfigurationChoices::add(uint64_t call, unsigned configuration) {
  std::lock_guard<std::mutex> lock(mutex);
  choices[next] = {call, configuration};
  next = (next + 1) % kKept;
  size = std::min(size + 1, kKept);
}

void ConfigurationChoices::clear() {
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

/// All that guards, grids and costs look at. No guard asks for addresses at multiples of more bytes
/// than the low bits here tell apart.
uint64_t hashOf(const Env &env) {
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

class Chooser {
public:
  Chooser(const Manifest &manifest, const Kernel &kernel, const Env &env, const DeviceInfo &device,
          const VariantFilter &filter)
      : manifest(manifest), kernel(kernel), env(env), device(device), filter(filter) {}

  LaunchPlan plan(unsigned configuration) const {
    return planConfiguration(manifest, kernel, configuration, env, device, filter);
  }

  /// The first configuration that takes the call says for which architecture code is looked for;
  /// of all those for it the cheapest is taken, or the first if one has no cost.
  LaunchPlan cheapest() const {
    std::optional<LaunchPlan> best;
    std::optional<Error> first;
    std::string others;
    for (unsigned i = 0; i < kernel.configurations.size(); ++i) {
      try {
        LaunchPlan candidate = plan(i);
        if (!best) {
          best = std::move(candidate);
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
  const Manifest &manifest;
  const Kernel &kernel;
  const Env &env;
  const DeviceInfo &device;
  const VariantFilter &filter;
};
} // namespace

LaunchPlan planCall(const Manifest &manifest, const Kernel &kernel, std::span<const tile_arg> args,
                    const DeviceInfo &device, const VariantFilter &filter,
                    ConfigurationChoices *choices) {
  const Env env = bindArguments(kernel, args);
  const Chooser chooser(manifest, kernel, env, device, filter);
  if (filter.configuration || kernel.configurations.size() == 1) {
    return chooser.plan(filter.configuration.value_or(0));
  }
  if (!choices) {
    return chooser.cheapest();
  }
  const uint64_t call = hashOf(env);
  if (std::optional<unsigned> known = choices->find(call)) {
    try {
      return chooser.plan(*known);
    } catch (const Error &) { // not this call, but one of the same hash
    }
  }
  LaunchPlan plan = chooser.cheapest();
  choices->add(call, plan.configuration);
  return plan;
}

} // namespace tile_rt
