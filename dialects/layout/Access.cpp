// Loads and stores between registers and shared memory: ldmatrix and stmatrix, vectors, bank
// conflicts.
#include "dialects/layout/Compatibility.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <vector>

using namespace llvm;

namespace tilec::layout {

// ---- ldmatrix, stmatrix

namespace {

/// Checks that a fragment is made of 8x8 matrices whose rows are 16-byte pieces of the shared
/// layout.
class MatrixPlanner {
public:
  MatrixPlanner(const SharedLayout &shared, const RegisterLayout &fragment, bool trans)
      : shared(shared), fragment(fragment), trans(trans), packed(32 / shared.elementBits()),
        packedBits(countr_zero(packed)) {}

  Answer<MatrixPlan> plan() const {
    for (int64_t w = 0; w < fragment.numWarps(); ++w) {
      for (int64_t word = 0; word * packed < fragment.registersPerThread(); ++word) {
        if (!isMatrix(word, w + fragment.firstWarp())) {
          return refuse(
              trans ? "the lanes do not hold columns of 8x8 matrices whose rows are 16 contiguous "
                      "bytes"
                    : "the lanes do not hold rows of 16 contiguous bytes, four lanes a row");
        }
      }
    }
    return addresses();
  }

private:
  int64_t offset(int64_t slot, int64_t lane, int64_t warp) const {
    return shared.byteOffset(fragment.coords(slot, lane, warp));
  }

  /// 32-bit register `word` of the warp is one 8x8 matrix: PTX ISA, figure of the ldmatrix
  /// fragment.
  bool isMatrix(int64_t word, int64_t warp) const {
    const int64_t bytes = 4 / packed;
    for (int64_t lane = 0; lane < 32; ++lane) {
      const int64_t g = lane / 4, t = lane % 4;
      for (int64_t e = 0; e < int64_t(packed); ++e) {
        const int64_t slot = word * packed + e;
        const int64_t row = trans ? offset(slot, t, warp) : offset(word * packed, 4 * g, warp);
        const int64_t inRow = trans ? 2 * g : 4 * t + e * bytes;
        if (row % 16 != 0 || offset(slot, lane, warp) != row + inRow) {
          return false;
        }
      }
    }
    return true;
  }

  /// The row addresses are a layout themselves: lane bits 0..2 choose the row, 3 and 4 the matrix.
  Answer<MatrixPlan> addresses() const {
    const RegisterLayout::Bases &slots = fragment.bases(HwDim::Register);
    const RegisterLayout::Bases &lanes = fragment.bases(HwDim::Lane);
    MatrixPlan plan;
    plan.transposed = trans;
    RegisterLayout::Spec spec;
    spec.shape.assign(fragment.shape().begin(), fragment.shape().end());
    RegisterLayout::Bases &rows = spec.bases[unsigned(HwDim::Lane)];
    if (trans) {
      rows = {slots[0], lanes[0], lanes[1]};
    } else {
      rows = {lanes[2], lanes[3], lanes[4]};
    }
    unsigned next = packedBits;
    plan.matrices = 1;
    while (rows.size() < 5) {
      if (next < slots.size()) {
        rows.push_back(slots[next++]);
        plan.matrices *= 2;
      } else {
        rows.push_back(Coords(fragment.rank(), 0));
      }
    }
    spec.bases[unsigned(HwDim::Register)].assign(slots.begin() + next, slots.end());
    spec.bases[unsigned(HwDim::Warp)] = fragment.bases(HwDim::Warp);
    spec.repeats.assign(fragment.repeats().begin(), fragment.repeats().end());
    spec.firstWarp = fragment.firstWarp();
    Answer<RegisterLayout> address = RegisterLayout::get(std::move(spec));
    if (!address) {
      return Refusal{address.reason()};
    }
    plan.address = *address;
    return plan;
  }

