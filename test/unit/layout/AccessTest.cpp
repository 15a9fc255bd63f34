// ldmatrix and stmatrix plans by simulating the instructions, vector widths and bank conflicts
// against brute force.
#include "LayoutTestUtils.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using namespace tilec::layout;

namespace {

/// What the thread should hold: the byte addresses of the elements of its slots, from both layouts.
std::vector<int64_t> wanted(const SharedLayout &shared, const RegisterLayout &fragment,
                            int64_t lane, int64_t warp) {
  std::vector<int64_t> result;
  for (int64_t r = 0; r < fragment.registersPerThread(); ++r) {
    const int64_t at = shared.byteOffset(fragment.coords(r, lane, warp));
    for (unsigned b = 0; b < shared.elementBits() / 8; ++b) {
      result.push_back(at + b);
    }
  }
  return result;
}

/// ldmatrix, PTX ISA 9.7.14.5.15: lanes 8j..8j+7 give the rows of matrix j; lane l receives of
/// matrix j bytes 4 (l % 4) .. +3 of row l / 4, or with .trans the 16-bit elements (row 2 (l % 4) +
/// e, column l / 4), e = 0, 1.
void expectPlanLoads(const SharedLayout &shared, const RegisterLayout &fragment,
                     const MatrixPlan &plan) {
  ASSERT_EQ(plan.address.registersPerThread() * plan.matrices * 32 / shared.elementBits(),
            fragment.registersPerThread());
  for (int64_t w = fragment.firstWarp(); w < fragment.firstWarp() + fragment.numWarps(); ++w) {
    std::array<std::vector<int64_t>, 32> received;
    for (int64_t i = 0; i < plan.address.registersPerThread(); ++i) {
      for (int64_t j = 0; j < int64_t(plan.matrices); ++j) {
        std::array<int64_t, 8> rows;
        for (int64_t r = 0; r < 8; ++r) {
          rows[r] = shared.byteOffset(plan.address.coords(i, 8 * j + r, w));
          ASSERT_EQ(rows[r] % 16, 0);
        }
        for (int64_t l = 0; l < 32; ++l) {
          for (int64_t b = 0; b < 4; ++b) {
            received[l].push_back(plan.transposed ? rows[2 * (l % 4) + b / 2] + 2 * (l / 4) + b % 2
                                                  : rows[l / 4] + 4 * (l % 4) + b);
          }
        }
      }
    }
    for (int64_t l = 0; l < 32; ++l) {
      ASSERT_EQ(received[l], wanted(shared, fragment, l, w))
          << shared.str() << " | " << fragment.str();
    }
  }
}

struct MatrixCase {
  RegisterLayout fragment;
  unsigned bits;
  int contiguousDim; // of shared memory
  bool trans;
  unsigned matrices;
};

std::vector<MatrixCase> matrixCases() {
  std::vector<MatrixCase> cases;
  // A [m, k] row-major: four matrices of a k-step. A stored [k, m] is transposed on the way.
  RegisterLayout a = must(RegisterLayout::mmaA(64, 64, MmaType::F16, 2, 2));
  cases.push_back({a, 16, 1, false, 4});
  cases.push_back({a.transposed(), 16, 1, true, 4});
  cases.push_back({must(RegisterLayout::mmaA(32, 32, MmaType::TF32, 2, 1)), 32, 1, false, 4});
  cases.push_back({must(RegisterLayout::mmaA(48, 96, MmaType::I8, 1, 4)), 8, 1, false, 4});
  // B [k, n] with n contiguous needs .trans, with k contiguous not; [n, k] tiles likewise.
  RegisterLayout b = must(RegisterLayout::mmaB(64, 96, MmaType::BF16, 2, 2));
  cases.push_back({b, 16, 1, true, 4});
  cases.push_back({b, 16, 0, false, 4});
  cases.push_back({b.transposed(), 16, 1, false, 4});
  cases.push_back(
      {must(RegisterLayout::mmaB(32, 8, MmaType::I8, 1, 1)).transposed(), 8, 1, false, 2});
  cases.push_back({must(RegisterLayout::mmaB(16, 24, MmaType::F16, 4, 1)), 16, 1, true, 2});
  // wgmma A from registers, e.g. Q kept in registers; 576 columns.
  cases.push_back({must(RegisterLayout::wgmmaA(64, 576, MmaType::BF16)), 16, 1, false, 4});
  cases.push_back({must(RegisterLayout::wgmmaA(128, 96, MmaType::F8, 2)), 8, 1, false, 4});
  // accumulators rounded to 16 bits: the epilogue's stmatrix; transposed into [n, m].
  RegisterLayout d = must(RegisterLayout::wgmmaAccumulator(128, 176, 2));
  cases.push_back({d, 16, 1, false, 4});
  cases.push_back({d, 16, 0, true, 4});
  cases.push_back({must(RegisterLayout::mmaC(64, 72, 4, 1)), 16, 1, false, 2});
  cases.push_back({must(RegisterLayout::wgmmaAccumulator(64, 8)), 16, 1, false, 2});
  cases.push_back({must(RegisterLayout::wgmmaAccumulator(64, 8)).onWarps(4), 16, 1, false, 2});
  return cases;
}

TEST(MatrixPlan, LoadsWhatTheFragmentHolds) {
  for (const MatrixCase &c : matrixCases()) {
    const Coords shape(c.fragment.shape().begin(), c.fragment.shape().end());
    std::vector<SharedLayout> layouts = {
        must(SharedLayout::rows(shape, c.bits, c.contiguousDim, 16))};
    for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
      layouts.push_back(must(SharedLayout::panels(shape, c.bits, swizzle, c.contiguousDim)));
    }
    for (const SharedLayout &shared : layouts) {
      MatrixPlan plan = must(ldmatrixPlan(shared, c.fragment, c.trans));
      EXPECT_EQ(plan.matrices, c.matrices) << c.fragment.str();
      expectPlanLoads(shared, c.fragment, plan);
      EXPECT_TRUE(plan.address.isSeparable());
      EXPECT_TRUE(bool(stmatrixPlan(shared, c.fragment, c.trans)));
      if (c.bits == 16) { // the other direction never fits as well
        EXPECT_FALSE(bool(ldmatrixPlan(shared, c.fragment, !c.trans)));
      }
    }
  }
}

