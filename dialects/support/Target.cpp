#include "dialects/support/Target.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tilec {

// Shared memory per block and registers: CUDA C programming guide, table "technical specifications
// per compute capability". sm_90a is sm_90 with wgmma and setmaxnreg. The cpu target has no limits
// of its own and takes those of sm_90a, so that it accepts what the GPU does.
static constexpr Target table[] = {
    {"sm_80", 80, 163 * 1024, 65536, 255, false, false},
    {"sm_86", 86, 99 * 1024, 65536, 255, false, false},
    {"sm_89", 89, 99 * 1024, 65536, 255, false, false},
    {"sm_90a", 90, 227 * 1024, 65536, 255, true, true},
    {"cpu", 90, 227 * 1024, 65536, 255, false, false},
};

const Target *findTarget(llvm::StringRef name) {
  for (const Target &target : table) {
    if (target.name == name) {
      return &target;
    }
  }
  return nullptr;
}

int64_t threadsPerSM(const Target &target) {
  return target.arch == 86 || target.arch == 89 ? 1536 : 2048;
}

/// Blocks that a multiprocessor holds, however small they are.
static int64_t blocksPerSM(const Target &target) {
  return target.arch == 86 ? 16 : target.arch == 89 ? 24 : 32;
}

int64_t residentBlocks(const Target &target, int64_t registers, int64_t threads,
                       int64_t sharedBytes) {
  int64_t perWarp = llvm::alignTo(registers * 32, 256);
  return std::min({target.registersPerSM / std::max<int64_t>(perWarp * threads / 32, 1),
                   (target.sharedPerBlock + 1024) / (sharedBytes + 1024),
                   threadsPerSM(target) / threads, blocksPerSM(target)});
}

llvm::ArrayRef<Target> allTargets() { return table; }

} // namespace tilec
