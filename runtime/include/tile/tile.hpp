// tile.hpp: C++17 over tile.h. Objects that own their handles; failures throw tile::Error.
#ifndef TILE_TILE_HPP
#define TILE_TILE_HPP

#include "tile.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tile {

struct Error : std::runtime_error {
  explicit Error(tile_status code) : Error(code, tile_last_error()) {}
  Error(tile_status code, const std::string &text) : std::runtime_error(text), status(code) {}
  tile_status status;
};

inline void check(tile_status status) {
  if (status != TILE_OK) {
    throw Error(status);
  }
}

/// The tile_dtype of a C++ type. Specialise it for your f16 and bf16 types:
/// `template <> struct tile::DTypeOf<__half> { static constexpr tile_dtype value = TILE_F16; };`
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<double> {
  static constexpr tile_dtype value = TILE_F64;
};
template <>
struct DTypeOf<float> {
  static constexpr tile_dtype value = TILE_F32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr tile_dtype value = TILE_I64;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr tile_dtype value = TILE_I32;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr tile_dtype value = TILE_I16;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr tile_dtype value = TILE_I8;
};
template <>
struct DTypeOf<uint64_t> {
  static constexpr tile_dtype value = TILE_U64;
};
template <>
struct DTypeOf<uint32_t> {
  static constexpr tile_dtype value = TILE_U32;
};
template <>
struct DTypeOf<uint16_t> {
  static constexpr tile_dtype value = TILE_U16;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr tile_dtype value = TILE_U8;
};
template <>
struct DTypeOf<bool> {
  static constexpr tile_dtype value = TILE_BOOL;
};

/// One argument of a call. Holds its extents and a scalar's value, but not the tensor's memory.
class Arg {
public:
  /// Device memory of a type that the compiler knows: contiguous unless strides (in elements) are
  /// given.
  template <class T>
  static Arg tensor(T *data, std::vector<int64_t> extents, std::vector<int64_t> strides = {}) {
    return tensor(const_cast<void *>(static_cast<const void *>(data)),
                  DTypeOf<std::remove_const_t<T>>::value, std::move(extents), std::move(strides));
  }
  /// The same with the type said.
  static Arg tensor(void *data, tile_dtype dtype, std::vector<int64_t> extents,
                    std::vector<int64_t> strides = {}) {
    Arg arg;
    arg.data = data;
    arg.dtype = dtype;
    arg.extents = std::move(extents);
    arg.strides = std::move(strides);
    return arg;
  }
  /// An optional tensor that is not given.
  static Arg absent() { return Arg(); }
  template <class T>
  static Arg scalar(T value) {
    static_assert(sizeof(T) <= sizeof(uint64_t));
    Arg arg;
    arg.isScalar = true;
    arg.dtype = DTypeOf<T>::value;
    std::memcpy(&arg.value, &value, sizeof(T));
    return arg;
  }

  /// Points into this object.
  tile_arg raw() const {
    if (isScalar) {
      return {const_cast<uint64_t *>(&value), nullptr, nullptr, TILE_SCALAR_RANK, dtype};
    }
    return {data, extents.data(), strides.empty() ? nullptr : strides.data(),
            static_cast<int32_t>(extents.size()), dtype};
  }

private:
  void *data = nullptr;
  int32_t dtype = TILE_F32;
  bool isScalar = false;
  uint64_t value = 0;
  std::vector<int64_t> extents, strides;
};

class Context {
public:
  explicit Context(int device = 0) : number(device) {
    tile_context *created = nullptr;
    tile::check(tile_context_create(device, &created));
    handle.reset(created);
  }
  tile_context *get() const { return handle.get(); }
  int device() const { return number; }
  /// Shows what kernels have printed, and throws if a check of one has failed (tile_context_check).
  void check() const { tile::check(tile_context_check(handle.get())); }
  /// Waits for what was enqueued on the stream, then does the same.
  void synchronize(void *stream = nullptr) const {
    tile::check(tile_synchronize(handle.get(), stream));
  }

private:
  struct Destroy {
    void operator()(tile_context *context) const { tile_context_destroy(context); }
  };
  int number;
  std::unique_ptr<tile_context, Destroy> handle;
};

