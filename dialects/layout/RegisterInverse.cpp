// From elements back to the places that hold them.
#include "dialects/layout/RegisterSpec.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace tilec::layout {

namespace {

/// Solves XOR of chosen vectors == target over F2, for all vectors of a layout's atom at once.
class F2System {
public:
  /// Bit i of a solution chooses vectors[i].
  explicit F2System(ArrayRef<Coords> vectors) {
    for (auto [i, v] : enumerate(vectors)) {
      Row row{v, uint64_t(1) << i};
      reduce(row);
      if (isZero(row.vector)) {
        kernel.push_back(row.members);
      } else {
        rows.push_back(row);
      }
    }
  }

  /// All solutions; empty when there is none.
  SmallVector<uint64_t, 8> solve(const Coords &target) const {
    Row row{target, 0};
    reduce(row);
    SmallVector<uint64_t, 8> solutions;
    if (!isZero(row.vector)) {
      return solutions;
    }
    solutions.push_back(row.members);
    for (uint64_t k : kernel) {
      for (size_t i = 0, e = solutions.size(); i < e; ++i) {
        solutions.push_back(solutions[i] ^ k);
      }
    }
    return solutions;
  }

private:
  struct Row {
    Coords vector;
    uint64_t members;
  };

  static std::pair<unsigned, int64_t> pivot(const Coords &v) {
    unsigned d = 0;
    while (v[d] == 0) {
      ++d;
    }
    return {d, int64_t(bit_floor(uint64_t(v[d])))};
  }

  void reduce(Row &row) const {
    for (const Row &r : rows) {
      auto [d, bit] = pivot(r.vector);
      if (row.vector[d] & bit) {
        xorInto(row.vector, r.vector);
        row.members ^= r.members;
      }
    }
  }

  SmallVector<Row, 16> rows;
  SmallVector<uint64_t, 8> kernel;
};

} // namespace

SmallVector<Place, 8> RegisterLayout::owners(ArrayRef<int64_t> target) const {
  SmallVector<Coords, 24> vectors;
  for (const Bases &bases : spec.bases) {
    append_range(vectors, bases);
  }
  const F2System system(vectors);
  const unsigned regBits = spec.bases[0].size(), laneBits = spec.bases[1].size();
  SmallVector<Place, 8> result;
  // Every choice of repeat digits leaves a target for the atom.
  SmallVector<int64_t, 4> digits(spec.repeats.size(), 0);
  while (true) {
    Coords rest(target.begin(), target.end());
    std::array<int64_t, 3> high = {0, 0, 0}, weight = {1, 1, 1};
    for (auto [r, digit] : zip_equal(spec.repeats, digits)) {
      if (r.dim >= 0) {
        rest[r.dim] -= digit * r.stride;
      }
      high[unsigned(r.hw)] += digit * weight[unsigned(r.hw)];
      weight[unsigned(r.hw)] *= r.count;
    }
    if (all_of(rest, [](int64_t x) { return x >= 0; })) {
      for (uint64_t s : system.solve(rest)) {
        Place place;
        place.reg = int64_t(s & (atomSizes[0] - 1)) + high[0] * atomSizes[0];
        place.lane = int64_t(s >> regBits & (atomSizes[1] - 1)) + high[1] * atomSizes[1];
        place.warp = int64_t(s >> (regBits + laneBits)) + high[2] * atomSizes[2] + spec.firstWarp;
        result.push_back(place);
      }
    }
    size_t i = 0;
    while (i < digits.size() && ++digits[i] == spec.repeats[i].count) {
      digits[i++] = 0;
    }
    if (i == digits.size()) {
      break;
    }
  }
  sort(result);
  return result;
}

