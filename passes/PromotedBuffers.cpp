//===- PromotedBuffers.cpp ------------------------------------------------===//
#include "passes/PromotedBuffers.h"

#include "passes/ThreadStorage.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;
using tile::BufferType;
using tile::Scope;

bool tilec::isPromoted(Value value) {
  auto type = dyn_cast<BufferType>(value.getType());
  return type && (type.getScope() == Scope::Fragment || type.getScope() == Scope::Uniform ||
                  ThreadStorage::isVariable(type, value));
}

Value tilec::wholeOf(Value storage) {
  Operation *view = storage.getDefiningOp();
  while (isa_and_nonnull<tile::SliceOp, tile::ReshapeOp, tile::BitcastViewOp>(view)) {
    storage = view->getOperand(0);
    view = storage.getDefiningOp();
  }
  return storage;
}

Type tilec::valueType(BufferType type) {
  return type.getRank() == 0 ? type.getElementType()
                             : Type(RankedTensorType::get(type.getShape(), type.getElementType()));
}

/// The promoted buffer that `op` assigns, all or a part; null if it assigns none.
static Value assignedBuffer(Operation *op) {
  Value place = llvm::TypeSwitch<Operation *, Value>(op)
                    .Case<tile::WriteOp>([](auto write) { return write.getDest(); })
                    .Case<tile::StoreOp>([](auto store) { return store.getDest(); })
                    .Case<tile::CopyOp>([](auto copy) { return copy.getDest(); })
                    .Case<tile::GemmOp>([](auto gemm) { return gemm.getAcc(); })
                    .Default([](Operation *) { return Value(); });
  return place && isPromoted(place) ? wholeOf(place) : Value();
}

llvm::SetVector<Value> tilec::buffersAssignedIn(Operation *op) {
  llvm::SetVector<Value> result;
  op->walk([&](Operation *inner) {
    Value buffer = assignedBuffer(inner);
    if (buffer && !op->isProperAncestor(buffer.getParentBlock()->getParentOp()) &&
        buffer.getParentBlock()->getParentOp() != op) {
      result.insert(buffer);
    }
  });
  return result;
}

bool tilec::usesBuffer(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return llvm::any_of(inner->getOperandTypes(), llvm::IsaPred<BufferType>)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}
