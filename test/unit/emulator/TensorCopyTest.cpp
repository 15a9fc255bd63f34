// cp.async.bulk.tensor against formulas written down here: element (x, y, ...) of a box and where
// it lies in shared memory.
#include "test/unit/emulator/TestKernel.h"

#include <numeric>

namespace tile_emu {
namespace {

using Kind = Report::Kind;

constexpr uint32_t kSharedBytes = 32768;
constexpr uint8_t kPoison = 0x5a;

TensorMapRecipe recipe(ptx::Type type, std::vector<uint64_t> dims, std::vector<uint32_t> box,
                       unsigned swizzle) {
  TensorMapRecipe map;
  map.type = type;
  map.dims = dims;
  uint64_t stride = map.elementBytes() * dims[0];
  for (size_t i = 1; i < dims.size(); ++i) {
    stride = (stride + 15) / 16 * 16;
    map.strides.push_back(stride);
    stride *= dims[i];
  }
  map.box = box;
  map.elementStrides.assign(dims.size(), 1);
  map.swizzle = swizzle;
  return map;
}

uint64_t bytesOf(const TensorMapRecipe &map) {
  return map.strides.empty() ? map.dims[0] * map.elementBytes()
                             : map.strides.back() * map.dims.back();
}

std::string operandOf(const std::vector<int> &start) {
  std::string text = "[%map0, {";
  for (size_t i = 0; i != start.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(start[i]);
  }
  return text + "}]";
}

/// Where an element of a box lies: `at` from its first byte in global memory (none: outside), and
/// in shared memory, as the swizzling modes are drawn in the ISA: 16-byte columns of rows of 128
/// bytes exchanged by the number of the row.
struct Place {
  std::optional<uint64_t> global;
  uint64_t shared;
};

uint64_t swizzled(uint64_t address, unsigned width) {
  uint64_t row = address / 128, column = address % 128 / 16;
  uint64_t columns = width ? width / 16 : 1; // that are exchanged with one another
  uint64_t pattern = row % columns;
  return row * 128 + (column ^ pattern) * 16 + address % 16;
}

template <typename F>
void forElements(const TensorMapRecipe &map, const std::vector<int> &start, uint64_t sharedBase,
                 F &&f) {
  size_t rank = map.dims.size();
  std::vector<uint32_t> extent(rank), index(rank);
  for (size_t i = 0; i != rank; ++i) {
    uint32_t step = i ? map.elementStrides[i] : 1;
    extent[i] = (map.box[i] + step - 1) / step;
  }
  uint64_t pitch = map.swizzle ? map.swizzle : map.box[0] * map.elementBytes();
  for (bool more = true; more;) {
    Place place{0, 0};
    uint64_t row = 0;
    for (size_t i = rank; i-- > 1;) {
      row = row * extent[i] + index[i];
    }
    place.shared = swizzled(sharedBase + row * pitch + index[0] * map.elementBytes(), map.swizzle);
    for (size_t i = 0; i != rank; ++i) {
      int64_t at = start[i] + int64_t(index[i]) * (i ? map.elementStrides[i] : 1);
      if (at < 0 || at >= int64_t(map.dims[i])) {
        place.global.reset();
        break;
      }
      *place.global += uint64_t(at) * (i ? map.strides[i - 1] : map.elementBytes());
    }
    f(place);
    more = false;
    for (size_t i = 0; i != rank && !more; ++i) {
      more = ++index[i] != extent[i];
      index[i] = more ? index[i] : 0;
    }
  }
}

std::vector<uint8_t> numbers(uint64_t bytes, uint32_t seed) {
  std::vector<uint8_t> values(bytes);
  std::mt19937 random(seed);
  for (uint8_t &value : values) {
    value = uint8_t(random());
  }
  return values;
}

uint64_t boxBytes(const TensorMapRecipe &map) {
  uint64_t bytes = 0;
  forElements(map, std::vector<int>(map.dims.size()), 0,
              [&](Place) { bytes += map.elementBytes(); });
  return bytes;
}

/// 128 threads poison shared memory, thread 0 issues `copy` with the mbarrier `b` expecting
/// `expected` bytes, all wait and show shared memory in `out`.
TestKernel loader(const std::string &copy, uint64_t expected) {
  TestKernel kernel(R"(
    mov.u32 %r0, %tid.x;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared.b64 [b], 1;
    fence.mbarrier_init.release.cluster;
    mov.u32 %r1, s;
    shl.b32 %r2, %r0, 4;
    add.u32 %r3, %r1, %r2;
    mov.b32 %r4, 0x5a5a5a5a;
    mov.b32 %r5, 0;
  FILL:
    st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};
    add.u32 %r3, %r3, 2048;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, 16;
    @%p1 bra FILL;
    fence.proxy.async;
    bar.sync 0;
    @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [b], )" +
                    std::to_string(expected) + ";\n@%p0 " + copy + R"(
  WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [b], 0;
    @!%p2 bra WAIT;
    add.u32 %r3, %r1, %r2;
    cvt.u64.u32 %rd0, %r2;
    add.u64 %rd0, %buf0, %rd0;
    mov.b32 %r5, 0;
  SHOW:
    ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r3];
    st.global.v4.b32 [%rd0], {%r10, %r11, %r12, %r13};
    add.u32 %r3, %r3, 2048;
    add.u64 %rd0, %rd0, 2048;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, 16;
    @%p1 bra SHOW;)");
  kernel.moduleText = ".shared .align 1024 .b8 s[32768]; .shared .align 8 .b8 b[8];";
  kernel.block = {128, 1, 1};
  kernel.output("out", kSharedBytes);
  return kernel;
}