/// How many in-bounds places there are, and how many distinct elements they hold.
static std::pair<int64_t, int64_t> countPlaces(const RegisterLayout &layout) {
  int64_t elements = 1, places = 0;
  for (int64_t extent : layout.shape()) {
    elements *= extent;
  }
  BitVector seen(elements);
  const int64_t first = layout.firstWarp();
  for (int64_t w = first; w < first + layout.numWarps(); ++w) {
    for (int64_t l = 0; l < 32; ++l) {
      for (int64_t r = 0; r < layout.registersPerThread(); ++r) {
        Coords at = layout.coords(r, l, w);
        if (!layout.inBounds(at)) {
          continue;
        }
        int64_t index = 0;
        for (auto [c, extent] : zip_equal(at, layout.shape())) {
          index = index * extent + c;
        }
        seen.set(index);
        ++places;
      }
    }
  }
  return {places, int64_t(seen.count())};
}

bool RegisterLayout::complete() const {
  int64_t elements = 1;
  for (int64_t extent : spec.shape) {
    elements *= extent;
    if (elements > sizes[0] * sizes[1] * sizes[2]) {
      return false;
    }
  }
  return countPlaces(*this).second == elements;
}

bool RegisterLayout::isReplicated() const {
  auto [places, elements] = countPlaces(*this);
  return places > elements;
}

/// A run of bits with zero vectors is one digit; so is each repeat that moves nothing.
static void addReplicaDigits(const RegisterLayout &layout, HwDim hw,
                             SmallVectorImpl<ThreadTerm> &digits) {
  const RegisterLayout::Bases &vectors = layout.bases(hw);
  for (unsigned i = 0; i < vectors.size();) {
    unsigned end = i;
    while (end < vectors.size() && isZero(vectors[end])) {
      ++end;
    }
    if (end > i) {
      digits.push_back({hw, int64_t(1) << i, int64_t(1) << (end - i), 0});
    }
    i = end + 1;
  }
  int64_t divisor = int64_t(1) << vectors.size();
  for (const Repeat &r : layout.repeats()) {
    if (r.hw == hw) {
      if (r.dim < 0 && r.count > 1) {
        digits.push_back({hw, divisor, r.count, 0});
      }
      divisor *= r.count;
    }
  }
}

/// Whether the threads whose digits are all 0 hold every element that the layout holds, each in one
/// thread (there perhaps in several slots).
bool RegisterLayout::ownElementsOnce(ArrayRef<ThreadTerm> digits) const {
  int64_t elements = 1;
  for (int64_t extent : spec.shape) {
    elements *= extent;
  }
  SmallVector<int64_t, 0> ownerOf(elements, -1);
  BitVector held(elements);
  for (int64_t thread = 0; thread < 32 * sizes[2]; ++thread) {
    const int64_t lane = thread % 32, warp = thread / 32;
    const bool owns = all_of(digits, [&](const ThreadTerm &digit) {
      return (digit.hw == HwDim::Lane ? lane : warp) / digit.divisor % digit.modulus == 0;
    });
    for (int64_t r = 0; r < sizes[0]; ++r) {
      Coords at = coords(r, lane, spec.firstWarp + warp);
      if (!inBounds(at)) {
        continue;
      }
      int64_t index = 0;
      for (auto [c, extent] : zip_equal(at, spec.shape)) {
        index = index * extent + c;
      }
      held.set(index);
      if (owns && ownerOf[index] >= 0 && ownerOf[index] != thread) {
        return false;
      }
      ownerOf[index] = owns ? thread : ownerOf[index];
    }
  }
  return all_of(held.set_bits(), [&](unsigned index) { return ownerOf[index] >= 0; });
}

Answer<SmallVector<ThreadTerm, 4>> RegisterLayout::replicaDigits() const {
  SmallVector<ThreadTerm, 4> digits;
  for (HwDim hw : {HwDim::Lane, HwDim::Warp}) {
    addReplicaDigits(*this, hw, digits);
  }
  if (!ownElementsOnce(digits)) {
    return Refusal{
        "the threads that hold copies of an element differ in no digit of their numbers"};
  }
  return digits;
}

} // namespace tilec::layout
