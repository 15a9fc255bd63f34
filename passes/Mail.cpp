//===- Mail.cpp - what one role computes and all roles need ----------------===//
#include "passes/Mail.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/RingPositions.h"
#include "passes/Shared.h"

using namespace mlir;
using namespace tilec;

std::optional<Mail> tilec::mailOf(tgpu::LoadElementOp load) {
  Mail mail;
  mail.box = load.getSource().getDefiningOp<tgpu::AllocSharedOp>();
  Block *block = load->getBlock();
  for (auto around = load->getParentOfType<scf::ForOp>(); around;
       around = around->getParentOfType<scf::ForOp>()) {
    if (tgpu::kPipeline.get(around)) {
      return std::nullopt;
    }
  }
  if (!mail.box) {
    return std::nullopt;
  }
  for (Operation *user : mail.box->getUsers()) {
    if (auto atomic = dyn_cast<tgpu::AtomicOp>(user);
        atomic && atomic.getOld() == mail.box && atomic.getDest() != mail.box && !mail.atomic) {
      mail.atomic = atomic;
    } else if (auto read = dyn_cast<tgpu::LoadElementOp>(user)) {
      mail.reads.push_back(read);
    } else {
      return std::nullopt;
    }
  }
  auto isBehind = [&](Operation *read) {
    return read->getBlock() == block && mail.atomic->isBeforeInBlock(read);
  };
  if (!mail.atomic || mail.atomic->getBlock() != block || !llvm::all_of(mail.reads, isBehind) ||
      !isa<tile::GlobalType>(mail.atomic.getDest().getType()) ||
      llvm::any_of(mail.atomic->getOperandTypes(), llvm::IsaPred<RankedTensorType>)) {
    return std::nullopt;
  }
  llvm::sort(mail.reads, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return mail;
}

/// Whether it is the counter that deals the points of the grid, of which nothing else takes notice.
static bool dealsPoints(tgpu::AtomicOp atomic) {
  auto view = atomic.getDest().getDefiningOp<tgpu::ViewOp>();
  auto counter = view ? dyn_cast<BlockArgument>(view.getBase()) : BlockArgument();
  return counter &&
         tgpu::kPointCounter.has(atomic->getParentOfType<tgpu::KernelOp>(), counter.getArgNumber());
}

// One: all have read the one before by then. A second slot would have blocks take points of the grid ahead, and who took a long one late ends
// late (docs/performance-attention.md).
static constexpr int64_t kSlots = 1;

int64_t tilec::mailBytes(const Mail &mail) {
  tgpu::AllocSharedOp box = mail.box;
  tgpu::SmemType ring = ringType(box.getResult().getType(), kSlots);
  constexpr int64_t kBarriers = 2 * 8; // of a slot
  return sharedBytes(ring) + tgpu::getLayout(ring)->alignment() + kSlots * kBarriers;
}

Post tilec::handOver(const Mail &mail, int64_t consumers) {
  tgpu::AtomicOp atomic = mail.atomic;
  auto kernel = atomic->getParentOfType<tgpu::KernelOp>();
  tgpu::AllocSharedOp box = mail.box;
  const Location loc = atomic.getLoc();
  tgpu::SmemType type = box.getResult().getType();
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value ring = tgpu::AllocSharedOp::create(builder, loc, ringType(type, kSlots), box.getNameAttr(),
                                           StringAttr(), IntegerAttr());
  Value channel =
      tgpu::ChannelOp::create(builder, loc, tgpu::ChannelType::get(kernel.getContext(), kSlots),
                              builder.getStringAttr(box.getName().value_or("mail")), 1, consumers,
                              IntegerAttr(), DenseI32ArrayAttr(), ValueRange(ring));
  RingPosition carried(kernel, atomic);
  Value position = carried.base();
  Post post;
  post.isNextPoint = dealsPoints(atomic);
  builder.setInsertionPoint(atomic);
  Value end = emitSum(builder, loc, position, constantI32(builder, loc, 1));
  post.fill = tgpu::OneThreadOp::create(builder, loc);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&post.fill.getBody().emplaceBlock());
    tgpu::AcquireOp::create(builder, loc, channel, position);
    auto done = tgpu::AtomicOp::create(builder, loc, type.getElementType(), atomic.getKind(),
                                       atomic.getValue(), atomic.getExpected(), atomic.getDest(),
                                       atomic.getIndices(), atomic.getMask(), Value(),
                                       atomic.getOrder(), atomic.getIsUnsigned());
    done->setDiscardableAttrs(atomic->getDiscardableAttrDictionary());
    Value slot = tgpu::SlotOp::create(builder, loc, type, ring, position);
    tgpu::StoreElementOp::create(builder, loc, done.getResult(), slot,
                                 ValueRange(constantI32(builder, loc, 0)));
    tgpu::PublishOp::create(builder, loc, channel, position);
  }
  builder.setInsertionPoint(mail.reads.front());
  post.wait = tgpu::WaitOp::create(builder, loc, channel, position);
  Value slot = tgpu::SlotOp::create(builder, loc, type, ring, position);
  for (tgpu::LoadElementOp read : mail.reads) {
    read.getSourceMutable().assign(slot);
  }
  builder.setInsertionPointAfter(mail.reads.back());
  post.release = tgpu::ReleaseOp::create(builder, loc, channel, position);
  carried.store(post.fill, end);
  atomic.erase();
  box.erase();
  return post;
}

bool tilec::readsPost(tgpu::LoadElementOp load, Post post) {
  auto slot = load.getSource().getDefiningOp<tgpu::SlotOp>();
  return slot && post.wait->getBlock() == load->getBlock() &&
         llvm::any_of(post.fill.getBody().front().getOps<tgpu::SlotOp>(),
                      [&](tgpu::SlotOp own) { return own.getRing() == slot.getRing(); });
}
