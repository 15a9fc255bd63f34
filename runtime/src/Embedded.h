// Packs that lie in the memory of the program, as `tilec --emit=obj` puts them there.
#pragma once

#include "../include/tile/pack_format.h"
#include "../include/tile/tile.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace tile_rt {

/// The embedded packs that a context has loaded. They are known by their digest, not by their address:
/// a library may be unloaded, and another one come to lie in its place.
///
/// find() takes no lock once a pack is loaded: it reads a hash table that only grows. Where it is full
/// a larger one takes its place, and the smaller one is kept for those that still read it.
class EmbeddedPacks {
public:
  EmbeddedPacks();
  ~EmbeddedPacks();
  EmbeddedPacks(const EmbeddedPacks &) = delete;

  /// The pack behind this header, loaded in `context` if it was not. Throws Error.
  tile_pack &find(tile_context *context, const tile_embedded_header &header);
  /// Destroys the packs. No other thread may be using them.
  void clear();

private:
  using Digest = std::array<uint64_t, sizeof(tile_embedded_header::digest) / sizeof(uint64_t)>;
  struct Entry;
  struct Table {
    explicit Table(size_t size) : slots(size) {}
    std::vector<std::atomic<const Entry *>> slots; ///< a power of two; more than half are null
  };

  static tile_pack *lookUp(const Table *table, const Digest &digest);
  static void insert(Table &table, const Entry &entry);

  std::atomic<const Table *> current = nullptr;
  std::mutex mutex; ///< guards the two below, and is held while a pack is loaded
  std::vector<std::unique_ptr<Entry>> entries;
  std::vector<std::unique_ptr<Table>> tables; ///< the last one is `current`
};

} // namespace tile_rt
