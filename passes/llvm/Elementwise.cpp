//===- Elementwise.cpp - scalar code and code for each slot --------------===//
#include "dialects/tile/Divisions.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "passes/llvm/KernelLowering.h"
#include "passes/llvm/SlotCode.h"

#include "llvm/ADT/TypeSwitch.h"

#include <set>

using namespace mlir;

namespace tilec::lowering {

/// The operation `op` on other operands, with scalar results and without overflow flags.
static Operation *cloneScalar(OpBuilder &b, Location loc, Operation *op, ValueRange operands) {
  OperationState state(loc, op->getName());
  state.addOperands(operands);
  for (Type type : op->getResultTypes()) {
    state.addTypes(slotType(getElementTypeOrSelf(type)));
  }
  state.addAttributes(op->getAttrs());
  state.attributes.erase(tgpu::kUnderVote.name); // said of the tile
  Operation *clone = b.create(state);
  if (auto flagged = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(clone)) {
    clone->setAttr(
        flagged.getIntegerOverflowAttrName(),
        arith::IntegerOverflowFlagsAttr::get(b.getContext(), arith::IntegerOverflowFlags::none));
  }
  return clone;
}

/// A constant as slots hold it: small floats live in integers.
static TypedAttr slotConstant(TypedAttr value) {
  Type type = slotType(value.getType());
  return type == value.getType()
             ? value
             : IntegerAttr::get(type, cast<FloatAttr>(value).getValue().bitcastToAPInt());
}

/// A call of the function of libm for f32 or f64, which compiler/emit/MathCalls.cpp exchanges.
static Value callLibrary(OpBuilder &b, Location loc, StringRef stem, ValueRange in) {
  Type type = in[0].getType();
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  std::string name = (stem + (type.isF32() ? "f" : "")).str();
  SmallVector<Type> types(in.size(), type);
  FailureOr<LLVM::LLVMFuncOp> function = LLVM::lookupOrCreateFn(b, module, name, types, type);
  return failed(function) ? in[0] : LLVM::CallOp::create(b, loc, *function, in).getResult();
}

/// The bits of a number as an integer. ptxas 13.0 takes the source of an 8-bit store for a number, and
/// converts it, if an instruction on f16 or bf16 wrote the register: a move in between keeps it from
/// that.
static Value bitsOf(OpBuilder &b, Location loc, Value value, Type to) {
  Value bits = LLVM::BitcastOp::create(b, loc, to, value);
  if (!value.getType().isF16() && !value.getType().isBF16()) {
    return bits;
  }
  return LLVM::InlineAsmOp::create(
             b, loc, to, bits, "mov.b16 $0, $1;", "=h,h", /*has_side_effects=*/false,
             /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
             LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
      .getResult(0);
}

/// An exact division. That of zeros, which tiles have beyond the ends of tensors, takes ptxas' slow path, some seven times as long for the whole
/// warp: a number that has a quotient by any divisor stands for them, and zero times its quotient is theirs, sign and NaN included.
static Value divideExactly(OpBuilder &b, Location loc, Operation *op, ValueRange in) {
  auto type = cast<FloatType>(in[0].getType());
  if (type.isF64() || matchPattern(in[0], m_Constant())) {
    return cloneScalar(b, loc, op, in)->getResult(0);
  }
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  };
  Value isZero = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, in[0], constant(0));
  Value dividend = arith::SelectOp::create(b, loc, isZero, constant(0x1p-24), in[0]);
  Value quotient = cloneScalar(b, loc, op, {dividend, in[1]})->getResult(0);
  Value ofZero = arith::MulFOp::create(b, loc, in[0], quotient);
  return arith::SelectOp::create(b, loc, isZero, ofZero, quotient);
}

