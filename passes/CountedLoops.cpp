//===- CountedLoops.cpp - loops that count their trips -------------------===//
#include "passes/CountedLoops.h"

#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilec {

bool CountedLoops::isNeeded(scf::ForOp op) const {
  if (op.getUnsignedCmp()) {
    return true;
  }
  const IntegerRange step = integers.range(op.getStep()), end = integers.range(op.getUpperBound());
  const int64_t most =
      APInt::getSignedMaxValue(op.getStep().getType().getIntOrFloatBitWidth()).getSExtValue();
  return step.low < 1 || end.high > most - (step.high - 1);
}

scf::ForOp CountedLoops::create(scf::ForOp op, ValueRange inits) const {
  Location loc = op.getLoc();
  const bool isUnsigned = op.getUnsignedCmp();
  Type type = op.getStep().getType(), i64 = builder.getI64Type();
  auto widened = [&](Value old) -> Value {
    Value value = mapping.lookupOrDefault(old);
    if (type.getIntOrFloatBitWidth() == 64) {
      return value;
    }
    return isUnsigned ? builder.createOrFold<arith::ExtUIOp>(loc, i64, value)
                      : builder.createOrFold<arith::ExtSIOp>(loc, i64, value);
  };
  Value lower = widened(op.getLowerBound()), upper = widened(op.getUpperBound());
  auto less = isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value runs = arith::CmpIOp::create(builder, loc, less, lower, upper);
  Value distance = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
  // The distance has no sign; a step of 0 makes no trips.
  Value trips = tile::createDiv(builder, loc, distance, widened(op.getStep()), tile::Rounding::Up,
                                /*isUnsigned=*/true);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(i64));
  trips = arith::SelectOp::create(builder, loc, runs, trips, zero);

  const IntegerRange from = integers.range(op.getLowerBound());
  const IntegerRange to = integers.range(op.getUpperBound());
  const int64_t most = APInt::getSignedMaxValue(type.getIntOrFloatBitWidth()).getSExtValue();
  int64_t longest;
  const bool fits = !isUnsigned && !__builtin_sub_overflow(to.high, from.low, &longest) &&
                    longest <= most && integers.range(op.getStep()).low >= 1;
  if (fits && type != i64) {
    trips = arith::TruncIOp::create(builder, loc, type, trips);
  }
  Value first = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(trips.getType()));
  Value one = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(trips.getType(), 1));
  return scf::ForOp::create(builder, loc, first, trips, one, inits);
}

Value CountedLoops::inductionOf(scf::ForOp op, scf::ForOp counted) const {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(counted.getBody());
  Location loc = op.getLoc();
  Type type = op.getStep().getType();
  Value trip = counted.getInductionVar();
  if (trip.getType() != type) {
    trip = arith::TruncIOp::create(builder, loc, type, trip);
  }
  Value distance =
      builder.createOrFold<arith::MulIOp>(loc, trip, mapping.lookupOrDefault(op.getStep()));
  return builder.createOrFold<arith::AddIOp>(loc, distance,
                                             mapping.lookupOrDefault(op.getLowerBound()));
}

} // namespace tilec
