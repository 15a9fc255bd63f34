// What the lanes of a warp do together. PTX ISA, "shfl.sync", "vote.sync", "match.sync",
// "redux.sync", "elect.sync", "activemask". The machine brings the lanes of the member mask
// together; here, step.lanes are those. None of these orders memory; bar.warp.sync does.
#include "Float.h"
#include "Scalar.h"

#include <algorithm>

namespace tile_emu {

using ptx::Operand, ptx::Type;

namespace {

/// The operand that names the lanes.
void takeMembers(Decoder &d, size_t i) {
  d.op.together = Together::MemberMask;
  d.op.memberMask = exactSource(d, i, Type::B32);
}

/// Destination `d`, `d|p` or `_|p`; without a predicate `predicate` is kSinkRow.
struct Destinations {
  Row value = kSinkRow, predicate = kSinkRow;
};
Destinations valueAndPredicate(Decoder &d, Type type) {
  const Operand &to = d.operand(0);
  if (to.kind != Operand::Kind::Pair) {
    return {exactDestination(d, to, type), kSinkRow};
  }
  if (to.elements.size() != 2) {
    d.invalid("has a destination d|p");
  }
  return {exactDestination(d, to.elements[0], type),
          exactDestination(d, to.elements[1], Type::Pred)};
}

/// A copy of a row: results are written while other lanes' inputs are still needed.
std::array<uint64_t, kWarpSize> snapshot(Step &step, Row row) {
  std::array<uint64_t, kWarpSize> values;
  std::copy_n(step.row(row), kWarpSize, values.begin());
  return values;
}

enum class Shuffle : uint8_t { Up, Down, Bfly, Idx };

/// The lane that a lane reads, and whether it is within the segment (then its own).
struct Source {
  unsigned lane;
  bool inRange;
};
Source shuffleSource(Shuffle mode, unsigned lane, uint64_t b, uint64_t c) {
  int own = static_cast<int>(lane), by = b & 31;
  int clamp = c & 31, segment = c >> 8 & 31;
  int first = own & segment, last = first | (clamp & ~segment), from = own;
  bool inRange = false;
  switch (mode) {
  case Shuffle::Up:
    from = own - by;
    inRange = from >= last;
    break;
  case Shuffle::Down:
    from = own + by;
    inRange = from <= last;
    break;
  case Shuffle::Bfly:
    from = own ^ by;
    inRange = from <= last;
    break;
  case Shuffle::Idx:
    from = first | (by & ~segment);
    inRange = from <= last;
    break;
  }
  return {inRange ? static_cast<unsigned>(from) : lane, inRange};
}

} // namespace

/// A lane that reads from one that does not take part, or has nothing defined, gets an undefined
/// value.
Execute decodeShuffle(Decoder &d) {
  d.expect("sync");
  std::optional<unsigned> which = d.takeOneOf({"up", "down", "bfly", "idx"});
  if (!which) {
    d.unsupported("mode ." + std::string(d.peek()));
  }
  auto mode = static_cast<Shuffle>(*which);
  takeTypeOf(d, {Type::B32});
  expectOperands(d, 5);
  d.op.tracksUndefined = true;
  Destinations to = valueAndPredicate(d, Type::B32);
  Row a = exactSource(d, 1, Type::B32), b = exactSource(d, 2, Type::B32),
      c = exactSource(d, 3, Type::B32);
  takeMembers(d, 4);
  return [=](Step &step) {
    std::array<uint64_t, kWarpSize> values = snapshot(step, a);
    LaneMask defined = step.warp.defined[a] & step.lanes;
    auto undefined = [&](unsigned source) {
      return step.lanes >> source & 1 ? step.undefinedBits(a, source) : ~uint64_t{0};
    };
    step.forLanes([&](unsigned lane) {
      if (!step.isDefined(b, lane) || !step.isDefined(c, lane)) {
        step.report(Report::Kind::Uninitialised,
                    "the lane to read from depends on a register that was never written", lane);
      }
      Source source = shuffleSource(mode, lane, step.get(b, lane), step.get(c, lane));
      step.set(to.value, lane, values[source.lane]);
      if (!(defined >> source.lane & 1)) {
        step.undefine(to.value, lane, undefined(source.lane));
      }
      step.set(to.predicate, lane, source.inRange);
    });
    return Outcome::Next;
  };
}

Execute decodeVote(Decoder &d) {
  d.expect("sync");
  std::optional<unsigned> mode = d.takeOneOf({"all", "any", "uni", "ballot"});
  if (!mode) {
    d.unsupported("mode ." + std::string(d.peek()));
  }
  bool ballot = *mode == 3;
  d.expect(ballot ? "b32" : "pred");
  expectOperands(d, 3);
  bool negated = false;
  Row to = exactDestination(d, 0, ballot ? Type::B32 : Type::Pred);
  Row a = exactSource(d, 1, Type::Pred, &negated);
  takeMembers(d, 2);
  return [=, mode = *mode](Step &step) {
    LaneMask votes = 0;
    step.forLanes(
        [&](unsigned lane) { votes |= LaneMask{(step.get(a, lane) != 0) != negated} << lane; });
    bool all = votes == step.lanes, none = votes == 0;
    uint64_t result = mode == 0 ? all : mode == 1 ? !none : mode == 2 ? all || none : votes;
    step.forLanes([&](unsigned lane) { step.set(to, lane, result); });
    return Outcome::Next;
  };
}

Execute decodeMatch(Decoder &d) {
  std::optional<unsigned> mode = d.takeOneOf({"any", "all"});
  d.expect("sync");
  Type type = takeTypeOf(d, {Type::B32, Type::B64});
  if (!mode) {
    d.unsupported("mode");
  }
  bool all = *mode == 1;
  expectOperands(d, 3);
  if (!all && d.operand(0).kind == Operand::Kind::Pair) {
    d.invalid("has no predicate as a result");
  }
  Destinations to = valueAndPredicate(d, Type::B32);
  Row a = exactSource(d, 1, type);
  takeMembers(d, 2);
  return [=](Step &step) {
    std::array<uint64_t, kWarpSize> values = snapshot(step, a);
    step.forLanes([&](unsigned lane) {
      LaneMask same = 0;
      step.forLanes(
          [&](unsigned other) { same |= LaneMask{values[other] == values[lane]} << other; });
      bool equal = same == step.lanes;
      step.set(to.value, lane, all && !equal ? 0 : same);
      step.set(to.predicate, lane, equal);
    });
    return Outcome::Next;
  };
}

/// redux.sync: `f` folds the values of all lanes.
template <typename F>
static Execute reduce(Decoder &d, Type type, F f) {
  expectOperands(d, 3);
  Row to = exactDestination(d, 0, type), a = exactSource(d, 1, type);
  takeMembers(d, 2);
  return [=](Step &step) {
    std::optional<uint64_t> total;
    step.forLanes([&](unsigned lane) {
      uint64_t value = step.get(a, lane);
      total = total ? f(*total, value) : value;
    });
    step.forLanes([&](unsigned lane) { step.set(to, lane, *total); });
    return Outcome::Next;
  };
}

static Execute reduceFloats(Decoder &d, bool max, bool abs, bool nan) {
  auto f = [=](uint64_t x, uint64_t y) -> uint64_t {
    uint64_t mask = abs ? kF32.signBit() - 1 : kF32.signBit() * 2 - 1;
    return chooseF32(x & mask, y & mask, max, nan);
  };
  return reduce(d, Type::F32, f);
}

Execute decodeRedux(Decoder &d) {
  d.expect("sync");
  std::optional<unsigned> operation = d.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  if (!operation) {
    d.unsupported("operation ." + std::string(d.peek()));
  }
  unsigned op = *operation;
  bool abs = d.take("abs"), nan = d.take("NaN");
  Type type = takeTypeOf(d, {Type::U32, Type::S32, Type::B32, Type::F32});
  bool minMax = op == 1 || op == 2;
  bool fits = type == Type::B32 ? op >= 3 : type == Type::F32 ? minMax : op < 3;
  if (!fits || ((abs || nan) && type != Type::F32)) {
    d.unsupported("operation and modifiers of type ." + std::string(ptx::typeName(type)));
  }
  if (type == Type::F32) {
    return reduceFloats(d, op == 2, abs, nan);
  }
  bool isSigned = type == Type::S32;
  return reduce(d, type, [=](uint64_t x, uint64_t y) -> uint64_t {
    bool less = isSigned ? fromBits<int32_t>(x) < fromBits<int32_t>(y) : x < y;
    switch (op) {
    case 0:
      return static_cast<uint32_t>(x + y);
    case 1:
      return less ? x : y;
    case 2:
      return less ? y : x;
    case 3:
      return x & y;
    case 4:
      return x | y;
    default:
      return x ^ y;
    }
  });
}

/// Elects the lowest lane, as the hardware does.
Execute decodeElect(Decoder &d) {
  d.expect("sync");
  expectOperands(d, 2);
  Destinations to = valueAndPredicate(d, Type::B32);
  takeMembers(d, 1);
  return [=](Step &step) {
    auto leader = static_cast<unsigned>(std::countr_zero(step.lanes));
    step.forLanes([&](unsigned lane) {
      step.set(to.value, lane, leader);
      step.set(to.predicate, lane, lane == leader);
    });
    return Outcome::Next;
  };
}

Execute decodeActivemask(Decoder &d) {
  takeTypeOf(d, {Type::B32});
  expectOperands(d, 1);
  Row to = exactDestination(d, 0, Type::B32);
  return [=](Step &step) {
    step.forLanes([&](unsigned lane) { step.set(to, lane, step.lanes); });
    return Outcome::Next;
  };
}

} // namespace tile_emu
