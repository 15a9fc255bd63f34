// Runs plans on a GPU, through the runtime's driver table.
#pragma once

#include "runtime/src/Device.h"
#include "tools/tile-run/PlanExecutor.h"

#include <functional>

namespace tile_run {

/// How launches are timed.
struct Timing {
  int warmup = 3;
  int rounds = 0;     ///< at least
  double seconds = 0; ///< likewise, by the clock on the wall
  bool flush = false; ///< L2 before each launch
};

/// Milliseconds of each round.
struct Rounds {
  std::vector<float> own, other;
};

/// The device of the pack's context, which stays current while the executor lives. Buffers lie
/// between zones of tile_rt::kGuardBytes guard bytes.
class CudaExecutor : public PlanExecutor {
public:
  explicit CudaExecutor(const tile_kernel &kernel);
  ~CudaExecutor() override { workspace.reset(); }
  std::string name() const override { return "cuda"; }
  std::unique_ptr<tile_rt::Buffer> allocate(size_t bytes, const std::string &name) override;
  bool isTimed() const override { return true; }
  /// Runs of the prepared call; each is followed by one of `other`, if it is there, which enqueues something else.
  Rounds time(const Timing &timing, const std::function<void()> &other);

private:
  const tile_rt::DeviceInfo &device() const override { return pack.context->info; }
  void run(tile_rt::PreparedCall &call, uint64_t workspace) override;

  tile_pack &pack;
  const tile_rt::Driver &driver;
  tile_rt::CurrentContext current;
};

} // namespace tile_run
