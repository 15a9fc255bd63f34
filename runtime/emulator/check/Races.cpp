// Accesses compared with earlier ones to the same bytes.
#include "CheckerState.h"
#include "Coalescer.h"

#include <algorithm>

namespace tile_emu {

namespace {

/// Of a granule, at most so many accesses are kept that nothing orders; more readers take the place
/// of others. Less for global memory, which all blocks read.
constexpr size_t kMostInShared = 96, kMostInGlobal = 8;

/// A clock that is asked for agents of mostly one page.
class ClockView {
public:
  void look(const Clock &other) {
    clock = &other;
    number = ~AgentId(0);
  }
  Step32 of(AgentId agent) {
    if (pageOf(agent) != number) {
      number = pageOf(agent);
      steps = clock->page(number);
    }
    return inPage(agent) < steps.size() ? steps[inPage(agent)] : 0;
  }

private:
  const Clock *clock = nullptr;
  AgentId number = ~AgentId(0);
  std::span<const Step32> steps;
};

enum class Verdict : uint8_t { Ordered, Race, FenceMissing, NonCoherent };

/// One access, of a channel or of lanes of a warp, and what its agents know.
class Accessor {
public:
  Accessor(Checker::State &state, Region &region, Shadow &shadow)
      : state(state), region(region), shadow(shadow) {}

  /// Of a warp: the clocks by lane.
  void knows(WarpLanes lanes, const std::array<Clock, 32> &happened);
  /// Of a channel.
  void knows(const AsyncOp &op);
  bool strict = false; ///< Checker::strictProxyReads
  bool apart = false;  ///< AccessFlags::apart

  /// `piece` lies in one granule.
  void access(uint64_t granule, const AccessRecord &piece);

private:
  bool supersedes(const AccessRecord &piece, const AccessRecord &earlier, uint16_t overlap);
  Verdict compare(const AccessRecord &piece, const AccessRecord &earlier, uint16_t overlap);
  bool happenedBefore(const AccessRecord &piece, const AccessRecord &earlier, uint16_t overlap);
  bool implies(const AccessRecord &piece, const AccessRecord &earlier, uint16_t overlap);
  bool laneKnows(AgentId lane, AgentId agent, Step32 step) const;
  bool fencedBefore(const AccessRecord &earlier, uint16_t overlap);
  bool sameExecution(const AccessRecord &piece, const AccessRecord &earlier) const;
  void report(Verdict verdict, uint64_t granule, const AccessRecord &piece,
              const AccessRecord &earlier, uint16_t overlap);
  bool morallyStrong(const AccessRecord &piece, const AccessRecord &earlier) const;
  void checkCoherence(Shadow::Granule &granule, uint64_t index, const AccessRecord &piece);
  void add(Shadow::Granule &granule, const AccessRecord &piece);

