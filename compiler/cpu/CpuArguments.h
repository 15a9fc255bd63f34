//===- CpuArguments.h - checks of a call's arguments ----------------------===//
#pragma once

#include "compiler/cpu/CpuProgram.h"

namespace tilec::cpu {

/// Checks number, types, ranks, fixed extents, strides, alignment and overlap against the
/// parameters; errors name the argument. Extents that depend on each other are checked by the
/// kernel's host part.
llvm::Error checkArguments(llvm::StringRef kernel, llvm::ArrayRef<Parameter> parameters,
                           llvm::ArrayRef<Argument> arguments);

} // namespace tilec::cpu
