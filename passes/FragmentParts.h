//===- FragmentParts.h - elements and slices of fragments -------*- C++ -*-===//
//
// Part of convert-tile-to-tgpu. A fragment is a value by then, so that what writes to a part of it
// makes a new one: coordinates say which elements are new. What is read from a part is held by a few
// threads, who hand it to all through shared memory.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_FRAGMENTPARTS_H
#define TILEC_PASSES_FRAGMENTPARTS_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/IR/Builders.h"

namespace tilec {

/// A fragment or tile value, or a slice of one at constant indices.
struct FragmentPart {
  struct Dim {
    int64_t extent; ///< of the whole
    int64_t offset = 0;
    int64_t size;      ///< how many indices from `offset` on are in the part
    int64_t kept = -1; ///< the part's dimension; -1: it has none
    bool isWhole() const { return size == extent; }
  };
  mlir::Value whole; ///< of the old code
  llvm::SmallVector<Dim> dims;

  bool isWhole() const;
  /// As far as it is made of whole rows, columns or planes.
  bool keepsWholeDims() const;
  llvm::SmallVector<int64_t> shape() const;
};

/// What `storage` is part of, if that is a fragment or a tile value; nothing for another kind, and for
/// indices that are computed.
std::optional<FragmentPart> fragmentPartOf(mlir::Value storage);

class FragmentParts {
public:
  /// For `user`, which gets a remark of what goes through shared memory.
  FragmentParts(mlir::OpBuilder &builder, mlir::Operation *user)
      : b(builder), user(user), loc(user->getLoc()) {}

  /// The element at `indices` of a part of `whole`: a scalar of the block. An index outside of it, an
  /// error of the program, gives some element.
  mlir::Value element(mlir::Value whole, const FragmentPart &part, mlir::ValueRange indices);
  /// A shared buffer with all of `whole`, for threads that read elements of their own choice.
  mlir::Value inShared(mlir::Value whole);
  /// Such an element, or neighbours, of a part of what `buffer` has.
  mlir::Value elementOfThread(mlir::Type type, mlir::Value buffer, const FragmentPart &part,
                              mlir::ValueRange indices);
  /// `whole` with that element replaced; itself where the index is outside of it.
  mlir::Value withElement(mlir::Value whole, const FragmentPart &part, mlir::ValueRange indices,
                          mlir::Value element);
  /// The part as a tile.
  mlir::Value read(mlir::Value whole, const FragmentPart &part);
  /// `whole` with the part replaced by a tile of its shape.
  mlir::Value with(mlir::Value whole, const FragmentPart &part, mlir::Value tile);

private:
  mlir::Value coordinate(const FragmentPart &part, unsigned dim);
  mlir::Value repeated(const FragmentPart &part, unsigned dim, mlir::Value line);
  mlir::Value both(mlir::Value x, mlir::Value y);
  mlir::Value isAt(const FragmentPart &part, llvm::ArrayRef<mlir::Value> place);
  llvm::SmallVector<mlir::Value> placeOf(const FragmentPart &part, mlir::ValueRange indices);
  mlir::Value isInside(const FragmentPart &part);
  llvm::SmallVector<mlir::Value> indicesIn(const FragmentPart &part);
  mlir::Value shared(llvm::StringRef what, llvm::ArrayRef<int64_t> shape, mlir::Type element);
  mlir::Value convert(mlir::Value value, mlir::Type element);

  mlir::OpBuilder &b;
  mlir::Operation *user;
  mlir::Location loc;
};

} // namespace tilec

#endif // TILEC_PASSES_FRAGMENTPARTS_H
