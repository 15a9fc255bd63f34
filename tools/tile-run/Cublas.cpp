// Baselines by cuBLAS, and for 8-bit floats by cuBLASLt, the only one of the two that has them.
#include "runtime/harness/Call.h"
#include "runtime/harness/Compare.h"
#include "runtime/harness/Pitch.h"
#include "tools/tile-run/Library.h"
#include "tools/tile-run/Product.h"

#include <array>
#include <limits>

using namespace tile_rt;

namespace tile_run {

namespace {
// cublas_api.h, cublasLt.h and library_types.h of CUDA 12 and 13.
using Handle = struct BlasHandle *;
constexpr int kOpNone = 0, kOpTransposed = 1;                      // cublasOperation_t
constexpr int kCompute32 = 68, kComputeTf32 = 77, kCompute64 = 70; // cublasComputeType_t
constexpr int kFloat = 0, kDouble = 1, kHalf = 2, kBfloat = 14, kE4m3 = 28,
              kE5m2 = 29;                            // cudaDataType_t
constexpr int kDefaultAlgorithm = -1;                // cublasGemmAlgo_t
constexpr int kTransposeA = 3, kTransposeB = 4;      // cublasLtMatmulDescAttributes_t
constexpr int kMaxWorkspace = 1;                     // cublasLtMatmulPreferenceAttributes_t
constexpr size_t kWorkspaceBytes = size_t{32} << 20; // what cuBLAS recommends for sm_90

int cudaTypeOf(DType type) {
  switch (type) {
  case DType::F16:
    return kHalf;
  case DType::BF16:
    return kBfloat;
  case DType::F32:
    return kFloat;
  case DType::F64:
    return kDouble;
  case DType::E4M3:
    return kE4m3;
  case DType::E5M2:
    return kE5m2;
  default:
    throw NoBaseline(std::string("there is no baseline for ") + dtypeName(type));
  }
}

bool isByte(DType type) { return dtypeBits(type) == 8; }

/// Memory of the device.
class Memory {
public:
  Memory(const Driver &driver, size_t bytes) : driver(driver) {
    driver.check(driver.memAlloc(&base, std::max<size_t>(bytes, 1)),
                 "allocating " + std::to_string(bytes) + " bytes for the baseline");
  }
  ~Memory() { driver.memFree(base); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  void *pointer() const { return reinterpret_cast<void *>(base); }

private:
  const Driver &driver;
  cu::DevicePtr base = 0;
};

/// What both libraries share.
class BlasBaseline : public Baseline {
public:
  BlasBaseline(const Driver &driver, BlasProduct given)
      : driver(driver), product(std::move(given)), output(product.c.dtype, product.shape),
        memory(driver, output.data.size()), workspace(driver, kWorkspaceBytes) {
    driver.check(driver.copyToDevice(reinterpret_cast<uint64_t>(memory.pointer()),
                                     std::vector<std::byte>(output.data.size(), kPoison).data(),
                                     output.data.size()),
                 "copying to the device");
    const bool isDouble = product.c.dtype == DType::F64;
    one = isDouble ? static_cast<const void *>(&oneDouble) : &oneFloat;
    zero = isDouble ? static_cast<const void *>(&zeroDouble) : &zeroFloat;
  }

  Array result() const override {
    Array array = output;
    driver.check(driver.copyToHost(array.data.data(), reinterpret_cast<uint64_t>(memory.pointer()),
                                   array.data.size()),
                 "copying from the device");
    return array;
  }

protected:
  static void check(int status, const std::string &what) {
    if (status) { // cublasStatus_t
      throw NoBaseline(what + " ends with status " + std::to_string(status) +
                       (status == 15 ? ", not supported" : ""));
    }
  }
  /// The type that sums and factors have.
  int computeType() const {
    return product.c.dtype == DType::F64 ? kCompute64 : product.tf32 ? kComputeTf32 : kCompute32;
  }
  static int operation(const BlasOperand &operand) {
    return operand.transposed ? kOpTransposed : kOpNone;
  }
  static const void *pointer(const BlasOperand &operand) {
    return reinterpret_cast<const void *>(operand.address);
  }

