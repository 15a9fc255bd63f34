// What names mean within a function: nested scopes of registers, variables and labels. PTX ISA,
// "Identifiers", "Labels and Function Names"; an inner declaration hides an outer one.
#pragma once

#include "Cursor.h"

#include <unordered_map>

namespace tile_emu::ptx {

/// Names are parts of the text, which must stay. All `declare...` return false if the scope already
/// has the name.
class Scopes {
public:
  explicit Scopes(Function &function) : function(function) { open(); }

  /// Returns false if there are too many.
  bool open();
  /// Gives the labels of the innermost scope to those who named them. Throws SyntaxError for the
  /// last scope if some are unknown.
  void close();
  size_t depth() const { return scopes.size(); }

  bool declareRegister(std::string_view name, Type type);
  /// `%r<100>`: %r0 to %r99. They become registers of the function when they are used.
  bool declareRegisters(std::string_view prefix, uint32_t count, Type type);
  /// `uniqueName`: of the Variable.
  bool declareVariable(std::string_view name, std::string uniqueName);
  bool declareLabel(std::string_view name, uint32_t instruction);
  bool declareTargets(std::string_view name, uint32_t list);

  struct Meaning {
    bool isRegister = false;
    uint32_t index = 0;   ///< of the register
    std::string variable; ///< unique name
  };
  /// Null if no scope has the name; valid until the next call of a function that is not const.
  const Meaning *find(std::string_view name);

  /// Who waits for a label or a list of targets.
  struct Reference {
    enum class Kind : uint8_t {
      Operand,   ///< operand `slot` of instruction `owner` is a label
      ListEntry, ///< entry `slot` of list `owner` is a label
      List,      ///< operand `slot` of instruction `owner` is a list of targets
    };
    Kind kind = Kind::Operand;
    std::string_view name;
    uint32_t line = 0, owner = 0, slot = 0;
  };
  void refer(const Reference &reference);

private:
  struct Range {
    uint32_t count;
    Type type;
  };
  struct Scope {
    std::unordered_map<std::string_view, Meaning> names;
    std::unordered_map<std::string_view, Range> ranges;
    std::unordered_map<std::string_view, uint32_t> labels, targets;
    std::vector<Reference> references;
  };
  const Meaning *findInRanges(Scope &scope, std::string_view name);
  bool resolve(const Scope &scope, const Reference &reference);

  Function &function;
  std::vector<Scope> scopes;
};

} // namespace tile_emu::ptx
