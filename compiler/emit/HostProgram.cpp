#include "compiler/emit/HostProgram.h"

#include "compiler/emit/SourceLocation.h"
#include "dialects/tgpu/Tgpu.h"
#include "dialects/tile/ElementNames.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
namespace json = llvm::json;

namespace tilec {

static tile::KernelOp kernelOf(BlockArgument argument) {
  return dyn_cast_or_null<tile::KernelOp>(argument.getOwner()->getParentOp());
}

std::optional<GlobalName> globalName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (tile::KernelOp kernel = kernelOf(argument)) {
      return GlobalName{"tensor", kernel.getArgumentName(argument.getArgNumber()).str()};
    }
    return std::nullopt;
  }
  if (auto workspace = value.getDefiningOp<tile::WorkspaceOp>()) {
    return GlobalName{"workspace", workspace.getName().str()};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

json::Value expressionNode(llvm::StringRef op, json::Array args, std::string type) {
  json::Object object{{"op", op}, {"args", std::move(args)}};
  if (!type.empty()) {
    object["type"] = std::move(type);
  }
  return object;
}

/// A float as JSON, which has no infinities.
static json::Value floatValue(const llvm::APFloat &value) {
  double number = value.convertToDouble();
  if (std::isnan(number)) {
    return "nan";
  }
  if (std::isinf(number)) {
    return number < 0 ? "-inf" : "inf";
  }
  return number;
}

static json::Value constant(arith::ConstantOp op, bool isUnsigned) {
  if (auto value = dyn_cast<IntegerAttr>(op.getValue())) {
    if (value.getType().isInteger(1)) {
      return value.getValue().getBoolValue();
    }
    return isUnsigned ? json::Value(value.getValue().getZExtValue())
                      : json::Value(value.getValue().getSExtValue());
  }
  if (auto value = dyn_cast<FloatAttr>(op.getValue())) {
    return json::Object{{"const", floatValue(value.getValue())},
                        {"type", tile::elementName(op.getType())}};
  }
  return nullptr;
}

bool HostExpressions::isLeaf(Value value) const {
  Operation *op = value.getDefiningOp();
  return !op || isa<arith::ConstantOp, tile::DimOp, tile::ExtentOp, tile::StrideOp, tile::SmCountOp,
                    tile::PresentOp>(op);
}

/// How an operation reads integers, which MLIR's types do not say: it follows from the operation,
/// which the front end chose by the types of the program (TileDialect.td).
enum class Reading { Signed, Unsigned, Bits };

static Reading readingOf(Operation *op) {
  if (auto flagged = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op)) {
    return flagged.hasNoSignedWrap()     ? Reading::Signed
           : flagged.hasNoUnsignedWrap() ? Reading::Unsigned
                                         : Reading::Bits;
  }
  auto either = [](bool isUnsigned) { return isUnsigned ? Reading::Unsigned : Reading::Signed; };
  return llvm::TypeSwitch<Operation *, Reading>(op)
      .Case<tile::DivOp, tile::RemOp, tile::ShlOp, tile::ShrOp>(
          [&](auto o) { return either(o.getIsUnsigned()); })
      .Case<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp, arith::MinUIOp, arith::MaxUIOp,
            arith::ShRUIOp, arith::MulUIExtendedOp>([](auto) { return Reading::Unsigned; })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp, scf::IfOp, math::CtPopOp,
            math::CountLeadingZerosOp>([](auto) { return Reading::Bits; })
      .Default([](Operation *) { return Reading::Signed; });
}

