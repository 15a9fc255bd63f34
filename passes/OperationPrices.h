//===- OperationPrices.h - what single operations take ----------*- C++ -*-===//
#ifndef TILEC_PASSES_OPERATIONPRICES_H
#define TILEC_PASSES_OPERATIONPRICES_H

#include "dialects/tgpu/Tgpu.h"
#include "passes/BlockFootprint.h"
#include "passes/InstructionCounts.h"
#include "passes/MachineModel.h"
#include "passes/Registers.h"

#include <array>
#include <optional>

namespace tilec {

/// What blocks on a multiprocessor share.
enum class Resource : unsigned { Tensor, Load, Store, Shared, Issue, Special, Access };
inline constexpr unsigned kResources = 7;
/// "tensor cores", "loads", ...
llvm::StringRef nameOf(Resource resource);

/// Clocks of each resource, of a multiprocessor that does nothing else.
using Clocks = std::array<double, kResources>;

/// What one operation takes.
struct Price {
  Clocks clocks{};        ///< of the resources
  double way = 0;         ///< clocks of a warp until it goes on to the next operation
  double latency = 0;     ///< clocks from there to the result
  double cold = 0;        ///< clocks that the first of them in a block takes more
  bool isWritten = false; ///< by threads, to shared memory that others read behind a barrier
  bool meets = false;     ///< all warps wait for each other in it

  double &of(Resource resource) { return clocks[unsigned(resource)]; }
};

/// How many lines of 128 bytes TMA could load while it loads a row of so many bytes.
double linesOfRow(double bytes);
/// Bytes of a row of the boxes that such a load by TMA is cut into, where a swizzle can be as wide as they are; 0 where only the
/// launch says.
double bytesOfBoxRow(tgpu::CopyOp load);

/// Prices of the operations of a kernel, those with regions of code excepted. Counted before there are layouts: elements are
/// taken to be spread evenly over the threads.
class OperationPrices {
public:
  OperationPrices(tgpu::KernelOp kernel, const Target &target)
      : machine(machineModel(target)), threads(double(kernel.getThreads())),
        warps(std::max(1.0, threads / 32)),
        registersLeft(registersPerThread(kernel, target, /*blocks=*/2) -
                      estimateRegisters(kernel)) {}

  Price of(mlir::Operation *op);

private:
  std::optional<Price> ofMove(mlir::Operation *op);
  std::optional<Price> ofCombination(mlir::Operation *op);
  std::optional<Price> ofElements(mlir::Operation *op);
  Price compute(double perThread, Instructions each);
  Price ofTile(mlir::Operation *op);
  Price ofDot(tgpu::DotOp dot);
  Price ofMatrixInstruction(tgpu::DotOp dot, double m, double n, double k);
  Price ofScalarProduct(tgpu::DotOp dot, double m, double n, double k);
  Price ofCopy(tgpu::CopyOp copy);
  Price globalAccess(double bytes, double width, bool isStore);
  Price sharedAccess(double bytes, double width);
  Price ofStore(tgpu::StoreOp store);
  Price ofReduction(mlir::Value input, mlir::Type result, std::optional<int64_t> axis,
                    Instructions each);
  Price ofScan(mlir::Type input, Instructions each);
  Price ofIndexed(mlir::Operation *op, mlir::Value place, mlir::Type value, bool isStore);
  Price ofAccess(mlir::Operation *op, mlir::Value place, mlir::Type value, bool isStore);
  Price ofAtomics(double count, bool isGlobal);
  double callers(mlir::Operation *op, mlir::Type value) const;
  double perThread(mlir::Type type) const;

  const MachineModel &machine;
  double threads, warps;
  int64_t registersLeft; ///< of a thread's, where two blocks share a multiprocessor
};

} // namespace tilec

#endif // TILEC_PASSES_OPERATIONPRICES_H
