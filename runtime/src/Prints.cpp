#include "Prints.h"

#include "../support/Bits.h"
#include "../support/ValueText.h"

#include <cstdio>
#include <cstring>

namespace tile_rt {

namespace {
constexpr uint64_t kWord = sizeof(uint64_t), kRingWords = TILE_PRINT_RING_BYTES / kWord;

/// In a message, where elements of less than a byte have one of their own.
uint64_t elementBytes(DType type) { return std::max(1u, dtypeBits(type) / 8); }

uint64_t roundUp(uint64_t bytes) { return (bytes + kWord - 1) / kWord * kWord; }

/// A tile as `[[a, b], [c, d]]`; `from` moves on behind its elements.
void appendTile(std::string &text, const PrintText::Shown &shown, size_t dim,
                const std::byte *&from) {
  if (dim == shown.shape.size()) {
    uint64_t bits = 0;
    std::memcpy(&bits, from, elementBytes(shown.type));
    appendValue(text, shown.type, bits);
    from += elementBytes(shown.type);
    return;
  }
  text += '[';
  for (uint32_t i = 0; i < shown.shape[dim]; ++i) {
    text += i ? ", " : "";
    appendTile(text, shown, dim + 1, from);
  }
  text += ']';
}

/// `message` begins with its head.
std::string messageText(const PrintText &print, const std::byte *message) {
  std::string text;
  size_t next = 0;
  const std::byte *from = message + kWord;
  for (size_t i = 0; i < print.text.size(); ++i) {
    if (print.text.compare(i, 2, "{}") == 0 && next < print.values.size()) {
      const std::byte *begin = from;
      appendTile(text, print.values[next], 0, from);
      from = begin + roundUp(static_cast<uint64_t>(from - begin));
      ++next;
      ++i;
    } else {
      text += print.text[i];
    }
  }
  return text + '\n';
}

} // namespace

std::string keyOf(const std::vector<PrintText> &prints) {
  std::string key;
  for (const PrintText &print : prints) {
    key +=
        std::to_string(print.number) + ' ' + std::to_string(print.text.size()) + ' ' + print.text;
    for (const PrintText::Shown &shown : print.values) {
      key += ' ' + std::to_string(static_cast<int>(shown.type));
      for (uint32_t extent : shown.shape) {
        key += 'x' + std::to_string(extent);
      }
    }
    key += '\n';
  }
  return key;
}

uint64_t messageBytes(const PrintText &print) {
  uint64_t bytes = kWord;
  for (const PrintText::Shown &shown : print.values) {
    uint64_t size = elementBytes(shown.type);
    for (uint32_t extent : shown.shape) {
      size = std::min<uint64_t>(size * extent, 2 * uint64_t{TILE_PRINT_MESSAGE_BYTES});
    }
    bytes += roundUp(size);
  }
  return bytes;
}

std::string takeMessages(tile_print_buffer &buffer,
                         const std::function<const PrintText *(uint32_t)> &find) {
  std::string text;
  std::vector<uint64_t> message;
  for (uint64_t at = buffer.consumed;;) {
    uint64_t first = at / kWord % kRingWords;
    uint64_t head = loadAcquire(buffer.ring[first]);
    uint64_t words = (head & 0xffffffff) / kWord;
    if (head == 0) {
      return text;
    }
    const PrintText *print = find(static_cast<uint32_t>(head >> 32));
    if (!print || messageBytes(*print) != words * kWord) {
      // Somebody else has written here: where the next message begins nobody can tell. Said once.
      buffer.ring[first] = 0;
      return text + "a message of `print` that cannot be read: the rest is lost\n";
    }
    message.clear();
    for (uint64_t i = 0; i < words; ++i) {
      uint64_t &word = buffer.ring[(first + i) % kRingWords];
      message.push_back(word);
      word = 0; // no head, for whoever gets this place next
    }
    at += words * kWord;
    storeRelease(buffer.consumed, at);
    text += messageText(*print, reinterpret_cast<const std::byte *>(message.data()));
  }
}

void show(const Printed &printed) {
  std::fwrite(printed.text.data(), 1, printed.text.size(), stdout);
  std::fflush(stdout);
  if (printed.lost > 0) {
    std::fprintf(stderr, "%llu messages of `print` are lost: the buffer of %u bytes was full\n",
                 static_cast<unsigned long long>(printed.lost), TILE_PRINT_RING_BYTES);
  }
}

void Prints::open(const Driver &from, cu::Context of) {
  driver = &from;
  context = of;
}

void Prints::close() {
  if (!buffer) {
    return;
  }
  // A driver that is shutting down refuses: nothing is left to free.
  if (driver->ctxPush(context) == 0) {
    cu::Context popped = nullptr;
    driver->hostFree(buffer);
    driver->ctxPop(&popped);
  }
  isOpen = false;
  buffer = nullptr;
}

uint64_t Prints::address() {
  std::lock_guard<std::mutex> lock(mutex);
  if (buffer) {
    return deviceAddress;
  }
  void *memory = nullptr;
  driver->check(driver->hostAlloc(&memory, sizeof(tile_print_buffer),
                                  cu::kHostAllocPortable | cu::kHostAllocDeviceMap),
                "allocating the buffer of what is printed");
  std::memset(memory, 0, sizeof(tile_print_buffer));
  if (cu::Result result = driver->hostGetDevicePointer(&deviceAddress, memory, 0)) {
    driver->hostFree(memory);
    driver->check(result, "cuMemHostGetDevicePointer");
  }
  buffer = static_cast<tile_print_buffer *>(memory);
  isOpen = true;
  return deviceAddress;
}

uint32_t Prints::add(const std::vector<PrintText> &prints) {
  std::lock_guard<std::mutex> lock(mutex);
  return texts.add(prints);
}

Printed Prints::take() {
  Printed printed;
  if (!isOpen) {
    return printed; // no kernel prints: nothing to lock
  }
  std::lock_guard<std::mutex> lock(mutex);
  printed.text = takeMessages(*buffer, [this](uint32_t number) { return texts.find(number); });
  uint64_t all = loadRelaxed(buffer->lost);
  printed.lost = all - lost;
  lost = all;
  return printed;
}

} // namespace tile_rt
