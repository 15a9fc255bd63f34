//===- AllocateShared.cpp - offsets of buffers in shared memory ----------===//
//
// Buffers that are live at the same time (SharedPieces.h) get disjoint ranges; barriers of channels
// follow behind all buffers. Scratch spaces of a few words keep a place of their own for the whole
// kernel, so that a conversion need not wait for the one before.
//
// Overlaid buffers need barriers between their uses: tgpu-insert-sync runs after this pass.
//
//===----------------------------------------------------------------------===//
#include "dialects/support/Diagnostics.h"
#include "dialects/support/Target.h"
#include "dialects/tgpu/Roles.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"
#include "passes/SharedPieces.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tilec {
#define GEN_PASS_DEF_ALLOCATESHARED
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// Bytes of scratch spaces that get a place of their own: those of reductions, not of whole tiles.
constexpr int64_t kOwnScratch = 1024;
/// Registers of a thread where they limit the blocks of a multiprocessor least.
constexpr int64_t kFewRegisters = 32;

} // namespace

namespace {
struct AllocateShared : tilec::impl::AllocateSharedBase<AllocateShared> {
  void runOnOperation() override {
    tgpu::KernelOp kernel = getOperation();
    const Target *target = getTarget(kernel);
    if (!target || failed(checkLayouts())) {
      return signalPassFailure();
    }
    SmallVector<SharedPiece> pieces =
        collectSharedPieces(kernel, [](tgpu::AllocSharedOp) { return PlannedRing(); });
    int64_t teamBytes = 0;
    int64_t bytes = placeApart(kernel, *target, pieces, teamBytes);
    OpBuilder builder(kernel.getContext());
    for (SharedPiece &piece : pieces) {
      StringRef attribute = isa<tgpu::AllocSharedOp>(piece.op) ? "offset" : "scratch";
      piece.op->setAttr(attribute, builder.getI64IntegerAttr(piece.offset));
      if (piece.teams > 1 && isa<tgpu::AllocSharedOp>(piece.op)) {
        tgpu::kOfEachTeam.set(piece.op, builder.getUnitAttr());
      }
    }
    kernel.walk([&](tgpu::RolesOp roles) {
      if (teamBytes != 0) {
        roles.setTeamBytes(teamBytes);
      }
    });
    kernel.walk([&](tgpu::ChannelOp channel) {
      channel.setOffset(bytes);
      bytes += channelBytes(channel);
    });
    kernel.setSharedBytes(bytes);
    if (bytes > target->sharedPerBlock) {
      reportTooLarge(*target, bytes, pieces);
      signalPassFailure();
    }
  }

  /// Places the pieces so that small scratch spaces have one of their own where this costs no resident
  /// block: a conversion whose space was used just before it would wait for those who are behind.
  /// Returns the end of all.
  static int64_t placeApart(tgpu::KernelOp kernel, const Target &target,
                            SmallVectorImpl<SharedPiece> &pieces, int64_t &teamBytes) {
    int64_t channels = 0;
    kernel.walk([&](tgpu::ChannelOp channel) { channels += channelBytes(channel); });
    auto blocks = [&](int64_t bytes) {
      return residentBlocks(target, kFewRegisters, kernel.getLaunchedThreads(), bytes + channels);
    };
    SmallVector<SharedPiece> apart = llvm::to_vector(pieces);
    int64_t own = 0;
    for (SharedPiece &piece : apart) {
      if (isa<tgpu::ConvertLayoutOp>(piece.op) && own + piece.bytes <= kOwnScratch) {
        own += piece.bytes;
        piece.begin = 0;
        piece.end = std::numeric_limits<int64_t>::max();
      }
    }
    int64_t teamBytesApart = 0;
    int64_t overlaid = llvm::alignTo(placeSharedPieces(pieces, &teamBytes), 8),
            bytes = llvm::alignTo(placeSharedPieces(apart, &teamBytesApart), 8);
    if (bytes + channels > target.sharedPerBlock || blocks(bytes) < blocks(overlaid)) {
      return overlaid;
    }
    pieces = std::move(apart);
    teamBytes = teamBytesApart;
    return bytes;
  }

  LogicalResult checkLayouts() {
    WalkResult result = getOperation().walk([](tgpu::AllocSharedOp alloc) {
      if (!tgpu::getLayout(alloc.getResult().getType())) {
        alloc->emitError("buffer has no layout: run tgpu-select-shared-layouts first");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  void reportTooLarge(const Target &target, int64_t bytes, ArrayRef<SharedPiece> pieces) {
    InFlightDiagnostic error = getOperation().emitError(diag::formatDiagnostic(
        diag::Id::SharedTooLarge, bytes, StringRef(target.name), target.sharedPerBlock));
    for (const SharedPiece &piece : pieces) {
      std::string line;
      llvm::raw_string_ostream os(line);
      if (auto alloc = dyn_cast<tgpu::AllocSharedOp>(piece.op)) {
        tgpu::SmemType type = alloc.getResult().getType();
        os << llvm::formatv("{0,8} bytes at {1,8}: `{2}`, ", piece.bytes, piece.offset,
                            alloc.getName().value_or("buffer"));
        llvm::interleave(type.getShape(), os, "x");
        os << ' ' << type.getElementType();
      } else {
        os << llvm::formatv("{0,8} bytes at {1,8}: scratch space of a {2}", piece.bytes,
                            piece.offset,
                            isa<tile::PrintOp>(piece.op) ? "`print`" : "layout conversion");
      }
      error.attachNote(piece.op->getLoc()) << line;
    }
    getOperation().walk([&](tgpu::ChannelOp channel) {
      error.attachNote(channel.getLoc())
          << llvm::formatv("{0,8} bytes at {1,8}: barriers of channel `{2}`", channelBytes(channel),
                           *channel.getOffset(), channel.getName().value_or("channel"))
                 .str();
    });
  }
};
} // namespace
