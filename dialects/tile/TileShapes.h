// Shape and element type of what operations of the dialect take: views, buffers, tiles, scalars.
#pragma once

#include "dialects/tile/Tile.h"

#include "llvm/ADT/TypeSwitch.h"

namespace tilec::tile {

/// Extents of a view, buffer, tile or vector; empty for a scalar.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Type type) {
  return llvm::TypeSwitch<mlir::Type, llvm::ArrayRef<int64_t>>(type)
      .Case<GlobalType, BufferType, mlir::ShapedType>([](auto shaped) { return shaped.getShape(); })
      .Default([](mlir::Type) { return llvm::ArrayRef<int64_t>(); });
}

/// The type of an element, which a scalar is itself.
inline mlir::Type elementOf(mlir::Type type) {
  return llvm::TypeSwitch<mlir::Type, mlir::Type>(type)
      .Case<GlobalType, BufferType, mlir::ShapedType>(
          [](auto shaped) { return shaped.getElementType(); })
      .Default([](mlir::Type scalar) { return scalar; });
}

} // namespace tilec::tile
