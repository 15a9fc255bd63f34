// Scalars and tensors of every type through typed calls: what arrives on the device is what was given, bit for bit.
#include "types.h"

#include <cstdio>

namespace {
constexpr int64_t kRows = 12, kRow = 66, kPitch = 80;

/// Of two calls, with and without the optional tensor, with `bits` to an element.
template <class Call>
int wrong(const tile::Context &context, size_t bits, bool isBool = false) {
  std::vector<unsigned char> from(kRows * kPitch * bits / 8);
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<unsigned char>(i * 37 >> 3 & (isBool ? 1 : 255));
  }
  tile::Buffer<unsigned char> x(context, from), y(context, kRows * kRow * bits / 8),
      z(context, 64 * bits / 8);
  void *const in = x.data(), *const out = y.data(), *const begin = z.data();
  Call call{{in, {2, 1, 3, 2, kRow}, {6 * kPitch, 6 * kPitch, 2 * kPitch, kPitch, 1}},
            {out, {2, 1, 3, 2, kRow}},
            {begin, {64}}};
  tile::launch(context, call);
  call.Z = {};
  tile::launch(context, call);
  const std::vector<unsigned char> copied = y.read(), first = z.read();
  int count = std::memcmp(first.data(), from.data(), first.size()) != 0;
  for (size_t row = 0; row < kRows; ++row) {
    count += std::memcmp(&copied[row * kRow * bits / 8], &from[row * kPitch * bits / 8],
                         kRow * bits / 8) != 0;
  }
  return count;
}

int wrongScalars(const tile::Context &context) {
  tile::Buffer<uint64_t> memory(context, std::vector<uint64_t>(26));
  auto at = [&](int i) { return static_cast<void *>(memory.data() + 2 * i); };
  tile::launch(context, tile::kernels::scalars{
                            -1.25e300,    0.1F,         65504,        1e30F,          INT64_MIN + 3,
                            INT32_MIN,    -12345,       -7,           UINT64_MAX - 1, 4000000000U,
                            65535,        200,          true,         {at(0), {1}},   {at(1), {1}},
                            {at(2), {1}}, {at(3), {1}}, {at(4), {1}}, {at(5), {1}},   {at(6), {1}},
                            {at(7), {1}}, {at(8), {1}}, {at(9), {1}}, {at(10), {1}},  {at(11), {1}},
                            {at(12), {1}}});
  const uint64_t expected[] = {0xfe3ddd4baa009303,
                               0x3dcccccd,
                               0x7bff,
                               0x714a,
                               0x8000000000000003,
                               0x80000000,
                               0xcfc7,
                               0xf9,
                               0xfffffffffffffffe,
                               0xee6b2800,
                               0xffff,
                               0xc8,
                               1};
  int count = 0;
  const std::vector<uint64_t> values = memory.read();
  for (size_t i = 0; i < 13; ++i) {
    count += values[2 * i] != expected[i];
  }
  return count;
}
} // namespace

int main() {
  namespace typed = tile::kernels;
  const tile::Context context;
  int count = wrongScalars(context);
  count += wrong<typed::copied_f64>(context, 64) + wrong<typed::copied_f32>(context, 32) +
           wrong<typed::copied_f16>(context, 16) + wrong<typed::copied_bf16>(context, 16) +
           wrong<typed::copied_i64>(context, 64) + wrong<typed::copied_i32>(context, 32) +
           wrong<typed::copied_i16>(context, 16) + wrong<typed::copied_i8>(context, 8) +
           wrong<typed::copied_u64>(context, 64) + wrong<typed::copied_u32>(context, 32) +
           wrong<typed::copied_u16>(context, 16) + wrong<typed::copied_u8>(context, 8) +
           wrong<typed::copied_bool>(context, 8, true) + wrong<typed::copied_e4m3>(context, 8) +
           wrong<typed::copied_e5m2>(context, 8) + wrong<typed::copied_e8m0>(context, 8) +
           wrong<typed::copied_e2m1>(context, 4) + wrong<typed::copied_i4>(context, 4) +
           wrong<typed::copied_u4>(context, 4);
  std::printf("%d wrong\n", count);
  return count != 0;
}
