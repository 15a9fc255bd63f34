#include "tools/tile-run/AbsentGpu.h"

#include "runtime/emulator/Capability.h"
#include "tools/tile-run/EmulatorExecutor.h"

using namespace tile_rt;

namespace tile_run {

namespace {
constexpr uint64_t kAlignment = 256;

/// A place that nothing else has.
class AbsentBuffer : public Buffer {
public:
  explicit AbsentBuffer(uint64_t place) : place(place) {}
  uint64_t address() const override { return place; }
  void write(const std::vector<std::byte> &) override {}
  void poison() override {}
  std::vector<std::byte> read() const override { return {}; }
  std::string damage() const override { return {}; }

private:
  uint64_t place;
};

/// The architecture that the GPU is taken to have.
std::string archFor(const tile_pack &pack, const CaseOptions &options) {
  const std::vector<Module> &modules = pack.manifest.modules;
  for (const std::string &arch : {options.arch, modules.empty() ? "" : modules.front().arch}) {
    if (tile_emu::capabilityOf(arch)) {
      return arch;
    }
  }
  return "sm_90a";
}
} // namespace

AbsentGpu::AbsentGpu(const tile_kernel &kernel, const CaseOptions &options)
    : PlanExecutor(kernel), info(emulatedDevice(archFor(*kernel.pack, options), options.sms)),
      nextAddress(kAlignment) {}

std::unique_ptr<Buffer> AbsentGpu::allocate(size_t bytes, const std::string &) {
  const uint64_t place = nextAddress;
  nextAddress += (bytes / kAlignment + 1) * kAlignment;
  return std::make_unique<AbsentBuffer>(place);
}

std::string AbsentGpu::prepare(std::span<const tile_arg> args, bool verbose) {
  try {
    return PlanExecutor::prepare(args, verbose);
  } catch (const Error &error) {
    // Which variants there are for a GPU nobody can say who does not know it.
    if (error.status != TILE_ERROR_NO_VARIANT) {
      throw;
    }
    return {};
  }
}

void AbsentGpu::ask() {
  asked = true;
  throw Error(TILE_ERROR_NO_DRIVER, "there is no GPU");
}

} // namespace tile_run
