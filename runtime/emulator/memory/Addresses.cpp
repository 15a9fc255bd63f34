// Generic addresses and addresses in a cluster: cvta, isspacep, mapa, getctarank. PTX ISA, "Generic
// Addressing".
#include "Decoding.h"

#include <algorithm>

namespace tile_emu {

namespace {

constexpr unsigned kRankShift = 24;
constexpr uint64_t kInBlock = (uint64_t(1) << kRankShift) - 1;
/// What mapa gives for a rank that the cluster may not have: compilers compute such addresses ahead
/// of the test that keeps them from being used.
constexpr uint64_t kNoBlock = 0xff;

/// What a generic address has on top of the address in a space.
uint64_t windowOf(ptx::Space space) {
  switch (space) {
  case ptx::Space::Shared:
    return kSharedWindow;
  case ptx::Space::Local:
    return kLocalWindow;
  case ptx::Space::Param:
    return kParamWindow;
  default:
    return 0;
  }
}

bool isInWindow(uint64_t address, ptx::Space space) {
  return address - windowOf(space) < kWindowBytes;
}

Target takeNamedTarget(Decoder &decoder) {
  Target target = takeTarget(decoder);
  if (target.space == ptx::Space::Generic) {
    decoder.unsupported("a state space is missing");
  }
  return target;
}

bool isInSpace(Step &step, Target target, uint64_t address) {
  uint64_t inShared = address - kSharedWindow;
  switch (target.space) {
  case ptx::Space::Shared:
    return inShared < kWindowBytes && (!target.ownBlock || inShared <= kInBlock ||
                                       inShared >> kRankShift == step.block.rank + 1);
  case ptx::Space::Local:
  case ptx::Space::Param:
    return isInWindow(address, target.space);
  default:
    break;
  }
  if (isInWindow(address, ptx::Space::Shared) || isInWindow(address, ptx::Space::Local) ||
      isInWindow(address, ptx::Space::Param)) {
    return false;
  }
  const Region *region = step.machine.global.find(address);
  bool isConst = region && region->kind == Region::Kind::Const &&
                 address - region->base < region->bytes.size();
  return isConst == (target.space == ptx::Space::Const);
}

/// The shared window or the plain address space, as the instruction's operands are.
struct ClusterAddress {
  bool isGeneric;
  Row from;
  uint64_t base() const { return isGeneric ? kSharedWindow : 0; }
  uint64_t get(Step &step, unsigned lane) const {
    uint64_t address = step.get(from, lane) - base();
    if (isGeneric && address >= kWindowBytes) {
      step.fault(Report::Kind::Invalid, "the address is not in shared memory", lane);
    }
    return address;
  }
};

} // namespace

Execute decodeCvta(Decoder &decoder) {
  bool to = decoder.take("to");
  uint64_t window = windowOf(takeNamedTarget(decoder).space);
  ptx::Type type = decoder.takeType();
  if (type != ptx::Type::U64) {
    decoder.unsupported("addresses of 32 bits");
  }
  decoder.op.propagatesUndefined = true;
  Row result = decoder.destination(0, ptx::Type::B64), from = decoder.source(1, ptx::Type::B64);
  uint64_t difference = to ? 0 - window : window;
  return [result, from, difference](Step &step) {
    step.forLanes(
        [&](unsigned lane) { step.set(result, lane, step.get(from, lane) + difference); });
    return Outcome::Next;
  };
}

Execute decodeIsspacep(Decoder &decoder) {
  Target target = takeNamedTarget(decoder);
  Row result = decoder.destination(0, ptx::Type::Pred);
  Row address = decoder.source(1, ptx::Type::B64);
  return [target, result, address](Step &step) {
    step.forLanes([&](unsigned lane) {
      step.set(result, lane, isInSpace(step, target, step.get(address, lane)));
    });
    return Outcome::Next;
  };
}

Execute decodeMapa(Decoder &decoder) {
  ClusterAddress address{.isGeneric = !decoder.take("shared::cluster"), .from = 0};
  ptx::Type type = decoder.takeType();
  if (type != ptx::Type::U64 && (type != ptx::Type::U32 || address.isGeneric)) {
    decoder.unsupported("this type");
  }
  Row result = decoder.destination(0, type);
  address.from = decoder.source(1, type);
  Row rank = decoder.source(2, ptx::Type::U32);
  return [address, result, rank](Step &step) {
    step.forLanes([&](unsigned lane) {
      uint64_t field = std::min(step.get(rank, lane) + 1, kNoBlock);
      uint64_t inBlock = address.get(step, lane) & kInBlock;
      step.set(result, lane, address.base() + (field << kRankShift | inBlock));
    });
    return Outcome::Next;
  };
}

Execute decodeGetctarank(Decoder &decoder) {
  ClusterAddress address{.isGeneric = !decoder.take("shared::cluster"), .from = 0};
  ptx::Type type = decoder.takeType();
  if (type != ptx::Type::U64 && (type != ptx::Type::U32 || address.isGeneric)) {
    decoder.unsupported("this type");
  }
  Row result = decoder.destination(0, ptx::Type::U32);
  address.from = decoder.source(1, type);
  return [address, result](Step &step) {
    step.forLanes([&](unsigned lane) {
      uint64_t rank = address.get(step, lane) >> kRankShift;
      step.set(result, lane, rank == 0 ? step.block.rank : rank - 1);
    });
    return Outcome::Next;
  };
}

} // namespace tile_emu
