#include "runtime/emulator/exec/Families.h"

namespace tile_emu {

std::span<const Family> coreFamilies() { return {}; }

DecodeFamily familyOf(std::string_view mnemonic) {
  for (std::span<const Family> group :
       {coreFamilies(), scalarFamilies(), asyncFamilies(), matrixFamilies()}) {
    for (const Family &family : group) {
      if (family.mnemonic == mnemonic) {
        return family.decode;
      }
    }
  }
  return nullptr;
}

} // namespace tile_emu
