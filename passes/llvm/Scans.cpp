//===- Scans.cpp - running results in a thread, a warp, after warps -------===//
//
// The blocks of layout::ScanPlan are combined upwards: slots of a thread one after the other, the
// halves of two lanes by an exchange. Downwards each gets what comes before it, in the direction of
// the scan: the carry. It is absent where nothing does, so that a user's function needs no identity.
//
// Padding lies behind the last element. Forwards it comes last, and only padding hears of it.
// Backwards it comes first: it makes no carry.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/Scan.h"
#include "passes/llvm/Addresses.h"

using namespace mlir;

namespace tilec::lowering {

namespace {

/// What comes before a part of a row.
struct Carry {
  Fragment values;
  bool exists = false; // in some thread
  Value isReal;        // in which threads it does; null: in all
};

} // namespace

/// The scan of what each warp holds.
class WarpScan {
public:
  WarpScan(KernelLowering &code, const Combiner &combiner, const layout::RegisterLayout &layout,
           unsigned axis, bool reverse, const layout::ScanPlan &plan)
      : code(code), b(code.b), combiner(combiner), layout(layout), plan(plan), axis(axis),
        extent(layout.shape()[axis]), reverse(reverse) {}

  /// `identity`: of an exclusive scan, else empty. `totals`: of the warps are wanted too.
  LogicalResult run(ArrayRef<Fragment> inputs, ArrayRef<Value> identity, bool totals);

  SmallVector<Fragment> results; // for each input, slots as in the layout
  SmallVector<Fragment> totals;  // for each input, slots as in the plan's rows

private:
  /// What two lanes hold of a block, once they know of each other.
  struct Block {
    Fragment total;
    Fragment before; // what the other lane holds, in the lane for which it comes before its own
    Value highIsReal;
    int64_t offset = 0;
  };

  Value isReal(unsigned level, int64_t offset);
  FailureOr<Fragment> meet(ArrayRef<Value> low, ArrayRef<Value> high, Value highIsReal);
  FailureOr<Carry> join(const Carry &carry, const Fragment &part, Value partIsReal,
                        Value where = Value());
  FailureOr<Fragment> totalOf(unsigned level, int64_t node);
  FailureOr<Block> exchange(unsigned level, const Fragment &own, int64_t offset);
  FailureOr<Carry> enter(unsigned level, const Block &block, const Carry &carry);
  LogicalResult up(unsigned level, int64_t node);
  LogicalResult scanRow(int64_t row, ArrayRef<Value> identity, bool wantTotals);
  LogicalResult down(unsigned level, int64_t node, Carry carry);
  LogicalResult downSlots(ArrayRef<int64_t> slots, Carry carry);

  Fragment slotValues(int64_t slot) const {
    return llvm::map_to_vector<8>(inputs, [&](const Fragment &input) { return input[slot]; });
  }
  int64_t offsetOf(int64_t slot) const { return layout.registerOffset(slot)[axis]; }
  /// Members of a run in the direction of the scan.
  SmallVector<int64_t> inOrder(ArrayRef<int64_t> members) const {
    SmallVector<int64_t> order(members);
    if (reverse) {
      std::reverse(order.begin(), order.end());
    }
    return order;
  }

