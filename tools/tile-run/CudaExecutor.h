// Runs plans on a GPU, through the runtime's driver table.
#pragma once

#include "runtime/src/Device.h"
#include "tools/tile-run/Executor.h"

namespace tile_run {

/// The device of the pack's context, which stays current while the executor lives. Buffers lie
/// between zones of tile_rt::kGuardBytes guard bytes.
class CudaExecutor : public Executor {
public:
  explicit CudaExecutor(tile_pack &pack);
  std::string name() const override { return "cuda"; }
  const tile_rt::DeviceInfo &device() const override { return pack.context->info; }
  std::unique_ptr<Buffer> allocate(size_t bytes, const std::string &name) override;
  void run(const tile_rt::LaunchPlan &plan, uint64_t workspace) override;
  std::vector<float> time(const tile_rt::LaunchPlan &plan, uint64_t workspace, int warmup,
                          int count, bool flush) override;
  bool isTimed() const override { return true; }

private:
  tile_pack &pack;
  const tile_rt::Driver &driver;
  tile_rt::CurrentContext current;
};

} // namespace tile_run
