// A GPU that is not there, for calls to which it makes no difference: they are wrong.
#pragma once

#include "tools/tile-run/Options.h"
#include "tools/tile-run/PlanExecutor.h"

namespace tile_run {

/// Checks and plans as for a device of the architecture that the options or the pack name, holds no memory and runs nothing.
class AbsentGpu : public PlanExecutor {
public:
  AbsentGpu(const tile_kernel &kernel, const CaseOptions &options);
  ~AbsentGpu() override { workspace.reset(); }
  std::string name() const override { return "cuda"; }
  std::unique_ptr<tile_rt::Buffer> allocate(size_t bytes, const std::string &name) override;
  std::string prepare(std::span<const tile_arg> args, bool verbose) override;
  bool isTimed() const override { return true; }
  /// Throws tile_rt::Error.
  void run() override { ask(); }
  /// Whether it should have run something: nothing is wrong with the call then, as far as can be said without the GPU.
  bool wasAsked() const { return asked; }

private:
  const tile_rt::DeviceInfo &device() const override { return info; }
  void run(tile_rt::PreparedCall &, uint64_t) override { ask(); }
  void ask();

  tile_rt::DeviceInfo info;
  uint64_t nextAddress;
  bool asked = false;
};

} // namespace tile_run
