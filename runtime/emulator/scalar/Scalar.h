// The decoders of scalar instructions, by file. PTX ISA, "Instruction Set". Instructions whose
// undefined inputs only make undefined outputs say so (Op::propagatesUndefined).
#pragma once

#include "../exec/Decoder.h"

namespace tile_emu {

// Arithmetic.cpp: by the type at the end, to integers or floats.
Execute decodeArithmetic(Decoder &d);

// Integer.cpp. "Integer Arithmetic Instructions", "Extended-Precision Integer ...".
Execute decodeIntegerAdd(Decoder &d);      // add, sub
Execute decodeIntegerMultiply(Decoder &d); // mul, mad
Execute decodeIntegerDivide(Decoder &d);   // div, rem
Execute decodeIntegerMinMax(Decoder &d);   // min, max
Execute decodeIntegerUnary(Decoder &d);    // abs, neg
Execute decodeCarry(Decoder &d);           // addc, subc, madc
Execute decodeMultiply24(Decoder &d);      // mul24, mad24
Execute decodeSad(Decoder &d);
Execute decodeDotProduct(Decoder &d); // dp4a, dp2a

// Bits.cpp. "Logic and Shift Instructions" and integer instructions on fields of bits.
Execute decodeLogic(Decoder &d); // and, or, xor, not, cnot
Execute decodeLop3(Decoder &d);
Execute decodeShift(Decoder &d);       // shl, shr
Execute decodeFunnelShift(Decoder &d); // shf
Execute decodeCount(Decoder &d);       // popc, clz, brev
Execute decodeBfind(Decoder &d);
Execute decodeFns(Decoder &d);
Execute decodeBfe(Decoder &d);
Execute decodeBfi(Decoder &d);
Execute decodeBmsk(Decoder &d);
Execute decodeSzext(Decoder &d);
Execute decodePrmt(Decoder &d);

// Float.cpp. "Floating Point Instructions", "Half Precision ...", "Mixed Precision ...".
Execute decodeFloatArithmetic(Decoder &d); // add, sub, mul, fma, mad
Execute decodeFloatMinMax(Decoder &d);     // min, max
Execute decodeFloatSign(Decoder &d);       // neg, abs
Execute decodeCopysign(Decoder &d);
Execute decodeTestp(Decoder &d);
// FloatMath.cpp
Execute decodeFloatDivide(Decoder &d);    // div, rcp, sqrt, rsqrt
Execute decodeTranscendental(Decoder &d); // ex2, lg2, sin, cos, tanh

// Convert.cpp. "cvt", "cvt.pack".
Execute decodeConvert(Decoder &d);

// Compare.cpp. "Comparison and Selection Instructions".
Execute decodeSetp(Decoder &d);
Execute decodeSet(Decoder &d);
Execute decodeSelp(Decoder &d);
Execute decodeSlct(Decoder &d);

// Move.cpp. "mov".
Execute decodeMov(Decoder &d);

// Warp.cpp. What the lanes of a warp do together.
Execute decodeShuffle(Decoder &d);
Execute decodeVote(Decoder &d);
Execute decodeMatch(Decoder &d);
Execute decodeRedux(Decoder &d);
Execute decodeElect(Decoder &d);
Execute decodeActivemask(Decoder &d);

} // namespace tile_emu