Fragment KernelLowering::emitScalar(Operation *op, ValueRange in) {
  if (std::optional<tile::Division> d = tile::divisionOf(op)) {
    Value x = op->getOperand(0);
    return {divide(in[0], in[1], *d, x.getType().isInteger() && integers.isNonNegative(x))};
  }
  auto shifted = [&](bool left, bool isUnsigned) -> Fragment {
    return {shift(in[0], in[1], left, isUnsigned)};
  };
  auto toInteger = [&](bool isUnsigned) -> Fragment {
    return {floatToInteger(in[0], getElementTypeOrSelf(op->getResult(0).getType()), isUnsigned)};
  };
  auto compareMagnitude = [&](arith::CmpFPredicate predicate) -> Fragment {
    auto type = cast<FloatType>(in[0].getType());
    Value infinity = arith::ConstantOp::create(
        b, loc, b.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics())));
    Value magnitude = math::AbsFOp::create(b, loc, in[0]);
    return {arith::CmpFOp::create(b, loc, predicate, magnitude, infinity)};
  };
  return llvm::TypeSwitch<Operation *, Fragment>(op)
      .Case<arith::ConstantOp>([&](arith::ConstantOp o) -> Fragment {
        return {arith::ConstantOp::create(b, loc, slotConstant(cast<TypedAttr>(o.getValue())))};
      })
      .Case<tile::ShlOp>([&](auto) { return shifted(true, true); })
      .Case<tile::ShrOp>([&](tile::ShrOp o) { return shifted(false, o.getIsUnsigned()); })
      .Case<arith::ShLIOp>([&](auto) { return shifted(true, true); })
      .Case<arith::ShRSIOp>([&](auto) { return shifted(false, false); })
      .Case<arith::ShRUIOp>([&](auto) { return shifted(false, true); })
      .Case<arith::BitcastOp>([&](arith::BitcastOp o) -> Fragment {
        Type to = slotType(getElementTypeOrSelf(o.getType()));
        if (isa<FloatType>(in[0].getType()) && isa<IntegerType>(to)) {
          return {bitsOf(b, loc, in[0], to)};
        }
        return Fragment(cloneScalar(b, loc, op, in)->getResults());
      })
      .Case<arith::FPToSIOp>([&](auto) { return toInteger(false); })
      .Case<arith::FPToUIOp>([&](auto) { return toInteger(true); })
      .Case<math::IsNaNOp>([&](auto) -> Fragment {
        return {arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, in[0], in[0])};
      })
      .Case<math::IsInfOp>([&](auto) { return compareMagnitude(arith::CmpFPredicate::OEQ); })
      .Case<math::IsFiniteOp>([&](auto) { return compareMagnitude(arith::CmpFPredicate::OLT); })
      .Case<arith::DivFOp>([&](arith::DivFOp o) -> Fragment {
        const bool isFast = arith::bitEnumContainsAny(o.getFastmath(), arith::FastMathFlags::afn);
        return {isFast ? cloneScalar(b, loc, op, in)->getResult(0) : divideExactly(b, loc, op, in)};
      })
      .Case<math::ErfOp>([&](auto) -> Fragment { return {callLibrary(b, loc, "erf", in)}; })
      .Case<ub::PoisonOp>([&](auto) -> Fragment { // any value will do, but it must be one
        Type type = slotType(getElementTypeOrSelf(op->getResult(0).getType()));
        return {arith::ConstantOp::create(b, loc, b.getZeroAttr(type))};
      })
      .Default(
          [&](Operation *other) { return Fragment(cloneScalar(b, loc, other, in)->getResults()); });
}

LogicalResult KernelLowering::lowerGeneric(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (op->getNumRegions() != 0 || (dialect != "arith" && dialect != "math" && dialect != "ub" &&
                                   dialect != "llvm" && dialect != "tile")) {
    return unsupported(op, "this operation in a kernel");
  }
  const bool onFragments = llvm::any_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  if (onFragments) {
    return lowerElementwise(op);
  }
  FailureOr<Fragment> operands = flatten(op, op->getOperands());
  if (failed(operands)) {
    return failure();
  }
  for (auto [from, to] : llvm::zip_equal(op->getResults(), emitScalar(op, *operands))) {
    scalars[from] = {to};
  }
  return success();
}

