// Operations on tiles, atomics, operations of warps.
#include "compiler/lower/Lowering.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::lower;

//===----------------------------------------------------------------------===//
// Copies and products
//===----------------------------------------------------------------------===//

/// A place as it is, so that its memory is known; anything else as a value.
Value Lowering::lowerTileOperand(const sema::Expr &expr) {
  if (!expr.isPlace()) {
    return lowerValue(expr);
  }
  Value place = lowerPlace(expr);
  return expr.space == sema::Space::Local ? readPlace(place) : place;
}

static bool isUnsignedStorage(sema::Scalar elem) {
  return sema::isUnsignedInteger(elem) || elem == sema::Scalar::U4 || elem == sema::Scalar::Bool;
}

void Lowering::lowerCopy(const sema::CopyStmt &stmt) {
  if (stmt.target->space == sema::Space::Local) {
    return unsupported(stmt.target->range, "a `local` buffer as the target of `copy`");
  }
  Value source = lowerTileOperand(*stmt.source);
  Value target = lowerPlace(*stmt.target);
  sema::Scalar from = stmt.source->type.elem, to = stmt.target->type.elem;
  bool converts = from != to;
  const bool isGlobal =
      isa<tile::GlobalType>(source.getType()) || isa<tile::GlobalType>(target.getType());
  hintedAccesses += isGlobal;
  tile::CopyOp::create(
      b, source, target, converts && isUnsignedStorage(from), converts && isUnsignedStorage(to),
      noTma, isGlobal ? cache : tile::CacheHint::None, requireAttr(stmt.annotations.require));
}

static tile::GemmPolicy gemmPolicy(sema::GemmPolicy policy) {
  switch (policy) {
  case sema::GemmPolicy::Square:
    return tile::GemmPolicy::Square;
  case sema::GemmPolicy::FullRow:
    return tile::GemmPolicy::FullRow;
  case sema::GemmPolicy::FullCol:
    return tile::GemmPolicy::FullCol;
  }
  llvm_unreachable("no such policy");
}

void Lowering::lowerGemm(const sema::GemmStmt &stmt) {
  Value a = lowerTileOperand(*stmt.a);
  Value bb = lowerTileOperand(*stmt.b);
  Value acc = lowerPlace(*stmt.acc);
  bool tf32 = stmt.precision == sema::GemmPrecision::Tf32;
  tile::GemmOp::create(b, a, bb, acc, stmt.transposeA, stmt.transposeB, stmt.accumulate,
                       gemmPolicy(stmt.policy),
                       tf32 ? tile::GemmPrecision::Tf32 : tile::GemmPrecision::Full, stmt.promote,
                       isUnsignedStorage(stmt.a->type.elem), isUnsignedStorage(stmt.b->type.elem),
                       requireAttr(stmt.annotations.require));
}

//===----------------------------------------------------------------------===//
// Reductions, scans, transposition
//===----------------------------------------------------------------------===//

static tile::CombineKind combineKind(sema::ReduceKind kind) {
  switch (kind) {
  case sema::ReduceKind::Sum:
    return tile::CombineKind::Sum;
  case sema::ReduceKind::Prod:
    return tile::CombineKind::Prod;
  case sema::ReduceKind::Max:
    return tile::CombineKind::Max;
  case sema::ReduceKind::Min:
    return tile::CombineKind::Min;
  case sema::ReduceKind::And:
  case sema::ReduceKind::All:
    return tile::CombineKind::And;
  case sema::ReduceKind::Or:
  case sema::ReduceKind::Any:
    return tile::CombineKind::Or;
  case sema::ReduceKind::Xor:
    return tile::CombineKind::Xor;
  }
  llvm_unreachable("no such reduction");
}

Value Lowering::lowerReduce(const sema::ReduceExpr &expr) {
  Value input = lowerValue(*expr.operand);
  IntegerAttr axis = expr.axis ? b.getI64IntegerAttr(*expr.axis) : IntegerAttr();
  return tile::ReduceOp::create(b, valueType(expr.type), combineKind(expr.op), input, axis,
                                sema::isUnsignedInteger(expr.operand->type.elem));
}

Value Lowering::lowerScan(const sema::ScanExpr &expr) {
  Value input = lowerValue(*expr.operand);
  return tile::ScanOp::create(b, input.getType(), combineKind(expr.op), input, expr.axis,
                              expr.reverse, expr.exclusive,
                              sema::isUnsignedInteger(expr.operand->type.elem));
}

