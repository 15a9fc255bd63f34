// The header of typed calls (`--emit=header`), for C and C++.
#pragma once

#include "compiler/emit/HostInterface.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace tilec {

std::string writeHeader(llvm::ArrayRef<HostKernel> kernels);

/// Its part for C++17.
std::string writeOverlay(llvm::ArrayRef<HostKernel> kernels);

/// "gemm(A: f16[M, K], C: out f16[M, N], alpha: f32)"
std::string signatureText(const HostKernel &kernel);

} // namespace tilec
