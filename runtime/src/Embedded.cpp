#include "Embedded.h"

#include "../support/Floats.h"
#include "Device.h"
#include "Guarded.h"

#include <cstring>
#include <string>

namespace tile_rt {

struct EmbeddedPacks::Entry {
  Digest digest;
  std::unique_ptr<tile_pack> pack;
};

EmbeddedPacks::EmbeddedPacks() = default;
EmbeddedPacks::~EmbeddedPacks() { clear(); }

void EmbeddedPacks::clear() {
  current = nullptr;
  tables.clear();
  entries.clear();
}

tile_pack *EmbeddedPacks::lookUp(const Table *table, const Digest &digest) {
  if (!table) {
    return nullptr;
  }
  const size_t mask = table->slots.size() - 1;
  for (size_t place = digest[0] & mask;;
       place = (place + 1) & mask) { // its bits are as good as random
    const Entry *entry = table->slots[place].load(std::memory_order_acquire);
    if (!entry) {
      return nullptr;
    }
    if (entry->digest == digest) {
      return entry->pack.get();
    }
  }
}

void EmbeddedPacks::insert(Table &table, const Entry &entry) {
  const size_t mask = table.slots.size() - 1;
  size_t place = entry.digest[0] & mask;
  while (table.slots[place].load(std::memory_order_relaxed)) {
    place = (place + 1) & mask;
  }
  table.slots[place].store(&entry, std::memory_order_release);
}

static void checkHeader(const tile_embedded_header &header) {
  if (std::memcmp(header.magic, TILE_EMBEDDED_MAGIC, TILE_EMBEDDED_MAGIC_BYTES) != 0) {
    throw Error(TILE_ERROR_PACK, "no embedded pack is at this address");
  }
  if (header.version != TILE_EMBEDDED_VERSION) {
    throw Error(TILE_ERROR_PACK, "the embedded pack has version " + std::to_string(header.version) +
                                     ", this runtime reads version " +
                                     std::to_string(TILE_EMBEDDED_VERSION));
  }
}

tile_pack &EmbeddedPacks::find(tile_context *context, const tile_embedded_header &header) {
  Digest digest;
  std::memcpy(digest.data(), header.digest, sizeof(digest));
  if (tile_pack *known = lookUp(current.load(std::memory_order_acquire), digest)) {
    return *known;
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (tile_pack *known = lookUp(current.load(std::memory_order_relaxed), digest)) {
    return *known; // another thread was first
  }
  checkHeader(header);
  const char *bytes = reinterpret_cast<const char *>(&header + 1);
  auto entry = std::make_unique<Entry>();
  entry->digest = digest;
  entry->pack = std::make_unique<tile_pack>(context, std::string(bytes, header.pack_bytes));
  entries.push_back(std::move(entry));
  if (tables.empty() || 2 * entries.size() > tables.back()->slots.size()) {
    tables.push_back(std::make_unique<Table>(tables.empty() ? 8 : 2 * tables.back()->slots.size()));
    for (const std::unique_ptr<Entry> &one : entries) {
      insert(*tables.back(), *one);
    }
    current.store(tables.back().get(), std::memory_order_release);
  } else {
    insert(*tables.back(), *entries.back());
  }
  return *entries.back()->pack;
}

} // namespace tile_rt

using namespace tile_rt;

tile_status tile_embedded_kernel(tile_context *context, const void *embedded, size_t index,
                                 tile_kernel **kernel) {
  return guarded([&] {
    if (!context) {
      failCall("null", "the context is null");
    }
    tile_pack &pack =
        context->embedded.find(context, *static_cast<const tile_embedded_header *>(embedded));
    if (index >= pack.kernels.size()) {
      throw Error(TILE_ERROR_NOT_FOUND,
                  "the embedded pack has no kernel number " + std::to_string(index));
    }
    *kernel = &pack.kernels[index];
  });
}

uint64_t tile_scalar_bits(int32_t dtype, double value) {
  const bool isFloat =
      dtype >= 0 && dtype < kNumDTypes && dtypeKind(static_cast<DType>(dtype)) == ValueKind::Float;
  return isFloat ? encodeFloat(static_cast<DType>(dtype), value) : 0;
}
