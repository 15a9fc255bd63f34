#include "Decoder.h"

#include "FunctionDecoder.h"
#include "SpecialRegisters.h"
#include "Step.h"

#include <bit>

namespace tile_emu {

using ptx::Operand;

std::string opcodeOf(const ptx::Instruction &instruction) {
  std::string text;
  for (const std::string &part : instruction.opcode) {
    text += (text.empty() ? "" : ".") + part;
  }
  return text;
}

Decoder::Decoder(FunctionDecoder &function, const ptx::Instruction &instruction, Op &op)
    : instruction(instruction), op(op), function(function) {}

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

const std::string &Decoder::mnemonic() const {
  static const std::string none;
  return instruction.opcode.empty() ? none : instruction.opcode.front();
}

bool Decoder::atEnd() const { return next >= instruction.opcode.size(); }

std::string_view Decoder::peek() const {
  return atEnd() ? std::string_view() : std::string_view(instruction.opcode[next]);
}

bool Decoder::take(std::string_view name) {
  if (atEnd() || instruction.opcode[next] != name) {
    return false;
  }
  ++next;
  return true;
}

std::optional<unsigned> Decoder::takeOneOf(std::initializer_list<std::string_view> names) {
  unsigned index = 0;
  for (std::string_view name : names) {
    if (take(name)) {
      return index;
    }
    ++index;
  }
  return std::nullopt;
}

std::string Decoder::takeAny() { return atEnd() ? std::string() : instruction.opcode[next++]; }

void Decoder::expect(std::string_view name) {
  if (!take(name)) {
    unsupported(atEnd() ? "modifier `." + std::string(name) + "` is missing"
                        : "modifier `." + std::string(peek()) + "` where `." + std::string(name) +
                              "` is expected");
  }
}

std::optional<ptx::Type> Decoder::takeTypeIf() {
  std::optional<ptx::Type> type = ptx::typeNamed(peek());
  if (type) {
    ++next;
  }
  return type;
}

ptx::Type Decoder::takeType() {
  if (std::optional<ptx::Type> type = takeTypeIf()) {
    return *type;
  }
  unsupported(atEnd() ? "a type is missing"
                      : "modifier `." + std::string(peek()) + "` where a type is expected");
}

void Decoder::finish() const {
  if (!atEnd()) {
    unsupported("modifier `." + std::string(peek()) + "`");
  }
  for (size_t i = 0; i != instruction.operands.size(); ++i) {
    if (i < 64 && !(used >> i & 1)) {
      invalid("operand " + std::to_string(i + 1) + " is one too many");
    }
  }
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

size_t Decoder::numOperands() const { return instruction.operands.size(); }

const Operand &Decoder::operand(size_t i) const {
  if (i >= instruction.operands.size()) {
    invalid("operand " + std::to_string(i + 1) + " is missing");
  }
  used |= i < 64 ? uint64_t(1) << i : 0;
  return instruction.operands[i];
}

ptx::Type Decoder::registerType(const Operand &operand) const {
  return operand.kind == Operand::Kind::Register ? function.registerType(operand.index)
                                                 : ptx::Type::None;
}

/// Registers must hold the type; wider ones are the instruction's business (ld, cvt).
static void checkWidth(const Decoder &decoder, const Operand &operand, ptx::Type type) {
  ptx::Type declared = decoder.registerType(operand);
  bool isPredicate = declared == ptx::Type::Pred;
  if (isPredicate != (type == ptx::Type::Pred) || ptx::bitsOf(declared) < ptx::bitsOf(type)) {
    decoder.invalid("a register of type ." + std::string(ptx::typeName(declared)) + " where ." +
                    std::string(ptx::typeName(type)) + " is expected");
  }
}

static uint64_t maskOf(ptx::Type type) {
  unsigned bits = ptx::bitsOf(type);
  return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

static bool isFloat(ptx::Type type) {
  return type == ptx::Type::F32 || type == ptx::Type::F64 || type == ptx::Type::F32x2;
}

/// The bits of an integer or a float literal as a value of `type`; none if it cannot be one.
static std::optional<uint64_t> literalBits(const Operand &operand, ptx::Type type) {
  if (operand.kind == Operand::Kind::Integer) {
    if (isFloat(type)) {
      return std::nullopt;
    }
    return type == ptx::Type::Pred ? uint64_t(operand.bits != 0) : operand.bits & maskOf(type);
  }
  bool isDouble = operand.type == ptx::Type::F64;
  if (type == ptx::Type::F32 && isDouble) {
    return std::bit_cast<uint32_t>(float(std::bit_cast<double>(operand.bits)));
  }
  if (type == ptx::Type::F64 && !isDouble) {
    return std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(operand.bits))));
  }
  if (ptx::bitsOf(type) != (isDouble ? 64u : 32u)) {
    return std::nullopt;
  }
  return operand.bits;
}

