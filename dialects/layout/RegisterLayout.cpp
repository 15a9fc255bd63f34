// The map itself: checking, canonical form, evaluation and inversion.
#include "dialects/layout/RegisterLayout.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace llvm;

namespace tilec::layout {

namespace {

constexpr int64_t maxRegisters = 65536;
constexpr int64_t maxWarps = 64;
constexpr int64_t maxCoordinate = int64_t(1) << 30;
constexpr unsigned maxRank = 8;

bool isZero(const Coords &v) {
  return all_of(v, [](int64_t x) { return x == 0; });
}

void xorInto(Coords &v, const Coords &w) {
  for (size_t d = 0; d < v.size(); ++d) {
    v[d] ^= w[d];
  }
}

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

StringRef toString(Combine combine) {
  switch (combine) {
  case Combine::Sum:
    return "sum";
  case Combine::Product:
    return "product";
  case Combine::Max:
    return "max";
  case Combine::Min:
    return "min";
  case Combine::And:
    return "and";
  case Combine::Or:
    return "or";
  case Combine::Xor:
    return "xor";
  }
  return "sum";
}

unsigned bitWidth(MmaType type) {
  switch (type) {
  case MmaType::F16:
  case MmaType::BF16:
    return 16;
  case MmaType::TF32:
    return 32;
  case MmaType::F8:
  case MmaType::I8:
    return 8;
  }
  return 16;
}

RegisterLayout::RegisterLayout()
    : RegisterLayout(Spec{{}, {Bases{}, Bases(5, Coords()), Bases{}}, {}, 0, {}}) {}

RegisterLayout::RegisterLayout(Spec s) : spec(std::move(s)) { canonicalise(); }

static std::optional<Refusal> checkVectors(const RegisterLayout::Spec &spec) {
  for (const RegisterLayout::Bases &bases : spec.bases) {
    for (const Coords &v : bases) {
      if (v.size() != spec.shape.size()) {
        return Refusal{"a vector has a different rank than the tile"};
      }
      if (any_of(v, [](int64_t x) { return x < 0 || x >= maxCoordinate; })) {
        return Refusal{"a vector is out of range"};
      }
    }
  }
  for (const Repeat &r : spec.repeats) {
    if (r.dim >= int(spec.shape.size()) || r.count < 1 || r.count > maxRegisters || r.stride < 0 ||
        r.stride >= maxCoordinate) {
      return Refusal{"a repeat is out of range"};
    }
  }
  return std::nullopt;
}

Answer<RegisterLayout> RegisterLayout::get(Spec spec) {
  if (spec.shape.size() > maxRank) {
    return Refusal{"a register layout has at most 8 dimensions"};
  }
  if (any_of(spec.shape, [](int64_t x) { return x < 1 || x >= maxCoordinate; })) {
    return Refusal{"an extent is not between 1 and 2^30"};
  }
  if (std::optional<Refusal> refusal = checkVectors(spec)) {
    return *refusal;
  }
  std::array<int64_t, 3> sizes;
  const std::array<int64_t, 3> limits = {maxRegisters, 32, maxWarps};
  for (unsigned hw = 0; hw < 3; ++hw) {
    if (spec.bases[hw].size() > 16) {
      return Refusal{"too many vectors"};
    }
    sizes[hw] = int64_t(1) << spec.bases[hw].size();
    for (const Repeat &r : spec.repeats) {
      if (unsigned(r.hw) == hw && sizes[hw] <= limits[hw]) {
        sizes[hw] *= r.count;
      }
    }
  }
  if (sizes[0] > maxRegisters) {
    return Refusal{"a thread would hold more than 65536 values"};
  }
  if (sizes[1] != 32) {
    return Refusal{"the lane part does not describe 32 lanes"};
  }
  if (sizes[2] > maxWarps || spec.firstWarp < 0 || spec.firstWarp > maxWarps) {
    return Refusal{"more than 64 warps"};
  }
  if (spec.partial && (spec.partial->laneMask > 31 || !(spec.partial->warpOffsets & 1))) {
    return Refusal{"lanes or warps of the partial values are out of range"};
  }
  return RegisterLayout(std::move(spec));
}

/// Moves as much of the repeats into the atom as XOR allows, so that equal maps are written
/// equally.
void RegisterLayout::canonicalise() {
  for (Repeat &r : spec.repeats) {
    if (r.dim < 0 || r.stride == 0) {
      r.dim = -1;
      r.stride = 0;
    }
  }
  auto used = [&](int dim) {
    int64_t bits = 0;
    for (const Bases &bases : spec.bases) {
      for (const Coords &v : bases) {
        bits |= v[dim];
      }
    }
    return bits;
  };
  SmallVector<Repeat, 4> result;
  for (unsigned hw = 0; hw < 3; ++hw) {
    SmallVector<Repeat, 4> mine;
    for (const Repeat &r : spec.repeats) {
      if (unsigned(r.hw) != hw || r.count == 1) {
        continue;
      }
      if (!mine.empty() && mine.back().dim == r.dim &&
          mine.back().stride * mine.back().count == r.stride) {
        mine.back().count *= r.count;
      } else {
        mine.push_back(r);
      }
    }
    Bases &bases = spec.bases[hw];
    while (!mine.empty()) {
      Repeat &r = mine.front();
      int64_t factor = r.count & -r.count;
      bool fits = r.dim < 0 || (isPowerOf2_64(r.stride) && r.stride * factor < maxCoordinate &&
                                (used(r.dim) & (r.stride * (factor - 1))) == 0);
      if (factor == 1 || !fits) {
        break;
      }
      for (int64_t f = 1; f < factor; f *= 2) {
        Coords v(spec.shape.size(), 0);
        if (r.dim >= 0) {
          v[r.dim] = r.stride * f;
        }
        bases.push_back(v);
      }
      r.count /= factor;
      r.stride *= factor;
      if (r.count != 1) {
        break;
      }
      mine.erase(mine.begin());
    }
    atomSizes[hw] = sizes[hw] = int64_t(1) << bases.size();
    for (const Repeat &r : mine) {
      sizes[hw] *= r.count;
    }
    append_range(result, mine);
  }
  spec.repeats = std::move(result);
}

void RegisterLayout::addRepeats(HwDim hw, int64_t index, Coords &coords) const {
  for (const Repeat &r : spec.repeats) {
    if (r.hw != hw) {
      continue;
    }
    if (r.dim >= 0) {
      coords[r.dim] += index % r.count * r.stride;
    }
    index /= r.count;
  }
}

Coords RegisterLayout::coords(int64_t reg, int64_t lane, int64_t warp) const {
  const std::array<int64_t, 3> ids = {reg, lane, warp - spec.firstWarp};
  Coords result(rank(), 0);
  for (unsigned hw = 0; hw < 3; ++hw) {
    for (int64_t bits = ids[hw] & (atomSizes[hw] - 1); bits; bits &= bits - 1) {
      xorInto(result, spec.bases[hw][countr_zero(uint64_t(bits))]);
    }
  }
  if (!spec.repeats.empty()) {
    for (unsigned hw = 0; hw < 3; ++hw) {
      addRepeats(HwDim(hw), ids[hw] >> spec.bases[hw].size(), result);
    }
  }
  return result;
}

bool RegisterLayout::inBounds(ArrayRef<int64_t> coords) const {
  return all_of(zip_equal(coords, spec.shape), [](auto pair) {
    auto [c, extent] = pair;
    return c >= 0 && c < extent;
  });
}

Coords RegisterLayout::span() const {
  // The largest XOR of a set of vectors: greedy over a reduced basis, per dimension.
  Coords result(rank(), 1);
  for (unsigned d = 0; d < rank(); ++d) {
    SmallVector<int64_t, 32> reduced;
    for (const Bases &bases : spec.bases) {
      for (const Coords &v : bases) {
        int64_t x = v[d];
        for (int64_t r : reduced) {
          x = std::min(x, x ^ r);
        }
        if (x) {
          reduced.push_back(x);
          sort(reduced, std::greater<>());
        }
      }
    }
    int64_t best = 0;
    for (int64_t r : reduced) {
      best = std::max(best, best ^ r);
    }
    for (const Repeat &r : spec.repeats) {
      if (r.dim == int(d)) {
        best += (r.count - 1) * r.stride;
      }
    }
    result[d] = best + 1;
  }
  return result;
}

bool RegisterLayout::hasPadding() const {
  return any_of(zip_equal(span(), spec.shape), [](auto pair) {
    auto [reach, extent] = pair;
    return reach > extent;
  });
}

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

std::optional<int64_t> RegisterLayout::registerOf(ArrayRef<int64_t> target, int64_t lane,
                                                  int64_t warp) const {
  for (const Place &p : owners(target)) {
    if (p.lane == lane && p.warp == warp) {
      return p.reg;
    }
  }
  return std::nullopt;
}

bool RegisterLayout::isPrimary(int64_t reg, int64_t lane, int64_t warp) const {
  Coords at = coords(reg, lane, warp);
  return inBounds(at) && owners(at).front() == Place{reg, lane, warp};
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

uint32_t RegisterLayout::replicatedLaneMask() const {
  uint32_t mask = 0;
  for (auto [i, v] : enumerate(bases(HwDim::Lane))) {
    if (isZero(v)) {
      mask |= 1u << i;
    }
  }
  return mask;
}

/// The offsets of warps that differ from warp 0 only in digits for which `moves` is false.
static uint32_t warpOffsetsWhere(const RegisterLayout &layout,
                                 function_ref<bool(const Coords &)> stays) {
  uint32_t set = 0;
  for (int64_t w = 0; w < std::min<int64_t>(layout.numWarps(), 32); ++w) {
    if (stays(layout.coords(0, 0, layout.firstWarp() + w))) {
      set |= 1u << w;
    }
  }
  return set;
}

uint32_t RegisterLayout::replicatedWarpOffsets() const { return warpOffsetsWhere(*this, isZero); }

bool RegisterLayout::operator==(const RegisterLayout &o) const {
  return spec.shape == o.spec.shape && spec.bases == o.spec.bases &&
         spec.repeats == o.spec.repeats && spec.firstWarp == o.spec.firstWarp &&
         spec.partial == o.spec.partial;
}

bool RegisterLayout::sameMap(const RegisterLayout &o) const {
  if (spec.shape != o.spec.shape || sizes != o.sizes || spec.firstWarp != o.spec.firstWarp) {
    return false;
  }
  for (int64_t w = spec.firstWarp; w < spec.firstWarp + sizes[2]; ++w) {
    for (int64_t l = 0; l < 32; ++l) {
      for (int64_t r = 0; r < sizes[0]; ++r) {
        Coords a = coords(r, l, w), b = o.coords(r, l, w);
        if (a != b && (inBounds(a) || inBounds(b))) {
          return false;
        }
      }
    }
  }
  return true;
}

hash_code hash_value(const RegisterLayout &layout) {
  const RegisterLayout::Spec &spec = layout.spec;
  hash_code h = hash_combine_range(spec.shape.begin(), spec.shape.end());
  for (const RegisterLayout::Bases &bases : spec.bases) {
    h = hash_combine(h, bases.size());
    for (const Coords &v : bases) {
      h = hash_combine(h, hash_combine_range(v.begin(), v.end()));
    }
  }
  for (const Repeat &r : spec.repeats) {
    h = hash_combine(h, unsigned(r.hw), r.dim, r.count, r.stride);
  }
  h = hash_combine(h, spec.firstWarp, spec.partial.has_value());
  if (spec.partial) {
    h = hash_combine(h, unsigned(spec.partial->combine), spec.partial->laneMask,
                     spec.partial->warpOffsets);
  }
  return h;
}

} // namespace tilec::layout
