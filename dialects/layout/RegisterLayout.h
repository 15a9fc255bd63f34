// Where the elements of a tile live in the registers of a group of warps.
//
// A layout maps (register, lane, warp) to tile coordinates. "Register" counts value slots of a
// thread, one element each: slots packed into one 32-bit register (f16, e4m3) are consecutive
// slots. The map is built in two steps:
//   1. an atom: a linear map over F2. Each bit of the register, lane and warp number owns a basis
//      vector; the coordinates are the XOR of the vectors of the bits that are set. A zero vector
//      means replication;
//   2. repeats: what is left of the register (lane, warp) number after its atom bits is read in
//      mixed radix, first repeat fastest; each digit adds digit * stride to one coordinate (or to
//      none: replication). This is how extents that are not powers of two arise (96 = 32 in the
//      atom, 3 repeats).
// The map may reach beyond the tile (M = 16 on a 64-row instruction): such slots are padding,
// inBounds() says no. Values are immutable and canonical: two layouts with the same register order
// and map built from the factories compare equal. Nothing here allocates outside the object; all
// functions are pure.
//
// Formulas of the hardware layouts: PTX ISA 9.1, sections 9.7.14.5 (mma) and 9.7.15.5 (wgmma),
// confirmed on an H200.
#pragma once

#include "dialects/layout/Answer.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

namespace tilec::layout {

enum class HwDim : unsigned { Register = 0, Lane = 1, Warp = 2 };

/// Coordinates (or coordinate steps) in elements, one per tile dimension.
using Coords = llvm::SmallVector<int64_t, 4>;

/// One digit of the mixed-radix part. dim < 0: the digit moves nothing (replication).
struct Repeat {
  HwDim hw = HwDim::Register;
  int dim = -1;
  int64_t count = 1;
  int64_t stride = 0; // elements of tile dimension `dim`; 0 when dim < 0

  bool operator==(const Repeat &) const = default;
};

/// How partial values are combined.
enum class Combine : unsigned { Sum, Product, Max, Min, And, Or, Xor };
llvm::StringRef toString(Combine combine);

/// The values of a fragment are partial: the true value of an element is the combination over the
/// lanes whose number differs from ours in `laneMask` bits, and over warps. `warpOffsets` is a set:
/// bit o says that warp base + o takes part, where base is the lowest warp of the group (bit 0 is
/// always set; 1 means "this warp alone").
struct Partial {
  Combine combine = Combine::Sum;
  uint32_t laneMask = 0;
  uint32_t warpOffsets = 1;

  bool operator==(const Partial &) const = default;
};

/// A place that holds an element. `warp` counts from the first warp of the block
/// (RegisterLayout::firstWarp included).
struct Place {
  int64_t reg = 0;
  int64_t lane = 0;
  int64_t warp = 0;

  bool operator==(const Place &) const = default;
  bool operator<(const Place &o) const {
    return std::tie(warp, lane, reg) < std::tie(o.warp, o.lane, o.reg);
  }
};

/// A summand of a thread's coordinate: ((id / divisor) % modulus) * stride, where id is the lane
/// number or the warp number counted from firstWarp(). modulus 0: no remainder needed.
struct ThreadTerm {
  HwDim hw = HwDim::Lane;
  int64_t divisor = 1;
  int64_t modulus = 0;
  int64_t stride = 1;

  bool operator==(const ThreadTerm &) const = default;
};

/// Element types as far as matrix instructions distinguish their fragments.
enum class MmaType : unsigned { F16, BF16, TF32, F8, I8 };
/// 16, 32 or 8.
unsigned bitWidth(MmaType type);
/// K extent of one instruction (wgmma, and the largest mma.sync): 32 bytes of elements.
inline int64_t instructionK(MmaType type) {
  return type == MmaType::TF32 ? 8 : bitWidth(type) == 8 ? 32 : 16;
}

class RegisterLayout {
public:
  using Bases = llvm::SmallVector<Coords, 8>;

  /// What a layout is made of; `get` checks and canonicalises it.
  struct Spec {
    Coords shape;
    std::array<Bases, 3> bases; // indexed by HwDim, lowest bit first
    llvm::SmallVector<Repeat, 4> repeats;
    int64_t firstWarp = 0;
    std::optional<Partial> partial;
  };

