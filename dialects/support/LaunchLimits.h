//===- LaunchLimits.h - what a launch may ask for --------------*- C++ -*-===//
#ifndef TILEC_DIALECTS_SUPPORT_LAUNCHLIMITS_H
#define TILEC_DIALECTS_SUPPORT_LAUNCHLIMITS_H

#include <cstdint>

namespace tilec {

// Limits of every target (CUDA C programming guide, "Thread block clusters", and the table of
// technical specifications per compute capability).
constexpr int64_t kMaxClusterBlocks = 8; // what every device of a generation can schedule
constexpr int64_t kMaxBlocksPerSM = 32;
constexpr int64_t kLeastRegisters = 24, kMostRegisters = 255; // ptxas takes no less than 24

} // namespace tilec

#endif // TILEC_DIALECTS_SUPPORT_LAUNCHLIMITS_H