  const Driver &driver;
  BlasProduct product;
  Array output;
  Memory memory, workspace;
  const void *one = nullptr, *zero = nullptr;

private:
  float oneFloat = 1, zeroFloat = 0;
  double oneDouble = 1, zeroDouble = 0;
};

class Cublas : public BlasBaseline {
public:
  Cublas(const Driver &driver, BlasProduct given) : BlasBaseline(driver, std::move(given)) {
    const Library library("TILE_CUBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"});
    int (*create)(Handle *) = nullptr;
    int (*getVersion)(Handle, int *) = nullptr;
    int (*setWorkspace)(Handle, void *, size_t) = nullptr;
    library.find(create, "cublasCreate_v2");
    library.find(destroy, "cublasDestroy_v2");
    library.find(getVersion, "cublasGetVersion_v2");
    library.find(setWorkspace, "cublasSetWorkspace_v2");
    library.find(multiply, "cublasGemmStridedBatchedEx");
    library.find(multiplyOne, "cublasGemmEx");
    check(create(&handle), "cublasCreate");
    check(getVersion(handle, &version), "cublasGetVersion");
    check(setWorkspace(handle, workspace.pointer(), kWorkspaceBytes), "cublasSetWorkspace");
  }
  ~Cublas() override { destroy(handle); }
  Cublas(const Cublas &) = delete;
  Cublas &operator=(const Cublas &) = delete;

