// The CUDA driver API, opened with dlopen: the few types, constants and functions that the runtime
// and tile-run need. All are as in cuda.h of CUDA 12 and 13 (CUDA Driver API reference manual); no
// CUDA header is needed to build.
#pragma once

#include "Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tile_rt {

namespace cu {
using Result = int;
using Device = int;
using Context = struct ContextRecord *;
using Library = struct LibraryRecord *;
using Kernel = struct KernelRecord *;
using Function = struct FunctionRecord *;
using Stream = struct StreamRecord *;
using Event = struct EventRecord *;
using DevicePtr = uint64_t; // CUdeviceptr_v2

struct alignas(64) TensorMapBytes {
  uint64_t opaque[16];
};
struct LaunchAttribute {
  int id;
  int pad;
  unsigned value[16]; // the union is 64 bytes; a cluster uses the first three, a switch the first
};
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

// CUdevice_attribute, CUfunction_attribute, CUlaunchAttributeID, CUjit_option, CUlibraryOption
constexpr int kMultiprocessorCount = 16, kL2CacheSize = 38, kCapabilityMajor = 75,
              kCapabilityMinor = 76, kMaxSharedPerMultiprocessor = 81, kMaxSharedPerBlockOptin = 97,
              kReservedSharedPerBlock = 111;
constexpr int kFunctionMaxDynamicShared = 8, kFunctionPreferredCarveout = 9,
              kFunctionNonPortableCluster = 14;
constexpr int kLaunchCluster = 4, kLaunchProgrammaticSerialization = 6;
constexpr unsigned kHostAllocPortable = 1, kHostAllocDeviceMap = 2; // CU_MEMHOSTALLOC_*
constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6;
constexpr int kLibraryBinaryIsPreserved = 1;
} // namespace cu