  const SharedLayout &shared;
  const RegisterLayout &fragment;
  bool trans;
  unsigned packed, packedBits;
};

} // namespace

Answer<MatrixPlan> ldmatrixPlan(const SharedLayout &shared, const RegisterLayout &fragment,
                                bool trans) {
  const unsigned bits = shared.elementBits();
  if (bits != 8 && bits != 16 && bits != 32) {
    return refuse("8x8 matrices hold 8, 16 or 32-bit elements, not " + Twine(bits) + "-bit ones");
  }
  if (trans && bits != 16) {
    return refuse("only 16-bit elements can be transposed on the way");
  }
  if (shared.rank() != fragment.rank()) {
    return refuse("the buffer has another rank than the fragment");
  }
  for (auto [reach, extent] : zip_equal(fragment.span(), shared.shape())) {
    if (reach > extent) {
      return refuse("the fragment reaches " + Twine(reach) + " elements, the buffer has " +
                    Twine(extent));
    }
  }
  const RegisterLayout::Bases &lanes = fragment.bases(HwDim::Lane);
  if (lanes.size() != 5 ||
      fragment.bases(HwDim::Register).size() < size_t(countr_zero(32 / bits))) {
    return refuse("a thread does not hold whole 32-bit registers");
  }
  return MatrixPlanner(shared, fragment, trans).plan();
}

Answer<MatrixPlan> stmatrixPlan(const SharedLayout &shared, const RegisterLayout &fragment,
                                bool trans) {
  if (fragment.partial()) {
    return refuse("the fragment's values are partial");
  }
  // All lanes take part, so copies in other lanes would be stored too.
  if (fragment.replicatedLaneMask() != 0) {
    return refuse("lanes of a warp hold the same elements");
  }
  return ldmatrixPlan(shared, fragment, trans);
}

// ---- vectors

namespace {

/// Where every slot of every thread starts, in bits (exact for 4-bit elements); -1 out of bounds.
class OffsetTable {
public:
  OffsetTable(const SharedLayout &shared, const RegisterLayout &fragment)
      : slots(fragment.registersPerThread()), threads(32 * fragment.numWarps()) {
    std::vector<Coords> bySlot, byThread;
    for (int64_t r = 0; r < slots; ++r) {
      bySlot.push_back(fragment.registerOffset(r));
    }
    for (int64_t t = 0; t < threads; ++t) {
      byThread.push_back(fragment.coords(0, t % 32, fragment.firstWarp() + t / 32));
    }
    const bool separable = fragment.isSeparable();
    bits.reserve(slots * threads);
    for (int64_t t = 0; t < threads; ++t) {
      for (int64_t r = 0; r < slots; ++r) {
        Coords c = bySlot[r];
        if (separable) {
          for (unsigned d = 0; d < c.size(); ++d) {
            c[d] += byThread[t][d];
          }
        } else {
          c = fragment.coords(r, t % 32, fragment.firstWarp() + t / 32);
        }
        bits.push_back(fragment.inBounds(c) ? 8 * shared.byteOffset(c) + shared.bitOffset(c) : -1);
      }
    }
  }

  int64_t at(int64_t thread, int64_t slot) const { return bits[thread * slots + slot]; }

