// A PTX module as written: declarations and instructions with names resolved, nothing interpreted.
// Grammar and directives: PTX ISA, "Syntax", "State Spaces, Types, and Variables", "Directives".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tile_emu::ptx {

enum class Type : uint8_t {
  None,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F32x2,
  F64,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  Pred
};
/// The type of a name without its dot ("f16x2"), if it is one.
std::optional<Type> typeNamed(std::string_view name);
std::string_view typeName(Type type);
/// Bits of a value; 1 for Pred.
unsigned bitsOf(Type type);

enum class Space : uint8_t { Generic, Reg, Param, Const, Global, Local, Shared };

/// A place in the program that was compiled to PTX, from `.loc`; file 0: unknown.
struct SourceLocation {
  uint32_t file = 0, line = 0, column = 0;
};

/// A variable in a state space. Offsets are from the start of the function's or module's part of
/// that space; dynamic shared memory (`.extern .shared x[]`) has size and offset 0 and follows all
/// others.
struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::B8;
  uint64_t bytes = 0, align = 1, offset = 0;
  bool isExtern = false;
  std::vector<uint8_t> initial; ///< the first bytes; the rest is zero (global, const) or undefined
};

struct Register {
  std::string name; ///< "%r12"
  Type type = Type::B32;
};

struct Operand {
  enum class Kind : uint8_t {
    Register, ///< `index` into Function::registers; `negated` for `!%p1`
    Integer,  ///< `bits`, two's complement, 64 bits
    Float,    ///< `bits` of an f32 (0f...) or f64 (0d...): `type`
    Variable, ///< address of a variable: `name`, plus `offset`
    Special,  ///< `name` is "%tid.x", "%laneid", "%clock64", ...
    Label,    ///< `index` of an instruction of the function, or one past the last; the second
              ///< operand of brx.idx: index into Function::branchTargets
    Address,  ///< `[...]`: elements[0] is base (Register, Variable, Integer); `offset`; further
              ///< elements for tensors: `[map, {c0, c1}]` has elements {base, Vector}
    Vector,   ///< `{a, b, ...}`: elements
    Sink,     ///< `_`
    Pair,     ///< `p|q`: elements, two
  };
  Kind kind = Kind::Integer;
  Type type = Type::None; ///< of a register or a float; S64 or U64 for an integer
  bool negated = false;
  uint32_t index = 0;
  uint64_t bits = 0;
  int64_t offset = 0;
  std::string name;
  std::vector<Operand> elements;
};

struct Instruction {
  /// "mma.sync.aligned.m16n8k16..." cut at the dots, "::" kept within a part: "shared::cta".
  std::vector<std::string> opcode;
  std::vector<Operand> operands;
  std::optional<uint32_t> guard; ///< register of `@%p`
  bool guardNegated = false;
  uint32_t line = 0; ///< in the PTX text, from 1
  SourceLocation source;
};

struct Function {
  std::string name;
  bool isEntry = false;
  std::vector<Variable>
      params; ///< offsets as the ABI lays them out, aligned naturally or as stated
  std::vector<Variable>
      variables; ///< local and shared ones declared in the body, names made unique; global and
                 ///< const ones join those of the module as "function.name"
  std::vector<Register> registers; ///< of a range `%r<100>` those that are used
  std::vector<Instruction> instructions;
  std::optional<std::array<unsigned, 3>> requiredThreads, maxThreads,
      requiredCluster;                              ///< .reqntid, .maxntid, .reqnctapercluster
  std::vector<std::vector<uint32_t>> branchTargets; ///< .branchtargets lists of brx.idx
};

struct Module {
  std::string version, target; ///< "9.0", "sm_90a"
  std::vector<Variable> variables;
  std::vector<Function> functions;       ///< with a body
  std::map<uint32_t, std::string> files; ///< .file
  const Function *find(std::string_view name) const;
};

} // namespace tile_emu::ptx
