// wgmma operands in shared memory: which layouts a descriptor can express.
#include "dialects/layout/Compatibility.h"

#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace tilec::layout {

static Coords at(const WgmmaOperand &operand, int64_t mn, int64_t k) {
  Coords c(2, 0);
  c[operand.mnDim] = mn;
  c[operand.kDim] = k;
  return c;
}

// In every canonical layout the start of an instruction is the plain address of its first element:
// 8-row groups, 16-byte chunks and panels are whole units of the linear address, and the XOR is
// left to the hardware.
int64_t WgmmaDescriptor::advanceBytes(int64_t mn, int64_t k) const {
  return layout.linearOffset(at(operand, mn, k));
}

uint64_t WgmmaDescriptor::bits() const {
  auto field = [](int64_t bytes) { return uint64_t(bytes & 0x3ffff) >> 4; };
  return uint64_t(swizzleMode) << 62 | field(strideBytes) << 32 | field(leadingBytes) << 16;
}

static Coords extentsOf(const SharedLayout &layout, const WgmmaOperand &op) {
  return op.extents.empty() ? Coords(layout.shape().begin(), layout.shape().end()) : op.extents;
}

static std::optional<Refusal> checkInstruction(const SharedLayout &layout, const WgmmaOperand &op) {
  if (layout.rank() != 2 || op.mnDim > 1 || op.kDim != 1 - op.mnDim) {
    return refuse("wgmma reads operands of two dimensions");
  }
  const unsigned bits = layout.elementBits();
  if (bits != 8 && bits != 16 && bits != 32) {
    return refuse("wgmma has no " + Twine(bits) + "-bit operands");
  }
  if (op.k * bits != 256) {
    return refuse("wgmma takes 32 bytes of K per instruction, not " + Twine(op.k * bits / 8));
  }
  if (op.mn < 8 || op.mn > 256 || op.mn % 8 != 0) {
    return refuse("wgmma has no operand of " + Twine(op.mn) + " rows");
  }
  const Coords extents = extentsOf(layout, op);
  const int64_t mnExtent = extents[op.mnDim], kExtent = extents[op.kDim];
  if (mnExtent % op.mn != 0) {
    return refuse("the tile has " + Twine(mnExtent) +
                  " rows in shared memory, not a multiple of the " + Twine(op.mn) +
                  " that wgmma reads");
  }
  if (kExtent % op.k != 0) {
    return refuse("the K extent " + Twine(kExtent) + " is not a multiple of the " + Twine(op.k) +
                  " that wgmma takes at a time");
  }
  // Groups of 8 rows and steps of 32 bytes are units of the pattern; a chunk of 16 bytes is the unit
  // of addresses, and holds 8 elements of an MN-major operand.
  const bool mnMajor = layout.contiguousDim() == op.mnDim;
  if (op.begin(op.mnDim) % 8 != 0 || op.begin(op.kDim) % (mnMajor ? 8 : op.k) != 0) {
    return refuse("the part starts at row " + Twine(op.begin(op.mnDim)) + " and k " +
                  Twine(op.begin(op.kDim)) + ", not at multiples of 8 and " +
                  Twine(mnMajor ? 8 : op.k));
  }
  return std::nullopt;
}

/// No instruction may start inside a panel and end in another, and crossing panels needs panels
/// without gaps.
static std::optional<Refusal> checkPanels(const SharedLayout &layout, const WgmmaOperand &op) {
  const int64_t width = layout.panelWidth();
  const int64_t first = op.begin(op.mnDim), extent = extentsOf(layout, op)[op.mnDim];
  for (int64_t mn = first; mn < first + extent; mn += op.mn) {
    const int64_t begin = mn % width;
    if (begin + op.mn <= width) {
      continue;
    }
    if (begin != 0) {
      return refuse("the instruction at " + Twine(mn) + " starts inside a panel of " +
                    Twine(width) + " elements and ends in another");
    }
    if (width * layout.elementBits() != 8 * layout.rowPitch()) {
      return refuse("panels of " + Twine(width) + " elements leave gaps in rows of " +
                    Twine(layout.rowPitch()) + " bytes");
    }
  }
  return std::nullopt;
}

Answer<WgmmaDescriptor> wgmmaDescriptor(const SharedLayout &layout, const WgmmaOperand &op) {
  if (std::optional<Refusal> refusal = checkInstruction(layout, op)) {
    return *refusal;
  }
  WgmmaDescriptor d;
  d.mnMajor = layout.contiguousDim() == op.mnDim;
  d.layout = layout;
  d.operand = op;
  d.alignment = layout.alignment();
  const unsigned bits = layout.elementBits(), swizzle = layout.swizzle();
  if (d.mnMajor && bits != 16) {
    return refuse("wgmma reads " + Twine(bits) + "-bit operands only with K contiguous");
  }
  const int64_t panelBytes = layout.panelWidth() * bits / 8;
  if (swizzle == 0 && (layout.rowPitch() != 16 || panelBytes != 16)) {
    return refuse("without a swizzle wgmma reads rows of 16 bytes stored one after the other, here "
                  "they are " +
                  Twine(layout.rowPitch()) + " bytes apart");
  }
  d.swizzleMode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  if (d.mnMajor) {
    if (std::optional<Refusal> refusal = checkPanels(layout, op)) {
      return *refusal;
    }
    d.leadingBytes = swizzle ? layout.panelStride() : 128;
    d.strideBytes = swizzle ? 8 * swizzle : layout.panelStride();
  } else {
    if (swizzle && panelBytes % 32 != 0) {
      return refuse("panels of " + Twine(panelBytes) + " bytes are not whole K steps of 32 bytes");
    }
    // Under a swizzle all of K lies in one panel and the hardware ignores this field. It is no 0, so
    // that the low half of the bits is none: two sums of (x * n + y) and a constant whose low half
    // is 0, both operands of wgmma, end ptxas 13.0 with a segmentation fault above -O0.
    d.leadingBytes = swizzle ? 16 : layout.panelStride();
    d.strideBytes = swizzle ? 8 * swizzle : 128;
  }
  if (d.leadingBytes > 0x3fff0 || d.strideBytes > 0x3fff0) {
    return refuse("a stride of the operand does not fit the descriptor");
  }
  return d;
}

} // namespace tilec::layout
