#include "compiler/emit/MathCalls.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

#include <cmath>

using namespace llvm;

namespace tilec {

/// libdevice's name of an intrinsic, without `__nv_` and the `f` of f32; empty if the backend
/// selects it, or if nothing is known about it.
static StringRef libdeviceStem(Intrinsic::ID id) {
  switch (id) {
  case Intrinsic::exp:
    return "exp";
  case Intrinsic::exp2:
    return "exp2"; // selected for f32
  case Intrinsic::exp10:
    return "exp10";
  case Intrinsic::log:
    return "log";
  case Intrinsic::log2:
    return "log2";
  case Intrinsic::log10:
    return "log10";
  case Intrinsic::pow:
    return "pow";
  case Intrinsic::sin:
    return "sin"; // selected for f32 with afn
  case Intrinsic::cos:
    return "cos"; // likewise
  case Intrinsic::tan:
    return "tan";
  case Intrinsic::asin:
    return "asin";
  case Intrinsic::acos:
    return "acos";
  case Intrinsic::atan:
    return "atan";
  case Intrinsic::atan2:
    return "atan2";
  case Intrinsic::sinh:
    return "sinh";
  case Intrinsic::cosh:
    return "cosh";
  case Intrinsic::tanh:
    return "tanh"; // selected for f32 with afn
  default:
    return {};
  }
}

/// The same for a function of libm (`expf`, `erf`) that the module only declares.
static StringRef libdeviceStem(const Function &function) {
  if (!function.isDeclaration() || function.isIntrinsic() || function.arg_empty() ||
      !function.getReturnType()->isFloatingPointTy()) {
    return {};
  }
  StringRef stem = function.getName();
  if (function.getReturnType()->isFloatTy()) {
    stem.consume_back("f");
  }
  return StringSwitch<StringRef>(stem)
      .Cases({"exp", "exp2", "exp10", "expm1"}, stem)
      .Cases({"log", "log2", "log10", "log1p"}, stem)
      .Cases({"pow", "cbrt", "erf", "erfc", "rsqrt"}, stem)
      .Cases({"sin", "cos", "tan", "asin", "acos", "atan", "atan2"}, stem)
      .Cases({"sinh", "cosh", "tanh", "asinh", "acosh", "atanh"}, stem)
      .Default({});
}

/// An f32 function by an instruction, for calls that allow approximation; null if there is none.
static Value *approximate(IRBuilder<> &builder, StringRef stem, ArrayRef<Value *> args,
                          const FastMathFlags &flags) {
  Type *f32 = builder.getFloatTy();
  auto constant = [&](double value) { return ConstantFP::get(f32, value); };
  auto exp2 = [&](Value *x) { return builder.CreateUnaryIntrinsic(Intrinsic::exp2, x); };
  auto log2 = [&](Value *x) {
    return builder.CreateIntrinsic(f32, Intrinsic::nvvm_lg2_approx_f, {x});
  };
  builder.setFastMathFlags(flags);
  if (stem == "exp") {
    return exp2(builder.CreateFMul(args[0], constant(M_LOG2E)));
  }
  if (stem == "exp10") {
    return exp2(builder.CreateFMul(args[0], constant(std::log2(10.0))));
  }
  if (stem == "log") {
    return builder.CreateFMul(log2(args[0]), constant(M_LN2));
  }
  if (stem == "log10") {
    return builder.CreateFMul(log2(args[0]), constant(std::log10(2.0)));
  }
  if (stem == "log2") {
    return log2(args[0]);
  }
  return nullptr;
}

/// True for what the backend selects as it stands.
static bool isSelected(StringRef stem, Type *scalar, bool approximable, bool intrinsic) {
  if (!intrinsic || scalar->isDoubleTy()) {
    return false;
  }
  if (stem == "exp2") {
    return !scalar->isBFloatTy();
  }
  return approximable && scalar->isFloatTy() && (stem == "sin" || stem == "cos" || stem == "tanh");
}

namespace {
/// Replaces the calls of one module.
class Legaliser {
public:
  explicit Legaliser(Module &module) : module(module) {}
  bool run();

private:
  void replace(CallInst &call, StringRef stem);
  Value *scalarCall(IRBuilder<> &builder, StringRef stem, ArrayRef<Value *> args,
                    const FastMathFlags &flags);

  Module &module;
  bool usesLibdevice = false;
};
} // namespace

bool Legaliser::run() {
  SmallVector<std::pair<CallInst *, StringRef>> calls;
  for (Function &function : module) {
    for (Instruction &inst : instructions(function)) {
      auto *call = dyn_cast<CallInst>(&inst);
      Function *callee = call ? call->getCalledFunction() : nullptr;
      if (!callee) {
        continue;
      }
      usesLibdevice |= callee->isDeclaration() && callee->getName().starts_with("__nv_");
      StringRef stem =
          callee->isIntrinsic() ? libdeviceStem(callee->getIntrinsicID()) : libdeviceStem(*callee);
      bool approximable = isa<FPMathOperator>(call) && call->hasApproxFunc();
      if (!stem.empty() && !isSelected(stem, call->getType()->getScalarType(), approximable,
                                       callee->isIntrinsic())) {
        calls.push_back({call, stem});
      }
    }
  }
  for (auto [call, stem] : calls) {
    replace(*call, stem);
  }
  return usesLibdevice;
}

Value *Legaliser::scalarCall(IRBuilder<> &builder, StringRef stem, ArrayRef<Value *> args,
                             const FastMathFlags &flags) {
  Type *type = args[0]->getType();
  bool narrow = !type->isFloatTy() && !type->isDoubleTy();
  Type *compute = narrow ? builder.getFloatTy() : type;
  SmallVector<Value *> wide;
  for (Value *arg : args) {
    wide.push_back(narrow ? builder.CreateFPExt(arg, compute) : arg);
  }
  Value *result = nullptr;
  if (compute->isFloatTy() && stem == "exp2") {
    result = builder.CreateUnaryIntrinsic(Intrinsic::exp2, wide[0]);
  } else if (compute->isFloatTy() && flags.approxFunc()) {
    result = approximate(builder, stem, wide, flags);
  }
  if (!result) {
    std::string name = ("__nv_" + stem + (compute->isFloatTy() ? "f" : "")).str();
    SmallVector<Type *> types(wide.size(), compute);
    FunctionCallee callee =
        module.getOrInsertFunction(name, FunctionType::get(compute, types, /*isVarArg=*/false));
    result = builder.CreateCall(callee, wide);
    usesLibdevice = true;
  }
  return narrow ? builder.CreateFPTrunc(result, type) : result;
}

void Legaliser::replace(CallInst &call, StringRef stem) {
  IRBuilder<> builder(&call);
  FastMathFlags flags = isa<FPMathOperator>(call) ? call.getFastMathFlags() : FastMathFlags();
  SmallVector<Value *> args(call.args());
  Value *result = nullptr;
  if (auto *vector = dyn_cast<FixedVectorType>(call.getType())) {
    result = PoisonValue::get(vector);
    for (unsigned i = 0; i != vector->getNumElements(); ++i) {
      SmallVector<Value *> elements;
      for (Value *arg : args) {
        elements.push_back(builder.CreateExtractElement(arg, i));
      }
      Value *element = scalarCall(builder, stem, elements, flags);
      result = builder.CreateInsertElement(result, element, i);
    }
  } else {
    result = scalarCall(builder, stem, args, flags);
  }
  result->takeName(&call);
  call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

bool legaliseMathCalls(Module &module) { return Legaliser(module).run(); }

} // namespace tilec
