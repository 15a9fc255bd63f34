#include "Code.h"

#include "Decoder.h"
#include "FunctionDecoder.h"
#include "Provenance.h"
#include "SpecialRegisters.h"
#include "Step.h"
#include "Text.h"

#include <algorithm>
#include <set>

namespace tile_emu {

static constexpr uint64_t kMaxSharedBytes = 232448, // 227 KB: CUDA programming guide, table 27
    kMaxLocalBytes = 512 * 1024;
static constexpr Row kNoRow = Code::kNoRow;

static uint64_t alignUp(uint64_t value, uint64_t align) {
  align = std::max<uint64_t>(align, 1);
  return (value + align - 1) / align * align;
}

static uint64_t lowBits(uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((uint64_t(1) << bits) - 1);
}

[[noreturn]] static void tooLarge(const std::string &name, const char *what, uint64_t limit) {
  throw Fault({.kind = Report::Kind::Invalid,
               .message = "`" + name + "` needs more " + what + " memory than there is (" +
                          std::to_string(limit) + " bytes)",
               .parties = {},
               .notes = {}});
}

//===----------------------------------------------------------------------===//
// FunctionDecoder
//===----------------------------------------------------------------------===//

FunctionDecoder::FunctionDecoder(const ptx::Module &module, const ptx::Function &function,
                                 Code &code)
    : function(function), code(code) {
  code.numRows = kSinkRow + 2;
  code.registerRows.assign(function.registers.size(), kNoRow);
  placeVariables(module);
}

Row FunctionDecoder::registerRow(uint32_t index) {
  Row &row = code.registerRows[index];
  if (row == kNoRow) {
    row = code.numRows;
    code.numRows += registerType(index) == ptx::Type::B128 ? 2 : 1;
  }
  return row;
}

Row FunctionDecoder::constant(ConstantRow constant) {
  auto [it, isNew] =
      constants.try_emplace({constant.kind, constant.name, constant.bits}, code.numRows);
  if (isNew) {
    ++code.numRows;
    code.constants.emplace_back(it->second, std::move(constant));
  }
  return it->second;
}

static void collectVariables(const ptx::Operand &operand, std::set<std::string> &names) {
  if (operand.kind == ptx::Operand::Kind::Variable) {
    names.insert(operand.name);
  }
  for (const ptx::Operand &element : operand.elements) {
    collectVariables(element, names);
  }
}

void FunctionDecoder::placeShared(const ptx::Variable &variable) {
  uint64_t at = alignUp(kSharedBase + code.staticSharedBytes, variable.align) - kSharedBase;
  if (variable.bytes > kMaxSharedBytes || at + variable.bytes > kMaxSharedBytes) {
    tooLarge(function.name, "shared", kMaxSharedBytes);
  }
  places[variable.name] = {ptx::Space::Shared, kSharedBase + at};
  code.sharedVariables[at] = variable.name;
  code.sizedVariables[variable.name] = {variable.name, at, variable.bytes};
  code.staticSharedBytes = at + variable.bytes;
}

/// Static shared variables in the order of their declaration, the module's (as far as they are
/// used) first; then dynamic shared memory.
void FunctionDecoder::placeVariables(const ptx::Module &module) {
  std::set<std::string> used;
  for (const ptx::Instruction &instruction : function.instructions) {
    for (const ptx::Operand &operand : instruction.operands) {
      collectVariables(operand, used);
    }
  }
  std::vector<std::string> dynamic;
  auto place = [&](const ptx::Variable &variable) {
    if (!used.count(variable.name)) {
      return;
    }
    if (variable.space == ptx::Space::Shared && variable.isExtern) {
      dynamic.push_back(variable.name);
      dynamicAlign = std::max(dynamicAlign, variable.align);
    } else if (variable.space == ptx::Space::Shared) {
      placeShared(variable);
    } else if (variable.space == ptx::Space::Local) {
      uint64_t at = alignUp(code.localBytes, variable.align);
      if (variable.bytes > kMaxLocalBytes || at + variable.bytes > kMaxLocalBytes) {
        tooLarge(function.name, "local", kMaxLocalBytes);
      }
      places[variable.name] = {ptx::Space::Local, at};
      code.localBytes = at + variable.bytes;
    } else {
      places[variable.name] = {variable.space, 0};
    }
  };
  for (const ptx::Variable &variable : module.variables) {
    place(variable);
  }
  for (const ptx::Variable &variable : function.variables) {
    place(variable);
  }
  for (const ptx::Variable &param : function.params) {
    places[param.name] = {ptx::Space::Param, param.offset};
    code.paramBytes = std::max(code.paramBytes, param.offset + param.bytes);
  }
  uint64_t end = kSharedBase + code.staticSharedBytes;
  code.dynamicSharedOffset = alignUp(end, dynamicAlign) - kSharedBase;
  for (const std::string &name : dynamic) {
    places[name] = {ptx::Space::Shared, kSharedBase + code.dynamicSharedOffset};
    code.sharedVariables[code.dynamicSharedOffset] = name;
  }
}

std::optional<Row> FunctionDecoder::variable(const std::string &name, int64_t offset,
                                             unsigned bits) {
  auto it = places.find(name);
  if (it == places.end()) {
    return std::nullopt;
  }
  const Place &place = it->second;
  if (place.space == ptx::Space::Global || place.space == ptx::Space::Const) {
    return constant(
        {.kind = ConstantRow::Kind::ModuleVariable, .bits = uint64_t(offset), .name = name});
  }
  return constant({.kind = ConstantRow::Kind::Bits,
                   .bits = lowBits(place.address + uint64_t(offset), bits),
                   .name = place.space == ptx::Space::Shared ? name : std::string()});
}

//===----------------------------------------------------------------------===//
// decode
//===----------------------------------------------------------------------===//

std::string Code::nameOfShared(uint64_t offset) const {
  std::string address = hexOf(kSharedBase + offset);
  auto next = sharedVariables.upper_bound(offset);
  if (next == sharedVariables.begin()) {
    return "shared memory at " + address;
  }
  const auto &[start, name] = *std::prev(next);
  return name + (offset == start ? "" : "+" + std::to_string(offset - start)) + " (" + address +
         ")";
}

std::string Code::nameOf(Row row) const {
  for (size_t i = 0; i != registerRows.size(); ++i) {
    Row first = registerRows[i];
    if (first != kNoRow &&
        (row == first || (function->registers[i].type == ptx::Type::B128 && row == first + 1))) {
      return function->registers[i].name;
    }
  }
  return {};
}

/// The clock moves on by one for every instruction of the grid.
static Execute withClock(Execute execute, std::vector<FunctionDecoder::Clock> clocks) {
  return [execute = std::move(execute), clocks = std::move(clocks)](Step &step) {
    for (const FunctionDecoder::Clock &clock : clocks) {
      std::fill_n(step.row(clock.row), kWarpSize, step.machine.steps >> clock.shift & clock.mask);
    }
    return execute(step);
  };
}

/// Whether earlier arrivals of its threads must have been performed for whoever learns of it: what releases, barriers, and the end
/// (PTX ISA, Memory Consistency Model).
static bool settlesArrivals(const std::vector<std::string> &opcode) {
  static constexpr std::string_view kAlways[] = {"bar",  "barrier", "membar", "griddepcontrol",
                                                 "exit", "ret"};
  auto isOneOf = [&](std::initializer_list<std::string_view> modifiers) {
    return std::find_first_of(opcode.begin() + 1, opcode.end(), modifiers.begin(),
                              modifiers.end()) != opcode.end();
  };
  if (opcode.front() == "fence") {
    return !isOneOf({"acquire"});
  }
  if (opcode.front() == "mbarrier") {
    return !isOneOf({"test_wait", "try_wait", "relaxed"});
  }
  return std::find(std::begin(kAlways), std::end(kAlways), opcode.front()) != std::end(kAlways) ||
         isOneOf({"release", "acq_rel", "sc"});
}

static void decodeInstruction(FunctionDecoder &function, const ptx::Instruction &instruction,
                              Op &op) {
  op.instruction = &instruction;
  Decoder decoder(function, instruction, op);
  if (instruction.guard) {
    if (function.registerType(*instruction.guard) != ptx::Type::Pred) {
      decoder.invalid("the guard must be a predicate");
    }
    op.guard = function.registerRow(*instruction.guard);
    op.guardNegated = instruction.guardNegated;
  }
  DecodeFamily decodeFamily = familyOf(decoder.mnemonic());
  if (!decodeFamily) {
    decoder.unsupported("unknown instruction");
  }
  function.changing.clear();
  op.execute = decodeFamily(decoder);
  op.settlesArrivals = settlesArrivals(instruction.opcode);
  decoder.finish();
  if (!function.changing.empty()) {
    op.execute = withClock(std::move(op.execute), function.changing);
  }
}

/// What a function ends with if its last instruction is reached and left: an implicit `ret`.
static Op endOfFunction() {
  static const ptx::Instruction ret = [] {
    ptx::Instruction instruction;
    instruction.opcode = {"ret"};
    return instruction;
  }();
  Op op;
  op.instruction = &ret;
  op.fallsThrough = false;
  op.settlesArrivals = true;
  op.execute = [](Step &step) {
    step.forLanes([&](unsigned lane) { step.exit(lane); });
    return Outcome::Jumped;
  };
  return op;
}

Code decode(const ptx::Module &module, const ptx::Function &function) {
  Code code;
  code.module = &module;
  code.function = &function;
  FunctionDecoder decoder(module, function, code);
  code.ops.resize(function.instructions.size());
  for (size_t i = 0; i != function.instructions.size(); ++i) {
    decodeInstruction(decoder, function.instructions[i], code.ops[i]);
  }
  code.ops.push_back(endOfFunction());
  findProvenance(code);
  return code;
}

} // namespace tile_emu
