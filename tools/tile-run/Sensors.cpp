#include "tools/tile-run/Sensors.h"

#include "tools/tile-run/Library.h"

#include <algorithm>
#include <chrono>

using namespace tile_rt;

namespace tile_run {

// nvml.h, which has had these since its first versions: nvmlClockType_t
static constexpr int kClockSm = 1;

/// Milliseconds from one reading to the next: a reading takes the driver a part of one.
static constexpr int kPeriod = 20;

Sensors::Sensors(const Driver &driver, cu::Device device) {
  try {
    char bus[32] = {};
    driver.check(driver.deviceGetPciBusId(bus, sizeof(bus), device), "cuDeviceGetPCIBusId");
    open(bus);
    thread = std::thread([this] {
      do {
        sample();
        std::this_thread::sleep_for(std::chrono::milliseconds(kPeriod));
      } while (!isOver);
    });
  } catch (const std::runtime_error &error) {
    note = error.what();
  }
}

void Sensors::open(const std::string &busId) {
  Library library("TILE_NVML", {"libnvidia-ml.so.1"});
  int (*start)() = nullptr;
  int (*find)(const char *, Handle *) = nullptr;
  library.find(start, "nvmlInit_v2");
  library.find(shutDown, "nvmlShutdown");
  library.find(find, "nvmlDeviceGetHandleByPciBusId_v2");
  library.find(getClock, "nvmlDeviceGetClockInfo");
  library.find(getPower, "nvmlDeviceGetPowerUsage");
  if (int status = start()) {
    throw LibraryError("NVML does not start: status " + std::to_string(status));
  }
  if (int status = find(busId.c_str(), &handle)) {
    shutDown();
    throw LibraryError("NVML does not know the device " + busId + ": status " +
                       std::to_string(status));
  }
}

void Sensors::sample() {
  unsigned megahertz = 0, milliwatts = 0;
  if (getClock(handle, kClockSm, &megahertz) == 0) {
    clocks.push_back(megahertz);
  }
  if (getPower(handle, &milliwatts) == 0) {
    powers.push_back(milliwatts / 1e3);
  }
}

void Sensors::stop() {
  if (thread.joinable()) {
    isOver = true;
    thread.join();
    shutDown();
  }
}

static double medianOf(std::vector<double> list) {
  if (list.empty()) {
    return 0;
  }
  std::sort(list.begin(), list.end());
  return list[list.size() / 2];
}

Readings Sensors::finish() {
  stop();
  Readings readings{std::max(clocks.size(), powers.size()), medianOf(clocks), medianOf(powers),
                    note};
  if (note.empty() && (clocks.empty() || powers.empty())) {
    readings.note = clocks.empty() && powers.empty() ? "NVML tells neither clock nor power"
                    : clocks.empty()                 ? "NVML does not tell the clock"
                                                     : "NVML does not tell the power";
  }
  return readings;
}

} // namespace tile_run
