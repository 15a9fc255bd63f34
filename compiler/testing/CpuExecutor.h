// Runs calls on the cpu target, in this process.
#pragma once

#include "compiler/cpu/CpuProgram.h"
#include "runtime/harness/Executor.h"

namespace tilec {

class CpuExecutor : public tile_rt::Executor {
public:
  /// `kernel` of `manifest`, which manifestForCpu has made, is `program`'s kernel of the same symbol.
  /// All three outlive it.
  CpuExecutor(const tile_rt::Manifest &manifest, const tile_rt::Kernel &kernel,
              cpu::CpuProgram &program)
      : manifest(manifest), kernel(kernel), program(program) {}

  std::string name() const override { return "cpu"; }
  std::unique_ptr<tile_rt::Buffer> allocate(size_t bytes, const std::string &name) override;
  std::string prepare(std::span<const tile_arg> args, bool verbose) override;
  void run() override;

private:
  const tile_rt::Manifest &manifest;
  const tile_rt::Kernel &kernel;
  cpu::CpuProgram &program;
  llvm::SmallVector<cpu::Argument> arguments;
};

} // namespace tilec
