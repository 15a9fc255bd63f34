// The GPUs of this machine, as tile-run sees them.
#pragma once

#include <string>
#include <vector>

namespace tilec {

/// Name and architecture ("sm_90") of each GPU; if there is none `problem` says why. tile-run lies in `programDir`.
struct DeviceInfo {
  std::string name, arch;
};
std::vector<DeviceInfo> listDevices(const std::string &programDir, std::string &problem);

} // namespace tilec
