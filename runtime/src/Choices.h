// What calls take of a kernel's configurations and variants.
#pragma once

#include "Plan.h"

#include <array>
#include <mutex>

namespace tile_rt {

/// What calls have taken so far, by all that the choice depends on: dimensions, scalars, strides,
/// alignment of addresses. A few are kept, the newest in place of the oldest. Threads may share one.
class KnownChoices {
public:
  std::optional<Choice> find(uint64_t call) const;
  void add(uint64_t call, const Choice &choice);
  void clear();

private:
  static constexpr size_t kKept = 32;
  struct Known {
    uint64_t call = 0; ///< a hash: a call that only shares it refuses the choice, or is slow
    Choice choice;
  };
  mutable std::mutex mutex; ///< guards the others
  std::array<Known, kKept> choices;
  size_t size = 0, next = 0;
};

/// A hash of all that guards, grids and costs look at in a call.
uint64_t hashOfCall(const Env &env);

/// Plans a whole call with the preferred or cheapest of the configurations that take it (docs/pack.md). Throws
/// Error: TILE_ERROR_ARGUMENT, or TILE_ERROR_NO_VARIANT with the reasons. `choices` are those of this
/// kernel on this device under this filter; null: none are kept.
LaunchPlan planCall(const Manifest &manifest, const Kernel &kernel, Span<const tile_arg> args,
                    const DeviceInfo &device, const VariantFilter &filter = {},
                    KnownChoices *choices = nullptr);

} // namespace tile_rt
