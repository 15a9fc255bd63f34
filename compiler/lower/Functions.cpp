// Scalar functions are inlined: at a call, in the body of `tile.map` where they apply to tiles, and
// as the combine of reductions and scans.
#include "compiler/lower/Lowering.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::lower;

Values Lowering::inlineFunction(const sema::Function &callee, ValueRange args) {
  for (auto [param, arg] : llvm::zip_equal(callee.params, args)) {
    values[param] = arg;
  }
  llvm::SaveAndRestore savedCall(callSite, std::optional<Location>(b.getLoc()));
  llvm::SaveAndRestore savedMode(mode, VarMode::Ssa);
  llvm::SaveAndRestore<const sema::Stmt *> savedLoop(loop, nullptr);
  llvm::SaveAndRestore<const void *> savedActivation(activation, &callee);
  variables[{&callee, kReturned}] = boolConstant(false);
  for (auto [i, type] : llvm::enumerate(callee.resultTypes)) {
    variables[{&callee, kResult + i}] = placeholder(valueType(type));
  }
  lowerBlock(callee.body);
  Values results;
  for (unsigned i = 0; i != callee.resultTypes.size(); ++i) {
    results.push_back(variables.lookup({&callee, kResult + i}));
  }
  return results;
}

Values Lowering::lowerCall(const sema::CallExpr &expr) {
  Values args;
  for (const sema::Expr *arg : expr.args) {
    args.push_back(lowerValue(*arg));
  }
  const sema::Type &type = expr.resultTypes.front();
  if (type.isVec()) {
    return callOnVectors(expr, args);
  }
  if (!type.isShaped()) {
    return inlineFunction(*expr.callee, args);
  }
  SmallVector<Type> types, elements;
  for (const sema::Type &result : expr.resultTypes) {
    types.push_back(valueType(result));
  }
  for (Value arg : args) {
    elements.push_back(getElementTypeOrSelf(arg.getType()));
  }
  auto op = tile::MapOp::create(b, types, args);
  {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Location> locs(elements.size(), b.getLoc());
    Block *body = b.createBlock(&op.getBody(), {}, elements, locs);
    Values results = inlineFunction(*expr.callee, body->getArguments());
    tile::YieldOp::create(b, results);
  }
  return Values(op.getResults().begin(), op.getResults().end());
}

/// Element by element; vectors are short.
Values Lowering::callOnVectors(const sema::CallExpr &expr, ValueRange args) {
  Values results;
  for (const sema::Type &type : expr.resultTypes) {
    results.push_back(placeholder(valueType(type)));
  }
  for (int64_t i = 0; i != expr.resultTypes.front().vecLength; ++i) {
    Values elements;
    for (Value arg : args) {
      elements.push_back(vector::ExtractOp::create(b, arg, i));
    }
    Values one = inlineFunction(*expr.callee, elements);
    for (auto [result, element] : llvm::zip_equal(results, one)) {
      result = vector::InsertOp::create(b, element, result, i);
    }
  }
  return results;
}

/// The body that combines two parts: the elements of the first, then those of the second.
void Lowering::fillCombine(Region &region, const sema::Function &combine, ValueRange inputs) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> elements;
  for (int part = 0; part != 2; ++part) {
    for (Value input : inputs) {
      elements.push_back(getElementTypeOrSelf(input.getType()));
    }
  }
  SmallVector<Location> locs(elements.size(), b.getLoc());
  Block *body = b.createBlock(&region, {}, elements, locs);
  tile::YieldOp::create(b, inlineFunction(combine, body->getArguments()));
}

Values Lowering::lowerReduceFn(const sema::ReduceFnExpr &expr) {
  Values inputs;
  for (const sema::Expr *operand : expr.operands) {
    inputs.push_back(lowerValue(*operand));
  }
  SmallVector<Type> types;
  for (const sema::Type &type : expr.resultTypes) {
    types.push_back(valueType(type));
  }
  IntegerAttr axis = expr.axis ? b.getI64IntegerAttr(*expr.axis) : IntegerAttr();
  auto op = tile::ReduceWithOp::create(b, types, inputs, axis);
  fillCombine(op.getCombine(), *expr.fn, inputs);
  return Values(op.getResults().begin(), op.getResults().end());
}

Values Lowering::lowerScanFn(const sema::ScanFnExpr &expr) {
  Values inputs;
  for (const sema::Expr *operand : expr.operands) {
    inputs.push_back(lowerValue(*operand));
  }
  SmallVector<Type> types;
  for (const sema::Type &type : expr.resultTypes) {
    types.push_back(valueType(type));
  }
  auto op = tile::ScanWithOp::create(b, types, inputs, b.getI64IntegerAttr(expr.axis),
                                     expr.reverse ? b.getUnitAttr() : UnitAttr());
  fillCombine(op.getCombine(), *expr.fn, inputs);
  return Values(op.getResults().begin(), op.getResults().end());
}
