// The body of a function: declarations, labels, instructions. PTX ISA, "Statements".
#pragma once

#include "Scope.h"

#include <set>

namespace tile_emu::ptx {

/// A module under construction.
struct ModuleState {
  Module module;
  std::map<std::string, size_t, std::less<>> variables; ///< by name: index in Module::variables
  std::set<std::string, std::less<>> functions;         ///< with or without a body
  std::set<std::string, std::less<>> defined;           ///< functions with a body
  std::map<Space, uint64_t> ends;                       ///< bytes in use per state space

  /// Adds a variable and gives it its offset. Errors are reported at the cursor.
  void add(const Cursor &cursor, Variable variable);
};

class BodyParser {
public:
  /// Parameters are declared already: in `function` and `scopes`. `ends`: bytes in use of the
  /// function's part of each state space.
  BodyParser(Cursor &cursor, ModuleState &state, Function &function, Scopes &scopes,
             std::map<Space, uint64_t> &ends)
      : cursor(cursor), state(state), function(function), scopes(scopes), ends(ends) {}

  /// Parses `{ ... }` and closes the scopes. Throws SyntaxError.
  void parse();

private:
  void statement();
  void directive();
  void registers();
  void variables(Space space, bool isExtern);
  void label();
  void branchTargets(std::string_view name);
  void instruction();
  std::string uniqueName(const std::string &name);

  // Operands.cpp
  void operands(Instruction &instruction);
  Operand operand(unsigned depth);
  Operand address(unsigned depth);
  Operand vector(std::string_view open, std::string_view close, unsigned depth);
  Operand constant();
  Operand named(unsigned depth);
  Operand special(std::string_view name);

  Cursor &cursor;
  ModuleState &state;
  Function &function;
  Scopes &scopes;
  std::map<Space, uint64_t> &ends;
  std::map<std::string, unsigned> copies; ///< of a name, for unique ones
  SourceLocation source;
};

/// `.loc F L C ...` after the directive itself. PTX ISA, "Debugging Directives".
SourceLocation parseLocation(Cursor &cursor);
/// `.file N "name" ...` after the directive itself.
void parseFile(Cursor &cursor, Module &module);
/// `.pragma "...", ...;` after the directive itself.
void skipPragma(Cursor &cursor);

} // namespace tile_emu::ptx
