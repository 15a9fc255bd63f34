#include "compiler/emit/HeldConstants.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Pass.h"

using namespace llvm;

namespace tilec {

/// The operands of a piece of assembly that are words in registers, and not results of it before.
static SmallVector<unsigned> wordsOf(const CallInst &call, const InlineAsm &assembly) {
  SmallVector<unsigned> words;
  unsigned operand = 0;
  for (const InlineAsm::ConstraintInfo &constraint : assembly.ParseConstraints()) {
    if (constraint.Type != InlineAsm::isInput) {
      continue;
    }
    const bool isWord = constraint.Codes.size() == 1 && constraint.Codes.front() == "r";
    if (isWord && call.getArgOperand(operand)->getType()->isIntegerTy(32)) {
      words.push_back(operand);
    }
    ++operand;
  }
  return words;
}

static Value *holdIn(Function &function, ConstantInt *number) {
  IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  auto *type = FunctionType::get(builder.getInt32Ty(), /*isVarArg=*/false);
  return builder.CreateCall(
      InlineAsm::get(type, "mov.b32 $0, " + std::to_string(number->getZExtValue()) + ";", "=r",
                     /*hasSideEffects=*/true)); // which stays where it is
}

static bool holdConstants(Function &function) {
  SmallVector<Use *> uses;
  MapVector<ConstantInt *, Value *> held;
  for (Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<CallInst>(&instruction);
    const auto *assembly = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
    if (!assembly || !assembly->getAsmString().contains("wgmma.")) {
      continue;
    }
    for (unsigned operand : wordsOf(*call, *assembly)) {
      if (auto *number = dyn_cast<ConstantInt>(call->getArgOperand(operand))) {
        uses.push_back(&call->getArgOperandUse(operand));
        held.insert({number, nullptr});
      }
    }
  }
  for (auto &[number, value] : held) {
    value = holdIn(function, number);
  }
  for (Use *use : uses) {
    use->set(held[cast<ConstantInt>(use->get())]);
  }
  return !uses.empty();
}

namespace {
class HoldConstants : public FunctionPass {
public:
  static char id; ///< whose address tells it from other passes
  HoldConstants() : FunctionPass(id) {}
  StringRef getPassName() const override { return "Constants that products read in registers"; }
  // Those that selection needs and that come before cannot be made again: blocks stay, and what is added reads nothing.
  void getAnalysisUsage(AnalysisUsage &usage) const override { usage.setPreservesAll(); }
  bool runOnFunction(Function &function) override { return holdConstants(function); }
};
char HoldConstants::id = 0;
} // namespace

FunctionPass *createHoldConstantsPass() { return new HoldConstants; }

} // namespace tilec
