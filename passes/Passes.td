//===- Passes.td - the passes of tilec ------------------------------------===//
//
// In the order of the pipeline (compiler/driver/Pipeline.cpp). Each entry says what a pass needs, what it guarantees
// and which remarks it makes; its file says how.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_TD
#define TILEC_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineLaunches : Pass<"tile-outline-launches", "mlir::ModuleOp"> {
  let summary = "Make each launch's body a tgpu.kernel of its own";
  let description = [{
    Needs: `tile.kernel`s as the front end makes them. Gives: for each `tile.launch` a `tgpu.launch` with the grid and the
    host values that the body uses, and a `tgpu.kernel` that takes them. Tensors arrive as base addresses; extents and
    strides are separate arguments, and extents that `tile.check` equates share one. What checks say about divisibility
    becomes `tgpu.divisible` on arguments.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect"];
}

def ConvertTileToTgpu : Pass<"convert-tile-to-tgpu", "tilec::tgpu::KernelOp"> {
  let summary = "Turn fragments and variables into SSA values, and operations on buffers into tgpu operations";
  let description = [{
    Needs: an outlined kernel. Gives: `shared` buffers are `tgpu.alloc_shared`; `fragment` and `uniform` buffers are gone: their
    contents are SSA values carried through `scf.for`, `scf.if` and `scf.while`; copies are `tgpu.copy` (global and shared
    memory), `tgpu.load`/`tgpu.store` (global memory and fragments), `tgpu.local_load`/`tgpu.local_store`; products are
    `tgpu.dot`. Operations that no GPU lowering takes yet are errors [unsupported].
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

#endif
