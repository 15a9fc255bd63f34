#include "tools/tile-run/Product.h"

#include <climits>

using namespace tile_rt;

namespace tile_run {

namespace {
/// A tensor as matrices by rows.
struct Rows {
  int64_t batch = 1, rows = 0, columns = 0;
  int64_t pitch = 0, matrices = 0; ///< elements from row to row, from matrix to matrix
};

Rows rowsOf(const tile_arg &arg, const std::string &name, bool isColumn) {
  std::vector<int64_t> shape(arg.extents, arg.extents + arg.rank), strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  if (arg.strides) {
    strides.assign(arg.strides, arg.strides + arg.rank);
  }
  if (shape.size() == 1) {
    return isColumn ? Rows{1, shape[0], 1, 1, 0} : Rows{1, 1, shape[0], shape[0], 0};
  }
  if (shape.size() != 2 && shape.size() != 3) {
    throw NoBaseline("`" + name + "` has rank " + std::to_string(shape.size()) +
                     ": cublas takes matrices and batches of them");
  }
  const size_t last = shape.size() - 1;
  const bool isBatch = last == 2;
  return {isBatch ? shape[0] : 1, shape[last - 1], shape[last], strides[last - 1],
          isBatch ? strides[0] : 0};
}

std::string text(int64_t rows, int64_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

/// What lies by rows is by columns its own transpose: whether an operand of the turned product is transposed does not change.
BlasOperand operandOf(const tile_arg &arg, const Rows &rows, bool transposed) {
  return {reinterpret_cast<uint64_t>(arg.data), static_cast<DType>(arg.dtype), transposed,
          std::max<int64_t>(rows.pitch, 1), rows.matrices};
}
} // namespace

BlasProduct makeProduct(const BaselineSpec &spec, const tile_arg &a, const tile_arg &b,
                        const tile_arg &c) {
  const bool isVector = b.rank == 1;
  const Rows left = rowsOf(a, spec.a, /*isColumn=*/false);
  const Rows right = rowsOf(b, spec.b, /*isColumn=*/true);
  const int64_t m = spec.transposeA ? left.columns : left.rows;
  const int64_t k = spec.transposeA ? left.rows : left.columns;
  const int64_t n = spec.transposeB ? right.rows : right.columns;
  const int64_t otherK = spec.transposeB ? right.columns : right.rows;
  if (k != otherK) {
    throw NoBaseline("`" + spec.a + "` has " + std::to_string(k) + " along k, `" + spec.b +
                     "` has " + std::to_string(otherK));
  }
  const Rows out = rowsOf(c, spec.c, /*isColumn=*/isVector);
  const int64_t batch = std::max(left.batch, right.batch);
  const bool fits = [&] {
    auto isBatch = [&](const Rows &rows, const tile_arg &arg) {
      return rows.batch == batch || arg.rank < 3;
    };
    return out.rows == m && out.columns == n && out.batch == batch && isBatch(left, a) &&
           isBatch(right, b);
  }();
  if (!fits) {
    throw NoBaseline("the product of `" + spec.a + "` and `" + spec.b + "` is " + text(m, n) +
                     (batch == 1 ? "" : " in a batch of " + std::to_string(batch)) + ", `" +
                     spec.c + "` is " + text(out.rows, out.columns) +
                     (out.batch == 1 ? "" : " in a batch of " + std::to_string(out.batch)));
  }
  for (int64_t extent : {m, n, k, batch, left.pitch, right.pitch}) {
    if (extent <= 0 || extent > INT_MAX) {
      throw NoBaseline("cublas takes extents of 1 to 2^31 - 1, not " + std::to_string(extent));
    }
  }
  BlasProduct product;
  product.k = k;
  product.batch = batch;
  product.shape.assign(c.extents, c.extents + c.rank);
  product.tf32 = spec.tf32;
  product.c.dtype = static_cast<DType>(c.dtype);
  product.c.matrices = m * n;
  if (isVector) { // C is a column already: A by rows is its transpose by columns
    product.m = m;
    product.n = 1;
    product.a = operandOf(a, left, !spec.transposeA);
    product.b = {reinterpret_cast<uint64_t>(b.data), static_cast<DType>(b.dtype), false, k, 0};
    product.c.columns = m;
  } else { // C^T = B^T A^T
    product.m = n;
    product.n = m;
    product.a = operandOf(b, right, spec.transposeB);
    product.b = operandOf(a, left, spec.transposeA);
    product.c.columns = n;
  }
  return product;
}

} // namespace tile_run