  /// The trivial layout: a scalar tile held by every lane of one warp.
  RegisterLayout();
  /// Refuses ranks above 8, extents below 1, lanes that do not make 32, more than 64 warps or 65536
  /// registers, and negative or oversized vectors.
  static Answer<RegisterLayout> get(Spec spec);

  // ---- Factories. Shapes in elements; impossible splits (0 warps, ...) are refused by an
  // assertion-free `Answer`.

  /// Accumulator of wgmma m64nN, any result type (f16 results: slots 2r, 2r+1 share 32-bit register
  /// r), for a tile [m, n]. Warpgroups form a grid of groupsM x groupsN, group = gm + groupsM * gn;
  /// each owns a block of ceil(m / (64 groupsM)) * 64 rows and of ceil(n / groupsN) columns,
  /// rounded up to `nUnit` (8; 16 for integer results above N = 32). Slot order: columns of 8
  /// within 64 rows, then blocks of 64 rows: slots [b * nPer/2, (b+1) * nPer/2) are one instruction
  /// row block.
  static Answer<RegisterLayout> wgmmaAccumulator(int64_t m, int64_t n, int64_t groupsM = 1,
                                                 int64_t groupsN = 1, int64_t nUnit = 8);
  /// A operand of wgmma in registers, tile [m, k]: the rows of the group's accumulator, so
  /// replicated over groupsN. Slot order: k-steps, then row blocks.
  static Answer<RegisterLayout> wgmmaA(int64_t m, int64_t k, MmaType type, int64_t groupsM = 1,
                                       int64_t groupsN = 1);

  /// mma.sync m16n8: warps form a grid of warpsM x warpsN, warp = wm + warpsM * wn; each owns a
  /// contiguous block of ceil(m / (16 warpsM)) * 16 rows and ceil(n / (8 warpsN)) * 8 columns.
  /// Accumulator [m, n]; slots: 4 of an instruction, then n8 tiles, then m16 tiles.
  static Answer<RegisterLayout> mmaC(int64_t m, int64_t n, int64_t warpsM, int64_t warpsN);
  /// A operand [m, k], replicated over warpsN; slots: an instruction, then k-steps, then m16 tiles.
  /// K of the instruction: instructionK(type).
  static Answer<RegisterLayout> mmaA(int64_t m, int64_t k, MmaType type, int64_t warpsM,
                                     int64_t warpsN);
  /// B operand [k, n], replicated over warpsM; slots: an instruction, then k-steps, then n8 tiles.
  static Answer<RegisterLayout> mmaB(int64_t k, int64_t n, MmaType type, int64_t warpsM,
                                     int64_t warpsN);

  struct BlockedOptions {
    int64_t firstWarp = 0;
    /// Fastest dimension; -1: the last.
    int contiguousDim = -1;
    /// false: warps go on along the contiguous dimension first (best coalescing); true: warps take
    /// rows first, so that a row stays inside a warp when it can (reductions along the contiguous
    /// dimension).
    bool warpsTakeRows = false;
  };
  /// "Coalesced": each thread holds `vec` (a power of two) consecutive elements along the
  /// contiguous dimension, lanes then warps continue there and wrap to the other dimensions (last
  /// dimensions first); the rest repeats in registers. Threads that find nothing left replicate;
  /// extents that do not divide are padded (inBounds()).
  static Answer<RegisterLayout> blocked(llvm::ArrayRef<int64_t> shape, int64_t vec, int64_t warps,
                                        BlockedOptions options);
  static Answer<RegisterLayout> blocked(llvm::ArrayRef<int64_t> shape, int64_t vec, int64_t warps);
  /// Each thread holds blocks of `rows` x `columns` neighbours (powers of two) of a matrix, so that
  /// wide accesses run along either dimension: those of the tile, and of its transpose. A warp has
  /// up to 8 blocks along the columns' direction, whose lanes come first, and 4 along the rows'.
  static Answer<RegisterLayout> inBlocks(llvm::ArrayRef<int64_t> shape, int64_t rows,
                                         int64_t columns, int64_t warps);
  /// How the operands of a scalar product lie in shared memory.
  struct OuterProduct {
    /// Bytes of an element of A and of B.
    int64_t rowBytes = 4, columnBytes = 4;
    /// Neighbours (a power of two) down the rows of A, and along the columns of B, that one access
    /// may read: more than one where they are neighbours in memory.
    int64_t rowRun = 1, columnRun = 1;
  };
  /// Accumulator [m, n] of scalar products, A [m, k] times B [k, n]. For each element of k a thread
  /// reads one of A for each of its rows and one of B for each of its columns, so each has a block
  /// as square as makes multiply-adds or shared memory, whichever takes longer, least busy. Runs are
  /// shortened until they divide the extents; a thread's runs lie as far apart as the lanes of a
  /// warp reach, and each warp has one block of the tile. Threads that find nothing left replicate.
  static Answer<RegisterLayout> outerProduct(int64_t m, int64_t n, int64_t warps,
                                             OuterProduct options);
  /// Every thread holds the whole tile, row-major.
  static Answer<RegisterLayout> replicated(llvm::ArrayRef<int64_t> shape, int64_t warps);

