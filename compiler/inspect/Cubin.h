// What a cubin says of its kernels: the ELF file that ptxas writes, or the driver takes.
//
// NVIDIA documents neither sections nor attributes. What is read here agrees with what `ptxas -v` of CUDA 12.8 and
// 13.0 prints (test/driver/inspect-cubin.test compares); other attributes are passed over.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// Sizes in bytes, by number of the bank of constant memory.
using ConstantBanks = std::map<unsigned, uint64_t>;

struct CubinKernel {
  std::string name;
  uint64_t codeBytes = 0;
  unsigned registers = 0;   ///< of a thread
  unsigned barriers = 0;    ///< of a block
  uint64_t stackBytes = 0;  ///< of a thread, with what it calls
  uint64_t sharedBytes = 0; ///< of a block, static; without what the hardware takes for itself
  ConstantBanks constants;  ///< its own; bank 0 has the parameters
  unsigned parameters = 0;
  uint64_t parameterBytes = 0;
  std::optional<std::array<uint32_t, 3>> threads; ///< of a block, where the code says it
  bool threadsAreExact = false;                   ///< else it may have fewer
  std::optional<std::array<uint32_t, 3>> cluster; ///< where the code says it
};

struct CubinContents {
  std::string arch;        ///< "sm_90a"
  std::string tool;        ///< "Cuda compilation tools, release 13.0, V13.0.88"; may be empty
  ConstantBanks constants; ///< that all kernels share
  std::vector<CubinKernel> kernels; ///< in the order of the file's symbols
};

/// Whether the bytes begin as an ELF file for NVIDIA's GPUs does.
bool isCubin(llvm::StringRef bytes);

/// Fails for what is damaged, or not known.
llvm::Expected<CubinContents> readCubin(llvm::StringRef bytes);

} // namespace tilec
