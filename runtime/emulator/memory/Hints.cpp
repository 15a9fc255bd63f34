// Instructions that concern caches only: prefetch, prefetchu, applypriority, discard, createpolicy.
// They are checked, and do nothing but what discard says of the bytes.
#include "Decoding.h"

namespace tile_emu {

namespace {

constexpr unsigned kLineBytes = 128, kTensorMapBytes = 128, kTensorMapAlign = 64;

Outcome nothing(Step &) { return Outcome::Next; }

/// The whole line at `[a]`, which the instruction states the size of.
Decoder::AddressRows takeLine(Decoder &decoder, Target target) {
  if (target.space != ptx::Space::Generic && target.space != ptx::Space::Global) {
    decoder.unsupported("a space other than `.global`");
  }
  Decoder::AddressRows address = decoder.address(0);
  if (decoder.immediate(1) != kLineBytes) {
    decoder.unsupported("a size other than 128");
  }
  return address;
}

} // namespace

Execute decodePrefetch(Decoder &decoder) {
  Target target = takeTarget(decoder);
  Decoder::AddressRows address = decoder.address(0);
  if (!decoder.take("tensormap")) {
    // Lines that do not exist are not fetched; that is no error.
    if (!decoder.takeOneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"})) {
      decoder.unsupported("the cache level is missing");
    }
    return nothing;
  }
  return [target, address](Step &step) {
    step.forLanes([&](unsigned lane) {
      step.resolve(target.space, step.get(address.base, lane) + uint64_t(address.offset),
                   kTensorMapBytes, kTensorMapAlign, lane);
    });
    return Outcome::Next;
  };
}

Execute decodePrefetchu(Decoder &decoder) {
  decoder.expect("L1");
  decoder.address(0);
  return nothing;
}

Execute decodeApplypriority(Decoder &decoder) {
  Target target = takeTarget(decoder);
  decoder.expect("L2::evict_normal");
  Decoder::AddressRows address = takeLine(decoder, target);
  return [target, address](Step &step) {
    step.forLanes([&](unsigned lane) {
      step.resolve(target.space, step.get(address.base, lane) + uint64_t(address.offset),
                   kLineBytes, kLineBytes, lane);
    });
    return Outcome::Next;
  };
}

Execute decodeDiscard(Decoder &decoder) {
  Target target = takeTarget(decoder);
  decoder.expect("L2");
  Decoder::AddressRows address = takeLine(decoder, target);
  return [target, address](Step &step) {
    LaneRanges ranges = resolveLanes(step, target, address, kLineBytes);
    step.forLanes([&](unsigned lane) { step.checkWritable(ranges.of(lane), lane); });
    checkAccess(step, ranges, Access::Write, {}, 1);
    step.forLanes([&](unsigned lane) { Checker::setDefined(ranges.of(lane), false); });
    return Outcome::Next;
  };
}

/// The value of a policy is opaque; nothing looks at it.
Execute decodeCreatepolicy(Decoder &decoder) {
  std::optional<unsigned> kind = decoder.takeOneOf({"fractional", "range", "cvt"});
  if (!kind) {
    decoder.unsupported("`.fractional`, `.range` or `.cvt` is missing");
  }
  Row result = decoder.destination(0, ptx::Type::B64);
  if (*kind == 2) {
    decoder.expect("L2");
    decoder.source(1, ptx::Type::B64);
  } else {
    Target target = *kind == 1 ? takeTarget(decoder) : Target{};
    if (target.space != ptx::Space::Generic && target.space != ptx::Space::Global) {
      decoder.unsupported("a space other than `.global`");
    }
    if (!decoder.takeOneOf(
            {"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"})) {
      decoder.unsupported("the primary priority is missing");
    }
    decoder.takeOneOf({"L2::evict_first", "L2::evict_unchanged"});
    if (*kind == 1) {
      decoder.address(1);
      decoder.source(2, ptx::Type::U32);
      decoder.source(3, ptx::Type::U32);
    } else if (decoder.numOperands() > 1) {
      decoder.source(1, ptx::Type::F32);
    }
  }
  decoder.expect("b64");
  return [result](Step &step) {
    step.forLanes([&](unsigned lane) { step.set(result, lane, 0); });
    return Outcome::Next;
  };
}

} // namespace tile_emu
