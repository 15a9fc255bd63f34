// libFuzzer over the parser of PTX: a module or an error, and in a module all that is named by
// number exists.
#include "runtime/emulator/ptx/Parser.h"

#include <cstdlib>

using namespace tile_emu::ptx;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void check(const Function &function, const Operand &operand, bool isList) {
  if (operand.kind == Operand::Kind::Register) {
    require(operand.index < function.registers.size());
  } else if (operand.kind == Operand::Kind::Label) {
    require(isList ? operand.index < function.branchTargets.size()
                   : operand.index <= function.instructions.size());
  }
  require(operand.kind != Operand::Kind::Address || !operand.elements.empty());
  require(operand.kind != Operand::Kind::Pair || operand.elements.size() == 2);
  for (const Operand &element : operand.elements) {
    check(function, element, false);
  }
}

void check(const Function &function) {
  for (const Instruction &instruction : function.instructions) {
    require(!instruction.opcode.empty());
    require(!instruction.guard || *instruction.guard < function.registers.size());
    for (const Operand &operand : instruction.operands) {
      check(function, operand, instruction.opcode.front() == "brx");
    }
  }
  for (const std::vector<uint32_t> &targets : function.branchTargets) {
    for (uint32_t target : targets) {
      require(target <= function.instructions.size());
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Module module;
  try {
    module = parse(std::string_view(reinterpret_cast<const char *>(data), size));
  } catch (const SyntaxError &error) {
    require(error.line >= 1);
    return 0;
  }
  for (const Variable &variable : module.variables) {
    require(variable.initial.size() <= variable.bytes);
  }
  for (const Function &function : module.functions) {
    check(function);
  }
  return 0;
}