TEST(MatrixPlan, EpilogueAddresses) {
  // Golden epilogue: lane l stores row 16 w + l % 16, 16-byte chunk 2 q + l / 16 of the panel.
  RegisterLayout d = must(RegisterLayout::wgmmaAccumulator(64, 64));
  MatrixPlan plan = must(stmatrixPlan(must(SharedLayout::panels({64, 64}, 16, 128)), d, false));
  forEachPlace(plan.address, [&](int64_t q, int64_t l, int64_t w) {
    ASSERT_EQ(plan.address.coords(q, l, w), (Coords{16 * w + l % 16, 8 * (2 * q + l / 16)}));
  });
}

TEST(MatrixPlan, Refusals) {
  RegisterLayout a = must(RegisterLayout::mmaA(64, 64, MmaType::F16, 4, 1));
  SharedLayout s = must(SharedLayout::panels({64, 64}, 16, 128));
  EXPECT_EQ(ldmatrixPlan(s, must(RegisterLayout::blocked({64, 64}, 8, 4)), false).reason(),
            "the lanes do not hold rows of 16 contiguous bytes, four lanes a row");
  EXPECT_EQ(ldmatrixPlan(s, a, true).reason(),
            "the lanes do not hold columns of 8x8 matrices whose rows are 16 contiguous bytes");
  EXPECT_EQ(ldmatrixPlan(must(SharedLayout::panels({64, 64}, 8, 128)), a, true).reason(),
            "only 16-bit elements can be transposed on the way");
  EXPECT_FALSE(bool(ldmatrixPlan(must(SharedLayout::rows({64, 64}, 16, 1, 8)), a,
                                 false))); // rows not 16-byte aligned
  EXPECT_FALSE(bool(ldmatrixPlan(must(SharedLayout::rows({64, 64}, 4)), a, false)));
  EXPECT_FALSE(bool(ldmatrixPlan(must(SharedLayout::rows({32, 64}, 16)), a, false)));
  EXPECT_FALSE(bool(ldmatrixPlan(must(SharedLayout::rows({1, 64, 64}, 16)), a, false)));
  EXPECT_FALSE(bool(ldmatrixPlan(must(SharedLayout::rows({64, 64}, 16)),
                                 must(RegisterLayout::blocked({64, 64}, 1, 4)), true)));
  EXPECT_EQ(stmatrixPlan(s, a.withPartial({Combine::Sum, 3, 1}), false).reason(),
            "the fragment's values are partial");
  // M = 16 on a 64-row instruction: only a buffer with room for the padding will do.
  RegisterLayout shortA = must(RegisterLayout::wgmmaA(16, 64, MmaType::F16));
  EXPECT_FALSE(bool(ldmatrixPlan(must(SharedLayout::rows({16, 64}, 16)), shortA, false)));
  EXPECT_TRUE(bool(ldmatrixPlan(s, shortA, false)));
}

