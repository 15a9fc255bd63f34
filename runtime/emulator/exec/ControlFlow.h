// Decoders of branches and their like, for the table in Families.cpp.
#pragma once

#include "Decoder.h"

namespace tile_emu {

Execute decodeBra(Decoder &decoder);
Execute decodeBrx(Decoder &decoder);
Execute decodeRet(Decoder &decoder);
Execute decodeExit(Decoder &decoder);
Execute decodeTrap(Decoder &decoder);
Execute decodeBrkpt(Decoder &decoder);
Execute decodeCall(Decoder &decoder);
Execute decodeNanosleep(Decoder &decoder);
Execute decodePmevent(Decoder &decoder);

} // namespace tile_emu
