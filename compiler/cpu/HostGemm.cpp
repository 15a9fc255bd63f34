//===- HostGemm.cpp - matrix products on the host -------------------------===//
//
// Operands are unpacked once into dense arrays of the type in which sums are kept; then three plain
// loops, k in order for each element. Compiled with vectorisation: the innermost loop runs along n.
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/HostRuntime.h"
#include "runtime/support/FloatFormat.h"

#include <type_traits>

namespace tilec::cpu {
namespace {

/// One number of kind `num` as a `Sum`.
template <typename Sum>
Sum readAs(DType num, uint64_t bits, bool isUnsigned) {
  if constexpr (std::is_same_v<Sum, uint32_t>) {
    return (uint32_t)tile_rt::convertBits(signedAs(num, isUnsigned), DType::I32, bits);
  } else {
    return (Sum)tile_rt::decodeFloat(num, bits);
  }
}

/// Rounded to the 10 mantissa bits of tf32, ties away from zero (PTX cvt.rna.tf32.f32).
float roundToTf32(float value) {
  using namespace tile_rt;
  return (float)decodeFloat(kTF32, encodeFloat(kTF32, value, Rounding::NearestAway));
}

template <typename Sum>
uint64_t writeAs(DType num, Sum value) {
  if constexpr (std::is_same_v<Sum, uint32_t>) {
    return value;
  } else {
    return tile_rt::encodeFloat(num, (double)value);
  }
}

/// The matrix `view` as a dense row-major array [rows, columns], transposed if asked.
template <typename Sum>
Sum *unpack(HostThread *thread, const HostView &view, bool transposed, int64_t rows,
            int64_t columns, bool isUnsigned) {
  auto *dense = static_cast<Sum *>(thread->arena.allocate(rows * columns * sizeof(Sum)));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      int64_t index[2] = {transposed ? column : row, transposed ? row : column};
      bool high;
      const char *address = elementAddress(view, index, &high);
      dense[row * columns + column] =
          address ? readAs<Sum>((DType)view.num, loadBits(view, address, high), isUnsigned)
                  : Sum(0);
    }
  }
  return dense;
}

/// Sums are kept in `Sum`: f32, f64, or 32-bit integers that wrap.
template <typename Sum>
void multiply(HostThread *thread, const HostView &a, const HostView &b, const HostView &acc,
              int64_t flags) {
  bool transposeA = flags & GemmFlags::kTransposeA, transposeB = flags & GemmFlags::kTransposeB;
  int64_t rows = acc.dims[0].size, columns = acc.dims[1].size;
  int64_t depth = a.dims[transposeA ? 0 : 1].size;
  Sum *left = unpack<Sum>(thread, a, transposeA, rows, depth, flags & GemmFlags::kAUnsigned);
  Sum *right = unpack<Sum>(thread, b, transposeB, depth, columns, flags & GemmFlags::kBUnsigned);
  Sum *sum = unpack<Sum>(thread, acc, false, rows, columns, false);
  if constexpr (std::is_same_v<Sum, float>) {
    for (int64_t i = 0; (flags & GemmFlags::kTf32) && i < rows * depth; ++i) {
      left[i] = roundToTf32(left[i]);
    }
    for (int64_t i = 0; (flags & GemmFlags::kTf32) && i < depth * columns; ++i) {
      right[i] = roundToTf32(right[i]);
    }
  }
  for (int64_t row = 0; row < rows; ++row) {
    Sum *__restrict out = sum + row * columns;
    for (int64_t column = 0; !(flags & GemmFlags::kAccumulate) && column < columns; ++column) {
      out[column] = 0;
    }
    for (int64_t k = 0; k < depth; ++k) {
      const Sum factor = left[row * depth + k];
      const Sum *__restrict from = right + k * columns;
      for (int64_t column = 0; column < columns; ++column) {
        out[column] += factor * from[column];
      }
    }
    for (int64_t column = 0; column < columns; ++column) {
      int64_t index[2] = {row, column};
      bool high;
      char *address = elementAddress(acc, index, &high);
      storeBits(acc, address, high, writeAs((DType)acc.num, out[column]));
    }
  }
}

} // namespace

void gemm(HostThread *thread, const HostView *a, const HostView *b, const HostView *acc,
          int64_t flags) {
  int64_t mark = thread->arena.mark();
  switch ((DType)acc->num) {
  case DType::F64:
    multiply<double>(thread, *a, *b, *acc, flags);
    break;
  case DType::I32:
    multiply<uint32_t>(thread, *a, *b, *acc, flags);
    break;
  default:
    multiply<float>(thread, *a, *b, *acc, flags);
    break;
  }
  thread->arena.release(mark);
}

} // namespace tilec::cpu
