#include "Families.h"

#include "../memory/Decoding.h"
#include "ControlFlow.h"

#include <unordered_map>

namespace tile_emu {

std::span<const Family> coreFamilies() {
  static constexpr Family kFamilies[] = {
      // Control flow
      {"bra", decodeBra},
      {"brx", decodeBrx},
      {"ret", decodeRet},
      {"exit", decodeExit},
      {"trap", decodeTrap},
      {"brkpt", decodeBrkpt},
      {"call", decodeCall},
      {"nanosleep", decodeNanosleep},
      {"pmevent", decodePmevent},
      // Memory
      {"ld", decodeLd},
      {"ldu", decodeLdu},
      {"st", decodeSt},
      {"atom", decodeAtom},
      {"red", decodeRed},
      // Addresses
      {"cvta", decodeCvta},
      {"isspacep", decodeIsspacep},
      {"mapa", decodeMapa},
      {"getctarank", decodeGetctarank},
      // Caches
      {"prefetch", decodePrefetch},
      {"prefetchu", decodePrefetchu},
      {"applypriority", decodeApplypriority},
      {"discard", decodeDiscard},
      {"createpolicy", decodeCreatepolicy},
  };
  return kFamilies;
}

DecodeFamily familyOf(std::string_view mnemonic) {
  static const std::unordered_map<std::string_view, DecodeFamily> table = [] {
    std::unordered_map<std::string_view, DecodeFamily> all;
    for (std::span<const Family> group :
         {coreFamilies(), scalarFamilies(), asyncFamilies(), matrixFamilies()}) {
      for (const Family &family : group) {
        all.emplace(family.mnemonic, family.decode);
      }
    }
    return all;
  }();
  auto it = table.find(mnemonic);
  return it == table.end() ? nullptr : it->second;
}

} // namespace tile_emu
