//===- AllocateShared.cpp - offsets of buffers in shared memory ----------===//
//
// Operations are numbered in program order, and a buffer is live from its first use to its last. A
// use inside a loop (or a role, or a region of single threads) that the buffer was declared outside
// of counts for the whole loop (or for all roles, which run at the same time, or the region, whose
// threads do). What is used asynchronously stays in use until
// the wait that ends it. Buffers that are live at the same time get disjoint ranges, first fit by
// decreasing size; barriers of channels follow behind all buffers. Scratch spaces of a few words keep
// a place of their own for the whole kernel, so that a conversion need not wait for the one before.
//
// Overlaid buffers need barriers between their uses: tgpu-insert-sync runs after this pass.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/Conversion.h"
#include "dialects/support/Diagnostics.h"
#include "dialects/support/Target.h"
#include "passes/Passes.h"
#include "passes/Shared.h"

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

/// Something that needs shared memory between two operations.
struct Piece {
  Operation *op; // alloc_shared, convert_layout or print
  int64_t bytes, alignment;
  int64_t begin, end; // numbers of the first and last operation that need it
  int64_t offset = 0;
};

/// Numbers of operations in program order.
class Numbering {
public:
  explicit Numbering(tgpu::KernelOp kernel) {
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { first[op] = next++; });
  }
  int64_t begin(Operation *op) const { return first.lookup(op); }
  /// The last operation inside `op`, or `op` itself.
  int64_t end(Operation *op) const {
    int64_t last = first.lookup(op);
    op->walk([&](Operation *inner) { last = std::max(last, first.lookup(inner)); });
    return last;
  }

private:
  llvm::DenseMap<Operation *, int64_t> first;
  int64_t next = 0;
};

} // namespace

/// The waits that end the reads of a product, found along the chain of its accumulator.
static void collectWaits(Value pending, llvm::SmallPtrSetImpl<Operation *> &seen,
                         SmallVectorImpl<Operation *> &waits) {
  for (OpOperand &use : pending.getUses()) {
    Operation *user = use.getOwner();
    if (!seen.insert(user).second) {
      continue;
    }
    if (auto yield = dyn_cast<scf::YieldOp>(user)) {
      Operation *parent = yield->getParentOp();
      if (auto loop = dyn_cast<scf::ForOp>(parent)) {
        collectWaits(loop.getRegionIterArg(use.getOperandNumber()), seen, waits);
      }
      if (use.getOperandNumber() < parent->getNumResults()) {
        collectWaits(parent->getResult(use.getOperandNumber()), seen, waits);
      }
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      if (BlockArgument argument = loop.getTiedLoopRegionIterArg(&use)) {
        collectWaits(argument, seen, waits);
        collectWaits(loop.getTiedLoopResult(&use), seen, waits);
      }
      continue;
    }
    if (isa<tgpu::WgmmaWaitOp>(user)) {
      waits.push_back(user);
    }
    for (Value result : user->getResults()) {
      if (isa<tgpu::PendingType>(result.getType())) {
        collectWaits(result, seen, waits);
      }
    }
  }
}

/// Operations that use a buffer, and the waits that end what they start.
static SmallVector<Operation *> usesOf(tgpu::KernelOp kernel, tgpu::AllocSharedOp alloc) {
  SmallVector<Operation *> uses;
  SmallVector<Value> values = {alloc.getResult()};
  while (!values.empty()) {
    for (Operation *user : values.pop_back_val().getUsers()) {
      if (isa<tgpu::SlotOp, tgpu::SubviewOp>(user)) {
        values.push_back(user->getResult(0));
        continue;
      }
      uses.push_back(user);
      llvm::SmallPtrSet<Operation *, 8> seen;
      if (auto product = dyn_cast<tgpu::WgmmaOp>(user)) {
        collectWaits(product.getResult(), seen, uses);
      } else if (auto load = dyn_cast<tgpu::TmaLoadOp>(user)) {
        llvm::copy_if(load.getChannel().getUsers(), std::back_inserter(uses),
                      llvm::IsaPred<tgpu::WaitOp>);
      } else if (isa<tgpu::TmaStoreOp>(user)) {
        kernel.walk([&](tgpu::TmaStoreWaitOp wait) { uses.push_back(wait); });
      } else if (isa<tgpu::CpAsyncOp>(user)) {
        kernel.walk([&](tgpu::CpAsyncWaitOp wait) { uses.push_back(wait); });
      }
    }
  }
  return uses;
}

/// The operation whose whole extent a use counts for: the outermost loop, roles or region between it
/// and the block of the declaration.
static Operation *extentOf(Operation *use, Block *declared) {
  Operation *extent = use;
  for (Operation *op = use; op && op->getBlock() != declared;) {
    op = op->getParentOp();
    if (isa_and_nonnull<LoopLikeOpInterface, tgpu::RolesOp, tile::ThreadsOp>(op) &&
        op->getBlock()) {
      extent = op;
    }
  }
  return extent;
}

