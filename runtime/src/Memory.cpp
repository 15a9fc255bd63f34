// Memory of the device for programs that have no other way to it: the emulator's is reached by these alone.
#include "Device.h"
#include "Guarded.h"

using namespace tile_rt;

namespace {
cu::DevicePtr addressOf(const void *memory) { return reinterpret_cast<cu::DevicePtr>(memory); }

/// Calls `enqueue` with the driver and the stream, the context current.
template <class Enqueue>
tile_status onStream(tile_context *context, void *stream, Enqueue &&enqueue) {
  return guarded([&] {
    CurrentContext current(*context->driver, context->context);
    enqueue(*context->driver, static_cast<cu::Stream>(stream));
  });
}

void copyBytes(const Driver &driver, void *to, const void *from, size_t bytes, int32_t direction,
               cu::Stream stream) {
  switch (direction) {
  case TILE_TO_DEVICE:
    driver.check(driver.copyToDeviceAsync(addressOf(to), from, bytes, stream),
                 "copying to the device");
    break;
  case TILE_TO_HOST:
    driver.check(driver.copyToHostAsync(to, addressOf(from), bytes, stream),
                 "copying from the device");
    break;
  case TILE_ON_DEVICE:
    driver.check(driver.copyOnDevice(addressOf(to), addressOf(from), bytes, stream),
                 "copying on the device");
    return; // nothing of the host's
  default:
    throw Error(TILE_ERROR_ARGUMENT,
                "tile_memcpy: " + std::to_string(direction) + " is no tile_copy");
  }
  driver.check(driver.streamSynchronize(stream), "waiting for a copy");
}
} // namespace

tile_status tile_malloc(tile_context *context, size_t bytes, void **memory) {
  return onStream(context, nullptr, [&](const Driver &driver, cu::Stream) {
    cu::DevicePtr address = 0;
    driver.check(
        driver.memAlloc(&address, bytes ? bytes : 1), // so that every result is a place of its own
        "allocating " + std::to_string(bytes) + " bytes of device memory");
    *memory = reinterpret_cast<void *>(address);
  });
}

tile_status tile_free(tile_context *context, void *memory) {
  return onStream(context, nullptr, [&](const Driver &driver, cu::Stream) {
    if (memory) {
      driver.check(driver.memFree(addressOf(memory)), "freeing device memory");
    }
  });
}

tile_status tile_memcpy(tile_context *context, void *to, const void *from, size_t bytes,
                        int32_t direction, void *stream) {
  return onStream(context, stream, [&](const Driver &driver, cu::Stream on) {
    if (bytes > 0) {
      copyBytes(driver, to, from, bytes, direction, on);
    }
  });
}

tile_status tile_memset(tile_context *context, void *memory, int byte, size_t bytes, void *stream) {
  return onStream(context, stream, [&](const Driver &driver, cu::Stream on) {
    if (bytes > 0) {
      driver.check(driver.memsetD8(addressOf(memory), static_cast<unsigned char>(byte), bytes, on),
                   "filling device memory");
    }
  });
}

tile_status tile_synchronize(tile_context *context, void *stream) {
  tile_status status = onStream(context, stream, [&](const Driver &driver, cu::Stream on) {
    driver.check(driver.streamSynchronize(on), "waiting for the device");
  });
  if (status == TILE_OK) {
    return tile_context_check(context);
  }
  const std::string text = lastError;
  tile_context_check(context); // shows what was printed, too
  lastError = text;
  return status;
}
