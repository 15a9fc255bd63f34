//===- Passes.h - the passes of tilec -------------------------*- C++ -*-===//
//
// Declared in Passes.td, one file each. tile-opt runs them alone; compiler/driver/Pipeline.cpp puts
// them in order.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_PASSES_H
#define TILEC_PASSES_PASSES_H

#include "dialects/tgpu/Tgpu.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace tilec {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace tilec

#endif // TILEC_PASSES_PASSES_H
