//===- TileDialect.td - the tile dialect: dialect and enumerations ------===//
#ifndef TILE_DIALECT_TD
#define TILE_DIALECT_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilec::tile";
  let summary = "What a tile program says: kernels, launches, buffers and operations on whole tiles";
  let description = [{
    Independent of the target, without layouts, threads or synchronisation. A `tile.kernel` holds host code
    (scalars, workspaces, launches); a `tile.launch` holds one sequential program per block.

    * Global memory is a `!tile.global` view that knows its bounds: reads outside give zero, writes do nothing.
    * `!tile.buffer` is mutable storage of one of the scopes of `docs/language.md` section 8. A scalar `var` is a
      buffer of rank 0 and scope `uniform` (in a `tile.threads` region: `local`).
    * Tile values are builtin `tensor`s; element-wise arithmetic on them is that of `arith` and `math`, but for what is
      undefined there: divisions and shifts by what is not a harmless constant are operations of this dialect.
    * `overflow<nsw>` means: the program is in error if this overflows, which checked builds test. It is no fact: passes
      for other targets drop it first (`tile-wrap-integers`). In host code, which is exact, `nsw` stands on signed
      arithmetic and `nuw` on unsigned; what carries neither is not exact but wraps.
    * Control flow is `scf`. A pipelined loop is an `scf.for` with the attribute `tile.stages = n : i32`; an unrolled
      one has `tile.unroll = n : i32` (0: fully). Both mean the serial loop.
    * Integers are signless; where signedness matters the operation says `unsigned`.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  // Attributes `tile.*` are those of dialects/tile/Facts.h; others do not verify.
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

class Tile_Enum<string name, string what, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, what, cases> {
  let cppNamespace = "::tilec::tile";
  let genSpecializedAttr = 0;
}
class Tile_EnumAttr<EnumAttrInfo info, string mnem> : EnumAttr<Tile_Dialect, info, mnem> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_Scope : Tile_Enum<"Scope", "where a buffer lives", [
  I32EnumAttrCase<"Shared", 0, "shared">, I32EnumAttrCase<"Fragment", 1, "fragment">,
  I32EnumAttrCase<"Local", 2, "local">, I32EnumAttrCase<"Uniform", 3, "uniform">]>;

def Tile_CombineKind : Tile_Enum<"CombineKind", "how a reduction or scan combines", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">, I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">,
  I32EnumAttrCase<"Xor", 6, "xor">]>;
def Tile_CombineKindAttr : Tile_EnumAttr<Tile_CombineKind, "combine">;

def Tile_AtomicKind : Tile_Enum<"AtomicKind", "atomic operation", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Min", 1, "min">, I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"And", 3, "and">, I32EnumAttrCase<"Or", 4, "or">, I32EnumAttrCase<"Xor", 5, "xor">,
  I32EnumAttrCase<"Exchange", 6, "exchange">]>;
def Tile_AtomicKindAttr : Tile_EnumAttr<Tile_AtomicKind, "atomic_kind">;

def Tile_MemoryOrder : Tile_Enum<"MemoryOrder", "what an atomic orders", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">, I32EnumAttrCase<"AcqRel", 1, "acq_rel">]>;
def Tile_MemoryOrderAttr : Tile_EnumAttr<Tile_MemoryOrder, "order">;

def Tile_GemmPolicy : Tile_Enum<"GemmPolicy", "how the warps share an accumulator", [
  I32EnumAttrCase<"Square", 0, "square">, I32EnumAttrCase<"FullRow", 1, "full_row">,
  I32EnumAttrCase<"FullCol", 2, "full_col">]>;
def Tile_GemmPolicyAttr : Tile_EnumAttr<Tile_GemmPolicy, "policy">;

def Tile_GemmPrecision : Tile_Enum<"GemmPrecision", "arithmetic of an f32 product", [
  I32EnumAttrCase<"Full", 0, "full">, I32EnumAttrCase<"Tf32", 1, "tf32">]>;
def Tile_GemmPrecisionAttr : Tile_EnumAttr<Tile_GemmPrecision, "precision">;

def Tile_Rounding : Tile_Enum<"Rounding", "how a quotient becomes an integer", [
  I32EnumAttrCase<"Zero", 0, "zero">, I32EnumAttrCase<"Up", 1, "up">, I32EnumAttrCase<"Down", 2, "down">]>;
def Tile_RoundingAttr : Tile_EnumAttr<Tile_Rounding, "rounding">;

def Tile_CacheHint : Tile_Enum<"CacheHint", "how caches keep what is accessed of global memory", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"EvictFirst", 1, "evict_first">,
  I32EnumAttrCase<"EvictLast", 2, "evict_last">, I32EnumAttrCase<"NoAllocate", 3, "no_allocate">]>;
def Tile_CacheHintAttr : Tile_EnumAttr<Tile_CacheHint, "cache">;

def Tile_WarpOpKind : Tile_Enum<"WarpOpKind", "operation among the lanes of a warp", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Min", 1, "min">, I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Any", 3, "any">, I32EnumAttrCase<"All", 4, "all">, I32EnumAttrCase<"Shuffle", 5, "shuffle">,
  I32EnumAttrCase<"ShuffleXor", 6, "shuffle_xor">, I32EnumAttrCase<"ShuffleUp", 7, "shuffle_up">,
  I32EnumAttrCase<"ShuffleDown", 8, "shuffle_down">]>;
def Tile_WarpOpKindAttr : Tile_EnumAttr<Tile_WarpOpKind, "warp_op">;

#endif