/// Where only bits count, either reading is right: that of the operands.
bool HostExpressions::isUnsigned(Value value) const {
  if (!isa<IntegerType>(value.getType()) || value.getType().isInteger(1)) {
    return false;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    tile::KernelOp kernel = kernelOf(argument);
    StringAttr dtype = kernel ? tile::kDtype.get(kernel, argument.getArgNumber()) : StringAttr();
    return dtype && dtype.getValue().starts_with("u");
  }
  if (auto known = unsignedValues.find(value); known != unsignedValues.end()) {
    return known->second;
  }
  Operation *op = value.getDefiningOp();
  bool result = false;
  if (auto convert = dyn_cast<tile::ConvertOp>(op)) {
    result = convert.getDstUnsigned();
  } else if (isa<arith::FPToUIOp>(op)) {
    result = true;
  } else if (isa<arith::TruncIOp>(op)) {
    result = false; // the low bits, in either reading
  } else if (readingOf(op) != Reading::Bits) {
    result = readingOf(op) == Reading::Unsigned;
  } else {
    result = llvm::any_of(inputsOf(value), [&](Value input) { return isUnsigned(input); });
  }
  unsignedValues[value] = result;
  return result;
}

/// What a result takes its bits from: operands, or what the branches of an `scf.if` yield.
SmallVector<Value> HostExpressions::inputsOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    return {branch.thenYield().getOperand(index), branch.elseYield().getOperand(index)};
  }
  return SmallVector<Value>(op->getOperands());
}

json::Value HostExpressions::getAs(Value value, bool wantUnsigned) {
  if (!isa<IntegerType>(value.getType()) || value.getType().isInteger(1)) {
    return get(value);
  }
  if (auto op = value.getDefiningOp<arith::ConstantOp>()) {
    return constant(op, wantUnsigned);
  }
  if (isUnsigned(value) == wantUnsigned) {
    return get(value);
  }
  return expressionNode("cast", json::Array{get(value)},
                        tile::elementName(value.getType(), wantUnsigned));
}

json::Value HostExpressions::get(Value value) {
  if (auto it = lets.find(value); it != lets.end()) {
    return json::Object{{"let", it->second}};
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (tile::KernelOp kernel = kernelOf(argument)) {
      return json::Object{{"arg", kernel.getArgumentName(argument.getArgNumber())}};
    }
    diags.report(diag::Id::InternalError, llvm::SMRange(), "a block argument in host code");
    return nullptr;
  }
  return ofOperation(value.getDefiningOp(), value);
}

json::Value HostExpressions::ofOperation(Operation *op, Value value) {
  if (auto literal = dyn_cast<arith::ConstantOp>(op)) {
    return constant(literal, /*isUnsigned=*/false);
  }
  if (std::optional<json::Value> result = ofTileOp(op)) {
    return std::move(*result);
  }
  if (isa<arith::SelectOp, scf::IfOp>(op)) {
    const bool sign = isUnsigned(value);
    SmallVector<Value> inputs = inputsOf(value); // of a select with its condition
    ArrayRef<Value> sides = ArrayRef(inputs).take_back(2);
    return expressionNode(
        "select", json::Array{get(op->getOperand(0)), getAs(sides[0], sign), getAs(sides[1], sign)},
        typeOf(value));
  }
  for (auto translate :
       {&HostExpressions::ofReciprocal, &HostExpressions::ofArithmetic, &HostExpressions::ofCast}) {
    if (std::optional<json::Value> result = (this->*translate)(op, value)) {
      return std::move(*result);
    }
  }
  if (std::optional<json::Value> result = ofCompare(op)) {
    return std::move(*result);
  }
  diags.report(diag::Id::NotSupported, sourceRange(op->getLoc(), diags),
               "`" + op->getName().getStringRef() + "` in the host part of a kernel");
  return nullptr;
}

