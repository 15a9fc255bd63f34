// Calls that have been planned and checked once: the next one with the same key needs no more than its
// addresses put in.
#pragma once

#include "CallKey.h"
#include "Driver.h"
#include "Plan.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace tile_rt {

/// What is known of one launch of a prepared call, from its first execution on.
struct LaunchState {
  std::atomic<bool> ready = false; ///< function, values and maps are there
  std::mutex mutex;                ///< guards what follows, but for readers once `ready` is set
  cu::Function function = nullptr;
  std::vector<uint64_t> values; ///< of parameters; those that a call sets hold nothing
  /// Tensor maps as they were encoded last, and for which addresses. The mutex guards them always.
  std::vector<uint64_t> bases;
  std::vector<cu::TensorMapBytes> maps;
};

/// A planned call of a kernel. Threads may share one.
struct PreparedCall {
  PreparedCall(const Kernel &kernel, const Env &env, LaunchPlan plan);

  /// Whether the plan holds for arguments with the key of this call at their addresses: tensors that
  /// must lie apart do so, or lie to each other as they did.
  bool takes(const tile_arg *args) const;
  /// A tensor that the workspace of such a call would overlap, begun here; null if it lies apart from all.
  const Argument *overlapped(const tile_arg *args, uint64_t workspace) const;
  /// How far a tensor lies from where it was when the call was planned.
  uint64_t moved(unsigned argument, const tile_arg *args) const {
    return reinterpret_cast<uint64_t>(args[argument].data) - addresses[argument];
  }

  const Kernel &kernel;
  const LaunchPlan plan;
  const std::vector<uint64_t> addresses;         ///< by argument, as planned; 0 for scalars
  const std::unique_ptr<LaunchState[]> launches; ///< by step of the plan
  std::vector<uint64_t> key;                     ///< empty: it has none, and is not kept

private:
  std::vector<ByteRange> touched; ///< by argument, counted from its address; empty without elements
  std::vector<std::pair<unsigned, unsigned>> pairs; ///< of tensors of which one is written
};

/// The calls of a kernel, under one filter, that were prepared last. Threads may share it.
class PreparedCalls {
public:
  /// Null if there is none of this key.
  std::shared_ptr<PreparedCall> find(const CallKey &key) const;
  /// Keeps it in place of the one with the same key, or of the oldest.
  void add(const CallKey &key, std::shared_ptr<PreparedCall> call);
  void clear();

private:
  static constexpr size_t kKept = 64;
  mutable std::mutex mutex; ///< guards the others
  std::array<uint64_t, kKept> hashes{};
  std::array<std::shared_ptr<PreparedCall>, kKept> calls;
  size_t size = 0, next = 0;
};

} // namespace tile_rt
