#include "compiler/emit/HostExtents.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tilec {

namespace {
enum class Form { Number, Bool, Name, Node, Other };

enum class Op {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  CeilDiv,
  FloorDiv,
  FloorMod,
  Min,
  Max, // of integers, two or more
  Neg,
  Abs,
  Cast,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or,
  Not, // their results are bool
  Select,
  None,
};

struct Expression {
  Form form = Form::Other;
  int64_t number = 0;
  StringRef name;
  Op op = Op::None;
  StringRef spelling, type;
  const json::Array *args = nullptr;
};
} // namespace

static Op opNamed(StringRef name) {
  return StringSwitch<Op>(name)
      .Case("add", Op::Add)
      .Case("sub", Op::Sub)
      .Case("mul", Op::Mul)
      .Case("div", Op::Div)
      .Case("rem", Op::Rem)
      .Case("ceildiv", Op::CeilDiv)
      .Case("floordiv", Op::FloorDiv)
      .Case("floormod", Op::FloorMod)
      .Case("min", Op::Min)
      .Case("max", Op::Max)
      .Case("neg", Op::Neg)
      .Case("abs", Op::Abs)
      .Case("cast", Op::Cast)
      .Case("eq", Op::Eq)
      .Case("ne", Op::Ne)
      .Case("lt", Op::Lt)
      .Case("le", Op::Le)
      .Case("gt", Op::Gt)
      .Case("ge", Op::Ge)
      .Case("and", Op::And)
      .Case("or", Op::Or)
      .Case("not", Op::Not)
      .Case("select", Op::Select)
      .Default(Op::None);
}

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
    if (std::optional<StringRef> op = object->getString("op")) {
      result.form = Form::Node;
      result.spelling = *op;
      result.op = opNamed(*op);
      result.type = object->getString("type").value_or("");
      result.args = object->getArray("args");
    }
  }
  return result;
}

static bool isComparison(Op op) { return op >= Op::Eq && op <= Op::Ge; }
static bool isLogic(Op op) { return op >= Op::And && op <= Op::Not; }

namespace {
enum class Sort { Number, Bool, None };
} // namespace

/// What kind of value the expression has, if host functions can compute it.
static Sort sortOf(const json::Value &value, function_ref<bool(StringRef)> knows) {
  Expression expr = read(value);
  switch (expr.form) {
  case Form::Number:
    return Sort::Number;
  case Form::Bool:
    return Sort::Bool;
  case Form::Name:
    return knows(expr.name) ? Sort::Number : Sort::None;
  case Form::Other:
    return Sort::None;
  case Form::Node:
    break;
  }
  const bool isInteger = expr.type.empty() || expr.type.starts_with("i") ||
                         expr.type.starts_with("u") || expr.type == "bool";
  if (expr.op == Op::None || !expr.args || expr.args->empty() || !isInteger) {
    return Sort::None;
  }
  SmallVector<Sort> sorts;
  for (const json::Value &arg : *expr.args) {
    sorts.push_back(sortOf(arg, knows));
  }
  auto all = [&](Sort wanted) { return all_of(sorts, [&](Sort one) { return one == wanted; }); };
  if (expr.op == Op::Select) {
    return sorts.size() == 3 && sorts[0] == Sort::Bool && sorts[1] == sorts[2] ? sorts[1]
                                                                               : Sort::None;
  }
  if (isLogic(expr.op)) {
    return all(Sort::Bool) ? Sort::Bool : Sort::None;
  }
  if (isComparison(expr.op)) {
    return sorts.size() == 2 && all(Sort::Number) ? Sort::Bool : Sort::None;
  }
  return all(Sort::Number) ? Sort::Number : Sort::None;
}

bool isComputable(const json::Value &expression, function_ref<bool(StringRef)> knows) {
  return sortOf(expression, knows) == Sort::Number;
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
    return builder.CreateAnd(a, b);
  case Op::Or:
    return builder.CreateOr(a, b);
  default:
    return isComparison(op) ? builder.CreateICmp(predicateOf(op), a, b) : divide(builder, op, a, b);
  }
}

/// An integer of `type`, with its low bits.
static Value *castTo(IRBuilder<> &builder, StringRef type, Value *value) {
  unsigned bits = 64;
  if (type.empty() || type.drop_front().getAsInteger(10, bits) || bits >= 64) {
    return value;
  }
  Value *low = builder.CreateTrunc(value, builder.getIntNTy(bits));
  return type.starts_with("u") ? builder.CreateZExt(low, builder.getInt64Ty())
                               : builder.CreateSExt(low, builder.getInt64Ty());
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
  switch (expr.op) {
  case Op::Neg:
    return builder.CreateNeg(args[0]);
  case Op::Abs:
    return builder.CreateBinaryIntrinsic(Intrinsic::abs, args[0], builder.getFalse());
  case Op::Cast:
    return castTo(builder, expr.type, args[0]);
  case Op::Not:
    return builder.CreateNot(args[0]);
  case Op::Select:
    return builder.CreateSelect(args[0], args[1], args[2]);
  default:
    break;
  }
  Value *result = args[0];
  for (Value *arg : ArrayRef(args).drop_front()) {
    result = combine(builder, expr.op, result, arg);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static StringRef infix(Op op) {
  static constexpr std::pair<Op, StringLiteral> signs[] = {
      {Op::Add, " + "}, {Op::Sub, " - "},  {Op::Mul, " * "}, {Op::Div, " / "}, {Op::Rem, " % "},
      {Op::Eq, " == "}, {Op::Ne, " != "},  {Op::Lt, " < "},  {Op::Le, " <= "}, {Op::Gt, " > "},
      {Op::Ge, " >= "}, {Op::And, " && "}, {Op::Or, " || "}};
  const auto *found = find_if(signs, [&](const auto &sign) { return sign.first == op; });
  return found == std::end(signs) ? StringRef() : StringRef(found->second);
}

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
  if (!expr.args || expr.args->empty() || expr.type.starts_with("f") ||
      expr.type.starts_with("bf")) {
    return "?";
  }
  const json::Array &args = *expr.args;
  if (expr.op == Op::Cast) {
    return textOf(args[0], isInner);
  }
  if (expr.op == Op::Select && args.size() == 3) {
    std::string text =
        textOf(args[0], true) + " ? " + textOf(args[1], true) + " : " + textOf(args[2], true);
    return isInner ? "(" + text + ")" : text;
  }
  StringRef sign = infix(expr.op);
  std::optional<int64_t> last = args.back().getAsInteger();
  if (expr.op == Op::Add && args.size() == 2 && last && *last < 0 && *last != INT64_MIN) {
    std::string text = textOf(args[0], true) + " - " + std::to_string(-*last);
    return isInner ? "(" + text + ")" : text;
  }
  std::string text;
  for (const json::Value &arg : args) {
    text += (text.empty() ? "" : sign.empty() ? ", " : sign.str()) + textOf(arg, !sign.empty());
  }
  return sign.empty() ? expr.spelling.str() + "(" + text + ")" : isInner ? "(" + text + ")" : text;
}

std::string extentText(const json::Value &expression) { return textOf(expression, false); }

} // namespace tilec
