//===- Facts.h - declared discardable attributes --------------*- C++ -*-===//
//
// A fact is what one stage writes on an operation or on an argument of a kernel and a later one
// reads, beside the operation's own attributes: a discardable attribute with a declared name, type
// and holder. Each dialect lists its facts in one table; an attribute of the dialect that is not in
// it, of another type, or on another operation, does not verify, so that a misspelt or forgotten
// name cannot pass for "nothing known". (ODS declares discardable attributes of operations, not of
// arguments; one mechanism serves both here.)
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_DIALECTS_TILE_FACTS_H
#define TILEC_DIALECTS_TILE_FACTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tilec {

/// A fact with values of `AttrT`. Absent facts read as a null attribute.
template <typename AttrT>
struct Fact {
  llvm::StringLiteral name;

  AttrT get(mlir::Operation *op) const { return op->getAttrOfType<AttrT>(name); }
  bool has(mlir::Operation *op) const { return op->hasAttr(name); }
  void set(mlir::Operation *op, AttrT value) const { op->setAttr(name, value); }
  void remove(mlir::Operation *op) const { op->removeAttr(name); }

  /// Of argument number `index` of a kernel.
  AttrT get(mlir::FunctionOpInterface kernel, unsigned index) const {
    return kernel.getArgAttrOfType<AttrT>(index, name);
  }
  bool has(mlir::FunctionOpInterface kernel, unsigned index) const {
    return bool(kernel.getArgAttr(index, name));
  }
  void set(mlir::FunctionOpInterface kernel, unsigned index, AttrT value) const {
    kernel.setArgAttr(index, name, value);
  }
  void set(mlir::NamedAttrList &list, AttrT value) const { list.set(name, value); }
};

/// What the verifier of a dialect asks of one fact.
struct FactRule {
  llvm::StringLiteral name;
  /// What it is, for the message: "a number of stages, i32 >= 1".
  llvm::StringLiteral what;
  bool (*fits)(mlir::Attribute value);
  /// Operations that may hold it, or whose arguments may.
  bool (*holder)(mlir::Operation *op);
};

/// Checks `attribute`, on `op` or on one of its arguments, against the rule of its name; an error
/// at `op` where there is none.
llvm::LogicalResult verifyFact(llvm::ArrayRef<FactRule> rules, mlir::Operation *op,
                               mlir::NamedAttribute attribute);

/// Checks that whatever `op` holds beside its own attributes has the name of a dialect, whose verifier then knows it.
llvm::LogicalResult verifyDeclaredAttributes(mlir::Operation *op);

/// A trait of all operations of our dialects.
template <typename OpT>
class OnlyDeclaredAttributes : public mlir::OpTrait::TraitBase<OpT, OnlyDeclaredAttributes> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyDeclaredAttributes(op);
  }

private:
  OnlyDeclaredAttributes() = default;
  friend OpT;
  template <typename ConcreteT, template <typename> class... Traits>
  friend class mlir::Op; // stands between this and OpT
};

/// Forms of values that rules share.
template <typename AttrT>
bool isKindOf(mlir::Attribute value) {
  return mlir::isa<AttrT>(value);
}
bool isI32AtLeast(mlir::Attribute value, int64_t least);
bool isI64AtLeast(mlir::Attribute value, int64_t least);
bool isI64PowerOfTwo(mlir::Attribute value);
bool isStrings(mlir::Attribute value);

namespace tile {

/// On a pipelined `scf.for`: the number of stages that the program asks for, i32 >= 1. What it gets
/// is `tgpu.pipeline`.
inline constexpr Fact<mlir::IntegerAttr> kStages{"tile.stages"};
/// On a pipelined `scf.for`: after how many percent of the exponentials beside it the end of a product is
/// waited for, i32 from 1 to 100, where the program says so.
inline constexpr Fact<mlir::IntegerAttr> kHold{"tile.hold"};
/// On a pipelined `scf.for`: warpgroups issue the products of an iteration in turn.
inline constexpr Fact<mlir::UnitAttr> kTurns{"tile.turns"};
/// On an unrolled `scf.for`: the factor, i32; 0 is fully.
inline constexpr Fact<mlir::IntegerAttr> kUnroll{"tile.unroll"};
/// On any operation: what `@require` asks of it, where it has no `require` of its own.
inline constexpr Fact<mlir::ArrayAttr> kRequire{"tile.require"};

/// On an operation of a host part that keeps or counts bits, whose kind does not say how integers are read (`&`, `?:`, `if`,
/// `popcount`, ...): the numbers of its results that have no sign in the program. What has been folded into another operation may lack
/// it: the others are read with sign, which is right of bits, too, but shows in texts as a conversion.
inline constexpr Fact<mlir::DenseI32ArrayAttr> kUnsigned{"tile.unsigned"};

/// Facts of arguments of `tile.kernel` and `tgpu.kernel`. The parameter's name in the source; of a
/// `tile.constant_array` its own.
inline constexpr Fact<mlir::StringAttr> kName{"tile.name"};
/// The language's name of the (element) type, so that signedness is kept.
inline constexpr Fact<mlir::StringAttr> kDtype{"tile.dtype"};
/// "in", "out" or "inout", of a tensor.
inline constexpr Fact<mlir::StringAttr> kDirection{"tile.direction"};
inline constexpr Fact<mlir::UnitAttr> kOptional{"tile.optional"};
inline constexpr Fact<mlir::UnitAttr> kStrided{"tile.strided"};
/// Bytes, a power of two.
inline constexpr Fact<mlir::IntegerAttr> kAlign{"tile.align"};
/// Names of the tensors that this one may be.
inline constexpr Fact<mlir::ArrayAttr> kMayAlias{"tile.may_alias"};

} // namespace tile
} // namespace tilec

#endif // TILEC_DIALECTS_TILE_FACTS_H
