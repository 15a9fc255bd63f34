// An executor of the runtime's plans: what a GPU and the emulator share.
#pragma once

#include "runtime/harness/Executor.h"
#include "runtime/src/Device.h"

namespace tile_run {

class PlanExecutor : public tile_rt::Executor {
public:
  /// `kernel` outlives it.
  explicit PlanExecutor(const tile_kernel &kernel) : kernel(kernel) {}

  /// Plans the call and allocates its workspace.
  std::string prepare(std::span<const tile_arg> args, bool verbose) override;
  void run() override { run(*call, workspace->address()); }
  std::string damage() const override;
  /// What was prepared.
  std::span<const tile_arg> arguments() const { return args; }
  /// Of the launches that were prepared, in order.
  std::vector<std::string> variants() const;
  /// What the kernel has printed, in all runs so far.
  const tile_rt::Printed &printed() const { return said; }

protected:
  virtual const tile_rt::DeviceInfo &device() const = 0;
  /// Runs a call of the arguments to its end. `workspace` is large enough and aligned.
  virtual void run(tile_rt::PreparedCall &call, uint64_t workspace) = 0;

  void say(const tile_rt::Printed &more) {
    said.text += more.text;
    said.lost += more.lost;
  }

  const tile_kernel &kernel;
  std::unique_ptr<tile_rt::PreparedCall> call; ///< null until one was planned
  /// Memory of the derived executor: its destructor gives this back while the device is there.
  std::unique_ptr<tile_rt::Buffer> workspace;

private:
  std::span<const tile_arg> args;
  tile_rt::Printed said;
};

} // namespace tile_run