  const int64_t slots, threads;

private:
  std::vector<int64_t> bits;
};

/// Slots in the order of the first thread's coordinates, contiguous dimension fastest, cut into
/// groups of n.
SmallVector<SmallVector<int64_t, 8>, 8> groupSlots(const SharedLayout &shared,
                                                   const RegisterLayout &fragment, int64_t n) {
  SmallVector<std::pair<Coords, int64_t>, 32> order;
  for (int64_t r = 0; r < fragment.registersPerThread(); ++r) {
    Coords key = fragment.registerOffset(r);
    std::swap(key[shared.contiguousDim()], key.back());
    order.push_back({key, r});
  }
  sort(order);
  SmallVector<SmallVector<int64_t, 8>, 8> groups;
  for (auto [i, entry] : enumerate(order)) {
    if (i % n == 0) {
      groups.emplace_back();
    }
    groups.back().push_back(entry.second);
  }
  return groups;
}

/// Every thread finds the group in one aligned piece, or wholly out of bounds.
bool isOneAccess(const OffsetTable &table, ArrayRef<int64_t> group, int64_t accessBits,
                 int64_t elementBits) {
  for (int64_t t = 0; t < table.threads; ++t) {
    const int64_t start = table.at(t, group[0]);
    for (auto [i, slot] : enumerate(group)) {
      const int64_t expected = start < 0 ? -1 : start + int64_t(i) * elementBits;
      if (table.at(t, slot) != expected) {
        return false;
      }
    }
    if (start >= 0 && start % accessBits != 0) {
      return false;
    }
  }
  return true;
}

std::optional<Refusal> checkAccess(const SharedLayout &shared, const RegisterLayout &fragment) {
  if (shared.rank() != fragment.rank()) {
    return refuse("the buffer has another rank than the fragment");
  }
  for (auto [extent, room] : zip_equal(fragment.shape(), shared.shape())) {
    if (extent > room) {
      return refuse("the fragment has " + Twine(extent) + " elements where the buffer has " +
                    Twine(room));
    }
  }
  return std::nullopt;
}

Answer<AccessPlan> widestAccesses(const OffsetTable &table, const SharedLayout &shared,
                                  const RegisterLayout &fragment) {
  for (unsigned bytes = 16; bytes > 0; bytes /= 2) {
    const int64_t n = bytes * 8 / shared.elementBits();
    if (n == 0 || table.slots % n != 0) {
      continue;
    }
    AccessPlan plan{bytes, groupSlots(shared, fragment, n)};
    if (all_of(plan.groups, [&](ArrayRef<int64_t> group) {
          return isOneAccess(table, group, 8 * bytes, shared.elementBits());
        })) {
      return plan;
    }
  }
  return refuse("the elements of a thread are not aligned pieces of shared memory");
}

} // namespace

Answer<AccessPlan> accessPlan(const SharedLayout &shared, const RegisterLayout &fragment) {
  if (std::optional<Refusal> refusal = checkAccess(shared, fragment)) {
    return *refusal;
  }
  return widestAccesses(OffsetTable(shared, fragment), shared, fragment);
}

// ---- words

/// The fragment with the lanes that share a word made equal; refused where lanes do not share words
/// of which each holds `unit` bytes.
static Answer<RegisterLayout> wordAddresses(const RegisterLayout &fragment, unsigned contiguous,
                                            int64_t unit) {
  RegisterLayout::Spec spec;
  spec.shape.assign(fragment.shape().begin(), fragment.shape().end());
  spec.repeats.assign(fragment.repeats().begin(), fragment.repeats().end());
  spec.firstWarp = fragment.firstWarp();
  int64_t shared = unit; // bytes of a word that its lanes hold together
  for (HwDim hw : {HwDim::Register, HwDim::Lane, HwDim::Warp}) {
    for (Coords v : fragment.bases(hw)) {
      const int64_t inWord = v[contiguous] & 3;
      if (hw == HwDim::Lane && inWord != 0) {
        shared *= 2;
        v[contiguous] &= ~int64_t(3);
      } else if (inWord >= unit) {
        return refuse("other than neighbouring lanes hold the bytes of a word");
      }
      if (hw == HwDim::Lane && inWord != 0 && any_of(v, [](int64_t x) { return x != 0; })) {
        return refuse("lanes of a word differ in other coordinates");
      }
      spec.bases[unsigned(hw)].push_back(v);
    }
  }
  const bool mixes = any_of(fragment.repeats(), [&](const Repeat &r) {
    return r.dim == int(contiguous) && r.stride % 4 != 0;
  });
  if (mixes || shared != 4) {
    return refuse("no four bytes of a word are held by neighbouring lanes");
  }
  return RegisterLayout::get(std::move(spec));
}

/// Every thread finds the group in `words` one after the other, `unit` bytes of each.
static bool areWords(const OffsetTable &table, const OffsetTable &words, ArrayRef<int64_t> group,
                     int64_t accessBytes, int64_t unit) {
  for (int64_t t = 0; t < table.threads; ++t) {
    const int64_t start = words.at(t, group[0]);
    if (start % (8 * accessBytes) != 0) {
      return false;
    }
    const int64_t inWord = table.at(t, group[0]) - start;
    for (auto [i, slot] : enumerate(group)) {
      const int64_t expected = start + int64_t(i) / unit * 32 + int64_t(i) % unit * 8;
      if (words.at(t, slot) != expected || table.at(t, slot) != expected + inWord) {
        return false;
      }
    }
  }
  return true;
}

Answer<WordPlan> wordPlan(const SharedLayout &shared, const RegisterLayout &fragment) {
  if (shared.elementBits() != 8 || fragment.rank() == 0 || fragment.hasPadding() ||
      !fragment.isSeparable()) {
    return refuse("words are made of bytes, without padding");
  }
  if (std::optional<Refusal> refusal = checkAccess(shared, fragment)) {
    return *refusal;
  }
  const OffsetTable table(shared, fragment);
  Answer<AccessPlan> plain = widestAccesses(table, shared, fragment);
  if (!plain || plain->bytes > 2) {
    return refuse("plain accesses are as wide");
  }
  const int64_t unit = plain->bytes;
  Answer<RegisterLayout> address = wordAddresses(fragment, shared.contiguousDim(), unit);
  if (!address) {
    return Refusal{address.reason()};
  }
  const OffsetTable words(shared, *address);
  for (unsigned bytes : {16u, 8u}) {
    const int64_t n = bytes / 4 * unit;
    WordPlan plan{bytes, unsigned(unit), *address, groupSlots(shared, fragment, n)};
    if (table.slots % n == 0 && all_of(plan.groups, [&](ArrayRef<int64_t> group) {
          return areWords(table, words, group, bytes, unit);
        })) {
      return plan;
    }
  }
  return refuse("the words of a thread are not neighbours");
}

// ---- bank conflicts

BankReport countWavefronts(ArrayRef<int64_t> addresses, unsigned bytes) {
  const unsigned lanesPerPhase = bytes <= 4 ? 32 : 128 / bytes;
  BankReport report;
  for (size_t begin = 0; begin < addresses.size(); begin += lanesPerPhase) {
    SmallVector<int64_t, 32> words;
    const size_t end = std::min<size_t>(begin + lanesPerPhase, addresses.size());
    for (int64_t a : addresses.slice(begin, end - begin)) {
      for (int64_t w = a / 4; a >= 0 && w <= (a + bytes - 1) / 4; ++w) {
        words.push_back(w);
      }
    }
    std::sort(words.begin(), words.end()); // llvm::sort calls a function for each comparison
    words.erase(llvm::unique(words), words.end());
    std::array<int64_t, 32> perBank = {};
    for (int64_t w : words) {
      ++perBank[w % 32];
    }
    report.wavefronts += *std::max_element(perBank.begin(), perBank.end());
    report.ideal += !words.empty();
  }
  return report;
}

namespace {

/// The wavefronts of many accesses. Addresses that are others a multiple of 128 bytes further are in the same banks, as most of a
/// tile's are: each pattern is counted once.
class Wavefronts {
public:
  explicit Wavefronts(unsigned bytes) : bytes(bytes) {}

