#include "Decoding.h"

#include <algorithm>
#include <cstring>

namespace tile_emu {

Target takeTarget(Decoder &decoder) {
  using ptx::Space;
  struct Name {
    std::string_view name;
    Target target;
  };
  static constexpr Name kNames[] = {
      {"global", {Space::Global, false}},     {"shared", {Space::Shared, true}},
      {"shared::cta", {Space::Shared, true}}, {"shared::cluster", {Space::Shared, false}},
      {"local", {Space::Local, false}},       {"const", {Space::Const, false}},
      {"param", {Space::Param, false}},       {"param::entry", {Space::Param, false}},
  };
  for (const Name &name : kNames) {
    if (decoder.take(name.name)) {
      return name.target;
    }
  }
  return {};
}

std::optional<Scope> takeScope(Decoder &decoder) {
  static constexpr Scope kScopes[] = {Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Gpu};
  std::optional<unsigned> index = decoder.takeOneOf({"cta", "cluster", "gpu", "sys"});
  return index ? std::optional(kScopes[*index]) : std::nullopt;
}

bool takeCacheModifiers(Decoder &decoder) {
  bool policy = false;
  while (true) {
    if (decoder.take("L2::cache_hint")) {
      policy = true;
    } else if (!decoder.takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
                                   "L1::evict_last", "L1::no_allocate", "L2::evict_normal",
                                   "L2::evict_first", "L2::evict_last", "L2::64B", "L2::128B",
                                   "L2::256B"})) {
      return policy;
    }
  }
}

void requireDefined(Step &step, Row row, const char *what) {
  LaneMask missing = step.lanes & ~step.warp.defined[row];
  if (missing) {
    step.report(Report::Kind::Uninitialised, std::string(what) + " was never written",
                unsigned(std::countr_zero(missing)));
  }
}

/// `shared::cta` addresses may be those of the own block in the cluster's window.
static void checkOwnBlock(Step &step, const Region *region, unsigned lane) {
  if (region != &step.block.shared) {
    step.fault(Report::Kind::Invalid,
               "the address is in the shared memory of another block, which needs "
               "`.shared::cluster`",
               lane);
  }
}

static void count(Step &step, const LaneRanges &ranges) {
  Profile &profile = step.machine.profile;
  std::array<uint64_t, kWarpSize> addresses{};
  LaneMask shared = 0, global = 0;
  step.forLanes([&](unsigned lane) {
    const Region &region = *ranges.regions[lane];
    addresses[lane] = region.base + ranges.offsets[lane];
    LaneMask bit = LaneMask(1) << lane;
    shared |= region.kind == Region::Kind::Shared ? bit : 0;
    global |= region.kind == Region::Kind::Global ? bit : 0;
  });
  if (shared) {
    profile.shared(step.op.instruction, addresses.data(), shared, ranges.bytes);
  }
  if (global) {
    profile.globalAccess(step.op.instruction, addresses.data(), global, ranges.bytes);
  }
}

LaneRanges resolveLanes(Step &step, Target target, Decoder::AddressRows address, unsigned bytes) {
  LaneRanges ranges;
  ranges.bytes = bytes;
  const uint64_t *base = step.row(address.base);
  step.forLanes([&](unsigned lane) {
    MemoryRange range =
        step.resolve(target.space, base[lane] + uint64_t(address.offset), bytes, bytes, lane);
    if (range.region == &step.block.shared) {
      step.checkVariable(address.base, range, lane);
    }
    if (target.ownBlock) {
      checkOwnBlock(step, range.region, lane);
    }
    ranges.regions[lane] = range.region;
    ranges.offsets[lane] = range.offset;
  });
  if (step.machine.profile.enabled) {
    count(step, ranges);
  }
  return ranges;
}

void checkAccess(Step &step, const LaneRanges &ranges, Access access, Ordering ordering,
                 unsigned width, AccessFlags flags) {
  flags.nonCoherent = ordering.nonCoherent;
  Checker &checker = step.machine.checker;
  if (ordering.isStrong) {
    AtomicKind kind = access == Access::Read ? AtomicKind::Load : AtomicKind::Store;
    step.forLanes([&](unsigned lane) {
      checker.atomic(step.thread(lane), ranges.of(lane), ordering.acquires, ordering.releases,
                     step.op.instruction, kind, ordering.scope, width);
    });
    return;
  }
  for (LaneMask rest = step.lanes; rest;) {
    Region *region = ranges.regions[unsigned(std::countr_zero(rest))];
    LaneMask same = 0;
    for (LaneMask m = rest; m; m &= m - 1) {
      unsigned lane = unsigned(std::countr_zero(m));
      same |= ranges.regions[lane] == region ? LaneMask(1) << lane : 0;
    }
    if (region->shadow) {
      checker.access(access, WarpLanes{step.warp.firstThread, same}, *region, ranges.offsets.data(),
                     ranges.bytes, flags, step.op.instruction);
    }
    rest &= ~same;
  }
}

bool piecesDisagree(std::span<LanePiece> pieces, uint64_t bytes,
                    const std::function<const uint8_t *(unsigned index)> &data) {
  auto before = [](const LanePiece &a, const LanePiece &b) {
    return a.region != b.region ? std::less<>()(a.region, b.region) : a.offset < b.offset;
  };
  if (!std::is_sorted(pieces.begin(), pieces.end(), before)) {
    std::sort(pieces.begin(), pieces.end(), before);
  }
  // All are of one size, so what two of them share lies in those between as well: neighbours tell.
  for (size_t i = 1; i < pieces.size(); ++i) {
    const LanePiece &low = pieces[i - 1], &high = pieces[i];
    uint64_t distance = high.offset - low.offset;
    if (low.region == high.region && distance < bytes &&
        std::memcmp(data(low.index) + distance, data(high.index), bytes - distance) != 0) {
      return true;
    }
  }
  return false;
}

} // namespace tile_emu
