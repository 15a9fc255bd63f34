// fence and membar: PTX ISA, "membar, fence".
#include "../memory/Decoding.h"
#include "Async.h"
#include "MBarrier.h"
#include "Shared.h"

namespace tile_emu {

using Fence = Checker::Fence;

static Execute orderMemory(Scope scope, Fence kind = Fence::Both) {
  return [scope, kind](Step &step) {
    step.machine.checker.fence(lanesOf(step), scope, kind);
    return Outcome::Next;
  };
}

static Outcome nothing(Step &) { return Outcome::Next; }

/// The threads' mbarriers are ready for the copy engine and for peers.
static void announceInits(Step &step) {
  step.forLanes([&](unsigned lane) { announceMBarriers(step.block, step.thread(lane)); });
}

static Outcome fenceInits(Step &step) {
  announceInits(step);
  step.machine.checker.fence(lanesOf(step), Scope::Cluster, Fence::Release);
  return Outcome::Next;
}

static Execute fenceProxies(std::optional<FencedSpace> only) {
  return [only](Step &step) {
    if (only != FencedSpace::Global) {
      announceInits(step);
    }
    step.machine.checker.proxyFence(lanesOf(step), only);
    return Outcome::Next;
  };
}

static Scope expectScope(Decoder &d) {
  std::optional<Scope> scope = takeScope(d);
  if (!scope) {
    d.unsupported(d.atEnd() ? "the scope is missing" : "scope `." + std::string(d.peek()) + "`");
  }
  return *scope;
}

/// fence.proxy.tensormap::generic: maps are changed by nothing that the emulator executes, so only
/// their place is checked.
static Execute decodeTensorMapFence(Decoder &d) {
  if (d.take("release")) {
    return orderMemory(expectScope(d));
  }
  d.expect("acquire");
  Scope scope = expectScope(d);
  Decoder::AddressRows map = d.address(0);
  if (d.immediate(1) != 128) {
    d.invalid("the size must be 128");
  }
  return [map, scope](Step &step) {
    step.forLanes([&](unsigned lane) {
      step.resolve(ptx::Space::Generic, addressOf(step, map, lane), 128, 128, lane);
    });
    step.machine.checker.fence(lanesOf(step), scope);
    return Outcome::Next;
  };
}

/// After fence.proxy and membar.proxy.
static Execute decodeProxyFence(Decoder &d) {
  if (d.take("alias")) {
    return nothing; // no two addresses of the emulator mean the same bytes but by space
  }
  if (d.take("async")) {
    if (d.take("global")) {
      return fenceProxies(FencedSpace::Global);
    }
    bool shared = d.takeOneOf({"shared::cta", "shared::cluster"}).has_value();
    return fenceProxies(shared ? std::optional(FencedSpace::Shared) : std::nullopt);
  }
  if (d.take("tensormap::generic")) {
    return decodeTensorMapFence(d);
  }
  if (d.take("async::generic")) {
    bool acquires = d.take("acquire");
    if (!acquires) {
      d.expect("release");
    }
    d.expect(acquires ? "sync_restrict::shared::cluster" : "sync_restrict::shared::cta");
    d.expect("cluster");
    return fenceProxies(FencedSpace::Shared);
  }
  d.unsupported("proxy `." + std::string(d.peek()) + "`");
}

Execute decodeFence(Decoder &d) {
  if (d.take("proxy")) {
    return decodeProxyFence(d);
  }
  if (d.take("mbarrier_init")) {
    d.expect("release");
    d.expect("cluster");
    return fenceInits;
  }
  Fence kind = Fence::Both;
  if (std::optional<unsigned> order = d.takeOneOf({"acquire", "release"})) {
    kind = *order == 0 ? Fence::Acquire : Fence::Release;
    bool restricted =
        d.take(*order == 0 ? "sync_restrict::shared::cluster" : "sync_restrict::shared::cta");
    if (restricted) {
      d.expect("cluster");
      return orderMemory(Scope::Cluster, kind);
    }
  } else {
    d.takeOneOf({"sc", "acq_rel"});
  }
  return orderMemory(expectScope(d), kind);
}

Execute decodeMembar(Decoder &d) {
  if (d.take("proxy")) {
    return decodeProxyFence(d);
  }
  std::optional<unsigned> level = d.takeOneOf({"cta", "gl", "sys"});
  if (!level) {
    d.unsupported("level `." + std::string(d.peek()) + "`");
  }
  return orderMemory(*level == 0 ? Scope::Cta : Scope::Gpu);
}

} // namespace tile_emu