  /// `addresses` of the lanes of one access; changes them.
  void add(MutableArrayRef<int64_t> addresses) {
    constexpr int64_t kAllBanks = 128;
    const auto *first = find_if(addresses, [](int64_t a) { return a >= 0; });
    const int64_t base = first == addresses.end() ? 0 : *first / kAllBanks * kAllBanks;
    for (int64_t &a : addresses) {
      a = a < 0 ? INT64_MIN : a - base; // those behind the first may be below it
    }
    const auto *known = find_if(patterns, [&](const Pattern &p) { return p.places == addresses; });
    if (known == patterns.end()) {
      Pattern pattern{SmallVector<int64_t, 32>(addresses), {}};
      for (int64_t &a : addresses) {
        a = a == INT64_MIN ? -1 : a + base;
      }
      pattern.report = countWavefronts(addresses, bytes);
      patterns.push_back(std::move(pattern));
      known = &patterns.back();
    }
    total.wavefronts += known->report.wavefronts;
    total.ideal += known->report.ideal;
  }

  BankReport total;

private:
  struct Pattern {
    SmallVector<int64_t, 32> places;
    BankReport report;
  };
  unsigned bytes;
  SmallVector<Pattern, 4> patterns;
};

} // namespace

static BankReport accessConflicts(const OffsetTable &table,
                                  ArrayRef<SmallVector<int64_t, 8>> groups, unsigned bytes) {
  Wavefronts wavefronts(bytes);
  for (int64_t warp = 0; warp < table.threads; warp += 32) {
    for (const auto &group : groups) {
      std::array<int64_t, 32> addresses = {};
      for (int64_t lane = 0; lane < 32; ++lane) {
        const int64_t bit = table.at(warp + lane, group[0]);
        addresses[lane] = bit < 0 ? -1 : bit / 8;
      }
      wavefronts.add(addresses);
    }
  }
  return wavefronts.total;
}

BankReport bankConflicts(const SharedLayout &shared, const RegisterLayout &fragment) {
  if (checkAccess(shared, fragment)) {
    return {};
  }
  const OffsetTable table(shared, fragment);
  Answer<AccessPlan> plan = widestAccesses(table, shared, fragment);
  return plan ? accessConflicts(table, plan->groups, plan->bytes) : BankReport();
}

BankReport bankConflicts(const SharedLayout &shared, const WordPlan &plan) {
  return accessConflicts(OffsetTable(shared, plan.address), plan.groups, plan.accessBytes);
}

BankReport bankConflicts(const SharedLayout &shared, const MatrixPlan &plan) {
  Wavefronts wavefronts(16);
  const RegisterLayout &rows = plan.address;
  for (int64_t w = 0; w < rows.numWarps(); ++w) {
    for (int64_t i = 0; i < rows.registersPerThread(); ++i) {
      SmallVector<int64_t, 32> addresses;
      for (int64_t lane = 0; lane < 8 * int64_t(plan.matrices); ++lane) {
        addresses.push_back(shared.byteOffset(rows.coords(i, lane, rows.firstWarp() + w)));
      }
      wavefronts.add(addresses);
    }
  }
  return wavefronts.total;
}

} // namespace tilec::layout
