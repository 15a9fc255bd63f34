//===- Elementwise.cpp - scalar code and code for each slot --------------===//
#include "mlir/IR/IRMapping.h"
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

/// The operation `op` on other operands, with scalar results.
static Operation *cloneScalar(OpBuilder &b, Operation *op, ValueRange operands) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    state.addTypes(tensor ? slotType(tensor.getElementType()) : type);
  }
  state.addAttributes(op->getAttrs());
  return b.create(state);
}

LogicalResult KernelLowering::lowerGeneric(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (op->getNumRegions() != 0 ||
      (dialect != "arith" && dialect != "math" && dialect != "ub" && dialect != "llvm")) {
    return unsupported(op, "this operation in a kernel");
  }
  const bool onFragments =
      llvm::any_of(op->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
  if (onFragments) {
    return lowerElementwise(op);
  }
  FailureOr<Fragment> operands = flatten(op, op->getOperands());
  if (failed(operands)) {
    return failure();
  }
  Operation *clone = cloneScalar(b, op, *operands);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), clone->getResults())) {
    scalars[from] = {to};
  }
  return success();
}

LogicalResult KernelLowering::lowerElementwise(Operation *op) {
  SmallVector<Type> types;
  if (failed(flattenTypes(op, op->getResultTypes().front(), types))) {
    return unsupported(op, "this operation on fragments");
  }
  const size_t count = types.size();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat) {
      return unsupported(op, "a constant fragment whose elements differ");
    }
    auto value = splat.getSplatValue<TypedAttr>();
    if (value.getType() != types[0]) { // 8-bit floats live in integers
      value = b.getIntegerAttr(types[0],
                               cast<FloatAttr>(value).getValue().bitcastToAPInt().getSExtValue());
    }
    Value scalar = arith::ConstantOp::create(b, loc, value);
    scalars[op->getResult(0)] = Fragment(count, scalar);
    return success();
  }
  SmallVector<Fragment> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Fragment> slots = flatten(op, operand);
    if (failed(slots)) {
      return failure();
    }
    if (slots->size() == 1 && !isa<RankedTensorType>(operand.getType())) {
      *slots = Fragment(count, (*slots)[0]); // a scalar condition of a select
    }
    if (slots->size() != count) {
      return unsupported(op, "an element-wise operation on fragments of different layouts");
    }
    operands.push_back(*slots);
  }
  for (Value operand : op->getOperands()) {
    auto from = tgpu::getLayout(operand.getType());
    auto to = tgpu::getLayout(op->getResult(0).getType());
    if (isa<RankedTensorType>(operand.getType()) && from && !(*from == *to) &&
        !from->sameMap(*to)) {
      return unsupported(op, "an element-wise operation on fragments of different layouts");
    }
  }
  // Slots that one scalar filled give one result.
  SmallVector<Fragment> results(op->getNumResults());
  std::map<SmallVector<void *, 3>, Operation *> known;
  for (size_t i = 0; i < count; ++i) {
    SmallVector<Value> slot;
    SmallVector<void *, 3> key;
    for (const Fragment &operand : operands) {
      slot.push_back(operand[i]);
      key.push_back(operand[i].getAsOpaquePointer());
    }
    Operation *&clone = known[key]; // looked up only
    if (!clone) {
      clone = cloneScalar(b, op, slot);
    }
    for (auto [slots, value] : llvm::zip_equal(results, clone->getResults())) {
      slots.push_back(value);
    }
  }
  for (auto [result, slots] : llvm::zip_equal(op->getResults(), results)) {
    scalars[result] = slots;
  }
  return success();
}

LogicalResult KernelLowering::lowerMap(tile::MapOp op) {
  SmallVector<Type> types;
  if (op.getNumResults() == 0 || failed(flattenTypes(op, op->getResultTypes().front(), types))) {
    return failure();
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
  const layout::RegisterLayout *layout = tgpu::getLayout(op.getResult(0).getType());
  const bool checks =
      op.walk([](tile::VerifyOp) { return WalkResult::interrupt(); }).wasInterrupted();
  for (size_t i = 0; i < count; ++i) {
    mappedSlotInTile = checks ? slotInTile(*layout, i) : Value();
    for (auto [argument, input] : llvm::zip_equal(body.getArguments(), op.getInputs())) {
      scalars[argument] = {scalars[input][i]};
    }
    if (failed(lowerBlock(body))) {
      return failure();
    }
    FailureOr<Fragment> yields = flatten(op, body.getTerminator()->getOperands());
    if (failed(yields)) {
      return failure();
    }
    for (auto [slots, value] : llvm::zip_equal(results, *yields)) {
      slots.push_back(value);
    }
  }
  mappedSlotInTile = Value();
  for (auto [result, slots] : llvm::zip_equal(op.getResults(), results)) {
    scalars[result] = slots;
  }
  return success();
}

} // namespace tilec::lowering
