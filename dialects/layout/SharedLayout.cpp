#include "dialects/layout/SharedLayout.h"

#include "dialects/layout/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace tilec::layout {

int64_t swizzleAddress(int64_t address, unsigned swizzleBytes) {
  return swizzleBytes ? address ^ ((address >> 7 & (swizzleBytes / 16 - 1)) << 4) : address;
}

SharedLayout::SharedLayout() : spec{{1}, 16, 0, 1, 0, 0, 0} {}

Answer<SharedLayout> SharedLayout::get(Spec s) {
  const int rank = s.shape.size();
  if (rank < 1 || rank > 5) {
    return Refusal{"a shared layout has 1 to 5 dimensions"};
  }
  if (any_of(s.shape, [](int64_t x) { return x < 1 || x > (int64_t(1) << 20); })) {
    return Refusal{"an extent is not between 1 and 2^20"};
  }
  int64_t elements = 1;
  for (int64_t extent : s.shape) {
    elements = std::min(elements * extent, int64_t(1) << 40);
  }
  if (elements > (int64_t(1) << 32)) {
    return Refusal{"the buffer is too large"};
  }
  if (!is_contained({4u, 8u, 16u, 32u, 64u}, s.elementBits)) {
    return Refusal{"elements have 4, 8, 16, 32 or 64 bits"};
  }
  if (s.contiguousDim < 0) {
    s.contiguousDim = rank - 1;
  }
  if (s.contiguousDim >= rank || s.contiguousDim < rank - 2) {
    return Refusal{"the contiguous dimension is not one of the last two"};
  }
  const int64_t extent = s.shape[s.contiguousDim];
  if (s.panelWidth == 0) {
    s.panelWidth = extent;
  }
  if (s.panelWidth < 1 || s.panelWidth > (int64_t(1) << 20)) {
    return Refusal{"the panel width is out of range"};
  }
  if (!is_contained({0u, 32u, 64u, 128u}, s.swizzle)) {
    return Refusal{"a swizzle has 0, 32, 64 or 128 bytes"};
  }
  if (s.swizzle && (s.padBytes || s.panelWidth * s.elementBits > 8 * s.swizzle)) {
    return Refusal{"a swizzled panel is at most as wide as the swizzle and has no padding"};
  }
  if (s.padBytes < 0 || s.padBytes > 4096) {
    return Refusal{"the row padding is out of range"};
  }
  if (s.panelWidth < extent && s.panelWidth * s.elementBits % 8 != 0) {
    return Refusal{"panels are not whole bytes"};
  }
  if (rank == 1) {
    if (s.swizzle || s.panelWidth < extent) {
      return Refusal{"a buffer of one dimension is one row, without panels or a swizzle"};
    }
    s.padBytes = 0;
  }
  if (s.step != 0) {
    if (std::optional<Refusal> refusal = checkStep(s)) {
      return *refusal;
    }
  }
  return SharedLayout(std::move(s));
}

std::optional<Refusal> SharedLayout::checkStep(const Spec &s) {
  Spec natural = s;
  natural.step = 0;
  const bool isRow = s.shape.size() == 2;
  if (s.shape.size() < 2 || s.contiguousDim == 0 ||
      (isRow && (s.swizzle || s.padBytes || s.panelWidth < s.shape[1]))) {
    return Refusal{"a step leads from one slot of a ring to the next"};
  }
  if (s.step < SharedLayout(natural).slotStride() || s.step > (int64_t(1) << 32)) {
    return Refusal{"the step is less than a slot, or out of range"};
  }
  return std::nullopt;
}

Answer<SharedLayout> SharedLayout::rows(ArrayRef<int64_t> shape, unsigned elementBits,
                                        int contiguousDim, int64_t padBytes) {
  Spec s;
  s.shape.assign(shape.begin(), shape.end());
  s.elementBits = elementBits;
  s.contiguousDim = contiguousDim;
  s.padBytes = padBytes;
  return get(std::move(s));
}

Answer<SharedLayout> SharedLayout::panels(ArrayRef<int64_t> shape, unsigned elementBits,
                                          unsigned swizzle, int contiguousDim) {
  Spec s;
  s.shape.assign(shape.begin(), shape.end());
  s.elementBits = elementBits;
  s.contiguousDim = contiguousDim;
  s.swizzle = swizzle;
  s.panelWidth = (swizzle ? swizzle : 16) * 8 / std::max(elementBits, 1u);
  return get(std::move(s));
}

int SharedLayout::rowDim() const {
  if (rank() == 1) {
    return -1;
  }
  return spec.contiguousDim == int(rank()) - 1 ? int(rank()) - 2 : int(rank()) - 1;
}

int64_t SharedLayout::rowCount() const { return rowDim() < 0 ? 1 : spec.shape[rowDim()]; }

int64_t SharedLayout::panelCount() const {
  return divideCeil(uint64_t(spec.shape[spec.contiguousDim]), uint64_t(spec.panelWidth));
}

int64_t SharedLayout::rowPitch() const {
  if (rank() == 2 && spec.step) {
    return spec.step;
  }
  if (spec.swizzle) {
    return spec.swizzle;
  }
  return divideCeil(uint64_t(spec.panelWidth) * spec.elementBits, 8) + spec.padBytes;
}

int64_t SharedLayout::panelStride() const {
  const int64_t bytes = rowCount() * rowPitch();
  return panelCount() > 1 || spec.swizzle ? int64_t(alignTo(bytes, 128)) : bytes;
}

