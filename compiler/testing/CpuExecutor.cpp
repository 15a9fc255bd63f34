#include "compiler/testing/CpuExecutor.h"

#include "runtime/harness/Compare.h"
#include "runtime/harness/Memory.h"
#include "runtime/src/Choices.h"
#include "runtime/src/Error.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace tile_rt;

namespace tilec {

namespace {
/// Elements between guard zones, at a multiple of 256 bytes as allocators on devices do.
class HostBuffer : public Buffer {
public:
  explicit HostBuffer(size_t bytes)
      : bytes(bytes), memory(2 * kGuardBytes + kAlignment + bytes, kGuard) {
    auto start = reinterpret_cast<uintptr_t>(memory.data()) + kGuardBytes;
    offset = kGuardBytes + (kAlignment - start % kAlignment) % kAlignment;
    poison();
  }

  uint64_t address() const override { return reinterpret_cast<uintptr_t>(memory.data()) + offset; }
  void write(const std::vector<std::byte> &data) override {
    llvm::copy(data, memory.begin() + ptrdiff_t(offset));
  }
  void poison() override { std::fill_n(memory.begin() + ptrdiff_t(offset), bytes, kPoison); }
  std::vector<std::byte> read() const override {
    auto begin = memory.begin() + ptrdiff_t(offset);
    return {begin, begin + ptrdiff_t(bytes)};
  }
  std::string damage() const override {
    size_t end = offset + bytes;
    if (findDamage(memory.data(), offset) || findDamage(memory.data() + end, memory.size() - end)) {
      return "memory around it was written";
    }
    return {};
  }

private:
  static constexpr size_t kAlignment = 256;
  size_t bytes, offset = 0;
  std::vector<std::byte> memory;
};
} // namespace

std::unique_ptr<Buffer> CpuExecutor::allocate(size_t bytes, const std::string &) {
  return std::make_unique<HostBuffer>(bytes);
}

std::string CpuExecutor::prepare(std::span<const tile_arg> args, bool) {
  Env env = bindArguments(kernel, args);
  const auto smCount = static_cast<unsigned>(cpu::CpuOptions().smCount);
  const DeviceInfo device{0, 0, smCount, UINT64_MAX, /*hasTensorMaps=*/false, "cpu"};
  checkMemory(planCall(manifest, kernel, env, device, {}).workspaceBytes, "workspaces");
  for (auto [index, argument] : llvm::enumerate(kernel.arguments)) {
    if (!argument.isTensor) {
      uint64_t bits = 0;
      std::memcpy(&bits, args[index].data, dtypeBits(argument.dtype) / 8);
      arguments.push_back(cpu::Argument::scalar(bits, dtypeName(argument.dtype)));
      continue;
    }
    const TensorView &view = env.tensors[index];
    // An absent tensor still has a rank.
    std::vector<int64_t> zeros(argument.extents.size(), 0);
    arguments.push_back(cpu::Argument::tensor(
        view.present ? args[index].data : nullptr, view.present ? view.extents : zeros,
        view.present ? view.strides : zeros, dtypeName(argument.dtype)));
  }
  return {};
}

void CpuExecutor::run() {
  if (llvm::Error error = program.run(kernel.symbol, arguments)) {
    throw Error(TILE_ERROR_ARGUMENT, llvm::toString(std::move(error)));
  }
}

} // namespace tilec
