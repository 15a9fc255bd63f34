// Where NVIDIA's tools are: ptxas, fatbinary and the bitcode library libdevice.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// The places of NVIDIA's tools. With `cudaPath` (--cuda-path) only that folder is searched;
/// without, in this order: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, the nvidia wheels of PyPI in
/// the virtual environments and site-packages of this machine, and for programs $PATH.
class Toolchain {
public:
  /// `programDir` is the folder of the running tilec; beside it tools/dev/install-deps puts wheels.
  Toolchain(llvm::StringRef cudaPath, llvm::StringRef programDir);

  /// Path of the program `name` ("ptxas", "fatbinary"), or nothing.
  std::optional<std::string> findProgram(llvm::StringRef name) const;
  /// Path of libdevice.10.bc, or nothing.
  std::optional<std::string> findLibdevice() const;
  /// A line `NAME: PATH` for each of ptxas, fatbinary and libdevice, or `NAME: not found`.
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<std::string> roots; // folders that hold bin/ and nvvm/libdevice/
  bool searchPath;
};

} // namespace tilec
