// A CUDA driver for tests: a library with the functions that the runtime opens. "Device memory" is
// host memory; launches run nothing but write a line to the log file named by FAKE_DRIVER_LOG, with
// the bytes of their parameters. What is timed takes half a millisecond, or FAKE_DRIVER_TIMES microseconds for each
// block of the last launch; CUDA's version is FAKE_DRIVER_VERSION; there are FAKE_DRIVER_DEVICES devices, or one, of capability FAKE_DRIVER_CAPABILITY; a launch of FAKE_DRIVER_HANGS blocks does not return.
// With FAKE_DRIVER_ZEROS memory that holds nothing but what it was poisoned with holds zeros after a launch, or with
// 48/96 zeros in the first 48 of each 96 bytes.
#include "runtime/include/tile/pack_format.h"
#include "runtime/src/Driver.h"
#include "runtime/support/TensorMapArguments.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#define FAKE extern "C" __attribute__((visibility("default"))) int

namespace cu = tile_rt::cu;

namespace {
void logLine(const std::string &line) {
  if (const char *path = std::getenv("FAKE_DRIVER_LOG")) {
    if (FILE *file = std::fopen(path, "a")) {
      std::fputs((line + "\n").c_str(), file);
      std::fclose(file);
    }
  }
}

std::string hex(const void *data, size_t bytes) {
  std::string text;
  char buffer[3];
  for (size_t i = 0; i < bytes; ++i) {
    std::snprintf(buffer, sizeof(buffer), "%02x", static_cast<const unsigned char *>(data)[i]);
    text += buffer;
  }
  return text;
}

std::atomic<unsigned> lastGrid = 0;

/// What is allocated, with its bytes, for FAKE_DRIVER_ZEROS.
std::map<uint64_t, size_t> allocated;

void zeroPoisoned(const char *pattern) {
  char *rest = nullptr;
  const size_t width = std::strtoul(pattern, &rest, 10);
  const size_t period = *rest ? std::strtoul(rest + 1, nullptr, 10) : width;
  constexpr size_t kGuardBytes = 4096; // before and after what tile-run allocates
  for (const auto &[address, bytes] : allocated) {
    auto *memory = reinterpret_cast<unsigned char *>(address) + kGuardBytes;
    const size_t inner = bytes > 2 * kGuardBytes ? bytes - 2 * kGuardBytes : 0;
    if (std::all_of(memory, memory + inner, [](unsigned char byte) { return byte == 0xff; })) {
      for (size_t i = 0; i < inner; i += period) {
        std::memset(memory + i, 0, std::min(width, inner - i));
      }
    }
  }
}

/// A stream is being captured: what would wait or allocate is refused.
std::atomic<bool> capturing = false;
constexpr int kCaptureUnsupported = 900;

// What handles point to; nobody looks inside.
int fakeLibrary, fakeContext, fakeStream, fakeEvent, fakeGraph;
template <class Handle>
Handle handleOf(const void *object) {
  return reinterpret_cast<Handle>(const_cast<void *>(object));
}

/// The handle of a kernel, and of its function, is the address of its name. As all of the driver it may be called from
/// several threads.
const std::string *functionNamed(const char *name) {
  static std::mutex mutex;
  static std::set<std::string> names;
  std::lock_guard<std::mutex> lock(mutex);
  return &*names.insert(name).first;
}
} // namespace

