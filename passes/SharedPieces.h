//===- SharedPieces.h - what needs shared memory, and when ----*- C++ -*-===//
//
// Operations are numbered in program order, and a buffer is live from its first use to its last. A
// use inside a loop (or a role, or a region of single threads) that the buffer was declared outside
// of counts for the whole loop (or for all roles, which run at the same time, or the region, whose
// threads do). What is used asynchronously stays in use until
// the wait that ends it. What only the largest role uses has the times of that role's operations; where a
// kernel is to have roles, what TMA may fill, and what roles hand over, is live all the time.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_SHAREDPIECES_H
#define TILEC_PASSES_SHAREDPIECES_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilec {

/// Something that needs shared memory between two operations.
struct SharedPiece {
  mlir::Operation *op; ///< alloc_shared, convert_layout or print
  int64_t bytes, alignment;
  int64_t begin, end; ///< numbers of the first and last operation that need it
  int64_t offset = 0;
  int64_t teams = 1; ///< so many have it each for themselves: the first one's is at `offset`
};

/// Bytes of a channel: barriers of 8 for each slot, a full and an empty one, and one more where other blocks fill it.
inline int64_t channelBytes(tgpu::ChannelOp channel) {
  return (channel.getAcross() ? 3 : 2) * 8 * channel.getResult().getType().getSlots();
}

/// Slots of the ring that a buffer will be, and the loop that it is for; a count of 0: it will be none.
struct PlannedRing {
  mlir::Operation *loop = nullptr;
  int64_t slots = 0;
};

/// All pieces of a kernel. Of a buffer for which `ringOf` says so the ring: from before its loop, or
/// before the outermost one around it, to the end of that, where what is in flight is waited for.
llvm::SmallVector<SharedPiece>
collectSharedPieces(tgpu::KernelOp kernel,
                    llvm::function_ref<PlannedRing(tgpu::AllocSharedOp)> ringOf);

/// Gives pieces that are live at the same time disjoint ranges: first fit by decreasing size. What teams have for themselves
/// lies behind all else, once for each, since they are at different places of their program. Returns the
/// end of the highest piece, and in `teamBytes`, if given, how far apart the teams' are.
int64_t placeSharedPieces(llvm::MutableArrayRef<SharedPiece> pieces, int64_t *teamBytes = nullptr);

} // namespace tilec

#endif // TILEC_PASSES_SHAREDPIECES_H
