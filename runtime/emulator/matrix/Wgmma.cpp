// The wgmma instructions. Each warp of a warpgroup computes its 16 rows on its own.
#include "Wgmma.h"

#include "Decoding.h"
#include "Product.h"
#include "WgmmaOperands.h"

namespace tile_emu {

namespace {
constexpr unsigned kRowsOfGroup = 64, kRowsOfWarp = 16;

/// wgmma.mma_async, decoded.
struct Product {
  MatrixShape shape;
  Element a = Element::F16, b = Element::F16;
  AccumulatorLayout accumulators;
  bool clamp = false, negateA = false, negateB = false, mnMajorA = false, mnMajorB = false;
  std::vector<Row> rowsD, rowsA; ///< no rows of A: it is in shared memory
  Row descriptorA = 0, descriptorB = 0, scaleD = 0;
  bool scaleNegated = false;
};

/// The value of an operand that all threads must give alike; it must be defined.
uint64_t commonValue(Step &step, Row row, const char *name) {
  if (step.warp.defined[row] != kAllLanes) {
    step.fault(Report::Kind::Uninitialised, std::string(name) + " was never written",
               unsigned(std::countr_one(step.warp.defined[row])));
  }
  return step.uniform(row, name);
}

void multiplyOperands(const Product &product, Operands<float> &operands) {
  multiply(summationOfWgmma(product.a, product.b, product.accumulators.element), kRowsOfWarp,
           product.shape.n, product.shape.k, operands.a, operands.b, operands.c);
}
void multiplyOperands(const Product &product, Operands<int32_t> &operands) {
  multiply(product.clamp, kRowsOfWarp, product.shape.n, product.shape.k, operands.a, operands.b,
           operands.c);
}

template <typename T>
void negate(T *values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    values[i] = -values[i];
  }
}

/// Registers of A and D of the product: in flight from here on.
void takeRegisters(Step &step, const Product &product, WgmmaState &state) {
  for (Row row : product.rowsA) {
    state.useRegister(step, row, false, product.shape);
  }
  for (Row row : product.rowsD) {
    state.useRegister(step, row, true, product.shape);
  }
}

template <typename T>
void readOperands(Step &step, const Product &product, const AsyncOp &async,
                  const WgmmaSequence::Product &values, Operands<T> &operands) {
  if (product.rowsA.empty()) {
    readSharedA(step, async, values.descriptorA,
                {.name = "A",
                 .element = product.a,
                 .mnMajor = product.mnMajorA,
                 .first = step.warp.index % kWarpsOfGroup * kRowsOfWarp,
                 .indices = kRowsOfWarp,
                 .k = product.shape.k,
                 .mayRead = step.machine.options.strictWaits ? kRowsOfGroup : 0},
                operands);
  } else {
    readA(step, product.a, kRowsOfWarp, product.shape.k, product.rowsA, operands);
  }
  readSharedB(step, async, values.descriptorB,
              {.name = "B",
               .element = product.b,
               .mnMajor = product.mnMajorB,
               .first = 0,
               .indices = product.shape.n,
               .k = product.shape.k},
              operands);
  if (product.negateA != product.negateB) {
    negate(operands.a, size_t(kRowsOfWarp) * product.shape.k);
  }
}

/// What of an accumulator is undefined after the product.
template <typename T>
void settleAccumulator(Step &step, const Product &product, unsigned r, bool accumulates,
                       const Operands<T> &operands) {
  Warp &warp = step.warp;
  Row row = product.rowsD[r];
  bool wasDefined = !accumulates || warp.defined[row] == kAllLanes;
  std::array<uint64_t, kWarpSize> undefined{};
  for (unsigned lane = 0; lane < kWarpSize && !(wasDefined && operands.allDefined()); ++lane) {
    undefined[lane] = undefinedBits(product.accumulators, r, lane, operands,
                                    accumulates ? warp.undefinedIn(row, lane) : 0);
  }
  warp.defined[row] = kAllLanes;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    warp.undefine(row, lane, undefined[lane]);
  }
}

template <typename T>
Outcome executeProduct(Step &step, const Product &product) {
  requireWholeWarp(step);
  WgmmaSequence::Product values{.instruction = step.op.instruction};
  if (product.rowsA.empty()) {
    values.descriptorA = commonValue(step, product.descriptorA, "the descriptor of A");
  }
  values.descriptorB = commonValue(step, product.descriptorB, "the descriptor of B");
  values.accumulates =
      (commonValue(step, product.scaleD, "the operand scale-d") != 0) != product.scaleNegated;
  WgmmaState &state = WgmmaState::of(step);
  state.agree(step, values);
  takeRegisters(step, product, state);
  state.issue(step);
  AsyncOp async = step.machine.checker.issue({step.warp.firstThread, step.lanes}, state.channel,
                                             state.openGroup, step.op.instruction);
  Operands<T> operands;
  readOperands(step, product, async, values, operands);
  if (values.accumulates) {
    readC(step, product.accumulators, product.rowsD, operands);
  } else {
    std::fill_n(operands.c, size_t(kRowsOfWarp) * product.shape.n, T(0));
  }
  multiplyOperands(product, operands);
  writeD(step, product.accumulators, product.rowsD, operands);
  for (unsigned r = 0; r < product.rowsD.size(); ++r) {
    settleAccumulator(step, product, r, values.accumulates, operands);
  }
  step.machine.profile.multiplyAdds(step.op.instruction,
                                    uint64_t(kRowsOfWarp) * product.shape.n * product.shape.k);
  return Outcome::Next;
}

