//===- PassReciprocals.cpp - divisors of the host as factors --------------===//
//
// A division by a number that each launch knows takes a dozen instructions, and a register for each
// number that they share; a multiplication and a shift take two. So the host computes the numbers of
// dialects/tgpu/Reciprocal.h, in front of the launch, for divisors of what loops and tiles divide.
// What a block divides once is not worth three arguments.
//
//===----------------------------------------------------------------------===//
#include "dialects/tgpu/Reciprocal.h"
#include "dialects/tgpu/Tgpu.h"
#include "dialects/tile/Divisions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "passes/IntegerAnalysis.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_PASSRECIPROCALS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// True for what is done for each element or iteration.
bool isRepeated(Operation *op) {
  if (isa<ShapedType>(op->getResult(0).getType())) {
    return true;
  }
  for (Operation *parent = op->getParentOp(); !isa<tgpu::KernelOp>(parent);
       parent = parent->getParentOp()) {
    if (isa<LoopLikeOpInterface, tile::ParallelOp>(parent) || tgpu::hasElementBody(parent)) {
      return true;
    }
  }
  return false;
}

class Reciprocals {
public:
  Reciprocals(tgpu::LaunchOp launch, tgpu::KernelOp kernel)
      : launch(launch), kernel(kernel), integers(kernel), host(launch.getLoc(), launch) {}

  void run() {
    kernel.walk([&](Operation *op) {
      std::optional<tile::Division> division = tile::divisionOf(op);
      if (division && isRepeated(op)) {
        convert(op, division->isUnsigned);
      }
    });
  }

private:
  void convert(Operation *op, bool isUnsigned) {
    OpOperand &operand = op->getOpOperand(1);
    Value divisor = operand.get();
    auto splat = divisor.getDefiningOp<tile::SplatOp>();
    Value scalar = splat ? splat.getInput() : divisor;
    if (!scalar.getType().isInteger(32) || matchPattern(scalar, m_Constant()) ||
        !isOfHost(scalar, /*depth=*/0)) {
      return;
    }
    BlockArgument argument = argumentFor(scalar);
    if (DenseI64ArrayAttr known = tgpu::kReciprocal.get(kernel, argument.getArgNumber())) {
      if (bool(known[1]) != isUnsigned && integers.range(scalar).low < 0) {
        return; // read in both ways: it is not worth six arguments
      }
    } else {
      const auto first = int64_t(kernel.getNumArguments());
      Type type = host.getI32Type();
      auto numbers = tgpu::ReciprocalOp::create(host, type, type, type, onHost(scalar), isUnsigned);
      for (Value value : numbers.getResults()) {
        addArgument(value, DictionaryAttr());
      }
      tgpu::kReciprocal.set(kernel, argument.getArgNumber(),
                            host.getDenseI64ArrayAttr({first, isUnsigned}));
    }
    OpBuilder b(op);
    operand.set(splat ? tile::SplatOp::create(b, op->getLoc(), divisor.getType(), argument)
                      : Value(argument));
  }

  /// The host can compute it from what it passes, by few operations that are defined for all operands.
  bool isOfHost(Value value, unsigned depth) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      return argument.getOwner()->getParentOp() == kernel;
    }
    Operation *op = value.getDefiningOp();
    if (op->hasTrait<OpTrait::ConstantLike>()) {
      return true;
    }
    const bool divides = isa<arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op) &&
                         tile::isSafeDivisor(op->getOperand(1), /*isUnsigned=*/false);
    const bool isTotal = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp,
                             arith::MaxSIOp, arith::ExtSIOp, arith::TruncIOp>(op);
    return (divides || isTotal) && depth < 4 &&
           llvm::all_of(
               op->getOperands(), [&](Value operand) { return isOfHost(operand, depth + 1); });
  }

  Value onHost(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      return launch.getArgs()[argument.getArgNumber()];
    }
    if (Value known = mapping.lookupOrNull(value)) {
      return known;
    }
    Operation *op = value.getDefiningOp();
    IRMapping operands;
    for (Value operand : op->getOperands()) {
      operands.map(operand, onHost(operand));
    }
    Value result = host.clone(*op, operands)->getResult(0);
    mapping.map(value, result);
    return result;
  }

  /// The argument that a number of the host is; for one that the kernel computes, a new one.
  BlockArgument argumentFor(Value scalar) {
    if (auto argument = dyn_cast<BlockArgument>(scalar)) {
      return argument;
    }
    BlockArgument &known = passed[scalar];
    if (!known) {
      NamedAttrList facts;
      const IntegerRange range = integers.range(scalar);
      tgpu::kRange.set(facts, host.getDenseI64ArrayAttr({range.low, range.high}));
      if (const int64_t divisor = integers.divisor(scalar); divisor > 1) {
        tgpu::kDivisible.set(facts, host.getI64IntegerAttr(divisor));
      }
      known = addArgument(onHost(scalar), facts.getDictionary(kernel.getContext()));
    }
    return known;
  }

  BlockArgument addArgument(Value value, DictionaryAttr facts) {
    launch.getArgsMutable().append(value);
    const unsigned index = kernel.getNumArguments();
    (void)kernel.insertArgument(index, value.getType(), facts, value.getLoc());
    return kernel.getArgument(index);
  }

  tgpu::LaunchOp launch;
  tgpu::KernelOp kernel;
  IntegerAnalysis integers; // of the kernel as it was
  ImplicitLocOpBuilder host;
  IRMapping mapping;                     // of what the kernel computes to what the host does
  DenseMap<Value, BlockArgument> passed; // looked up only
};

struct PassReciprocals : tilec::impl::PassReciprocalsBase<PassReciprocals> {
  void runOnOperation() override {
    llvm::StringMap<tgpu::KernelOp> kernels;
    for (auto kernel : getOperation().getOps<tgpu::KernelOp>()) {
      if (std::optional<StringRef> launch = kernel.getLaunch()) {
        kernels[*launch] = kernel;
      }
    }
    getOperation().walk([&](tgpu::LaunchOp launch) {
      if (tgpu::KernelOp kernel = kernels.lookup(launch.getName())) {
        Reciprocals(launch, kernel).run();
      }
    });
  }
};

} // namespace
