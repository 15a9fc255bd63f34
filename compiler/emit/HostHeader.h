// The header of typed calls (`--emit=header`), for C and C++.
#pragma once

#include "compiler/emit/HostInterface.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace tilec {

std::string writeHeader(llvm::ArrayRef<HostKernel> kernels);

} // namespace tilec
