// How much of this machine's memory a call may have.
#pragma once

#include "../src/Expr.h"

#include <cstdint>
#include <string>

namespace tile_rt {

/// Bytes that the tensors of a call may have together, and as many its workspaces, on whatever it runs: a quarter of the
/// memory of this machine, or of what its control group may have. What runs in it and what moves arrays to a GPU hold each of them
/// up to three times: as it was drawn or read, where the kernel finds it, and as it came out.
uint64_t memoryLimit();

/// Throws Error where `bytes` are more than that: "the call needs 96.0 GiB for its tensors (..), but ..".
void checkMemory(Int bytes, const std::string &what);

/// "24.0 GiB", "12 bytes".
std::string sizeText(Int bytes);

} // namespace tile_rt
