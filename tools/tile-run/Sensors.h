// Clock and power of a GPU while it works, by NVML.
#pragma once

#include "runtime/src/Driver.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace tile_run {

/// What was read, or why nothing was.
struct Readings {
  size_t samples = 0;
  double megahertz = 0, watts = 0; ///< medians; of the multiprocessors, and of the board
  std::string note;                ///< empty if all was read
};

/// Reads again and again in a thread of its own, from its construction to finish().
class Sensors {
public:
  /// Where NVML is missing or does not answer, the readings say so.
  Sensors(const tile_rt::Driver &driver, tile_rt::cu::Device device);
  ~Sensors() { stop(); }
  Sensors(const Sensors &) = delete;
  Sensors &operator=(const Sensors &) = delete;

  Readings finish();

private:
  using Handle = struct NvmlDevice *;
  void open(const std::string &busId);
  void sample();
  void stop();

  int (*getClock)(Handle, int, unsigned *) = nullptr;
  int (*getPower)(Handle, unsigned *) = nullptr;
  int (*shutDown)() = nullptr;
  Handle handle = nullptr;
  std::string note;
  std::vector<double> clocks, powers;
  std::atomic<bool> isOver = false;
  std::thread thread;
};

} // namespace tile_run
