#include "compiler/emit/HostExtents.h"

#include "runtime/support/Operations.h"

using namespace llvm;

namespace tilec {

using tile_rt::DType;
using tile_rt::Op;
using tile_rt::OpRule;

namespace {
enum class Form { Number, Bool, Name, Node, Other };

struct Expression {
  Form form = Form::Other;
  int64_t number = 0;
  StringRef name;
  const tile_rt::OpInfo *info = nullptr;
  std::optional<DType> type; ///< of a node's result
  const json::Array *args = nullptr;
};
} // namespace

static Expression read(const json::Value &value) {
  Expression result;
  if (std::optional<bool> flag = value.getAsBoolean()) {
    result.form = Form::Bool;
    result.number = *flag;
  } else if (std::optional<int64_t> number = value.getAsInteger()) {
    result.form = Form::Number;
    result.number = *number;
  } else if (const json::Object *object = value.getAsObject()) {
    for (const char *kind : {"dim", "arg"}) {
      if (std::optional<StringRef> name = object->getString(kind)) {
        result.form = Form::Name;
        result.name = *name;
      }
    }
    result.info = tile_rt::findOp(object->getString("op").value_or(""));
    result.args = object->getArray("args");
    if (result.info && result.args && result.args->size() >= result.info->minArgs) {
      result.form = Form::Node;
      result.type = tile_rt::dtypeFromName(object->getString("type").value_or(""));
    }
  }
  return result;
}

namespace {
/// Of values as host functions have them, in 64 bits. Wide are those without sign that need all of these:
/// what depends on their sign is not for host functions.
enum class Sort { Number, Wide, Bool, None };
} // namespace

static Sort sortOf(DType type) {
  switch (dtypeKind(type)) {
  case tile_rt::ValueKind::Bool:
    return Sort::Bool;
  case tile_rt::ValueKind::Int:
    return type == DType::U64 ? Sort::Wide : Sort::Number;
  case tile_rt::ValueKind::Float:
    break;
  }
  return Sort::None;
}

/// Of one of two values.
static Sort join(Sort a, Sort b) {
  if (a == b) {
    return a;
  }
  auto isInteger = [](Sort sort) { return sort == Sort::Number || sort == Sort::Wide; };
  return isInteger(a) && isInteger(b) ? Sort::Wide : Sort::None;
}

/// Of an operation on integers that host functions have.
static Sort sortOfArithmetic(const Expression &expr, Sort operands) {
  switch (expr.info->op) {
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
  case Op::Neg:
  case Op::BitAnd:
  case Op::BitOr:
  case Op::BitXor:
  case Op::BitNot:
  case Op::Shl: // their low bits follow from the operands' low bits
    return expr.type == DType::U64 ? Sort::Wide : operands;
  case Op::Div:
  case Op::Rem:
  case Op::CeilDiv:
  case Op::FloorDiv:
  case Op::FloorMod:
  case Op::Min:
  case Op::Max:
  case Op::Abs:
  case Op::Clamp:
  case Op::Shr:
    return operands == Sort::Number ? Sort::Number : Sort::None;
  default:
    return Sort::None;
  }
}

/// What kind of value the expression has, if host functions can compute it.
static Sort sortOf(const json::Value &value, TypeOfName typeOf) {
  Expression expr = read(value);
  switch (expr.form) {
  case Form::Number:
    return Sort::Number;
  case Form::Bool:
    return Sort::Bool;
  case Form::Name: {
    std::optional<DType> type = typeOf(expr.name);
    return type ? sortOf(*type) : Sort::None;
  }
  case Form::Other:
    return Sort::None;
  case Form::Node:
    break;
  }
  SmallVector<Sort> sorts;
  for (const json::Value &arg : *expr.args) {
    sorts.push_back(sortOf(arg, typeOf));
  }
  const bool isSelect = expr.info->rule == OpRule::Select;
  Sort all = sorts.back();
  for (Sort sort : ArrayRef(sorts).drop_front(isSelect)) {
    all = join(all, sort);
  }
  if (all == Sort::None || (expr.type && sortOf(*expr.type) == Sort::None)) {
    return Sort::None;
  }
  switch (expr.info->rule) {
  case OpRule::Number:
  case OpRule::IntNumber:
  case OpRule::Int:
    return all == Sort::Bool ? Sort::None : sortOfArithmetic(expr, all);
  case OpRule::Compare:
    return all == Sort::Number ? Sort::Bool : Sort::None;
  case OpRule::Equal:
    return Sort::Bool;
  case OpRule::Logic:
    return all == Sort::Bool ? Sort::Bool : Sort::None;
  case OpRule::Select:
    return sorts[0] == Sort::Bool ? all : Sort::None;
  case OpRule::Cast:
    return expr.type ? sortOf(*expr.type) : Sort::None;
  case OpRule::Float:
  case OpRule::FloatTest:
    break;
  }
  return Sort::None;
}

bool isComputable(const json::Value &expression, TypeOfName typeOf) {
  const Sort sort = sortOf(expression, typeOf);
  return sort == Sort::Number || sort == Sort::Wide;
}

//===----------------------------------------------------------------------===//
// IR
//===----------------------------------------------------------------------===//

/// `divide` of a and b, or 0 where the processor would trap: 0 below, or the least integer by -1.
static Value *guarded(IRBuilder<> &builder, Value *a, Value *b,
                      function_ref<Value *(Value *, Value *)> divide) {
  Value *zero = builder.getInt64(0);
  Value *traps =
      builder.CreateOr(builder.CreateICmpEQ(b, zero),
                       builder.CreateAnd(builder.CreateICmpEQ(b, builder.getInt64(-1)),
                                         builder.CreateICmpEQ(a, builder.getInt64(INT64_MIN))));
  Value *safe = builder.CreateSelect(traps, builder.getInt64(1), b);
  return builder.CreateSelect(traps, zero, divide(a, safe));
}

static Value *divide(IRBuilder<> &builder, Op op, Value *a, Value *b) {
  return guarded(builder, a, b, [&](Value *x, Value *y) -> Value * {
    Value *quotient = builder.CreateSDiv(x, y), *rest = builder.CreateSRem(x, y);
    Value *zero = builder.getInt64(0);
    Value *isRest = builder.CreateICmpNE(rest, zero);
    Value *differ = builder.CreateICmpSLT(builder.CreateXor(x, y), zero);
    Value *isBelow = builder.CreateAnd(isRest, differ); // the exact quotient lies below
    Value *isAbove = builder.CreateAnd(isRest, builder.CreateNot(differ));
    switch (op) {
    case Op::Div:
      return quotient;
    case Op::Rem:
      return rest;
    case Op::CeilDiv:
      return builder.CreateAdd(quotient, builder.CreateZExt(isAbove, quotient->getType()));
    case Op::FloorDiv:
      return builder.CreateSub(quotient, builder.CreateZExt(isBelow, quotient->getType()));
    default: // FloorMod
      return builder.CreateSelect(isBelow, builder.CreateAdd(rest, y), rest);
    }
  });
}

static CmpInst::Predicate predicateOf(Op op) {
  switch (op) {
  case Op::Eq:
    return CmpInst::ICMP_EQ;
  case Op::Ne:
    return CmpInst::ICMP_NE;
  case Op::Lt:
    return CmpInst::ICMP_SLT;
  case Op::Le:
    return CmpInst::ICMP_SLE;
  case Op::Gt:
    return CmpInst::ICMP_SGT;
  default:
    return CmpInst::ICMP_SGE;
  }
}

static Value *combine(IRBuilder<> &builder, Op op, Value *a, Value *b) {
  switch (op) {
  case Op::Add:
    return builder.CreateAdd(a, b);
  case Op::Sub:
    return builder.CreateSub(a, b);
  case Op::Mul:
    return builder.CreateMul(a, b);
  case Op::Min:
    return builder.CreateBinaryIntrinsic(Intrinsic::smin, a, b);
  case Op::Max:
    return builder.CreateBinaryIntrinsic(Intrinsic::smax, a, b);
  case Op::And:
  case Op::BitAnd:
    return builder.CreateAnd(a, b);
  case Op::Or:
  case Op::BitOr:
    return builder.CreateOr(a, b);
  case Op::BitXor:
    return builder.CreateXor(a, b);
  case Op::Shl:
  case Op::Shr: { // by as much as there are bits: an error of the call, which the runtime reports
    Value *fits = builder.CreateICmpULT(b, builder.getInt64(64));
    Value *count = builder.CreateSelect(fits, b, builder.getInt64(0));
    return op == Op::Shl ? builder.CreateShl(a, count) : builder.CreateAShr(a, count);
  }
  case Op::Div:
  case Op::Rem:
  case Op::CeilDiv:
  case Op::FloorDiv:
  case Op::FloorMod:
    return divide(builder, op, a, b);
  default:
    return builder.CreateICmp(predicateOf(op), a, b);
  }
}

/// An integer of `type`, with the low bits of an integer or of a bool.
static Value *castTo(IRBuilder<> &builder, DType type, Value *value) {
  if (type == DType::Bool) {
    return value;
  }
  IntegerType *whole = builder.getInt64Ty();
  Value *low = builder.CreateTrunc(builder.CreateZExtOrTrunc(value, whole),
                                   builder.getIntNTy(tile_rt::dtypeBits(type)));
  return tile_rt::dtypeIsSigned(type) ? builder.CreateSExt(low, whole)
                                      : builder.CreateZExt(low, whole);
}

Value *buildExtent(IRBuilder<> &builder, const json::Value &expression,
                   function_ref<Value *(StringRef)> valueOf) {
  Expression expr = read(expression);
  if (expr.form == Form::Number) {
    return builder.getInt64(expr.number);
  }
  if (expr.form == Form::Bool) {
    return builder.getInt1(expr.number != 0);
  }
  if (expr.form == Form::Name) {
    return valueOf(expr.name);
  }
  SmallVector<Value *> args;
  for (const json::Value &arg : *expr.args) {
    args.push_back(buildExtent(builder, arg, valueOf));
  }
  switch (expr.info->op) {
  case Op::Neg:
    return builder.CreateNeg(args[0]);
  case Op::Abs:
    return builder.CreateBinaryIntrinsic(Intrinsic::abs, args[0], builder.getFalse());
  case Op::Cast:
    return castTo(builder, *expr.type, args[0]);
  case Op::Not:
    return builder.CreateNot(args[0]);
  case Op::BitNot:
    return castTo(builder, expr.type.value_or(DType::I64), builder.CreateNot(args[0]));
  case Op::Clamp:
    return combine(builder, Op::Min, combine(builder, Op::Max, args[0], args[1]), args[2]);
  case Op::Select:
    return builder.CreateSelect(args[0], args[1], args[2]);
  default:
    break;
  }
  Value *result = args[0];
  for (Value *arg : ArrayRef(args).drop_front()) {
    result = combine(builder, expr.info->op, result, arg);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string textOf(const json::Value &value, bool isInner) {
  Expression expr = read(value);
  switch (expr.form) {
  case Form::Number:
    return std::to_string(expr.number);
  case Form::Bool:
    return expr.number ? "true" : "false";
  case Form::Name:
    return expr.name.str();
  case Form::Other:
    return "?";
  case Form::Node:
    break;
  }
  if (expr.type && sortOf(*expr.type) == Sort::None) {
    return "?";
  }
  const json::Array &args = *expr.args;
  const Op op = expr.info->op;
  auto inner = [&](std::string text) { return isInner ? "(" + text + ")" : text; };
  if (op == Op::Cast) {
    return textOf(args[0], isInner);
  }
  if (op == Op::Select) {
    return inner(textOf(args[0], true) + " ? " + textOf(args[1], true) + " : " +
                 textOf(args[2], true));
  }
  std::optional<int64_t> last = args.back().getAsInteger();
  if (op == Op::Add && last && *last < 0 && *last != INT64_MIN) {
    return inner(textOf(args[0], true) + " - " + std::to_string(-*last));
  }
  const bool isInfix = expr.info->infix;
  const std::string separator = isInfix ? std::string(" ") + expr.info->infix + " " : ", ";
  std::string text;
  for (const json::Value &arg : args) {
    text += (text.empty() ? "" : separator) + textOf(arg, isInfix);
  }
  return isInfix ? inner(text) : expr.info->name + ("(" + text + ")");
}

std::string extentText(const json::Value &expression) { return textOf(expression, false); }

} // namespace tilec