  // ---- Structure.

  llvm::ArrayRef<int64_t> shape() const { return spec.shape; }
  unsigned rank() const { return spec.shape.size(); }
  int64_t registersPerThread() const { return sizes[0]; }
  int64_t numWarps() const { return sizes[2]; }
  /// The warps [firstWarp, firstWarp + numWarps) of the block own the tile.
  int64_t firstWarp() const { return spec.firstWarp; }
  const Bases &bases(HwDim hw) const { return spec.bases[unsigned(hw)]; }
  llvm::ArrayRef<Repeat> repeats() const { return spec.repeats; }
  const std::optional<Partial> &partial() const { return spec.partial; }

  /// Coordinates of a slot, possibly beyond the tile. 0 <= lane < 32, firstWarp <= warp < firstWarp
  /// + numWarps.
  Coords coords(int64_t reg, int64_t lane, int64_t warp) const;
  bool inBounds(llvm::ArrayRef<int64_t> coords) const;
  /// Per dimension: 1 + the largest coordinate that the map reaches; at least shape() when
  /// complete().
  Coords span() const;
  /// Some slot lies beyond the tile.
  bool hasPadding() const;
  /// Every element of the tile has an owner.
  bool complete() const;

  /// Inverse map: every place that holds the element, ordered by warp, lane, register.
  llvm::SmallVector<Place, 8> owners(llvm::ArrayRef<int64_t> coords) const;
  /// Some element has more than one owner.
  bool isReplicated() const;
  /// Lane bits whose vector is zero: lanes that differ in them alone hold the same elements.
  uint32_t replicatedLaneMask() const;
  /// The digits of the lane and warp numbers in which copies of an element differ (stride 0), lanes
  /// first. The thread in which all of them are 0 is its owner: the one that stores it, or adds it
  /// to something. Refused where copies differ otherwise, so that these threads would hold an
  /// element twice or not at all (no factory makes such a layout).
  Answer<llvm::SmallVector<ThreadTerm, 4>> replicaDigits() const;

  // ---- For code generation.

  /// coords(r, l, w)[d] == registerOffset(r)[d] + sum of threadTerms(d): true when no bit of a
  /// coordinate is touched both by a register vector and by a lane or warp vector (all factories).
  bool isSeparable() const;
  Coords registerOffset(int64_t reg) const { return coords(reg, 0, spec.firstWarp); }
  /// The fewest summands found, in order of lane then warp. Needs isSeparable().
  llvm::SmallVector<ThreadTerm, 4> threadTerms(unsigned dim) const;

  /// Vector width of a thread in elements: the largest power of two v such that slots [v i, v i +
  /// v) are consecutive elements of `dim`, starting at a multiple of v, for every i and thread.
  int64_t contiguousElements(unsigned dim) const;
  /// The slots that hold elements [offset, offset + extent) of `dim`, ascending, when these are the
  /// same slots for every thread and form a layout of that tile by themselves (e.g. one k-step of
  /// an A fragment).
  std::optional<llvm::SmallVector<int64_t, 16>> registersOf(unsigned dim, int64_t offset,
                                                            int64_t extent) const;

  /// Each of `groups` groups of neighbouring warps, as many in each, holds rows (dimension 0) of its own, as many as the others, and
  /// the groups stand in the order of the rows.
  bool hasRowGroups(int64_t groups) const;

  // ---- Derived layouts.

