//===- DeviceEstimates.h - integers of a kernel as the host sees them -*- C++ -*-===//
//
// What a launch passes is known to the host. Coordinates of blocks and induction variables run through a range; a
// number that depends on them is taken to be spread evenly between what it is at the one end and at the other.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_DEVICEESTIMATES_H
#define TILEC_PASSES_DEVICEESTIMATES_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/HostAmounts.h"
#include "passes/IntegerAnalysis.h"

namespace tilec {

/// What a number is where coordinates and induction variables are least, greatest, and in the middle: all the same where it
/// does not depend on them.
struct Spread {
  Amount low, high, centre;
  Spread(Amount low, Amount high, Amount centre) : low(low), high(high), centre(centre) {}
  explicit Spread(Amount uniform) : Spread(uniform, uniform, uniform) {}
  bool isUniform() const { return low == high; }
};

class DeviceEstimates {
public:
  DeviceEstimates(tgpu::KernelOp kernel, tgpu::LaunchOp launch, const IntegerAnalysis &integers,
                  HostMath &math)
      : kernel(kernel), launch(launch), integers(integers), math(math) {}

  /// The number that a value of the kernel is; nothing where memory or threads decide.
  std::optional<Spread> of(mlir::Value value) { return of(value, /*depth=*/0); }
  /// Its mean, by Simpson's rule: exact for what is linear, near for what is clipped.
  std::optional<Amount> mean(mlir::Value value);
  /// How often the body of a loop runs on the average; `kUnknownTrips` where nothing says.
  Amount trips(mlir::scf::ForOp loop);
  /// How many iterations of a loop that nothing bounds are assumed.
  static constexpr double kUnknownTrips = 8;
  /// The share of blocks and iterations in which a condition holds: a half where nothing says.
  Amount share(mlir::Value condition);
  /// Whether something had to be assumed.
  llvm::ArrayRef<mlir::Operation *> assumed() const { return assumptions; }
  /// Says that the trips of `loop` had to be assumed.
  void assume(mlir::Operation *loop);

private:
  Spread between(Amount low, Amount high);
  std::optional<Spread> of(mlir::Value value, unsigned depth);
  std::optional<Spread> compute(mlir::Value value, unsigned depth);
  std::optional<Spread> ofOperation(mlir::Operation *op, mlir::Value value, unsigned depth);
  std::optional<Spread> ofInduction(mlir::scf::ForOp loop, unsigned depth);
  std::optional<Spread> ofLoopResult(mlir::scf::ForOp loop, unsigned index, unsigned depth);
  std::optional<Spread> ofChoice(mlir::Value condition, mlir::Value then, mlir::Value other,
                                 unsigned depth);
  Amount shareOfCompare(mlir::arith::CmpIOp compare);

  tgpu::KernelOp kernel;
  tgpu::LaunchOp launch;
  const IntegerAnalysis &integers;
  HostMath &math;
  llvm::DenseMap<mlir::Value, std::optional<Spread>> known; // looked up only
  llvm::SmallVector<mlir::Operation *> assumptions;
};

} // namespace tilec

#endif // TILEC_PASSES_DEVICEESTIMATES_H