TEST(MatrixPlan, CopiesInLanesAreNotStored) {
  // 8 elements of a column in 32 lanes: rows of 16 bytes, each four times.
  RegisterLayout column = must(RegisterLayout::blocked({8, 1}, 1, 1));
  EXPECT_NE(column.replicatedLaneMask(), 0u);
  SharedLayout shared = must(SharedLayout::rows({8, 1}, 32));
  EXPECT_TRUE(bool(ldmatrixPlan(shared, column, false)));
  EXPECT_EQ(stmatrixPlan(shared, column, false).reason(), "lanes of a warp hold the same elements");
}

// ---- vectors

std::vector<std::pair<SharedLayout, RegisterLayout>> accessCases() {
  std::vector<std::pair<SharedLayout, RegisterLayout>> cases;
  auto all = [&](const RegisterLayout &fragment, std::initializer_list<unsigned> widths) {
    const Coords shape(fragment.shape().begin(), fragment.shape().end());
    for (unsigned bits : widths) {
      for (int dim = fragment.rank() - 1; dim >= std::max(0, int(fragment.rank()) - 2); --dim) {
        for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
          if (shape.size() > 1) { // a row has no panels
            cases.emplace_back(must(SharedLayout::panels(shape, bits, swizzle, dim)), fragment);
          }
        }
        for (int64_t pad : {0, 4, 8, 16}) {
          cases.emplace_back(must(SharedLayout::rows(shape, bits, dim, pad)), fragment);
        }
      }
    }
  };
  all(must(RegisterLayout::wgmmaAccumulator(64, 96)), {16, 32});
  all(must(RegisterLayout::wgmmaAccumulator(16, 40)), {32});
  all(must(RegisterLayout::mmaC(64, 64, 2, 2)), {16, 32});
  all(must(RegisterLayout::mmaB(64, 64, MmaType::I8, 2, 2)), {8});
  all(must(RegisterLayout::blocked({64, 64}, 8, 4)), {8, 16, 32});
  all(must(RegisterLayout::blocked({96, 72}, 4, 4)), {16, 32, 64});
  all(must(RegisterLayout::blocked({7, 9}, 8, 1)), {8, 16});
  all(must(RegisterLayout::blocked({2, 8, 48}, 2, 4)), {16});
  all(must(RegisterLayout::blocked({1000}, 4, 4)), {16, 32});
  all(must(RegisterLayout::blocked({32, 64}, 8, 2)), {4});
  all(must(RegisterLayout::wgmmaAccumulator(64, 64)).sliceDim(1), {32});
  return cases;
}

/// Bits of the element; -1 beyond the tile.
int64_t bitAddress(const SharedLayout &shared, const RegisterLayout &fragment, int64_t r, int64_t l,
                   int64_t w) {
  Coords c = fragment.coords(r, l, w);
  return fragment.inBounds(c) ? 8 * shared.byteOffset(c) + shared.bitOffset(c) : -1;
}

