// What the copy and matrix instructions can do with a layout, computed from the layouts' own maps.
// Sources: PTX ISA 9.1 sections 9.7.15.5 (wgmma descriptors), 5.5.7 (TMA), 9.7.14.5.15/16
// (ldmatrix, stmatrix); descriptor meanings and TMA pitches as measured on an H200.
#pragma once

#include "dialects/layout/SharedLayout.h"

namespace tilec::layout {

// ---- wgmma operands in shared memory

/// An operand tile of wgmma: which dimensions of the (unbatched: rank 2) shared layout are M/N and
/// K, and how much of them one instruction takes (mn: 64 for A, N for B; k: instructionK).
struct WgmmaOperand {
  unsigned mnDim = 0;
  unsigned kDim = 1;
  int64_t mn = 64;
  int64_t k = 16;
  /// The part of the tile that is multiplied, by dimension of the layout: its first element and its
  /// extents. Empty: all of it.
  Coords origin = {}, extents = {};

  int64_t begin(unsigned dim) const { return origin.empty() ? 0 : origin[dim]; }
};

/// Constant fields of the descriptor and how the start address moves. Encoded fields are bytes
/// / 16.
struct WgmmaDescriptor {
  bool mnMajor = false;     // the instruction's tnspA / tnspB
  unsigned swizzleMode = 0; // bits 63:62: 0 none, 1 128 B, 2 64 B, 3 32 B
  int64_t leadingBytes = 0; // LBO (16 where the hardware ignores it)
  int64_t strideBytes = 0;  // SBO
  int64_t alignment = 128;  // of the operand's start
  SharedLayout layout;
  WgmmaOperand operand;

