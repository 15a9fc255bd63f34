//===- ElementNames.h - what the language calls element types ---*- C++ -*-===//
#pragma once

#include "mlir/IR/Types.h"

#include <string>

namespace tilec::tile {

/// "f32", "e4m3", "bool"; "u8" of an integer if `isUnsigned`, else "i8"; "i64" of an index. Empty for
/// what is no element type of the language. Sizes and conversions by name: runtime/support/DType.h.
std::string elementName(mlir::Type type, bool isUnsigned = false);

} // namespace tilec::tile
