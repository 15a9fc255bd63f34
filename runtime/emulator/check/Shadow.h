// What the checker knows about the bytes of a region: which are defined, and who accessed them
// last.
#pragma once

#include "Clocks.h"

#include <array>
#include <bit>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>

namespace tile_emu {

/// Bytes of memory with a common list of accesses.
constexpr unsigned kGranuleBytes = 16;
constexpr uint16_t kWholeGranule = 0xffff;

/// An access to some bytes of a granule: by one agent, by consecutive threads of a warp to
/// consecutive parts, or by several threads of a warp to all the bytes.
struct AccessRecord {
  static constexpr uint8_t kWrite = 1, kAsync = 2, kAtomic = 4, kUnchanged = 8;
  static constexpr uint8_t kNonCoherent = 16, kWidths = 5;
  static constexpr uint8_t kByOne = 4, kByEach = 0xff; ///< values of `shift`

  AgentId agent = 0;
  Step32 step = 0;
  uint32_t lanes = 0; ///< kByEach: threads agent + i. Accesses of channels: the issuing thread
  uint32_t instruction = 0; ///< number given by the checker
  uint16_t bytes = 0;       ///< bit i: byte i of the granule
  uint8_t shift = kByOne;   ///< byte i is of agent + (i >> shift), or kByEach
  /// Below four bits as above. Above, of an atomic access, its width and scope; of others whether
  /// it is non-coherent.
  uint8_t flags = 0;

  bool writes() const { return flags & kWrite; }
  bool isAsync() const { return flags & kAsync; }
  bool isAtomic() const { return flags & kAtomic; }
  bool changes() const { return !(flags & kUnchanged); }
  bool isNonCoherent() const { return !isAtomic() && (flags & kNonCoherent); }
  /// Of atomic accesses: `width` bytes, at most 16; `scope` below 3.
  void setStrong(unsigned width, unsigned scope) {
    flags |= uint8_t((unsigned(std::bit_width(width)) - 1 + kWidths * scope) << 4);
  }
  unsigned width() const { return 1u << (flags >> 4) % kWidths; }
  unsigned scope() const { return unsigned(flags >> 4) / kWidths; }
  /// The same but for the bytes.
  bool sameAccess(const AccessRecord &other) const {
    return agent == other.agent && step == other.step && lanes == other.lanes &&
           shift == other.shift && flags == other.flags && instruction == other.instruction;
  }
};

/// One of the agents of a record.
inline AgentId firstAgent(const AccessRecord &record) {
  bool each = record.shift == AccessRecord::kByEach;
  return record.agent + (each ? unsigned(std::countr_zero(record.lanes))
                              : unsigned(std::countr_zero(unsigned(record.bytes))) >> record.shift);
}

/// Calls `f(agent, its bytes)` for the agents of a record that touched some of `bytes`, until it
/// returns false; whether all returned true.
template <typename F>
bool allAgents(const AccessRecord &record, uint16_t bytes, F &&f) {
  if (record.shift == AccessRecord::kByEach) {
    for (uint32_t m = record.lanes; m; m &= m - 1) {
      if (!f(AgentId(record.agent + unsigned(std::countr_zero(m))), bytes)) {
        return false;
      }
    }
    return true;
  }
  for (uint32_t rest = bytes; rest;) {
    unsigned part = unsigned(std::countr_zero(rest)) >> record.shift;
    uint32_t own = ((1u << (1u << record.shift)) - 1) << (part << record.shift) & bytes;
    if (!f(AgentId(record.agent + part), uint16_t(own))) {
      return false;
    }
    rest &= ~own;
  }
  return true;
}

class Shadow {
public:
  Shadow(uint64_t bytes, bool defined);

  bool isDefined(uint64_t offset, uint64_t bytes) const;
  void setDefined(uint64_t offset, uint64_t bytes, bool defined);

  /// Accesses: for each granule those that later ones must be compared with.
  struct Granule {
    std::array<AccessRecord, 2> inside;
    uint32_t count = 0;   ///< of `inside`
    uint32_t outside = 0; ///< 1 + index into the longer lists, then `inside` is unused
    /// Bytes written in this launch or one that it overlaps, and read so in this one.
    uint16_t written = 0, nonCoherent = 0;
  };
  Granule &granule(uint64_t index) {
    std::unique_ptr<Page> &page = pages[index / kGranulesPerPage];
    if (!page) {
      page = std::make_unique<Page>();
    }
    return (*page)[index % kGranulesPerPage];
  }
  std::span<AccessRecord> records(Granule &granule) {
    return granule.outside ? std::span(lists[granule.outside - 1])
                           : std::span(granule.inside).first(granule.count);
  }
  void add(Granule &granule, const AccessRecord &record);
  /// Drops those without bytes.
  void dropEmpty(Granule &granule);
  /// Forgets accesses and atomic locations.
  void forget();
  /// A launch of those accesses that are of no earlier one becomes one agent (below kAgentPageSize), all it did its step 1.
  void assignTo(AgentId launch);

  /// Accesses of another era count as forgotten.
  uint64_t era = 0;
  /// What atomic operations on a word of 4 bytes release: to everybody, to the cluster, to the
  /// block of the one that releases. Each includes the ones before, as far as they come from there.
  struct Location {
    SyncPoint all;
    std::map<uint32_t, SyncPoint> clusters, blocks;
  };
  std::unordered_map<uint64_t, Location> locations; ///< by number of the word

private:
  static constexpr uint64_t kGranulesPerPage = 256;
  using Page = std::array<Granule, kGranulesPerPage>;
  std::vector<std::unique_ptr<Page>> pages; ///< made on first access
  std::vector<std::vector<AccessRecord>> lists;
  std::vector<uint32_t> freeLists;

  uint64_t size;
  bool allDefined;
  std::vector<uint64_t> definedBits; ///< empty while allDefined
};

} // namespace tile_emu