FAKE cuInit(unsigned) {
  if (const char *visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    logLine(std::string("visible ") + visible);
  }
  return 0;
}
FAKE cuDriverGetVersion(int *version) {
  const char *given = std::getenv("FAKE_DRIVER_VERSION");
  *version = given ? static_cast<int>(std::strtol(given, nullptr, 10)) : 12080;
  return 0;
}
FAKE cuGetErrorName(int, const char **text) {
  *text = "CUDA_ERROR_FAKE";
  return 0;
}
FAKE cuGetErrorString(int, const char **text) {
  *text = "an error of the fake driver";
  return 0;
}
FAKE cuDeviceGetCount(int *count) {
  const char *devices = std::getenv("FAKE_DRIVER_DEVICES");
  *count = devices ? static_cast<int>(std::strtol(devices, nullptr, 10)) : 1;
  return 0;
}
FAKE cuDeviceGet(int *device, int) {
  *device = 0;
  return 0;
}
FAKE cuDeviceGetName(char *name, int size, int) {
  std::snprintf(name, static_cast<size_t>(size), "fake");
  return 0;
}
FAKE cuDeviceGetPCIBusId(char *name, int size, int) {
  std::snprintf(name, static_cast<size_t>(size), "0000:19:00.0");
  return 0;
}
FAKE cuDeviceGetAttribute(int *value, int which, int) {
  const char *capability = std::getenv("FAKE_DRIVER_CAPABILITY"); // 90 if it is not set
  const int both = capability ? static_cast<int>(std::strtol(capability, nullptr, 10)) : 90;
  *value = which == 75    ? both / 10
           : which == 76  ? both % 10
           : which == 16  ? 132
           : which == 81  ? 233472
           : which == 97  ? 232448
           : which == 111 ? 1024
                          : 50 << 20;
  return 0;
}
FAKE cuDevicePrimaryCtxRetain(cu::Context *context, int) {
  *context = handleOf<cu::Context>(&fakeContext);
  return 0;
}
FAKE cuDevicePrimaryCtxRelease_v2(int) { return 0; }
FAKE cuCtxGetCurrent(cu::Context *context) {
  *context = nullptr;
  return 0;
}
FAKE cuCtxPushCurrent_v2(cu::Context) { return 0; }
FAKE cuCtxPopCurrent_v2(cu::Context *) { return 0; }
FAKE cuCtxSynchronize() { return 0; }
FAKE cuLibraryLoadData(cu::Library *library, const void *image, int *, void **, unsigned, int *,
                       void **, unsigned) {
  if (capturing) {
    return kCaptureUnsupported;
  }
  logLine(std::string("load ") + static_cast<const char *>(image));
  *library = handleOf<cu::Library>(&fakeLibrary);
  return std::strcmp(static_cast<const char *>(image), "broken") == 0 ? 200 : 0;
}
FAKE cuLibraryUnload(cu::Library) {
  logLine("unload");
  return 0;
}
FAKE cuLibraryGetKernel(cu::Kernel *kernel, cu::Library, const char *name) {
  *kernel = handleOf<cu::Kernel>(functionNamed(name));
  return std::strcmp(name, "missing") == 0 ? 500 : 0;
}
FAKE cuKernelGetFunction(cu::Function *function, cu::Kernel kernel) {
  *function = reinterpret_cast<cu::Function>(kernel);
  return 0;
}
FAKE cuFuncSetAttribute(cu::Function, int which, int value) {
  logLine("attribute " + std::to_string(which) + " " + std::to_string(value));
  return 0;
}
/// As many blocks as shared memory has room for, four at most.
FAKE cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, cu::Function, int, size_t shared) {
  *blocks = static_cast<int>(std::min<size_t>(4, 233472 / (shared + 1024)));
  return 0;
}
/// A message of the print 1 with the values 7 and [1.5, -2], unless the ring is full.
static void printMessage(tile_print_buffer &buffer, uint32_t base) {
  constexpr uint64_t kBytes = 24;
  std::atomic_ref<uint64_t> reserved(buffer.reserved);
  uint64_t at = reserved.load();
  do {
    uint64_t read = std::atomic_ref(buffer.consumed).load(std::memory_order_acquire);
    if (static_cast<int64_t>(at - read) > static_cast<int64_t>(TILE_PRINT_RING_BYTES - kBytes)) {
      std::atomic_ref(buffer.lost).fetch_add(1);
      return;
    }
  } while (!reserved.compare_exchange_weak(at, at + kBytes));
  auto word = [&](uint64_t offset) -> uint64_t & {
    return buffer.ring[(at + offset) / 8 % (TILE_PRINT_RING_BYTES / 8)];
  };
  word(8) = 7;
  word(16) = 0xc00000003fc00000; // of f32, two
  std::atomic_ref(word(0)).store(uint64_t{base + 1} << 32 | kBytes, std::memory_order_release);
}

