// Tokens of PTX text. PTX ISA, "Syntax": comments, identifiers, constants.
#pragma once

#include "Parser.h"

namespace tile_emu::ptx {

struct Token {
  enum class Kind : uint8_t {
    Name,    ///< add, %r1, $L__BB0_1, _
    DotName, ///< .f32, .shared::cta, .4d: `text` without the dot, "::" within it
    Integer, ///< `bits`; `isUnsigned` if it ends in U or needs 64 bits
    Float,   ///< `bits` of `type`, which is F32 (0f...) or F64 (0d... and decimal)
    String,  ///< `text` without the quotes
    Punctuation,
    End,
  };
  Kind kind = Kind::End;
  Type type = Type::None;
  bool isUnsigned = false;
  uint32_t line = 0;
  std::string_view text; ///< part of the input
  uint64_t bits = 0;
};

/// All tokens of a text, the last of Kind::End. Throws SyntaxError.
std::vector<Token> tokenize(std::string_view text);

} // namespace tile_emu::ptx
