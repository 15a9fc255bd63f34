// An argument of a call on both sides: the host's array and the executor's memory.
#pragma once

#include "runtime/harness/Compare.h"
#include "runtime/harness/Pitch.h"
#include "runtime/src/Manifest.h"
#include "tools/tile-run/Executor.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tile_run {

/// A tensor or scalar of the call, on both sides.
struct Slot {
  const tile_rt::Argument *argument = nullptr;
  bool absent = false, fromFile = false;
  bool poisoned = false; ///< holds nothing before the run
  tile_rt::Array host;   ///< as before the run; a scalar has an empty shape
  /// The number of the slot whose tensor this is too: `same(X)`.
  std::optional<size_t> same;
  std::optional<int64_t> pitch; ///< elements from row to row, if given
  std::vector<int64_t> strides; ///< with a pitch
  std::shared_ptr<Buffer> device;

  /// What lies between rows.
  std::byte gap() const { return poisoned ? tile_rt::kPoison : tile_rt::kGuard; }
  /// The bytes of its memory before a run.
  std::vector<std::byte> memory() const {
    return pitch ? tile_rt::spreadRows(host, *pitch, gap()) : host.data;
  }
};

/// Gives tensors the pitches of `--pitch`; one that is another tensor too has that one's. Throws
/// UsageError.
void setPitches(std::vector<Slot> &slots, const std::map<std::string, int64_t> &pitches);

} // namespace tile_run
