// Flat programs beside the trees they were made of: the same values, and where there is an error the tree
// has the word.
#include "runtime/src/FlatProgram.h"

#include "TestPack.h"

#include <cmath>
#include <random>

namespace tile_rt::test {
namespace {

constexpr DType kInts[] = {DType::I8,  DType::U8,  DType::I16, DType::U16,
                           DType::I32, DType::U32, DType::I64, DType::U64};
constexpr DType kFloats[] = {DType::F64, DType::F32, DType::F16, DType::BF16};

/// Expressions as the reader makes them, of values at the edges.
class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  Env env() {
    Env env;
    for (int i = 0; i < 4; ++i) {
      env.dims.push_back(Value::ofInt(edge()));
      env.scalars.push_back(i == 3 ? Value::ofInt((Int{1} << 64) - 1) : Value::ofInt(edge()));
      env.lets.push_back(Value::ofFloat(real()));
      TensorView view;
      view.present = i != 2;
      view.address = 16 * static_cast<uint64_t>(below(1000));
      view.extents = {edge(), edge()};
      view.strides = {edge(), 1};
      env.tensors.push_back(view);
      env.grid.push_back(edge());
    }
    env.smCount = 132;
    env.gridPoints = edge();
    return env;
  }

  Expr draw(ValueKind kind, unsigned depth) {
    if (depth == 0 || below(8) == 0) {
      return leaf(kind);
    }
    Expr expr;
    switch (kind) {
    case ValueKind::Int:
      drawInt(expr, depth - 1);
      break;
    case ValueKind::Float:
      drawFloat(expr, depth - 1);
      break;
    case ValueKind::Bool:
      drawBool(expr, depth - 1);
      break;
    }
    expr.kind = kind;
    return expr;
  }

private:
  size_t below(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random); }
  template <class T, size_t n>
  T one(const T (&list)[n]) {
    return list[below(n)];
  }
  int64_t edge() {
    static constexpr int64_t values[] = {0,
                                         1,
                                         -1,
                                         2,
                                         3,
                                         -7,
                                         8,
                                         100,
                                         127,
                                         128,
                                         1000,
                                         65535,
                                         (1LL << 31) - 1,
                                         1LL << 31,
                                         1LL << 40,
                                         -(1LL << 62),
                                         INT64_MAX,
                                         INT64_MIN};
    return below(2) ? one(values) : static_cast<int64_t>(below(50));
  }
  double real() {
    static const double values[] = {0.0,   -0.0,  1.0,  -1.5,     0.1,       3e38,        1e-40,
                                    1e300, 65520, 1e10, INFINITY, -INFINITY, std::nan("")};
    return below(2) ? one(values) : static_cast<double>(below(1000)) / 8;
  }

  Expr leaf(ValueKind kind) {
    Expr expr;
    expr.kind = kind;
    expr.index = static_cast<unsigned>(below(4));
    if (kind == ValueKind::Float) {
      expr.op = below(2) ? Op::Let : Op::Const;
      expr.constant = Value::ofFloat(real());
      expr.name = "l";
      return expr;
    }
    if (kind == ValueKind::Bool) {
      static constexpr Op ops[] = {Op::Const, Op::Present, Op::Aligned};
      expr.op = one(ops);
      expr.constant = Value::ofBool(below(2) == 1);
      expr.detail = 64;
      expr.name = "A";
      return expr;
    }
    static constexpr Op ops[] = {Op::Const,  Op::Dim,     Op::Arg,  Op::Extent,
                                 Op::Stride, Op::SmCount, Op::Grid, Op::GridPoints};
    expr.op = one(ops);
    expr.constant = Value::ofInt(edge());
    expr.detail = static_cast<int64_t>(below(2));
    expr.name = "N";
    return expr;
  }

  void operands(Expr &expr, ValueKind kind, size_t count, unsigned depth) {
    for (size_t i = 0; i < count; ++i) {
      expr.args.push_back(draw(kind, depth));
    }
  }

  void select(Expr &expr, ValueKind kind, unsigned depth) {
    expr.op = Op::Select;
    expr.args.push_back(draw(ValueKind::Bool, depth));
    operands(expr, kind, 2, depth);
  }

  void drawInt(Expr &expr, unsigned depth) {
    if (below(3)) {
      expr.type = one(kInts);
    }
    switch (below(8)) {
    case 0:
      return select(expr, ValueKind::Int, depth);
    case 1:
      expr.op = Op::Cast;
      expr.type = one(kInts);
      return operands(expr,
                      below(2)   ? ValueKind::Int
                      : below(2) ? ValueKind::Float
                                 : ValueKind::Bool,
                      1, depth);
    case 2:
      expr.op = below(2) ? Op::Min : Op::Max;
      return operands(expr, ValueKind::Int, 2 + below(3), depth);
    case 3:
      expr.op = Op::Clamp;
      return operands(expr, ValueKind::Int, 3, depth);
    case 4:
      expr.op = below(2) ? Op::Neg : Op::Abs;
      return operands(expr, ValueKind::Int, 1, depth);
    case 5: {
      static constexpr Op ops[] = {Op::Div, Op::Rem, Op::CeilDiv, Op::FloorDiv, Op::FloorMod};
      expr.op = one(ops);
      return operands(expr, ValueKind::Int, 2, depth);
    }
    default: {
      static constexpr Op ops[] = {Op::Add, Op::Sub, Op::Mul};
      expr.op = one(ops);
      return operands(expr, ValueKind::Int, 2, depth);
    }
    }
  }

