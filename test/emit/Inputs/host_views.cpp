// Calls by views: pointers, std::mdspan or what looks like it, DLPack tensors. With -DBAD=N a line that must not compile.
#include "k.h"

#include <cstdio>

namespace {

struct Half {
  uint16_t bits;
};

/// As std::mdspan, of any strides.
template <class T, size_t Rank>
struct Span {
  using element_type = T;
  T *data;
  size_t extents[Rank], strides[Rank];
  static constexpr size_t rank() { return Rank; }
  T *data_handle() const { return data; }
  size_t extent(size_t i) const { return extents[i]; }
  size_t stride(size_t i) const { return strides[i]; }
};

/// As <dlpack/dlpack.h> has them.
enum DLDeviceType : int32_t { kDLCPU = 1, kDLCUDA = 2 };
struct DLDevice {
  DLDeviceType device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};

template <class T>
T *at(size_t address) {
  return reinterpret_cast<T *>(address);
}

template <class T>
void use(const T &) {}

template <class Function>
void refused(const char *what, Function &&function) {
  try {
    function();
    std::printf("%s: not refused\n", what);
  } catch (const tile::Error &error) {
    std::printf("%s: %d %s\n", what, error.status, error.what());
  }
}

} // namespace

namespace tile {
template <>
struct DTypeOf<Half> {
  static constexpr tile_dtype value = TILE_F16;
};
} // namespace tile

namespace kernels = tile::kernels;

int main() {
  tile::Context context;
  const int n = 5;
  tile::launch(context,
               kernels::scalars{{at<float>(16), n},
                                -0.5,
                                2,
                                0.25,
                                3,
                                -2,
                                -3,
                                -4,
                                -5,
                                1ULL << 63,
                                1U << 31,
                                65535,
                                255,
                                true},
               at<void>(0x10), at<void>(0x20), 30);

  const size_t m = 6;
  Span<float, 2> square{at<float>(0xe0), {11, 6}, {8, 1}};
  kernels::ranks ranks{
      {at<float>(0xa0), m},
      {at<const float>(0), {m}},
      {at<float>(0xb0), {6, 11, 3, 4, 7, 5, 2, 2}, {1000000, 100000, 10000, 1000, 100, 10, 2, 1}},
      {},
      nullptr,
      {at<void>(0xd0), m},
      square};
  std::printf("workspace %zu\n", tile::workspaceSize(context, ranks));
  ranks.F = {at<float>(0xc0), {5, 11}};
  ranks.E = Span<const int32_t, 2>{at<const int32_t>(0xb0), {6, 11}, {0, 1}};
  std::printf("%s\n", tile::describe(context, ranks).c_str());
  tile::prepare<kernels::fixed>(context);

  int64_t shape[] = {9}, pairs[] = {9}, strides[] = {1}, rows[] = {7, 3}, steps[] = {4, 1};
  DLTensor half{at<void>(0x100), {kDLCUDA, 0}, 1, {2, 16, 1}, shape, strides, 16};
  tile::dlpack::Tensor packed{at<void>(0x200), {2, 0}, 1, {1, 8, 1}, pairs, nullptr, 0};
  tile::dlpack::Tensor lanes{at<void>(0x300), {13, 0}, 1, {17, 4, 2}, pairs, strides, 0};
  tile::dlpack::Tensor floats{at<void>(0x400), {2, 0}, 2, {2, 32, 1}, rows, steps, 0};
  tile::In<TILE_F16, 1> f16{at<Half>(0x100), {9}};
  f16 = half;
  tile::In<TILE_U4, 1> u4 = packed;
  tile::In<TILE_E2M1, 1> e2m1 = &lanes;
  for (tile_arg arg : {f16.raw(), u4.raw(), e2m1.raw()}) {
    std::printf("%p [%d] %s\n", arg.data, int(arg.extents[0]),
                arg.strides ? "strided" : "contiguous");
  }
  tile::launch(context, kernels::fixed{floats});

  refused("cpu", [&] { half.device.device_type = kDLCPU, f16 = half; });
  refused("dtype", [&] { use(tile::In<TILE_F16, 2>(floats)); });
  refused("rank", [&] { use(tile::In<TILE_F32, 1>(floats)); });
  refused("device",
          [&] { floats.device.device_id = 3, tile::launch(context, kernels::fixed{floats}); });
  tile::dlpack::ManagedTensorVersioned managed{
      {1, 1}, nullptr, nullptr, tile::dlpack::kReadOnly, floats};
  tile::In<TILE_F32, 2> read = managed;
  refused("read-only", [&] { use(tile::Out<TILE_F32, 2>(managed)); });
  managed.version.major = 2;
  refused("version", [&] { read = managed; });
  managed = {{1, 1}, nullptr, nullptr, tile::dlpack::kPadded, packed};
  refused("padded", [&] { u4 = managed; });
  refused("scalar", [&] { use(tile::Scalar<TILE_U8>(256)); });
  refused("sign", [&] { use(tile::Scalar<TILE_U64>(-1)); });
  refused("context", [&] { tile::Context other(7); });

#if BAD == 1
  kernels::fixed{{at<double>(0xa0), {7, 3}}};
#elif BAD == 2
  kernels::fixed{{at<float>(0xa0), {7, 3, 1}}};
#elif BAD == 3
  kernels::fixed{{at<const float>(0xa0), {7, 3}}};
#elif BAD == 4
  kernels::fixed{};
#elif BAD == 5
  kernels::fixed{Span<const float, 2>{}};
#elif BAD == 6
  tile::Scalar<TILE_I32>{0.5};
#elif BAD == 7
  tile::Scalar<TILE_BOOL>{1};
#elif BAD == 8
  kernels::fixed{nullptr};
#elif BAD == 9
  kernels::fixed{Span<float, 1>{}};
#endif
  return 0;
}