std::optional<json::Value> HostExpressions::ofTileOp(Operation *op) {
  auto member = [&](const char *key, Value source, int64_t axis) -> std::optional<json::Value> {
    std::optional<GlobalName> name = globalName(source);
    if (!name || llvm::StringRef(name->kind) != "tensor") {
      return std::nullopt;
    }
    return json::Object{{key, json::Array{name->name, axis}}};
  };
  if (auto dim = dyn_cast<tile::DimOp>(op)) {
    return json::Object{{"dim", dim.getName()}};
  }
  if (auto stride = dyn_cast<tile::StrideOp>(op)) {
    return member("stride", stride.getSource(), stride.getAxis());
  }
  if (auto extent = dyn_cast<tile::ExtentOp>(op)) {
    tile::GlobalType type = extent.getSource().getType();
    if (!type.isDynamicDim(extent.getAxis())) {
      return type.getShape()[extent.getAxis()];
    }
    if (auto workspace = extent.getSource().getDefiningOp<tile::WorkspaceOp>()) {
      auto before = type.getShape().take_front(extent.getAxis());
      return get(workspace.getExtents()[llvm::count_if(before, ShapedType::isDynamic)]);
    }
    return member("extent", extent.getSource(), extent.getAxis());
  }
  if (auto present = dyn_cast<tile::PresentOp>(op)) {
    if (std::optional<GlobalName> name = globalName(present.getSource())) {
      return json::Object{{"present", name->name}};
    }
  }
  if (isa<tile::SmCountOp>(op)) {
    return "sm_count";
  }
  return std::nullopt;
}

std::optional<json::Value> HostExpressions::ofReciprocal(Operation *op, Value value) {
  auto reciprocal = dyn_cast<tgpu::ReciprocalOp>(op);
  if (!reciprocal) {
    return std::nullopt;
  }
  static constexpr const char *names[] = {"divfactor", "divaddend", "divshift"};
  return expressionNode(names[cast<OpResult>(value).getResultNumber()],
                        json::Array{getAs(reciprocal.getDivisor(), reciprocal.getIsUnsigned())},
                        typeOf(value));
}

std::optional<json::Value> HostExpressions::ofCompare(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    static constexpr const char *names[] = {"eq", "ne", "lt", "le", "gt",
                                            "ge", "lt", "le", "gt", "ge"};
    auto predicate = compare.getPredicate();
    const bool bits = predicate <= arith::CmpIPredicate::ne;
    const bool sign = bits ? isUnsigned(compare.getLhs()) || isUnsigned(compare.getRhs())
                           : predicate >= arith::CmpIPredicate::ult;
    json::Value left = getAs(compare.getLhs(), sign), right = getAs(compare.getRhs(), sign);
    return expressionNode(names[static_cast<unsigned>(predicate)],
                          json::Array{std::move(left), std::move(right)});
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    using P = arith::CmpFPredicate;
    const char *name =
        llvm::StringSwitch<const char *>(arith::stringifyCmpFPredicate(compare.getPredicate()))
            .Case("oeq", "eq")
            .Case("une", "ne")
            .Case("olt", "lt")
            .Case("ole", "le")
            .Case("ogt", "gt")
            .Case("oge", "ge")
            .Default(nullptr);
    if (compare.getPredicate() == P::UNO && compare.getLhs() == compare.getRhs()) {
      return expressionNode("isnan", json::Array{get(compare.getLhs())});
    }
    if (name) {
      return expressionNode(name, json::Array{get(compare.getLhs()), get(compare.getRhs())});
    }
  }
  return std::nullopt;
}

