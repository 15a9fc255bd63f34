//===- PassReciprocals.cpp - divisors of the host as factors --------------===//
//
// A division by a number that each launch knows becomes a multiplication and a shift: the host computes
// the numbers of dialects/tgpu/Reciprocal.h in front of the launch. Instructions for sm_90a (ptxas 13.0),
// with loads of arguments, most of which are operands of other instructions; signed ones with guards:
//
//     u32: 18, then 5    i16: 42, then 12    u64: 101, then 13    i64: 130, then 25
//
// Of 64 bits about 25 are executed where both numbers happen to fit 32. So also what a block or a thread
// divides once is worth the three arguments. Of 16 and 8 bits ptxas calls a function in floats: they are
// multiplied as numbers of 32. A quotient of two numbers of the host is computed there.
//
//===----------------------------------------------------------------------===//
#include "dialects/tgpu/Reciprocal.h"
#include "dialects/tgpu/Tgpu.h"
#include "dialects/tile/Divisions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "passes/IntegerAnalysis.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_PASSRECIPROCALS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// A division of the program, and the ranges of its numbers where these are scalars.
struct Candidate {
  Operation *op;
  bool isUnsigned;
  IntegerRange dividend, divisor;
};

/// Scalars of 64 bits that 32 hold, as does what their division gives: not the least integer by -1.
bool fits32(const Candidate &of) {
  if (!of.op->getResult(0).getType().isInteger(64)) {
    return false;
  }
  const int64_t low = of.isUnsigned ? 0 : INT32_MIN, high = of.isUnsigned ? UINT32_MAX : INT32_MAX;
  return of.dividend.low >= (of.isUnsigned ? low : low + 1) && of.dividend.high <= high &&
         of.divisor.low >= low && of.divisor.high <= high;
}

class Reciprocals {
public:
  Reciprocals(tgpu::LaunchOp launch, tgpu::KernelOp kernel)
      : launch(launch), kernel(kernel), integers(kernel), host(launch.getLoc(), launch) {}

  void run() {
    SmallVector<Candidate> candidates;
    kernel.walk([&](Operation *op) {
      if (std::optional<tile::Division> division = tile::divisionOf(op)) {
        candidates.push_back(
            {op, division->isUnsigned, rangeOf(op->getOperand(0)), rangeOf(op->getOperand(1))});
      }
    });
    for (const Candidate &candidate : candidates) {
      convert(candidate);
    }
  }

private:
  IntegerRange rangeOf(Value value) {
    return value.getType().isInteger() ? integers.range(value) : IntegerRange{INT64_MIN, INT64_MAX};
  }

  void convert(const Candidate &of) {
    Operation *op = of.op;
    OpOperand &operand = op->getOpOperand(1);
    Value divisor = operand.get();
    auto splat = divisor.getDefiningOp<tile::SplatOp>();
    Value scalar = splat ? splat.getInput() : divisor;
    if (!scalar.getType().isInteger() || matchPattern(scalar, m_Constant()) ||
        !isOfHost(scalar, /*depth=*/0)) {
      return;
    }
    if (Value result = op->getResult(0); isOfHost(result, /*depth=*/0)) {
      result.replaceAllUsesWith(argumentFor(result, rangeOf(result)));
      return;
    }
    if (isa<tile::DivOp, tile::RemOp>(op) && fits32(of)) {
      return convert(narrowed(of));
    }
    const IntegerRange range = splat ? integers.range(scalar) : of.divisor;
    BlockArgument argument = argumentFor(scalar, range);
    if (!passReciprocal(argument, range, of.isUnsigned)) {
      return;
    }
    OpBuilder b(op);
    operand.set(splat ? tile::SplatOp::create(b, op->getLoc(), divisor.getType(), argument)
                      : Value(argument));
  }

