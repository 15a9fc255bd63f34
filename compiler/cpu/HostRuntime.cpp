//===- HostRuntime.cpp ---------------------------------------------------===//
#include "compiler/cpu/HostRuntime.h"

#include "compiler/cpu/HostFibers.h"
#include "compiler/cpu/HostPrint.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace tilec::cpu {

HostRun::HostRun() = default;
HostRun::~HostRun() = default;

void *Arena::allocate(size_t size) {
  size = (size + 63) & ~size_t(63);
  while (current < chunks.size() && used + size > chunks[current].size) {
    ++current;
    used = 0;
  }
  if (current == chunks.size()) {
    size_t chunkSize = std::max<size_t>(size, chunks.empty() ? 64 * 1024 : 2 * chunks.back().size);
    chunks.push_back({std::unique_ptr<char[]>(new char[chunkSize + 64]), chunkSize});
  }
  uintptr_t base = reinterpret_cast<uintptr_t>(chunks[current].memory.get());
  char *place = chunks[current].memory.get() + ((64 - base % 64) % 64) + used;
  used += size;
  return place;
}

void Arena::release(int64_t mark) {
  current = (size_t)(mark >> 40);
  used = (size_t)(mark & ((int64_t(1) << 40) - 1));
}

void leaveProgram(HostRun &run) { longjmp(run.stop, 1); }

