//===- PromotedBuffers.cpp ------------------------------------------------===//
#include "passes/PromotedBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Analysis.h"
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
  if (type.getRank() == 0) {
    return type.getElementType();
  }
  if (type.getScope() == Scope::Uniform) { // a `vec` of the block
    return VectorType::get(type.getShape(), type.getElementType());
  }
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

bool tilec::isWholeVariable(Value buffer, ValueRange indices, Type moved) {
  return isPromoted(buffer) && (indices.empty() || (isVector(buffer) && isa<VectorType>(moved)));
}

bool tilec::isVector(Value buffer) {
  auto type = dyn_cast<BufferType>(buffer.getType());
  return type && type.getScope() == Scope::Uniform && type.getRank() != 0;
}

static OpFoldResult placeOf(OpBuilder &builder, Value index, const IRMapping &names) {
  if (APInt constant; matchPattern(index, m_ConstantInt(&constant))) {
    return builder.getIndexAttr(constant.getSExtValue());
  }
  return Value(arith::IndexCastOp::create(builder, index.getLoc(), builder.getIndexType(),
                                          names.lookup(index)));
}

Value tilec::elementOf(OpBuilder &builder, Value vec, Value index, const IRMapping &names) {
  return vector::ExtractOp::create(builder, index.getLoc(), vec, placeOf(builder, index, names));
}

Value tilec::withElement(OpBuilder &builder, Value vec, Value element, Value index,
                         const IRMapping &names) {
  return vector::InsertOp::create(builder, index.getLoc(), element, vec,
                                  placeOf(builder, index, names));
}

Value tilec::copiedAs(OpBuilder &builder, tile::CopyOp copy, Value value, Type element) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (elementTypeOf(value.getType()) == element) {
    return value;
  }
  Type target = type ? Type(RankedTensorType::get(type.getShape(), element)) : element;
  return tile::ConvertOp::create(builder, copy.getLoc(), target, value, copy.getSrcUnsigned(),
                                 copy.getDstUnsigned());
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
