// An answer to "can the hardware do this with these layouts": a value, or the sentence that says
// why not.
#pragma once

#include "llvm/ADT/Twine.h"

#include <optional>
#include <string>
#include <utility>

namespace tilec::layout {

/// The reason of a refusal. Lower case, no full stop, fit for a remark: "copy stays a vector load:
/// <text>".
struct Refusal {
  std::string text;
};

inline Refusal refuse(const llvm::Twine &text) { return {text.str()}; }

/// Holds a T or a Refusal. Converts to true when it holds a T.
template <typename T>
class Answer {
public:
  Answer(T value) : value(std::move(value)) {}
  Answer(Refusal refusal) : refusal(std::move(refusal.text)) {}

  explicit operator bool() const { return value.has_value(); }
  const T &operator*() const { return *value; }
  T &operator*() { return *value; }
  const T *operator->() const { return &*value; }
  T *operator->() { return &*value; }

  /// Why there is no value; empty when there is one.
  const std::string &reason() const { return refusal; }

private:
  std::optional<T> value;
  std::string refusal;
};

} // namespace tilec::layout
