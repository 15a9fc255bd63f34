//===- Rings.cpp - slot and parity of a position in a ring ---------------===//
//
// Position p of a ring of n is slot p mod n in round p / n, of which barriers need the last bit. For
// a power of two that is a mask and a shift. Otherwise a division in a loop would leave the uniform
// registers, so loops that count positions up by one carry slot and parity instead.
//
// A counter stands for `induction + invariants`: a value that grows by one with each trip of a loop,
// and values from outside of the loop. Its invariant: in each trip, `place` is the slot and parity
// of that sum.
// - Before the first trip: by division, of the sum of the initial values (startCounters).
// - From trip to trip: `advance` by one, in the yield (lowerFor). It is exact for every distance, also
//   below 0, as 0 <= slot < n: slot + d is at most one ring too far after whole rounds are taken off,
//   and each ring that is passed flips the parity.
// - A position is looked up from the innermost loop outwards (ringPlace): where it is the sum of a
//   counter plus a constant, it is that counter's place advanced by the constant; any other is
//   divided anew, which is always right, only slower. Sums are compared by their leaves, the SSA
//   values behind additions: equal leaves, in the same order, are equal sums, and sums that are not
//   recognised as equal cost a second counter.
// Positions begin at 0 and only grow, so division without sign is right below 2^32, or beyond for a
// power of two: a block that fills a slot every 100 ns gets there after 7 minutes. What a loop steps back to (the slot before
// the first) is under a guard that such a position exists.
//
// `addLeaves` ends as it follows operands of additions, which dominate their users: only a block
// argument could lead back, and that is a leaf. `findCounters` runs once over a loop's body, of
// which lowerFor has one copy.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/llvm/KernelLowering.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::lowering {

/// `value` as a sum of other values and a constant.
static void addLeaves(Value value, SmallVectorImpl<Value> &leaves, int64_t &constant) {
  APInt known;
  if (matchPattern(value, m_ConstantInt(&known))) {
    constant += known.getSExtValue();
  } else if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
    addLeaves(sum.getLhs(), leaves, constant);
    addLeaves(sum.getRhs(), leaves, constant);
  } else if (auto difference = value.getDefiningOp<arith::SubIOp>();
             difference && matchPattern(difference.getRhs(), m_ConstantInt(&known))) {
    addLeaves(difference.getLhs(), leaves, constant);
    constant -= known.getSExtValue();
  } else {
    leaves.push_back(value);
  }
}

/// Whether `value` grows by one with each trip of `loop`.
static bool isInduction(scf::ForOp loop, Value value) {
  if (value == loop.getInductionVar()) {
    return matchPattern(loop.getStep(), m_One());
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != loop.getBody() || argument.getArgNumber() == 0) {
    return false;
  }
  SmallVector<Value> leaves;
  int64_t constant = 0;
  addLeaves(loop.getBody()->getTerminator()->getOperand(argument.getArgNumber() - 1), leaves,
            constant);
  return constant == 1 && leaves.size() == 1 && leaves[0] == value;
}

std::optional<RingCounter> KernelLowering::counterFor(scf::ForOp loop, Value position,
                                                      int64_t slots, int64_t &distance) {
  RingCounter counter;
  counter.slots = slots;
  distance = 0;
  SmallVector<Value> leaves;
  addLeaves(position, leaves, distance);
  for (Value leaf : leaves) {
    if (isInduction(loop, leaf)) {
      if (counter.induction) {
        return std::nullopt;
      }
      counter.induction = leaf;
    } else if (loop->isAncestor(leaf.getParentBlock()->getParentOp())) {
      return std::nullopt;
    } else {
      counter.invariants.push_back(leaf);
    }
  }
  if (!counter.induction) {
    return std::nullopt;
  }
  return counter;
}