LogicalResult KernelLowering::lowerConstant(arith::ConstantOp op, size_t count) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements || (!elements.isSplat() && !isa<VectorType>(elements.getType()))) {
    return unsupported(op, "a constant fragment whose elements differ");
  }
  auto create = [&](Attribute value) {
    return Value(arith::ConstantOp::create(b, loc, slotConstant(cast<TypedAttr>(value))));
  };
  scalars[op.getResult()] = elements.isSplat()
                                ? Fragment(count, create(elements.getSplatValue<Attribute>()))
                                : llvm::map_to_vector<8>(elements.getValues<Attribute>(), create);
  return success();
}

bool SlotCode::isPairwise(Operation *op) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::FmaOp>(op) &&
         (element.isF16() || element.isBF16());
}

Fragment SlotCode::emitPair(ValueRange even, ValueRange odd) {
  OpBuilder &b = lowering.builder();
  OperationState state(lowering.location(), op->getName());
  for (auto [low, high] : llvm::zip_equal(even, odd)) {
    state.addOperands(lowering.buildVector({low, high}));
  }
  state.addTypes(state.operands.front().getType());
  state.addAttributes(op->getAttrs());
  Fragment result;
  lowering.takeVector(b.create(state)->getResult(0), result);
  return result;
}

Fragment &SlotCode::resultsOf(ArrayRef<Value> slot) {
  return known[llvm::map_to_vector<3>(slot, [](Value v) { return v.getAsOpaquePointer(); })];
}

Fragment SlotCode::emit(ArrayRef<Value> slot) {
  Fragment &values = resultsOf(slot);
  if (values.empty()) {
    values = lowering.emitScalar(op, slot);
  }
  return values;
}

std::pair<Fragment, Fragment> SlotCode::emitTwo(ArrayRef<Value> even, ArrayRef<Value> odd) {
  Fragment &values = resultsOf(even), &others = resultsOf(odd);
  if (inPairs && values.empty() && others.empty() && even != odd) {
    Fragment pair = emitPair(even, odd);
    values = {pair[0]};
    others = {pair[1]};
  }
  return {emit(even), emit(odd)};
}

void KernelLowering::emitSlots(Operation *op, ArrayRef<Fragment> operands, size_t count) {
  SmallVector<Fragment, 2> results(op->getNumResults());
  auto slotAt = [&](size_t i) {
    return llvm::map_to_vector<3>(operands, [&](const Fragment &operand) { return operand[i]; });
  };
  auto append = [&](const Fragment &values) {
    for (auto [result, value] : llvm::zip_equal(results, values)) {
      result.push_back(value);
    }
  };
  SlotCode code(*this, op);
  const bool inPairs = SlotCode::isPairwise(op) && count % 2 == 0;
  for (size_t i = 0; i < count; i += inPairs ? 2 : 1) {
    if (inPairs) {
      auto [even, odd] = code.emitTwo(slotAt(i), slotAt(i + 1));
      append(even);
      append(odd);
    } else {
      append(code.emit(slotAt(i)));
    }
  }
  for (auto [result, slots] : llvm::zip_equal(op->getResults(), results)) {
    scalars[result] = slots;
  }
}

LogicalResult KernelLowering::lowerElementwise(Operation *op) {
  SmallVector<Type> types;
  if (failed(flattenTypes(op, op->getResult(0).getType(), types))) {
    return failure();
  }
  const size_t count = types.size();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    return lowerConstant(constant, count);
  }
  SmallVector<Fragment> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Fragment> slots = flatten(op, operand);
    if (failed(slots)) {
      return failure();
    }
    if (slots->size() == 1 && !isa<ShapedType>(operand.getType())) {
      *slots = Fragment(count, (*slots)[0]); // a scalar condition of a select
    }
    if (slots->size() != count) {
      return unsupported(op, "an element-wise operation on fragments of different layouts");
    }
    operands.push_back(*slots);
  }
  if (isa<arith::ExtUIOp, arith::ExtSIOp>(op)) {
    if (Fragment bytes = packedSource(op->getOperand(0)); !bytes.empty()) {
      const bool isUnsigned = isa<arith::ExtUIOp>(op);
      FailureOr<Fragment> decoded = convertFromPacked(
          op, operands[0], bytes, getElementTypeOrSelf(op->getOperand(0).getType()),
          getElementTypeOrSelf(op->getResult(0).getType()), isUnsigned, isUnsigned);
      if (failed(decoded)) {
        return failure();
      }
      scalars[op->getResult(0)] = *decoded;
      return success();
    }
  }
  for (Value operand : op->getOperands()) {
    auto from = tgpu::getLayout(operand.getType());
    auto to = tgpu::getLayout(op->getResult(0).getType());
    if (isa<RankedTensorType>(operand.getType()) && from && !(*from == *to) &&
        !from->sameMap(*to)) {
      return unsupported(op, "an element-wise operation on fragments of different layouts");
    }
  }
  if (auto product = dyn_cast<arith::MulFOp>(op);
      product && tgpu::kUnderVote.get(op) && tgpu::kUnderVote.get(op).getValue()) {
    scalars[product.getResult()] = emitUnderVote(*this, product, operands);
    return success();
  }
  emitSlots(op, operands, count);
  return success();
}

