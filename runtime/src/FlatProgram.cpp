#include "FlatProgram.h"

#include "../support/Floats.h"
#include "Operators.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tile_rt {

namespace {
constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();

/// False if 64 bits, signed, do not hold it.
bool narrow(Int value, int64_t &to) {
  to = static_cast<int64_t>(value);
  return to == value;
}

bool divide(Op op, int64_t a, int64_t b, int64_t &to) {
  if (b == 0 || (a == kLowest && b == -1)) {
    return false;
  }
  const int64_t quotient = a / b, rest = a % b;
  const bool apart = (a < 0) != (b < 0);
  switch (op) {
  case Op::Div:
    to = quotient;
    return true;
  case Op::Rem:
    to = rest;
    return true;
  case Op::CeilDiv:
    to = quotient + (rest != 0 && !apart);
    return true;
  case Op::FloorDiv:
    to = quotient - (rest != 0 && apart);
    return true;
  default: // FloorMod
    to = rest != 0 && apart ? rest + b : rest;
    return true;
  }
}

double roundTo(DType type, double value) {
  switch (type) {
  case DType::F64:
    return value;
  case DType::F32:
    return static_cast<double>(static_cast<float>(value));
  default:
    return roundFloat(type, value);
  }
}
} // namespace

/// Each subexpression leaves its value in the temporary of its depth, but for constants, which are read
/// where they lie.
class FlatCompiler {
public:
  /// False if there is no program.
  bool compile(const Expr &expr) {
    const Operand result = emit(expr, 0);
    const size_t constants = program.constants.size();
    if (!possible || numTemporaries + constants > FlatProgram::kMaxRegisters) {
      return false;
    }
    program.numTemporaries = static_cast<uint16_t>(numTemporaries);
    for (Instruction &instruction : program.code) {
      for (uint16_t *operand : {&instruction.a, &instruction.b, &instruction.c}) {
        *operand = place(*operand);
      }
    }
    program.result = place(result);
    program.kind = expr.kind;
    return true;
  }

  FlatProgram program;

private:
  using Code = FlatProgram::Code;
  using Instruction = FlatProgram::Instruction;
  using Operand = uint16_t;
  static constexpr Operand kConstant = 0x8000; ///< set in the numbers of constants

  Operand place(Operand operand) const {
    return operand & kConstant
               ? static_cast<Operand>(program.numTemporaries + (operand - kConstant))
               : operand;
  }

  Operand temporary(size_t depth) {
    numTemporaries = std::max(numTemporaries, depth + 1);
    possible = possible && depth < FlatProgram::kMaxRegisters;
    return static_cast<Operand>(possible ? depth : 0);
  }

  Operand constant(const Value &value) {
    FlatProgram::Register held;
    if (value.kind == ValueKind::Float) {
      held.real = value.real;
    } else {
      possible = possible && narrow(value.integer, held.integer);
    }
    program.constants.push_back(held);
    possible = possible && program.constants.size() <= FlatProgram::kMaxRegisters;
    return static_cast<Operand>(kConstant + (possible ? program.constants.size() - 1 : 0));
  }

  /// One operand is the others, too: nothing reads what was never written.
  Operand add(Code code, size_t depth, Operand a, Operand b, Op op = Op::Const,
              DType type = DType::I64) {
    Instruction instruction;
    instruction.code = code;
    instruction.op = op;
    instruction.type = type;
    instruction.to = temporary(depth);
    instruction.a = a;
    instruction.b = b;
    instruction.c = a;
    program.code.push_back(instruction);
    return instruction.to;
  }

  Operand addUnary(Code code, const Expr &expr, size_t depth) {
    const Operand value = emit(expr.args[0], depth);
    return add(code, depth, value, value, expr.op);
  }

  /// A jump whose target is set when it is known.
  size_t jump(Code code, Operand condition) {
    Instruction instruction;
    instruction.code = code;
    instruction.a = condition;
    program.code.push_back(instruction);
    return program.code.size() - 1;
  }
  void land(size_t from) { program.code[from].index = static_cast<uint32_t>(program.code.size()); }