TEST(AccessPlan, GroupsAreAlignedPiecesOfMemory) {
  std::map<unsigned, int> widths;
  for (auto &[shared, fragment] : accessCases()) {
    Answer<AccessPlan> plan = accessPlan(shared, fragment);
    if (!plan) {
      EXPECT_TRUE(shared.elementBits() == 4 || shared.padBytes() * 8 % shared.elementBits() != 0);
      continue;
    }
    ++widths[plan->bytes];
    std::set<int64_t> slots;
    for (const auto &group : plan->groups) {
      ASSERT_EQ(group.size() * shared.elementBits(), 8 * plan->bytes);
      slots.insert(group.begin(), group.end());
      for (int64_t w = 0; w < fragment.numWarps(); ++w) {
        for (int64_t l = 0; l < 32; ++l) {
          const int64_t start = bitAddress(shared, fragment, group[0], l, w);
          for (size_t i = 0; i < group.size(); ++i) {
            ASSERT_EQ(bitAddress(shared, fragment, group[i], l, w),
                      start < 0 ? -1 : start + int64_t(i) * shared.elementBits());
          }
          ASSERT_TRUE(start < 0 || start % (8 * plan->bytes) == 0);
        }
      }
    }
    EXPECT_EQ(int64_t(slots.size()), fragment.registersPerThread());
  }
  for (unsigned bytes : {2u, 4u, 8u, 16u}) {
    EXPECT_GT(widths[bytes], 0) << bytes;
  }
}

TEST(AccessPlan, WidestIsFound) {
  // No plan of twice the width exists: some thread's elements are not in pieces that large.
  for (auto &[shared, fragment] : accessCases()) {
    Answer<AccessPlan> plan = accessPlan(shared, fragment);
    if (!plan || plan->bytes == 16) {
      continue;
    }
    const unsigned bytes = plan->bytes;
    bool possible = true;
    for (int64_t w = 0; w < fragment.numWarps() && possible; ++w) {
      for (int64_t l = 0; l < 32 && possible; ++l) {
        std::set<int64_t> held;
        for (int64_t r = 0; r < fragment.registersPerThread(); ++r) {
          held.insert(bitAddress(shared, fragment, r, l, w));
        }
        held.erase(-1);
        for (int64_t bit : held) {
          const int64_t start = bit / (16 * bytes) * (16 * bytes);
          for (int64_t b = start; b < start + 16 * bytes; b += shared.elementBits()) {
            possible &= held.count(b) == 1;
          }
        }
      }
    }
    EXPECT_FALSE(possible) << shared.str() << " | " << fragment.str() << " " << bytes;
  }
}

TEST(AccessPlan, Known) {
  RegisterLayout tile = must(RegisterLayout::blocked({64, 64}, 8, 4));
  EXPECT_EQ(must(accessPlan(must(SharedLayout::panels({64, 64}, 16, 128)), tile)).bytes, 16u);
  EXPECT_EQ(must(accessPlan(must(SharedLayout::panels({64, 64}, 32, 128)), tile)).bytes, 16u);
  EXPECT_EQ(must(accessPlan(must(SharedLayout::rows({64, 64}, 16, 0)), tile)).bytes, 2u);
  RegisterLayout acc = must(RegisterLayout::wgmmaAccumulator(64, 64));
  EXPECT_EQ(must(accessPlan(must(SharedLayout::panels({64, 64}, 32, 128)), acc)).bytes, 8u);
  EXPECT_EQ(must(accessPlan(must(SharedLayout::panels({64, 64}, 16, 128)), acc)).bytes, 4u);
}

// ---- bank conflicts

/// 32 banks of 4 bytes; a phase serves 32 / 16 / 8 lanes for accesses of up to 4 / 8 / 16 bytes;
/// every distinct word of a bank takes a cycle.
int64_t cyclesByBruteForce(const std::vector<int64_t> &addresses, int64_t bytes) {
  const size_t lanes = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
  int64_t cycles = 0;
  for (size_t p = 0; p < addresses.size(); p += lanes) {
    int64_t worst = 0;
    for (int64_t bank = 0; bank < 32; ++bank) {
      std::set<int64_t> words;
      for (size_t i = p; i < std::min(addresses.size(), p + lanes); ++i) {
        for (int64_t b = 0; addresses[i] >= 0 && b < bytes; ++b) {
          const int64_t word = (addresses[i] + b) / 4;
          if (word % 32 == bank) {
            words.insert(word);
          }
        }
      }
      worst = std::max<int64_t>(worst, words.size());
    }
    cycles += worst;
  }
  return cycles;
}