/// First fit by decreasing size. Returns the end of the highest piece.
static int64_t place(MutableArrayRef<Piece> pieces) {
  SmallVector<Piece *> bySize = llvm::map_to_vector(pieces, [](Piece &piece) { return &piece; });
  llvm::sort(bySize, [](Piece *a, Piece *b) {
    return std::tuple(-a->bytes, a) < std::tuple(-b->bytes, b);
  });
  SmallVector<Piece *> placed;
  int64_t top = 0;
  for (Piece *piece : bySize) {
    // Candidates: 0 and the ends of the pieces in the way, from below.
    SmallVector<Piece *> inTheWay = llvm::filter_to_vector(placed, [&](Piece *other) {
      return piece->begin <= other->end && other->begin <= piece->end;
    });
    llvm::sort(inTheWay, [](Piece *a, Piece *b) {
      return std::tuple(a->offset, a) < std::tuple(b->offset, b);
    });
    int64_t offset = 0;
    for (Piece *other : inTheWay) {
      if (offset + piece->bytes <= other->offset) {
        break;
      }
      offset =
          std::max(offset, int64_t(llvm::alignTo(other->offset + other->bytes, piece->alignment)));
    }
    piece->offset = offset;
    placed.push_back(piece);
    top = std::max(top, offset + piece->bytes);
  }
  return top;
}

namespace {
struct AllocateShared : tilec::impl::AllocateSharedBase<AllocateShared> {
  void runOnOperation() override {
    tgpu::KernelOp kernel = getOperation();
    const Target *target = getTarget(kernel);
    SmallVector<Piece> pieces;
    if (!target || failed(collect(kernel, pieces))) {
      return signalPassFailure();
    }
    int64_t bytes = placeApart(kernel, *target, pieces);
    OpBuilder builder(kernel.getContext());
    for (Piece &piece : pieces) {
      StringRef attribute = isa<tgpu::AllocSharedOp>(piece.op) ? "offset" : "scratch";
      piece.op->setAttr(attribute, builder.getI64IntegerAttr(piece.offset));
    }
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
                            SmallVectorImpl<Piece> &pieces) {
    int64_t channels = 0;
    kernel.walk([&](tgpu::ChannelOp channel) { channels += channelBytes(channel); });
    auto blocks = [&](int64_t bytes) {
      return residentBlocks(target, kFewRegisters, kernel.getLaunchedThreads(), bytes + channels);
    };
    SmallVector<Piece> apart = llvm::to_vector(pieces);
    int64_t own = 0;
    for (Piece &piece : apart) {
      if (isa<tgpu::ConvertLayoutOp>(piece.op) && own + piece.bytes <= kOwnScratch) {
        own += piece.bytes;
        piece.begin = 0;
        piece.end = std::numeric_limits<int64_t>::max();
      }
    }
    int64_t overlaid = llvm::alignTo(place(pieces), 8), bytes = llvm::alignTo(place(apart), 8);
    if (bytes + channels > target.sharedPerBlock || blocks(bytes) < blocks(overlaid)) {
      return overlaid;
    }
    pieces = std::move(apart);
    return bytes;
  }

  /// A full and an empty barrier for each slot.
  static int64_t channelBytes(tgpu::ChannelOp channel) {
    return 2 * 8 * channel.getResult().getType().getSlots();
  }

  static LogicalResult collect(tgpu::KernelOp kernel, SmallVectorImpl<Piece> &pieces) {
    Numbering numbers(kernel);
    WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto alloc = dyn_cast<tgpu::AllocSharedOp>(op)) {
        const layout::SharedLayout *layout = tgpu::getLayout(alloc.getResult().getType());
        if (!layout) {
          op->emitError("buffer has no layout: run tgpu-select-shared-layouts first");
          return WalkResult::interrupt();
        }
        Piece piece{op, layout->sizeBytes(), layout->alignment(), -1, -1};
        for (Operation *use : usesOf(kernel, alloc)) {
          Operation *extent = extentOf(use, op->getBlock());
          int64_t begin = numbers.begin(extent);
          piece.begin = piece.begin < 0 ? begin : std::min(piece.begin, begin);
          piece.end = std::max(piece.end, numbers.end(extent));
        }
        if (piece.begin < 0) {
          piece.begin = piece.end = numbers.begin(op);
        }
        pieces.push_back(piece);
      } else if (auto convert = dyn_cast<tgpu::ConvertLayoutOp>(op)) {
        addScratch(convert, numbers, pieces);
      } else if (auto print = dyn_cast<tile::PrintOp>(op);
                 print && llvm::any_of(print->getOperandTypes(), llvm::IsaPred<RankedTensorType>)) {
        Operation *extent = besideRoles(op);
        pieces.push_back(
            {op, kPrintScratch, kPrintScratch, numbers.begin(extent), numbers.end(extent)});
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Roles run at the same time: what is in one of them may meet any operation of the others.
  static Operation *besideRoles(Operation *op) {
    auto roles = op->getParentOfType<tgpu::RolesOp>();
    return roles ? roles.getOperation() : op;
  }

  static void addScratch(tgpu::ConvertLayoutOp convert, const Numbering &numbers,
                         SmallVectorImpl<Piece> &pieces) {
    std::optional<layout::Conversion> exchange = tgpu::getExchange(convert);
    if (!exchange) {
      return;
    }
    Operation *extent = besideRoles(convert);
    pieces.push_back({convert, exchange->sharedBytes, exchange->shared.alignment(),
                      numbers.begin(extent), numbers.end(extent)});
  }

  void reportTooLarge(const Target &target, int64_t bytes, ArrayRef<Piece> pieces) {
    InFlightDiagnostic error = getOperation().emitError(diag::formatDiagnostic(
        diag::Id::SharedTooLarge, bytes, StringRef(target.name), target.sharedPerBlock));
    for (const Piece &piece : pieces) {
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
