//===- TiedAssembly.cpp - inline assembly that values pass through -------===//
#include "passes/llvm/TiedAssembly.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilec;
using lowering::Fragment;

static char constraintOf(Type type) {
  const bool isWide = type.getIntOrFloatBitWidth() == 64;
  if (isa<FloatType>(type)) {
    return isWide ? 'd' : 'f';
  }
  return isWide ? 'l' : 'r';
}

Fragment lowering::tiedAssembly(OpBuilder &b, Location loc, StringRef text, ArrayRef<Value> tied,
                                ArrayRef<Value> inputs, StringRef inputConstraints,
                                bool clobbersMemory) {
  std::string constraints;
  llvm::raw_string_ostream os(constraints);
  SmallVector<Value> operands(tied);
  operands.append(inputs.begin(), inputs.end());
  SmallVector<Type> types;
  for (Value value : tied) {
    types.push_back(value.getType());
    os << (types.size() > 1 ? "," : "") << '=' << constraintOf(value.getType());
  }
  for (size_t i = 0; i < tied.size(); ++i) {
    os << ',' << i;
  }
  os << inputConstraints << (clobbersMemory ? ",~{memory}" : "");
  SmallVector<Type> result;
  if (types.size() == 1) {
    result.push_back(types.front());
  } else if (!types.empty()) {
    result.push_back(LLVM::LLVMStructType::getLiteral(b.getContext(), types));
  }
  auto assembly = LLVM::InlineAsmOp::create(
      b, loc, result, operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  Fragment results;
  for (size_t i = 0; i < tied.size(); ++i) {
    results.push_back(types.size() == 1
                          ? assembly.getResult(0)
                          : Value(LLVM::ExtractValueOp::create(b, loc, assembly.getResult(0), i)));
  }
  return results;
}

Fragment lowering::inOwnRegisters(OpBuilder &b, Location loc, ArrayRef<Value> values) {
  Fragment own;
  for (Value value : values) {
    const StringRef constraints = isa<FloatType>(value.getType()) ? "=f,f" : "=r,r";
    own.push_back(LLVM::InlineAsmOp::create(
                      b, loc, value.getType(), value, "mov.b32 $0, $1;", constraints,
                      /*has_side_effects=*/true, /*is_align_stack=*/false,
                      LLVM::tailcallkind::TailCallKind::None,
                      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
                      ArrayAttr())
                      .getResult(0));
  }
  return own;
}