std::string loadText(size_t rank, const std::vector<int> &start, uint64_t to) {
  return "cp.async.bulk.tensor." + std::to_string(rank) +
         "d.shared::cta.global.tile.mbarrier::complete_tx::bytes [s+" + std::to_string(to) + "], " +
         operandOf(start) + ", [b];";
}

void expectLoad(const TensorMapRecipe &map, const std::vector<int> &start, uint64_t to = 0) {
  TestKernel kernel = loader(loadText(map.dims.size(), start, to), boxBytes(map));
  std::vector<uint8_t> in = numbers(bytesOf(map), 7);
  kernel.input("in", in);
  kernel.map("in", map);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  std::vector<uint8_t> expected(kSharedBytes, kPoison);
  forElements(map, start, to, [&](Place place) {
    for (unsigned i = 0; i != map.elementBytes(); ++i) {
      expected[place.shared + i] = place.global   ? in[*place.global + i]
                                   : !map.nanFill ? 0
                                   : i % 2        ? 0x7f
                                                  : 0xf7;
    }
  });
  EXPECT_EQ(kernel.read<uint8_t>("out"), expected)
      << "swizzle " << map.swizzle << ", box " << map.box[0] << " of " << map.elementBytes();
}

TEST(TensorCopy, LoadsOfEveryRank) {
  expectLoad(recipe(ptx::Type::F16, {100}, {64}, 0), {16});
  expectLoad(recipe(ptx::Type::F16, {100, 40}, {64, 16}, 0), {8, 5});
  expectLoad(recipe(ptx::Type::U8, {64, 9, 7}, {32, 4, 3}, 0), {16, 2, 1});
  expectLoad(recipe(ptx::Type::F32, {24, 5, 6, 4}, {8, 2, 3, 2}, 0), {4, 1, 2, 1});
  expectLoad(recipe(ptx::Type::F64, {6, 4, 3, 5, 3}, {4, 2, 2, 3, 2}, 0), {2, 1, 0, 2, 1});
}

