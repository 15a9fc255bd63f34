// view.hpp: tensors as C++ programs have them, for calls of kernels (call.hpp). C++17; nothing is copied
// and nothing is owned.
//
// A view is made from a pointer and extents, from anything that looks like std::mdspan, or from a DLPack
// tensor. What is known when compiling is checked then (element type, rank, constness), what only a DLPack
// tensor knows when the view is made (tile::Error), and everything else by the runtime when it is called.
#ifndef TILE_VIEW_HPP
#define TILE_VIEW_HPP

#include "tile.hpp"

#include <array>
#include <type_traits>
#include <utility>

namespace tile {

/// DLPack 1.1's structs (https://dmlc.github.io/dlpack/latest/c_api.html), for programs without its header.
/// Those of <dlpack/dlpack.h> are taken as well: only the names of members count.
namespace dlpack {
struct Device {
  int32_t device_type, device_id;
};
struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct Tensor {
  void *data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t *shape;
  int64_t *strides; ///< in elements; null: contiguous
  uint64_t byte_offset;
};
struct ManagedTensor {
  Tensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(ManagedTensor *self);
};
struct Version {
  uint32_t major, minor;
};
struct ManagedTensorVersioned {
  Version version;
  void *manager_ctx;
  void (*deleter)(ManagedTensorVersioned *self);
  uint64_t flags;
  Tensor dl_tensor;
};
constexpr uint64_t kReadOnly = 1, kPadded = 4; // flags

/// The code of a type: integers, floats, ... of which `bits` tells the width.
constexpr int codeOf(tile_dtype type) {
  switch (type) {
  case TILE_I64:
  case TILE_I32:
  case TILE_I16:
  case TILE_I8:
  case TILE_I4:
    return 0;
  case TILE_U64:
  case TILE_U32:
  case TILE_U16:
  case TILE_U8:
  case TILE_U4:
    return 1;
  case TILE_F64:
  case TILE_F32:
  case TILE_F16:
    return 2;
  case TILE_BF16:
    return 4;
  case TILE_BOOL:
    return 6;
  case TILE_E4M3:
    return 10;
  case TILE_E5M2:
    return 12;
  case TILE_E8M0:
    return 14;
  case TILE_E2M1:
    return 17;
  }
  return -1;
}
} // namespace dlpack

namespace detail {
constexpr int bitsOf(tile_dtype type) {
  switch (type) {
  case TILE_F64:
  case TILE_I64:
  case TILE_U64:
    return 64;
  case TILE_F32:
  case TILE_I32:
  case TILE_U32:
    return 32;
  case TILE_F16:
  case TILE_BF16:
  case TILE_I16:
  case TILE_U16:
    return 16;
  case TILE_E2M1:
  case TILE_I4:
  case TILE_U4:
    return 4;
  default:
    return 8;
  }
}

template <class T, class = void>
struct IsMdspan : std::false_type {};
template <class T>
struct IsMdspan<T, std::void_t<decltype(std::declval<const T &>().data_handle()),
                               decltype(std::declval<const T &>().extent(0)),
                               decltype(std::declval<const T &>().stride(0)), decltype(T::rank())>>
    : std::true_type {};

template <class T, class = void>
struct IsDlTensor : std::false_type {};
template <class T>
struct IsDlTensor<T, std::void_t<decltype(std::declval<const T &>().dtype.lanes),
                                 decltype(std::declval<const T &>().device.device_type),
                                 decltype(std::declval<const T &>().byte_offset)>>
    : std::true_type {};

template <class T, class = void>
struct IsManaged : std::false_type {};
template <class T>
struct IsManaged<T, std::void_t<decltype(std::declval<const T &>().dl_tensor)>> : std::true_type {};
template <class T, class = void>
struct HasFlags : std::false_type {};
template <class T>
struct HasFlags<T, std::void_t<decltype(std::declval<const T &>().flags),
                               decltype(std::declval<const T &>().version.major)>>
    : std::true_type {};

[[noreturn]] inline void refuse(const char *rule, const std::string &text) {
  throw Error(TILE_ERROR_ARGUMENT, std::string("[") + rule + "] " + text);
}
} // namespace detail

/// As many integers as a tensor has dimensions, of any integer types.
template <int Rank>
struct Extents {
  template <class... Ints,
            class = std::enable_if_t<sizeof...(Ints) == Rank && (std::is_integral_v<Ints> && ...)>>
  Extents(Ints... ints) : values{static_cast<int64_t>(ints)...} {}
  Extents(const std::array<int64_t, Rank> &ints) : values(ints) {}
  std::array<int64_t, Rank> values;
};

/// A tensor in device memory. `Written` ones do not take pointers to const.
template <tile_dtype Type, int Rank, bool Written>
class View {
public:
  /// Contiguous unless strides (in elements) are given. A pointer to void is taken as it is.
  template <class T>
  View(T *pointer, const Extents<Rank> &shape) : data(checked(pointer)), extents(shape.values) {}
  template <class T>
  View(T *pointer, const Extents<Rank> &shape, const Extents<Rank> &steps)
      : data(checked(pointer)), extents(shape.values), strides(steps.values), strided(true) {}

  /// std::mdspan and what has its members.
  template <class Span, std::enable_if_t<detail::IsMdspan<Span>::value, int> = 0>
  View(const Span &span) : data(checked(span.data_handle())), strided(true) {
    static_assert(Span::rank() == Rank, "the kernel's tensor has another rank");
    for (size_t i = 0; i < Rank; ++i) {
      using Index = decltype(Span::rank());
      extents[i] = static_cast<int64_t>(span.extent(static_cast<Index>(i)));
      strides[i] = static_cast<int64_t>(span.stride(static_cast<Index>(i)));
    }
  }

