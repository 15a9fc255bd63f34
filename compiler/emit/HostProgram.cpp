#include "compiler/emit/HostProgram.h"

#include "compiler/emit/SourceLocation.h"
#include "dialects/tgpu/Tgpu.h"
#include "dialects/tile/ElementNames.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "runtime/support/DType.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
namespace json = llvm::json;

namespace tilec {

using Node = tile_rt::Op;

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

json::Value expressionNode(Node op, json::Array args, std::string type) {
  json::Object object{{"op", tile_rt::infoOf(op)->name}, {"args", std::move(args)}};
  if (!type.empty()) {
    object["type"] = std::move(type);
  }
  return object;
}

json::Value floatNode(double number) {
  if (std::isnan(number)) {
    return "nan";
  }
  if (std::isinf(number)) {
    return number < 0 ? "-inf" : "inf";
  }
  if (number == 0 && std::signbit(number)) {
    return "-0"; // written without a fraction, and so read as an integer
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
    return json::Object{{"const", floatNode(value.getValueAsDouble())},
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
/// which the front end chose by the types of the program (TileDialect.td), or is noted on it (`tile.unsigned`).
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
            arith::ShRUIOp, arith::MulUIExtendedOp, arith::FPToUIOp>(
          [](auto) { return Reading::Unsigned; })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp, scf::IfOp, math::CtPopOp,
            math::CountLeadingZerosOp>([](auto) { return Reading::Bits; })
      .Default([](Operation *) { return Reading::Signed; });
}

/// Where only bits count, either reading is right; it is that of the program, as the front end has noted.
bool HostExpressions::isUnsigned(Value value) {
  if (!isa<IntegerType>(value.getType()) || value.getType().isInteger(1)) {
    return false;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    tile::KernelOp kernel = kernelOf(argument);
    StringAttr dtype = kernel ? tile::kDtype.get(kernel, argument.getArgNumber()) : StringAttr();
    return dtype && dtype.getValue().starts_with("u");
  }
  Operation *op = value.getDefiningOp();
  if (auto convert = dyn_cast<tile::ConvertOp>(op)) {
    return convert.getDstUnsigned();
  }
  if (const Reading reading = readingOf(op); reading != Reading::Bits) {
    return reading == Reading::Unsigned;
  }
  DenseI32ArrayAttr noted = tile::kUnsigned.get(op);
  return noted &&
         llvm::is_contained(noted.asArrayRef(), int32_t(cast<OpResult>(value).getResultNumber()));
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
  return expressionNode(Node::Cast, json::Array{get(value)},
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
  const std::string type = typeOf(value);
  if (std::optional<tile_rt::DType> known = tile_rt::dtypeFromName(type);
      known && !tile_rt::dtypeIsScalar(*known)) {
    diags.report(diag::Id::NotSupported, sourceRange(op->getLoc(), diags),
                 "a value of `" + type + "` in the host part of a kernel");
    return nullptr;
  }
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
        Node::Select,
        json::Array{get(op->getOperand(0)), getAs(sides[0], sign), getAs(sides[1], sign)},
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
  static constexpr Node operations[] = {Node::DivFactor, Node::DivAddend, Node::DivShift};
  return expressionNode(operations[cast<OpResult>(value).getResultNumber()],
                        json::Array{getAs(reciprocal.getDivisor(), reciprocal.getIsUnsigned())},
                        typeOf(value));
}

std::optional<json::Value> HostExpressions::ofCompare(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    static constexpr Node operations[] = {Node::Eq, Node::Ne, Node::Lt, Node::Le, Node::Gt,
                                          Node::Ge, Node::Lt, Node::Le, Node::Gt, Node::Ge};
    auto predicate = compare.getPredicate();
    const bool bits = predicate <= arith::CmpIPredicate::ne;
    const bool sign = bits ? isUnsigned(compare.getLhs()) || isUnsigned(compare.getRhs())
                           : predicate >= arith::CmpIPredicate::ult;
    json::Value left = getAs(compare.getLhs(), sign), right = getAs(compare.getRhs(), sign);
    return expressionNode(operations[static_cast<unsigned>(predicate)],
                          json::Array{std::move(left), std::move(right)});
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    using P = arith::CmpFPredicate;
    const std::optional<Node> node = llvm::StringSwitch<std::optional<Node>>(
                                         arith::stringifyCmpFPredicate(compare.getPredicate()))
                                         .Case("oeq", Node::Eq)
                                         .Case("une", Node::Ne)
                                         .Case("olt", Node::Lt)
                                         .Case("ole", Node::Le)
                                         .Case("ogt", Node::Gt)
                                         .Case("oge", Node::Ge)
                                         .Default(std::nullopt);
    if (compare.getPredicate() == P::UNO && compare.getLhs() == compare.getRhs()) {
      return expressionNode(Node::IsNan, json::Array{get(compare.getLhs())});
    }
    if (node) {
      return expressionNode(*node, json::Array{get(compare.getLhs()), get(compare.getRhs())});
    }
  }
  return std::nullopt;
}

/// What manifests have for an operation whose operands are its arguments, if anything.
static std::optional<Node> nodeOf(Operation *op) {
  if (auto quotient = dyn_cast<tile::DivOp>(op)) {
    static constexpr Node roundings[] = {Node::Div, Node::CeilDiv, Node::FloorDiv};
    return roundings[static_cast<unsigned>(quotient.getRounding())];
  }
  if (auto rest = dyn_cast<tile::RemOp>(op)) {
    return rest.getRounding() == tile::Rounding::Zero ? Node::Rem : Node::FloorMod;
  }
  bool onBool = op->getNumResults() == 1 && op->getResult(0).getType().isInteger(1);
  return llvm::StringSwitch<std::optional<Node>>(op->getName().getStringRef())
      .Cases({"arith.addi", "arith.addf"}, Node::Add)
      .Cases({"arith.subi", "arith.subf"}, Node::Sub)
      .Cases({"arith.muli", "arith.mulf"}, Node::Mul)
      .Cases({"arith.divsi", "arith.divui", "arith.divf"}, Node::Div)
      .Cases({"arith.remsi", "arith.remui"}, Node::Rem)
      .Cases({"arith.ceildivsi", "arith.ceildivui"}, Node::CeilDiv)
      .Case("arith.floordivsi", Node::FloorDiv)
      .Cases({"arith.mulsi_extended", "arith.mului_extended"}, Node::MulHi)
      .Cases({"arith.minsi", "arith.minui", "arith.minnumf", "arith.minimumf"}, Node::Min)
      .Cases({"arith.maxsi", "arith.maxui", "arith.maxnumf", "arith.maximumf"}, Node::Max)
      .Case("arith.negf", Node::Neg)
      .Case("arith.andi", onBool ? Node::And : Node::BitAnd)
      .Case("arith.ori", onBool ? Node::Or : Node::BitOr)
      .Case("arith.xori", onBool ? Node::Ne : Node::BitXor)
      .Cases({"arith.shli", "tile.shl"}, Node::Shl)
      .Cases({"arith.shrsi", "arith.shrui", "tile.shr"}, Node::Shr)
      .Cases({"math.absf", "math.absi"}, Node::Abs)
      .Case("math.fma", Node::Fma)
      .Case("math.sqrt", Node::Sqrt)
      .Case("math.rsqrt", Node::Rsqrt)
      .Case("math.exp", Node::Exp)
      .Case("math.exp2", Node::Exp2)
      .Case("math.log", Node::Log)
      .Case("math.log2", Node::Log2)
      .Case("math.powf", Node::Pow)
      .Case("math.sin", Node::Sin)
      .Case("math.cos", Node::Cos)
      .Case("math.tanh", Node::Tanh)
      .Case("math.erf", Node::Erf)
      .Case("math.floor", Node::Floor)
      .Case("math.ceil", Node::Ceil)
      .Case("math.roundeven", Node::Round)
      .Case("math.trunc", Node::Trunc)
      .Case("math.isnan", Node::IsNan)
      .Case("math.isinf", Node::IsInf)
      .Case("math.isfinite", Node::IsFinite)
      .Case("math.ctpop", Node::Popcount)
      .Case("math.ctlz", Node::Clz)
      .Default(std::nullopt);
}

std::optional<json::Value> HostExpressions::ofArithmetic(Operation *op, Value value) {
  const std::optional<Node> node = nodeOf(op);
  if (!node) {
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
    return expressionNode(*node, std::move(args));
  }
  // What does not promise to be exact keeps the low bits.
  const bool wraps =
      isa<arith::ArithIntegerOverflowFlagsInterface>(op) && readingOf(op) == Reading::Bits;
  if (wraps) {
    return expressionNode(Node::Cast, json::Array{expressionNode(*node, std::move(args))},
                          typeOf(value));
  }
  return expressionNode(*node, std::move(args), typeOf(value));
}

std::optional<json::Value> HostExpressions::ofCast(Operation *op, Value value) {
  if (!isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp,
           arith::FPToSIOp, arith::FPToUIOp, arith::ExtFOp, arith::TruncFOp, arith::IndexCastOp,
           arith::IndexCastUIOp, tile::ConvertOp>(op)) {
    return std::nullopt;
  }
  Value operand = op->getOperand(0);
  auto convert = dyn_cast<tile::ConvertOp>(op);
  if (operand.getType().isInteger(1) && isa<arith::ExtSIOp, arith::SIToFPOp>(op)) {
    // One bit with a sign is 0 or -1, a bool 0 or 1.
    return expressionNode(
        Node::Neg,
        json::Array{expressionNode(Node::Cast, json::Array{get(operand)}, typeOf(value))},
        typeOf(value));
  }
  bool fromUnsigned = isa<arith::ExtUIOp, arith::UIToFPOp, arith::IndexCastUIOp>(op) ||
                      (convert && convert.getSrcUnsigned());
  const bool bits = isa<arith::TruncIOp>(op);
  json::Value argument = bits ? get(operand) : getAs(operand, fromUnsigned);
  return expressionNode(Node::Cast, json::Array{std::move(argument)}, typeOf(value));
}

} // namespace tilec
