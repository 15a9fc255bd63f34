#include "ValueText.h"

#include "Floats.h"

#include <charconv>
#include <cmath>

namespace tile_rt {

namespace {
template <class T>
void append(std::string &text, T value) {
  char buffer[64];
  std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  text.append(buffer, end.ptr);
}

void appendFloat(std::string &text, DType type, double value) {
  if (std::isnan(value)) {
    text += "nan";
  } else if (type == DType::F64) {
    append(text, value);
  } else {
    append(text, static_cast<float>(value));
  }
}
} // namespace

void appendValue(std::string &text, DType type, uint64_t bits) {
  switch (dtypeKind(type)) {
  case ValueKind::Bool:
    text += (bits & 0xff) != 0 ? "true" : "false";
    break;
  case ValueKind::Float:
    appendFloat(text, type, decodeFloat(type, bits));
    break;
  case ValueKind::Int: {
    __int128 value = wrapInt(type, static_cast<__int128>(bits));
    if (dtypeIsSigned(type)) {
      append(text, static_cast<int64_t>(value));
    } else {
      append(text, static_cast<uint64_t>(value));
    }
    break;
  }
  }
}

} // namespace tile_rt
