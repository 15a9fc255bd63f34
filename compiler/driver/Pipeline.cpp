#include "compiler/driver/Pipeline.h"

#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tilec {

void addTgpuPasses(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

void addLlvmPasses(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

} // namespace tilec