  /// Into the temporary of this depth, even a constant.
  Operand emitInto(const Expr &expr, size_t depth) {
    const Operand value = emit(expr, depth);
    return value & kConstant ? add(Code::Move, depth, value, value) : value;
  }

  Operand emit(const Expr &expr, size_t depth) {
    if (!possible) {
      return 0;
    }
    if (expr.op == Op::Const) {
      return constant(expr.constant);
    }
    if (isLeaf(expr.op)) {
      return emitLeaf(expr, depth);
    }
    switch (expr.op) {
    case Op::And:
    case Op::Or:
      return emitLogic(expr, depth);
    case Op::Select:
      return emitSelect(expr, depth);
    case Op::Cast:
      return emitCast(expr, depth);
    case Op::Not:
      return addUnary(Code::Not, expr, depth);
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge: {
      const Operand a = emit(expr.args[0], depth), b = emit(expr.args[1], depth + 1);
      const bool isFloat = expr.args[0].kind == ValueKind::Float;
      return add(isFloat ? Code::FloatCompare : Code::IntCompare, depth, a, b, expr.op);
    }
    case Op::IsNan:
    case Op::IsInf:
    case Op::IsFinite:
      return addUnary(Code::FloatTest, expr, depth);
    default:
      return expr.kind == ValueKind::Float ? emitFloat(expr, depth) : emitInt(expr, depth);
    }
  }

  Operand emitLeaf(const Expr &expr, size_t depth) {
    const Operand to = add(Code::Load, depth, 0, 0, expr.op);
    program.code.back().kind = expr.kind;
    program.code.back().index = expr.index;
    program.code.back().low = expr.detail;
    return to;
  }

  Operand emitLogic(const Expr &expr, size_t depth) {
    std::vector<size_t> jumps;
    Operand to = 0;
    for (size_t i = 0; i < expr.args.size(); ++i) {
      to = emitInto(expr.args[i], depth);
      if (i + 1 < expr.args.size()) {
        jumps.push_back(jump(expr.op == Op::Or ? Code::JumpIfTrue : Code::JumpIfFalse, to));
      }
    }
    for (size_t from : jumps) {
      land(from);
    }
    return to;
  }

  Operand emitSelect(const Expr &expr, size_t depth) {
    const size_t otherwise = jump(Code::JumpIfFalse, emit(expr.args[0], depth));
    emitInto(expr.args[1], depth);
    const size_t end = jump(Code::Jump, 0);
    land(otherwise);
    const Operand to = emitInto(expr.args[2], depth);
    land(end);
    return to;
  }

  Operand emitCast(const Expr &expr, size_t depth) {
    const Operand value = emit(expr.args[0], depth);
    const bool fromFloat = expr.args[0].kind == ValueKind::Float;
    switch (dtypeKind(*expr.type)) {
    case ValueKind::Float:
      return add(fromFloat ? Code::FloatToFloat : Code::IntToFloat, depth, value, value, expr.op,
                 *expr.type);
    case ValueKind::Int:
      return add(fromFloat ? Code::FloatToInt : Code::IntToInt, depth, value, value, expr.op,
                 *expr.type);
    case ValueKind::Bool:
      break;
    }
    return value;
  }

  Operand emitFloat(const Expr &expr, size_t depth) {
    const DType type = expr.type.value_or(DType::F32);
    Operand first = emit(expr.args[0], depth);
    if (expr.op == Op::Clamp || expr.op == Op::Fma) {
      const Operand second = emit(expr.args[1], depth + 1), third = emit(expr.args[2], depth + 2);
      if (expr.op == Op::Clamp) {
        first = add(Code::FloatOther, depth, first, second, Op::Max, type);
        add(Code::FloatOther, depth, first, third, Op::Min, type);
      } else {
        add(Code::FloatOther, depth, first, second, Op::Fma, type);
        program.code.back().c = third;
      }
    } else {
      const Code code = expr.op == Op::Add   ? Code::FloatAdd
                        : expr.op == Op::Sub ? Code::FloatSub
                        : expr.op == Op::Mul ? Code::FloatMul
                        : expr.op == Op::Div ? Code::FloatDiv
                                             : Code::FloatOther;
      size_t i = 1;
      do {
        const Operand next = i < expr.args.size() ? emit(expr.args[i], depth + 1) : first;
        first = add(code, depth, first, next, expr.op, type);
      } while (++i < expr.args.size());
    }
    first = temporary(depth);
    return type == DType::F64 ? first : add(Code::Round, depth, first, first, expr.op, type);
  }

