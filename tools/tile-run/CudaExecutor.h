// Runs plans on a GPU, through the runtime's driver table.
#pragma once

#include "runtime/src/Device.h"
#include "tools/tile-run/PlanExecutor.h"

namespace tile_run {

/// The device of the pack's context, which stays current while the executor lives. Buffers lie
/// between zones of tile_rt::kGuardBytes guard bytes.
class CudaExecutor : public PlanExecutor {
public:
  explicit CudaExecutor(const tile_kernel &kernel);
  ~CudaExecutor() override { workspace.reset(); }
  std::string name() const override { return "cuda"; }
  uint64_t memoryLimit() const override { return uint64_t{1} << 37; } // the driver knows better
  std::unique_ptr<tile_rt::Buffer> allocate(size_t bytes, const std::string &name) override;
  bool isTimed() const override { return true; }
  std::vector<float> time(int warmup, int count, bool flush) override;

private:
  const tile_rt::DeviceInfo &device() const override { return pack.context->info; }
  void run(const tile_rt::LaunchPlan &plan, uint64_t workspace) override;

  tile_pack &pack;
  const tile_rt::Driver &driver;
  tile_rt::CurrentContext current;
};

} // namespace tile_run
