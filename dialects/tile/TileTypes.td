//===- TileTypes.td - types of the tile dialect --------------------------===//
#ifndef TILE_TYPES_TD
#define TILE_TYPES_TD

include "dialects/tile/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

/// What an operation holds beside its own attributes has a dialect's name (Facts.h): a misspelt one would pass for nothing said.
def OnlyDeclaredAttributes : NativeOpTrait<"OnlyDeclaredAttributes"> { let cppNamespace = "::tilec"; }

class Tile_Type<string name, string mnem> : TypeDef<Tile_Dialect, name> { let mnemonic = mnem; }

def Tile_GlobalType : Tile_Type<"Global", "global"> {
  let summary = "a bounded view of global memory";
  let description = [{
    `!tile.global<?x64xf16>`: base, an extent and a stride (in elements) for each dimension; `?` is an extent known at
    run time only. An index outside reads as zero and is not written. Element types: `f64 f32 f16 bf16 f8E4M3FN
    f8E5M2 f8E8M0FNU f4E2M1FN i1 i4 i8 i16 i32 i64`; `i4` and `f4E2M1FN` are packed two to a byte, `i1` takes a byte.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    bool isDynamicDim(int64_t dim) const { return ::mlir::ShapedType::isDynamic(getShape()[dim]); }
  }];
}

def Tile_BufferType : Tile_Type<"Buffer", "buffer"> {
  let summary = "mutable storage of a block";
  let description = [{
    `!tile.buffer<128x64xf16, shared>`: static shape (empty for a scalar variable), element type, scope. A `local`
    buffer exists once per thread.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                    "::tilec::tile::Scope":$scope);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    int64_t getNumElements() const { return ::mlir::ShapedType::getNumElements(getShape()); }
  }];
}

def Tile_Storage : AnyTypeOf<[Tile_GlobalType, Tile_BufferType]>;
def Tile_Operand : AnyTypeOf<[Tile_GlobalType, Tile_BufferType, AnyRankedTensor]>;
def Tile_TileOperand : AnyTypeOf<[Tile_BufferType, AnyRankedTensor]>;
def Tile_Scalar : AnyTypeOf<[AnySignlessInteger, AnyFloat, Index]>;
def Tile_ScalarOrVector : AnyTypeOf<[AnySignlessInteger, AnyFloat, AnyVectorOfNonZeroRank]>;
def Tile_AnyValue : AnyTypeOf<[AnySignlessInteger, AnyFloat, AnyVectorOfNonZeroRank, AnyRankedTensor]>;
def Tile_Subscript : AnyTypeOf<[AnySignlessInteger, Index, 1DTensorOf<[I32, I64]>]>;

#endif
