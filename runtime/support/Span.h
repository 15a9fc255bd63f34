// What std::span is, of which the runtime, C++17, needs little: elements that lie one after the other in memory of others.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace tile_rt {

template <class T>
class Span {
public:
  constexpr Span() = default;
  constexpr Span(T *first, size_t count) : start(first), count(count) {}
  /// Of an array, a vector, a std::span, or a Span of elements that are less const.
  template <
      class Container,
      class = std::enable_if_t<std::is_convertible_v<
          std::remove_pointer_t<decltype(std::data(std::declval<Container &>()))> (*)[], T (*)[]>>>
  constexpr Span(Container &&container)
      : start(std::data(container)), count(std::size(container)) {}

  constexpr T *data() const { return start; }
  constexpr size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr T *begin() const { return start; }
  constexpr T *end() const { return start + count; }
  constexpr T &operator[](size_t index) const { return start[index]; }
  constexpr T &front() const { return *start; }
  constexpr Span first(size_t elements) const { return {start, elements}; }
  constexpr Span subspan(size_t from) const { return {start + from, count - from}; }

private:
  T *start = nullptr;
  size_t count = 0;
};

} // namespace tile_rt