/// Device memory for so many elements; its context must outlive it.
template <class T>
class Buffer {
public:
  Buffer(const Context &context, size_t count) : owner(context.get()), elements(count) {
    void *allocated = nullptr;
    const bool fits = count <= static_cast<size_t>(-1) / sizeof(T); // else more than there is
    check(
        tile_malloc(context.get(), fits ? count * sizeof(T) : static_cast<size_t>(-1), &allocated));
    memory = static_cast<T *>(allocated);
  }
  Buffer(const Context &context, const std::vector<T> &values) : Buffer(context, values.size()) {
    write(values);
  }
  Buffer(Buffer &&other) noexcept
      : owner(other.owner), elements(other.elements), memory(other.memory) {
    other.memory = nullptr;
  }
  Buffer &operator=(Buffer &&) = delete;
  ~Buffer() { tile_free(owner, memory); }

  T *data() const { return memory; }
  size_t size() const { return elements; }
  /// Copies of all elements; they wait for what was enqueued on the stream before.
  void write(const std::vector<T> &values, void *stream = nullptr) const {
    if (values.size() != elements) {
      throw std::invalid_argument("a tile::Buffer is written as a whole");
    }
    check(tile_memcpy(owner, memory, values.data(), elements * sizeof(T), TILE_TO_DEVICE, stream));
  }
  std::vector<T> read(void *stream = nullptr) const {
    std::vector<T> values(elements);
    check(tile_memcpy(owner, values.data(), memory, elements * sizeof(T), TILE_TO_HOST, stream));
    return values;
  }

private:
  tile_context *owner;
  size_t elements;
  T *memory = nullptr;
};

/// A kernel; valid while its pack lives.
class Kernel {
public:
  explicit Kernel(tile_kernel *kernel) : handle(kernel) {}
  tile_kernel *get() const { return handle; }
  size_t workspaceSize(const std::vector<Arg> &args) const {
    size_t bytes = 0;
    std::vector<tile_arg> list = raw(args);
    check(tile_workspace_size(handle, list.data(), list.size(), &bytes));
    return bytes;
  }
  void launch(const std::vector<Arg> &args, void *stream = nullptr, void *workspace = nullptr,
              size_t workspaceBytes = 0) const {
    std::vector<tile_arg> list = raw(args);
    check(tile_launch(handle, list.data(), list.size(), stream, workspace, workspaceBytes));
  }
  std::string describe(const std::vector<Arg> &args) const {
    std::vector<tile_arg> list = raw(args);
    size_t needed = 0;
    check(tile_describe(handle, list.data(), list.size(), nullptr, 0, &needed));
    std::string text(needed, '\0');
    check(tile_describe(handle, list.data(), list.size(), text.data(), text.size(), nullptr));
    text.resize(needed - 1);
    return text;
  }

private:
  static std::vector<tile_arg> raw(const std::vector<Arg> &args) {
    std::vector<tile_arg> list;
    for (const Arg &arg : args) {
      list.push_back(arg.raw());
    }
    return list;
  }
  tile_kernel *handle;
};

/// A loaded pack; its context must outlive it.
class Pack {
public:
  Pack(const Context &context, const std::string &path) {
    tile_pack *loaded = nullptr;
    check(tile_load_pack_file(context.get(), path.c_str(), &loaded));
    handle.reset(loaded);
  }
  Pack(const Context &context, const void *data, size_t bytes) {
    tile_pack *loaded = nullptr;
    check(tile_load_pack_memory(context.get(), data, bytes, &loaded));
    handle.reset(loaded);
  }
  Kernel kernel(const char *symbol) const {
    tile_kernel *found = nullptr;
    check(tile_kernel_find(handle.get(), symbol, &found));
    return Kernel(found);
  }
  tile_pack *get() const { return handle.get(); }

private:
  struct Destroy {
    void operator()(tile_pack *pack) const { tile_pack_destroy(pack); }
  };
  std::unique_ptr<tile_pack, Destroy> handle;
};

} // namespace tile

#endif