/// Bytes of operands of products, as they are before they are decoded from four bits.
std::vector<std::pair<SharedLayout, RegisterLayout>> wordCases() {
  std::vector<std::pair<SharedLayout, RegisterLayout>> cases;
  for (auto type : {MmaType::F16, MmaType::I8}) {
    for (int64_t k : {16, 32, 64, 128}) {
      for (const Answer<RegisterLayout> &operand :
           {RegisterLayout::wgmmaA(64, k, type), RegisterLayout::mmaA(64, k, type, 2, 2)}) {
        auto bytes = operand ? operand->pairs() : Refusal{"no operand"};
        for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
          auto shared = SharedLayout::panels({64, k / 2}, 8, swizzle);
          if (bytes && shared) {
            cases.emplace_back(*shared, *bytes);
          }
        }
        if (bytes) {
          cases.emplace_back(must(SharedLayout::rows({64, k / 2}, 8)), *bytes);
        }
      }
    }
  }
  return cases;
}

TEST(WordPlan, LanesFindTheirBytesInTheirWords) {
  int plans = 0;
  for (auto &[shared, fragment] : wordCases()) {
    Answer<WordPlan> plan = wordPlan(shared, fragment);
    if (!plan) {
      continue;
    }
    ++plans;
    std::set<int64_t> slots;
    for (const auto &group : plan->groups) {
      ASSERT_EQ(group.size(), plan->accessBytes / 4 * plan->unit);
      slots.insert(group.begin(), group.end());
      for (int64_t w = 0; w < fragment.numWarps(); ++w) {
        for (int64_t l = 0; l < 32; ++l) {
          const int64_t start = shared.byteOffset(plan->address.coords(group[0], l, w));
          ASSERT_EQ(start % plan->accessBytes, 0);
          const int64_t inWord = fragment.coords(group[0], l, w)[1] % 4;
          for (size_t i = 0; i < group.size(); ++i) {
            ASSERT_EQ(shared.byteOffset(fragment.coords(group[i], l, w)),
                      start + int64_t(i / plan->unit) * 4 + inWord + int64_t(i % plan->unit))
                << shared.str() << " | " << fragment.str();
          }
        }
      }
    }
    EXPECT_EQ(int64_t(slots.size()), fragment.registersPerThread());
  }
  EXPECT_GT(plans, 20);
}

TEST(WordPlan, Refusals) {
  auto refusal = [](const SharedLayout &shared, const RegisterLayout &fragment) {
    return wordPlan(shared, fragment).reason();
  };
  auto rows = must(SharedLayout::rows({64, 64}, 8));
  EXPECT_EQ(refusal(rows, must(RegisterLayout::blocked({64, 64}, 4, 4))),
            "plain accesses are as wide");
  // 1 byte in each of 32 neighbouring lanes: they share words, but no thread has two words in a row.
  EXPECT_EQ(refusal(rows, must(RegisterLayout::blocked({64, 64}, 1, 4))),
            "the words of a thread are not neighbours");
  EXPECT_EQ(refusal(must(SharedLayout::rows({64, 64}, 16)),
                    must(RegisterLayout::blocked({64, 64}, 1, 4))),
            "words are made of bytes, without padding");
  EXPECT_EQ(refusal(rows, must(RegisterLayout::blocked({64, 64}, 1, 4)).transposed()),
            "other than neighbouring lanes hold the bytes of a word");
}

TEST(BankConflicts, WordsOfAQuadAreReadOnce) {
  // 64 rows of 32 bytes: a swizzle of 32 puts the 16 bytes of eight rows in different banks.
  auto bytes = must(must(RegisterLayout::wgmmaA(64, 64, MmaType::F16)).pairs());
  auto shared = must(SharedLayout::panels({64, 32}, 8, 32));
  auto plan = must(wordPlan(shared, bytes));
  EXPECT_EQ(plan.accessBytes, 16u);
  EXPECT_EQ(plan.unit, 1u);
  EXPECT_EQ(plan.groups.size(), 4u);
}

TEST(BankConflicts, WavefrontsOfAnAccess) {
  uint64_t state = 1;
  auto random = [&] {
    return state = state * 6364136223846793005u + 1442695040888963407u, state >> 33;
  };
  for (unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
    for (int trial = 0; trial < 200; ++trial) {
      const int64_t range = int64_t(64) << trial % 7;
      std::vector<int64_t> addresses(32);
      for (int64_t &a : addresses) {
        a = random() % 8 == 0 ? -1 : int64_t(random() % range) * bytes;
      }
      EXPECT_EQ(countWavefronts(addresses, bytes).wavefronts, cyclesByBruteForce(addresses, bytes));
    }
  }
}

