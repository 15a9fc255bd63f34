// What calls take of a kernel's configurations and variants.
#pragma once

#include "Plan.h"

namespace tile_rt {

/// Plans a whole call with the preferred or cheapest of the configurations that take it (docs/pack.md);
/// `env` is what bindArguments gave. Throws Error: TILE_ERROR_ARGUMENT, or TILE_ERROR_NO_VARIANT with the reasons.
LaunchPlan planCall(const Manifest &manifest, const Kernel &kernel, const Env &env,
                    const DeviceInfo &device, const VariantFilter &filter = {});

} // namespace tile_rt
