// Numbers for the places in kernels that device code names: those of a variant count from a base,
// which its launches are told. They stay known when their pack is gone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tile_rt {

/// The place with this number; null if there is none.
template <class Place>
const Place *findPlace(const std::vector<Place> &places, uint32_t number) {
  auto found = std::find_if(places.begin(), places.end(),
                            [&](const Place &place) { return place.number == number; });
  return found == places.end() ? nullptr : &*found;
}

/// `keyOf(places)` is one string for each list of places that differs.
template <class Place>
class PlaceNumbers {
public:
  /// The number from which those of `places` count.
  uint32_t add(const std::vector<Place> &places) {
    auto [entry, isNew] = bases.try_emplace(keyOf(places), next);
    if (isNew) {
      known[next] = places;
      ++next;
      for (const Place &place : places) {
        next = std::max(next, entry->second + place.number + 1);
      }
    }
    return entry->second;
  }

  /// The place with this number; null if nobody knows it.
  const Place *find(uint32_t number) const {
    auto after = known.upper_bound(number);
    if (after == known.begin()) {
      return nullptr;
    }
    --after;
    return findPlace(after->second, number - after->first);
  }

private:
  std::map<uint32_t, std::vector<Place>> known; ///< by the number that they count from
  std::map<std::string, uint32_t> bases;        ///< by the places' texts
  uint32_t next = 0;
};

} // namespace tile_rt
