#include "Shadow.h"

#include <algorithm>

namespace tile_emu {

Shadow::Shadow(uint64_t bytes, bool defined)
    : pages((bytes + kGranuleBytes * kGranulesPerPage - 1) / (kGranuleBytes * kGranulesPerPage)),
      size(bytes), allDefined(defined) {
  if (!defined) {
    definedBits.resize((bytes + 63) / 64);
  }
}

namespace {

/// Calls `f(index of word, bits)` for the words of a bitmap that a range of bits touches, until it
/// returns false; whether all returned true.
template <typename F>
bool allWords(uint64_t first, uint64_t count, F &&f) {
  uint64_t end = first + count;
  while (first < end) {
    unsigned bit = first % 64;
    uint64_t n = std::min<uint64_t>(64 - bit, end - first);
    uint64_t bits = (n == 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1) << bit;
    if (!f(first / 64, bits)) {
      return false;
    }
    first += n;
  }
  return true;
}

} // namespace

bool Shadow::isDefined(uint64_t offset, uint64_t bytes) const {
  return allDefined || allWords(offset, bytes, [&](uint64_t word, uint64_t bits) {
           return (definedBits[word] & bits) == bits;
         });
}

void Shadow::setDefined(uint64_t offset, uint64_t bytes, bool defined) {
  if (allDefined == defined && defined) {
    return;
  }
  if (defined && bytes == size) {
    allDefined = true;
    definedBits = {};
    return;
  }
  if (allDefined) {
    definedBits.assign((size + 63) / 64, ~uint64_t(0));
    allDefined = false;
  }
  allWords(offset, bytes, [&](uint64_t word, uint64_t bits) {
    definedBits[word] = defined ? definedBits[word] | bits : definedBits[word] & ~bits;
    return true;
  });
}

void Shadow::add(Granule &granule, const AccessRecord &record) {
  for (AccessRecord &other : records(granule)) {
    if (other.sameAccess(record)) {
      other.bytes |= record.bytes;
      return;
    }
  }
  if (granule.outside) {
    lists[granule.outside - 1].push_back(record);
    return;
  }
  if (granule.count < granule.inside.size()) {
    granule.inside[granule.count++] = record;
    return;
  }
  if (freeLists.empty()) {
    lists.emplace_back();
    freeLists.push_back(uint32_t(lists.size()));
  }
  granule.outside = freeLists.back();
  freeLists.pop_back();
  std::vector<AccessRecord> &list = lists[granule.outside - 1];
  list.assign(granule.inside.begin(), granule.inside.end());
  list.push_back(record);
}

void Shadow::dropEmpty(Granule &granule) {
  auto isEmpty = [](const AccessRecord &record) { return record.bytes == 0; };
  if (!granule.outside) {
    auto end = granule.inside.begin() + granule.count;
    granule.count =
        uint32_t(std::remove_if(granule.inside.begin(), end, isEmpty) - granule.inside.begin());
    return;
  }
  std::vector<AccessRecord> &list = lists[granule.outside - 1];
  std::erase_if(list, isEmpty);
  if (list.size() <= granule.inside.size()) {
    std::copy(list.begin(), list.end(), granule.inside.begin());
    granule.count = uint32_t(list.size());
    list.clear();
    freeLists.push_back(granule.outside);
    granule.outside = 0;
  }
}

void Shadow::assignTo(AgentId launch) {
  locations.clear(); // of agents whose numbers are given out anew
  for (std::unique_ptr<Page> &page : pages) {
    for (size_t i = 0; page && i < page->size(); ++i) {
      Granule &granule = (*page)[i];
      granule.nonCoherent = 0; // who writes there has waited, or is reported
      std::span<AccessRecord> all = records(granule);
      for (size_t k = 0; k < all.size(); ++k) {
        AccessRecord &record = all[k];
        if (pageOf(firstAgent(record)) != 0) { // `agent` itself may be a number before its threads
          record.agent = launch;
          record.step = 1;
          record.lanes = 0;
          record.shift = AccessRecord::kByOne;
          record.flags &= uint8_t(~AccessRecord::kAsync);
        }
        auto like =
            std::find_if(all.begin(), all.begin() + ptrdiff_t(k), [&](const AccessRecord &other) {
              return other.bytes && other.agent == record.agent && other.flags == record.flags;
            });
        if (like != all.begin() + ptrdiff_t(k)) { // one instruction stands for all
          like->bytes |= record.bytes;
          record.bytes = 0;
        }
      }
      dropEmpty(granule);
    }
  }
}

void Shadow::forget() {
  for (std::unique_ptr<Page> &page : pages) {
    page.reset();
  }
  lists.clear();
  freeLists.clear();
  locations.clear();
}

} // namespace tile_emu
