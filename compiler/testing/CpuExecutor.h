// Runs calls on the cpu target, in this process.
#pragma once

#include "compiler/cpu/CpuProgram.h"
#include "runtime/harness/Executor.h"

namespace tilec {

class CpuExecutor : public tile_rt::Executor {
public:
  /// `kernel` describes the arguments of `program`'s kernel of the same symbol. Both outlive it.
  CpuExecutor(const tile_rt::Kernel &kernel, cpu::CpuProgram &program)
      : kernel(kernel), program(program) {}

  std::string name() const override { return "cpu"; }
  uint64_t memoryLimit() const override { return tile_rt::hostMemoryLimit(); }
  std::unique_ptr<tile_rt::Buffer> allocate(size_t bytes, const std::string &name) override;
  std::string prepare(std::span<const tile_arg> args, bool verbose) override;
  void run() override;

private:
  const tile_rt::Kernel &kernel;
  cpu::CpuProgram &program;
  llvm::SmallVector<cpu::Argument> arguments;
};

} // namespace tilec
