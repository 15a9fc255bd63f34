//===- HostPrint.cpp -----------------------------------------------------===//
#include "compiler/cpu/HostPrint.h"

#include "runtime/support/ValueText.h"

namespace tilec::cpu {
namespace {

void appendView(std::string &text, const HostView &view, int64_t *index, int64_t axis,
                bool isUnsigned) {
  if (axis == view.rank) {
    bool high;
    const char *address = elementAddress(view, index, &high);
    tile_rt::appendValue(text, signedAs((DType)view.num, isUnsigned),
                         address ? loadBits(view, address, high) : 0);
    return;
  }
  text += '[';
  for (index[axis] = 0; index[axis] < view.dims[axis].size; ++index[axis]) {
    text += index[axis] ? ", " : "";
    appendView(text, view, index, axis + 1, isUnsigned);
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
      appendView(text, values[next], index, 0, next < 64 && ((unsignedMask >> next) & 1));
      ++next;
      ++c;
    } else {
      text += *c;
    }
  }
  return text;
}

} // namespace tilec::cpu