TEST(BankConflicts, PlainAccesses) {
  for (auto &[shared, fragment] : accessCases()) {
    Answer<AccessPlan> plan = accessPlan(shared, fragment);
    if (!plan) {
      continue;
    }
    int64_t cycles = 0;
    for (int64_t w = 0; w < fragment.numWarps(); ++w) {
      for (const auto &group : plan->groups) {
        std::vector<int64_t> addresses;
        for (int64_t l = 0; l < 32; ++l) {
          const int64_t bit = bitAddress(shared, fragment, group[0], l, w);
          addresses.push_back(bit < 0 ? -1 : bit / 8);
        }
        cycles += cyclesByBruteForce(addresses, plan->bytes);
      }
    }
    BankReport report = bankConflicts(shared, fragment);
    EXPECT_EQ(report.wavefronts, cycles) << shared.str();
    EXPECT_GE(report.conflicts(), 0);
  }
}

/// Where the rows of matrix `j` of instruction `i` start.
std::vector<int64_t> rowsOf(const SharedLayout &shared, const MatrixPlan &plan, int64_t warp,
                            int64_t i, unsigned j) {
  std::vector<int64_t> rows(8);
  for (int64_t r = 0; r < 8; ++r) {
    rows[r] = shared.byteOffset(plan.address.coords(i, 8 * j + r, plan.address.firstWarp() + warp));
  }
  return rows;
}

TEST(BankConflicts, MatrixAccesses) {
  for (const MatrixCase &c : matrixCases()) {
    const Coords shape(c.fragment.shape().begin(), c.fragment.shape().end());
    for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
      SharedLayout shared = must(SharedLayout::panels(shape, c.bits, swizzle, c.contiguousDim));
      MatrixPlan plan = must(ldmatrixPlan(shared, c.fragment, c.trans));
      int64_t cycles = 0, phases = 0;
      for (int64_t w = 0; w < plan.address.numWarps(); ++w) {
        for (int64_t i = 0; i < plan.address.registersPerThread(); ++i) {
          for (unsigned j = 0; j < plan.matrices; ++j) {
            cycles += cyclesByBruteForce(rowsOf(shared, plan, w, i, j), 16);
            ++phases;
          }
        }
      }
      BankReport report = bankConflicts(shared, plan);
      EXPECT_EQ(report.wavefronts, cycles);
      EXPECT_EQ(report.ideal, phases);
      EXPECT_EQ(report.conflicts(), 0)
          << shared.str(); // every panel form is conflict-free for 8x8 matrices
    }
  }
}

TEST(BankConflicts, Known) {
  RegisterLayout a = must(RegisterLayout::mmaA(64, 64, MmaType::F16, 4, 1));
  auto cycles = [&](const Answer<SharedLayout> &shared) {
    MatrixPlan plan = must(ldmatrixPlan(must(shared), a, false));
    BankReport report = bankConflicts(must(shared), plan);
    return double(report.wavefronts) / double(report.ideal);
  };
  EXPECT_EQ(cycles(SharedLayout::rows({64, 64}, 16)), 8.0); // pitch 128: all rows in the same banks
  EXPECT_EQ(cycles(SharedLayout::rows({64, 64}, 16, 1, 16)), 1.0);
  EXPECT_EQ(cycles(SharedLayout::panels({64, 64}, 16, 128)), 1.0);
  // f32 accumulators, 8 bytes a lane: conflict-free when pitch / 4 mod 32 is 8 or 24.
  RegisterLayout acc = must(RegisterLayout::wgmmaAccumulator(64, 64));
  EXPECT_EQ(bankConflicts(must(SharedLayout::rows({64, 64}, 32, 1, 32)), acc).conflicts(), 0);
  EXPECT_EQ(bankConflicts(must(SharedLayout::rows({64, 64}, 32, 1, 96)), acc).conflicts(), 0);
  EXPECT_GT(bankConflicts(must(SharedLayout::rows({64, 64}, 32)), acc).conflicts(), 0);
}

} // namespace
