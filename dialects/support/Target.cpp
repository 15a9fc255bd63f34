#include "dialects/support/Target.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>

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

namespace {
/// How many blocks each resource has room for.
struct Room {
  llvm::StringLiteral name;
  int64_t blocks;
};
} // namespace

static std::array<Room, 4> roomFor(const Target &target, int64_t registers, int64_t threads,
                                   int64_t sharedBytes) {
  int64_t perWarp = llvm::alignTo(registers * 32, 256);
  return {
      Room{"registers", target.registersPerSM / std::max<int64_t>(perWarp * threads / 32, 1)},
      Room{"shared memory", (target.sharedPerBlock + 1024) / (sharedBytes + 1024)},
      Room{"threads", threadsPerSM(target) / threads},
      Room{"blocks", blocksPerSM(target)},
  };
}

int64_t residentBlocks(const Target &target, int64_t registers, int64_t threads,
                       int64_t sharedBytes) {
  int64_t least = blocksPerSM(target);
  for (const Room &room : roomFor(target, registers, threads, sharedBytes)) {
    least = std::min(least, room.blocks);
  }
  return least;
}

llvm::SmallVector<llvm::StringRef, 4> limitsOfResidency(const Target &target, int64_t registers,
                                                        int64_t threads, int64_t sharedBytes) {
  const int64_t least = residentBlocks(target, registers, threads, sharedBytes);
  llvm::SmallVector<llvm::StringRef, 4> names;
  for (const Room &room : roomFor(target, registers, threads, sharedBytes)) {
    if (room.blocks == least) {
      names.push_back(room.name);
    }
  }
  return names;
}

llvm::ArrayRef<Target> allTargets() { return table; }

} // namespace tilec
