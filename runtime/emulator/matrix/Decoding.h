// What the decoders of matrix instructions share.
#pragma once

#include "../exec/Decoder.h"
#include "../exec/Step.h"
#include "Elements.h"
#include "Fragments.h"

namespace tile_emu {

constexpr LaneMask kAllLanes = ~LaneMask(0);

// Execution functions of the tables in Families.cpp.
Execute decodeLdmatrix(Decoder &decoder);
Execute decodeStmatrix(Decoder &decoder);
Execute decodeMovmatrix(Decoder &decoder);
Execute decodeMma(Decoder &decoder);
Execute decodeWgmma(Decoder &decoder);

/// Takes a modifier such as "m16n8k16". Faults for anything else.
MatrixShape takeShape(Decoder &decoder);
/// Takes the type of an operand, "e4m3".
Element takeElement(Decoder &decoder);
/// The registers of `{a, b, c}` or of a single `a`.
std::vector<Row> sourceRows(Decoder &decoder, size_t operand, ptx::Type type);
std::vector<Row> destinationRows(Decoder &decoder, size_t operand, ptx::Type type);
/// Faults unless an operand has this many registers.
void expectRegisters(const Decoder &decoder, const char *operand, size_t has, size_t needs);

/// Faults unless all 32 lanes take part: these instructions are defined for whole warps only.
void requireWholeWarp(Step &step);

} // namespace tile_emu
