#include "compiler/driver/Pipeline.h"

#include "dialects/support/RowKind.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tilec {

std::vector<std::string> allVariants() {
  const auto names = llvm::map_range(kRowKinds, variantOf);
  return {names.begin(), names.end()};
}

void addOutliningPasses(OpPassManager &passes, const PipelineOptions &options) {
  if (options.check) {
    passes.nest<tile::KernelOp>().addPass(createInsertChecks());
  }
  passes.addPass(createWrapIntegers()); // before anything else can use the flags
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createOutlineLaunches());
  passes.addPass(createPassReciprocals());
}

void setTarget(ModuleOp module, const Target &target) {
  StringAttr name = StringAttr::get(module.getContext(), target.name);
  module.walk([&](tgpu::KernelOp kernel) { kernel.setTargetAttr(name); });
}

void addCostPasses(OpPassManager &passes, const PipelineOptions &options) {
  OpPassManager &first = passes.nest<tgpu::KernelOp>();
  first.addPass(createRaiseParallel());
  first.addPass(createConvertTileToTgpu());
  first.addPass(createPackElements());
  first.addPass(createUnrollLoops());
  first.addPass(createDropCarried());
  first.addPass(createCanonicalizerPass()); // arguments of loops that nothing uses
  first.addPass(createCSEPass());
  first.addPass(createMergeComparisons());
  first.addPass(createJoinNeighbours());

  // Variants differ in what they assume, and assumptions decide all that follows.
  passes.addPass(
      createMakeVariants({llvm::is_contained(options.variants, variantOf(RowKind::Words))}));

  // Instructions first: what they demand of layouts is strongest.
  OpPassManager &choices = passes.nest<tgpu::KernelOp>();
  choices.addPass(createBounds());
  choices.addPass(createMakePersistent());
  choices.addPass(createSelectMma());
  choices.addPass(createSelectCopies());
  choices.addPass(createPlanRoles());
  // Loops are still as they were written, whole tiles are one operation.
  passes.addPass(createEstimateCost());
  KeepVariantsOptions kept;
  kept.only.append(options.variants.begin(), options.variants.end());
  passes.addPass(createKeepVariants(kept));
}

void addTgpuPasses(OpPassManager &passes, const PipelineOptions &options) {
  addCostPasses(passes, options);
  OpPassManager &kernels = passes.nest<tgpu::KernelOp>();
  kernels.addPass(createInferLayouts());
  kernels.addPass(createDeferReductions());
  kernels.addPass(createLowerReductions());
  kernels.addPass(createLowerScans());
  kernels.addPass(createCheckRegisters());
  kernels.addPass(createSelectSharedLayouts());
  kernels.addPass(createLowerDots());
  kernels.addPass(createLowerCopies());
  kernels.addPass(createPlanPipeline());
  kernels.addPass(createExpandPipeline());
  kernels.addPass(createMakeChannels());
  kernels.addPass(createCanonicalizerPass()); // arguments of loops that nothing uses
  kernels.addPass(createSliceRoles());
  passes.addPass(createFormClusters());
  OpPassManager &programs = passes.nest<tgpu::KernelOp>();
  programs.addPass(createPlanSchedule({options.scheduleSeed}));
  programs.addPass(createExpandSchedule());
  programs.addPass(createSplitLoops());
  programs.addPass(createCoalesceStores());
  programs.addPass(createCanonicalizerPass());
  programs.addPass(createCSEPass());
  // Buffers that share memory depend on each other, so places come before barriers.
  programs.addPass(createAllocateShared());
  programs.addPass(createInsertSync());
  programs.addPass(createVerifySync());
  programs.addPass(createVoteRescales());
  programs.addPass(createIssueInTurn());
  programs.addPass(createNarrowSteps());
  programs.addPass(createStartSums());
  programs.addPass(createOverlapLaunches());
}

void addLlvmPasses(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createConvertTgpuToLLVM());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

} // namespace tilec
