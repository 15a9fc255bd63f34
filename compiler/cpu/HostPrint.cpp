//===- HostPrint.cpp -----------------------------------------------------===//
#include "compiler/cpu/HostPrint.h"

#include <charconv>

namespace tilec::cpu {
namespace {

template <typename T>
void appendFloat(std::string &text, T value) {
  char buffer[64];
  std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, value);
  text.append(buffer, end.ptr);
}

void appendNumber(std::string &text, DType num, uint64_t bits, bool isUnsigned) {
  if (num == DType::Bool) {
    text += bits ? "true" : "false";
  } else if (num == DType::F64) {
    appendFloat(text, tile_rt::decodeFloat(num, bits));
  } else if (tile_rt::dtypeKind(num) == tile_rt::ValueKind::Float) {
    appendFloat(text, (float)tile_rt::decodeFloat(num, bits));
  } else {
    uint64_t wide = tile_rt::convertBits(signedAs(num, isUnsigned), DType::I64, bits);
    text += isUnsigned ? std::to_string(wide) : std::to_string((int64_t)wide);
  }
}

void appendValue(std::string &text, const HostView &view, int64_t *index, int64_t axis,
                 bool isUnsigned) {
  if (axis == view.rank) {
    bool high;
    const char *address = elementAddress(view, index, &high);
    appendNumber(text, (DType)view.num, address ? loadBits(view, address, high) : 0, isUnsigned);
    return;
  }
  text += '[';
  for (index[axis] = 0; index[axis] < view.dims[axis].size; ++index[axis]) {
    text += index[axis] ? ", " : "";
    appendValue(text, view, index, axis + 1, isUnsigned);
  }
  text += ']';
}

} // namespace

std::string formatValues(const char *format, const HostView *values, int64_t count,
                         int64_t unsignedMask) {
  std::string text;
  int64_t next = 0;
  for (const char *c = format; *c; ++c) {
    if (c[0] == '{' && c[1] == '}' && next < count) {
      int64_t index[kMaxRank];
      appendValue(text, values[next], index, 0, next < 64 && ((unsignedMask >> next) & 1));
      ++next;
      ++c;
    } else {
      text += *c;
    }
  }
  return text;
}

} // namespace tilec::cpu