  void drawFloat(Expr &expr, unsigned depth) {
    if (below(4)) {
      expr.type = one(kFloats);
    }
    switch (below(7)) {
    case 0:
      return select(expr, ValueKind::Float, depth);
    case 1:
      expr.op = Op::Cast;
      expr.type = one(kFloats);
      return operands(expr, below(2) ? ValueKind::Int : ValueKind::Float, 1, depth);
    case 2:
      expr.op = below(2) ? Op::Min : Op::Max;
      return operands(expr, ValueKind::Float, 2 + below(3), depth);
    case 3:
      expr.op = below(2) ? Op::Clamp : Op::Fma;
      return operands(expr, ValueKind::Float, 3, depth);
    case 4: {
      static constexpr Op ops[] = {Op::Neg, Op::Abs,   Op::Sqrt, Op::Exp2,
                                   Op::Log, Op::Floor, Op::Round};
      expr.op = one(ops);
      return operands(expr, ValueKind::Float, 1, depth);
    }
    default: {
      static constexpr Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Pow};
      expr.op = one(ops);
      return operands(expr, ValueKind::Float, 2, depth);
    }
    }
  }

  void drawBool(Expr &expr, unsigned depth) {
    static constexpr Op comparisons[] = {Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge};
    switch (below(6)) {
    case 0:
      return select(expr, ValueKind::Bool, depth);
    case 1:
      expr.op = Op::Not;
      return operands(expr, ValueKind::Bool, 1, depth);
    case 2: {
      static constexpr Op tests[] = {Op::IsNan, Op::IsInf, Op::IsFinite};
      expr.op = one(tests);
      return operands(expr, ValueKind::Float, 1, depth);
    }
    case 3:
      expr.op = below(2) ? Op::And : Op::Or;
      return operands(expr, ValueKind::Bool, 2 + below(3), depth);
    case 4:
      expr.op = below(2) ? Op::Eq : Op::Ne;
      return operands(expr, ValueKind::Bool, 2, depth);
    default:
      expr.op = one(comparisons);
      return operands(expr, below(2) ? ValueKind::Int : ValueKind::Float, 2, depth);
    }
  }

  std::mt19937 random;
};

/// What a value is, or why there is none.
std::string outcome(const Expr &expr, const Env &env) {
  try {
    const Value value = evaluate(expr, env);
    char bits[40];
    std::snprintf(bits, sizeof(bits), "%a", value.real);
    return std::to_string(static_cast<int>(value.kind)) + " " +
           (value.kind == ValueKind::Float ? std::isnan(value.real) ? "nan" : bits
                                           : intText(value.integer));
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(FlatProgram, GivesWhatTheTreeGives) {
  int programs = 0, values = 0;
  for (unsigned seed = 0; seed < 20000; ++seed) {
    Generator generator(seed);
    const Env env = generator.env();
    const Expr expr = generator.draw(static_cast<ValueKind>(seed % 3), 1 + seed % 6);
    const std::shared_ptr<const FlatProgram> flat = FlatProgram::compile(expr);
    if (!flat) {
      continue;
    }
    ++programs;
    Value value;
    values += flat->run(env, value);
    Expr with = expr;
    with.flat = flat;
    ASSERT_EQ(outcome(with, env), outcome(expr, env)) << exprText(expr) << " of seed " << seed;
  }
  EXPECT_GT(programs, 19000);
  EXPECT_GT(values, 10000); // the others give up: 64 bits do not suffice
}

TEST(FlatProgram, ReaderMakesThem) {
  const Manifest manifest = parseJson(gemmManifest());
  const Variant &tma = manifest.kernels[0].configurations[0].host[0].variants[0];
  EXPECT_NE(tma.guard->flat, nullptr);
  EXPECT_EQ(tma.guard->args[0].flat, nullptr); // a part
  EXPECT_EQ(tma.params[1].expr.flat, nullptr); // a leaf
}

TEST(FlatProgram, LongChainsAndManyConstantsHaveNone) {
  Expr one;
  one.constant = Value::ofInt(1);
  Expr sum = one, nested = one;
  sum.op = nested.op = Op::Add;
  for (int i = 0; i < 1000; ++i) {
    Expr level;
    level.op = Op::Add;
    Expr leaf;
    leaf.op = Op::SmCount;
    level.args = {leaf, i ? nested : leaf};
    nested = level;
  }
  EXPECT_EQ(FlatProgram::compile(nested), nullptr);
  Expr most;
  most.op = Op::Max;
  for (int i = 0; i < 200; ++i) {
    one.constant = Value::ofInt(i);
    most.args.push_back(one);
  }
  EXPECT_EQ(FlatProgram::compile(most), nullptr);
  EXPECT_EQ(evaluate(most, Env()).integer, 199);
}

} // namespace
} // namespace tile_rt::test
