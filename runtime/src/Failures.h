// What kernels built with --check find: the record that device code writes (pack_format.h), and the
// places that it names.
#pragma once

#include "../include/tile/pack_format.h"
#include "Driver.h"
#include "Manifest.h"
#include "PlaceNumbers.h"

#include <atomic>
#include <mutex>

namespace tile_rt {

/// `file:line:column: error: ...`, as the cpu target says it, then block and thread. `place` is
/// null where a record names a place that nobody knows.
std::string describeFailure(const tile_failure_record &record, const CheckPlace *place);

/// One string for each list of places that differs.
std::string keyOf(const std::vector<CheckPlace> &places);

/// The record of a context, in host memory that the device sees, and the places of all kernels that
/// have been launched there: a failure may be read when their pack is gone.
class Failures {
public:
  /// The context must live until close().
  void open(const Driver &driver, cu::Context context);
  void close();

  /// Of the record on the device; allocated by the first call, for which the context must be
  /// current.
  uint64_t address();
  /// The number from which the numbers of `list` count in a record.
  uint32_t add(const std::vector<CheckPlace> &list);
  /// Throws TILE_ERROR_CHECK if a failure is recorded, and makes room for the next. Never waits.
  void check();

private:
  const Driver *driver = nullptr;
  cu::Context context = nullptr;
  std::atomic<bool> isOpen = false; ///< there is a record
  std::mutex mutex;                 ///< guards all below
  tile_failure_record *record = nullptr;
  uint64_t deviceAddress = 0;
  PlaceNumbers<CheckPlace> places;
};

} // namespace tile_rt