  /// Bytes to add to the start address for the instruction at tile element (mn, k); both multiples
  /// of the instruction's extents (mn of an MN-major operand may start inside a panel as
  /// wgmmaDescriptor checked).
  int64_t advanceBytes(int64_t mn, int64_t k) const;
  /// Start address field 0: add ((address & 0x3ffff) >> 4).
  uint64_t bits() const;
};

/// Refused when the instruction cannot read the tile in place. All positions (multiples of the
/// instruction's extents from the start of the part on) are checked.
Answer<WgmmaDescriptor> wgmmaDescriptor(const SharedLayout &layout, const WgmmaOperand &operand);

// ---- TMA

/// One tensor-map box and the places it is issued at.
struct TmaBoxes {
  Coords extents; // per tile dimension, in elements; the tensor map lists them innermost first
  unsigned swizzle = 0;    // bytes
  int64_t bytesPerBox = 0; // what the mbarrier counts
  struct Box {
    Coords origin;      // element of the tile at which the box starts
    int64_t offset = 0; // bytes from the buffer's start
  };
  llvm::SmallVector<Box, 4> boxes;
  /// The last panel or row block reaches beyond the tile: harmless for loads (the buffer has the
  /// room), forbidden for stores.
  bool overhang = false;
};

/// 4-bit elements: the tensor map counts bytes, halve the innermost extent and origin.
/// Order of the tensor map: contiguous dimension, row dimension, then leading dimensions from last
/// to first. As few boxes as can be; for several `sharers`, who load as many each, smaller ones where that makes their number a
/// multiple of theirs.
Answer<TmaBoxes> tmaBoxes(const SharedLayout &layout, int64_t sharers = 1);

// ---- Loads and stores between registers and shared memory

/// ldmatrix / stmatrix: instruction i of a warp moves `matrices` (1, 2 or 4) 8x8 b16 matrices. Lane
/// l supplies the address of the row at address.coords(i, l, warp): lanes 8j..8j+7 are the rows of
/// matrix j (lanes beyond 8 * matrices repeat). Matrix j of instruction i is 32-bit register i *
/// matrices + j of the fragment, that is slots
/// [(i * matrices + j) * 32/bits, +32/bits).
struct MatrixPlan {
  unsigned matrices = 4;
  bool transposed = false;
  RegisterLayout address; // registers = instructions, lanes and warps as in the fragment
};

/// `trans`: with .trans (16-bit elements only). Shapes must agree; a padded fragment needs a buffer
/// that has its span.
Answer<MatrixPlan> ldmatrixPlan(const SharedLayout &shared, const RegisterLayout &fragment,
                                bool trans);
/// As above; also refuses partial fragments.
Answer<MatrixPlan> stmatrixPlan(const SharedLayout &shared, const RegisterLayout &fragment,
                                bool trans);

/// Plain ld.shared / st.shared: every group of slots is one access of `bytes` bytes, in address
/// order.
struct AccessPlan {
  unsigned bytes = 0; // 1, 2, 4, 8 or 16 (elements of 4 bits: at least one byte)
  llvm::SmallVector<llvm::SmallVector<int64_t, 8>, 8> groups;
};
/// The widest accesses that all threads can make with the same slots.
Answer<AccessPlan> accessPlan(const SharedLayout &shared, const RegisterLayout &fragment);

/// Loads of bytes by whole words, where neighbouring lanes hold the bytes of a word: each lane loads
/// all words that hold bytes of its own, several in one access, and takes its own out of them.
struct WordPlan {
  unsigned accessBytes = 0; ///< 8 or 16
  unsigned unit = 1; ///< bytes of a word that a lane takes: 1 or 2, the same in each of its words
  RegisterLayout address; ///< where a lane would be if it held the first bytes of its words
  /// Slots in the order of their addresses, by accesses; the first is at the access' first word.
  llvm::SmallVector<llvm::SmallVector<int64_t, 8>, 8> groups;
};
/// Refused where plain accesses are as good, and where the words hold what is not of the fragment.
Answer<WordPlan> wordPlan(const SharedLayout &shared, const RegisterLayout &fragment);

// ---- Bank conflicts

/// Wavefronts summed over the accesses of all warps; `ideal` is what a conflict-free layout takes.
struct BankReport {
  int64_t wavefronts = 0;
  int64_t ideal = 0;
  int64_t conflicts() const { return wavefronts - ideal; }
};

/// One access of a warp: byte addresses of the active lanes, `bytes` each. Phases: 32 lanes up to 4
/// bytes, 16 lanes for 8, 8 lanes for 16; a phase costs the largest number of distinct 4-byte words
/// that fall on one of the 32 banks.
BankReport countWavefronts(llvm::ArrayRef<int64_t> addresses, unsigned bytes);
/// All accesses of accessPlan(). Zero wavefronts when there is no plan.
BankReport bankConflicts(const SharedLayout &shared, const RegisterLayout &fragment);
/// All accesses of a plan of words.
BankReport bankConflicts(const SharedLayout &shared, const WordPlan &plan);
/// All instructions of an ldmatrix or stmatrix plan.
BankReport bankConflicts(const SharedLayout &shared, const MatrixPlan &plan);

// ---- Choosing a shared layout

/// What somebody does with the buffer. A demand that is `required` must be met; others are weighed.
struct Demand {
  /// CpAsync: PTX ISA 9.7.9.25.3.1: both addresses are aligned to the size of the copy.
  /// Words: a load that goes by whole words where it can, else an Access.
  enum class Kind {
    Wgmma,
    Tma,
    TmaStore,
    CpAsync,
    Ldmatrix,
    Stmatrix,
    Access,
    Words
  } kind = Kind::Access;
  WgmmaOperand wgmma;      // Wgmma
  RegisterLayout fragment; // Ldmatrix, Stmatrix, Access, Words
  bool trans = false;      // Ldmatrix, Stmatrix
  int64_t bytes = 0;       // CpAsync: of one copy, along a row
  bool required = false;
  int64_t weight = 1; // times per iteration
};

/// What keeps cp.async from writing `bytes` at a time along the rows; empty if nothing does.
std::string cpAsyncRefusal(const SharedLayout &layout, int64_t bytes);

struct SharedChoice {
  SharedLayout layout;
  bool allRequiredMet = true;
  llvm::SmallVector<std::string, 4> unmet; // one sentence per demand that is not met
  int64_t conflicts = 0;                   // weighted extra wavefronts
  int64_t wavefronts = 0;                  // weighted wavefronts of all accesses
};

/// The best layout for a buffer of this shape, by: required demands, other demands, conflicts,
/// boxes, size, in this order; ties go to the wider swizzle. Deterministic.
SharedChoice chooseSharedLayout(llvm::ArrayRef<int64_t> shape, unsigned elementBits,
                                int contiguousDim, llvm::ArrayRef<Demand> demands);

} // namespace tilec::layout
