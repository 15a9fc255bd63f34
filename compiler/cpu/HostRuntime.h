//===- HostRuntime.h - what generated host code calls ---------------------===//
//
// Generated code (LowerToHost*.cpp) holds the control flow, scalar arithmetic and element loops of
// a program. Work on whole regions, memory, threads, printing and errors is here. Both sides agree
// on the records below, which are made of 64-bit words only.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/support/Floats.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <csetjmp>
#include <memory>
#include <string>
#include <vector>

namespace tilec::cpu {

using tile_rt::DType;
using tile_rt::dtypeBits;

inline constexpr int kMaxRank = 8;

/// One dimension of a view. Index i is in range if lo <= i < hi. Without `indices` it lies `i *
/// stride` elements from the view's start; with them at `indices[start + i] * stride`, if that
/// number is in [indexLo, indexHi).
struct ViewDim {
  int64_t size;   ///< number of indices that the program sees
  int64_t stride; ///< in elements
  int64_t lo, hi;
  const void *indices;
  int64_t indexBytes; ///< 4 or 8
  int64_t indexStart;
  int64_t indexLo, indexHi;
};

/// A region of memory: of a tensor, a buffer or a tile value (`packed == 0`: 4-bit types take a
/// byte each).
struct HostView {
  char *base;
  int64_t offset; ///< in elements
  int64_t num;    ///< a DType; integers are the ones with sign
  int64_t packed;
  int64_t rank;
  int64_t valid; ///< 0: a dropped index was out of range, so that every element is
  ViewDim dims[kMaxRank];
};

inline constexpr int kViewHeaderWords = 6;
inline constexpr int kViewDimWords = 9;
static_assert(sizeof(HostView) == 8 * (kViewHeaderWords + kMaxRank * kViewDimWords));

/// An argument of a kernel as generated code reads it. A tensor: data, extents, strides; a scalar:
/// its bits.
struct HostArgument {
  void *data;
  uint64_t bits;
  int64_t extents[kMaxRank];
  int64_t strides[kMaxRank];
};

/// Memory that is given back in the order opposite to that in which it was taken.
class Arena {
public:
  /// `size` bytes, 64-byte aligned, not initialised.
  void *allocate(size_t size);
  /// A place to which `release` returns.
  int64_t mark() const { return ((int64_t)current << 40) | (int64_t)used; }
  void release(int64_t mark);

private:
  struct Chunk {
    std::unique_ptr<char[]> memory;
    size_t size;
  };
  std::vector<Chunk> chunks;
  size_t current = 0; ///< index of the chunk in use
  size_t used = 0;    ///< bytes of it
};

class FiberScheduler;

/// One call of a kernel.
struct HostRun {
  llvm::raw_ostream *out = nullptr; ///< where `print` goes
  std::string error;                ///< what stopped the program
  jmp_buf stop;                     ///< back to the caller of the generated code
  Arena workspaces;
  int64_t memoryLimit = 0; ///< bytes that one workspace can have
  std::unique_ptr<FiberScheduler> fibers;

  HostRun();
  ~HostRun();
};

/// What generated code passes along: the block's program, or one thread of a region.
struct HostThread {
  HostRun *run;
  Arena arena;
  int64_t number = 0; ///< in the block
};

/// Ends the program with the error in `run->error`. Nothing on the stack is destroyed: no object with
/// a destructor, not even the text of the error, may still be there.
[[noreturn]] void stopProgram(HostThread *thread);

/// Ends up where the program was started; also from the stack of a thread of a region.
[[noreturn]] void leaveProgram(HostRun &run);

/// acc = (accumulate ? acc : 0) + A * B, see HostGemm.cpp.
struct GemmFlags {
  static constexpr int64_t kTransposeA = 1, kTransposeB = 2, kAccumulate = 4, kTf32 = 8,
                           kAUnsigned = 16, kBUnsigned = 32;
};
void gemm(HostThread *thread, const HostView *a, const HostView *b, const HostView *acc,
          int64_t flags);

/// A function that generated code may call.
struct HostSymbol {
  llvm::StringRef name;
  void *address;
};
std::vector<HostSymbol> hostSymbols();

/// An integer type with the sign that an operation says it has.
inline DType signedAs(DType type, bool isUnsigned) {
  return isUnsigned ? tile_rt::dtypeWithoutSign(type) : type;
}

/// Address of element `index` of `view`: its byte, and in `*high` whether it is the high half of
/// it. Null where it is out of range.
char *elementAddress(const HostView &view, const int64_t *index, bool *high);
uint64_t loadBits(const HostView &view, const char *address, bool high);
void storeBits(const HostView &view, char *address, bool high, uint64_t bits);

} // namespace tilec::cpu