TEST(TensorCopy, Swizzles) {
  for (unsigned swizzle : {32u, 64u, 128u}) {
    uint32_t width = swizzle / 2; // elements
    for (uint64_t to : {0u, 128u, 384u, 1024u + 512u}) {
      expectLoad(recipe(ptx::Type::F16, {200, 50}, {width, 33}, swizzle), {16, 3}, to);
      // Narrower than the swizzle: rows keep its pitch.
      expectLoad(recipe(ptx::Type::F16, {200, 50}, {8, 20}, swizzle), {16, 3}, to);
      expectLoad(recipe(ptx::Type::BF16, {200, 50}, {width / 2, 20}, swizzle), {0, 0}, to);
    }
    expectLoad(recipe(ptx::Type::F32, {64, 20, 3}, {swizzle / 4, 10, 2}, swizzle), {8, 5, 0});
    expectLoad(recipe(ptx::Type::U8, {256, 20, 3}, {swizzle, 10, 2}, swizzle), {16, 5, 0});
  }
}

TEST(TensorCopy, WhatIsOutsideIsFilled) {
  for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
    TensorMapRecipe map = recipe(ptx::Type::F16, {40, 21, 3}, {16, 8, 2}, swizzle);
    for (const std::vector<int> &start :
         std::vector<std::vector<int>>{{-8, 0, 0},
                                       {32, 17, 2},
                                       {8, -4, -1},
                                       {-24, 0, 0},
                                       {32, 20, 2},
                                       {40, 0, 0},
                                       {0, 1000, 0},
                                       {-2147483640, 5, 0},
                                       {2147483640, 2147483647, 0}}) {
      map.nanFill = false;
      expectLoad(map, start);
      map.nanFill = true;
      expectLoad(map, start);
    }
  }
}

TEST(TensorCopy, ElementStrides) {
  TensorMapRecipe map = recipe(ptx::Type::F32, {40, 21, 9}, {16, 9, 5}, 64);
  map.elementStrides = {1, 2, 3};
  expectLoad(map, {4, 3, 1});
  expectLoad(map, {32, 10, -2});
}

//===----------------------------------------------------------------------===//
// Stores and reductions
//===----------------------------------------------------------------------===//

/// Shared memory holds `in`, of 32768 bytes; thread 0 stores from it into `tensor`.
TestKernel storer(const std::string &copy) {
  TestKernel kernel(R"(
    mov.u32 %r0, %tid.x;
    setp.eq.u32 %p0, %r0, 0;
    mov.u32 %r1, s;
    shl.b32 %r2, %r0, 4;
    add.u32 %r3, %r1, %r2;
    cvt.u64.u32 %rd0, %r2;
    add.u64 %rd0, %buf0, %rd0;
    mov.b32 %r5, 0;
  FILL:
    ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%rd0];
    st.shared.v4.b32 [%r3], {%r10, %r11, %r12, %r13};
    add.u32 %r3, %r3, 2048;
    add.u64 %rd0, %rd0, 2048;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, 16;
    @%p1 bra FILL;
    fence.proxy.async;
    bar.sync 0;
    @%p0 )" + copy + R"(
    @%p0 cp.async.bulk.commit_group;
    @%p0 cp.async.bulk.wait_group 0;)");
  kernel.moduleText = ".shared .align 1024 .b8 s[32768];";
  kernel.block = {128, 1, 1};
  kernel.input("in", numbers(kSharedBytes, 3));
  return kernel;
}

std::vector<uint8_t> stored(const TensorMapRecipe &map, const std::string &copy,
                            const std::vector<uint8_t> &before) {
  TestKernel kernel = storer(copy);
  kernel.input("tensor", before);
  kernel.map("tensor", map);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  return kernel.read<uint8_t>("tensor");
}

TEST(TensorCopy, Stores) {
  std::vector<uint8_t> in = numbers(kSharedBytes, 3);
  for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
    TensorMapRecipe map = recipe(ptx::Type::F16, {40, 21, 3}, {16, 8, 2}, swizzle);
    for (const std::vector<int> &start :
         std::vector<std::vector<int>>{{0, 0, 0}, {8, 3, 1}, {32, 17, 2}, {40, 0, 0}}) {
      std::vector<uint8_t> before = numbers(bytesOf(map), 11), expected = before;
      forElements(map, start, 256, [&](Place place) {
        for (unsigned i = 0; i != 2 && place.global; ++i) {
          expected[*place.global + i] = in[place.shared + i];
        }
      });
      EXPECT_EQ(stored(map,
                       "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group " +
                           operandOf(start) + ", [s+256];",
                       before),
                expected);
    }
  }
}