  Operand emitInt(const Expr &expr, size_t depth) {
    Operand first = emit(expr.args[0], depth);
    if (expr.op == Op::Clamp) {
      const Operand second = emit(expr.args[1], depth + 1), third = emit(expr.args[2], depth + 2);
      first = add(Code::IntMax, depth, first, second);
      first = add(Code::IntMin, depth, first, third);
      return fit(expr, first, depth);
    }
    Code code;
    switch (expr.op) {
    case Op::Add:
      code = Code::IntAdd;
      break;
    case Op::Sub:
      code = Code::IntSub;
      break;
    case Op::Mul:
      code = Code::IntMul;
      break;
    case Op::Neg:
      code = Code::IntNeg;
      break;
    case Op::Abs:
      code = Code::IntAbs;
      break;
    case Op::Min:
      code = Code::IntMin;
      break;
    case Op::Max:
      code = Code::IntMax;
      break;
    case Op::Div:
    case Op::Rem:
    case Op::CeilDiv:
    case Op::FloorDiv:
    case Op::FloorMod:
      code = Code::IntDivide;
      break;
    default:
      possible = false; // operators on bits, and reciprocals: rare, and each once in a launch
      return 0;
    }
    size_t i = 1;
    do {
      const Operand next = i < expr.args.size() ? emit(expr.args[i], depth + 1) : first;
      first = add(code, depth, first, next, expr.op);
    } while (++i < expr.args.size());
    return fit(expr, first, depth);
  }

  Operand fit(const Expr &expr, Operand value, size_t depth) {
    if (!expr.type || *expr.type == DType::I64) {
      return value;
    }
    add(Code::Fit, depth, value, value);
    Instruction &instruction = program.code.back();
    instruction.low = static_cast<int64_t>(minInt(*expr.type));
    if (!narrow(maxInt(*expr.type), instruction.high)) {
      instruction.high = std::numeric_limits<int64_t>::max(); // of u64: above it the tree goes on
    }
    return instruction.to;
  }

  size_t numTemporaries = 0;
  bool possible = true;
};

std::shared_ptr<const FlatProgram> FlatProgram::compile(const Expr &expr) {
  FlatCompiler compiler;
  if (!compiler.compile(expr)) {
    return nullptr;
  }
  return std::make_shared<const FlatProgram>(std::move(compiler.program));
}

bool FlatProgram::load(const Instruction &instruction, const Env &env, Register &to) {
  auto take = [&](const Value &value) {
    if (value.kind != instruction.kind) {
      return false;
    }
    if (value.kind == ValueKind::Float) {
      to.real = value.real;
      return true;
    }
    return narrow(value.integer, to.integer);
  };
  switch (instruction.op) {
  case Op::Dim:
    return take(env.dims[instruction.index]);
  case Op::Arg:
    return take(env.scalars[instruction.index]);
  case Op::Let:
    return !env.letError(instruction.index) && take(env.lets[instruction.index]);
  case Op::Extent:
  case Op::Stride: {
    const TensorView &tensor = env.tensors[instruction.index];
    const std::vector<int64_t> &list =
        instruction.op == Op::Extent ? tensor.extents : tensor.strides;
    to.integer = tensor.present ? list[static_cast<size_t>(instruction.low)] : 0;
    return true;
  }
  case Op::Present:
    to.integer = env.tensors[instruction.index].present;
    return true;
  case Op::Aligned:
    to.integer =
        env.tensors[instruction.index].address % static_cast<uint64_t>(instruction.low) == 0;
    return true;
  case Op::SmCount:
    to.integer = env.smCount;
    return true;
  case Op::Grid:
    return narrow(env.grid[instruction.index], to.integer);
  default:
    return narrow(env.gridPoints, to.integer);
  }
}

