// Where the elements of a tile live in shared memory.
//
// A tile of rank 1..5 is stored as matrices of its last two dimensions, one of which is contiguous;
// leading dimensions (pipeline stages, batches) repeat the matrix; a ring of rows is a matrix whose
// rows are its slots. A matrix is cut along the contiguous dimension into panels of panelWidth()
// elements; a panel is a column of rows, rowPitch() bytes apart; panels follow each other:
//   linear(coords) = sum(leading * leadingStride) + (c / P) * panelStride + r * rowPitch
//                    + (c % P) * elementBits / 8
// A swizzle of W = 32, 64 or 128 bytes then exchanges 16-byte chunks by XOR on address bits, as TMA
// and wgmma do:
//   a ^ (((a >> 7) & m) << 4), m = W/16 - 1.
// It acts on absolute addresses: byteOffset() is exact for a buffer whose start is a multiple of
// alignment(). Source: PTX ISA 9.1 section 5.5.7 (tensor swizzle modes), 9.7.15.5 (canonical wgmma
// layouts), measured on an H200.
#pragma once

#include "dialects/layout/RegisterLayout.h"

namespace tilec::layout {

/// a ^ (((a >> 7) & (w/16 - 1)) << 4); w in {0, 32, 64, 128} bytes, 0: none.
int64_t swizzleAddress(int64_t address, unsigned swizzleBytes);

class SharedLayout {
public:
  struct Spec {
    Coords shape;
    unsigned elementBits = 16; // 4, 8, 16, 32, 64
    int contiguousDim = -1;    // last or last but one dimension; -1: last
    int64_t panelWidth = 0;    // elements; 0: the whole contiguous extent
    unsigned swizzle = 0;      // bytes: 0, 32, 64, 128
    int64_t padBytes = 0;      // added to each row (not with a swizzle)
    int64_t step = 0; // bytes from one index of the first dimension to the next; 0: what it takes
  };

  /// One dense element: see Spec for what `get` refuses (rank above 5, a swizzle whose panel is
  /// wider than it, padding together with a swizzle, panels that are not whole bytes, panels or a
  /// swizzle of a single row, a step that is less than what it steps over). A single row has no
  /// padding: nothing follows it.
  SharedLayout();
  static Answer<SharedLayout> get(Spec spec);

  /// Rows one after the other, `padBytes` apart; no panels.
  static Answer<SharedLayout> rows(llvm::ArrayRef<int64_t> shape, unsigned elementBits,
                                   int contiguousDim = -1, int64_t padBytes = 0);
  /// Panels as wide as the swizzle (what TMA writes and wgmma reads). swizzle 0: panels of 16 bytes
  /// ("core matrices").
  static Answer<SharedLayout> panels(llvm::ArrayRef<int64_t> shape, unsigned elementBits,
                                     unsigned swizzle, int contiguousDim = -1);

  llvm::ArrayRef<int64_t> shape() const { return spec.shape; }
  unsigned rank() const { return spec.shape.size(); }
  unsigned elementBits() const { return spec.elementBits; }
  unsigned contiguousDim() const { return unsigned(spec.contiguousDim); }
  /// The other matrix dimension; -1 for rank 1.
  int rowDim() const;
  int64_t rowCount() const;
  /// Elements of the contiguous dimension in one panel.
  int64_t panelWidth() const { return spec.panelWidth; }
  int64_t panelCount() const;
  unsigned swizzle() const { return spec.swizzle; }
  int64_t padBytes() const { return spec.padBytes; }
  int64_t step() const { return spec.step; }
  /// Bytes from a row to the next inside a panel: the swizzle width when there is one.
  int64_t rowPitch() const;
  /// Bytes from panel to panel (a multiple of 128 when there are several).
  int64_t panelStride() const;
  /// Bytes from one index of leading dimension `dim` to the next; with a swizzle a multiple of
  /// alignment(), so that each matrix can be used as a buffer of its own.
  int64_t leadingStride(unsigned dim) const;
  /// The same for dimension 0 of a ring (withLeading), whatever it is a ring of.
  int64_t slotStride() const { return rank() == 2 ? rowPitch() : leadingStride(0); }
  /// Bytes of the buffer.
  int64_t sizeBytes() const;
  /// Required alignment of the buffer in bytes: 8 rows of the swizzle (1024, 512, 256), 128 else
  /// (TMA, bank rows).
  int64_t alignment() const;

  /// Address before the swizzle, in bits' byte (4-bit elements: two share a byte).
  int64_t linearOffset(llvm::ArrayRef<int64_t> coords) const;
  /// Byte at which the element starts.
  int64_t byteOffset(llvm::ArrayRef<int64_t> coords) const;
  /// Bit inside that byte (0 or 4 for 4-bit elements, else 0).
  unsigned bitOffset(llvm::ArrayRef<int64_t> coords) const;

  /// The matrix (or row) alone, or with `count` leading dimensions fewer.
  SharedLayout dropLeading(unsigned count = 1) const;
  /// A ring of `count` such buffers, slotStride() apart: one more leading dimension. Each slot
  /// starts at a multiple of alignment(), so that it can be used as this buffer alone can.
  Answer<SharedLayout> withLeading(int64_t count) const;

  bool operator==(const SharedLayout &o) const;
  bool operator!=(const SharedLayout &o) const { return !(*this == o); }
  friend llvm::hash_code hash_value(const SharedLayout &layout);

  /// One line without quotes, e.g. `4x128x64 b16 contig 2 panel 64 swizzle 128`, `64x72 b32
  /// contig 1 panel 72 pad 16` or `3x16 b32 contig 1 panel 16 step 128`.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;
  static Answer<SharedLayout> parse(llvm::StringRef text);

private:
  explicit SharedLayout(Spec spec) : spec(std::move(spec)) {}
  static std::optional<Refusal> checkStep(const Spec &spec);

  Spec spec;
};

} // namespace tilec::layout
