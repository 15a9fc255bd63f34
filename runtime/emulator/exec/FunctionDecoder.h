// The rows of one function while it is decoded.
#pragma once

#include "Code.h"

#include <map>

namespace tile_emu {

class FunctionDecoder {
public:
  /// Places the function's variables. Throws Fault (Invalid) if they are larger than the machine.
  FunctionDecoder(const ptx::Module &module, const ptx::Function &function, Code &code);

  const ptx::Function &function;

  Row registerRow(uint32_t index);
  ptx::Type registerType(uint32_t index) const { return function.registers[index].type; }
  Row constant(ConstantRow constant);
  /// The address of a variable in its space, `bits` wide; none if there is no such variable.
  std::optional<Row> variable(const std::string &name, int64_t offset, unsigned bits);

  /// Rows of special registers whose value changes, used by the instruction at hand.
  struct Clock {
    Row row;
    unsigned shift; ///< 32 for the high half
    uint64_t mask;
  };
  std::vector<Clock> changing;

private:
  struct Place {
    ptx::Space space;
    uint64_t address;
  };
  void placeVariables(const ptx::Module &module);
  void placeShared(const ptx::Variable &variable);

  Code &code;
  std::map<std::tuple<ConstantRow::Kind, std::string, uint64_t>, Row> constants;
  std::map<std::string, Place> places;
  uint64_t dynamicAlign = 16;
};

} // namespace tile_emu