void stopProgram(HostThread *thread) {
  HostRun &run = *thread->run;
  if (run.fibers && run.fibers->inThread()) {
    run.fibers->abandon();
  }
  leaveProgram(run);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static int64_t readIndex(const ViewDim &dim, int64_t i) {
  const char *place =
      static_cast<const char *>(dim.indices) + (dim.indexStart + i) * dim.indexBytes;
  if (dim.indexBytes == 8) {
    int64_t value;
    std::memcpy(&value, place, 8);
    return value;
  }
  int32_t value;
  std::memcpy(&value, place, 4);
  return value;
}

char *elementAddress(const HostView &view, const int64_t *index, bool *high) {
  int64_t offset = view.offset;
  bool inside = view.valid != 0;
  for (int64_t d = 0; d < view.rank && inside; ++d) {
    const ViewDim &dim = view.dims[d];
    int64_t i = index[d];
    inside = dim.lo <= i && i < dim.hi;
    if (inside && dim.indices) {
      i = readIndex(dim, i);
      inside = dim.indexLo <= i && i < dim.indexHi;
    }
    offset += i * dim.stride;
  }
  if (!inside) {
    return nullptr;
  }
  unsigned bits = dtypeBits((DType)view.num);
  if (bits == 4 && view.packed) {
    *high = offset & 1;
    return view.base + offset / 2;
  }
  *high = false;
  return view.base + offset * (bits == 4 ? 1 : bits / 8);
}

uint64_t loadBits(const HostView &view, const char *address, bool high) {
  switch (dtypeBits((DType)view.num)) {
  case 4:
    return view.packed ? ((uint8_t)*address >> (high ? 4 : 0)) & 15 : (uint8_t)*address;
  case 8:
    return (DType)view.num == DType::Bool ? *address != 0 : (uint8_t)*address;
  case 16: {
    uint16_t bits;
    std::memcpy(&bits, address, 2);
    return bits;
  }
  case 32: {
    uint32_t bits;
    std::memcpy(&bits, address, 4);
    return bits;
  }
  default: {
    uint64_t bits;
    std::memcpy(&bits, address, 8);
    return bits;
  }
  }
}

void storeBits(const HostView &view, char *address, bool high, uint64_t bits) {
  unsigned width = dtypeBits((DType)view.num);
  if (width == 4 && view.packed) {
    unsigned shift = high ? 4 : 0;
    *address = (char)(((uint8_t)*address & ~(15u << shift)) | ((bits & 15) << shift));
    return;
  }
  std::memcpy(address, &bits, width == 4 ? 1 : width / 8);
}

//===----------------------------------------------------------------------===//
// Functions of generated code
//===----------------------------------------------------------------------===//
namespace {

void *allocate(HostThread *thread, int64_t bytes) { return thread->arena.allocate(bytes); }

/// Memory with undefined contents: the same pattern in every run.
void *allocateBuffer(HostThread *thread, int64_t bytes, int64_t fill) {
  void *memory = thread->arena.allocate(bytes);
  std::memset(memory, (int)fill, bytes);
  return memory;
}

/// Global memory of `count` elements of `bits` each, for one call of the kernel.
void *allocateWorkspace(HostThread *thread, int64_t count, int64_t bits, int64_t fill,
                        const char *where) {
  int64_t bytes;
  if (count < 0 || __builtin_mul_overflow(count, bits, &bytes) ||
      bytes / 8 > thread->run->memoryLimit) {
    // The place of the declaration says nothing here: it is the call that asks for too much.
    auto wanted = std::min<__int128>((__int128(count) * bits + 7) / 8, INT64_MAX);
    thread->run->error = "the call needs a workspace of " + std::to_string(int64_t(wanted)) +
                         " bytes, more than there is here";
    stopProgram(thread);
  }
  bytes = (bytes + 7) / 8;
  auto room = size_t(bytes) + 256;
  void *memory = thread->run->workspaces.allocate(int64_t(room));
  std::align(256, size_t(bytes), memory, room);
  std::memset(memory, (int)fill, bytes);
  return memory;
}

int64_t markArena(HostThread *thread) { return thread->arena.mark(); }
void releaseArena(HostThread *thread, int64_t mark) { thread->arena.release(mark); }

[[noreturn]] void trap(HostThread *thread, const char *message) {
  thread->run->error = message;
  stopProgram(thread);
}

[[noreturn]] void trapIndex(HostThread *thread, const char *where, const char *name, int64_t dim,
                            int64_t index, int64_t extent) {
  thread->run->error = std::string(where) + "index " + std::to_string(index) + " of `" + name +
                       "` is out of range: dimension " + std::to_string(dim) + " has extent " +
                       std::to_string(extent) + " [out-of-range]";
  stopProgram(thread);
}

[[noreturn]] void trapAssert(HostThread *thread, const char *where, const char *format,
                             const HostView *values, int64_t count, int64_t unsignedMask) {
  thread->run->error = std::string(where) + "assertion failed" + (*format ? ": " : "") +
                       formatValues(format, values, count, unsignedMask) + " [assert]";
  stopProgram(thread);
}

void print(HostThread *thread, const char *format, const HostView *values, int64_t count,
           int64_t unsignedMask) {
  *thread->run->out << formatValues(format, values, count, unsignedMask) << '\n';
}

/// Number of points of a grid.
int64_t countGrid(HostThread *thread, const int64_t *extents, int64_t rank, const char *where) {
  int64_t points = 1;
  for (int64_t d = 0; d < rank; ++d) {
    if (extents[d] <= 0) {
      return 0;
    }
  }
  for (int64_t d = 0; d < rank; ++d) {
    if (__builtin_mul_overflow(points, extents[d], &points) || points >= int64_t(1) << 31) {
      thread->run->error = std::string(where) + "the grid has 2^31 points or more [grid-too-large]";
      stopProgram(thread);
    }
  }
  return points;
}

/// Whether each index of the dimension is in range, and neighbours are neighbours in memory.
bool isPlain(const HostView &view, const ViewDim &dim) {
  return !dim.indices && dim.stride == 1 && dim.lo <= 0 && dim.hi >= dim.size &&
         dtypeBits((DType)view.num) >= 8;
}

void copyElement(const HostView &source, const HostView &dest, const int64_t *index,
                 int64_t flags) {
  bool high;
  char *to = elementAddress(dest, index, &high);
  if (!to) {
    return;
  }
  bool fromHigh;
  const char *from = elementAddress(source, index, &fromHigh);
  uint64_t bits = from ? loadBits(source, from, fromHigh) : 0;
  if (source.num != dest.num) {
    bits = tile_rt::convertBits(signedAs((DType)source.num, flags & 1),
                                signedAs((DType)dest.num, flags & 2), bits);
  }
  storeBits(dest, to, high, bits);
}

/// Moves the part of a region that begins with the first `axis` indices.
void copyFrom(const HostView &source, const HostView &dest, int64_t *index, int64_t axis,
              int64_t flags) {
  if (axis == dest.rank) {
    return copyElement(source, dest, index, flags);
  }
  int64_t size = dest.dims[axis].size;
  if (axis == dest.rank - 1 && source.num == dest.num && size > 0 &&
      isPlain(source, source.dims[axis]) && isPlain(dest, dest.dims[axis])) {
    bool high;
    index[axis] = 0;
    const char *from = elementAddress(source, index, &high);
    char *to = elementAddress(dest, index, &high);
    size_t bytes = size * (dtypeBits((DType)dest.num) / 8);
    if (to && from) {
      std::memcpy(to, from, bytes);
    } else if (to) {
      std::memset(to, 0, bytes);
    }
    return;
  }
  for (index[axis] = 0; index[axis] < size; ++index[axis]) {
    copyFrom(source, dest, index, axis + 1, flags);
  }
}

void copy(HostThread *thread, const HostView *source, const HostView *dest, int64_t flags,
          const char *where) {
  for (int64_t d = 0; d < dest->rank; ++d) {
    if (source->dims[d].size != dest->dims[d].size) {
      thread->run->error = std::string(where) + "the sides of the copy differ: dimension " +
                           std::to_string(d) + " has extent " +
                           std::to_string(source->dims[d].size) + " and " +
                           std::to_string(dest->dims[d].size) + " [copy-shape]";
      stopProgram(thread);
    }
  }
  int64_t index[kMaxRank];
  copyFrom(*source, *dest, index, 0, flags);
}

void runThreads(HostThread *block, ThreadBody body, void *closure, int64_t count,
                const char *where) {
  HostRun &run = *block->run;
  if (!run.fibers) {
    run.fibers = std::make_unique<FiberScheduler>();
  }
  run.fibers->run(block, body, closure, count, where);
}

void syncThreads(HostThread *thread, const char *where) {
  thread->run->fibers->syncThreads(thread, where);
}

const uint64_t *exchange(HostThread *thread, uint64_t bits, const char *where) {
  return thread->run->fibers->exchange(thread, bits, where);
}

double decodeNumber(int64_t num, uint64_t bits) { return tile_rt::decodeFloat((DType)num, bits); }
uint64_t encodeNumber(int64_t num, double value) { return tile_rt::encodeFloat((DType)num, value); }
uint64_t convertNumber(int64_t from, int64_t to, uint64_t bits) {
  return tile_rt::convertBits((DType)from, (DType)to, bits);
}

double rsqrtNumber(double x) { return 1.0 / std::sqrt(x); }

template <typename F>
HostSymbol symbol(llvm::StringRef name, F *function) {
  return {name, reinterpret_cast<void *>(function)};
}

using Unary = double(double);
using Binary = double(double, double);

} // namespace

std::vector<HostSymbol> hostSymbols() {
  return {symbol("tile_host_allocate", allocate),
          symbol("tile_host_buffer", allocateBuffer),
          symbol("tile_host_workspace", allocateWorkspace),
          symbol("tile_host_mark", markArena),
          symbol("tile_host_release", releaseArena),
          symbol("tile_host_trap", trap),
          symbol("tile_host_trap_index", trapIndex),
          symbol("tile_host_trap_assert", trapAssert),
          symbol("tile_host_print", print),
          symbol("tile_host_grid", countGrid),
          symbol("tile_host_copy", copy),
          symbol("tile_host_gemm", gemm),
          symbol("tile_host_threads", runThreads),
          symbol("tile_host_sync", syncThreads),
          symbol("tile_host_exchange", exchange),
          symbol("tile_host_decode", decodeNumber),
          symbol("tile_host_encode", encodeNumber),
          symbol("tile_host_convert", convertNumber),
          symbol("tile_host_rsqrt", rsqrtNumber),
          symbol("tile_host_exp", static_cast<Unary *>(std::exp)),
          symbol("tile_host_exp2", static_cast<Unary *>(std::exp2)),
          symbol("tile_host_expm1", static_cast<Unary *>(std::expm1)),
          symbol("tile_host_log", static_cast<Unary *>(std::log)),
          symbol("tile_host_log2", static_cast<Unary *>(std::log2)),
          symbol("tile_host_log10", static_cast<Unary *>(std::log10)),
          symbol("tile_host_log1p", static_cast<Unary *>(std::log1p)),
          symbol("tile_host_sqrt", static_cast<Unary *>(std::sqrt)),
          symbol("tile_host_sin", static_cast<Unary *>(std::sin)),
          symbol("tile_host_cos", static_cast<Unary *>(std::cos)),
          symbol("tile_host_tan", static_cast<Unary *>(std::tan)),
          symbol("tile_host_tanh", static_cast<Unary *>(std::tanh)),
          symbol("tile_host_atan", static_cast<Unary *>(std::atan)),
          symbol("tile_host_erf", static_cast<Unary *>(std::erf)),
          symbol("tile_host_floor", static_cast<Unary *>(std::floor)),
          symbol("tile_host_ceil", static_cast<Unary *>(std::ceil)),
          symbol("tile_host_trunc", static_cast<Unary *>(std::trunc)),
          symbol("tile_host_round", static_cast<Unary *>(std::round)),
          symbol("tile_host_roundeven", static_cast<Unary *>(std::nearbyint)),
          symbol("tile_host_pow", static_cast<Binary *>(std::pow)),
          symbol("tile_host_atan2", static_cast<Binary *>(std::atan2)),
          symbol("tile_host_fmod", static_cast<Binary *>(std::fmod)),
          symbol("tile_host_copysign", static_cast<Binary *>(std::copysign)),
          symbol("tile_host_fma", static_cast<double (*)(double, double, double)>(std::fma))};
}

} // namespace tilec::cpu
