//===- ElementNames.cpp --------------------------------------------------===//
#include "dialects/tile/ElementNames.h"

#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::tile {

std::string elementName(Type type, bool isUnsigned) {
  if (type.isInteger(1)) {
    return "bool";
  }
  if (auto integer = dyn_cast<IntegerType>(type)) {
    return (isUnsigned ? "u" : "i") + std::to_string(integer.getWidth());
  }
  if (type.isIndex()) {
    return "i64";
  }
  return llvm::TypeSwitch<Type, std::string>(type)
      .Case<Float64Type>([](Type) { return "f64"; })
      .Case<Float32Type>([](Type) { return "f32"; })
      .Case<Float16Type>([](Type) { return "f16"; })
      .Case<BFloat16Type>([](Type) { return "bf16"; })
      .Case<Float8E4M3FNType>([](Type) { return "e4m3"; })
      .Case<Float8E5M2Type>([](Type) { return "e5m2"; })
      .Case<Float8E8M0FNUType>([](Type) { return "e8m0"; })
      .Case<Float4E2M1FNType>([](Type) { return "e2m1"; })
      .Default([](Type) { return ""; });
}

} // namespace tilec::tile
