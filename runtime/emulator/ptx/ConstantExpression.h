// Constants of PTX: literals, and expressions over them. PTX ISA, "Constants", "Constant
// Expressions".
#pragma once

#include "Cursor.h"

namespace tile_emu::ptx {

struct Constant {
  Type type = Type::S64; ///< S64, U64, F32, F64
  uint64_t bits = 0;
  bool isFloat() const { return type == Type::F32 || type == Type::F64; }
};

/// Can a constant start here?
bool startsConstant(const Cursor &cursor);
/// Any constant expression. Throws SyntaxError.
Constant parseConstant(Cursor &cursor);
/// One that is an integer, in two's complement.
int64_t parseInteger(Cursor &cursor);
/// `+ a - b ...`: what is added to a name; 0 if neither + nor - follows.
int64_t parseOffset(Cursor &cursor);

} // namespace tile_emu::ptx
