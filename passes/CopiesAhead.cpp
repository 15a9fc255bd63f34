//===- CopiesAhead.cpp - copies that a pipelined loop makes early --------===//
#include "passes/CopiesAhead.h"

#include "passes/Pipeline.h"

using namespace mlir;
using namespace tilec;
using tgpu::CopyPath;

namespace {

/// Uses of a buffer outside `loop`, through parts of it.
bool isUsedOutside(Value buffer, scf::ForOp loop) {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    if (auto part = dyn_cast<tgpu::SubviewOp>(user)) {
      return isUsedOutside(part.getResult(), loop);
    }
    return !loop->isProperAncestor(user);
  });
}

/// Why a copy cannot run ahead of its loop, whatever else the loop does; empty when it can.
std::string refuseCopy(tgpu::CopyOp copy, scf::ForOp loop) {
  if (copy.getPath() == CopyPath::Vector) {
    return "it moves by loads and stores";
  }
  if (!isa<tgpu::SmemType>(copy.getDest().getType())) {
    return "it stores";
  }
  tgpu::AllocSharedOp alloc = copy.getDest().getDefiningOp<tgpu::AllocSharedOp>();
  if (!alloc) {
    return "it fills part of a buffer";
  }
  tgpu::SharedAttr layout = alloc.getResult().getType().getLayout();
  if (layout && !layout.getLayout().withLeading(2)) {
    return "its buffer has a layout that cannot be repeated";
  }
  if (isUsedOutside(alloc.getResult(), loop)) {
    return "the buffer is also used outside the loop";
  }
  return "";
}

} // namespace

void tilec::setStages(scf::ForOp loop, ArrayRef<tgpu::CopyOp> copies, int64_t stages) {
  int64_t order = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (!isMemoryEffectFree(&op)) { // scalars go where they are needed
      setStage(&op, llvm::is_contained(copies, &op) ? 0 : stages - 1, order++);
    }
  }
}

void tilec::clearStages(scf::ForOp loop) {
  for (Operation &op : loop.getBody()->without_terminator()) {
    tgpu::kSchedule.remove(&op);
  }
}

CopiesOfLoop tilec::sortCopies(scf::ForOp loop, int64_t stages) {
  CopiesOfLoop copies;
  for (auto copy : loop.getBody()->getOps<tgpu::CopyOp>()) {
    if (!isa<tile::GlobalType>(copy.getSource().getType())) {
      continue;
    }
    std::string reason = refuseCopy(copy, loop);
    if (reason.empty()) {
      copies.ahead.push_back(copy);
    } else {
      copies.serial.emplace_back(copy, reason);
    }
  }
  // What the schedule shows to be in the way goes back into its place: one copy at a time, since
  // the others may be right without it.
  stages = scheduledStages(stages);
  setStages(loop, copies.ahead, stages);
  while (std::optional<Conflict> conflict = findConflict(loop, stages)) {
    auto *it = llvm::find(copies.ahead, conflict->moved);
    if (it == copies.ahead.end()) {
      break; // nothing that was moved
    }
    copies.serial.emplace_back(*it, conflict->reason);
    copies.ahead.erase(it);
    setStages(loop, copies.ahead, stages);
  }
  clearStages(loop);
  return copies;
}
