// Which shared variable an address is made from. An address computed from one variable must not
// reach another: PTX says nothing of how variables lie. Flow is not looked at: a register that
// gets addresses of two variables counts as unknown.
#include "Provenance.h"

#include <algorithm>

namespace tile_emu {

namespace {

/// Instructions whose result is an address if a source is one: a sum of it and a distance.
bool keepsAddress(const std::string &mnemonic) {
  static constexpr std::string_view kNames[] = {"mov", "add", "sub", "mad", "cvta", "cvt", "selp"};
  return std::find(std::begin(kNames), std::end(kNames), mnemonic) != std::end(kNames);
}

/// What is known of a register: nothing yet, one variable, or that it is not one.
struct Origin {
  const SharedVariable *variable = nullptr;
  bool unknown = false;
  bool isNone() const { return !variable && !unknown; }

  /// True if this tells more than before.
  bool join(const Origin &other) {
    if (unknown || other.isNone() || (variable == other.variable && !other.unknown)) {
      return false;
    }
    if (isNone()) {
      *this = other;
    } else {
      unknown = true;
    }
    return true;
  }
};

class Analysis {
public:
  explicit Analysis(const Code &code) : code(code), origins(code.function->registers.size()) {}

  const std::vector<Origin> &run() {
    do {
      for (bool changed = true; changed;) {
        changed = false;
        for (const ptx::Instruction &instruction : code.function->instructions) {
          changed |= visit(instruction);
        }
      }
    } while (dropMixed());
    return origins;
  }

private:
  Origin originOf(const ptx::Operand &operand) const {
    if (operand.kind == ptx::Operand::Kind::Register) {
      return origins[operand.index];
    }
    if (operand.kind == ptx::Operand::Kind::Variable) {
      auto at = code.sizedVariables.find(operand.name);
      bool isSized = at != code.sizedVariables.end();
      return {isSized ? &at->second : nullptr, !isSized};
    }
    Origin result;
    for (const ptx::Operand &element : operand.elements) {
      result.join(originOf(element));
    }
    return result;
  }

  /// Of what an instruction writes.
  Origin resultOf(const ptx::Instruction &instruction) const {
    Origin from;
    for (size_t i = 1; keepsAddress(instruction.opcode.front()) && i < instruction.operands.size();
         ++i) {
      from.join(originOf(instruction.operands[i]));
    }
    return from;
  }

  bool visit(const ptx::Instruction &instruction) {
    Origin from = resultOf(instruction);
    if (from.isNone()) {
      return false;
    }
    const ptx::Operand &to = instruction.operands.front();
    if (to.kind == ptx::Operand::Kind::Register) {
      return origins[to.index].join(from);
    }
    bool changed = false;
    for (const ptx::Operand &element : to.elements) {
      if (element.kind == ptx::Operand::Kind::Register) {
        changed |= origins[element.index].join({nullptr, true});
      }
    }
    return changed;
  }

  /// A register that gets an address here and something else there is unknown: that may be an
  /// address too, from memory or a mask. True if there was one.
  bool dropMixed() {
    bool changed = false;
    for (const ptx::Instruction &instruction : code.function->instructions) {
      if (instruction.operands.empty() || !resultOf(instruction).isNone()) {
        continue;
      }
      const ptx::Operand &to = instruction.operands.front();
      auto drop = [&](const ptx::Operand &operand) {
        if (operand.kind == ptx::Operand::Kind::Register && origins[operand.index].variable) {
          changed |= origins[operand.index].join({nullptr, true});
        }
      };
      drop(to);
      if (to.kind != ptx::Operand::Kind::Address) {
        std::for_each(to.elements.begin(), to.elements.end(), drop);
      }
    }
    return changed;
  }

  const Code &code;
  std::vector<Origin> origins; ///< by register
};

} // namespace

void findProvenance(Code &code) {
  if (code.sizedVariables.empty()) {
    return;
  }
  code.provenance.resize(code.numRows);
  const std::vector<Origin> origins = Analysis(code).run();
  for (size_t i = 0; i < origins.size(); ++i) {
    if (!origins[i].unknown && code.registerRows[i] != Code::kNoRow) {
      code.provenance[code.registerRows[i]] = origins[i].variable;
    }
  }
  for (const auto &[row, constant] : code.constants) {
    auto at = code.sizedVariables.find(constant.name);
    if (constant.kind == ConstantRow::Kind::Bits && at != code.sizedVariables.end()) {
      code.provenance[row] = &at->second;
    }
  }
}

} // namespace tile_emu
