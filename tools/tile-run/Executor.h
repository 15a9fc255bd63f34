// What a case runs on: a GPU through the CUDA driver, or the emulator of PTX. Executors throw
// tile_rt::Error.
#pragma once

#include "runtime/src/Plan.h"

#include <memory>
#include <vector>

namespace tile_run {

/// Memory of an executor, aligned to 256 bytes; what is written beside it is noticed.
class Buffer {
public:
  virtual ~Buffer() = default;
  virtual uint64_t address() const = 0;
  virtual void write(const std::vector<std::byte> &data) = 0;
  /// Fills it with tile_rt::kPoison, as memory that nobody has written.
  virtual void poison() = 0;
  virtual std::vector<std::byte> read() const = 0;
  /// "" or which byte outside the memory was written.
  virtual std::string damage() const = 0;
  /// "" or how much of it was never written; "" where nobody can tell.
  virtual std::string unwritten() const { return {}; }
};

class Executor {
public:
  virtual ~Executor() = default;
  /// As results show it: "cuda", "emu sm_90a".
  virtual std::string name() const = 0;
  virtual const tile_rt::DeviceInfo &device() const = 0;
  /// Poisoned memory; `name` is what reports call it.
  virtual std::unique_ptr<Buffer> allocate(size_t bytes, const std::string &name) = 0;
  /// Runs a plan to its end. `workspace` is large enough and aligned.
  virtual void run(const tile_rt::LaunchPlan &plan, uint64_t workspace) = 0;
  /// Milliseconds of each of `count` runs after `warmup` others; with `flush` the caches are
  /// emptied before each. Only where isTimed().
  virtual std::vector<float> time(const tile_rt::LaunchPlan &plan, uint64_t workspace, int warmup,
                                  int count, bool flush) = 0;
  virtual bool isTimed() const = 0;

  /// What the executor found wrong so far.
  struct Findings {
    size_t count = 0;
    std::string summary; ///< the kinds: "data race, deadlock"
    std::string text;    ///< the reports, several lines each
  };
  virtual Findings findings() const { return {}; }
  /// A table of what the runs did, if it was asked for.
  virtual std::string profile() const { return {}; }
};

} // namespace tile_run
