// What cuLaunchKernelEx is told of a launch besides its shape.
#pragma once

#include "Driver.h"
#include "Plan.h"

#include <array>

namespace tile_rt {

class LaunchAttributes {
public:
  explicit LaunchAttributes(const PlannedLaunch &launch) {
    const std::array<unsigned, 3> &cluster = launch.variant->cluster;
    if (cluster[0] * cluster[1] * cluster[2] > 1) {
      list[number++] = {cu::kLaunchCluster, 0, {cluster[0], cluster[1], cluster[2]}};
    }
    if (launch.overlaps) {
      list[number++] = {cu::kLaunchProgrammaticSerialization, 0, {1}};
    }
  }
  cu::LaunchAttribute *data() { return number ? list.data() : nullptr; }
  unsigned count() const { return number; }

private:
  std::array<cu::LaunchAttribute, 2> list;
  unsigned number = 0;
};

} // namespace tile_rt
