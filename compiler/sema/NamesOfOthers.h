//===- NamesOfOthers.h - What other languages call it -----------*- C++ -*-===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tilec::sema {

/// The type of this language for one of C, CUDA or Python; empty for other names.
llvm::StringRef typeOfOthers(llvm::StringRef name);

/// How to say what a function of numpy, Triton, TileLang or CUDA does, as a hint; empty for other names.
llvm::StringRef functionOfOthers(llvm::StringRef name);

} // namespace tilec::sema
