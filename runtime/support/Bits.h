// Of C++20's <bit> what the runtime, C++17, needs, by built-in functions that gcc and clang share.
#pragma once

#include <cstdint>

namespace tile_rt {

/// The same bits as another type.
template <class To, class From>
constexpr To bitCast(const From &value) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, value);
}

/// How many bits above the highest one are 0; `value` is not 0.
constexpr int leadingZeros(uint64_t value) { return __builtin_clzll(value); }

/// Reads and writes of memory that others, a device among them, change at the same time.
template <class T>
T loadAcquire(const T &value) {
  return __atomic_load_n(&value, __ATOMIC_ACQUIRE);
}
template <class T>
T loadRelaxed(const T &value) {
  return __atomic_load_n(&value, __ATOMIC_RELAXED);
}
template <class T>
void storeRelease(T &place, T value) {
  __atomic_store_n(&place, value, __ATOMIC_RELEASE);
}
template <class T>
void storeRelaxed(T &place, T value) {
  __atomic_store_n(&place, value, __ATOMIC_RELAXED);
}

} // namespace tile_rt
