// A matrix product as BLAS takes it, out of tensors as a call has them.
#pragma once

#include "runtime/harness/Array.h"
#include "runtime/src/Device.h"
#include "tools/tile-run/Baseline.h"

namespace tile_run {

/// A matrix of a batch, by columns.
struct BlasOperand {
  uint64_t address = 0;
  tile_rt::DType dtype = tile_rt::DType::F32;
  bool transposed = false;
  int64_t columns = 0; ///< elements from one column to the next
  int64_t matrices = 0;
};

/// C = A B, by columns: C has m rows that lie one behind the other.
struct BlasProduct {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  BlasOperand a, b, c;        ///< `c` has no address: it is dense, and the caller's to allocate
  std::vector<int64_t> shape; ///< of C, as the call has it
  bool tf32 = false;
};

/// Rank 2, rank 3 with a batch in front, and vectors: A as a row, B as a column. Throws NoBaseline for what is no such product,
/// saying what does not fit.
BlasProduct makeProduct(const BaselineSpec &spec, const tile_arg &a, const tile_arg &b,
                        const tile_arg &c);

} // namespace tile_run
