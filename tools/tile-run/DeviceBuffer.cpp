#include "tools/tile-run/DeviceBuffer.h"

#include "runtime/harness/Compare.h"

#include <algorithm>

using namespace tile_rt;

namespace tile_run {

DeviceBuffer::DeviceBuffer(const Driver &driver, size_t bytes, std::byte fill)
    : driver(driver), bytes(bytes) {
  std::vector<std::byte> image(bytes + 2 * kGuardBytes, kGuard);
  std::fill_n(image.begin() + kGuardBytes, bytes, fill);
  driver.check(driver.memAlloc(&base, image.size()),
               "allocating " + std::to_string(image.size()) + " bytes");
  cu::Result result = driver.copyToDevice(base, image.data(), image.size());
  if (result) {
    driver.memFree(base);
    driver.check(result, "copying to the device");
  }
}

DeviceBuffer::~DeviceBuffer() { driver.memFree(base); }

uint64_t DeviceBuffer::address() const { return base + kGuardBytes; }

void DeviceBuffer::write(const std::vector<std::byte> &data) {
  if (!data.empty()) {
    driver.check(driver.copyToDevice(address(), data.data(), data.size()), "copying to the device");
  }
}

std::vector<std::byte> DeviceBuffer::read() const {
  std::vector<std::byte> data(bytes);
  if (bytes) {
    driver.check(driver.copyToHost(data.data(), address(), bytes), "copying from the device");
  }
  return data;
}

std::string DeviceBuffer::damage() const {
  std::vector<std::byte> zone(kGuardBytes);
  driver.check(driver.copyToHost(zone.data(), base, kGuardBytes), "copying from the device");
  if (std::optional<size_t> at = findDamage(zone.data(), zone.size())) {
    return "byte " + std::to_string(kGuardBytes - *at) + " before its start was written";
  }
  driver.check(driver.copyToHost(zone.data(), address() + bytes, kGuardBytes),
               "copying from the device");
  if (std::optional<size_t> at = findDamage(zone.data(), zone.size())) {
    return "byte " + std::to_string(*at) + " past its end was written";
  }
  return {};
}

} // namespace tile_run
