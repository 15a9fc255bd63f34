//===- SharedPieces.cpp - what needs shared memory, and when --------------===//
#include "passes/SharedPieces.h"

#include "dialects/layout/Conversion.h"
#include "dialects/tgpu/Roles.h"
#include "passes/Analysis.h"
#include "passes/Shared.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

/// What a buffer without a layout, which may get any, is aligned to.
constexpr int64_t kMostAligned = 1024;

namespace {

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
    if (auto stream = dyn_cast<tgpu::StreamOp>(user->getParentOp());
        stream && isa<tgpu::YieldOp>(user)) {
      collectWaits(stream.getResultsOf(user)[use.getOperandNumber()], seen, waits);
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

/// The wait that ends a cp.async: the first for all groups behind it, in its block or in one around it;
/// where there is none, all waits.
static void waitsFor(tgpu::KernelOp kernel, Operation *copy, SmallVectorImpl<Operation *> &waits) {
  for (Operation *op = copy; op != kernel; op = op->getParentOp()) {
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
      auto wait = dyn_cast<tgpu::CpAsyncWaitOp>(next);
      if (wait && wait.getPending() == 0) {
        waits.push_back(wait);
        return;
      }
    }
  }
  kernel.walk([&](tgpu::CpAsyncWaitOp wait) { waits.push_back(wait); });
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
      if (isa<tgpu::ChannelOp>(user)) {
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
        waitsFor(kernel, user, uses);
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

/// The end of the highest, from 0.
static int64_t place(SmallVector<SharedPiece *> bySize) {
  llvm::sort(bySize, [](SharedPiece *a, SharedPiece *b) {
    return std::tuple(-a->bytes, a) < std::tuple(-b->bytes, b);
  });
  SmallVector<SharedPiece *> placed;
  int64_t top = 0;
  for (SharedPiece *piece : bySize) {
    // Candidates: 0 and the ends of the pieces in the way, from below.
    SmallVector<SharedPiece *> inTheWay = llvm::filter_to_vector(placed, [&](SharedPiece *other) {
      return piece->begin <= other->end && other->begin <= piece->end;
    });
    llvm::sort(inTheWay, [](SharedPiece *a, SharedPiece *b) {
      return std::tuple(a->offset, a) < std::tuple(b->offset, b);
    });
    int64_t offset = 0;
    for (SharedPiece *other : inTheWay) {
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

int64_t tilec::placeSharedPieces(MutableArrayRef<SharedPiece> pieces, int64_t *teamBytes) {
  SmallVector<SharedPiece *> common, own;
  int64_t teams = 1;
  for (SharedPiece &piece : pieces) {
    (piece.teams == 1 ? common : own).push_back(&piece);
    teams = std::max(teams, piece.teams);
  }
  const int64_t top = place(common);
  if (own.empty()) {
    return top;
  }
  const int64_t first = llvm::alignTo(top, kMostAligned),
                each = llvm::alignTo(place(own), kMostAligned);
  for (SharedPiece *piece : own) {
    piece->offset += first;
  }
  if (teamBytes) {
    *teamBytes = each;
  }
  return first + teams * each;
}

namespace {

/// Who has a piece for themselves.
class Teams {
public:
  explicit Teams(tgpu::KernelOp kernel) : wanted(teamsWanted(kernel)) {
    kernel.walk([&](tgpu::RolesOp op) { roles = op; });
  }
  /// How many teams have what these operations alone use: of roles by where they are, before there are roles all but
  /// what is loaded by TMA or handed over, which is `shared` by all.
  int64_t of(ArrayRef<Operation *> uses, bool shared) {
    if (!roles || shared) {
      return shared ? 1 : wanted;
    }
    std::optional<unsigned> role = roles.getRoleOfTeams();
    const bool isOwn = role && llvm::all_of(uses, [&](Operation *use) {
                         return roles.getBodies()[*role].isAncestor(use->getParentRegion());
                       });
    return isOwn ? roles.getTeams()[*role] : 1;
  }

private:
  tgpu::RolesOp roles; ///< null before there are any
  int64_t wanted;
};

} // namespace

/// Roles run at the same time: what is in one of them may meet any operation of the others. But what only
/// one role uses comes in the order of its program; for the largest role, the last of several (the others have
/// little of their own), the numbers of its operations say when. Its block; null outside of it.
static Block *ownTime(Operation *op) {
  auto roles = op->getParentOfType<tgpu::RolesOp>();
  if (!roles) {
    return nullptr;
  }
  ArrayRef<int32_t> warps = roles.getNumWarps();
  size_t largest = 0;
  for (size_t role = 1; role < warps.size(); ++role) {
    largest = warps[role] >= warps[largest] ? role : largest;
  }
  Region &body = roles.getBodies()[largest];
  return body.isAncestor(op->getParentRegion()) ? &body.front() : nullptr;
}

/// What stands for `op`, which uses a piece alone, when pieces are compared.
static Operation *besideRoles(Operation *op) {
  auto roles = op->getParentOfType<tgpu::RolesOp>();
  return roles && !ownTime(op) ? roles.getOperation() : op;
}

/// A load that may become one of a role of its own.
static bool isLoadByTma(Operation *op) {
  auto copy = dyn_cast<tgpu::CopyOp>(op);
  return isa<tgpu::TmaLoadOp>(op) || (copy && copy.getPath() == tgpu::CopyPath::Tma &&
                                      isa<tgpu::SmemType>(copy.getDest().getType()));
}

static SharedPiece pieceOf(tgpu::KernelOp kernel, tgpu::AllocSharedOp alloc, PlannedRing ring,
                           const Numbering &numbers, Teams &teams) {
  tgpu::SmemType type = alloc.getResult().getType();
  SmallVector<Operation *> uses = usesOf(kernel, alloc);
  Block *declared = alloc->getBlock();
  const bool isShared =
      asksForRoles(kernel) && (tgpu::kHandOver.has(alloc) || llvm::any_of(uses, isLoadByTma));
  const int64_t ofTeams = teams.of(uses, isShared);
  if (ring.slots > 0) {
    type = ringType(type, ring.slots);
    uses.assign({ring.loop});
    declared = &kernel.getBody().front();
  }
  if (isShared) {
    // A role that loads may be at any loop while others are at another.
    uses.assign({kernel.getOperation()});
  } else if (!uses.empty() && declared == &kernel.getBody().front()) {
    Block *own = ownTime(uses.front());
    const bool isAlone =
        own && llvm::all_of(uses, [&](Operation *use) { return ownTime(use) == own; });
    declared = isAlone ? own : declared;
  }
  const layout::SharedLayout *layout = tgpu::getLayout(type);
  SharedPiece piece{alloc, sharedBytes(type), layout ? layout->alignment() : kMostAligned, -1, -1};
  for (Operation *use : uses) {
    Operation *extent = besideRoles(extentOf(use, declared));
    int64_t begin = numbers.begin(extent);
    piece.begin = piece.begin < 0 ? begin : std::min(piece.begin, begin);
    piece.end = std::max(piece.end, numbers.end(extent));
  }
  if (piece.begin < 0) {
    piece.begin = piece.end = numbers.begin(alloc);
  }
  piece.teams = ofTeams;
  return piece;
}

SmallVector<SharedPiece>
tilec::collectSharedPieces(tgpu::KernelOp kernel,
                           llvm::function_ref<PlannedRing(tgpu::AllocSharedOp)> ringOf) {
  Numbering numbers(kernel);
  Teams teams(kernel);
  SmallVector<SharedPiece> pieces;
  auto addScratch = [&](Operation *op, int64_t bytes, int64_t alignment) {
    Operation *extent = besideRoles(op);
    pieces.push_back({op, bytes, alignment, numbers.begin(extent), numbers.end(extent), 0,
                      teams.of(op, /*shared=*/false)});
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto alloc = dyn_cast<tgpu::AllocSharedOp>(op)) {
      pieces.push_back(pieceOf(kernel, alloc, ringOf(alloc), numbers, teams));
    } else if (auto convert = dyn_cast<tgpu::ConvertLayoutOp>(op)) {
      if (std::optional<layout::Conversion> exchange = tgpu::getExchange(convert)) {
        addScratch(convert, exchange->sharedBytes, exchange->shared.alignment());
      }
    } else if (isa<tile::PrintOp>(op) &&
               llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>)) {
      addScratch(op, kPrintScratch, kPrintScratch);
    }
  });
  return pieces;
}
