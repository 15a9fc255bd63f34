#include "compiler/benchmark/BenchLimits.h"

#include "passes/MachineModel.h"

using namespace llvm;

namespace tilec {

double peakFlops(const BenchReport &report, StringRef type) {
  const MachineModel &machine = machineModelOf(report.capability);
  return mostFlop(report.capability, type) * report.multiprocessors * machine.mostGHz * 1e9;
}

double peakBytes(const BenchReport &report) { return machineModelOf(report.capability).dramRead; }

std::optional<BenchLimit> limitOf(const BenchReport &report, const BenchRow &row) {
  if (!row.flops && !row.bytes) {
    return std::nullopt;
  }
  BenchLimit limit{machineModelOf(report.capability).launch * 1e6, "launch"};
  auto take = [&](double microseconds, StringRef bound) {
    if (microseconds > limit.microseconds) {
      limit = {microseconds, bound};
    }
  };
  if (row.flops) {
    const bool isScalar =
        mostFlop(report.capability, row.rate) == mostFlop(report.capability, "f32");
    take(*row.flops / peakFlops(report, row.rate) * 1e6, isScalar ? "arithmetic" : "tensor cores");
  }
  if (row.bytes) {
    take(*row.bytes / peakBytes(report) * 1e6, "memory");
  }
  return limit;
}

} // namespace tilec
