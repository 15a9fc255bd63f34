//===- SharedAddresses.cpp - addresses in swizzled shared memory ---------===//
//
// With power-of-two tiles every address bit is an XOR of bits of the slot, lane and warp numbers.
// Then the address of slot r is base + high(r) + (T ^ low(r)): T is the thread's part, low(r) the
// bits of the slot's part that T may touch, and high(r) the rest, which no carry or XOR disturbs
// and which therefore is an immediate.
//
// Where rows or panels are no powers of two apart, lanes and warps add up instead, but a swizzle
// XORs nothing above its span: the bits below it are split as above, those from it on as sums.
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/Addresses.h"

#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;

namespace tilec::lowering {

SharedAddresses::SharedAddresses(KernelLowering &lowering, const Shared &buffer,
                                 const layout::RegisterLayout &registers, Shift shift)
    : lowering(lowering), buffer(buffer), registers(registers), shift(shift),
      steps(lowering.sharedSteps(buffer)) {
  if (!shift.value && isLinear()) {
    form = Form::Linear;
    threadPart = linearPart();
  } else if (isAdditive(1) || (buffer.layout.swizzle() && isAdditive(buffer.layout.swizzle()))) {
    form = Form::Additive;
    threadPart = computed(std::nullopt);
  }
}

SharedAddresses::SharedAddresses(KernelLowering &lowering, const Shared &buffer,
                                 const layout::RegisterLayout &registers)
    : SharedAddresses(lowering, buffer, registers, Shift()) {}

SharedAddresses SharedAddresses::insideTile(KernelLowering &lowering, const Shared &buffer,
                                            const layout::RegisterLayout &registers, Shift shift,
                                            unsigned runDim, int64_t run) {
  SharedAddresses addresses(lowering, buffer, registers, shift);
  addresses.runDim = runDim;
  addresses.run = run;
  if (registers.hasPadding()) {
    addresses.reach.assign(registers.rank(), 0);
    for (int64_t thread = 0; thread < 32 * registers.numWarps(); ++thread) {
      layout::Coords at = registers.coords(0, thread % 32, registers.firstWarp() + thread / 32);
      for (auto [most, c] : llvm::zip_equal(addresses.reach, at)) {
        most = std::max(most, c);
      }
    }
  }
  return addresses;
}

bool SharedAddresses::mayLeave(int64_t reg, unsigned dim) const {
  return !reach.empty() &&
         reach[dim] + registers.registerOffset(reg)[dim] >= registers.shape()[dim];
}

int64_t SharedAddresses::offset(int64_t reg, int64_t lane, int64_t warp) const {
  layout::Coords at = registers.coords(reg, lane, registers.firstWarp() + warp);
  for (auto [coordinate, origin] : llvm::zip_equal(at, buffer.origin)) {
    coordinate += origin;
  }
  return buffer.layout.byteOffset(at);
}

bool SharedAddresses::isLinear() {
  const int64_t base = offset(0, 0, 0);
  laneMasks.clear();
  warpMasks.clear();
  for (int64_t bit = 1; bit < 32; bit *= 2) {
    laneMasks.push_back(offset(0, bit, 0) ^ base);
  }
  for (int64_t bit = 1; bit < registers.numWarps(); bit *= 2) {
    warpMasks.push_back(offset(0, 0, bit) ^ base);
  }
  auto select = [](ArrayRef<int64_t> masks, int64_t number) {
    int64_t value = 0;
    for (auto [i, mask] : llvm::enumerate(masks)) {
      value ^= (number >> i & 1) ? mask : 0;
    }
    return value;
  };
  threadMask = 0;
  for (int64_t mask : laneMasks) {
    threadMask |= mask;
  }
  for (int64_t mask : warpMasks) {
    threadMask |= mask;
  }
  for (int64_t reg = 0; reg < registers.registersPerThread(); ++reg) {
    const int64_t part = offset(reg, 0, 0);
    for (int64_t warp = 0; warp < registers.numWarps(); ++warp) {
      for (int64_t lane = 0; lane < 32; ++lane) {
        if (offset(reg, lane, warp) != (part ^ select(laneMasks, lane) ^ select(warpMasks, warp))) {
          return false;
        }
      }
    }
  }
  return true;
}

/// What threads and shifts add to the coordinates of a slot, each once.
static std::vector<layout::Coords> placesOf(const layout::RegisterLayout &registers,
                                            const SharedAddresses::Shift &shift) {
  std::set<layout::Coords> places;
  for (int64_t thread = 0; thread < 32 * registers.numWarps(); ++thread) {
    layout::Coords at = registers.coords(0, thread % 32, registers.firstWarp() + thread / 32);
    for (int64_t trip = 0; trip < shift.trips; ++trip) {
      places.insert(at);
      at[shift.dim] += shift.step;
    }
  }
  return std::vector<layout::Coords>(places.begin(), places.end());
}

bool SharedAddresses::isAdditive(int64_t swizzle) {
  const int64_t below = std::max<int64_t>(swizzle, 1) - 1, base = offset(0, 0, 0);
  const std::vector<layout::Coords> places = placesOf(registers, shift);
  auto offsetAt = [&](layout::Coords at, int64_t reg) {
    for (auto [c, slot, origin] :
         llvm::zip_equal(at, registers.registerOffset(reg), buffer.origin)) {
      c += slot + origin;
    }
    return buffer.layout.byteOffset(at);
  };
  std::vector<int64_t> parts;
  threadMask = 0;
  for (const layout::Coords &at : places) {
    parts.push_back(offsetAt(at, 0));
    threadMask |= (parts.back() ^ base) & below;
  }
  for (int64_t reg = 1; reg < registers.registersPerThread(); ++reg) {
    const int64_t slot = offset(reg, 0, 0);
    for (auto [at, part] : llvm::zip_equal(places, parts)) {
      const int64_t high = (slot & ~below) - (base & ~below) + (part & ~below);
      if (offsetAt(at, reg) != (high | ((slot ^ base ^ part) & below))) {
        return false;
      }
    }
  }
  return true;
}

/// XOR over the set bits of the lane and warp numbers of their masks: one mask and shift for each
/// distance between an input and an output bit.
Value SharedAddresses::linearPart() const {
  OpBuilder &b = lowering.builder();
  Location loc = lowering.location();
  Value sum;
  auto addTerms = [&](ArrayRef<int64_t> masks, llvm::function_ref<Value()> number) {
    std::map<int, int64_t> inputs; // distance -> input bits
    for (auto [in, mask] : llvm::enumerate(masks)) {
      for (int out = 0; out < 32; ++out) {
        if (mask >> out & 1) {
          inputs[out - int(in)] |= int64_t(1) << in;
        }
      }
    }
    for (auto [distance, bits] : inputs) {
      Value term = b.createOrFold<arith::AndIOp>(loc, number(), lowering.i32(bits));
      if (distance > 0) {
        term = b.createOrFold<arith::ShLIOp>(loc, term, lowering.i32(distance));
      } else if (distance < 0) {
        term = b.createOrFold<arith::ShRUIOp>(loc, term, lowering.i32(-distance));
      }
      sum = sum ? b.createOrFold<arith::XOrIOp>(loc, sum, term) : term;
    }
  };
  addTerms(laneMasks, [&] { return lowering.lane(); });
  addTerms(warpMasks, [&] { return lowering.warpFrom(registers.firstWarp()); });
  return sum ? sum : lowering.i32(0);
}

Value sharedOffset(KernelLowering &lowering, const layout::SharedLayout &shared,
                   llvm::function_ref<Value(unsigned)> coordinate) {
  OpBuilder &b = lowering.builder();
  Location loc = lowering.location();
  const int64_t bits = shared.elementBits();
  Value sum;
  for (unsigned d = 0; d < shared.rank(); ++d) {
    Value at = coordinate(d);
    if (d == shared.contiguousDim()) {
      if (shared.panelCount() > 1) {
        Value width = lowering.i32(shared.panelWidth());
        Value panel = b.createOrFold<arith::DivUIOp>(loc, at, width);
        sum = lowering.add(sum, lowering.mul(panel, shared.panelStride()));
        at = b.createOrFold<arith::RemUIOp>(loc, at, width);
      }
      sum = lowering.add(sum, lowering.mul(at, bits / 8));
    } else if (int(d) == shared.rowDim()) {
      sum = lowering.add(sum, lowering.mul(at, shared.rowPitch()));
    } else {
      sum = lowering.add(sum, lowering.mul(at, shared.leadingStride(d)));
    }
  }
  if (int64_t mask = int64_t(shared.swizzle()) / 16 - 1; mask > 0) {
    Value chunk = b.createOrFold<arith::ShRUIOp>(loc, sum, lowering.i32(7));
    chunk = b.createOrFold<arith::AndIOp>(loc, chunk, lowering.i32(mask));
    chunk = b.createOrFold<arith::ShLIOp>(loc, chunk, lowering.i32(4));
    sum = b.createOrFold<arith::XOrIOp>(loc, sum, chunk);
  }
  return sum;
}

Value SharedAddresses::computed(std::optional<int64_t> reg) {
  layout::Coords slot = registers.registerOffset(reg.value_or(0));
  return sharedOffset(lowering, buffer.layout, [&](unsigned d) {
    Value at = lowering.add(lowering.threadCoordinate(registers, d), slot[d]);
    if (reg && mayLeave(*reg, d)) {
      OpBuilder &b = lowering.builder();
      at = b.createOrFold<arith::MinSIOp>(
          lowering.location(), at, lowering.i32(registers.shape()[d] - (d == runDim ? run : 1)));
    }
    at = lowering.add(at, buffer.origin[d]);
    return shift.value && d == shift.dim ? lowering.add(at, shift.value) : at;
  });
}

Value SharedAddresses::pointer(int64_t reg) {
  OpBuilder &b = lowering.builder();
  Location loc = lowering.location();
  bool leaves = false;
  for (unsigned d = 0; d < registers.rank(); ++d) {
    leaves |= mayLeave(reg, d);
  }
  if (form == Form::General || leaves) {
    Value &value = general[reg];
    value = value ? value : lowering.add(computed(reg), steps);
    return lowering.sharedPointer(value, buffer.bytes);
  }
  // The thread's part of an additive address has the first slot's in it.
  const int64_t part = offset(reg, 0, 0), first = form == Form::Linear ? 0 : offset(0, 0, 0);
  const int64_t key = (part ^ first) & threadMask;
  const int64_t immediate = (part & ~threadMask) - (first & ~threadMask);
  Value &value = dynamic[key];
  if (!value) {
    value =
        key == 0 ? threadPart : b.createOrFold<arith::XOrIOp>(loc, threadPart, lowering.i32(key));
    value = lowering.add(value, steps);
  }
  return lowering.sharedPointer(value, buffer.bytes + immediate);
}

} // namespace tilec::lowering
