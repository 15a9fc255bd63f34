#include "Scalar.h"

namespace tile_emu {

/// Instructions that integers and floats share, by the type that ends the opcode.
Execute decodeArithmetic(Decoder &d) {
  struct Entry {
    std::string_view mnemonic;
    DecodeFamily integer, floating;
  };
  static constexpr Entry kEntries[] = {
      {"add", decodeIntegerAdd, decodeFloatArithmetic},
      {"sub", decodeIntegerAdd, decodeFloatArithmetic},
      {"mul", decodeIntegerMultiply, decodeFloatArithmetic},
      {"mad", decodeIntegerMultiply, decodeFloatArithmetic},
      {"div", decodeIntegerDivide, decodeFloatDivide},
      {"min", decodeIntegerMinMax, decodeFloatMinMax},
      {"max", decodeIntegerMinMax, decodeFloatMinMax},
      {"abs", decodeIntegerUnary, decodeFloatSign},
      {"neg", decodeIntegerUnary, decodeFloatSign},
  };
  const std::string &type = d.instruction.opcode.back();
  bool isInteger = type.starts_with('u') || type.starts_with('s');
  for (const Entry &entry : kEntries) {
    if (entry.mnemonic == d.mnemonic()) {
      return isInteger ? entry.integer(d) : entry.floating(d);
    }
  }
  d.unsupported("instruction");
}

} // namespace tile_emu
