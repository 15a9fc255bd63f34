//===- SlotReaders.cpp - who uses a buffer in a block, by role ------------===//
#include "passes/SlotReaders.h"

#include "passes/Sync.h"

using namespace mlir;
using namespace tilec;

/// What has to stay together with `op`, from its first operation on: registers of a product are
/// ready from its fence on, which nothing may part from it.
static Operation *startOf(Operation *op) {
  if (!isa<tgpu::WgmmaOp>(op)) {
    return op;
  }
  for (Operation *before = op; before; before = before->getPrevNode()) {
    if (isa<tgpu::WgmmaFenceOp>(before)) {
      return before;
    }
  }
  return op;
}

SmallVector<Readers> tilec::findReaders(tgpu::AllocSharedOp buffer, Operation *writer, Block *body,
                                        const RoleMap &roles) {
  SmallVector<Readers> found;
  auto uses = [&](Operation *op) {
    return op != writer && llvm::any_of(sync::accessesOf(op), [&](const sync::Access &access) {
             return access.memory.alloc == buffer;
           });
  };
  auto note = [&](Operation *op, int64_t role) {
    auto *own = llvm::find_if(found, [&](const Readers &other) { return other.role == role; });
    own = own == found.end() ? &found.emplace_back(Readers{role, nullptr, nullptr}) : own;
    Operation *top = body->findAncestorOpInBlock(*op);
    own->first = own->first ? own->first : startOf(top);
    if (top && (!own->last || own->last->isBeforeInBlock(top))) {
      own->last = top;
    }
  };
  body->walk([&](Operation *op) {
    if (!uses(op)) {
      return;
    }
    const int64_t role = roles.roleOf(op).value_or(0);
    note(op, role);
    for (auto product = dyn_cast<tgpu::WgmmaOp>(op); product;) {
      tgpu::WgmmaOp next; // the next piece of the product, which is waited for as a whole
      for (Operation *user : product.getResult().getUsers()) {
        note(user, role);
        next = user->getBlock() == op->getBlock() ? dyn_cast<tgpu::WgmmaOp>(user) : next;
      }
      product = next;
    }
  });
  return found;
}
