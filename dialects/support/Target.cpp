#include "dialects/support/Target.h"

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

llvm::ArrayRef<Target> allTargets() { return table; }

} // namespace tilec