  std::string name() const override {
    return "cublas " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
           "." + std::to_string(version % 100);
  }
  void run() override {
    const BlasOperand &a = product.a, &b = product.b, &c = product.c;
    const auto m = static_cast<int>(product.m), n = static_cast<int>(product.n),
               k = static_cast<int>(product.k), batch = static_cast<int>(product.batch);
    const auto lda = static_cast<int>(a.columns), ldb = static_cast<int>(b.columns),
               ldc = static_cast<int>(c.columns);
    const int ta = cudaTypeOf(a.dtype), tb = cudaTypeOf(b.dtype), tc = cudaTypeOf(c.dtype);
    check(batch == 1
              ? multiplyOne(handle, operation(a), operation(b), m, n, k, one, pointer(a), ta, lda,
                            pointer(b), tb, ldb, zero, memory.pointer(), tc, ldc, computeType(),
                            kDefaultAlgorithm)
              : multiply(handle, operation(a), operation(b), m, n, k, one, pointer(a), ta, lda,
                         a.matrices, pointer(b), tb, ldb, b.matrices, zero, memory.pointer(), tc,
                         ldc, c.matrices, batch, computeType(), kDefaultAlgorithm),
          "the product by cublas");
  }

private:
  int (*destroy)(Handle) = nullptr;
  int (*multiply)(Handle, int, int, int, int, int, const void *, const void *, int, int, long long,
                  const void *, int, int, long long, const void *, void *, int, int, long long, int,
                  int, int) = nullptr;
  int (*multiplyOne)(Handle, int, int, int, int, int, const void *, const void *, int, int,
                     const void *, int, int, const void *, void *, int, int, int, int) = nullptr;
  Handle handle = nullptr;
  int version = 0;
};

/// What cublasLtMatmulAlgoGetHeuristic fills in.
struct LtChoice {
  uint64_t algorithm[8];
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

class CublasLt : public BlasBaseline {
public:
  CublasLt(const Driver &driver, BlasProduct given) : BlasBaseline(driver, std::move(given)) {
    if (product.batch != 1 || !product.a.transposed || product.b.transposed) {
      throw NoBaseline(
          "of 8-bit floats cublasLt multiplies single matrices whose rows both run along k");
    }
    const Library library("TILE_CUBLASLT",
                          {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"});
    library.find(destroy, "cublasLtDestroy");
    library.find(multiply, "cublasLtMatmul");
    library.find(freeOperation, "cublasLtMatmulDescDestroy");
    library.find(freeLayout, "cublasLtMatrixLayoutDestroy");
    library.find(freePreference, "cublasLtMatmulPreferenceDestroy");
    size_t (*getVersion)() = nullptr;
    int (*create)(Object *) = nullptr;
    library.find(getVersion, "cublasLtGetVersion");
    library.find(create, "cublasLtCreate");
    version = getVersion();
    check(create(&handle), "cublasLtCreate");
    try {
      describe(library);
      choose(library);
    } catch (...) {
      release();
      throw;
    }
  }
  ~CublasLt() override { release(); }
  CublasLt(const CublasLt &) = delete;
  CublasLt &operator=(const CublasLt &) = delete;

  std::string name() const override {
    return "cublasLt " + std::to_string(version / 10000) + "." +
           std::to_string(version / 100 % 100) + "." + std::to_string(version % 100);
  }
  void run() override {
    check(multiply(handle, operationObject, one, pointer(product.a), layouts[0], pointer(product.b),
                   layouts[1], zero, memory.pointer(), layouts[2], memory.pointer(), layouts[2],
                   choice.algorithm, workspace.pointer(), kWorkspaceBytes, nullptr),
          "the product by cublasLt");
  }

private:
  using Object = struct LtObject *;

  void describe(const Library &library) {
    int (*createOperation)(Object *, int, int) = nullptr;
    int (*setOperation)(Object, int, const void *, size_t) = nullptr;
    int (*createLayout)(Object *, int, uint64_t, uint64_t, int64_t) = nullptr;
    library.find(createOperation, "cublasLtMatmulDescCreate");
    library.find(setOperation, "cublasLtMatmulDescSetAttribute");
    library.find(createLayout, "cublasLtMatrixLayoutCreate");
    check(createOperation(&operationObject, kCompute32, kFloat), "cublasLtMatmulDescCreate");
    const int opA = operation(product.a), opB = operation(product.b);
    check(setOperation(operationObject, kTransposeA, &opA, sizeof(opA)), "setting an operation");
    check(setOperation(operationObject, kTransposeB, &opB, sizeof(opB)), "setting an operation");
    auto layout = [&](size_t i, const BlasOperand &operand, int64_t rows, int64_t columns) {
      const bool turned = operand.transposed;
      check(createLayout(&layouts[i], cudaTypeOf(operand.dtype),
                         static_cast<uint64_t>(turned ? columns : rows),
                         static_cast<uint64_t>(turned ? rows : columns), operand.columns),
            "cublasLtMatrixLayoutCreate");
    };
    layout(0, product.a, product.m, product.k);
    layout(1, product.b, product.k, product.n);
    layout(2, product.c, product.m, product.n);
  }

  void choose(const Library &library) {
    int (*createPreference)(Object *) = nullptr;
    int (*setPreference)(Object, int, const void *, size_t) = nullptr;
    int (*find)(Object, Object, Object, Object, Object, Object, Object, int, LtChoice *, int *) =
        nullptr;
    library.find(createPreference, "cublasLtMatmulPreferenceCreate");
    library.find(setPreference, "cublasLtMatmulPreferenceSetAttribute");
    library.find(find, "cublasLtMatmulAlgoGetHeuristic");
    check(createPreference(&preference), "cublasLtMatmulPreferenceCreate");
    const size_t bytes = kWorkspaceBytes;
    check(setPreference(preference, kMaxWorkspace, &bytes, sizeof(bytes)), "setting a preference");
    int found = 0;
    check(find(handle, operationObject, layouts[0], layouts[1], layouts[2], layouts[2], preference,
               1, &choice, &found),
          "cublasLt for this product");
    if (found == 0) {
      throw NoBaseline("cublasLt has no algorithm for this product");
    }
  }

  void release() {
    auto free = [](int (*function)(Object), Object &object) {
      if (object) {
        function(object);
        object = nullptr;
      }
    };
    free(freePreference, preference);
    for (Object &layout : layouts) {
      free(freeLayout, layout);
    }
    free(freeOperation, operationObject);
    free(destroy, handle);
  }

  int (*destroy)(Object) = nullptr;
  int (*freeOperation)(Object) = nullptr;
  int (*freeLayout)(Object) = nullptr;
  int (*freePreference)(Object) = nullptr;
  int (*multiply)(Object, Object, const void *, const void *, Object, const void *, Object,
                  const void *, const void *, Object, void *, Object, const void *, void *, size_t,
                  cu::Stream) = nullptr;
  Object handle = nullptr, operationObject = nullptr, preference = nullptr;
  std::array<Object, 3> layouts{};
  LtChoice choice{};
  size_t version = 0;
};

/// Bytes from a tensor's first element to behind its last.
size_t spanOf(const tile_arg &arg) {
  const auto type = static_cast<DType>(arg.dtype);
  int64_t last = 0, dense = 1;
  for (int32_t i = arg.rank; i-- > 0;) {
    if (arg.extents[i] == 0) {
      return 0;
    }
    last += (arg.extents[i] - 1) * (arg.strides ? arg.strides[i] : dense);
    dense *= arg.extents[i];
  }
  return (static_cast<size_t>(last + 1) * static_cast<size_t>(dtypeBits(type)) + 7) / 8;
}

/// The libraries count in `int`.
void checkExtents(const BlasProduct &product) {
  for (int64_t extent : {product.m, product.n, product.k, product.batch, product.a.columns,
                         product.b.columns, product.c.columns}) {
    if (extent > std::numeric_limits<int>::max()) {
      throw NoBaseline("cublas has no extents or pitches of 2^31 and more, such as " +
                       std::to_string(extent));
    }
  }
}

void checkTypes(const BlasProduct &product) {
  const DType a = product.a.dtype, b = product.b.dtype, c = product.c.dtype;
  const bool isNarrow = isByte(a) && isByte(b);
  const bool isWide = a == DType::F32 || a == DType::F64;
  const bool takesOut = isWide ? c == a : c == DType::F32 || c == DType::F16 || c == DType::BF16;
  const bool mixesHalves = !isNarrow && !isWide && c != a && c != DType::F32;
  if ((a != b && !isNarrow) || !takesOut || mixesHalves) {
    throw NoBaseline(std::string("cublas has no product of ") + dtypeName(a) + " and " +
                     dtypeName(b) + " in " + dtypeName(c));
  }
}
} // namespace

Array readTensor(const Driver &driver, const tile_arg &arg) {
  Array array(static_cast<DType>(arg.dtype), {arg.extents, arg.extents + arg.rank});
  std::vector<std::byte> memory(spanOf(arg));
  if (!memory.empty()) {
    driver.check(
        driver.copyToHost(memory.data(), reinterpret_cast<uint64_t>(arg.data), memory.size()),
        "copying from the device");
  }
  if (!arg.strides) {
    array.data = std::move(memory);
    return array;
  }
  bool intact = true;
  return gatherRows(array, {arg.strides, arg.strides + arg.rank}, memory, kGuard, intact);
}

std::unique_ptr<Baseline> openBaseline(const BaselineSpec &spec, const tile_context &context,
                                       const Kernel &kernel, std::span<const tile_arg> args) {
  auto find = [&](const std::string &name) -> const tile_arg & {
    for (size_t i = 0; i < args.size(); ++i) {
      if (kernel.arguments[i].name != name || !kernel.arguments[i].isTensor) {
        continue;
      }
      if (!args[i].data && args[i].rank == 0) {
        throw NoBaseline("`" + name + "` is not given");
      }
      cudaTypeOf(static_cast<DType>(args[i].dtype));
      return args[i];
    }
    throw InputError("`--baseline`: kernel `" + kernel.symbol + "` has no tensor `" + name + "`");
  };
  BlasProduct product = makeProduct(spec, find(spec.a), find(spec.b), find(spec.c));
  checkTypes(product);
  checkExtents(product);
  const Driver &driver = *context.driver;
  try {
    if (isByte(product.a.dtype)) {
      return std::make_unique<CublasLt>(driver, std::move(product));
    }
    return std::make_unique<Cublas>(driver, std::move(product));
  } catch (const LibraryError &error) {
    throw NoBaseline(error.what());
  }
}

} // namespace tile_run
