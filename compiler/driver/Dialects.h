// The dialects and interfaces that a compilation uses.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace tilec {

/// Adds the dialects of every level of IR, what converts them to the LLVM dialect and what
/// translates that to LLVM IR.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace tilec