/// The manifest's name of an operation whose operands are its arguments; empty if it has none.
static llvm::StringRef operationName(Operation *op) {
  if (auto quotient = dyn_cast<tile::DivOp>(op)) {
    static constexpr const char *names[] = {"div", "ceildiv", "floordiv"};
    return names[static_cast<unsigned>(quotient.getRounding())];
  }
  if (auto rest = dyn_cast<tile::RemOp>(op)) {
    return rest.getRounding() == tile::Rounding::Zero ? "rem" : "floormod";
  }
  bool onBool = op->getNumResults() == 1 && op->getResult(0).getType().isInteger(1);
  return llvm::StringSwitch<llvm::StringRef>(op->getName().getStringRef())
      .Cases({"arith.addi", "arith.addf"}, "add")
      .Cases({"arith.subi", "arith.subf"}, "sub")
      .Cases({"arith.muli", "arith.mulf"}, "mul")
      .Cases({"arith.divsi", "arith.divui", "arith.divf"}, "div")
      .Cases({"arith.remsi", "arith.remui"}, "rem")
      .Cases({"arith.ceildivsi", "arith.ceildivui"}, "ceildiv")
      .Case("arith.floordivsi", "floordiv")
      .Cases({"arith.mulsi_extended", "arith.mului_extended"}, "mulhi")
      .Cases({"arith.minsi", "arith.minui", "arith.minnumf", "arith.minimumf"}, "min")
      .Cases({"arith.maxsi", "arith.maxui", "arith.maxnumf", "arith.maximumf"}, "max")
      .Case("arith.negf", "neg")
      .Case("arith.andi", onBool ? "and" : "bitand")
      .Case("arith.ori", onBool ? "or" : "bitor")
      .Case("arith.xori", onBool ? "ne" : "bitxor")
      .Cases({"arith.shli", "tile.shl"}, "shl")
      .Cases({"arith.shrsi", "arith.shrui", "tile.shr"}, "shr")
      .Cases({"math.absf", "math.absi"}, "abs")
      .Case("math.fma", "fma")
      .Case("math.sqrt", "sqrt")
      .Case("math.rsqrt", "rsqrt")
      .Case("math.exp", "exp")
      .Case("math.exp2", "exp2")
      .Case("math.log", "log")
      .Case("math.log2", "log2")
      .Case("math.powf", "pow")
      .Case("math.sin", "sin")
      .Case("math.cos", "cos")
      .Case("math.tanh", "tanh")
      .Case("math.erf", "erf")
      .Case("math.floor", "floor")
      .Case("math.ceil", "ceil")
      .Case("math.roundeven", "round")
      .Case("math.trunc", "trunc")
      .Case("math.isnan", "isnan")
      .Case("math.isinf", "isinf")
      .Case("math.isfinite", "isfinite")
      .Case("math.ctpop", "popcount")
      .Case("math.ctlz", "clz")
      .Default({});
}

std::optional<json::Value> HostExpressions::ofArithmetic(Operation *op, Value value) {
  llvm::StringRef name = operationName(op);
  if (name.empty()) {
    return std::nullopt;
  }
  if (isa<arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op) &&
      cast<OpResult>(value).getResultNumber() == 0) {
    return std::nullopt; // the front end takes the high half only
  }
  const bool onBool = value.getType().isInteger(1), sign = isUnsigned(value);
  json::Array args;
  for (Value operand : op->getOperands()) {
    args.push_back(getAs(operand, sign));
  }
  if (onBool) {
    return expressionNode(name, std::move(args));
  }
  // What does not promise to be exact keeps the low bits.
  const bool wraps =
      isa<arith::ArithIntegerOverflowFlagsInterface>(op) && readingOf(op) == Reading::Bits;
  if (wraps) {
    return expressionNode("cast", json::Array{expressionNode(name, std::move(args))},
                          typeOf(value));
  }
  return expressionNode(name, std::move(args), typeOf(value));
}

std::optional<json::Value> HostExpressions::ofCast(Operation *op, Value value) {
  if (!isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp,
           arith::FPToSIOp, arith::FPToUIOp, arith::ExtFOp, arith::TruncFOp, arith::IndexCastOp,
           arith::IndexCastUIOp, tile::ConvertOp>(op)) {
    return std::nullopt;
  }
  Value operand = op->getOperand(0);
  auto convert = dyn_cast<tile::ConvertOp>(op);
  bool fromUnsigned = isa<arith::ExtUIOp, arith::UIToFPOp, arith::IndexCastUIOp>(op) ||
                      (convert && convert.getSrcUnsigned());
  const bool bits = isa<arith::TruncIOp>(op);
  json::Value argument = bits ? get(operand) : getAs(operand, fromUnsigned);
  return expressionNode("cast", json::Array{std::move(argument)}, typeOf(value));
}

} // namespace tilec