int64_t SharedLayout::leadingStride(unsigned dim) const {
  if (dim == 0 && spec.step) {
    return spec.step;
  }
  int64_t stride = panelCount() * panelStride();
  if (spec.swizzle) { // every matrix starts at a whole repeat of the pattern, so that it can be
                      // used alone
    stride = int64_t(alignTo(stride, alignment()));
  }
  for (unsigned d = dim + 1; d + 2 < rank(); ++d) {
    stride *= spec.shape[d];
  }
  return stride;
}

int64_t SharedLayout::sizeBytes() const {
  return rank() > 2 ? leadingStride(0) * spec.shape[0] : panelCount() * panelStride();
}

int64_t SharedLayout::alignment() const { return spec.swizzle ? 8 * spec.swizzle : 128; }

/// Bits from the start of the row to element `c` of a panel row.
static int64_t bitInRow(const SharedLayout &layout, ArrayRef<int64_t> coords) {
  return coords[layout.contiguousDim()] % layout.panelWidth() * layout.elementBits();
}

int64_t SharedLayout::linearOffset(ArrayRef<int64_t> coords) const {
  int64_t offset =
      coords[spec.contiguousDim] / spec.panelWidth * panelStride() + bitInRow(*this, coords) / 8;
  if (rowDim() >= 0) {
    offset += coords[rowDim()] * rowPitch();
  }
  for (unsigned d = 0; d + 2 < rank(); ++d) {
    offset += coords[d] * leadingStride(d);
  }
  return offset;
}

int64_t SharedLayout::byteOffset(ArrayRef<int64_t> coords) const {
  return swizzleAddress(linearOffset(coords), spec.swizzle);
}

unsigned SharedLayout::bitOffset(ArrayRef<int64_t> coords) const {
  return bitInRow(*this, coords) % 8;
}

SharedLayout SharedLayout::dropLeading(unsigned count) const {
  Spec s = spec;
  s.shape.erase(s.shape.begin(), s.shape.begin() + count);
  s.contiguousDim -= int(count);
  s.step = count > 0 ? 0 : s.step;
  s.padBytes = s.shape.size() == 1 ? 0 : s.padBytes;
  return SharedLayout(std::move(s));
}

Answer<SharedLayout> SharedLayout::withLeading(int64_t count) const {
  if (spec.step) {
    return Refusal{"a ring of rings"};
  }
  Spec s = spec;
  s.shape.insert(s.shape.begin(), count);
  ++s.contiguousDim;
  Answer<SharedLayout> ring = get(s);
  if (ring && ring->slotStride() % alignment() != 0) {
    s.step = int64_t(alignTo(ring->slotStride(), alignment()));
    return get(std::move(s));
  }
  return ring;
}

bool SharedLayout::operator==(const SharedLayout &o) const {
  return spec.shape == o.spec.shape && spec.elementBits == o.spec.elementBits &&
         spec.contiguousDim == o.spec.contiguousDim && spec.panelWidth == o.spec.panelWidth &&
         spec.swizzle == o.spec.swizzle && spec.padBytes == o.spec.padBytes &&
         spec.step == o.spec.step;
}

hash_code hash_value(const SharedLayout &layout) {
  const SharedLayout::Spec &s = layout.spec;
  return hash_combine(hash_combine_range(s.shape.begin(), s.shape.end()), s.elementBits,
                      s.contiguousDim, s.panelWidth, s.swizzle, s.padBytes, s.step);
}

void SharedLayout::print(raw_ostream &os) const {
  printShape(os, spec.shape);
  os << " b" << spec.elementBits << " contig " << spec.contiguousDim << " panel "
     << spec.panelWidth;
  if (spec.swizzle) {
    os << " swizzle " << spec.swizzle;
  }
  if (spec.padBytes) {
    os << " pad " << spec.padBytes;
  }
  if (spec.step) {
    os << " step " << spec.step;
  }
}

std::string SharedLayout::str() const {
  std::string text;
  raw_string_ostream os(text);
  print(os);
  return text;
}

Answer<SharedLayout> SharedLayout::parse(StringRef text) {
  const Refusal malformed{"malformed shared layout '" + text.str() +
                          "': expected `SHAPE bBITS contig DIM panel ELEMENTS [swizzle BYTES] "
                          "[pad BYTES] [step BYTES]`"};
  Words words(text);
  Spec s;
  int64_t contiguous = 0, swizzle = 0;
  StringRef bits;
  if (!parseShape(words.take(), s.shape) || !(bits = words.take()).consume_front("b") ||
      bits.getAsInteger(10, s.elementBits) || !words.keyword("contig") ||
      !words.integer(contiguous) || !words.keyword("panel") || !words.integer(s.panelWidth)) {
    return malformed;
  }
  if ((words.keyword("swizzle") && !words.integer(swizzle)) ||
      (words.keyword("pad") && !words.integer(s.padBytes)) ||
      (words.keyword("step") && !words.integer(s.step)) || !words.done() || contiguous < 0 ||
      contiguous > 4 || swizzle < 0 || swizzle > 128 || s.panelWidth < 1) {
    return malformed;
  }
  s.contiguousDim = int(contiguous);
  s.swizzle = unsigned(swizzle);
  return get(std::move(s));
}

} // namespace tilec::layout
