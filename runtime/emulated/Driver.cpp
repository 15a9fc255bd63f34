// The functions of the CUDA driver that the runtime opens, on emulated devices. TILE_DEVICE says which there are: `emu` is one
// sm_90a, `emu:sm_80,sm_90a` are two.
#include "../emulator/async/TensorMap.h"
#include "Device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#define DRIVER extern "C" __attribute__((visibility("default"))) int

using namespace tile_emulated;

namespace {
/// Why the last call of this thread failed.
thread_local Failure last{kSuccess, {}};
/// Contexts that are current, the last one on top.
thread_local std::vector<Device *> current;

template <class Call>
int answer(Call &&call) {
  try {
    call();
    return kSuccess;
  } catch (const Failure &failure) {
    last = failure;
  } catch (const std::bad_alloc &) {
    last = {kOutOfMemory, "out of memory"};
  } catch (const std::exception &error) {
    last = {kLaunchFailed, std::string("in the emulator: ") + error.what()};
  }
  return last.result;
}

struct Devices {
  std::vector<std::unique_ptr<Device>> all;
  std::string wrong; ///< what of TILE_DEVICE is none
};

Devices makeDevices() {
  const char *given = std::getenv("TILE_DEVICE");
  const std::string text = given ? given : "";
  const size_t colon = text.find(':');
  std::string list = colon == std::string::npos ? "sm_90a" : text.substr(colon + 1);
  Devices devices;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    const std::string arch = list.substr(at, comma - at);
    std::optional<tile_emu::Capability> capability = tile_emu::capabilityOf(arch);
    if (!capability) {
      devices.wrong = arch;
      return devices;
    }
    devices.all.push_back(std::make_unique<Device>(arch, *capability));
    at = comma + 1;
  }
  return devices;
}

/// Never destroyed: objects that outlive `main` may still give back what they have.
const Devices &devices() {
  static const Devices *const made = new Devices(makeDevices());
  return *made;
}

Device &deviceOf(cu::Device ordinal) {
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= devices().all.size()) {
    throw Failure{kInvalidDevice, "there is no such device"};
  }
  return *devices().all[static_cast<size_t>(ordinal)];
}

Device &currentDevice() {
  if (current.empty() || !current.back()) {
    throw Failure{kInvalidContext, "no context is current"};
  }
  return *current.back();
}

const char *nameOf(int result) {
  switch (result) {
  case kSuccess:
    return "CUDA_SUCCESS";
  case kInvalidValue:
    return "CUDA_ERROR_INVALID_VALUE";
  case kOutOfMemory:
    return "CUDA_ERROR_OUT_OF_MEMORY";
  case kNoDevice:
    return "CUDA_ERROR_NO_DEVICE";
  case kInvalidDevice:
    return "CUDA_ERROR_INVALID_DEVICE";
  case kInvalidImage:
    return "CUDA_ERROR_INVALID_IMAGE";
  case kInvalidContext:
    return "CUDA_ERROR_INVALID_CONTEXT";
  case kInvalidPtx:
    return "CUDA_ERROR_INVALID_PTX";
  case kInvalidHandle:
    return "CUDA_ERROR_INVALID_HANDLE";
  case kNotFound:
    return "CUDA_ERROR_NOT_FOUND";
  case kLaunchFailed:
    return "CUDA_ERROR_LAUNCH_FAILED";
  case kNotSupported:
    return "CUDA_ERROR_NOT_SUPPORTED";
  default:
    return "CUDA_ERROR_UNKNOWN";
  }
}

void noEvents() {
  throw Failure{kNotSupported, "the emulator knows nothing of time: it has no events"};
}
} // namespace

/// The runtime asks for this, and then gives modules as PTX. Raised when the two no longer fit.
DRIVER tileEmulatedDriver() { return 2; }

DRIVER cuInit(unsigned) {
  return answer([] {
    if (!devices().wrong.empty()) {
      throw Failure{kNoDevice,
                    "the emulator has no device for `" + devices().wrong +
                        "` of TILE_DEVICE: give emu:sm_80, emu:sm_90a or another of compute "
                        "capability 8.0 to 12.0"};
    }
  });
}
DRIVER cuDriverGetVersion(int *version) {
  *version = 13000;
  return kSuccess;
}
DRIVER cuGetErrorName(int result, const char **text) {
  *text = nameOf(result);
  return kSuccess;
}
DRIVER cuGetErrorString(int result, const char **text) {
  *text = result == last.result && !last.why.empty() ? last.why.c_str() : nameOf(result);
  return kSuccess;
}

