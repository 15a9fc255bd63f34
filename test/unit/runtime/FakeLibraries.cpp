// cuBLAS, cuBLASLt and NVML for tests, beside the fake driver, in one library. A product writes zeros, or with
// FAKE_CUBLAS_VALUE that byte, and a line to the log file named by FAKE_DRIVER_LOG; what is timed behind it takes
// FAKE_CUBLAS_BLOCKS microseconds, if the driver is told to count blocks (FAKE_DRIVER_TIMES). FAKE_CUBLAS_STATUS is what it returns.
// The clock is 1500 MHz, the power 600 W, or FAKE_NVML_STATUS is what NVML answers.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <string>

#define FAKE extern "C" __attribute__((visibility("default"))) int

namespace {
int object; // what handles point to

int numberOf(const char *variable, int otherwise) {
  const char *text = std::getenv(variable);
  return text ? static_cast<int>(std::strtol(text, nullptr, 0)) : otherwise;
}

int multiply(const std::string &line, void *c, int64_t elements, int type) {
  if (const char *path = std::getenv("FAKE_DRIVER_LOG")) {
    if (FILE *file = std::fopen(path, "a")) {
      std::fputs((line + "\n").c_str(), file);
      std::fclose(file);
    }
  }
  if (void *driver = dlopen(std::getenv("TILE_CUDA_DRIVER"), RTLD_NOW | RTLD_LOCAL)) {
    const auto took = reinterpret_cast<void (*)(int)>(dlsym(driver, "fakeDriverTook"));
    took(numberOf("FAKE_CUBLAS_BLOCKS", 1));
  }
  const int bytes = type == 1 ? 8 : type == 0 ? 4 : 2; // cudaDataType_t
  std::memset(c, numberOf("FAKE_CUBLAS_VALUE", 0), static_cast<size_t>(elements * bytes));
  return numberOf("FAKE_CUBLAS_STATUS", 0);
}

std::string words(std::initializer_list<int64_t> list) {
  std::string text;
  for (int64_t one : list) {
    text += " " + std::to_string(one);
  }
  return text;
}

struct Layout {
  int type;
  uint64_t rows, columns;
  int64_t pitch;
};
struct Operation {
  int attributes[8];
};
} // namespace

FAKE cublasCreate_v2(void **handle) {
  *handle = &object;
  return 0;
}
FAKE cublasDestroy_v2(void *) { return 0; }
FAKE cublasGetVersion_v2(void *, int *version) {
  *version = 130002;
  return 0;
}
FAKE cublasSetWorkspace_v2(void *, void *, size_t) { return 0; }
FAKE cublasGemmEx(void *, int opA, int opB, int m, int n, int k, const void *, const void *,
                  int typeA, int lda, const void *, int typeB, int ldb, const void *, void *c,
                  int typeC, int ldc, int compute, int) {
  return multiply("gemm ops" + words({opA, opB}) + " mnk" + words({m, n, k}) + " types" +
                      words({typeA, typeB, typeC}) + " ld" + words({lda, ldb, ldc}) + " compute" +
                      words({compute}),
                  c, int64_t{m} * n, typeC);
}
FAKE cublasGemmStridedBatchedEx(void *, int opA, int opB, int m, int n, int k, const void *,
                                const void *, int typeA, int lda, long long strideA, const void *,
                                int typeB, int ldb, long long strideB, const void *, void *c,
                                int typeC, int ldc, long long strideC, int batch, int compute,
                                int) {
  return multiply("batch" + words({batch}) + " ops" + words({opA, opB}) + " mnk" +
                      words({m, n, k}) + " types" + words({typeA, typeB, typeC}) + " ld" +
                      words({lda, ldb, ldc}) + " strides" + words({strideA, strideB, strideC}) +
                      " compute" + words({compute}),
                  c, int64_t{m} * n * batch, typeC);
}

extern "C" __attribute__((visibility("default"))) size_t cublasLtGetVersion() { return 130002; }
FAKE cublasLtCreate(void **handle) {
  *handle = &object;
  return 0;
}
FAKE cublasLtDestroy(void *) { return 0; }
FAKE cublasLtMatmulDescCreate(void **desc, int, int) {
  *desc = new Operation{};
  return 0;
}
FAKE cublasLtMatmulDescDestroy(void *desc) {
  delete static_cast<Operation *>(desc);
  return 0;
}
FAKE cublasLtMatmulDescSetAttribute(void *desc, int which, const void *value, size_t bytes) {
  std::memcpy(&static_cast<Operation *>(desc)->attributes[which], value, bytes);
  return 0;
}
FAKE cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns,
                                int64_t pitch) {
  *layout = new Layout{type, rows, columns, pitch};
  return 0;
}
FAKE cublasLtMatrixLayoutDestroy(void *layout) {
  delete static_cast<Layout *>(layout);
  return 0;
}
FAKE cublasLtMatmulPreferenceCreate(void **preference) {
  *preference = &object;
  return 0;
}
FAKE cublasLtMatmulPreferenceDestroy(void *) { return 0; }
FAKE cublasLtMatmulPreferenceSetAttribute(void *, int, const void *, size_t) { return 0; }
FAKE cublasLtMatmulAlgoGetHeuristic(void *, void *, void *, void *, void *, void *, void *, int,
                                    void *, int *found) {
  *found = numberOf("FAKE_CUBLAS_ALGORITHMS", 1);
  return 0;
}
FAKE cublasLtMatmul(void *, void *desc, const void *, const void *, void *a, const void *, void *b,
                    const void *, const void *, void *, void *d, void *out, const void *, void *,
                    size_t, void *) {
  const auto *operation = static_cast<Operation *>(desc);
  const auto *left = static_cast<Layout *>(a), *right = static_cast<Layout *>(b),
             *result = static_cast<Layout *>(out);
  auto words4 = [](const Layout *layout) {
    return words({layout->type, static_cast<int64_t>(layout->rows),
                  static_cast<int64_t>(layout->columns), layout->pitch});
  };
  return multiply("lt ops" + words({operation->attributes[3], operation->attributes[4]}) + " a" +
                      words4(left) + " b" + words4(right) + " d" + words4(result),
                  d, static_cast<int64_t>(result->rows * result->columns), result->type);
}

FAKE nvmlInit_v2() { return numberOf("FAKE_NVML_STATUS", 0); }
FAKE nvmlShutdown() { return 0; }
FAKE nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
  *device = &object;
  return std::string(bus) == "0000:19:00.0" ? 0 : 6;
}
FAKE nvmlDeviceGetClockInfo(void *, int which, unsigned *megahertz) {
  *megahertz = which == 1 ? 1500 : 0;
  return 0;
}
FAKE nvmlDeviceGetPowerUsage(void *, unsigned *milliwatts) {
  *milliwatts = 600'000;
  return numberOf("FAKE_NVML_POWER_STATUS", 0);
}