  /// Layout of a reduction's result: `dim` removed; lanes and warps that held different elements of
  /// it now replicate, registers that would repeat an element are dropped.
  RegisterLayout sliceDim(unsigned dim) const;
  /// What is left of it when all dimensions but `dim` are removed so.
  RegisterLayout along(unsigned dim) const;
  /// Inverse of a slice for broadcasting: a new dimension of extent 1 at position `dim`.
  RegisterLayout insertDim(unsigned dim) const;
  /// Another inverse: the new dimension has `extent` elements. Lanes that replicate hold neighbours along it, registers the rest.
  /// Refused where these become too many.
  Answer<RegisterLayout> spreadDim(unsigned dim, int64_t extent) const;
  /// The layout of `this` read with dimensions in the order perm: result dim i is our dim perm[i].
  RegisterLayout permuted(llvm::ArrayRef<unsigned> perm) const;
  /// Two dimensions exchanged (rank 2).
  RegisterLayout transposed() const;
  /// Pairs of neighbours along the last dimension as one element each, slots 2i and 2i + 1 as slot i.
  /// Refused where these are not such a pair in every thread.
  Answer<RegisterLayout> pairs() const;
  /// The inverse: each element as two neighbours along the last dimension.
  Answer<RegisterLayout> unpaired() const;
  /// The same map with other bounds (padding more or less).
  RegisterLayout withShape(llvm::ArrayRef<int64_t> shape) const;
  /// The same map owned by the warps from `first` on.
  RegisterLayout onWarps(int64_t first) const;
  RegisterLayout withPartial(Partial partial) const;
  /// The same map, values complete.
  RegisterLayout combined() const;

  // ---- Value semantics and text.

  bool operator==(const RegisterLayout &o) const;
  bool operator!=(const RegisterLayout &o) const { return !(*this == o); }
  /// Same shape, warps, slots and map, however written (compares every slot).
  bool sameMap(const RegisterLayout &o) const;
  friend llvm::hash_code hash_value(const RegisterLayout &layout);

  /// One line without quotes, e.g. `64x96 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp
  /// 16,0:32,0 rep reg*3@1+32`. Optional tails: ` from 4` (first warp), ` partial sum lanes 3 warps
  /// 1`. A scalar's shape is `scalar`, its vectors are `.`; an empty list is `-`.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;
  static Answer<RegisterLayout> parse(llvm::StringRef text);

private:
  explicit RegisterLayout(Spec spec);
  void canonicalise();
  void addRepeats(HwDim hw, int64_t index, Coords &coords) const;
  bool ownElementsOnce(llvm::ArrayRef<ThreadTerm> digits) const;

  Spec spec;
  std::array<int64_t, 3> sizes = {1, 32, 1};     // slots, lanes, warps
  std::array<int64_t, 3> atomSizes = {1, 32, 1}; // 2^(number of vectors)
  /// For each dimension what the vectors of registers, then lanes, then warps have there: coords() is asked millions of times.
  llvm::SmallVector<int64_t, 0> byDimension;
};

/// A piece of a tile with a layout of its own.
struct LayoutPart {
  RegisterLayout layout;
  Coords origin;                            // of the piece in the tile
  llvm::SmallVector<int64_t, 16> registers; // slot i of the piece is slot registers[i] of the whole
};

/// Elements [offset, offset + extent) of `dim`: a k-step of an A fragment, a slab of columns of an
/// accumulator. Refused when the threads do not all hold their share of it in the same slots.
Answer<LayoutPart> sliceTile(const RegisterLayout &whole, unsigned dim, int64_t offset,
                             int64_t extent);

/// For each slot of `part`, the slot in which the same thread holds that element in `whole`, where
/// the part is the tile at `origin` of the whole. Slots that are padding of the part in all threads
/// get any slot. Refused when some thread does not hold what its slot of the part names.
Answer<llvm::SmallVector<int64_t, 16>> partRegisters(const RegisterLayout &whole,
                                                     const RegisterLayout &part,
                                                     llvm::ArrayRef<int64_t> origin);

/// The same for a part that takes the place of what `whole` holds there: refused besides where the part has padding, or where a
/// thread holds an element of it in other slots too, which would keep what they had.
Answer<llvm::SmallVector<int64_t, 16>> replacedRegisters(const RegisterLayout &whole,
                                                         const RegisterLayout &part,
                                                         llvm::ArrayRef<int64_t> origin);

} // namespace tilec::layout
