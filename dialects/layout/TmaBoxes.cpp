// How TMA fills a shared layout: one box shape, issued at a list of places.
#include "dialects/layout/Compatibility.h"

#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace tilec::layout {

namespace {

constexpr int64_t maxBoxExtent = 256; // cuTensorMapEncodeTiled: boxDim
constexpr int64_t minSplitExtent = 8; // thinner slices cost more issues than they are worth
constexpr int64_t boxAlignment = 128; // shared-memory address of a tensor copy

/// The largest divisor of `extent` that fits a box and keeps the start of each part aligned; 0 when
/// there is none.
int64_t splitEvenly(int64_t extent, int64_t bytesEach) {
  if (extent <= maxBoxExtent) {
    return extent;
  }
  for (int64_t part = maxBoxExtent; part >= minSplitExtent; --part) {
    if (extent % part == 0 && part * bytesEach % boxAlignment == 0) {
      return part;
    }
  }
  return 0;
}

class BoxBuilder {
public:
  /// `cuts`: rows of so many boxes come from what would be one.
  explicit BoxBuilder(const SharedLayout &layout, int64_t cuts = 1) : layout(layout), cuts(cuts) {}

  Answer<TmaBoxes> build() {
    if (std::optional<Refusal> refusal = innerExtent()) {
      return *refusal;
    }
    if (layout.rowDim() >= 0) {
      rows = splitEvenly(layout.rowCount(), layout.rowPitch());
      // The XOR of a swizzle repeats after 8 rows (PTX ISA 5.5.7).
      if (cuts > 1 && (rows % (8 * cuts) != 0 || rows / cuts * layout.rowPitch() % boxAlignment)) {
        return refuse("the " + Twine(rows) + " rows of a box cannot be cut into " + Twine(cuts));
      }
      rows /= cuts;
      if (rows == 0) {
        return refuse("the " + Twine(layout.rowCount()) +
                      " rows cannot be cut into aligned boxes of at most 256 rows");
      }
    }
    result.swizzle = layout.swizzle();
    result.extents.assign(layout.rank(), 1);
    result.extents[layout.contiguousDim()] = inner;
    if (layout.rowDim() >= 0) {
      result.extents[layout.rowDim()] = rows;
    }
    takeLeading();
    result.bytesPerBox = layout.elementBits();
    for (int64_t extent : result.extents) {
      result.bytesPerBox *= extent;
    }
    result.bytesPerBox /= 8;
    return placeBoxes();
  }

private:
  std::optional<Refusal> innerExtent() {
    if (layout.padBytes()) {
      return refuse("TMA writes rows without padding, the layout pads them by " +
                    Twine(layout.padBytes()) + " bytes");
    }
    if (layout.rank() == 2 && layout.step()) {
      return refuse("the rows are slots of a ring, each filled by itself");
    }
    const int64_t extent = layout.shape()[layout.contiguousDim()], bits = layout.elementBits();
    inner = layout.panelWidth();
    if (layout.swizzle() && extent < inner) {
      inner = extent; // a narrow box keeps the row pitch of its swizzle
    }
    if (inner * bits % 128 != 0) {
      return refuse("a box row of " + Twine(inner) + " elements is not a multiple of 16 bytes");
    }
    result.overhang = extent % inner != 0;
    if (inner > maxBoxExtent && layout.rowCount() == 1 && layout.panelCount() == 1) {
      inner = splitEvenly(inner, bits / 8);
      if (inner == 0) {
        return refuse("the row cannot be cut into aligned boxes of at most 256 elements");
      }
    }
    if (inner > maxBoxExtent) {
      return refuse("rows of " + Twine(inner) + " elements are wider than a box (256)");
    }
    return std::nullopt;
  }

  /// Leading dimensions whose matrices follow each other without gaps join the box.
  void takeLeading() {
    const int64_t extent = layout.shape()[layout.contiguousDim()];
    bool dense = layout.panelCount() == 1 && rows == layout.rowCount() && inner == extent &&
                 (layout.swizzle() != 0 || inner == layout.panelWidth());
    int64_t bytes = layout.rowCount() * layout.rowPitch();
    for (int d = int(layout.rank()) - 3; d >= 0 && dense; --d) {
      if (layout.leadingStride(d) != bytes || layout.shape()[d] > maxBoxExtent) {
        break;
      }
      result.extents[d] = layout.shape()[d];
      bytes *= layout.shape()[d];
    }
  }

  Answer<TmaBoxes> placeBoxes() {
    Coords origin(layout.rank(), 0);
    while (true) {
      const int64_t offset = layout.linearOffset(origin);
      if (offset % boxAlignment != 0) {
        return refuse("a box would start at byte " + Twine(offset) + ", not a multiple of 128");
      }
      result.boxes.push_back({origin, offset});
      int d = int(layout.rank()) - 1;
      while (d >= 0 && (origin[d] += result.extents[d]) >= layout.shape()[d]) {
        origin[d--] = 0;
      }
      if (d < 0) {
        return result;
      }
    }
  }

  const SharedLayout &layout;
  TmaBoxes result;
  int64_t cuts, inner = 0, rows = 1;
};

} // namespace

Answer<TmaBoxes> tmaBoxes(const SharedLayout &layout, int64_t sharers) {
  Answer<TmaBoxes> boxes = BoxBuilder(layout).build();
  for (int64_t cuts = 2; boxes && cuts <= sharers && layout.rowDim() >= 0; ++cuts) {
    if (int64_t(boxes->boxes.size()) % sharers == 0) {
      break;
    }
    Answer<TmaBoxes> smaller = BoxBuilder(layout, cuts).build();
    if (smaller && int64_t(smaller->boxes.size()) % sharers == 0) {
      return smaller;
    }
  }
  return boxes;
}

} // namespace tilec::layout