Row Decoder::source(const Operand &operand, ptx::Type type, bool *negated) {
  if (negated) {
    *negated = operand.negated;
  } else if (operand.negated) {
    invalid("`!` is not possible here");
  }
  switch (operand.kind) {
  case Operand::Kind::Register: {
    checkWidth(*this, operand, type);
    Row row = function.registerRow(operand.index);
    op.reads.push_back(row);
    if (type == ptx::Type::B128) {
      op.reads.push_back(row + 1);
    }
    return row;
  }
  case Operand::Kind::Integer:
  case Operand::Kind::Float:
    if (std::optional<uint64_t> bits = literalBits(operand, type)) {
      return function.constant({.kind = ConstantRow::Kind::Bits, .bits = *bits, .name = {}});
    }
    invalid("this literal cannot be of type ." + std::string(ptx::typeName(type)));
  case Operand::Kind::Special: {
    if (!isSpecialRegister(operand.name)) {
      unsupported("special register " + operand.name);
    }
    Row row = function.constant(
        {.kind = ConstantRow::Kind::Special, .bits = maskOf(type), .name = operand.name});
    if (changesByItself(operand.name)) {
      unsigned shift = operand.name.ends_with("_hi") ? 32 : 0;
      function.changing.push_back({row, shift, maskOf(type)});
    }
    return row;
  }
  case Operand::Kind::Variable:
    if (std::optional<Row> row =
            function.variable(operand.name, operand.offset, ptx::bitsOf(type))) {
      return *row;
    }
    invalid("there is no variable `" + operand.name + "`");
  default:
    invalid("an operand of this form is not possible here");
  }
}

Row Decoder::destination(const Operand &operand, ptx::Type type) {
  if (operand.kind == Operand::Kind::Sink) {
    return kSinkRow;
  }
  if (operand.kind != Operand::Kind::Register || operand.negated) {
    invalid("the destination must be a register");
  }
  checkWidth(*this, operand, type);
  Row row = function.registerRow(operand.index);
  op.writes.push_back(row);
  if (type == ptx::Type::B128) {
    op.writes.push_back(row + 1);
  }
  return row;
}

std::vector<Row> Decoder::sources(const Operand &vectorOperand, ptx::Type type) {
  if (vectorOperand.kind != Operand::Kind::Vector) {
    return {source(vectorOperand, type)};
  }
  std::vector<Row> rows;
  rows.reserve(vectorOperand.elements.size());
  for (const Operand &element : vectorOperand.elements) {
    rows.push_back(source(element, type));
  }
  return rows;
}

std::vector<Row> Decoder::destinations(const Operand &vectorOperand, ptx::Type type) {
  if (vectorOperand.kind != Operand::Kind::Vector) {
    return {destination(vectorOperand, type)};
  }
  std::vector<Row> rows;
  rows.reserve(vectorOperand.elements.size());
  for (const Operand &element : vectorOperand.elements) {
    rows.push_back(destination(element, type));
  }
  return rows;
}

Decoder::AddressRows Decoder::address(const Operand &operand) {
  if (operand.kind != Operand::Kind::Address || operand.elements.empty()) {
    invalid("an address in brackets is expected");
  }
  const Operand &base = operand.elements.front();
  switch (base.kind) {
  case Operand::Kind::Register: {
    unsigned bits = ptx::bitsOf(registerType(base));
    if (bits != 32 && bits != 64) {
      invalid("an address must be in a register of 32 or 64 bits");
    }
    return {source(base, bits == 32 ? ptx::Type::B32 : ptx::Type::B64), operand.offset};
  }
  case Operand::Kind::Variable:
  case Operand::Kind::Integer:
    return {source(base, ptx::Type::B64), operand.offset};
  default:
    invalid("an address must start with a register, a variable or a number");
  }
}

int64_t Decoder::immediate(size_t i) const {
  const Operand &value = operand(i);
  if (value.kind != Operand::Kind::Integer) {
    invalid("operand " + std::to_string(i + 1) + " must be an integer constant");
  }
  return int64_t(value.bits);
}

uint32_t Decoder::label(size_t i) const {
  const Operand &target = operand(i);
  if (target.kind != Operand::Kind::Label || target.index > function.function.instructions.size()) {
    invalid("operand " + std::to_string(i + 1) + " must be a label");
  }
  return target.index;
}

const ptx::Function &Decoder::enclosing() const { return function.function; }

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

[[noreturn]] static void fail(Report::Kind kind, const ptx::Instruction &instruction,
                              const std::string &what) {
  std::string opcode = opcodeOf(instruction);
  throw Fault(
      {.kind = kind,
       .message = "line " + std::to_string(instruction.line) + ": `" + opcode + "`: " + what,
       .parties = {{.what = opcode,
                    .ptxLine = instruction.line,
                    .source = instruction.source,
                    .thread = {}}},
       .notes = {}});
}

void Decoder::unsupported(const std::string &what) const {
  fail(Report::Kind::Unsupported, instruction, what);
}

void Decoder::invalid(const std::string &what) const {
  fail(Report::Kind::Invalid, instruction, what);
}

} // namespace tile_emu
