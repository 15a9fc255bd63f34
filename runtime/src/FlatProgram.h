// Expressions as flat programs over 64-bit registers: what a call of new extents evaluates hundreds of. A
// program never fails: it gives up where 64 bits do not suffice or something is in error, and the tree, whose
// integers have 128 bits and whose errors have a text, is evaluated instead.
#pragma once

#include "Expr.h"

namespace tile_rt {

class FlatProgram {
public:
  /// Of a whole expression. Null if it has operators that programs do not have.
  static std::shared_ptr<const FlatProgram> compile(const Expr &expr);

  /// False where it gives up: evaluate the tree then.
  bool run(const Env &env, Value &value) const;

private:
  friend class FlatCompiler;

  enum class Code : uint8_t {
    Load, ///< a leaf: `op`
    Jump,
    JumpIfFalse,
    JumpIfTrue,
    Move,
    IntAdd,
    IntSub,
    IntMul,
    IntNeg,
    IntAbs,
    IntMin,
    IntMax,
    IntDivide,  ///< of all kinds: `op`
    IntCompare, ///< `op`
    Not,
    FloatAdd,
    FloatSub,
    FloatMul,
    FloatDiv,
    FloatOther,   ///< `op`; of c the third operand
    FloatCompare, ///< `op`
    FloatTest,    ///< `op`
    Round,        ///< to `type`
    Fit,          ///< gives up unless `type` holds it
    IntToFloat,
    IntToInt,
    FloatToInt,
    FloatToFloat,
  };
  /// Registers: temporaries from 0 up, constants behind them.
  struct Instruction {
    Code code;
    Op op = Op::Const;
    DType type = DType::I64;
    ValueKind kind = ValueKind::Int; ///< of a leaf
    uint16_t to = 0, a = 0, b = 0, c = 0;
    uint32_t index = 0;        ///< of a leaf, as in Expr; of a jump the target
    int64_t low = 0, high = 0; ///< Fit: the type's range; a leaf's `detail` in `low`
  };
  union Register {
    int64_t integer;
    double real;
  };
  static constexpr size_t kMaxRegisters = 128;

  static bool load(const Instruction &instruction, const Env &env, Register &to);
  static bool compute(const Instruction &instruction, Register *registers);

  std::vector<Instruction> code;
  std::vector<Register> constants;
  uint16_t numTemporaries = 0, result = 0;
  ValueKind kind = ValueKind::Int;
};

} // namespace tile_rt