  Checker::State &state;
  Region &region;
  Shadow &shadow;
  bool isWarp = false, uniform = true; ///< uniform: all lanes have one clock
  ThreadId first = 0;
  const std::array<Clock, 32> *clocks = nullptr;
  const AsyncOp *issued = nullptr; ///< of a channel
  FencedSpace space = FencedSpace::Global;
  ClockView happened, fenced;
  /// The last pair that was found ordered: ranges are mostly accessed by the same.
  AccessRecord lastEarlier;
  uint16_t lastOverlap = 0;
  // Of the last comparison that failed.
  AgentId earlierAgent = 0, laterAgent = 0;
};

void Accessor::knows(WarpLanes lanes, const std::array<Clock, 32> &byLane) {
  isWarp = true;
  first = lanes.first;
  clocks = &byLane;
  const Clock &clock = byLane[unsigned(std::countr_zero(lanes.mask))];
  forEachLane(lanes.mask, [&](unsigned lane) { uniform &= byLane[lane].sharesWith(clock); });
  happened.look(clock);
}

void Accessor::knows(const AsyncOp &op) {
  issued = &op;
  happened.look(op.before.happened);
  space = region.kind == Region::Kind::Shared ? FencedSpace::Shared : FencedSpace::Global;
  fenced.look(op.before.fenced[space]);
}

/// Whether one of a warp's lanes knows a step of an agent, where not all lanes do.
bool Accessor::laneKnows(AgentId lane, AgentId agent, Step32 step) const {
  return lane == agent || (!uniform && (*clocks)[lane - first].of(agent) >= step);
}

bool Accessor::happenedBefore(const AccessRecord &piece, const AccessRecord &earlier,
                              uint16_t overlap) {
  return allAgents(earlier, overlap, [&](AgentId agent, uint16_t bytes) {
    if (uniform && happened.of(agent) >= earlier.step) {
      return true;
    }
    earlierAgent = agent;
    laterAgent = piece.agent;
    if (issued && issued->isIssuer(agent)) {
      return issued->issued >= earlier.step;
    }
    return isWarp && allAgents(piece, bytes, [&](AgentId later, uint16_t) {
             laterAgent = later;
             return laneKnows(later, agent, earlier.step);
           });
  });
}

/// Does whoever comes after `piece`, all of it, come after the earlier access too?
bool Accessor::implies(const AccessRecord &piece, const AccessRecord &earlier, uint16_t overlap) {
  return allAgents(earlier, overlap, [&](AgentId agent, uint16_t bytes) {
    auto knows = [&](AgentId later, uint16_t) { return laneKnows(later, agent, earlier.step); };
    auto knowsNot = [&](AgentId later, uint16_t) { return !laneKnows(later, agent, earlier.step); };
    if (uniform && happened.of(agent) >= earlier.step) {
      return true;
    }
    return piece.shift == AccessRecord::kByEach ? !allAgents(piece, bytes, knowsNot)
                                                : allAgents(piece, bytes, knows);
  });
}

bool Accessor::fencedBefore(const AccessRecord &earlier, uint16_t overlap) {
  return allAgents(earlier, overlap, [&](AgentId agent, uint16_t) {
    earlierAgent = agent;
    return fenced.of(agent) >= earlier.step ||
           (issued->isIssuer(agent) && issued->issuedFenced[space] >= earlier.step);
  });
}

/// Lanes of a warp that access the same bytes with one instruction.
bool Accessor::sameExecution(const AccessRecord &piece, const AccessRecord &earlier) const {
  if (!isWarp || earlier.isAsync() || earlier.instruction != piece.instruction ||
      earlier.step != piece.step) {
    return false;
  }
  AgentId agent = earlier.agent;
  if (earlier.shift != AccessRecord::kByEach) {
    agent += unsigned(std::countr_zero(earlier.bytes)) >> earlier.shift;
  }
  return (agent & ~31u) == first && state.isThread(agent);
}

Verdict Accessor::compare(const AccessRecord &piece, const AccessRecord &earlier,
                          uint16_t overlap) {
  if (!isWarp && overlap == lastOverlap && earlier.sameAccess(lastEarlier)) {
    return Verdict::Ordered;
  }
  if (!happenedBefore(piece, earlier, overlap)) {
    return Verdict::Race;
  }
  // The one place that says where a proxy fence is needed; see Checker.h.
  bool needsFence =
      piece.isAsync() && !earlier.isAsync() && (earlier.writes() || (strict && piece.writes()));
  if (needsFence && !fencedBefore(earlier, overlap)) {
    laterAgent = piece.agent;
    return Verdict::FenceMissing;
  }
  lastEarlier = earlier;
  lastOverlap = overlap;
  return Verdict::Ordered;
}

/// May the earlier access be forgotten now? If whatever has to come after it and after `piece`
/// comes after it already because it comes after `piece`.
bool Accessor::supersedes(const AccessRecord &piece, const AccessRecord &earlier,
                          uint16_t overlap) {
  if (piece.isAtomic() && !earlier.isAtomic()) {
    return false; // other atomic accesses are compared with the earlier one only
  }
  if (piece.writes() && !piece.isAtomic()) {
    return true; // ordered, or reported
  }
  if (earlier.writes() && !piece.writes()) {
    return false;
  }
  if (!isWarp) { // to know a channel's step is not to know what came before it
    return earlier.agent == piece.agent && earlier.shift == piece.shift &&
           earlier.step <= piece.step && earlier.isAsync() == piece.isAsync();
  }
  return implies(piece, earlier, overlap);
}

void Accessor::access(uint64_t index, const AccessRecord &piece) {
  Shadow::Granule &granule = shadow.granule(index);
  if (region.kind == Region::Kind::Global) {
    checkCoherence(granule, index, piece);
  }
  bool emptied = false;
  for (AccessRecord &earlier : shadow.records(granule)) {
    uint16_t overlap = earlier.bytes & piece.bytes;
    if (!overlap) {
      continue;
    }
    if (!piece.writes() && overlap == piece.bytes && earlier.sameAccess(piece)) {
      break; // nobody has written since, or the earlier read would be gone
    }
    if (piece.writes() && !apart && sameExecution(piece, earlier)) {
      continue; // one of them wins; who comes later must come after both
    }
    if ((piece.writes() || earlier.writes()) && !morallyStrong(piece, earlier)) {
      Verdict verdict = compare(piece, earlier, overlap);
      if (verdict == Verdict::Race && earlier.writes() && !earlier.isAsync() && !piece.changes()) {
        continue; // of the same value; who reads must come after both
      }
      if (verdict != Verdict::Ordered) {
        report(verdict, index, piece, earlier, overlap);
      }
    }
    if (supersedes(piece, earlier, overlap)) {
      earlier.bytes &= uint16_t(~overlap);
      emptied |= earlier.bytes == 0;
    }
  }
  if (emptied) {
    shadow.dropEmpty(granule);
  }
  add(granule, piece);
}

/// PTX ISA, "Morally Strong Operations": both are strong, of scopes that include each other's
/// agents, and overlap completely.
bool Accessor::morallyStrong(const AccessRecord &piece, const AccessRecord &earlier) const {
  return piece.isAtomic() && earlier.isAtomic() && piece.width() == earlier.width() &&
         scopesInclude(state, piece, earlier);
}

/// Memory that is read without coherence is not written, whatever orders the two.
void Accessor::checkCoherence(Shadow::Granule &granule, uint64_t index, const AccessRecord &piece) {
  uint16_t overlap = 0;
  if (piece.writes()) {
    overlap = granule.nonCoherent & piece.bytes;
    granule.written |= piece.bytes;
  } else if (piece.isNonCoherent()) {
    overlap = granule.written & piece.bytes;
    granule.nonCoherent |= piece.bytes;
  }
  if (!overlap) {
    return;
  }
  RaceKey key{0, piece.instruction, piece.flags, uint8_t(Verdict::NonCoherent)};
  auto [it, isNew] = state.reported.try_emplace(key, ReportSink::kDropped);
  if (!isNew) {
    state.sink.repeat(it->second);
    return;
  }
  const AccessRecord *other = nullptr; // if it is still known
  for (const AccessRecord &earlier : shadow.records(granule)) {
    bool isOther = piece.writes() ? earlier.isNonCoherent() : earlier.writes();
    other = isOther && (earlier.bytes & overlap) ? &earlier : other;
  }
  MemoryRange bytes{&region, index * kGranuleBytes + unsigned(std::countr_zero(overlap)), 1};
  it->second = state.sink.add(piece.writes() ? explainNonCoherent(state, bytes, other, &piece)
                                             : explainNonCoherent(state, bytes, &piece, other));
}

void Accessor::add(Shadow::Granule &granule, const AccessRecord &piece) {
  std::span<AccessRecord> records = shadow.records(granule);
  size_t most = region.kind == Region::Kind::Shared ? kMostInShared : kMostInGlobal;
  if (records.size() >= most) {
    for (size_t i = 0; i < records.size(); ++i) {
      AccessRecord &victim = records[((piece.agent >> 5) + i) % records.size()];
      if (!victim.writes() || victim.isAtomic()) {
        victim = piece;
        return;
      }
    }
  }
  shadow.add(granule, piece);
}

void Accessor::report(Verdict verdict, uint64_t granule, const AccessRecord &piece,
                      const AccessRecord &earlier, uint16_t overlap) {
  RaceKey key{earlier.instruction, piece.instruction, uint16_t(earlier.flags << 8 | piece.flags),
              uint8_t(verdict)};
  auto [it, isNew] = state.reported.try_emplace(key, ReportSink::kDropped);
  if (!isNew) {
    state.sink.repeat(it->second);
    return;
  }
  Conflict conflict;
  conflict.earlier = earlier;
  conflict.later = piece;
  conflict.earlierAgent = earlierAgent;
  conflict.laterAgent = laterAgent;
  conflict.fenceMissing = verdict == Verdict::FenceMissing;
  conflict.known = isWarp && !uniform ? (*clocks)[laterAgent - first].of(earlierAgent)
                                      : happened.of(earlierAgent);
  unsigned firstByte = unsigned(std::countr_zero(overlap));
  conflict.bytes = {&region, granule * kGranuleBytes + firstByte,
                    uint64_t(std::countr_one(unsigned(overlap) >> firstByte))};
  it->second = state.sink.add(explain(state, conflict));
}

/// What an access does; who and where is left open.
AccessRecord recordOf(Access access, AccessFlags flags) {
  AccessRecord record;
  record.flags = uint8_t((access == Access::Write ? AccessRecord::kWrite : 0) |
                         (flags.atomic ? AccessRecord::kAtomic : 0) |
                         (flags.unchanged ? AccessRecord::kUnchanged : 0) |
                         (flags.nonCoherent ? AccessRecord::kNonCoherent : 0));
  if (flags.atomic) {
    record.setStrong(flags.width, unsigned(flags.scope));
  }
  return record;
}

} // namespace

void Checker::access(Access access, ThreadId thread, const MemoryRange &range, AccessFlags flags,
                     const ptx::Instruction *instruction) {
  WarpLanes lane = WarpLanes::one(thread);
  std::array<uint64_t, 32> offsets;
  offsets[thread & 31] = range.offset;
  this->access(access, lane, *range.region, offsets.data(), unsigned(range.bytes), flags,
               instruction);
}

void Checker::access(Access access, WarpLanes lanes, Region &region, const uint64_t *offsets,
                     unsigned bytes, AccessFlags flags, const ptx::Instruction *instruction) {
  Shadow *shadow = state->races ? state->shadowOf(region) : nullptr;
  if (!shadow || lanes.mask == 0 || bytes == 0) {
    return;
  }
  if (flags.apart && (lanes.mask & (lanes.mask - 1)) != 0) {
    forEachLane(lanes.mask, [&](unsigned lane) {
      this->access(access, {lanes.first, 1u << lane}, region, offsets, bytes, flags, instruction);
    });
    return;
  }
  WarpState &warp = state->warpOf(lanes.first);
  bool isWrite = access == Access::Write;
  AccessRecord record = recordOf(access, flags);
  record.step = warp.step;
  record.instruction = state->numberOf(instruction);
  Accessor accessor(*state, region, *shadow);
  accessor.apart = flags.apart;
  accessor.knows(lanes, warp.happened);
  Coalescer coalescer(record, lanes.first, bytes);
  auto use = [&](uint64_t granule, const AccessRecord &piece) { accessor.access(granule, piece); };
  forEachLane(lanes.mask, [&](unsigned lane) { coalescer.add(lane, offsets[lane], use); });
  coalescer.flush(use);
  if (isWrite) {
    ++warp.step; // the next store is another execution
  }
}

void Checker::accessRows(Access access, ThreadId first, Region &region,
                         std::span<const MatrixRow> rows, bool consecutive, AccessFlags flags,
                         const ptx::Instruction *instruction) {
  Shadow *shadow = state->races ? state->shadowOf(region) : nullptr;
  if (!shadow) {
    return;
  }
  WarpState &warp = state->warpOf(first);
  AccessRecord record = recordOf(access, flags);
  record.step = warp.step;
  record.instruction = state->numberOf(instruction);
  record.bytes = kWholeGranule;
  record.shift = consecutive ? 2 : AccessRecord::kByEach;
  Accessor accessor(*state, region, *shadow);
  accessor.apart = flags.apart;
  accessor.knows({first, ~0u}, warp.happened);
  for (const MatrixRow &row : rows) {
    record.agent = first + (consecutive ? unsigned(std::countr_zero(row.lanes)) : 0);
    record.lanes = consecutive ? 0 : row.lanes;
    accessor.access(row.offset / kGranuleBytes, record);
  }
  warp.step += access == Access::Write;
}

void Checker::access(Access access, const AsyncOp &op, Proxy proxy, const MemoryRange &range,
                     AccessFlags flags) {
  Shadow *shadow = state->races ? state->shadowOf(*range.region) : nullptr;
  if (!shadow || range.bytes == 0) {
    return;
  }
  AccessRecord record = recordOf(access, flags);
  record.agent = op.channel;
  record.step = op.step;
  record.lanes = op.issuer;
  record.instruction = state->numberOf(op.instruction);
  record.flags |= uint8_t(proxy == Proxy::Async ? AccessRecord::kAsync : 0);
  Accessor accessor(*state, *range.region, *shadow);
  accessor.knows(op);
  accessor.strict = strictProxyReads;
  uint64_t end = range.offset + range.bytes;
  for (uint64_t at = range.offset; at < end;) {
    unsigned start = unsigned(at % kGranuleBytes);
    unsigned count = unsigned(std::min<uint64_t>(kGranuleBytes - start, end - at));
    record.bytes = byteMask(start, count);
    accessor.access(at / kGranuleBytes, record);
    at += count;
  }
}

} // namespace tile_emu
