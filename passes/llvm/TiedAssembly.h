//===- TiedAssembly.h - inline assembly that values pass through -*- C++ -*-===//
#ifndef TILEC_PASSES_LLVM_TIEDASSEMBLY_H
#define TILEC_PASSES_LLVM_TIEDASSEMBLY_H

#include "mlir/IR/Builders.h"
#include "passes/llvm/Values.h"

namespace tilec::lowering {

/// Inline assembly with `tied` operands that are also its results (of 32 or 64 bits), and `inputs`
/// with their constraints after them. Operands are numbered results first, then the tied ones, then
/// the inputs. It has side effects, so it stays where it is.
Fragment tiedAssembly(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef text,
                      llvm::ArrayRef<mlir::Value> tied, llvm::ArrayRef<mlir::Value> inputs,
                      llvm::StringRef inputConstraints, bool clobbersMemory);

/// Each value in a register of its own, which LLVM does not know to be the same.
Fragment inOwnRegisters(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> values);

} // namespace tilec::lowering

#endif // TILEC_PASSES_LLVM_TIEDASSEMBLY_H
