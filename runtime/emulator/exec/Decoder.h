// What the decoders of instruction families share: operands to rows, modifiers taken one by one.
// Whatever a decoder does not take is an error, so nothing is skipped silently.
#pragma once

#include "../Report.h"
#include "Code.h"

#include <initializer_list>
#include <span>

namespace tile_emu {

class FunctionDecoder; // Code.cpp: rows of registers and constants

/// Decodes one instruction. A family's decode function takes modifiers and operands and returns the
/// closure; `op` is filled in on the way.
class Decoder {
public:
  Decoder(FunctionDecoder &function, const ptx::Instruction &instruction, Op &op);

  const ptx::Instruction &instruction;
  Op &op;

  /// The first part of the opcode: "mma".
  const std::string &mnemonic() const;
  /// Takes the next modifier if it is `name`. Modifiers come in the order of the ISA's syntax.
  bool take(std::string_view name);
  /// Takes the next modifier if it is one of `names`: its index.
  std::optional<unsigned> takeOneOf(std::initializer_list<std::string_view> names);
  /// Takes the next modifier; "" at the end.
  std::string takeAny();
  std::string_view peek() const; ///< the next modifier or ""
  /// Takes the next modifier, which must be `name` or a type.
  void expect(std::string_view name);
  ptx::Type takeType();
  std::optional<ptx::Type> takeTypeIf();
  bool atEnd() const;

  size_t numOperands() const;
  const ptx::Operand &operand(size_t i) const; ///< Fault if there is none
  /// Row of a source: register, immediate, special register, address of a variable. An immediate is
  /// converted to `type` (integers to floats are not: 1.0 is 0f3F800000). A `negated` predicate is
  /// refused unless `negated` is given.
  Row source(const ptx::Operand &operand, ptx::Type type, bool *negated = nullptr);
  Row source(size_t i, ptx::Type type, bool *negated = nullptr) {
    return source(operand(i), type, negated);
  }
  /// Row of a destination; kSinkRow for `_`, which may be written.
  Row destination(const ptx::Operand &operand, ptx::Type type);
  Row destination(size_t i, ptx::Type type) { return destination(operand(i), type); }
  std::vector<Row> sources(const ptx::Operand &vectorOperand, ptx::Type type);
  std::vector<Row> destinations(const ptx::Operand &vectorOperand, ptx::Type type);
  struct AddressRows {
    Row base;
    int64_t offset;
  };
  /// `[base + offset]`.
  AddressRows address(const ptx::Operand &operand);
  AddressRows address(size_t i) { return address(operand(i)); }
  /// A compile-time integer.
  int64_t immediate(size_t i) const;
  /// Declared type of a register; None for other operands.
  ptx::Type registerType(const ptx::Operand &operand) const;
  uint32_t label(size_t i) const; ///< index of the target instruction
  const ptx::Function &enclosing() const;
  /// After decoding: Fault if a modifier or an operand has not been taken.
  void finish() const;

  [[noreturn]] void
  unsupported(const std::string &what) const; ///< Fault that names the instruction and its line
  [[noreturn]] void invalid(const std::string &what) const;

private:
  FunctionDecoder &function;
  size_t next = 1;           ///< part of the opcode
  mutable uint64_t used = 0; ///< operands that the family has asked for, as bits
};

using DecodeFamily = Execute (*)(Decoder &);
/// The family of a mnemonic ("mma" -> decodeMma); null if unknown. Table in Families.cpp.
DecodeFamily familyOf(std::string_view mnemonic);

} // namespace tile_emu