TEST(TensorCopy, StoresOfRowsThatEndWithinAChunkAreReported) {
  TensorMapRecipe map = recipe(ptx::Type::U8, {31}, {16}, 0);
  auto reports = [&](const char *start) {
    TestKernel kernel =
        storer("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%map0, {" +
               std::string(start) + "}], [s];");
    kernel.input("tensor", std::vector<uint8_t>(bytesOf(map)));
    kernel.map("tensor", map);
    kernel.run();
    return kernel.reported(Kind::OutOfBounds, "whole chunks of 16 bytes, and so 1 bytes beyond");
  };
  EXPECT_FALSE(reports("0"));
  EXPECT_TRUE(reports("16"));
  EXPECT_FALSE(reports("32"));
}

TEST(TensorCopy, Reductions) {
  std::vector<uint8_t> in = numbers(kSharedBytes, 3);
  TensorMapRecipe map = recipe(ptx::Type::U32, {10, 7}, {8, 4}, 32);
  std::vector<uint8_t> before = numbers(bytesOf(map), 11);
  auto check = [&](const std::string &name, auto combine) {
    std::vector<uint8_t> expected = before;
    forElements(map, {4, 1}, 0, [&](Place place) {
      if (place.global) {
        uint32_t old, value;
        std::memcpy(&old, &expected[*place.global], 4);
        std::memcpy(&value, &in[place.shared], 4);
        old = combine(old, value);
        std::memcpy(&expected[*place.global], &old, 4);
      }
    });
    EXPECT_EQ(stored(map,
                     "cp.reduce.async.bulk.tensor.2d.global.shared::cta." + name +
                         ".tile.bulk_group [%map0, {4, 1}], [s];",
                     before),
              expected)
        << name;
  };
  check("add", [](uint32_t a, uint32_t b) { return a + b; });
  check("min", [](uint32_t a, uint32_t b) { return std::min(a, b); });
  check("max", [](uint32_t a, uint32_t b) { return std::max(a, b); });
  check("inc", [](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; });
  check("dec", [](uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; });
  check("and", [](uint32_t a, uint32_t b) { return a & b; });
  check("or", [](uint32_t a, uint32_t b) { return a | b; });
  check("xor", [](uint32_t a, uint32_t b) { return a ^ b; });
}

//===----------------------------------------------------------------------===//
// What is reported
//===----------------------------------------------------------------------===//

void expectReport(const TensorMapRecipe &map, const std::string &copy, Kind kind,
                  const std::string &words, uint64_t bytes = 0) {
  TestKernel kernel = loader(copy, boxBytes(map));
  kernel.input("in", std::vector<uint8_t>(bytes ? bytes : bytesOf(map)));
  kernel.map("in", map);
  kernel.run();
  EXPECT_TRUE(kernel.reported(kind, words)) << kernel.describe();
}

TEST(TensorCopy, BadOperandsAreReported) {
  TensorMapRecipe map = recipe(ptx::Type::F16, {64, 64}, {64, 64}, 128);
  expectReport(map, loadText(2, {0, 0}, 64), Kind::Misaligned, "128 bytes");
  expectReport(map, loadText(2, {0, 0}, 28672), Kind::OutOfBounds, "");
  expectReport(map, loadText(3, {0, 0, 0}, 0), Kind::Invalid, "2 dimensions");
  expectReport(map, loadText(2, {0, 0}, 0), Kind::OutOfBounds, "in", 4096);
  expectReport(map,
               "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [s], "
               "[%buf1, {0, 0}], [b];",
               Kind::Invalid, "not one of a tensor map");
  expectReport(map, loadText(2, {4, 0}, 0), Kind::Misaligned, "first coordinate, 4");
  expectReport(map,
               "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map0, {0, -1}], [s];",
               Kind::Invalid, "negative coordinate");
  map.interleave = 16;
  map.dims = {64, 64, 8};
  map.strides = {128, 8192};
  map.box = {8, 8, 8};
  map.elementStrides = {1, 1, 1};
  map.swizzle = 0;
  expectReport(map, loadText(3, {0, 0, 0}, 0), Kind::Unsupported, "interleaved");
}