  /// A division of 64 bits whose numbers fit 32, as one of those.
  Candidate narrowed(const Candidate &of) {
    ImplicitLocOpBuilder b(of.op->getLoc(), of.op);
    Type type = b.getI32Type();
    Value x = b.createOrFold<arith::TruncIOp>(type, of.op->getOperand(0));
    Value wide = of.op->getOperand(1), &divisor = narrow[wide];
    if (!divisor) { // for all that divide by it
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfterValue(wide);
      divisor = b.createOrFold<arith::TruncIOp>(type, wide);
    }
    Operation *small = b.create(of.op->getLoc(), of.op->getName().getIdentifier(), {x, divisor},
                                {type}, of.op->getAttrs());
    Value result = small->getResult(0);
    of.op->getResult(0).replaceAllUsesWith(
        of.isUnsigned ? arith::ExtUIOp::create(b, b.getI64Type(), result).getResult()
                      : arith::ExtSIOp::create(b, b.getI64Type(), result).getResult());
    of.op->erase();
    const bool hasSign = of.divisor.high > INT32_MAX; // the same bits, read with sign
    return {small, of.isUnsigned, of.dividend,
            hasSign ? IntegerRange{INT32_MIN, INT32_MAX} : of.divisor};
  }

  /// Makes what the host passes for a divisor; false if it passes it for another reading.
  bool passReciprocal(BlockArgument argument, IntegerRange range, bool isUnsigned) {
    const unsigned number = argument.getArgNumber();
    if (DenseI64ArrayAttr known = tgpu::kReciprocal.get(kernel, number)) {
      // Read in both ways: it is not worth six arguments.
      return bool(known[1]) == isUnsigned || range.low >= 0;
    }
    const auto first = int64_t(kernel.getNumArguments());
    const unsigned width = argument.getType().getIntOrFloatBitWidth();
    Type half = host.getI32Type(), type = width == 64 ? host.getI64Type() : half;
    Value divisor = launch.getArgs()[number];
    if (width < 32) {
      divisor = isUnsigned ? arith::ExtUIOp::create(host, type, divisor).getResult()
                           : arith::ExtSIOp::create(host, type, divisor).getResult();
    }
    auto numbers = tgpu::ReciprocalOp::create(host, type, type, type, divisor, isUnsigned);
    Value addend = numbers.getAddend(), shift = numbers.getShift();
    if (width == 64) {
      Value one = arith::ConstantOp::create(host, host.getI64IntegerAttr(1));
      addend = arith::TruncIOp::create(host, half, arith::MinUIOp::create(host, addend, one));
      shift = arith::TruncIOp::create(host, half, shift);
    }
    for (Value value : {numbers.getFactor(), addend, shift}) {
      addArgument(value, DictionaryAttr());
    }
    tgpu::kReciprocal.set(kernel, number, host.getDenseI64ArrayAttr({first, isUnsigned}));
    return true;
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
    if (!op->getResult(0).getType().isIntOrIndex()) {
      return false;
    }
    const bool divides =
        (isa<arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op) &&
         tile::isSafeDivisor(op->getOperand(1), /*isUnsigned=*/false)) ||
        (isa<tile::DivOp, tile::RemOp>(op) && integers.isNonNegative(op->getOperand(1)));
    const bool isTotal = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp,
                             arith::MaxSIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op);
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
    Value result = isa<tile::DivOp, tile::RemOp>(op) ? divideOnHost(op, operands)
                                                     : host.clone(*op, operands)->getResult(0);
    mapping.map(value, result);
    return result;
  }

  /// By what is not negative; a division by 0 gives 0, which is an error of the host's otherwise.
  Value divideOnHost(Operation *op, IRMapping &operands) {
    Value divisor = op->getOperand(1), y = operands.lookup(divisor);
    if (integers.range(divisor).low > 0) {
      return host.clone(*op, operands)->getResult(0);
    }
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(host, host.getIntegerAttr(y.getType(), value));
    };
    Value zero = constant(0);
    operands.map(divisor, arith::MaxSIOp::create(host, y, constant(1)).getResult());
    Value byZero = arith::CmpIOp::create(host, arith::CmpIPredicate::eq, y, zero);
    Value result = host.clone(*op, operands)->getResult(0);
    return arith::SelectOp::create(host, byZero, zero, result);
  }

  /// The argument that a number of the host is; for one that the kernel computes, a new one.
  BlockArgument argumentFor(Value scalar, IntegerRange range) {
    if (auto argument = dyn_cast<BlockArgument>(scalar)) {
      return argument;
    }
    BlockArgument &known = passed[scalar];
    if (!known) {
      NamedAttrList facts;
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
  DenseMap<Value, Value> narrow;         // divisors of 64 bits as numbers of 32; looked up only
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
