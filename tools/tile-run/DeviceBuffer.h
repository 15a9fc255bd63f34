// Device memory with guard zones, through the runtime's driver table.
#pragma once

#include "runtime/src/Driver.h"

#include <vector>

namespace tile_run {

/// `bytes` of device memory between two zones of tile_rt::kGuardBytes guard bytes. The context must
/// be current.
class DeviceBuffer {
public:
  /// Every byte of the memory itself is `fill`.
  DeviceBuffer(const tile_rt::Driver &driver, size_t bytes, std::byte fill);
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer &) = delete;
  DeviceBuffer &operator=(const DeviceBuffer &) = delete;

  uint64_t address() const;
  void write(const std::vector<std::byte> &data);
  std::vector<std::byte> read() const;
  /// "" or which byte outside the memory was written.
  std::string damage() const;

private:
  const tile_rt::Driver &driver;
  size_t bytes;
  tile_rt::cu::DevicePtr base = 0;
};

} // namespace tile_run
