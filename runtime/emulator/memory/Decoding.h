// What the decoders of loads, stores and atomics share.
#pragma once

#include "../exec/Decoder.h"
#include "../exec/Step.h"

#include <functional>
#include <span>

namespace tile_emu {

// Decoders of the table in exec/Families.cpp.
Execute decodeLd(Decoder &decoder);
Execute decodeLdu(Decoder &decoder);
Execute decodeSt(Decoder &decoder);
Execute decodeAtom(Decoder &decoder);
Execute decodeRed(Decoder &decoder);
Execute decodeCvta(Decoder &decoder);
Execute decodeIsspacep(Decoder &decoder);
Execute decodeMapa(Decoder &decoder);
Execute decodeGetctarank(Decoder &decoder);
Execute decodePrefetch(Decoder &decoder);
Execute decodePrefetchu(Decoder &decoder);
Execute decodeApplypriority(Decoder &decoder);
Execute decodeDiscard(Decoder &decoder);
Execute decodeCreatepolicy(Decoder &decoder);

/// Memory semantics of an access. PTX ISA, "Memory Consistency Model".
struct Ordering {
  bool isStrong = false; ///< volatile, relaxed, acquire, release, mmio, atomic
  bool acquires = false, releases = false;
  bool nonCoherent = false; ///< `.nc`
  Scope scope = Scope::Gpu;
};

/// Where an access goes.
struct Target {
  ptx::Space space = ptx::Space::Generic;
  bool ownBlock = false; ///< shared::cta: not the memory of other blocks of the cluster
};

/// Takes `.global`, `.shared{::cta, ::cluster}`, ...; generic without one.
Target takeTarget(Decoder &decoder);
/// Takes `.cta`, `.cluster`, `.gpu`, `.sys` if it is there.
std::optional<Scope> takeScope(Decoder &decoder);
/// Takes eviction, prefetch and cache-hint modifiers, in any order. True if there is a cache policy
/// operand.
bool takeCacheModifiers(Decoder &decoder);

/// One access by lanes of a warp: where each lane's bytes lie.
struct LaneRanges {
  std::array<Region *, kWarpSize> regions;
  std::array<uint64_t, kWarpSize> offsets;
  unsigned bytes = 0;
  MemoryRange of(unsigned lane) const { return {regions[lane], offsets[lane], bytes}; }
};

/// Resolves `base + offset` for all active lanes and counts the traffic. Faults as Step::resolve.
LaneRanges resolveLanes(Step &step, Target target, Decoder::AddressRows address, unsigned bytes);
/// The checker looks at a plain or strong access, of elements of `width` bytes.
void checkAccess(Step &step, const LaneRanges &ranges, Access access, Ordering ordering,
                 unsigned width, AccessFlags flags = {});
/// One of the pieces of memory that lanes write together.
struct LanePiece {
  const Region *region = nullptr;
  uint64_t offset = 0;
  unsigned index = 0; ///< the caller's
};
/// Do two pieces of so many bytes overlap and get different values? `data(index)` are the bytes of
/// one; sorts the pieces.
bool piecesDisagree(std::span<LanePiece> pieces, uint64_t bytes,
                    const std::function<const uint8_t *(unsigned index)> &data);
/// Reports an undefined row (for instructions that track definedness themselves).
void requireDefined(Step &step, Row row, const char *what);

} // namespace tile_emu