  KernelLowering &code;
  OpBuilder &b;
  const Combiner &combiner;
  const layout::RegisterLayout &layout;
  const layout::ScanPlan &plan;
  unsigned axis;
  int64_t extent;
  bool reverse;
  bool exclusive = false;
  ArrayRef<Fragment> inputs;
  Value isElement;               // of the row at hand, for checks
  SmallVector<Value, 6> least;   // of each level: coordinate of the block's first lane
  SmallVector<int64_t, 6> reach; // of each level: the greatest of those
  SmallVector<SmallVector<Block, 16>, 5> blocks; // of each level, by number
};

/// In which threads a part that begins at `offset` in the thread's slots holds an element; null: in
/// all, or nobody asks.
Value WarpScan::isReal(unsigned level, int64_t offset) {
  if ((!reverse && !combiner.asks) || offset + reach[level] < extent) {
    return Value();
  }
  return code.compare(arith::CmpIPredicate::ult, code.add(least[level], offset), code.i32(extent));
}

/// Two neighbours.
FailureOr<Fragment> WarpScan::meet(ArrayRef<Value> low, ArrayRef<Value> high, Value highIsReal) {
  return code.combineReal(combiner, reverse ? high : low, reverse ? low : high, highIsReal, low,
                          isElement);
}

/// What comes before the part and the part; `where` it is wanted (null: everywhere).
FailureOr<Carry> WarpScan::join(const Carry &carry, const Fragment &part, Value partIsReal,
                                Value where) {
  Value matters = reverse ? partIsReal : Value();
  if (!carry.exists) {
    return Carry{part, true, matters};
  }
  // Backwards what is real before the part makes the part real.
  FailureOr<Fragment> values = code.combineReal(
      combiner, carry.values, part, carry.isReal ? carry.isReal : matters,
      carry.isReal ? part : carry.values, code.both(code.both(isElement, partIsReal), where));
  if (failed(values)) {
    return failure();
  }
  return Carry{*values, true, carry.isReal ? matters : Value()};
}

//===----------------------------------------------------------------------===//
// Upwards
//===----------------------------------------------------------------------===//

FailureOr<Fragment> WarpScan::totalOf(unsigned level, int64_t node) {
  ArrayRef<int64_t> members = plan.runs[level][node];
  auto valuesOf = [&](int64_t m) { return level ? blocks[level - 1][m].total : slotValues(m); };
  Fragment total = valuesOf(members.front());
  for (int64_t member : members.drop_front()) {
    const int64_t offset = level ? blocks[level - 1][member].offset : offsetOf(member);
    FailureOr<Fragment> both = meet(total, valuesOf(member), isReal(level, offset));
    if (failed(both)) {
      return failure();
    }
    total = *both;
  }
  return total;
}

FailureOr<WarpScan::Block> WarpScan::exchange(unsigned level, const Fragment &own, int64_t offset) {
  auto [bit, stride] = plan.lanes[level];
  Block block;
  block.offset = offset;
  Fragment low(own), high;
  for (Value value : own) {
    high.push_back(code.shuffle(NVVM::ShflKind::bfly, value, code.i32(int64_t(1) << bit)));
  }
  block.before = high;
  block.highIsReal = isReal(level + 1, offset + stride);
  if (!combiner.commutes || block.highIsReal) {
    Value isHigh = code.compare(arith::CmpIPredicate::ne, code.laneBit(bit), code.i32(0));
    for (auto [x, y] : llvm::zip_equal(low, high)) {
      Value mine = x, other = y;
      x = arith::SelectOp::create(b, code.loc, isHigh, other, mine);
      y = arith::SelectOp::create(b, code.loc, isHigh, mine, other);
    }
  }
  FailureOr<Fragment> total = meet(low, high, block.highIsReal);
  if (failed(total)) {
    return failure();
  }
  block.total = *total;
  return block;
}

/// The blocks that a run is made of, and those inside them.
LogicalResult WarpScan::up(unsigned level, int64_t node) {
  if (level == 0) {
    return success();
  }
  for (int64_t member : plan.runs[level][node]) {
    const int64_t first = plan.runs[level - 1][member].front();
    if (failed(up(level - 1, member))) {
      return failure();
    }
    FailureOr<Fragment> total = totalOf(level - 1, member);
    if (failed(total)) {
      return failure();
    }
    const int64_t offset = level > 1 ? blocks[level - 2][first].offset : offsetOf(first);
    FailureOr<Block> block = exchange(level - 1, *total, offset);
    if (failed(block)) {
      return failure();
    }
    blocks[level - 1][member] = *block;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Downwards
//===----------------------------------------------------------------------===//

/// What comes before the lane's half of a block that `carry` comes before.
FailureOr<Carry> WarpScan::enter(unsigned level, const Block &block, const Carry &carry) {
  Value isAfter = code.compare(reverse ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne,
                               code.laneBit(plan.lanes[level].bit), code.i32(0));
  FailureOr<Carry> joined = join(carry, block.before, block.highIsReal, isAfter);
  if (failed(joined)) {
    return failure();
  }
  Value isReal = code.both(isAfter, joined->isReal);
  if (!carry.exists) {
    joined->isReal = isReal;
    return joined;
  }
  for (auto [value, outer] : llvm::zip_equal(joined->values, carry.values)) {
    value = arith::SelectOp::create(b, code.loc, isAfter, value, outer);
  }
  joined->isReal =
      carry.isReal ? Value(arith::OrIOp::create(b, code.loc, carry.isReal, isReal)) : Value();
  return joined;
}

LogicalResult WarpScan::downSlots(ArrayRef<int64_t> slots, Carry carry) {
  for (int64_t slot : inOrder(slots)) {
    const Fragment before = carry.values;
    FailureOr<Carry> joined = join(carry, slotValues(slot), isReal(0, offsetOf(slot)));
    if (failed(joined)) {
      return failure();
    }
    carry = *joined;
    for (auto [result, value] : llvm::zip_equal(results, exclusive ? before : carry.values)) {
      result[slot] = value;
    }
  }
  return success();
}

LogicalResult WarpScan::down(unsigned level, int64_t node, Carry carry) {
  ArrayRef<int64_t> members = plan.runs[level][node];
  if (level == 0) {
    return downSlots(members, carry);
  }
  SmallVector<int64_t> order = inOrder(members);
  for (int64_t member : order) {
    const Block &block = blocks[level - 1][member];
    FailureOr<Carry> inner = enter(level - 1, block, carry);
    if (failed(inner) || failed(down(level - 1, member, *inner))) {
      return failure();
    }
    if (member != order.back()) {
      FailureOr<Carry> next = join(carry, block.total, isReal(level, block.offset));
      if (failed(next)) {
        return failure();
      }
      carry = *next;
    }
  }
  return success();
}

LogicalResult WarpScan::scanRow(int64_t row, ArrayRef<Value> identity, bool wantTotals) {
  const unsigned top = plan.lanes.size();
  FailureOr<Fragment> total = slotValues(0); // any, where nobody asks
  if (!plan.runs[top][row].empty()) {
    isElement = combiner.asks ? code.slotInTile(plan.rows.result, row) : Value();
    if (failed(up(top, row))) {
      return failure();
    }
    if (wantTotals) {
      total = totalOf(top, row);
    }
    if (failed(total) || failed(down(top, row, {Fragment(identity), exclusive, Value()}))) {
      return failure();
    }
  }
  for (auto [values, value] : llvm::zip_equal(totals, *total)) {
    values.push_back(value);
  }
  return success();
}

LogicalResult WarpScan::run(ArrayRef<Fragment> of, ArrayRef<Value> identity, bool wantTotals) {
  inputs = of;
  results.assign(of.begin(), of.end()); // slots that are padding in all threads keep what they have
  exclusive = !identity.empty();
  least.push_back(code.threadCoordinate(layout, axis));
  reach.push_back(plan.rows.threadReach);
  for (const layout::ScanPlan::LaneLevel &level : plan.lanes) {
    Value part = code.mul(code.laneBit(level.bit), level.stride);
    least.push_back(b.createOrFold<arith::SubIOp>(code.loc, least.back(), part));
    reach.push_back(reach.back() - level.stride);
  }
  for (unsigned level = 0; level < plan.lanes.size(); ++level) {
    blocks.emplace_back().resize(plan.runs[level].size());
  }
  totals.resize(of.size());
  for (int64_t row = 0; row < int64_t(plan.runs.back().size()); ++row) {
    if (failed(scanRow(row, identity, wantTotals))) {
      return failure();
    }
  }
  for (auto [copy, slot] : plan.copies) {
    for (Fragment &result : results) {
      result[copy] = result[slot];
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// With what an exclusive scan begins: the number that changes no other.
static Value identityOf(OpBuilder &b, Location loc, tile::CombineKind kind, Type type,
                        bool isUnsigned) {
  TypedAttr value;
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    const bool isLeast = kind == tile::CombineKind::Max;
    value = b.getFloatAttr(type, kind == tile::CombineKind::Sum ? APFloat::getZero(semantics)
                                 : kind == tile::CombineKind::Prod
                                     ? APFloat::getOne(semantics)
                                     : APFloat::getInf(semantics, isLeast));
  } else {
    const unsigned bits = type.getIntOrFloatBitWidth();
    APInt number(bits, kind == tile::CombineKind::Prod ? 1 : 0);
    if (kind == tile::CombineKind::Max) {
      number = isUnsigned ? APInt::getMinValue(bits) : APInt::getSignedMinValue(bits);
    } else if (kind == tile::CombineKind::Min) {
      number = isUnsigned ? APInt::getMaxValue(bits) : APInt::getSignedMaxValue(bits);
    }
    value = b.getIntegerAttr(type, number);
  }
  return arith::ConstantOp::create(b, loc, value);
}

static Value identityOf(OpBuilder &b, Location loc, Operation *op, tile::CombineKind kind,
                        bool isUnsigned) {
  Type element = cast<RankedTensorType>(op->getOperand(0).getType()).getElementType();
  return identityOf(b, loc, kind, element, isUnsigned);
}

LogicalResult KernelLowering::scanInWarps(Operation *op, const Combiner &combiner, uint64_t axis,
                                          bool reverse, Value identity, ValueRange totals) {
  const layout::RegisterLayout *layout = tgpu::getLayout(op->getOperand(0).getType());
  auto plan = layout ? layout::planScan(*layout, axis)
                     : layout::Answer<layout::ScanPlan>(layout::Refusal{"no layout"});
  if (!plan || (plan->rows.warpOffsets == 1) != totals.empty()) {
    return unsupported(op, "this scan");
  }
  SmallVector<Fragment> inputs;
  for (auto [input, result] : llvm::zip(op->getOperands(), op->getResults())) {
    if (tgpu::getLayout(input.getType()) != layout || tgpu::getLayout(result.getType()) != layout) {
      return unsupported(op, "a scan of fragments of different layouts");
    }
    inputs.push_back(scalars.lookup(input));
  }
  WarpScan scan(*this, combiner, *layout, axis, reverse, *plan);
  if (failed(scan.run(inputs, identity ? ArrayRef<Value>(identity) : ArrayRef<Value>(),
                      !totals.empty()))) {
    return failure();
  }
  for (auto [result, values] : llvm::zip(op->getResults(), scan.results)) {
    scalars[result] = values;
  }
  for (auto [total, values] : llvm::zip(totals, scan.totals)) {
    scalars[total] = values; // the slots of the parts of warps are those of a reduction's result
  }
  return success();
}

LogicalResult KernelLowering::lowerScan(tile::ScanOp op) {
  Value identity =
      op.getExclusive() ? identityOf(b, loc, op, op.getKind(), op.getIsUnsigned()) : Value();
  return scanInWarps(op, combinerOf(op.getKind(), op.getIsUnsigned()), op.getAxis(),
                     op.getReverse(), identity, {});
}

LogicalResult KernelLowering::lowerScanWith(tile::ScanWithOp op) {
  return scanInWarps(op, combinerOf(op.getCombine()), op.getAxis(), op.getReverse(), Value(), {});
}

LogicalResult KernelLowering::lowerScanInWarps(tgpu::ScanInWarpsOp op) {
  Value identity =
      op.getExclusive() ? identityOf(b, loc, op, *op.getKind(), op.getIsUnsigned()) : Value();
  return scanInWarps(op,
                     op.getKind() ? combinerOf(*op.getKind(), op.getIsUnsigned())
                                  : combinerOf(op.getCombine()),
                     op.getAxis(), op.getReverse(), identity, op.getTotals());
}

/// Running results of single threads: each step brings what twice as many lanes make. A group's
/// first lanes, for which there are not so many, find themselves and keep what they have.
Value KernelLowering::scanLanes(tile::WarpScanOp op, Value own) {
  const auto kind = layout::Combine(op.getKind());
  const bool isSum = kind == layout::Combine::Sum || kind == layout::Combine::Product;
  const int64_t width = op.getWidth(), clamp = op.getReverse() ? 31 : 0;
  auto before = [&](int64_t distance, Value *exists) {
    return shuffle(op.getReverse() ? NVVM::ShflKind::down : NVVM::ShflKind::up, own, i32(distance),
                   (32 - width) << 8 | clamp, exists);
  };
  Value exists;
  if (op.getExclusive()) { // first, so that results begin with the identity, as those of tiles
    Value previous = before(1, &exists);
    Value identity = identityOf(b, loc, op.getKind(), own.getType(), op.getIsUnsigned());
    own = arith::SelectOp::create(b, loc, exists, previous, identity);
  }
  for (int64_t distance = 1; distance < width; distance *= 2) {
    Value other = before(distance, isSum ? &exists : nullptr);
    Value both = combine(kind, other, own, op.getIsUnsigned());
    // The greatest of a number and itself is the number.
    own = isSum ? arith::SelectOp::create(b, loc, exists, both, own) : both;
  }
  return own;
}

/// What the warps before the calling one make of a row. `parts`: slots of their totals, by rising
/// coordinates; `ownPart`: number of its own. Any value where there is none before.
FailureOr<Fragment> KernelLowering::carryOfWarp(const Combiner &combiner, ArrayRef<Fragment> totals,
                                                ArrayRef<int64_t> parts, Value ownPart,
                                                bool reverse, Value isElement) {
  auto valuesOf = [&](int64_t part) {
    return llvm::map_to_vector<8>(totals,
                                  [&](const Fragment &total) { return total[parts[part]]; });
  };
  const int64_t count = parts.size();
  Fragment running = valuesOf(reverse ? count - 1 : 0), carry = running;
  for (int64_t i = 1; i + 1 < count; ++i) {
    const int64_t part = reverse ? count - 1 - i : i;
    FailureOr<Fragment> next =
        combineReal(combiner, running, valuesOf(part), Value(), {}, isElement);
    if (failed(next)) {
      return failure();
    }
    running = *next;
    Value isBefore = compare(reverse ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sgt,
                             ownPart, i32(part));
    for (auto [value, more] : llvm::zip_equal(carry, running)) {
      value = arith::SelectOp::create(b, loc, isBefore, more, value);
    }
  }
  return carry;
}

/// One row: `slots` of the calling warp's own.
LogicalResult KernelLowering::addCarry(const Combiner &combiner, MutableArrayRef<Fragment> results,
                                       ArrayRef<int64_t> slots, ArrayRef<Value> carry,
                                       Value isLater, const layout::RegisterLayout &layout) {
  for (int64_t slot : slots) {
    auto own = llvm::map_to_vector<8>(results, [&](Fragment &of) { return of[slot]; });
    Value isElement = combiner.asks ? slotInTile(layout, slot) : Value();
    FailureOr<Fragment> values = combineReal(combiner, carry, own, isLater, own, isElement);
    if (failed(values)) {
      return failure();
    }
    for (auto [result, value] : llvm::zip_equal(results, *values)) {
      result[slot] = value;
    }
  }
  return success();
}

LogicalResult KernelLowering::lowerScanAcrossWarps(tgpu::ScanAcrossWarpsOp op) {
  const layout::RegisterLayout &layout = *tgpu::getLayout(op.getInputs().front().getType());
  const unsigned axis = op.getAxis();
  auto plan = layout::planScan(layout, axis);
  auto warpParts = layout::planWarpParts(layout, axis);
  auto parts = warpParts ? layout::planReduction(warpParts->whole, axis)
                         : layout::Answer<layout::ReductionPlan>(layout::Refusal{"no parts"});
  if (!plan || !parts) {
    return unsupported(op, "this scan across warps");
  }
  const Combiner combiner =
      op.getKind() ? combinerOf(*op.getKind(), op.getIsUnsigned()) : combinerOf(op.getCombine());
  auto fragments = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return scalars.lookup(value); });
  };
  const SmallVector<Fragment> totals = fragments(op.getTotals());
  SmallVector<Fragment> results = fragments(op.getInputs());
  const bool reverse = op.getReverse();
  Value ownPart = threadCoordinate(warpParts->parts, axis);
  Value isLater = compare(reverse ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sgt, ownPart,
                          i32(reverse ? warpParts->count - 1 : 0));
  for (auto [row, slots] : llvm::enumerate(plan->rows.slots)) {
    if (slots.empty() || warpParts->count == 1) {
      continue;
    }
    Value isElement = combiner.asks ? slotInTile(plan->rows.result, row) : Value();
    FailureOr<Fragment> carry =
        carryOfWarp(combiner, totals, parts->slots[row], ownPart, reverse, isElement);
    if (failed(carry) || failed(addCarry(combiner, results, slots, *carry, isLater, layout))) {
      return failure();
    }
  }
  for (auto [result, values] : llvm::zip_equal(op.getResults(), results)) {
    for (auto [copy, slot] : plan->copies) {
      values[copy] = values[slot];
    }
    scalars[result] = values;
  }
  return success();
}

} // namespace tilec::lowering