  /// A DLPack tensor. Types that frameworks lack may come as bytes: the 8-bit floats one each, of the
  /// 4-bit types two.
  template <class Tensor, std::enable_if_t<detail::IsDlTensor<Tensor>::value, int> = 0>
  View(const Tensor &tensor) {
    take(tensor);
  }
  template <class Managed, std::enable_if_t<detail::IsManaged<Managed>::value, long> = 0>
  View(const Managed &managed) {
    if constexpr (detail::HasFlags<Managed>::value) {
      if (managed.version.major != 1) {
        detail::refuse("dlpack", "the tensor is of DLPack " +
                                     std::to_string(managed.version.major) +
                                     ", version 1 is known");
      }
      if (Written && (managed.flags & dlpack::kReadOnly)) {
        detail::refuse("dlpack", "the kernel writes the tensor, which is read-only");
      }
      if (detail::bitsOf(Type) < 8 && (managed.flags & dlpack::kPadded)) {
        detail::refuse("dlpack",
                       "the tensor has a byte for each element, the kernel reads two of one");
      }
    }
    take(managed.dl_tensor);
  }
  template <class Tensor,
            std::enable_if_t<detail::IsDlTensor<Tensor>::value || detail::IsManaged<Tensor>::value,
                             char> = 0>
  View(const Tensor *tensor) : View(*tensor) {}

  /// Points into this object.
  tile_arg raw() const {
    return {data, extents.data(), strided ? strides.data() : nullptr, Rank, Type};
  }
  /// Number of the device that holds it, if the view knows; else -1.
  int device() const { return owner; }

protected:
  View() = default; // absent

private:
  template <class T>
  static void *checked(T *pointer) {
    static_assert(!(Written && std::is_const_v<T>), "the kernel writes this tensor");
    if constexpr (!std::is_void_v<T>) {
      static_assert(DTypeOf<std::remove_cv_t<T>>::value == Type,
                    "the kernel's tensor has another element type");
    }
    return const_cast<void *>(static_cast<const volatile void *>(pointer));
  }
  template <class Tensor>
  void take(const Tensor &tensor);

  void *data = nullptr;
  std::array<int64_t, Rank> extents{}, strides{};
  bool strided = false;
  int owner = -1;
};

template <tile_dtype Type, int Rank, bool Written>
template <class Tensor>
void View<Type, Rank, Written>::take(const Tensor &tensor) {
  constexpr int kCuda = 2, kCudaHost = 3, kCudaManaged = 13, kUnsigned = 1;
  constexpr int bits = detail::bitsOf(Type), code = dlpack::codeOf(Type);
  const int where = static_cast<int>(tensor.device.device_type);
  if (where != kCuda && where != kCudaHost && where != kCudaManaged) {
    detail::refuse("dlpack", "the tensor lies on a device of type " + std::to_string(where) +
                                 ", not on a GPU (2)");
  }
  const int given = tensor.dtype.code, width = tensor.dtype.bits, lanes = tensor.dtype.lanes;
  // Storage types that the framework lacks, as bytes; and two elements of 4 bits as one of two lanes.
  const bool isStorage = Type >= TILE_E4M3;
  const bool isBytes = isStorage && given == kUnsigned && width == 8 && lanes == 1;
  const bool isPairs = bits == 4 && given == code && width == 4 && lanes == 2;
  if (!isBytes && !isPairs && (given != code || width != bits || lanes != 1)) {
    detail::refuse("dtype", std::string("the kernel takes ") + tile_dtype_name(Type) +
                                ", the DLPack tensor has type code " + std::to_string(given) +
                                ", " + std::to_string(width) + " bits, " + std::to_string(lanes) +
                                " lanes");
  }
  if (tensor.ndim != Rank) {
    detail::refuse("rank", "the kernel takes a tensor of rank " + std::to_string(Rank) +
                               ", the DLPack tensor has rank " + std::to_string(tensor.ndim));
  }
  data = static_cast<char *>(tensor.data) + tensor.byte_offset;
  strided = tensor.strides != nullptr;
  owner = where == kCuda ? static_cast<int>(tensor.device.device_id) : -1;
  // Of pairs the last extent, and the strides of the others, count elements again.
  const int64_t each = bits == 4 && (isBytes || isPairs) ? 2 : 1;
  for (size_t i = 0; i < Rank; ++i) {
    const bool isLast = i + 1 == Rank;
    extents[i] = tensor.shape[i] * (isLast ? each : 1);
    if (strided) {
      const bool isUnit = isLast && (tensor.strides[i] == 1 || tensor.shape[i] == 1);
      strides[i] = isUnit ? 1 : tensor.strides[i] * each;
    }
  }
}

/// Of arguments that the kernel reads, and of those that it writes.
template <tile_dtype Type, int Rank>
using In = View<Type, Rank, false>;
template <tile_dtype Type, int Rank>
using Out = View<Type, Rank, true>;

/// Of an optional argument: absent where nothing, or nullptr, is given.
template <class Given>
class Optional : public Given {
public:
  using Given::Given;
  Optional() = default;
  Optional(std::nullptr_t) {}
  Optional(const Given &view) : Given(view) {}
};

} // namespace tile

#endif
