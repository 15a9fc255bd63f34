// The map itself: checking, canonical form, evaluation.
#include "dialects/layout/RegisterSpec.h"

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

RegisterLayout::RegisterLayout(Spec s) : spec(std::move(s)) {
  canonicalise();
  for (unsigned d = 0; d < rank(); ++d) {
    for (const Bases &bases : spec.bases) {
      append_range(byDimension, map_range(bases, [d](const Coords &v) { return v[d]; }));
    }
  }
}

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
  if (index == 0) { // of most lanes and warps
    return;
  }
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
  uint64_t chosen =
      0; // of all vectors: less than 64, as there are 65536 registers, 32 lanes and 64 warps at most
  unsigned count = 0;
  for (unsigned hw = 0; hw < 3; ++hw) {
    chosen |= uint64_t(ids[hw] & (atomSizes[hw] - 1)) << count;
    count += spec.bases[hw].size();
  }
  Coords result(rank(), 0);
  const int64_t *steps = byDimension.data();
  for (int64_t &coordinate : result) {
    int64_t sum = 0;
    for (uint64_t rest = chosen; rest; rest &= rest - 1) {
      sum ^= steps[countr_zero(rest)];
    }
    coordinate = sum;
    steps += count;
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

uint32_t RegisterLayout::replicatedLaneMask() const {
  uint32_t mask = 0;
  for (auto [i, v] : enumerate(bases(HwDim::Lane))) {
    if (isZero(v)) {
      mask |= 1u << i;
    }
  }
  return mask;
}

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
