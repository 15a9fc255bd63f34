// Layouts derived from layouts, and what code generation asks of one.
#include "dialects/layout/RegisterLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;

namespace tilec::layout {

bool RegisterLayout::isSeparable() const {
  for (unsigned d = 0; d < rank(); ++d) {
    int64_t registerBits = 0, threadBits = 0;
    for (const Coords &v : bases(HwDim::Register)) {
      registerBits |= v[d];
    }
    for (HwDim hw : {HwDim::Lane, HwDim::Warp}) {
      for (const Coords &v : bases(hw)) {
        if (threadBits & v[d]) {
          return false;
        }
        threadBits |= v[d];
      }
    }
    if (registerBits & threadBits) {
      return false;
    }
  }
  return true;
}

SmallVector<ThreadTerm, 4> RegisterLayout::threadTerms(unsigned dim) const {
  assert(isSeparable() && "thread terms need a separable layout");
  SmallVector<ThreadTerm, 4> terms;
  for (HwDim hw : {HwDim::Lane, HwDim::Warp}) {
    const Bases &vectors = bases(hw);
    const int64_t size = sizes[unsigned(hw)];
    auto add = [&](int64_t divisor, int64_t modulus, int64_t stride) {
      terms.push_back({hw, divisor, divisor * modulus == size ? 0 : modulus, stride});
    };
    for (unsigned i = 0; i < vectors.size();) {
      const int64_t stride = vectors[i][dim];
      if (stride == 0) {
        ++i;
        continue;
      }
      unsigned end = i + 1; // a run of bits whose steps double is one digit
      while (end < vectors.size() && vectors[end][dim] == stride << (end - i)) {
        ++end;
      }
      add(int64_t(1) << i, int64_t(1) << (end - i), stride);
      i = end;
    }
    int64_t divisor = atomSizes[unsigned(hw)];
    for (const Repeat &r : repeats()) {
      if (r.hw != hw) {
        continue;
      }
      if (r.dim == int(dim)) {
        add(divisor, r.count, r.stride);
      }
      divisor *= r.count;
    }
  }
  return terms;
}

int64_t RegisterLayout::contiguousElements(unsigned dim) const {
  // The low register bits must walk `dim` by 1, 2, 4, ...; everything else must keep the alignment.
  int64_t alignment = 0;
  const Bases &slots = bases(HwDim::Register);
  unsigned run = 0;
  while (run < slots.size()) {
    Coords expected(rank(), 0);
    expected[dim] = int64_t(1) << run;
    if (slots[run] != expected) {
      break;
    }
    ++run;
  }
  for (auto [hw, vectors] : enumerate(spec.bases)) {
    for (auto [i, v] : enumerate(vectors)) {
      if (hw != 0 || i >= run) {
        alignment |= v[dim];
      }
    }
  }
  for (const Repeat &r : repeats()) {
    if (r.dim == int(dim)) {
      alignment |= r.stride;
    }
  }
  const int64_t width = int64_t(1) << run;
  return alignment == 0 ? width : std::min(width, alignment & -alignment);
}

bool RegisterLayout::hasRowGroups(int64_t groups) const {
  if (groups < 1 || rank() == 0 || numWarps() % groups != 0 || shape()[0] % groups != 0 ||
      hasPadding() || !isSeparable()) {
    return false;
  }
  const int64_t rows = shape()[0] / groups, warps = numWarps() / groups;
  // Rows are sums of what register, lane and warp add.
  int64_t ofRegisters = 0, ofLanes = 0;
  for (int64_t reg = 0; reg < registersPerThread(); ++reg) {
    ofRegisters = std::max(ofRegisters, coords(reg, 0, firstWarp())[0]);
  }
  for (int64_t lane = 0; lane < 32; ++lane) {
    ofLanes = std::max(ofLanes, coords(0, lane, firstWarp())[0]);
  }
  for (int64_t warp = 0; warp < numWarps(); ++warp) {
    const int64_t row = coords(0, 0, firstWarp() + warp)[0] - warp / warps * rows;
    if (row < 0 || row + ofRegisters + ofLanes >= rows) {
      return false;
    }
  }
  return true;
}

std::optional<SmallVector<int64_t, 16>> RegisterLayout::registersOf(unsigned dim, int64_t offset,
                                                                    int64_t extent) const {
  SmallVector<int64_t, 16> result;
  for (int64_t r = 0; r < sizes[0]; ++r) {
    std::optional<bool> inside;
    for (int64_t w = spec.firstWarp; w < spec.firstWarp + sizes[2]; ++w) {
      for (int64_t l = 0; l < 32; ++l) {
        const int64_t c = coords(r, l, w)[dim];
        const bool here = c >= offset && c < offset + extent;
        if (inside.value_or(here) != here) {
          return std::nullopt;
        }
        inside = here;
      }
    }
    if (*inside) {
      result.push_back(r);
    }
  }
  return result;
}

/// Removes register vectors that are XORs of earlier ones: they repeat elements of the same thread.
static void dropDependent(RegisterLayout::Bases &bases) {
  RegisterLayout::Bases kept, reduced;
  for (const Coords &v : bases) {
    Coords rest = v;
    for (const Coords &r : reduced) {
      // r's leading bit: the first non-zero dimension, highest bit.
      unsigned d = 0;
      while (r[d] == 0) {
        ++d;
      }
      if (rest[d] & int64_t(bit_floor(uint64_t(r[d])))) {
        for (unsigned i = 0; i < rest.size(); ++i) {
          rest[i] ^= r[i];
        }
      }
    }
    if (any_of(rest, [](int64_t x) { return x != 0; })) {
      reduced.push_back(rest);
      kept.push_back(v);
    }
  }
  bases = kept;
}

RegisterLayout RegisterLayout::sliceDim(unsigned dim) const {
  Spec s = spec;
  s.shape.erase(s.shape.begin() + dim);
  for (Bases &vectors : s.bases) {
    for (Coords &v : vectors) {
      v.erase(v.begin() + dim);
    }
  }
  dropDependent(s.bases[0]);
  SmallVector<Repeat, 4> kept;
  for (Repeat r : s.repeats) {
    if (r.dim == int(dim)) {
      r.dim = -1;
    } else if (r.dim > int(dim)) {
      --r.dim;
    }
    if (r.hw != HwDim::Register || r.dim >= 0) {
      kept.push_back(r);
    }
  }
  s.repeats = kept;
  return RegisterLayout(std::move(s));
}

RegisterLayout RegisterLayout::along(unsigned dim) const {
  RegisterLayout result = *this;
  for (unsigned other = rank(); other-- > 0;) {
    if (other != dim) {
      result = result.sliceDim(other);
    }
  }
  return result;
}

RegisterLayout RegisterLayout::insertDim(unsigned dim) const {
  Spec s = spec;
  s.shape.insert(s.shape.begin() + dim, 1);
  for (Bases &vectors : s.bases) {
    for (Coords &v : vectors) {
      v.insert(v.begin() + dim, 0);
    }
  }
  for (Repeat &r : s.repeats) {
    r.dim += r.dim >= int(dim);
  }
  return RegisterLayout(std::move(s));
}

Answer<RegisterLayout> RegisterLayout::spreadDim(unsigned dim, int64_t extent) const {
  Spec s = insertDim(dim).spec;
  s.shape[dim] = extent;
  int64_t reach = 1;
  for (Coords &v : s.bases[unsigned(HwDim::Lane)]) {
    if (reach < extent && all_of(v, [](int64_t c) { return c == 0; })) {
      v[dim] = reach;
      reach *= 2;
    }
  }
  Bases slots;
  for (; reach < extent; reach *= 2) {
    slots.push_back(Coords(s.shape.size(), 0));
    slots.back()[dim] = reach;
  }
  Bases &registers = s.bases[unsigned(HwDim::Register)];
  registers.insert(registers.begin(), slots.begin(), slots.end());
  return get(std::move(s));
}

RegisterLayout RegisterLayout::permuted(ArrayRef<unsigned> perm) const {
  assert(perm.size() == rank() && "a permutation of all dimensions");
  auto permute = [&](Coords &v) {
    Coords old = v;
    for (auto [i, p] : enumerate(perm)) {
      v[i] = old[p];
    }
  };
  Spec s = spec;
  permute(s.shape);
  for (Bases &vectors : s.bases) {
    for_each(vectors, permute);
  }
  for (Repeat &r : s.repeats) {
    if (r.dim >= 0) {
      r.dim = int(find(perm, unsigned(r.dim)) - perm.begin());
    }
  }
  return RegisterLayout(std::move(s));
}

RegisterLayout RegisterLayout::transposed() const { return permuted({1, 0}); }

Answer<RegisterLayout> RegisterLayout::pairs() const {
  if (rank() == 0 || contiguousElements(rank() - 1) < 2) {
    return Refusal{"a thread does not hold pairs of neighbours along the last dimension"};
  }
  if (spec.shape.back() % 2 != 0) {
    return Refusal{"the last extent is odd"};
  }
  Spec s = spec;
  s.shape.back() /= 2;
  s.bases[0].erase(s.bases[0].begin());
  for (Bases &vectors : s.bases) {
    for (Coords &v : vectors) {
      v.back() /= 2;
    }
  }
  for (Repeat &r : s.repeats) {
    r.stride /= r.dim + 1 == int(rank()) ? 2 : 1;
  }
  return get(std::move(s));
}

Answer<RegisterLayout> RegisterLayout::unpaired() const {
  if (rank() == 0) {
    return Refusal{"a scalar has no neighbours"};
  }
  Spec s = spec;
  s.shape.back() *= 2;
  for (Bases &vectors : s.bases) {
    for (Coords &v : vectors) {
      v.back() *= 2;
    }
  }
  Coords step(rank(), 0);
  step.back() = 1;
  s.bases[0].insert(s.bases[0].begin(), step);
  for (Repeat &r : s.repeats) {
    r.stride *= r.dim + 1 == int(rank()) ? 2 : 1;
  }
  return get(std::move(s));
}

RegisterLayout RegisterLayout::withShape(ArrayRef<int64_t> shape) const {
  assert(shape.size() == rank() && "the rank stays");
  Spec s = spec;
  s.shape.assign(shape.begin(), shape.end());
  return RegisterLayout(std::move(s));
}

RegisterLayout RegisterLayout::onWarps(int64_t first) const {
  Spec s = spec;
  s.firstWarp = first;
  return RegisterLayout(std::move(s));
}

RegisterLayout RegisterLayout::withPartial(Partial partial) const {
  Spec s = spec;
  s.partial = partial;
  return RegisterLayout(std::move(s));
}

RegisterLayout RegisterLayout::combined() const {
  Spec s = spec;
  s.partial.reset();
  return RegisterLayout(std::move(s));
}

} // namespace tilec::layout
