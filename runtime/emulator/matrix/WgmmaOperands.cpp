#include "WgmmaOperands.h"

#include <stdexcept>

namespace tile_emu {

namespace {
/// 18 bits of address.
constexpr unsigned kMaxChunks = 1 << 14;

/// Where the chunks of an operand lie; line by line.
class Chunks {
public:
  Chunks(Step &step, uint64_t bits, const SharedOperand &operand);

  unsigned lines, perLine;
  const uint8_t *data(unsigned line, unsigned chunk) const {
    return shared.bytes.data() + offsets[line * perLine + chunk];
  }
  /// Checks the access, run by run.
  void check(Step &step, const AsyncOp &async) const;
  bool areDefined() const;
  bool isDefined(unsigned line, unsigned byte, unsigned bytes) const {
    uint64_t offset = offsets[line * perLine + byte / kChunkBytes] + byte % kChunkBytes;
    return Checker::isDefined({&shared, offset, bytes});
  }

private:
  /// Calls `f(range)` for each run of neighbours.
  template <typename F>
  void forRuns(F &&f) const;

  Region &shared;
  std::array<uint32_t, kMaxColumns * 2> offsets; ///< in the block's shared memory
};

WgmmaDescriptor decodeFor(Step &step, uint64_t bits, const SharedOperand &operand) {
  try {
    return WgmmaDescriptor::decode(bits);
  } catch (const std::invalid_argument &error) {
    step.fault(Report::Kind::Invalid, std::string("operand ") + operand.name + ": " + error.what());
  }
}

Chunks::Chunks(Step &step, uint64_t bits, const SharedOperand &operand)
    : shared(step.block.shared) {
  WgmmaDescriptor descriptor = decodeFor(step, bits, operand);
  unsigned perChunk = kChunkBytes * 8 / bitsOf(operand.element);
  lines = operand.mnMajor ? operand.k : operand.indices;
  perLine = (operand.mnMajor ? operand.indices : operand.k) / perChunk;
  unsigned firstLine = operand.mnMajor ? 0 : operand.first;
  unsigned firstChunk = operand.mnMajor ? operand.first / perChunk : 0;
  for (unsigned line = 0; line < lines; ++line) {
    for (unsigned chunk = 0; chunk < perLine; ++chunk) {
      uint64_t address =
          descriptor.chunkAddress(operand.mnMajor, firstLine + line, firstChunk + chunk);
      if (address < shared.base || address + kChunkBytes > shared.base + shared.bytes.size()) {
        step.fault(Report::Kind::OutOfBounds,
                   std::string("operand ") + operand.name + " reaches shared address " +
                       std::to_string(address) + ", outside of the block's memory (" +
                       std::to_string(shared.base) + " to " +
                       std::to_string(shared.base + shared.bytes.size()) +
                       "); descriptor: " + descriptor.describe());
      }
      offsets[line * perLine + chunk] = uint32_t(address - shared.base);
    }
  }
}

template <typename F>
void Chunks::forRuns(F &&f) const {
  // A set bit for every chunk, so that neighbours are found without sorting.
  uint32_t misalignment = uint32_t(shared.base % kChunkBytes); // of the base: 0
  std::array<uint64_t, kMaxChunks / 64> bitmap{};
  for (unsigned i = 0; i < lines * perLine; ++i) {
    uint32_t number = (offsets[i] + misalignment) / kChunkBytes;
    bitmap[number / 64] |= uint64_t(1) << number % 64;
  }
  auto isSet = [&](uint32_t number) {
    return number < kMaxChunks && (bitmap[number / 64] >> number % 64 & 1);
  };
  for (uint32_t number = 0; number < kMaxChunks;) {
    if (!isSet(number)) {
      uint64_t rest = bitmap[number / 64] >> number % 64;
      number = rest ? number + unsigned(std::countr_zero(rest)) : (number / 64 + 1) * 64;
      continue;
    }
    uint32_t end = number;
    while (isSet(end)) {
      ++end;
    }
    f(MemoryRange{&shared, uint64_t(number) * kChunkBytes, uint64_t(end - number) * kChunkBytes});
    number = end;
  }
}

void Chunks::check(Step &step, const AsyncOp &async) const {
  forRuns([&](const MemoryRange &range) {
    step.machine.checker.access(Access::Read, async, Proxy::Async, range);
  });
}

bool Chunks::areDefined() const {
  bool defined = true;
  forRuns([&](const MemoryRange &range) { defined &= Checker::isDefined(range); });
  return defined;
}

/// Element `j` of line `line` goes to to[line * lineStride + j * elementStride].
template <typename T>
void unpackLines(const Chunks &chunks, const SharedOperand &operand, T *to, unsigned lineStride,
                 unsigned elementStride) {
  unsigned elements = chunks.perLine * kChunkBytes * 8 / bitsOf(operand.element);
  uint8_t bytes[kMaxColumns * 2];
  T values[kMaxColumns];
  for (unsigned line = 0; line < chunks.lines; ++line) {
    for (unsigned chunk = 0; chunk < chunks.perLine; ++chunk) {
      std::memcpy(bytes + chunk * kChunkBytes, chunks.data(line, chunk), kChunkBytes);
    }
    T *at = to + size_t(line) * lineStride;
    if (elementStride == 1) {
      unpack(operand.element, bytes, elements, at);
      continue;
    }
    unpack(operand.element, bytes, elements, values);
    for (unsigned j = 0; j < elements; ++j) {
      at[size_t(j) * elementStride] = values[j];
    }
  }
}

/// Calls `mark` with every row or column of which a byte was never written.
template <typename F>
void forUndefined(const Chunks &chunks, const SharedOperand &operand, F mark) {
  unsigned bytes = bitsOf(operand.element) / 8;
  unsigned elements = chunks.perLine * kChunkBytes / bytes;
  for (unsigned line = 0; line < chunks.lines; ++line) {
    for (unsigned j = 0; j < elements; ++j) {
      if (!chunks.isDefined(line, j * bytes, bytes)) {
        mark(operand.mnMajor ? j : line);
      }
    }
  }
}
} // namespace

template <typename T>
void readSharedA(Step &step, const AsyncOp &async, uint64_t descriptor,
                 const SharedOperand &operand, Operands<T> &to) {
  Chunks chunks(step, descriptor, operand);
  if (operand.mayRead) {
    SharedOperand all = operand;
    all.first = 0;
    all.indices = operand.mayRead;
    Chunks(step, descriptor, all).check(step, async);
  } else {
    chunks.check(step, async);
  }
  if (!chunks.areDefined()) {
    forUndefined(chunks, operand, [&](unsigned row) { to.undefinedRows |= 1u << row; });
  }
  unpackLines(chunks, operand, to.a, operand.mnMajor ? 1 : operand.k,
              operand.mnMajor ? operand.k : 1);
}

template <typename T>
void readSharedB(Step &step, const AsyncOp &async, uint64_t descriptor,
                 const SharedOperand &operand, Operands<T> &to) {
  Chunks chunks(step, descriptor, operand);
  chunks.check(step, async);
  if (!chunks.areDefined()) {
    forUndefined(chunks, operand, [&](unsigned column) { to.columnUndefined(column); });
  }
  unpackLines(chunks, operand, to.b, operand.mnMajor ? operand.indices : 1,
              operand.mnMajor ? 1 : operand.indices);
}

#define INSTANTIATE(T)                                                                             \
  template void readSharedA(Step &, const AsyncOp &, uint64_t, const SharedOperand &,              \
                            Operands<T> &);                                                        \
  template void readSharedB(Step &, const AsyncOp &, uint64_t, const SharedOperand &,              \
                            Operands<T> &);
INSTANTIATE(float)
INSTANTIATE(int32_t)
#undef INSTANTIATE

} // namespace tile_emu
