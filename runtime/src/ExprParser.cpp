#include "ExprParser.h"

#include "../support/Floats.h"
#include "FlatProgram.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

namespace tile_rt {

namespace {
// Language rule [nesting]: a syntax tree has at most 1000 levels; the compiler may add a few.
constexpr unsigned kMaxDepth = 1100;

// Not inlined: what recurses must keep its stack frames small.
#define TILE_RT_NOINLINE __attribute__((noinline))

const char *kindName(ValueKind kind) {
  return kind == ValueKind::Int ? "an integer" : kind == ValueKind::Float ? "a float" : "a bool";
}

Expr leaf(Op op, ValueKind kind, std::string name = {}, unsigned index = 0, int64_t detail = 0) {
  Expr expr;
  expr.op = op;
  expr.kind = kind;
  expr.name = std::move(name);
  expr.index = index;
  expr.detail = detail;
  return expr;
}

Expr constantLeaf(const Value &value) {
  Expr expr = leaf(Op::Const, value.kind);
  expr.constant = value;
  return expr;
}

/// {"extent": ["A", 0]}, {"stride": ["A", 0]}, {"aligned": ["A", 16]}.
Expr tensorLeaf(const JsonRef &pair, const NameScope &names, Op op) {
  if (pair.size() != 2) {
    pair.fail("expected a name and a number");
  }
  std::string name = pair.at(0).string();
  unsigned arg = names.argument(pair.at(0), name, true);
  if (op == Op::Aligned) {
    return leaf(op, ValueKind::Bool, name, arg, pair.at(1).as<int64_t>(1));
  }
  size_t rank = names.kernel->arguments[arg].extents.size();
  int64_t axis = static_cast<int64_t>(pair.at(1).integer(0, static_cast<__int128>(rank) - 1));
  Expr expr = leaf(op, ValueKind::Int, name, arg, axis);
  expr.type = DType::I64;
  return expr;
}

Expr letLeaf(const JsonRef &json, const NameScope &names) {
  std::string name = json.string();
  auto found = names.lets.find(name);
  if (found == names.lets.end()) {
    json.fail("no `let` of the name `" + name + "` here");
  }
  Expr expr = leaf(Op::Let, dtypeKind(found->second.second), name, found->second.first);
  expr.type = found->second.second;
  return expr;
}

Expr dimLeaf(const JsonRef &json, const NameScope &names) {
  std::string name = json.string();
  for (unsigned i = 0; i < names.kernel->dims.size(); ++i) {
    if (names.kernel->dims[i].name == name) {
      Expr expr = leaf(Op::Dim, ValueKind::Int, name, i);
      expr.type = names.kernel->dims[i].type;
      return expr;
    }
  }
  json.fail("no dimension of the name `" + name + "`");
}

Expr argLeaf(const JsonRef &json, const NameScope &names) {
  std::string name = json.string();
  unsigned arg = names.argument(json, name, false);
  DType type = names.kernel->arguments[arg].dtype;
  Expr expr = leaf(Op::Arg, dtypeKind(type), name, arg);
  expr.type = type;
  return expr;
}

TILE_RT_NOINLINE Expr parseLeaf(const JsonRef &json, const NameScope &names) {
  if (json.has("const")) {
    DType type = parseDType(json["type"], true);
    Expr expr = constantLeaf(parseConstant(json["const"], type));
    expr.type = type;
    return expr;
  }
  if (json.has("dim")) {
    return dimLeaf(json["dim"], names);
  }
  if (json.has("arg")) {
    return argLeaf(json["arg"], names);
  }
  if (json.has("let")) {
    return letLeaf(json["let"], names);
  }
  if (json.has("extent")) {
    return tensorLeaf(json["extent"], names, Op::Extent);
  }
  if (json.has("stride")) {
    return tensorLeaf(json["stride"], names, Op::Stride);
  }
  if (json.has("aligned")) {
    return tensorLeaf(json["aligned"], names, Op::Aligned);
  }
  if (json.has("present")) {
    std::string name = json["present"].string();
    return leaf(Op::Present, ValueKind::Bool, name, names.argument(json["present"], name, true));
  }
  if (json.has("grid")) {
    if (!names.gridRank) {
      json.fail("`grid` stands only in variants");
    }
    return leaf(Op::Grid, ValueKind::Int, {},
                static_cast<unsigned>(json["grid"].integer(0, names.gridRank - 1)));
  }
  json.fail("not an expression");
}

TILE_RT_NOINLINE Expr parseName(const JsonRef &json, const NameScope &names) {
  std::string name = json.string();
  if (name == "sm_count") {
    return leaf(Op::SmCount, ValueKind::Int);
  }
  if (name == "grid_points" && names.gridRank) {
    return leaf(Op::GridPoints, ValueKind::Int);
  }
  json.fail("unknown name `" + name + "`");
}

/// Operands of one kind, which is returned.
ValueKind commonKind(const JsonRef &json, const Expr &expr, size_t first = 0) {
  for (size_t i = first; i < expr.args.size(); ++i) {
    if (expr.args[i].kind != expr.args[first].kind) {
      json.fail("the operands of `" + json["op"].string() + "` are of different kinds");
    }
  }
  return expr.args[first].kind;
}

void require(const JsonRef &json, const Expr &expr, ValueKind kind) {
  if (commonKind(json, expr) != kind) {
    json.fail("the operands of `" + json["op"].string() + "` must each be " + kindName(kind));
  }
}

/// Sets the kind of the result after checking the operands' kinds.
TILE_RT_NOINLINE void checkKinds(const JsonRef &json, const OpInfo &info, Expr &expr) {
  switch (info.rule) {
  case OpRule::Number:
    expr.kind = commonKind(json, expr);
    if (expr.kind == ValueKind::Bool) {
      json.fail(std::string("`") + info.name + "` takes numbers");
    }
    break;
  case OpRule::IntNumber:
  case OpRule::Int:
    require(json, expr, ValueKind::Int);
    expr.kind = ValueKind::Int;
    break;
  case OpRule::Compare:
    if (commonKind(json, expr) == ValueKind::Bool) {
      json.fail(std::string("`") + info.name + "` takes numbers");
    }
    expr.kind = ValueKind::Bool;
    break;
  case OpRule::Equal:
    commonKind(json, expr);
    expr.kind = ValueKind::Bool;
    break;
  case OpRule::Logic:
    require(json, expr, ValueKind::Bool);
    expr.kind = ValueKind::Bool;
    break;
  case OpRule::Select:
    if (expr.args[0].kind != ValueKind::Bool) {
      json.fail("the condition of `select` must be a bool");
    }
    expr.kind = commonKind(json, expr, 1);
    break;
  case OpRule::Cast:
    if (!expr.type) {
      json.fail("`cast` needs a type");
    }
    expr.kind = dtypeKind(*expr.type);
    if (expr.kind == ValueKind::Bool && expr.args[0].kind != ValueKind::Bool) {
      json.fail("numbers cannot be cast to bool");
    }
    break;
  case OpRule::Float:
    require(json, expr, ValueKind::Float);
    expr.kind = ValueKind::Float;
    break;
  case OpRule::FloatTest:
    require(json, expr, ValueKind::Float);
    expr.kind = ValueKind::Bool;
    break;
  }
  if (expr.type && dtypeKind(*expr.type) != expr.kind) {
    json.fail("the result is " + std::string(kindName(expr.kind)) + ", not " +
              dtypeName(*expr.type));
  }
}

Expr parseNested(const JsonRef &json, const NameScope &names, unsigned depth);

Expr parseNode(const JsonRef &json, const NameScope &names, unsigned depth) {
  const OpInfo *info = findOp(json["op"].string());
  if (!info) {
    json.fail("unknown operator `" + json["op"].string() + "`");
  }
  JsonRef args = json["args"];
  if (args.size() < info->minArgs || args.size() > info->maxArgs) {
    json.fail(std::string("wrong number of operands for `") + info->name + "`");
  }
  Expr expr;
  expr.op = info->op;
  for (const JsonRef &arg : args.items()) {
    expr.args.push_back(parseNested(arg, names, depth + 1));
  }
  if (json.has("type")) {
    expr.type = parseDType(json["type"], true);
  }
  checkKinds(json, *info, expr);
  return expr;
}
} // namespace

unsigned NameScope::argument(const JsonRef &json, const std::string &name, bool tensor) const {
  for (unsigned i = 0; i < kernel->arguments.size(); ++i) {
    if (kernel->arguments[i].name == name) {
      if (kernel->arguments[i].isTensor != tensor) {
        json.fail("`" + name + "` is not a " + (tensor ? "tensor" : "scalar"));
      }
      return i;
    }
  }
  json.fail("no argument of the name `" + name + "`");
}

DType parseDType(const JsonRef &json, bool scalarsOnly) {
  std::optional<DType> type = dtypeFromName(json.string());
  if (!type || (scalarsOnly && !dtypeIsScalar(*type))) {
    json.fail("unknown type `" + json.string() + "`");
  }
  return *type;
}

Value parseConstant(const JsonRef &json, DType type) {
  switch (dtypeKind(type)) {
  case ValueKind::Bool:
    return Value::ofBool(json.boolean());
  case ValueKind::Int:
    return Value::ofInt(json.integer(minInt(type), maxInt(type)));
  case ValueKind::Float:
    break;
  }
  if (json.raw().is_string()) {
    std::string text = json.string();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr std::pair<std::string_view, double> named[] = {
        {"inf", infinity},
        {"-inf", -infinity},
        {"nan", std::numeric_limits<double>::quiet_NaN()},
        {"-0", -0.0}};
    const auto *known = std::find_if(std::begin(named), std::end(named),
                                     [&](const auto &one) { return one.first == text; });
    if (known == std::end(named)) {
      json.fail("expected a number");
    }
    return Value::ofFloat(known->second);
  }
  if (!json.raw().is_number()) {
    json.fail("expected a number");
  }
  return Value::ofFloat(roundFloat(type, json.raw().get<double>()));
}

namespace {
Expr parseNested(const JsonRef &json, const NameScope &names, unsigned depth) {
  if (depth > kMaxDepth) {
    json.fail("the expression is nested too deeply");
  }
  const nlohmann::json &raw = json.raw();
  if (raw.is_boolean()) {
    return constantLeaf(Value::ofBool(raw.get<bool>()));
  }
  if (raw.is_number()) {
    return constantLeaf(Value::ofInt(json.integer()));
  }
  if (raw.is_string()) {
    return parseName(json, names);
  }
  if (!raw.is_object()) {
    json.fail("not an expression");
  }
  return json.has("op") ? parseNode(json, names, depth) : parseLeaf(json, names);
}
} // namespace

Expr parseExpr(const JsonRef &json, const NameScope &names) {
  Expr expr = parseNested(json, names, 0);
  if (!isLeaf(expr.op)) {
    expr.flat = FlatProgram::compile(expr);
  }
  return expr;
}

Expr parseExpr(const JsonRef &json, const NameScope &names, ValueKind kind) {
  Expr expr = parseExpr(json, names);
  if (expr.kind != kind) {
    json.fail(std::string("must be ") + kindName(kind));
  }
  return expr;
}

} // namespace tile_rt
