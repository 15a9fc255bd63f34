//===- Fma.cpp - scalar multiply-adds ------------------------------------===//
//
// acc[m, n] += A[m, k] * B[k, n] as a loop over k: a trip reads some elements of k of the rows and
// columns that a thread's part of the accumulator meets, and multiplies each pair. Any layout of
// the accumulator will do. Only the accumulator decides how much code a trip is, so its length is
// bounded whatever the depth, and whatever the layouts of the operands.
//
// A row or column beyond the tile (padding of the accumulator) reads the last one instead: what
// comes of it is stored nowhere.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/llvm/Addresses.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::lowering {

/// Multiply-adds that one trip of the loop should have, and the least elements of k in it.
constexpr int64_t kMultiplyAdds = 1024, kLeastUnrolled = 4, kMostUnrolled = 16;
/// Registers that the elements read ahead of their products may take, for each operand.
constexpr int64_t kReadAhead = 32;

/// Bytes from an element to the one `step` further along `dim`, where that is the same everywhere
/// in the buffer; nothing where it is not, because of swizzles or panels.
static std::optional<int64_t> evenStride(const Shared &buffer, unsigned dim, int64_t step) {
  const int64_t other = buffer.shape[1 - dim], extent = buffer.shape[dim];
  std::optional<int64_t> stride;
  for (int64_t i = 0; i < other; ++i) {
    for (int64_t k = 0; k + step < extent; ++k) {
      layout::Coords at = buffer.origin, next = buffer.origin;
      at[dim] += k;
      next[dim] += k + step;
      at[1 - dim] += i;
      next[1 - dim] += i;
      const int64_t found = buffer.layout.byteOffset(next) - buffer.layout.byteOffset(at);
      if (stride && *stride != found) {
        return std::nullopt;
      }
      stride = found;
    }
  }
  return stride;
}

namespace {

/// The rows of A or the columns of B that meet a thread's part of the accumulator.
class Line {
public:
  /// `line`: their layout, with a dimension for k; `plan`: how to read them for one k.
  Line(KernelLowering &lowering, const Shared &buffer, const layout::RegisterLayout &line,
       unsigned kDim, const layout::AccessPlan &plan)
      : lowering(lowering), buffer(buffer), kDim(kDim), registers(line), plan(plan) {}

  int64_t slots() const { return registers.registersPerThread(); }

  /// The loop over k has `trips` of `unroll` elements; `trip` is the number of one.
  void enterLoop(Value trip, int64_t unroll, int64_t trips) {
    this->unroll = unroll;
    if (std::optional<int64_t> stride = evenStride(buffer, kDim, unroll)) {
      buffer.steps.push_back({trip, *stride});
    } else {
      shift = {lowering.mul(trip, unroll), kDim, unroll, trips};
    }
  }
  /// Elements from k on, behind the loop.
  void enterRest(int64_t k) {
    buffer.origin[kDim] += k;
    unroll = 1;
  }

  /// How many neighbours along k one access may read from a multiple of that number on.
  int64_t vector() const {
    if (buffer.layout.contiguousDim() != kDim) {
      return 1;
    }
    const int64_t bytes = memoryBytes(buffer.element);
    auto fits = [&](int64_t n) {
      return n * bytes <= 16 && unroll % n == 0 && buffer.origin[kDim] % n == 0 &&
             buffer.layout.panelWidth() % n == 0 && buffer.layout.rowPitch() % (n * bytes) == 0 &&
             slots() * n * bytes <= 4 * kReadAhead;
    };
    int64_t n = 1;
    while (fits(2 * n)) {
      n *= 2;
    }
    return n;
  }

  /// Elements k to k + count of the trip, for each slot.
  SmallVector<Fragment> load(int64_t k, int64_t count) {
    Shared part = buffer;
    part.origin[kDim] += k;
    const int64_t run = plan.groups[0].size(); // 1 where k's neighbours are read at a time
    SharedAddresses addresses =
        SharedAddresses::insideTile(lowering, part, registers, shift, 1 - kDim, run);
    SmallVector<Fragment> values(count, Fragment(slots()));
    for (ArrayRef<int64_t> group : plan.groups) {
      const int64_t together = std::max(count, run);
      Fragment loaded = lowering.loadElements(addresses.pointer(group[0]), buffer.element, together,
                                              together * memoryBytes(buffer.element));
      for (auto [i, value] : llvm::enumerate(loaded)) {
        values[count == 1 ? 0 : i][group[count == 1 ? i : 0]] = value;
      }
    }
    return values;
  }

private:
  KernelLowering &lowering;
  Shared buffer;
  unsigned kDim;
  layout::RegisterLayout registers;
  const layout::AccessPlan &plan;
  int64_t unroll = 1;
  SharedAddresses::Shift shift;
};

/// The elements of k in a trip: a power of two. Fewer than the accumulator admits where that leaves
/// no rest, whose code would be as long as a trip's.
int64_t unrollOf(int64_t slots, int64_t depth) {
  int64_t unroll = kMostUnrolled;
  while (unroll > kLeastUnrolled && (unroll * slots > kMultiplyAdds || unroll > depth)) {
    unroll /= 2;
  }
  int64_t even = unroll;
  while (even > kLeastUnrolled && depth % even != 0) {
    even /= 2;
  }
  return depth % even == 0 ? even : unroll;
}

} // namespace

