//===- Type.cpp - Names and properties of types ---------------------------===//
#include "compiler/sema/Type.h"

#include "llvm/ADT/StringExtras.h"

namespace tilec::sema {

namespace {
struct ScalarInfo {
  llvm::StringLiteral name;
  unsigned bits;
};
// In the order of enum Scalar.
constexpr ScalarInfo scalarTable[] = {
    {"f64", 64}, {"f32", 32}, {"f16", 16}, {"bf16", 16}, {"i64", 64}, {"i32", 32}, {"i16", 16},
    {"i8", 8},   {"u64", 64}, {"u32", 32}, {"u16", 16},  {"u8", 8},   {"bool", 8}, {"e4m3", 8},
    {"e5m2", 8}, {"e2m1", 4}, {"e8m0", 8}, {"i4", 4},    {"u4", 4},
};
} // namespace

llvm::StringRef scalarName(Scalar s) { return scalarTable[unsigned(s)].name; }
unsigned scalarBits(Scalar s) { return scalarTable[unsigned(s)].bits; }

std::optional<Scalar> scalarByName(llvm::StringRef name) {
  for (unsigned i = 0; i < std::size(scalarTable); ++i) {
    if (scalarTable[i].name == name) {
      return Scalar(i);
    }
  }
  return std::nullopt;
}

bool isFloat(Scalar s) { return s <= Scalar::BF16; }
bool isInteger(Scalar s) { return s >= Scalar::I64 && s <= Scalar::U8; }
bool isSignedInteger(Scalar s) { return s >= Scalar::I64 && s <= Scalar::I8; }
bool isUnsignedInteger(Scalar s) { return s >= Scalar::U64 && s <= Scalar::U8; }
bool isStorage(Scalar s) { return s >= Scalar::E4M3; }
bool isPacked(Scalar s) { return scalarBits(s) == 4; }

static std::string shapeStr(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += i ? ", " : "";
    text += shape[i] == kDynamic ? "?" : llvm::itostr(shape[i]);
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