DRIVER cuDeviceGetCount(int *count) {
  *count = static_cast<int>(devices().all.size());
  return kSuccess;
}
DRIVER cuDeviceGet(cu::Device *device, int ordinal) {
  return answer([&] {
    deviceOf(ordinal);
    *device = ordinal;
  });
}
DRIVER cuDeviceGetName(char *name, int size, cu::Device device) {
  return answer([&] {
    std::snprintf(name, static_cast<size_t>(size), "%s", deviceOf(device).name().c_str());
  });
}
DRIVER cuDeviceGetPCIBusId(char *name, int size, cu::Device device) {
  return answer([&] {
    deviceOf(device);
    std::snprintf(name, static_cast<size_t>(size), "0000:%02x:00.0", static_cast<unsigned>(device));
  });
}
DRIVER cuDeviceGetAttribute(int *value, int which, cu::Device device) {
  return answer([&] { *value = deviceOf(device).attribute(which); });
}

DRIVER cuDevicePrimaryCtxRetain(cu::Context *context, cu::Device device) {
  return answer([&] {
    deviceOf(device).retain();
    *context = reinterpret_cast<cu::Context>(&deviceOf(device));
  });
}
DRIVER cuDevicePrimaryCtxRelease_v2(cu::Device device) {
  return answer([&] { deviceOf(device).release(); });
}
DRIVER cuCtxGetCurrent(cu::Context *context) {
  *context = reinterpret_cast<cu::Context>(current.empty() ? nullptr : current.back());
  return kSuccess;
}
DRIVER cuCtxPushCurrent_v2(cu::Context context) {
  return answer([&] { current.push_back(reinterpret_cast<Device *>(context)); });
}
DRIVER cuCtxPopCurrent_v2(cu::Context *context) {
  return answer([&] {
    *context = reinterpret_cast<cu::Context>(&currentDevice());
    current.pop_back();
  });
}
DRIVER cuCtxSynchronize() {
  return answer([] { currentDevice().check(); });
}

DRIVER cuLibraryLoadData(cu::Library *library, const void *code, int *, void **, unsigned, int *,
                         void **, unsigned) {
  return answer([&] {
    *library = reinterpret_cast<cu::Library>(new Library(static_cast<const char *>(code)));
  });
}
DRIVER cuLibraryUnload(cu::Library handle) {
  return answer([&] {
    const std::unique_ptr<Library> library(reinterpret_cast<Library *>(handle));
    for (const std::unique_ptr<Device> &device : devices().all) {
      device->unload(*library);
    }
  });
}
DRIVER cuLibraryGetKernel(cu::Kernel *kernel, cu::Library library, const char *name) {
  return answer([&] {
    *kernel = reinterpret_cast<cu::Kernel>(&reinterpret_cast<Library *>(library)->kernel(name));
  });
}
DRIVER cuKernelGetFunction(cu::Function *function, cu::Kernel kernel) {
  return answer(
      [&] { *function = currentDevice().function(*reinterpret_cast<const Kernel *>(kernel)); });
}
DRIVER cuFuncSetAttribute(cu::Function function, int which, int value) {
  return answer([&] { currentDevice().setAttribute(function, which, value); });
}
DRIVER cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, cu::Function, int threads,
                                                   size_t sharedBytes) {
  return answer([&] { *blocks = currentDevice().maxActiveBlocks(threads, sharedBytes); });
}
DRIVER cuLaunchKernelEx(const cu::LaunchConfig *config, cu::Function function, void **params,
                        void **) {
  return answer([&] { currentDevice().launch(*config, function, params); });
}
DRIVER cuTensorMapEncodeTiled(cu::TensorMapBytes *map, int type, uint32_t rank, void *base,
                              const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                              const uint32_t *elementStrides, int interleave, int swizzle,
                              int promotion, int fill) {
  return answer([&] {
    try {
      std::array<uint8_t, 128> bytes =
          tile_emu::encodeTensorMap({.dataType = type,
                                     .rank = rank,
                                     .address = reinterpret_cast<uint64_t>(base),
                                     .dims = dims,
                                     .strides = strides,
                                     .box = box,
                                     .elementStrides = elementStrides,
                                     .interleave = interleave,
                                     .swizzle = swizzle,
                                     .l2Promotion = promotion,
                                     .fill = fill});
      static_assert(sizeof(bytes) == sizeof(*map));
      std::memcpy(map, bytes.data(), bytes.size());
    } catch (const tile_emu::Fault &fault) {
      throw Failure{kInvalidValue, fault.what()};
    }
  });
}

