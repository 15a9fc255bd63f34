// call.hpp: typed calls of kernels that are linked into the program (`tilec --emit=obj,header`). C++17.
//
// For each kernel the header has a struct of its arguments in namespace tile::kernels:
//
//   tile::kernels::gemm call{{a, {M, K}}, {b, {K, N}}, {c, {M, N}}};     // C++20: {.A = ..., .B = ...}
//   size_t bytes = tile::workspaceSize(context, call);
//   tile::launch(context, call, stream, workspace, bytes);               // throws tile::Error
#ifndef TILE_CALL_HPP
#define TILE_CALL_HPP

#include "view.hpp"

#include <limits>

namespace tile {

namespace detail {
template <tile_dtype Type>
struct ScalarOf {
  using Host = float; // f16, bf16
};
#define TILE_SCALAR_TYPE(DTYPE, TYPE)                                                              \
  template <>                                                                                      \
  struct ScalarOf<DTYPE> {                                                                         \
    using Host = TYPE;                                                                             \
  };
TILE_SCALAR_TYPE(TILE_F64, double)
TILE_SCALAR_TYPE(TILE_I64, int64_t)
TILE_SCALAR_TYPE(TILE_I32, int32_t)
TILE_SCALAR_TYPE(TILE_I16, int16_t)
TILE_SCALAR_TYPE(TILE_I8, int8_t)
TILE_SCALAR_TYPE(TILE_U64, uint64_t)
TILE_SCALAR_TYPE(TILE_U32, uint32_t)
TILE_SCALAR_TYPE(TILE_U16, uint16_t)
TILE_SCALAR_TYPE(TILE_U8, uint8_t)
TILE_SCALAR_TYPE(TILE_BOOL, bool)
#undef TILE_SCALAR_TYPE

/// Whether an integer of another type, perhaps with another sign, is one of `Host`.
template <class Host, class T>
constexpr bool fits(T value) {
  const Host converted = static_cast<Host>(value);
  return static_cast<T>(converted) == value && (converted < Host{}) == (value < T{});
}
} // namespace detail

/// A scalar argument. There is none without a value, and integers that do not fit are refused.
template <tile_dtype Type>
class Scalar {
public:
  using Host = typename detail::ScalarOf<Type>::Host;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Scalar(T value) {
    if constexpr (std::is_same_v<Host, bool> || std::is_same_v<T, bool>) {
      static_assert(std::is_same_v<Host, T>,
                    "a bool is given for a number, or a number for a bool");
    } else if constexpr (std::is_integral_v<Host>) {
      static_assert(std::is_integral_v<T>, "a float is given for an integer");
      if (!detail::fits<Host>(value)) {
        detail::refuse("scalar", std::to_string(value) + " is no " + tile_dtype_name(Type));
      }
    }
    const Host converted = static_cast<Host>(value);
    if constexpr (Type == TILE_F16 || Type == TILE_BF16) {
      bits = tile_scalar_bits(Type, static_cast<double>(converted));
    } else {
      std::memcpy(&bits, &converted, sizeof(converted));
    }
  }
  /// Points into this object.
  tile_arg raw() const {
    return {const_cast<uint64_t *>(&bits), nullptr, nullptr, TILE_SCALAR_RANK, Type};
  }
  int device() const { return -1; }

private:
  uint64_t bits = 0; // of little-endian hosts: the value's bytes come first
};

/// What a header says of the struct of a kernel's arguments:
/// `static tile_status find(tile_context *, tile_kernel **)`, and `visit(call, function)`, which calls
/// the function with all arguments in order.
template <class Call>
struct CallTraits;

/// The kernel that calls of this struct are of, loaded in this context if it was not yet.
template <class Call>
Kernel kernelOf(const Context &context) {
  tile_kernel *kernel = nullptr;
  check(CallTraits<Call>::find(context.get(), &kernel));
  return Kernel(kernel);
}

namespace detail {
/// Calls `function(kernel, args, count)` with the arguments as the C functions take them.
template <class Call, class Function>
void withArguments(const Context &context, const Call &call, Function &&function) {
  const Kernel kernel = kernelOf<Call>(context);
  CallTraits<Call>::visit(call, [&](const auto &...values) {
    for (int device : {-1, values.device()...}) {
      if (device >= 0 && device != context.device()) {
        refuse("device", "a tensor lies on device " + std::to_string(device) +
                             ", the context is of " + std::to_string(context.device()));
      }
    }
    const std::array<tile_arg, sizeof...(values)> args{values.raw()...};
    check(function(kernel.get(), args.data(), args.size()));
  });
}
} // namespace detail

/// Loads the code for the device, so that no launch does: before capturing a graph.
template <class Call>
void prepare(const Context &context) {
  check(tile_kernel_prepare(kernelOf<Call>(context).get()));
}

template <class Call>
size_t workspaceSize(const Context &context, const Call &call) {
  size_t bytes = 0;
  detail::withArguments(context, call,
                        [&](tile_kernel *kernel, const tile_arg *args, size_t count) {
                          return tile_workspace_size(kernel, args, count, &bytes);
                        });
  return bytes;
}

/// Enqueues the call and returns (tile_launch).
template <class Call>
void launch(const Context &context, const Call &call, void *stream = nullptr,
            void *workspace = nullptr, size_t workspaceBytes = 0) {
  detail::withArguments(
      context, call, [&](tile_kernel *kernel, const tile_arg *args, size_t count) {
        return tile_launch(kernel, args, count, stream, workspace, workspaceBytes);
      });
}

template <class Call>
std::string describe(const Context &context, const Call &call) {
  std::string text;
  detail::withArguments(
      context, call, [&](tile_kernel *kernel, const tile_arg *args, size_t count) {
        size_t needed = 0;
        if (tile_status status = tile_describe(kernel, args, count, nullptr, 0, &needed)) {
          return status;
        }
        text.resize(needed);
        return tile_describe(kernel, args, count, text.data(), text.size(), nullptr);
      });
  text.resize(text.empty() ? 0 : text.size() - 1);
  return text;
}

} // namespace tile

#endif
