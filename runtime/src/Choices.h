// Which of a kernel's configurations a call takes.
#pragma once

#include "runtime/src/Plan.h"

#include <array>
#include <mutex>

namespace tile_rt {

/// Which configurations calls have taken so far, by all that the choice depends on: dimensions,
/// scalars, strides, alignment of addresses. A few are kept, the newest in place of the oldest.
/// Threads may share one.
class ConfigurationChoices {
public:
  std::optional<unsigned> find(uint64_t call) const;
  void add(uint64_t call, unsigned configuration);
  void clear();

private:
  static constexpr size_t kKept = 32;
  struct Choice {
    uint64_t call =
        0; ///< a hash of the call: a wrong one is noticed when the call is planned, or slow
    unsigned configuration = 0;
  };
  mutable std::mutex mutex; ///< guards the others
  std::array<Choice, kKept> choices;
  size_t size = 0, next = 0;
};

/// Plans a whole call with the cheapest of the configurations that take it (docs/pack.md). Throws
/// Error: TILE_ERROR_ARGUMENT, or TILE_ERROR_NO_VARIANT with the reasons. `choices` are those of this
/// kernel on this device under this filter; null: none are kept.
LaunchPlan planCall(const Manifest &manifest, const Kernel &kernel, std::span<const tile_arg> args,
                    const DeviceInfo &device, const VariantFilter &filter = {},
                    ConfigurationChoices *choices = nullptr);

} // namespace tile_rt
