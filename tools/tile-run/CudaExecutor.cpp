#include "tools/tile-run/CudaExecutor.h"

#include "runtime/harness/Compare.h"

#include <algorithm>
#include <chrono>

using namespace tile_rt;

namespace tile_run {

namespace {
constexpr size_t kFlushBytes = size_t{256} << 20;

class DeviceBuffer : public Buffer {
public:
  DeviceBuffer(const Driver &driver, size_t bytes);
  ~DeviceBuffer() override { driver.memFree(base); }
  DeviceBuffer(const DeviceBuffer &) = delete;
  DeviceBuffer &operator=(const DeviceBuffer &) = delete;

  uint64_t address() const override { return base + kGuardBytes; }
  void write(const std::vector<std::byte> &data) override;
  void poison() override { write(std::vector<std::byte>(bytes, kPoison)); }
  std::vector<std::byte> read() const override;
  std::string damage() const override;

private:
  const Driver &driver;
  size_t bytes;
  cu::DevicePtr base = 0;
};

DeviceBuffer::DeviceBuffer(const Driver &driver, size_t bytes) : driver(driver), bytes(bytes) {
  std::vector<std::byte> image(bytes + 2 * kGuardBytes, kGuard);
  std::fill_n(image.begin() + kGuardBytes, bytes, kPoison);
  driver.check(driver.memAlloc(&base, image.size()),
               "allocating " + std::to_string(image.size()) + " bytes");
  cu::Result result = driver.copyToDevice(base, image.data(), image.size());
  if (result) {
    driver.memFree(base);
    driver.check(result, "copying to the device");
  }
}

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

/// Memory as large as any L2, to write over.
class SweptMemory {
public:
  explicit SweptMemory(const Driver &driver) : driver(driver) {
    driver.check(driver.memAlloc(&base, kFlushBytes),
                 "allocating " + std::to_string(kFlushBytes) + " bytes to flush L2 with");
  }
  ~SweptMemory() { driver.memFree(base); }
  SweptMemory(const SweptMemory &) = delete;
  SweptMemory &operator=(const SweptMemory &) = delete;

  void sweep() {
    driver.check(driver.memsetD32(base, sweeps++, kFlushBytes / 4, nullptr), "flushing");
  }

private:
  const Driver &driver;
  cu::DevicePtr base = 0;
  unsigned sweeps = 0;
};

/// A CUDA event.
class TimeStamp {
public:
  explicit TimeStamp(const Driver &driver) : driver(driver) {
    driver.check(driver.eventCreate(&event, 0), "cuEventCreate");
  }
  ~TimeStamp() { driver.eventDestroy(event); }
  TimeStamp(const TimeStamp &) = delete;
  TimeStamp &operator=(const TimeStamp &) = delete;

  void record() { driver.check(driver.eventRecord(event, nullptr), "cuEventRecord"); }
  /// Waits for this one.
  float millisecondsSince(const TimeStamp &begin) {
    float milliseconds = 0;
    driver.check(driver.eventSynchronize(event), "a timed run");
    driver.check(driver.eventElapsed(&milliseconds, begin.event, event), "cuEventElapsedTime");
    return milliseconds;
  }

private:
  const Driver &driver;
  cu::Event event = nullptr;
};
} // namespace

CudaExecutor::CudaExecutor(const tile_kernel &kernel)
    : PlanExecutor(kernel), pack(*kernel.pack), driver(*pack.context->driver),
      current(driver, pack.context->context) {}

std::unique_ptr<Buffer> CudaExecutor::allocate(size_t bytes, const std::string &) {
  return std::make_unique<DeviceBuffer>(driver, bytes);
}

void CudaExecutor::run(PreparedCall &call, uint64_t workspace) {
  pack.execute(call, arguments().data(), nullptr, workspace);
  cu::Result result = driver.ctxSynchronize();
  say(pack.context->prints.take());
  driver.check(result, "running the kernel");
  pack.context->failures.check();
}

Rounds CudaExecutor::time(const Timing &timing, const std::function<void()> &other) {
  std::unique_ptr<SweptMemory> swept;
  if (timing.flush) {
    swept = std::make_unique<SweptMemory>(driver);
  }
  TimeStamp begin(driver), end(driver);
  auto measure = [&](const std::function<void()> &work) {
    if (swept) {
      swept->sweep();
    }
    begin.record();
    work();
    end.record();
    return end.millisecondsSince(begin);
  };
  const std::function<void()> own = [&] {
    pack.execute(*call, arguments().data(), nullptr, workspace->address());
  };
  for (int i = 0; i < timing.warmup; ++i) {
    measure(own);
    if (other) {
      measure(other);
    }
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(timing.seconds));
  Rounds rounds;
  for (int i = 0; i < timing.rounds || Clock::now() < until; ++i) {
    rounds.own.push_back(measure(own));
    if (other) {
      rounds.other.push_back(measure(other));
    }
  }
  say(pack.context->prints.take());
  return rounds;
}

} // namespace tile_run