DRIVER cuMemAlloc_v2(cu::DevicePtr *address, size_t bytes) {
  return answer([&] { *address = currentDevice().allocate(bytes); });
}
DRIVER cuMemFree_v2(cu::DevicePtr address) {
  return answer([&] { currentDevice().free(address); });
}
DRIVER cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  return answer([&] { *memory = currentDevice().allocateHost(bytes); });
}
DRIVER cuMemHostGetDevicePointer_v2(cu::DevicePtr *address, void *memory, unsigned) {
  return answer([&] { *address = currentDevice().addressOf(memory); });
}
DRIVER cuMemFreeHost(void *memory) {
  return answer([&] { currentDevice().freeHost(memory); });
}
DRIVER cuMemcpyHtoD_v2(cu::DevicePtr to, const void *from, size_t bytes) {
  return answer([&] { currentDevice().write(to, from, bytes); });
}
DRIVER cuMemcpyDtoH_v2(void *to, cu::DevicePtr from, size_t bytes) {
  return answer([&] { currentDevice().read(to, from, bytes); });
}
DRIVER cuMemcpyHtoDAsync_v2(cu::DevicePtr to, const void *from, size_t bytes, cu::Stream) {
  return answer([&] { currentDevice().write(to, from, bytes); });
}
DRIVER cuMemcpyDtoHAsync_v2(void *to, cu::DevicePtr from, size_t bytes, cu::Stream) {
  return answer([&] { currentDevice().read(to, from, bytes); });
}
DRIVER cuMemcpyDtoDAsync_v2(cu::DevicePtr to, cu::DevicePtr from, size_t bytes, cu::Stream) {
  return answer([&] { currentDevice().copy(to, from, bytes); });
}
DRIVER cuMemsetD8Async(cu::DevicePtr to, unsigned char value, size_t count, cu::Stream) {
  return answer([&] { currentDevice().fill(to, value, 1, count); });
}
DRIVER cuMemsetD16Async(cu::DevicePtr to, unsigned short value, size_t count, cu::Stream) {
  return answer([&] { currentDevice().fill(to, value, 2, count); });
}
DRIVER cuMemsetD32Async(cu::DevicePtr to, unsigned value, size_t count, cu::Stream) {
  return answer([&] { currentDevice().fill(to, value, 4, count); });
}
DRIVER cuMemsetD2D32Async(cu::DevicePtr to, size_t pitch, unsigned value, size_t width,
                          size_t height, cu::Stream) {
  return answer([&] { currentDevice().fill(to, value, 4, width, height, pitch); });
}

DRIVER cuStreamCreate(cu::Stream *stream, unsigned) {
  return answer([&] {
    static int streams;
    currentDevice().check();
    *stream = reinterpret_cast<cu::Stream>(&streams); // all are one
  });
}
DRIVER cuStreamSynchronize(cu::Stream) { return cuCtxSynchronize(); }
DRIVER cuStreamDestroy_v2(cu::Stream) { return kSuccess; }
DRIVER cuEventCreate(cu::Event *, unsigned) { return answer(noEvents); }
DRIVER cuEventRecord(cu::Event, cu::Stream) { return answer(noEvents); }
DRIVER cuEventSynchronize(cu::Event) { return answer(noEvents); }
DRIVER cuEventElapsedTime(float *, cu::Event, cu::Event) { return answer(noEvents); }
DRIVER cuEventDestroy_v2(cu::Event) { return answer(noEvents); }