TEST(TensorCopy, FewerBytesThanExpectedAreADeadlock) {
  TensorMapRecipe map = recipe(ptx::Type::F16, {64, 64}, {64, 8}, 128);
  TestKernel kernel = loader(loadText(2, {0, 0}, 0), boxBytes(map) + 16);
  kernel.input("in", std::vector<uint8_t>(bytesOf(map)));
  kernel.map("in", map);
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Deadlock, "16 bytes pending")) << kernel.describe();
}

TEST(TensorCopy, MulticastReachesAllBlocksOfTheMask) {
  TensorMapRecipe map = recipe(ptx::Type::F16, {64, 64}, {64, 32}, 128);
  std::string copy = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes.multicast::cluster [%r20], [%map0, {0, %r22}], [%r21], %h0;";
  TestKernel kernel = loader("", 2 * boxBytes(map));
  std::string wait = "barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r22, "
                     "%cluster_ctarank; shl.b32 %r20, %r22, 12; mov.b16 %h0, 3; shl.b32 %r22, "
                     "%r22, 5; add.u32 %r20, %r20, %r1; mov.u32 %r21, b; @%p0 " +
                     copy + " WAIT:";
  kernel.body.replace(kernel.body.find("WAIT:"), 5, wait);
  kernel.body.replace(kernel.body.find("@%p0 \n"), 5, "");
  kernel.body += "barrier.cluster.arrive; barrier.cluster.wait;";
  kernel.grid = kernel.cluster = {2, 1, 1};
  std::vector<uint8_t> in = numbers(bytesOf(map), 7);
  kernel.input("in", in);
  kernel.map("in", map);
  kernel.options.checkRaces = false; // both blocks show the same in one place
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  std::vector<uint8_t> out = kernel.read<uint8_t>("out");
  for (int half : {0, 1}) {
    forElements(map, {0, 32 * half}, uint64_t(4096) * uint64_t(half),
                [&](Place place) { EXPECT_EQ(out[place.shared], in[*place.global]); });
  }
}

// The rules are those of whyRefused, which has tests of its own.
TEST(TensorMap, WhatTheDriverRefuses) {
  const TensorMapRecipe good = recipe(ptx::Type::F16, {64, 64, 4}, {64, 64, 1}, 128);
  EXPECT_NO_THROW(encodeTensorMap(good));
  EXPECT_NO_THROW(encodeTensorMap(recipe(ptx::Type::F16, {64}, {64}, 128)));
  auto refused = [&](const std::string &why, auto change) {
    TensorMapRecipe map = good;
    change(map);
    try {
      encodeTensorMap(map);
      ADD_FAILURE() << why;
    } catch (const Fault &fault) {
      EXPECT_EQ(fault.report.kind, Kind::Invalid);
      EXPECT_EQ(fault.report.message, "tensor map: " + why);
    }
  };
  std::string ranks = "its box and element strides have as many dimensions as the tensor, its "
                      "strides have one less";
  refused(ranks, [](TensorMapRecipe &map) { map.strides.pop_back(); });
  refused(ranks, [](TensorMapRecipe &map) { map.box.pop_back(); });
  refused(ranks, [](TensorMapRecipe &map) { map.elementStrides.pop_back(); });
  refused(ranks, [](TensorMapRecipe &map) { map.dims.clear(); });
  refused("the swizzle must be none, 32, 64 or 128 bytes",
          [](TensorMapRecipe &map) { map.swizzle = 16; });
  refused("an interleave of 32 bytes requires a swizzle of 32 bytes",
          [](TensorMapRecipe &map) { map.interleave = 32; });
  refused("none has elements of type .e4m3",
          [](TensorMapRecipe &map) { map.type = ptx::Type::E4M3; });
  refused("the address must be a multiple of 16 bytes", [](TensorMapRecipe &map) { map.base = 8; });
}

} // namespace
} // namespace tile_emu