/// Takes the shape, `.satfinite` and the types.
void takeModifiers(Decoder &decoder, Product &product) {
  MatrixShape shape = takeShape(decoder);
  product.clamp = decoder.take("satfinite");
  product.accumulators.element = takeElement(decoder);
  product.a = takeElement(decoder);
  product.b = takeElement(decoder);
  product.clamp |= decoder.take("satfinite"); // assemblers take it here too
  bool exists = multipliable(product.a, product.b) &&
                accumulates(product.a, product.accumulators.element) && bitsOf(product.a) >= 8 &&
                bitsOf(product.a) <= 32;
  if (!exists || (product.clamp && isFloat(product.a))) {
    decoder.unsupported("this combination of types");
  }
  unsigned step = !isFloat(product.a) && shape.n > 32 ? 16 : 8;
  if (shape.m != kRowsOfGroup || shape.n > kMaxColumns || shape.n % step ||
      shape.k * bitsOf(product.a) != 256) {
    decoder.unsupported("this shape for these types");
  }
  product.shape = shape;
  product.accumulators.rows = kRowsOfWarp;
  product.accumulators.columns = shape.n;
}

/// A constant of two possible values: whether it is the second.
bool takeChoice(Decoder &decoder, size_t &operand, int64_t first, int64_t second) {
  int64_t value = decoder.immediate(operand++);
  if (value != first && value != second) {
    decoder.invalid("operand " + std::to_string(operand) + " must be " + std::to_string(first) +
                    " or " + std::to_string(second));
  }
  return value == second;
}

/// d, a, b, scale-d, {scale-a, scale-b, {trans-a, trans-b}}.
void takeOperands(Decoder &decoder, Product &product) {
  bool floats = isFloat(product.a);
  product.rowsD = destinationRows(
      decoder, 0, product.accumulators.element == Element::F32 ? ptx::Type::F32 : ptx::Type::B32);
  bool registers = decoder.operand(1).kind == ptx::Operand::Kind::Vector;
  if (registers) {
    product.rowsA = sourceRows(decoder, 1, ptx::Type::B32);
    expectRegisters(decoder, "a", product.rowsA.size(), 4);
  }
  expectRegisters(decoder, "d", product.rowsD.size(), product.accumulators.numRegisters());
  // What remains in `reads` and `writes` are the registers that stay in use.
  std::vector<Row> kept = decoder.op.reads;
  if (!registers) {
    product.descriptorA = decoder.source(1, ptx::Type::B64);
  }
  product.descriptorB = decoder.source(2, ptx::Type::B64);
  product.scaleD = decoder.source(3, ptx::Type::Pred, &product.scaleNegated);
  decoder.op.reads = std::move(kept);
  size_t next = 4;
  if (floats) {
    product.negateA = takeChoice(decoder, next, 1, -1);
    product.negateB = takeChoice(decoder, next, 1, -1);
  }
  if (floats && bitsOf(product.a) == 16) {
    product.mnMajorA = !registers && takeChoice(decoder, next, 0, 1);
    product.mnMajorB = takeChoice(decoder, next, 0, 1);
  }
}

Execute decodeProduct(Decoder &decoder) {
  if (decoder.peek().starts_with("sp")) {
    decoder.unsupported("products of sparse matrices");
  }
  decoder.expect("sync");
  decoder.expect("aligned");
  Product product;
  takeModifiers(decoder, product);
  takeOperands(decoder, product);
  decoder.op.handlesOwnRegisters = true;
  auto execute = isFloat(product.a) ? executeProduct<float> : executeProduct<int32_t>;
  return [product = std::move(product), execute](Step &step) { return execute(step, product); };
}
} // namespace

Execute decodeWgmma(Decoder &decoder) {
  decoder.op.together = Together::Warp;
  std::string name = decoder.takeAny();
  if (name == "mma_async") {
    return decodeProduct(decoder);
  }
  if (name != "fence" && name != "commit_group" && name != "wait_group") {
    decoder.unsupported("'." + name + "' after 'wgmma'");
  }
  decoder.expect("sync");
  decoder.expect("aligned");
  if (name == "wait_group") {
    int64_t pending = decoder.immediate(0);
    if (pending < 0) {
      decoder.invalid("the number of groups must not be negative");
    }
    return [pending](Step &step) {
      requireWholeWarp(step);
      return WgmmaState::of(step).wait(step, uint64_t(pending));
    };
  }
  bool isFence = name == "fence";
  return [isFence](Step &step) {
    requireWholeWarp(step);
    isFence ? WgmmaState::of(step).fence() : WgmmaState::of(step).commit(step);
    return Outcome::Next;
  };
}

} // namespace tile_emu
