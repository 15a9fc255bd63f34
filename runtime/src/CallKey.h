// What a plan depends on in a call, as words to compare: calls with equal keys have plans that differ in
// addresses and copied scalars alone.
#pragma once

#include "Plan.h"

#include <array>

namespace tile_rt {

/// What of a kernel's calls its plans depend on, found in the manifest.
struct KeyRules {
  /// Addresses count modulo this: no alignment of more bytes is ever asked for. 0: as they are.
  uint64_t granule = 1;
  /// By argument: a scalar that is only copied into parameters of launches.
  std::vector<bool> onlyCopied;
};
KeyRules keyRules(const Kernel &kernel);

struct CallKey {
  static constexpr size_t kMaxWords = 256;
  std::array<uint64_t, kMaxWords> words;
  size_t size = 0;
  uint64_t hash = 0;
};

/// Fills `key` in, without allocating. False for a call that has no key: it breaks a rule that is seen at
/// once (number, kinds, ranks, missing values), or has too many words.
bool makeKey(CallKey &key, const Kernel &kernel, const KeyRules &rules, const tile_arg *args,
             size_t count);

} // namespace tile_rt