// X(member, symbol in the library, parameter types)
#define TILE_RT_DRIVER_FUNCTIONS(X)                                                                \
  X(init, "cuInit", unsigned)                                                                      \
  X(getVersion, "cuDriverGetVersion", int *)                                                       \
  X(getErrorName, "cuGetErrorName", cu::Result, const char **)                                     \
  X(getErrorString, "cuGetErrorString", cu::Result, const char **)                                 \
  X(deviceGetCount, "cuDeviceGetCount", int *)                                                     \
  X(deviceGet, "cuDeviceGet", cu::Device *, int)                                                   \
  X(deviceGetName, "cuDeviceGetName", char *, int, cu::Device)                                     \
  X(deviceGetPciBusId, "cuDeviceGetPCIBusId", char *, int, cu::Device)                             \
  X(deviceGetAttribute, "cuDeviceGetAttribute", int *, int, cu::Device)                            \
  X(primaryRetain, "cuDevicePrimaryCtxRetain", cu::Context *, cu::Device)                          \
  X(primaryRelease, "cuDevicePrimaryCtxRelease_v2", cu::Device)                                    \
  X(ctxGetCurrent, "cuCtxGetCurrent", cu::Context *)                                               \
  X(ctxPush, "cuCtxPushCurrent_v2", cu::Context)                                                   \
  X(ctxPop, "cuCtxPopCurrent_v2", cu::Context *)                                                   \
  X(ctxSynchronize, "cuCtxSynchronize", )                                                          \
  X(libraryLoad, "cuLibraryLoadData", cu::Library *, const void *, int *, void **, unsigned,       \
    int *, void **, unsigned)                                                                      \
  X(libraryUnload, "cuLibraryUnload", cu::Library)                                                 \
  X(libraryGetKernel, "cuLibraryGetKernel", cu::Kernel *, cu::Library, const char *)               \
  X(kernelGetFunction, "cuKernelGetFunction", cu::Function *, cu::Kernel)                          \
  X(funcSetAttribute, "cuFuncSetAttribute", cu::Function, int, int)                                \
  X(maxActiveBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor", int *, cu::Function, int,      \
    size_t)                                                                                        \
  X(launch, "cuLaunchKernelEx", const cu::LaunchConfig *, cu::Function, void **, void **)          \
  X(encodeTiled, "cuTensorMapEncodeTiled", cu::TensorMapBytes *, int, uint32_t, void *,            \
    const uint64_t *, const uint64_t *, const uint32_t *, const uint32_t *, int, int, int, int)    \
  X(memsetD8, "cuMemsetD8Async", cu::DevicePtr, unsigned char, size_t, cu::Stream)                 \
  X(memsetD16, "cuMemsetD16Async", cu::DevicePtr, unsigned short, size_t, cu::Stream)              \
  X(memsetD32, "cuMemsetD32Async", cu::DevicePtr, unsigned, size_t, cu::Stream)                    \
  X(memset2D32, "cuMemsetD2D32Async", cu::DevicePtr, size_t, unsigned, size_t, size_t, cu::Stream) \
  X(memAlloc, "cuMemAlloc_v2", cu::DevicePtr *, size_t)                                            \
  X(memFree, "cuMemFree_v2", cu::DevicePtr)                                                        \
  X(hostAlloc, "cuMemHostAlloc", void **, size_t, unsigned)                                        \
  X(hostGetDevicePointer, "cuMemHostGetDevicePointer_v2", cu::DevicePtr *, void *, unsigned)       \
  X(hostFree, "cuMemFreeHost", void *)                                                             \
  X(copyToDevice, "cuMemcpyHtoD_v2", cu::DevicePtr, const void *, size_t)                          \
  X(copyToHost, "cuMemcpyDtoH_v2", void *, cu::DevicePtr, size_t)                                  \
  X(copyToDeviceAsync, "cuMemcpyHtoDAsync_v2", cu::DevicePtr, const void *, size_t, cu::Stream)    \
  X(copyToHostAsync, "cuMemcpyDtoHAsync_v2", void *, cu::DevicePtr, size_t, cu::Stream)            \
  X(copyOnDevice, "cuMemcpyDtoDAsync_v2", cu::DevicePtr, cu::DevicePtr, size_t, cu::Stream)        \
  X(streamCreate, "cuStreamCreate", cu::Stream *, unsigned)                                        \
  X(streamSynchronize, "cuStreamSynchronize", cu::Stream)                                          \
  X(streamDestroy, "cuStreamDestroy_v2", cu::Stream)                                               \
  X(eventCreate, "cuEventCreate", cu::Event *, unsigned)                                           \
  X(eventRecord, "cuEventRecord", cu::Event, cu::Stream)                                           \
  X(eventSynchronize, "cuEventSynchronize", cu::Event)                                             \
  X(eventElapsed, "cuEventElapsedTime", float *, cu::Event, cu::Event)                             \
  X(eventDestroy, "cuEventDestroy_v2", cu::Event)

/// The opened library. Lives as long as the process: drivers do not like being unloaded.
struct Driver {
#define TILE_RT_MEMBER(member, symbol, ...) cu::Result (*member)(__VA_ARGS__) = nullptr;
  TILE_RT_DRIVER_FUNCTIONS(TILE_RT_MEMBER)
#undef TILE_RT_MEMBER
  /// Of the emulator alone, which wants modules as PTX: the version of what it shares with the runtime.
  cu::Result (*emulated)() = nullptr;

  /// Opens and initialises the library that driverLibrary() names. Throws TILE_ERROR_NO_DRIVER.
  static std::shared_ptr<const Driver> open();

  /// Throws TILE_ERROR_DRIVER with the driver's own words unless `result` is 0.
  void check(cu::Result result, const std::string &what) const;
};

/// Makes a context current while it lives, and restores what was.
class CurrentContext {
public:
  CurrentContext(const Driver &driver, cu::Context context);
  ~CurrentContext();
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

private:
  const Driver &driver;
  bool pushed = false;
};

} // namespace tile_rt
