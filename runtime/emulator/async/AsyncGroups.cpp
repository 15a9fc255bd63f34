#include "Barriers.h"

#include <algorithm>

namespace tile_emu {

void AsyncGroups::start() {
  if (outstanding.empty()) {
    outstanding.push_back(0);
  }
  ++outstanding.back();
}

Step32 AsyncGroups::mark() {
  Step32 ended = open();
  if (outstanding.empty()) {
    ++first;
    return ended;
  }
  outstanding.push_back(0);
  auto busy = std::find_if(outstanding.begin(), outstanding.end() - 1,
                           [](uint32_t operations) { return operations != 0; });
  first += Step32(busy - outstanding.begin());
  outstanding.erase(outstanding.begin(), busy);
  return ended;
}

void AsyncGroups::commit() {
  // Nobody waits for all but thousands of groups.
  constexpr size_t kRemembered = 8192;
  if (groups.size() == kRemembered) {
    groups.erase(groups.begin(), groups.begin() + kRemembered / 2);
  }
  groups.push_back(mark());
}

Step32 AsyncGroups::segmentBefore(uint64_t pending) const {
  return groups.size() > pending ? groups[groups.size() - 1 - pending] : waited;
}

bool AsyncGroups::done(Step32 segment) const {
  for (Step32 s = first; s <= segment && s - first < outstanding.size(); ++s) {
    if (outstanding[s - first]) {
      return false;
    }
  }
  return true;
}

void AsyncGroups::forget(Step32 segment) {
  groups.erase(groups.begin(), std::upper_bound(groups.begin(), groups.end(), segment));
  waited = std::max(waited, segment);
}

} // namespace tile_emu
