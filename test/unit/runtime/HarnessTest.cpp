// Files, generated data, comparison.
#include "runtime/harness/Compare.h"
#include "runtime/harness/Generate.h"
#include "runtime/harness/Npy.h"
#include "runtime/harness/Pitch.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace tile_rt {
namespace {

/// A path in a folder that is removed with what is in it when the tests end.
std::string tempPath(const char *name) {
  struct Folder {
    std::string path = testing::TempDir() + "/harness-XXXXXX";
    Folder() { EXPECT_NE(mkdtemp(path.data()), nullptr); }
    ~Folder() { std::filesystem::remove_all(path); }
  };
  static Folder folder;
  return folder.path + "/" + name + ".npy";
}

void writeBytes(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string npyOf(const std::string &header, const std::string &data) {
  std::string text = header;
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(text.size() & 255);
  bytes += static_cast<char>(text.size() >> 8);
  return bytes + text + data;
}

std::string npyError(const std::string &bytes, std::optional<DType> wanted = std::nullopt) {
  std::string path = tempPath("bad");
  writeBytes(path, bytes);
  try {
    readNpy(path, wanted);
  } catch (const NpyError &error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(Pitch, RowsLieApartAndComeBack) {
  Array array(DType::I16, {2, 2, 3});
  for (int64_t i = 0; i < array.size(); ++i) {
    array.setValue(i, static_cast<double>(i));
  }
  const std::vector<int64_t> strides = pitchedStrides(array.shape, 5);
  EXPECT_EQ(strides, (std::vector<int64_t>{10, 5, 1}));
  std::vector<std::byte> memory = spreadRows(array, strides, std::byte{0xa5});
  ASSERT_EQ(memory.size(), 2u * (3 * 5 + 3)); // nothing after the last row
  EXPECT_EQ(memory[2 * 5], std::byte{3});     // element 3 begins the second row
  EXPECT_EQ(memory[2 * 3], std::byte{0xa5});
  bool intact = false;
  EXPECT_EQ(gatherRows(array, strides, memory, std::byte{0xa5}, intact).data, array.data);
  EXPECT_TRUE(intact);
  memory[2 * 4] = std::byte{1};
  gatherRows(array, strides, memory, std::byte{0xa5}, intact);
  EXPECT_FALSE(intact);
}

TEST(Pitch, RowsShareMemory) {
  Array array(DType::I16, {2, 2, 3});
  for (int64_t i = 0; i < array.size(); ++i) {
    array.setValue(i, static_cast<double>(i % 6));
  }
  const std::vector<int64_t> strides = {0, 4, 1};
  EXPECT_TRUE(haveSharedRows(array, strides));
  EXPECT_TRUE(haveSharedRows(array, {6, 2, 1}));
  EXPECT_FALSE(haveSharedRows(array, {3, 6, 1}));
  std::vector<std::byte> memory = spreadRows(array, strides, std::byte{0xa5});
  ASSERT_EQ(memory.size(), 2u * (4 + 3)); // one matrix for both
  bool intact = false;
  EXPECT_EQ(gatherRows(array, strides, memory, std::byte{0xa5}, intact).data, array.data);
  EXPECT_TRUE(intact);
  memory[2 * 3] = std::byte{1};
  gatherRows(array, strides, memory, std::byte{0xa5}, intact);
  EXPECT_FALSE(intact);
}

TEST(Npy, EveryTypeRoundTrips) {
  for (int t = 0; t < kNumDTypes; ++t) {
    DType type = static_cast<DType>(t);
    Array array(type, {3, 4});
    for (int64_t i = 0; i < 12; ++i) {
      array.setValue(i, type == DType::Bool ? i % 2 : i % 4 + 1);
    }
    std::string path = tempPath(dtypeName(type));
    writeNpy(path, array);
    Array back = readNpy(path, type);
    EXPECT_EQ(back.dtype, type);
    EXPECT_EQ(back.shape, array.shape);
    EXPECT_EQ(back.data, array.data) << dtypeName(type);
  }
}

TEST(Npy, ScalarsAndEmptyArrays) {
  for (const std::vector<int64_t> &shape : {std::vector<int64_t>{}, {0}, {3, 0, 2}, {5}}) {
    std::string path = tempPath("shape");
    writeNpy(path, Array(DType::F32, shape));
    EXPECT_EQ(readNpy(path).shape, shape);
  }
}

TEST(Npy, FortranOrder) {
  std::string data;
  for (int16_t v : {1, 4, 2, 5, 3, 6}) {
    data += std::string(reinterpret_cast<const char *>(&v), 2);
  }
  std::string path = tempPath("fortran");
  writeBytes(path, npyOf("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", data));
  Array array = readNpy(path);
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(array.value(i), static_cast<double>(i + 1));
  }
}

TEST(Npy, MalformedFiles) {
  std::string good = npyOf("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "12345678");
  for (size_t length = 0; length < good.size(); ++length) {
    npyError(good.substr(0, length));
  }
  EXPECT_NE(npyError(npyOf("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "12345678"))
                .find("not supported"),
            std::string::npos);
  EXPECT_NE(npyError(npyOf("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "12345678"))
                .find("not supported"),
            std::string::npos);
  npyError(
      npyOf("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,), }", ""));
  npyError(npyOf(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }",
      ""));
  npyError(npyOf("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ""));
  npyError(npyOf("{'descr': '<f4', 'fortran_order': False}", ""));
  EXPECT_NE(npyError(good, DType::F16).find("holds f32, not f16"), std::string::npos);
  EXPECT_NE(npyError(good, DType::BF16).find("stored as u16"), std::string::npos);
}

TEST(Generate, IntegersAreExact) {
  EXPECT_TRUE(isExact(*parseDistribution("steps(9007199254740989, 1)"), DType::I64, 3));
  EXPECT_FALSE(isExact(*parseDistribution("steps(9007199254740989, 1)"), DType::I64, 4));
  EXPECT_FALSE(isExact(*parseDistribution("-9007199254740993"), DType::I64, 1));
  EXPECT_FALSE(isExact(*parseDistribution("integers(0, 1e18)"), DType::U64, 1));
  EXPECT_TRUE(isExact(*parseDistribution("steps(1e300, 1)"), DType::F64, 4));
}

TEST(Generate, Parses) {
  auto normal = parseDistribution("normal(2, 0.5)");
  ASSERT_TRUE(normal);
  EXPECT_EQ(normal->a, 2);
  EXPECT_EQ(normal->b, 0.5);
  EXPECT_EQ(parseDistribution("uniform(-1,1)")->kind, Distribution::Kind::Uniform);
  EXPECT_EQ(parseDistribution("integers(0, 9)")->b, 9);
  EXPECT_EQ(parseDistribution("-2.5")->a, -2.5);
  auto steps = parseDistribution("steps(3, -2)");
  ASSERT_TRUE(steps);
  EXPECT_EQ(draw(*steps, 1, 2, 5), -7); // the element of this number
  for (const char *bad : {"", "gauss", "uniform(1)", "uniform(1,", "uniform(2,1)", "integers",
                          "3(1,2)", "1x", "a.npy"}) {
    EXPECT_FALSE(parseDistribution(bad)) << bad;
  }
}

TEST(Generate, ReproducibleAndDifferentByStream) {
  Array a(DType::F32, {70000}), b(DType::F32, {70000}), c(DType::F32, {70000});
  Distribution normal;
  generate(a, normal, 1, streamOf("A"));
  generate(b, normal, 1, streamOf("A"));
  generate(c, normal, 1, streamOf("B"));
  EXPECT_EQ(a.data, b.data);
  EXPECT_NE(a.data, c.data);
  // An element depends on nothing but its number.
  EXPECT_EQ(static_cast<float>(a.value(69999)),
            static_cast<float>(draw(normal, 1, streamOf("A"), 69999)));
}

TEST(Generate, Moments) {
  double sum = 0, squares = 0, cross = 0, last = 0;
  int n = 200000;
  for (int i = 0; i < n; ++i) {
    double x = draw({}, 7, 8, static_cast<uint64_t>(i));
    sum += x;
    squares += x * x;
    cross += x * last;
    last = x;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.02);
  EXPECT_NEAR(cross / n, 0, 0.01);
  int counts[4] = {};
  for (int i = 0; i < 40000; ++i) {
    double x = draw({Distribution::Kind::Integers, -1, 2}, 7, 8, static_cast<uint64_t>(i));
    ASSERT_TRUE(x == -1 || x == 0 || x == 1 || x == 2);
    ++counts[static_cast<int>(x) + 1];
    double u = draw({Distribution::Kind::Uniform, -1, 1}, 7, 9, static_cast<uint64_t>(i));
    ASSERT_TRUE(u >= -1 && u < 1);
  }
  for (int count : counts) {
    EXPECT_NEAR(count, 10000, 400);
  }
}

Array floats(std::vector<float> values, std::vector<int64_t> shape) {
  Array array(DType::F32, std::move(shape));
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

TEST(Compare, Norms) {
  Array reference = floats({3, 4}, {2}), out = floats({3, 4.05f}, {2});
  Comparison result = compareArrays(out, reference, 0.02);
  EXPECT_TRUE(result.ok) << result.text;
  EXPECT_NEAR(result.error, 0.01, 1e-6);
  EXPECT_EQ(result.worstAt, 1);
  EXPECT_FALSE(compareArrays(out, reference, 0.005).ok);
  EXPECT_FALSE(compareArrays(floats({0, 1e-3f}, {2}), floats({0, 0}, {2}), 1e-4).ok);
  EXPECT_FALSE(compareArrays(floats({3, 4}, {1, 2}), reference, 1).ok);
}

TEST(Compare, NanNeverPasses) {
  float nan = std::nanf(""), inf = INFINITY;
  EXPECT_FALSE(compareArrays(floats({1, nan}, {2}), floats({1, 2}, {2}), 1e9).ok);
  EXPECT_FALSE(compareArrays(floats({1, nan}, {2}), floats({1, nan}, {2}), 1e9).ok);
  EXPECT_FALSE(compareArrays(floats({1, 2}, {2}), floats({1, nan}, {2}), 1e9).ok);
  EXPECT_FALSE(compareArrays(floats({1, inf}, {2}), floats({1, 2}, {2}), 1e9).ok);
  EXPECT_FALSE(compareArrays(floats({1, inf}, {2}), floats({1, -inf}, {2}), 1e9).ok);
  EXPECT_TRUE(compareArrays(floats({1, inf}, {2}), floats({1, inf}, {2}), 0).ok);
  EXPECT_EQ(compareArrays(floats({1, nan}, {2}), floats({1, 2}, {2}), 1).worstAt, 1);
}

TEST(Compare, IntegersExactly) {
  Array a(DType::I64, {1}), b(DType::I64, {1});
  a.setBits(0, (uint64_t{1} << 60) + 1); // equal as doubles
  b.setBits(0, uint64_t{1} << 60);
  EXPECT_FALSE(compareArrays(a, b, defaultTolerance(DType::I64)).ok);
  EXPECT_TRUE(compareArrays(a, a, 0).ok);
}

TEST(Compare, DamageIsFound) {
  std::vector<std::byte> zone(kGuardBytes, kGuard);
  EXPECT_FALSE(findDamage(zone.data(), zone.size()));
  zone[4095] = std::byte{0};
  EXPECT_EQ(findDamage(zone.data(), zone.size()), 4095u);
}

TEST(Compare, PoisonIsNanInFloats) {
  for (DType type : {DType::F64, DType::F32, DType::F16, DType::BF16, DType::E4M3, DType::E5M2}) {
    Array array(type, {1});
    array.data.assign(array.data.size(), kPoison);
    EXPECT_TRUE(std::isnan(array.value(0))) << dtypeName(type);
  }
}

} // namespace
} // namespace tile_rt
