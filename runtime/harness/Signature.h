// What a kernel of a pack takes, as people write it.
#pragma once

#include "../src/Manifest.h"

#include <string>

namespace tile_rt {

/// "C: out f16[M, N]"
std::string argumentText(const Argument &argument);
/// "gemm(A: f16[M, K], B: f16[K, N], C: out f16[M, N])"
std::string signatureOf(const Kernel &kernel);

/// The architecture that the launches of a configuration have code for; "" if it has none.
std::string archOf(const Manifest &manifest, const Configuration &configuration);

/// Says which kernels there are to choose from, `name` being none of them, or empty where there are
/// several. Throws InputError.
[[noreturn]] void refuseKernel(const Manifest &manifest, const std::string &name);

} // namespace tile_rt