bool FlatProgram::compute(const Instruction &instruction, Register *registers) {
  Register &to = registers[instruction.to];
  const Register a = registers[instruction.a], b = registers[instruction.b];
  switch (instruction.code) {
  case Code::Move:
    to = a;
    return true;
  case Code::IntAdd:
    return !__builtin_add_overflow(a.integer, b.integer, &to.integer);
  case Code::IntSub:
    return !__builtin_sub_overflow(a.integer, b.integer, &to.integer);
  case Code::IntMul:
    return !__builtin_mul_overflow(a.integer, b.integer, &to.integer);
  case Code::IntNeg:
    return !__builtin_sub_overflow(int64_t{0}, a.integer, &to.integer);
  case Code::IntAbs:
    if (a.integer == kLowest) {
      return false;
    }
    to.integer = a.integer < 0 ? -a.integer : a.integer;
    return true;
  case Code::IntMin:
    to.integer = std::min(a.integer, b.integer);
    return true;
  case Code::IntMax:
    to.integer = std::max(a.integer, b.integer);
    return true;
  case Code::IntDivide:
    return divide(instruction.op, a.integer, b.integer, to.integer);
  case Code::IntCompare:
    to.integer = compare(instruction.op, a.integer, b.integer);
    return true;
  case Code::Not:
    to.integer = a.integer == 0;
    return true;
  case Code::FloatAdd:
    to.real = a.real + b.real;
    return true;
  case Code::FloatSub:
    to.real = a.real - b.real;
    return true;
  case Code::FloatMul:
    to.real = a.real * b.real;
    return true;
  case Code::FloatDiv:
    to.real = a.real / b.real;
    return true;
  case Code::FloatOther:
    to.real = floatOperator(instruction.op, instruction.type, a.real, b.real,
                            registers[instruction.c].real);
    return true;
  case Code::FloatCompare:
    to.integer = compare(instruction.op, a.real, b.real);
    return true;
  case Code::FloatTest:
    to.integer = instruction.op == Op::IsNan   ? std::isnan(a.real)
                 : instruction.op == Op::IsInf ? std::isinf(a.real)
                                               : std::isfinite(a.real);
    return true;
  case Code::Round:
  case Code::FloatToFloat:
    to.real = roundTo(instruction.type, a.real);
    return true;
  case Code::Fit:
    to = a;
    return instruction.low <= a.integer && a.integer <= instruction.high;
  case Code::IntToFloat:
    to.real = intToFloat(instruction.type, a.integer);
    return true;
  case Code::IntToInt:
    return narrow(wrapInt(instruction.type, a.integer), to.integer);
  default: // FloatToInt
    return narrow(floatToInt(instruction.type, a.real), to.integer);
  }
}

bool FlatProgram::run(const Env &env, Value &value) const {
  Register registers[kMaxRegisters];
  if (!constants.empty()) {
    std::memcpy(registers + numTemporaries, constants.data(), constants.size() * sizeof(Register));
  }
  for (size_t at = 0; at < code.size(); ++at) {
    const Instruction &instruction = code[at];
    if (instruction.code == Code::Load) {
      if (!load(instruction, env, registers[instruction.to])) {
        return false;
      }
    } else if (instruction.code == Code::Jump ||
               (instruction.code == Code::JumpIfFalse && registers[instruction.a].integer == 0) ||
               (instruction.code == Code::JumpIfTrue && registers[instruction.a].integer != 0)) {
      at = instruction.index - 1;
    } else if (instruction.code > Code::JumpIfTrue && !compute(instruction, registers)) {
      return false;
    }
  }
  const Register result = registers[this->result];
  value = kind == ValueKind::Float ? Value::ofFloat(result.real) : Value{kind, result.integer, 0};
  return true;
}

} // namespace tile_rt