SmallVector<RingCounter> KernelLowering::findCounters(scf::ForOp loop) {
  SmallVector<RingCounter> counters;
  loop.walk([&](Operation *op) {
    Value position;
    int64_t slots = 0;
    if (auto slot = dyn_cast<tgpu::SlotOp>(op)) {
      position = slot.getPosition();
      slots = slot.getRing().getType().getShape().front();
    } else if (op->getNumOperands() >= 2 &&
               isa<tgpu::AcquireOp, tgpu::PublishOp, tgpu::WaitOp, tgpu::ReleaseOp, tgpu::ExpectOp>(
                   op)) {
      position = op->getOperand(1);
      slots = cast<tgpu::ChannelType>(op->getOperand(0).getType()).getSlots();
    }
    int64_t distance = 0;
    if (!position || slots < 2 || llvm::isPowerOf2_64(slots)) {
      return;
    }
    std::optional<RingCounter> counter = counterFor(loop, position, slots, distance);
    if (counter &&
        llvm::none_of(counters, [&](const RingCounter &c) { return c.same(*counter); })) {
      counters.push_back(*counter);
    }
  });
  return counters;
}

void KernelLowering::startCounters(scf::ForOp loop, ArrayRef<RingCounter> counters,
                                   Value lowerBound, Fragment &inits) {
  for (const RingCounter &counter : counters) {
    Value position = lowerBound;
    if (counter.induction != loop.getInductionVar()) {
      const unsigned number = cast<BlockArgument>(counter.induction).getArgNumber();
      position = scalars[loop.getInitArgs()[number - 1]][0];
    }
    for (Value invariant : counter.invariants) {
      position = add(position, scalars[invariant][0]);
    }
    RingPlace place = divide(position, counter.slots);
    inits.append({place.index, place.parity});
  }
}

RingPlace KernelLowering::divide(Value position, int64_t slots) {
  if (slots == 1) {
    return {i32(0), b.createOrFold<arith::AndIOp>(loc, position, i32(1))};
  }
  const bool power = llvm::isPowerOf2_64(slots);
  Value index = power ? b.createOrFold<arith::AndIOp>(loc, position, i32(slots - 1))
                      : b.createOrFold<arith::RemUIOp>(loc, position, i32(slots));
  Value round = power ? b.createOrFold<arith::ShRUIOp>(loc, position, i32(llvm::Log2_64(slots)))
                      : b.createOrFold<arith::DivUIOp>(loc, position, i32(slots));
  return {index, b.createOrFold<arith::AndIOp>(loc, round, i32(1))};
}

RingPlace KernelLowering::advance(RingPlace place, int64_t distance, int64_t slots) {
  int64_t rounds = distance / slots, rest = distance % slots;
  if (rest < 0) {
    rest += slots;
    --rounds;
  }
  if (rest != 0) {
    Value next = add(place.index, rest);
    Value wraps = compare(arith::CmpIPredicate::uge, next, i32(slots));
    Value wrapped = add(place.index, rest - slots);
    Value flipped = b.createOrFold<arith::XOrIOp>(loc, place.parity, i32(1));
    place.index = b.createOrFold<arith::SelectOp>(loc, wraps, wrapped, next);
    place.parity = b.createOrFold<arith::SelectOp>(loc, wraps, flipped, place.parity);
  }
  if (rounds % 2 != 0) {
    place.parity = b.createOrFold<arith::XOrIOp>(loc, place.parity, i32(1));
  }
  return place;
}

RingPlace KernelLowering::ringPlace(Value position, int64_t slots) {
  for (auto &[loop, counters] : llvm::reverse(activeCounters)) {
    for (const RingCounter &active : counters) {
      int64_t distance = 0;
      if (active.slots != slots) {
        continue;
      }
      std::optional<RingCounter> wanted = counterFor(loop, position, slots, distance);
      if (wanted && wanted->same(active)) {
        return advance(active.place, distance, slots);
      }
    }
  }
  return divide(scalars[position][0], slots);
}

} // namespace tilec::lowering