Value Lowering::lowerTranspose(const sema::TransposeExpr &expr) {
  return tile::TransposeOp::create(b, valueType(expr.type), lowerValue(*expr.operand));
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

static tile::AtomicKind atomicKind(sema::AtomicOp op) {
  switch (op) {
  case sema::AtomicOp::Add:
    return tile::AtomicKind::Add;
  case sema::AtomicOp::Min:
    return tile::AtomicKind::Min;
  case sema::AtomicOp::Max:
    return tile::AtomicKind::Max;
  case sema::AtomicOp::And:
    return tile::AtomicKind::And;
  case sema::AtomicOp::Or:
    return tile::AtomicKind::Or;
  case sema::AtomicOp::Xor:
    return tile::AtomicKind::Xor;
  case sema::AtomicOp::Exchange:
    return tile::AtomicKind::Exchange;
  case sema::AtomicOp::Cas:
    break; // has an operation of its own
  }
  llvm_unreachable("no such atomic");
}

Value Lowering::lowerAtomic(const sema::AtomicExpr &expr) {
  tile::MemoryOrder order = expr.acqRel ? tile::MemoryOrder::AcqRel : tile::MemoryOrder::Relaxed;
  bool isUnsigned = sema::isUnsignedInteger(expr.place->type.elem);
  auto *element = llvm::dyn_cast<sema::ElementExpr>(expr.place);
  if (!element) {
    Value place = lowerPlace(*expr.place);
    Value value = lowerValue(*expr.value);
    hint(tile::AtomicTileOp::create(b, atomicKind(expr.op), value, place, order, isUnsigned),
         place);
    return {};
  }
  Access access = lowerAccess(*element->base, element->indices, element->type);
  Value expected = expr.expected ? lowerValue(*expr.expected) : Value();
  Value value = lowerValue(*expr.value);
  Type type = valueType(expr.type);
  if (expr.op == sema::AtomicOp::Cas) {
    auto cas =
        tile::AtomicCasOp::create(b, type, expected, value, access.place, access.indices, order);
    hint(cas, access.place);
    return cas;
  }
  auto atomic = tile::AtomicOp::create(b, type, atomicKind(expr.op), value, access.place,
                                       access.indices, order, isUnsigned);
  hint(atomic, access.place);
  return atomic;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

static tile::WarpOpKind warpKind(sema::WarpOp op) {
  switch (op) {
  case sema::WarpOp::Sum:
    return tile::WarpOpKind::Sum;
  case sema::WarpOp::Min:
    return tile::WarpOpKind::Min;
  case sema::WarpOp::Max:
    return tile::WarpOpKind::Max;
  case sema::WarpOp::Any:
    return tile::WarpOpKind::Any;
  case sema::WarpOp::All:
    return tile::WarpOpKind::All;
  case sema::WarpOp::Shuffle:
    return tile::WarpOpKind::Shuffle;
  case sema::WarpOp::ShuffleXor:
    return tile::WarpOpKind::ShuffleXor;
  case sema::WarpOp::ShuffleUp:
    return tile::WarpOpKind::ShuffleUp;
  case sema::WarpOp::ShuffleDown:
    return tile::WarpOpKind::ShuffleDown;
  case sema::WarpOp::ScanSum:
  case sema::WarpOp::ScanProd:
  case sema::WarpOp::ScanMax:
  case sema::WarpOp::ScanMin:
  case sema::WarpOp::Ballot:
  case sema::WarpOp::Lane:
    break; // have operations of their own
  }
  llvm_unreachable("no such warp operation");
}

static tile::CombineKind scanKind(sema::WarpOp op) {
  return op == sema::WarpOp::ScanSum    ? tile::CombineKind::Sum
         : op == sema::WarpOp::ScanProd ? tile::CombineKind::Prod
         : op == sema::WarpOp::ScanMax  ? tile::CombineKind::Max
                                        : tile::CombineKind::Min;
}

Value Lowering::lowerWarp(const sema::WarpExpr &expr) {
  Value operand = expr.operand ? lowerValue(*expr.operand) : Value();
  Type type = valueType(expr.type);
  switch (expr.op) {
  case sema::WarpOp::Lane:
    return tile::LaneOp::create(b, type);
  case sema::WarpOp::Ballot:
    return tile::BallotOp::create(b, type, operand);
  case sema::WarpOp::Sum:
  case sema::WarpOp::Min:
  case sema::WarpOp::Max:
  case sema::WarpOp::Any:
  case sema::WarpOp::All:
    return tile::WarpOp::create(b, type, warpKind(expr.op), operand, expr.width,
                                sema::isUnsignedInteger(expr.type.elem));
  case sema::WarpOp::ScanSum:
  case sema::WarpOp::ScanProd:
  case sema::WarpOp::ScanMax:
  case sema::WarpOp::ScanMin:
    return tile::WarpScanOp::create(b, type, scanKind(expr.op), operand, expr.width, expr.reverse,
                                    expr.exclusive, sema::isUnsignedInteger(expr.type.elem));
  default: {
    Value lane = lowerValue(*expr.operand2);
    return tile::ShuffleOp::create(b, type, warpKind(expr.op), operand, lane, expr.width);
  }
  }
}
