// mma.sync: D = A B + C on the registers of a warp. PTX ISA, "Multiply-and-Accumulate Instruction:
// mma".
#include "Decoding.h"
#include "Product.h"
#include "RegisterTiles.h"

namespace tile_emu {

namespace {
/// How products of bits are counted.
enum class BitOperation : uint8_t { None, And, Xor };

/// The instruction, decoded.
struct Mma {
  MatrixShape shape;
  Element a = Element::F16, b = Element::F16;
  AccumulatorLayout accumulators;
  bool clamp = false;
  BitOperation bits = BitOperation::None;
  std::vector<Row> rowsA, rowsB, rowsC, rowsD;
};

void multiplyOperands(const Mma &mma, Operands<float> &operands) {
  multiply(summationOfMma(mma.a, mma.b, mma.accumulators.element), mma.shape.m, mma.shape.n,
           mma.shape.k, operands.a, operands.b, operands.c);
}

void multiplyOperands(const Mma &mma, Operands<double> &operands) {
  multiply(mma.shape.m, mma.shape.n, mma.shape.k, operands.a, operands.b, operands.c);
}

void multiplyOperands(const Mma &mma, Operands<int32_t> &operands) {
  auto [m, n, k] = mma.shape;
  if (mma.bits == BitOperation::Xor) {
    // a xor b = a + b - 2 a b: the two sums go into c, the factor into a.
    for (unsigned row = 0; row < m; ++row) {
      for (unsigned column = 0; column < n; ++column) {
        uint32_t ones = 0;
        for (unsigned i = 0; i < k; ++i) {
          ones += uint32_t(operands.a[row * k + i] + operands.b[i * n + column]);
        }
        int32_t &c = operands.c[row * n + column];
        c = int32_t(uint32_t(c) + ones);
      }
    }
    for (unsigned i = 0; i < m * k; ++i) {
      operands.a[i] *= -2;
    }
  }
  multiply(mma.clamp, m, n, k, operands.a, operands.b, operands.c);
}

template <typename T>
Outcome executeMma(Step &step, const Mma &mma) {
  requireWholeWarp(step);
  Operands<T> operands;
  readA(step, mma.a, mma.shape.m, mma.shape.k, mma.rowsA, operands);
  readB(step, mma.b, mma.rowsB, operands);
  readC(step, mma.accumulators, mma.rowsC, operands);
  multiplyOperands(mma, operands);
  for (unsigned r = 0; r < mma.rowsD.size(); ++r) {
    Row c = mma.rowsC[r];
    if (operands.allDefined() && step.warp.defined[c] == kAllLanes) {
      continue;
    }
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      step.undefine(
          mma.rowsD[r], lane,
          undefinedBits(mma.accumulators, r, lane, operands, step.undefinedBits(c, lane)));
    }
  }
  writeD(step, mma.accumulators, mma.rowsD, operands);
  step.machine.profile.multiplyAdds(step.op.instruction,
                                    uint64_t(mma.shape.m) * mma.shape.n * mma.shape.k);
  return Outcome::Next;
}

/// A row of A takes 16 or 32 bytes in all types but f64; 8 rows are for integers and f64 only.
bool exists(const MatrixShape &shape, Element element) {
  unsigned rowBits = shape.k * bitsOf(element);
  if (shape.n != 8 || (shape.m != 8 && shape.m != 16)) {
    return false;
  }
  if (element == Element::F64) {
    return rowBits == 256 || (shape.m == 16 && (rowBits == 512 || rowBits == 1024));
  }
  return rowBits == 128 ? shape.m == 16 || !isFloat(element) : rowBits == 256 && shape.m == 16;
}

/// Takes everything after `.sync.aligned`.
void takeModifiers(Decoder &decoder, Mma &mma) {
  mma.shape = takeShape(decoder);
  decoder.expect("row");
  decoder.expect("col");
  mma.clamp = decoder.take("satfinite");
  mma.accumulators.element = takeElement(decoder);
  mma.a = takeElement(decoder);
  mma.b = takeElement(decoder);
  Element c = takeElement(decoder);
  if (mma.a == Element::B1) {
    std::optional<unsigned> operation = decoder.takeOneOf({"and", "xor"});
    if (!operation) {
      decoder.unsupported("'." + std::string(decoder.peek()) +
                          "' where '.and' or '.xor' is expected");
    }
    mma.bits = *operation ? BitOperation::Xor : BitOperation::And;
    decoder.expect("popc");
  }
  if (!multipliable(mma.a, mma.b) || !accumulates(mma.a, mma.accumulators.element) ||
      c != mma.accumulators.element || (mma.clamp && (isFloat(mma.a) || mma.a == Element::B1))) {
    decoder.unsupported("this combination of types");
  }
  if (!exists(mma.shape, mma.a)) {
    decoder.unsupported("this shape for these types");
  }
  mma.accumulators.rows = mma.shape.m;
  mma.accumulators.columns = mma.shape.n;
}

void takeOperands(Decoder &decoder, Mma &mma) {
  bool isDouble = mma.a == Element::F64;
  ptx::Type factor = isDouble ? ptx::Type::F64 : ptx::Type::B32;
  ptx::Type sum = isDouble                                   ? ptx::Type::F64
                  : mma.accumulators.element == Element::F32 ? ptx::Type::F32
                                                             : ptx::Type::B32;
  mma.rowsD = destinationRows(decoder, 0, sum);
  mma.rowsA = sourceRows(decoder, 1, factor);
  mma.rowsB = sourceRows(decoder, 2, factor);
  mma.rowsC = sourceRows(decoder, 3, sum);
  unsigned laneBits = kWarpSize * ptx::bitsOf(factor);
  expectRegisters(decoder, "d", mma.rowsD.size(), mma.accumulators.numRegisters());
  expectRegisters(decoder, "a", mma.rowsA.size(),
                  mma.shape.m * mma.shape.k * bitsOf(mma.a) / laneBits);
  expectRegisters(decoder, "b", mma.rowsB.size(),
                  mma.shape.n * mma.shape.k * bitsOf(mma.b) / laneBits);
  expectRegisters(decoder, "c", mma.rowsC.size(), mma.accumulators.numRegisters());
}
} // namespace

Execute decodeMma(Decoder &decoder) {
  if (decoder.peek() == "sp" || decoder.peek().starts_with("sp::")) {
    decoder.unsupported("products of sparse matrices");
  }
  decoder.expect("sync");
  decoder.expect("aligned");
  Mma mma;
  takeModifiers(decoder, mma);
  takeOperands(decoder, mma);
  decoder.op.together = Together::Warp;
  decoder.op.tracksUndefined = true;
  auto execute = mma.a == Element::F64 ? executeMma<double>
                 : isFloat(mma.a)      ? executeMma<float>
                                       : executeMma<int32_t>;
  return [mma = std::move(mma), execute](Step &step) { return execute(step, mma); };
}

} // namespace tile_emu
