// Predefined registers. PTX ISA, "Special Registers".
#pragma once

#include "Machine.h"

#include <string_view>

namespace tile_emu {

bool isSpecialRegister(std::string_view name);
/// %clock, %globaltimer: another value at every read.
bool changesByItself(std::string_view name);
/// Value in one lane when the warp starts.
uint64_t specialRegister(std::string_view name, const Machine &machine, const Block &block,
                         const Warp &warp, unsigned lane);

} // namespace tile_emu