LogicalResult KernelLowering::lowerMap(tile::MapOp op) {
  SmallVector<Type> types; // one that only checks has no results
  if (op.getInputs().empty() || failed(flattenTypes(op, op.getInputs().front().getType(), types))) {
    return unsupported(op, "such a map");
  }
  const size_t count = types.size();
  for (Value input : op.getInputs()) {
    FailureOr<Fragment> slots = flatten(op, input);
    if (failed(slots) || slots->size() != count) {
      return unsupported(op, "a map over fragments of different layouts");
    }
  }
  SmallVector<Fragment> results(op.getNumResults());
  Block &body = op.getBody().front();
  const layout::RegisterLayout *layout = tgpu::getLayout(op.getInputs().front().getType());
  const bool checks =
      op.walk([](tile::VerifyOp) { return WalkResult::interrupt(); }).wasInterrupted();
  const bool loops = hasLoops(op.getBody());
  const bool prints =
      op.walk([](tile::PrintOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (prints && (!layout->isSeparable() || layout->partial())) {
    return unsupported(op, "a `print` of a fragment in such a layout");
  }
  // Of the threads that hold an element one prints it.
  FailureOr<Value> owner = prints ? ownsSlots(op, *layout) : FailureOr<Value>(Value());
  if (failed(owner)) {
    return failure();
  }
  Fragment zeros;
  for (Type type : op.getResultTypes()) {
    Type slot = slotType(cast<RankedTensorType>(type).getElementType());
    zeros.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(slot)));
  }
  // Loops run under a condition, which hides what they compute.
  gathersMapFailures = checks && !loops;
  std::set<layout::Coords> printed; // a thread may hold an element twice
  for (size_t i = 0; i < count; ++i) {
    const bool isRepeated = prints && !printed.insert(layout->registerOffset(i)).second;
    Value isElement = checks || loops || prints ? slotInTile(*layout, i) : Value();
    mappedSlotInTile = isElement;
    mappedSlotPrints = isRepeated ? constant(0, b.getI1Type()) : both(*owner, isElement);
    for (auto [argument, input] : llvm::zip_equal(body.getArguments(), op.getInputs())) {
      scalars[argument] = {scalars[input][i]};
    }
    FailureOr<Fragment> yields = valuesUnder(loops ? isElement : Value(), zeros, [&] {
      return failed(lowerBlock(body)) ? FailureOr<Fragment>(failure())
                                      : flatten(op, body.getTerminator()->getOperands());
    });
    if (failed(yields)) {
      return failure();
    }
    for (auto [slots, value] : llvm::zip_equal(results, *yields)) {
      slots.push_back(value);
    }
  }
  mappedSlotInTile = mappedSlotPrints = Value();
  gathersMapFailures = false;
  recordFailuresOfMap();
  if (prints) {
    NVVM::SyncWarpOp::create(b, loc, i32(-1)); // lanes print under conditions of their own
  }
  for (auto [result, slots] : llvm::zip_equal(op.getResults(), results)) {
    scalars[result] = slots;
  }
  return success();
}

} // namespace tilec::lowering
