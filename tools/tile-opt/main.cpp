// tile-opt: runs passes on IR of the tile, tgpu and LLVM dialects; every pass is tested alone with
// it.
#include "dialects/tile/Tile.h"
#ifdef TILEC_HAS_TGPU
#include "dialects/tgpu/Tgpu.h"
#endif
#ifdef TILEC_HAS_PASSES
#include "passes/Passes.h"
#endif

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/InlinerInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<tilec::tile::TileDialect>();
#ifdef TILEC_HAS_TGPU
  registry.insert<tilec::tgpu::TgpuDialect>();
#endif
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                  mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::NVVM::NVVMDialect, mlir::scf::SCFDialect,
                  mlir::vector::VectorDialect>();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerLoopInvariantCodeMotionPass();
  mlir::registerInlinerPass();
  mlir::registerSymbolDCEPass();
#ifdef TILEC_HAS_PASSES
  tilec::registerTilecPasses();
#endif
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "tile-opt: passes of the tile compiler\n", registry));
}