FAKE cuLaunchKernelEx(const cu::LaunchConfig *config, cu::Function function, void **params,
                      void **) {
  const std::string &entryName = *reinterpret_cast<const std::string *>(function);
  std::string line = "launch " + entryName + " grid";
  for (unsigned v : {config->gridX, config->gridY, config->gridZ}) {
    line += " " + std::to_string(v);
  }
  line += " block";
  for (unsigned v : {config->blockX, config->blockY, config->blockZ}) {
    line += " " + std::to_string(v);
  }
  line += " shared " + std::to_string(config->sharedBytes);
  for (unsigned i = 0; i < config->numAttributes; ++i) {
    line += " attribute " + std::to_string(config->attributes[i].id) + " " +
            std::to_string(config->attributes[i].value[0]);
  }
  // How many parameters there are is not told: tests say it in the entry's name, "name_3".
  size_t mark = entryName.rfind('_');
  int count = 0;
  if (mark != std::string::npos) {
    std::from_chars(entryName.data() + mark + 1, entryName.data() + entryName.size(), count);
  }
  for (int i = 0; i < count; ++i) {
    line += " " + hex(params[i], 8);
  }
  logLine(line);
  lastGrid = config->gridX;
  if (const char *pattern = std::getenv("FAKE_DRIVER_ZEROS")) {
    zeroPoisoned(pattern);
  }
  if (const char *hangs = std::getenv("FAKE_DRIVER_HANGS");
      hangs && std::to_string(lastGrid) == hangs) {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }
  // A kernel "fails_N" has a record of failed checks and a base as its last parameters, and fails
  // at place 1 with the values 7 and -1.5.
  if (entryName.rfind("fails_", 0) == 0) {
    uint64_t address;
    uint32_t base;
    std::memcpy(&address, params[count - 2], sizeof(address));
    std::memcpy(&base, params[count - 1], sizeof(base));
    auto *record = reinterpret_cast<tile_failure_record *>(address);
    uint32_t unclaimed = 0;
    if (std::atomic_ref(record->claimed).compare_exchange_strong(unclaimed, 1)) {
      record->place = base + 1;
      record->block = 3;
      record->thread = 40;
      record->values[0] = 7;
      record->values[1] = 0xbfc00000; // of f32
      std::atomic_ref(record->complete).store(1, std::memory_order_release);
    }
  }
  // One "prints_N" has the buffer of messages and a base there, and prints once, "flood_N" often.
  const int messages = entryName.rfind("prints_", 0) == 0  ? 1
                       : entryName.rfind("flood_", 0) == 0 ? 50'000
                                                           : 0;
  for (int i = 0; i < messages; ++i) {
    uint64_t address;
    uint32_t base;
    std::memcpy(&address, params[count - 2], sizeof(address));
    std::memcpy(&base, params[count - 1], sizeof(base));
    printMessage(*reinterpret_cast<tile_print_buffer *>(address), base);
  }
  return 0;
}
FAKE cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  if (capturing) {
    return kCaptureUnsupported;
  }
  logLine("host " + std::to_string(bytes) + " flags " + std::to_string(flags));
  *memory = std::malloc(bytes);
  return *memory ? 0 : 2;
}
FAKE cuMemHostGetDevicePointer_v2(uint64_t *address, void *memory, unsigned) {
  *address = reinterpret_cast<uint64_t>(memory);
  return 0;
}
FAKE cuMemFreeHost(void *memory) {
  logLine("free host");
  std::free(memory);
  return 0;
}
FAKE cuTensorMapEncodeTiled(cu::TensorMapBytes *map, int type, uint32_t rank, void *base,
                            const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                            const uint32_t *elementStrides, int interleave, int swizzle,
                            int promotion, int fill) {
  const uint64_t address = reinterpret_cast<uint64_t>(base);
  tile_rt::TensorMapArguments arguments{.dataType = type,
                                        .rank = rank,
                                        .address = address,
                                        .dims = dims,
                                        .strides = strides,
                                        .box = box,
                                        .elementStrides = elementStrides,
                                        .interleave = interleave,
                                        .swizzle = swizzle,
                                        .l2Promotion = promotion,
                                        .fill = fill};
  if (!tile_rt::whyRefused(arguments).empty() || reinterpret_cast<uintptr_t>(map) % 64 != 0) {
    return 1; // CUDA_ERROR_INVALID_VALUE
  }
  std::string line = "map type " + std::to_string(type) + " dims";
  for (uint32_t i = 0; i < rank; ++i) {
    line += " " + std::to_string(dims[i]);
  }
  line += " strides";
  for (uint32_t i = 0; i + 1 < rank; ++i) {
    line += " " + std::to_string(strides[i]);
  }
  line += " box";
  for (uint32_t i = 0; i < rank; ++i) {
    line += " " + std::to_string(box[i]);
  }
  logLine(line + " modes " + std::to_string(interleave) + std::to_string(swizzle) +
          std::to_string(promotion) + std::to_string(fill));
  std::memcpy(map, &address, sizeof(address));
  return 0;
}
FAKE cuMemsetD8Async(uint64_t address, unsigned char value, size_t count, cu::Stream) {
  logLine("memset8 " + std::to_string(value) + " x " + std::to_string(count));
  std::memset(reinterpret_cast<void *>(address), value, count);
  return 0;
}
FAKE cuMemsetD16Async(uint64_t address, unsigned short value, size_t count, cu::Stream) {
  logLine("memset16 " + std::to_string(value) + " x " + std::to_string(count));
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(reinterpret_cast<char *>(address) + 2 * i, &value, 2);
  }
  return 0;
}
FAKE cuMemsetD32Async(uint64_t address, unsigned value, size_t count, cu::Stream) {
  logLine("memset32 " + std::to_string(value) + " x " + std::to_string(count));
  constexpr size_t kMost = size_t{16} << 20; // of what L2 is flushed with not all is written
  std::fill_n(reinterpret_cast<unsigned *>(address), count > kMost ? 1 : count, value);
  return 0;
}
FAKE cuMemsetD2D32Async(uint64_t address, size_t pitch, unsigned value, size_t width, size_t height,
                        cu::Stream) {
  for (size_t row = 0; row < height; ++row) {
    for (size_t i = 0; i < width; ++i) {
      std::memcpy(reinterpret_cast<char *>(address) + row * pitch + 4 * i, &value, 4);
    }
  }
  return 0;
}
FAKE cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  if (capturing) {
    return kCaptureUnsupported;
  }
  *address = reinterpret_cast<uint64_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  if (std::getenv("FAKE_DRIVER_ZEROS")) {
    allocated[*address] = bytes;
  }
  return *address ? 0 : 2;
}
FAKE cuMemFree_v2(uint64_t address) {
  allocated.erase(address);
  std::free(reinterpret_cast<void *>(address));
  return 0;
}
FAKE cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
FAKE cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return 0;
}
FAKE cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, cu::Stream) {
  return cuMemcpyHtoD_v2(to, from, bytes);
}
FAKE cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, cu::Stream) {
  return cuMemcpyDtoH_v2(to, from, bytes);
}
FAKE cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, cu::Stream) {
  std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  return 0;
}
FAKE cuStreamCreate(cu::Stream *stream, unsigned) {
  *stream = handleOf<cu::Stream>(&fakeStream);
  return 0;
}
FAKE cuStreamSynchronize(cu::Stream) { return capturing ? kCaptureUnsupported : 0; }
FAKE cuStreamDestroy_v2(cu::Stream) { return 0; }
FAKE cuStreamBeginCapture_v2(cu::Stream stream, int) {
  logLine("capture");
  capturing = true;
  return stream ? 0 : kCaptureUnsupported; // the default stream is never captured
}
FAKE cuStreamEndCapture(cu::Stream, void **graph) {
  logLine("captured");
  capturing = false;
  *graph = &fakeGraph;
  return 0;
}
FAKE cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
  *executable = graph;
  return 0;
}
FAKE cuGraphLaunch(void *, cu::Stream) {
  logLine("graph");
  return 0;
}
FAKE cuGraphExecDestroy(void *) { return 0; }
FAKE cuGraphDestroy(void *) { return 0; }
FAKE cuEventCreate(cu::Event *event, unsigned) {
  *event = handleOf<cu::Event>(&fakeEvent);
  return 0;
}
FAKE cuEventRecord(cu::Event, cu::Stream) { return 0; }
FAKE cuEventSynchronize(cu::Event) { return 0; }
FAKE cuEventElapsedTime(float *milliseconds, cu::Event, cu::Event) {
  const char *each = std::getenv("FAKE_DRIVER_TIMES");
  *milliseconds = each ? std::strtof(each, nullptr) * 1e-3f * static_cast<float>(lastGrid) : 0.5f;
  return 0;
}
/// For the other fake libraries: what was launched last took as long as so many blocks.
extern "C" __attribute__((visibility("default"))) void fakeDriverTook(int blocks) {
  lastGrid = static_cast<unsigned>(blocks);
}
FAKE cuEventDestroy_v2(cu::Event) { return 0; }
