// Variables and parameters. PTX ISA, "State Spaces", "Variables", "Kernel Function Parameters".
#pragma once

#include "Cursor.h"

namespace tile_emu::ptx {

/// The state space that a directive names: ".shared".
std::optional<Space> spaceNamed(std::string_view directive);

struct Declared {
  std::string_view name;
  Variable variable; ///< without an offset; its name is `name`
};
/// What follows the state space of variables, up to and with `;`:
/// `.align 4 .b8 x[12] = {1, 2}, y;`.
std::vector<Declared> parseVariables(Cursor &cursor, Space space, bool isExtern);
/// What follows `.param` in a list of parameters.
Declared parseParameter(Cursor &cursor);

/// Gives the variable its offset, at `end` or what its alignment makes of it, and moves `end`
/// behind it. Dynamic shared memory gets offset 0. Throws SyntaxError at the cursor if the space is
/// full.
void place(const Cursor &cursor, Variable &variable, uint64_t &end);

} // namespace tile_emu::ptx
