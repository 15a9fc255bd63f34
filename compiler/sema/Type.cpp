//===- Type.cpp - Names and properties of types ---------------------------===//
#include "compiler/sema/Type.h"

#include "llvm/ADT/StringExtras.h"

namespace tilec::sema {

bool isFloat(Scalar s) { return s <= Scalar::BF16; }
bool isInteger(Scalar s) { return s >= Scalar::I64 && s <= Scalar::U8; }
bool isSignedInteger(Scalar s) { return s >= Scalar::I64 && s <= Scalar::I8; }
bool isUnsignedInteger(Scalar s) { return s >= Scalar::U64 && s <= Scalar::U8; }
bool isStorage(Scalar s) { return s >= Scalar::E4M3; }

static std::string shapeStr(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += i ? ", " : "";
    text += shape[i] == kDynamic ? "?" : shape[i] == kOpen ? "_" : llvm::itostr(shape[i]);
  }
  return text + "]";
}

std::string shapeString(llvm::ArrayRef<int64_t> shape) {
  return shape.empty() ? "a scalar" : shapeStr(shape);
}

std::string Type::str() const {
  switch (kind) {
  case Kind::Error:
    return "error";
  case Kind::Void:
    return "no value";
  case Kind::Tuple:
    return "several values";
  case Kind::UntypedInt:
    return "integer constant";
  case Kind::UntypedFloat:
    return "float constant";
  case Kind::String:
    return "string";
  case Kind::TypeName:
    return "type";
  case Kind::Value:
    break;
  }
  std::string text = scalarName(elem).str();
  if (vecLength) {
    text = "vec<" + text + ">[" + llvm::itostr(vecLength) + "]";
  }
  return shape.empty() ? text : text + shapeStr(shape);
}

} // namespace tilec::sema
