#include "Region.h"

#include "../check/Shadow.h"

#include <algorithm>
#include <stdexcept>

namespace tile_emu {

Region::Region() = default;
Region::~Region() = default;

Region &GlobalMemory::allocate(uint64_t bytes, std::string name, uint64_t align) {
  if (align == 0 || (align & (align - 1)) != 0) {
    throw std::invalid_argument("alignment of `" + name + "` is no power of two");
  }
  auto region = std::make_unique<Region>();
  region->name = std::move(name);
  region->base = (next + align - 1) & ~(align - 1);
  region->bytes.resize(bytes, kNeverWritten);
  next = region->base + bytes + kGap;
  Region &result = *region;
  regions.emplace(result.base, std::move(region));
  return result;
}

void GlobalMemory::free(uint64_t address) {
  auto it = regions.find(address);
  if (it == regions.end()) {
    throw std::out_of_range("no allocation starts at this address");
  }
  if (last == it->second.get()) {
    last = nullptr;
  }
  regions.erase(it);
}

Region *GlobalMemory::find(uint64_t address) {
  if (last && address - last->base < last->bytes.size()) {
    return last;
  }
  auto it = regions.upper_bound(address);
  if (it == regions.begin()) {
    return nullptr;
  }
  last = std::prev(it)->second.get();
  return last;
}

} // namespace tile_emu
