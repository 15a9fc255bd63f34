//===- ConvertTgpuToLLVM.cpp - kernels become functions of one thread ----===//
//
// Each tgpu.kernel becomes an llvm.func (passes/llvm), in which arith, math and scf are then
// lowered by the upstream patterns. Host code in the module stays as it is.
//
//===----------------------------------------------------------------------===//
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/Passes.h"
#include "passes/llvm/KernelLowering.h"

namespace tilec {
#define GEN_PASS_DEF_CONVERTTGPUTOLLVM
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// What LLVM says of nvptx64 (TargetMachine::createDataLayout).
constexpr StringLiteral kDataLayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64";

class ConvertTgpuToLLVM : public tilec::impl::ConvertTgpuToLLVMBase<ConvertTgpuToLLVM> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<tgpu::KernelOp> kernels(module.getOps<tgpu::KernelOp>());
    if (kernels.empty()) {
      return;
    }
    LLVM::GlobalOp sharedMemory = createSharedMemory(module);
    bool failedSome = false;
    for (tgpu::KernelOp kernel : kernels) {
      lowering::KernelLowering lowering(kernel, sharedMemory);
      FailureOr<LLVM::LLVMFuncOp> function = lowering.run();
      kernel.erase();
      failedSome |= failed(function) || failed(lowerRest(*function));
    }
    if (failedSome) {
      signalPassFailure();
    }
  }

private:
  /// The dynamic shared memory of a block; its alignment is what the widest swizzle needs.
  LLVM::GlobalOp createSharedMemory(ModuleOp module) {
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(), b.getStringAttr(kDataLayout));
    module->setAttr(LLVM::LLVMDialect::getTargetTripleAttrName(),
                    b.getStringAttr("nvptx64-nvidia-cuda"));
    return LLVM::GlobalOp::create(b, module.getLoc(), type, /*isConstant=*/false,
                                  LLVM::Linkage::External, lowering::kSharedMemory, Attribute(),
                                  /*alignment=*/1024, /*addrSpace=*/3);
  }

  /// Loops and branches become blocks. Each pattern splits the block it finds its operation in, and
  /// expects single blocks in the operation's regions: outer ones go before inner ones, and in a
  /// block the last goes first, so that what it moves to the new block is short. A conversion driver
  /// goes from the first to the last and notes each operation it moves: thousands of guarded
  /// accesses took it seconds.
  LogicalResult lowerStructuredControlFlow(LLVM::LLVMFuncOp function) {
    RewritePatternSet patterns(&getContext());
    populateSCFToControlFlowConversionPatterns(patterns);
    FrozenRewritePatternSet frozen(std::move(patterns));
    PatternApplicator applicator(frozen);
    applicator.applyDefaultCostModel();
    SmallVector<Operation *> structured;
    function.walk<WalkOrder::PreOrder, ReverseIterator>([&](Operation *op) {
      if (isa<scf::SCFDialect>(op->getDialect()) && !op->hasTrait<OpTrait::IsTerminator>()) {
        structured.push_back(op);
      }
    });
    PatternRewriter rewriter(&getContext());
    for (Operation *op : structured) {
      rewriter.setInsertionPoint(op);
      if (failed(applicator.matchAndRewrite(op, rewriter))) {
        return failure();
      }
    }
    return success();
  }

  LogicalResult lowerRest(LLVM::LLVMFuncOp function) {
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance;
    eliminateCommonSubExpressions(rewriter, dominance, function);
    if (failed(lowerStructuredControlFlow(function))) {
      return failure();
    }
    {
      RewritePatternSet patterns(&getContext());
      arith::populateCeilFloorDivExpandOpsPatterns(patterns);
      // Blocks are LLVM's to merge: MLIR's search for equal ones took minutes for loops cut in many pieces with thousands of accesses.
      GreedyRewriteConfig config;
      config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
      if (failed(applyPatternsGreedily(function, std::move(patterns), config))) {
        return failure();
      }
    }
    RewritePatternSet patterns(&getContext());
    LLVMTypeConverter types(&getContext());
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    populateMathToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    ub::populateUBToLLVMConversionPatterns(types, patterns);
    populateNVVMToLLVMConversionPatterns(patterns);
    LLVMConversionTarget target(getContext());
    target.addLegalOp<LLVM::LLVMFuncOp>();
    target.addIllegalDialect<arith::ArithDialect, math::MathDialect, cf::ControlFlowDialect,
                             ub::UBDialect>();
    return applyPartialConversion(function, target, std::move(patterns));
  }
};

} // namespace
