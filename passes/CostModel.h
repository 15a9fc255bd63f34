//===- CostModel.h - what a launch is expected to take ----------*- C++ -*-===//
//
// tgpu-estimate-cost writes the cost of each kernel as arithmetic in host code (tgpu.cost). Here is what reads it: an
// evaluator for host code, and the terms by their names.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_COSTMODEL_H
#define TILEC_PASSES_COSTMODEL_H

#include "dialects/tgpu/Tgpu.h"

#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// Numbers of host code, computed again and again for different leaves. Everything is a double: integers are exact to 2^53,
/// truth is 1 or 0. What is no arithmetic is a leaf: arguments, dimensions, extents, strides, the number of multiprocessors.
class HostEvaluator {
public:
  explicit HostEvaluator(llvm::ArrayRef<mlir::Value> wanted);

  /// The leaves that the wanted values depend on.
  llvm::ArrayRef<mlir::Value> leaves() const { return leafValues; }
  /// The wanted values for those of leaves(), in their order.
  void evaluate(llvm::ArrayRef<double> ofLeaves, llvm::MutableArrayRef<double> results) const;
  /// The first of the wanted values.
  double evaluate(llvm::ArrayRef<double> ofLeaves) const;

private:
  struct Step {
    unsigned kind;
    unsigned inputs[3];
  };
  unsigned add(mlir::Value value);

  llvm::SmallVector<mlir::Value> leafValues;
  std::vector<Step> steps;
  std::vector<double> constants; // by number of a step
  std::vector<unsigned> results;
  llvm::DenseMap<mlir::Value, unsigned> numbers; // of steps; looked up only
  mutable std::vector<double> values;
};

/// A leaf by name: dimensions ("M") and scalar arguments as given, `sm_count`, optional tensors present, extents of tensors
/// as the declaration says, strides as of tensors without gaps. Nothing where the name is missing.
std::optional<double> valueOfLeaf(mlir::Value leaf, const llvm::StringMap<double> &names,
                                  double multiprocessors);

/// Seconds, and what they are made of. `tensor` to `access` are what each resource takes in all, were it alone.
struct CostTerms {
  double total = 0;
  double launch = 0, waves = 0, dram = 0, latency = 0;
  double tensor = 0, load = 0, store = 0, shared = 0, issue = 0, special = 0, access = 0;
  double resident = 0;
  bool isAssumed = false; ///< the lengths of some loops were not known
  /// The greatest of these: "memory", "latency", "tensor cores", "loads", ...
  llvm::StringRef decided;
  /// Those that take time, by name, but for the total: "launch", "memory", ...
  llvm::SmallVector<std::pair<llvm::StringRef, double>, 11> named() const;
  /// "182.50 us, bound by tensor cores (1 wave of ...)"
  std::string str() const;
};
/// Reads the numbers that an evaluator gives for CostOp::getResultsOfBody().
CostTerms termsOf(tgpu::CostOp cost, llvm::ArrayRef<double> results);

/// A cost at one size of a call.
struct ShownCost {
  std::optional<int64_t>
      size; ///< of all dimensions and integer arguments; nothing where all are constant
  CostTerms terms;
};
/// What people are shown of a cost: one where everything is constant, else those of a few sizes.
llvm::SmallVector<ShownCost, 3> shownCosts(tgpu::CostOp cost, double multiprocessors);

/// The cost of each kernel, by its name.
llvm::StringMap<tgpu::CostOp> findCosts(mlir::ModuleOp module);

/// Why a kernel is not worth compiling: its buffers do not fit, it would spill registers, or ptxas would serialise its products. Nothing if it is.
/// Needs instructions chosen (tgpu-select-mma).
std::optional<std::string> refusalOf(tgpu::KernelOp kernel);

} // namespace tilec

#endif // TILEC_PASSES_COSTMODEL_H