LogicalResult KernelLowering::lowerFma(tgpu::FmaOp op) {
  const layout::RegisterLayout *acc = tgpu::getLayout(op.getAcc().getType());
  Type element = cast<RankedTensorType>(op.getAcc().getType()).getElementType();
  const Shared &a = buffers[op.getA()], &bBuffer = buffers[op.getB()];
  if (!acc || acc->rank() != 2 || a.layout.rank() != 2 || bBuffer.layout.rank() != 2) {
    return unsupported(op, "a product of such operands");
  }
  const layout::RegisterLayout rowsOf = acc->sliceDim(1), columnsOf = acc->sliceDim(0);
  auto rowSlots = layout::broadcastRegisters(rowsOf, *acc, {0});
  auto columnSlots = layout::broadcastRegisters(columnsOf, *acc, {1});
  if (!rowSlots || !columnSlots || !rowsOf.isSeparable() || !columnsOf.isSeparable()) {
    return unsupported(op, "a product in such a layout");
  }
  const unsigned aDim = op.getTransposeA() ? 0 : 1, bDim = op.getTransposeB() ? 1 : 0;
  const int64_t depth = a.shape[aDim];
  Fragment slots = scalars[op.getAcc()];

  // Elements [0, count) of k of a trip.
  auto multiply = [&](Line &rows, Line &columns, int64_t count) -> LogicalResult {
    SmallVector<Fragment> x, y;
    for (int64_t k = 0; k < count; ++k) {
      auto read = [&](Line &line, SmallVector<Fragment> &values) -> ArrayRef<Value> {
        const int64_t n = line.vector();
        if (k % n == 0) {
          values = line.load(k, n);
        }
        return values[k % n];
      };
      FailureOr<Fragment> row =
          convertAll(op, read(rows, x), a.element, element, op.getAUnsigned(), false);
      FailureOr<Fragment> column =
          convertAll(op, read(columns, y), bBuffer.element, element, op.getBUnsigned(), false);
      if (failed(row) || failed(column)) {
        return failure();
      }
      for (auto [i, slot] : llvm::enumerate(slots)) {
        Value left = (*row)[(*rowSlots)[i]], right = (*column)[(*columnSlots)[i]];
        slot = isa<FloatType>(element)
                   ? Value(math::FmaOp::create(b, loc, left, right, slot))
                   : add(slot, Value(arith::MulIOp::create(b, loc, left, right)));
      }
    }
    return success();
  };

  const layout::RegisterLayout rowLine = rowsOf.insertDim(aDim),
                               columnLine = columnsOf.insertDim(bDim);
  FailureOr<layout::AccessPlan> rowPlan = accessPlan(op, a, rowLine);
  FailureOr<layout::AccessPlan> columnPlan = accessPlan(op, bBuffer, columnLine);
  if (failed(rowPlan) || failed(columnPlan)) {
    return failure();
  }
  // Planned for the first k: the others may begin where accesses as wide may not.
  rowPlan = withAccesses(*rowPlan, alignedStart(a, aDim), memoryBytes(a.element));
  columnPlan = withAccesses(*columnPlan, alignedStart(bBuffer, bDim), memoryBytes(bBuffer.element));
  const int64_t unroll = unrollOf(slots.size(), depth), trips = depth / unroll;
  if (trips > 0) {
    Line rows(*this, a, rowLine, aDim, *rowPlan),
        columns(*this, bBuffer, columnLine, bDim, *columnPlan);
    auto loop = scf::ForOp::create(b, loc, i32(0), i32(trips), i32(1), slots);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    rows.enterLoop(loop.getInductionVar(), unroll, trips);
    columns.enterLoop(loop.getInductionVar(), unroll, trips);
    slots.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    if (failed(multiply(rows, columns, unroll))) {
      return failure();
    }
    scf::YieldOp::create(b, loc, slots);
    slots.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (int64_t rest = depth % unroll) {
    Line rows(*this, a, rowLine, aDim, *rowPlan),
        columns(*this, bBuffer, columnLine, bDim, *columnPlan);
    rows.enterRest(depth - rest);
    columns.enterRest(depth - rest);
    if (failed(multiply(rows, columns, rest))) {
      return failure();
    }
  }
  scalars[op.getResult()] = slots;
  return success();
}

} // namespace tilec::lowering
