//===- TileOps.td - operations of the tile dialect -----------------------===//
#ifndef TILE_OPS_TD
#define TILE_OPS_TD

include "dialects/tile/TileTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnem, list<Trait> traits = []> : Op<Tile_Dialect, mnem, traits # [OnlyDeclaredAttributes]>;

/// Says in which range its integer results are (TileIntegerOps.cpp).
def Tile_Ranged : DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>;

//===----------------------------------------------------------------------===//
// Kernels and host code
//===----------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "what a host calls: arguments, host code, launches";
  let description = [{
    One compiled instance of a `kernel`. Arguments are `!tile.global` tensors and scalars; their attributes describe
    them for the manifest:
    `tile.name` (string), `tile.dtype` (the language's type name, so that signedness is kept), and for tensors
    `tile.direction` ("in", "out", "inout"), and if so `tile.optional`, `tile.strided`, `tile.align = n : i64`,
    `tile.may_alias = ["X"]`. Kernel attributes: `source_kernel` (name in the source), `parameters` (dictionary of the
    compile-time bindings), `fast_math`.
    The body is host code and ends in `tile.return`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<StrAttr>:$source_kernel, OptionalAttr<DictionaryAttr>:$parameters,
                       UnitAttr:$fast_math);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Name of argument `index` in the source.
    ::llvm::StringRef getArgumentName(unsigned index);
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, HasParent<"KernelOp">, Terminator, ReturnLike]> {
  let summary = "end of a kernel's host code";
  let assemblyFormat = "attr-dict";
}

// Not pure: it is part of the kernel's interface, whether a launch uses it or not.
def Tile_DimOp : Tile_Op<"dim", [Tile_Ranged]> {
  let summary = "a dimension name, bound from a tensor's extent at launch";
  let description = [{
    `%m = tile.dim "M" from %A[0] offset 0 : i32`: the extent of dimension 0 of A minus the offset (an extent `M + 1`
    binds M with offset 1). A dimension that a scalar argument declares needs none of these: the argument is its value.
  }];
  let arguments = (ins StrAttr:$name, Tile_GlobalType:$tensor, I64Attr:$axis,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$name `from` $tensor `[` $axis `]` (`offset` $offset^)? attr-dict `:` qualified(type($tensor)) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_CheckOp : Tile_Op<"check"> {
  let summary = "a condition checked at launch, and a fact to the optimiser";
  let description = [{
    `diagnostic` is the bracketed name of docs/language.md that a failure reports ("where-failed", "dim-mismatch"),
    `text` the message. Each extent of a tensor argument has one of the form `arith.cmpi eq, %extent, %value`, %extent
    being a `tile.extent` of the argument and %value what the declaration says. With `tensor`, an optional argument, the
    check holds of itself if that is absent.
  }];
  let arguments = (ins I1:$condition, StrAttr:$diagnostic, StrAttr:$text, Optional<Tile_GlobalType>:$tensor);
  let assemblyFormat = "$condition `,` $diagnostic `,` $text (`if_present` $tensor^ `:` qualified(type($tensor)))? attr-dict";
}

def Tile_ExtentOp : Tile_Op<"extent", [Pure, Tile_Ranged]> {
  let summary = "extent of one dimension of a view, in elements";
  let arguments = (ins Tile_GlobalType:$source, I64Attr:$axis);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$source `[` $axis `]` attr-dict `:` qualified(type($source)) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_StrideOp : Tile_Op<"stride", [Pure]> {
  let summary = "stride of one dimension of a tensor, in elements";
  let arguments = (ins Tile_GlobalType:$source, I64Attr:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$source `[` $axis `]` attr-dict `:` qualified(type($source))";
  let hasVerifier = 1;
}

def Tile_SmCountOp : Tile_Op<"sm_count", [Pure, Tile_Ranged]> {
  let summary = "number of multiprocessors of the device";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_PresentOp : Tile_Op<"present", [Pure]> {
  let summary = "whether an optional tensor was given";
  let arguments = (ins Tile_GlobalType:$source);
  let results = (outs I1:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source))";
}

def Tile_WorkspaceOp : Tile_Op<"workspace", [MemoryEffects<[MemAlloc]>]> {
  let summary = "global memory for one call, 256-byte aligned, filled with `init` if given";
  let arguments = (ins StrAttr:$name, Variadic<AnyTypeOf<[I32, I64]>>:$extents, OptionalAttr<TypedAttrInterface>:$init,
                       StrAttr:$dtype);
  let results = (outs Tile_GlobalType:$result);
  let description = [{ One operand for each dynamic extent of the result type. }];
  let assemblyFormat = "$name `,` $dtype (`(` $extents^ `:` type($extents) `)`)? (`init` $init^)? attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_LaunchOp : Tile_Op<"launch", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects, AttrSizedOperandSegments]> {
  let summary = "runs its body once for each point of a grid, with `threads` threads sharing the work of a point";
  let description = [{
    Body arguments: the grid indices (i32), first extent fastest. `thread_axes` are the named axes of the short form
    whose body is one region (their product is `threads`); it is then a `tile.threads` inside. Scheduling annotations
    of docs/language.md section 14 are attributes: `persistent` ("static" or "dynamic"), `cluster`, `min_blocks`,
    `max_registers`, `warp_specialize`, `no_tma`, `require`, `overlap`; but `rasterize`, the height of panels of points, is a number
    of the host, at least 1.
  }];
  let arguments = (ins Variadic<AnyTypeOf<[I32, I64]>>:$grid, Optional<I32>:$rasterize, I32Attr:$threads,
                       OptionalAttr<StrAttr>:$persistent,
                       OptionalAttr<DenseI32ArrayAttr>:$cluster, OptionalAttr<I32Attr>:$min_blocks,
                       OptionalAttr<I32Attr>:$max_registers, OptionalAttr<StrAttr>:$warp_specialize,
                       UnitAttr:$no_tma, OptionalAttr<StrArrayAttr>:$require, UnitAttr:$overlap);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `grid` `(` $grid `:` type($grid) `)` `threads` `(` $threads `)` (`rasterize` `(` $rasterize^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["LaunchOp", "ParallelOp", "ThreadsOp", "MapOp", "ReduceWithOp", "ScanWithOp"]>]> {
  let summary = "end of a region of this dialect";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

def Tile_AllocOp : Tile_Op<"alloc", [MemoryEffects<[MemAlloc<DefaultResource>]>]> {
  let summary = "a new buffer, contents undefined, living to the end of the enclosing block";
  let description = [{ `layout` holds `@layout`: "row_major", "swizzle(128)", "padded(8)". `name` is for reports. }];
  let arguments = (ins OptionalAttr<StrAttr>:$name, OptionalAttr<StrAttr>:$layout);
  let results = (outs Tile_BufferType:$result);
  let assemblyFormat = "($name^)? attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_ConstantArrayOp : Tile_Op<"constant_array", [Pure]> {
  let summary = "a constant array of rank 1, readable like a buffer";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SliceOp : Tile_Op<"slice", [Pure, AttrSizedOperandSegments]> {
  let summary = "part of a view, buffer or tile, with bounds of its own";
  let description = [{
    One offset for each dimension of the source: a scalar, or a rank-1 tile of indices (a gather; views of global
    memory only). `static_sizes[d]`: number of indices taken, `kDynamic` for one given in `sizes`, or -1 where the
    dimension is dropped (a single index). For global memory an index is in range if it is below the slice's size
    and in range in the source; negative sizes count as 0. Slices of buffers lie inside the buffer.
  }];
  let arguments = (ins Tile_Operand:$source, Variadic<Tile_Subscript>:$offsets,
                       Variadic<AnyTypeOf<[I32, I64]>>:$sizes, DenseI64ArrayAttr:$static_sizes);
  let results = (outs Tile_Operand:$result);
  let assemblyFormat = [{
    $source `[` $offsets `]` `sizes` $static_sizes (`(` $sizes^ `:` type($sizes) `)`)? attr-dict `:`
    qualified(type($source)) `,` type($offsets) `->` qualified(type($result))
  }];
  let extraClassDeclaration = [{
    /// Marks a dimension dropped by a single index in `static_sizes`.
    static constexpr int64_t kDropped = -1;
    bool isDropped(unsigned axis) { return getStaticSizes()[axis] == kDropped; }
    bool isGather(unsigned axis) { return ::llvm::isa<::mlir::RankedTensorType>(getOffsets()[axis].getType()); }
    /// The operand that holds the size of dimension `axis`; null where the size is static.
    ::mlir::Value getDynamicSize(unsigned axis);
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the same elements in row-major order under another shape";
  let arguments = (ins Tile_Storage:$source, Variadic<AnyTypeOf<[I32, I64]>>:$extents);
  let results = (outs Tile_Storage:$result);
  let assemblyFormat = "$source (`(` $extents^ `:` type($extents) `)`)? attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_BitcastViewOp : Tile_Op<"bitcast_view", [Pure]> {
  let summary = "the same bytes under another element type; the last extent scales";
  let arguments = (ins Tile_Storage:$source);
  let results = (outs Tile_Storage:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_ReadOp : Tile_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "a whole buffer as a tile value (a scalar if the rank is 0)";
  let description = [{ In block code a `local` buffer of shape S reads as a tile of shape [threads, S] (for a scalar: [threads]). }];
  let arguments = (ins Tile_BufferType:$source);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_WriteOp : Tile_Op<"write", [MemoryEffects<[MemWrite]>]> {
  let summary = "stores a tile value (a scalar if the rank is 0) to a whole buffer";
  let arguments = (ins AnyType:$value, Tile_BufferType:$dest);
  let assemblyFormat = "$value `,` $dest attr-dict `:` type($value) `,` qualified(type($dest))";
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "one element, or as many neighbours along the last dimension as the result vector has";
  let arguments = (ins Tile_Operand:$source, Variadic<AnyTypeOf<[AnySignlessInteger, Index]>>:$indices);
  let results = (outs Tile_ScalarOrVector:$result);
  let assemblyFormat = "$source `[` ($indices^ `:` type($indices))? `]` attr-dict `:` qualified(type($source)) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes one element, or as many neighbours along the last dimension as the vector has";
  let arguments = (ins Tile_ScalarOrVector:$value, Tile_Storage:$dest,
                       Variadic<AnyTypeOf<[AnySignlessInteger, Index]>>:$indices);
  let assemblyFormat = "$value `,` $dest `[` ($indices^ `:` type($indices))? `]` attr-dict `:` type($value) `,` qualified(type($dest))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

def Tile_CopyOp : Tile_Op<"copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "moves a region of equal shape, converting as `tile.convert` does";
  let description = [{
    Sizes of the two sides agree; a dynamic size of a global slice agrees at run time. `src_unsigned` and
    `dst_unsigned` say how integers are read when the types differ.
  }];
  let arguments = (ins Tile_Operand:$source, Tile_Storage:$dest, UnitAttr:$src_unsigned, UnitAttr:$dst_unsigned,
                       UnitAttr:$no_tma, DefaultValuedAttr<Tile_CacheHintAttr, "::tilec::tile::CacheHint::None">:$cache,
                       OptionalAttr<ArrayAttr>:$require);
  let assemblyFormat = "$source `to` $dest attr-dict `:` qualified(type($source)) `,` qualified(type($dest))";
  let hasVerifier = 1;
}

def Tile_GemmOp : Tile_Op<"gemm", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "acc = (accumulate ? acc : 0) + A * B";
  let description = [{
    A is `[M, K]`, or `[K, M]` with `transpose_a`; B `[K, N]`, or `[N, K]` with `transpose_b`; acc a fragment (or slice of
    one) `[M, N]`. `a_unsigned`, `b_unsigned`: 8-bit integers without sign.
  }];
  let arguments = (ins Tile_TileOperand:$a, Tile_TileOperand:$b, Tile_BufferType:$acc, UnitAttr:$transpose_a,
                       UnitAttr:$transpose_b, DefaultValuedAttr<BoolAttr, "true">:$accumulate,
                       DefaultValuedAttr<Tile_GemmPolicyAttr, "::tilec::tile::GemmPolicy::Square">:$policy,
                       DefaultValuedAttr<Tile_GemmPrecisionAttr, "::tilec::tile::GemmPrecision::Full">:$precision,
                       DefaultValuedAttr<I32Attr, "128">:$promote, UnitAttr:$a_unsigned, UnitAttr:$b_unsigned,
                       OptionalAttr<ArrayAttr>:$require);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` qualified(type($a)) `,` qualified(type($b)) `,` qualified(type($acc))";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a tile or vector whose elements are all one scalar";
  let arguments = (ins AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$input);
  let results = (outs AnyTypeOf<[AnyRankedTensor, AnyVectorOfNonZeroRank]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "a tile repeated along new dimensions";
  let description = [{
    `axes`, rising: the dimensions of the result that the input does not have. The others are the input's, in order.
    With layouts, the input's is the result's without these dimensions: each thread takes what it holds itself.
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `along` $axes attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ConvertOp : Tile_Op<"convert", [Pure, Elementwise]> {
  let summary = "T(x) of docs/language.md section 4: rounding, saturation and truncation as the language defines them";
  let arguments = (ins Tile_AnyValue:$input, UnitAttr:$src_unsigned, UnitAttr:$dst_unsigned);
  let results = (outs Tile_AnyValue:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

class Tile_IntegerOp<string mnem, dag extra> : Tile_Op<mnem,
    [Pure, Elementwise, SameOperandsAndResultType, Tile_Ranged]> {
  let arguments = !con((ins SignlessIntegerLike:$lhs, SignlessIntegerLike:$rhs), extra);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
  let hasCanonicalizeMethod = 1;
}
def Tile_DivOp : Tile_IntegerOp<"div",
    (ins DefaultValuedAttr<Tile_RoundingAttr, "::tilec::tile::Rounding::Zero">:$rounding, UnitAttr:$is_unsigned)> {
  let summary = "quotient of integers, defined for all: x / 0 is 0, the least integer by -1 is itself";
  let description = [{
    On scalars, outside operations with a body for each element, these two are errors of the program, which checked builds
    stop at. By a constant that is neither 0 nor -1 the front end writes the operation of `arith` instead.
  }];
}
def Tile_RemOp : Tile_IntegerOp<"rem",
    (ins DefaultValuedAttr<Tile_RoundingAttr, "::tilec::tile::Rounding::Zero">:$rounding, UnitAttr:$is_unsigned)> {
  let summary = "what the quotient with this rounding (zero or down) leaves; x by 0 or -1 leaves 0";
  let description = [{ Errors of the program are those of `tile.div`. }];
  let hasVerifier = 1;
}
def Tile_ShlOp : Tile_IntegerOp<"shl", (ins UnitAttr:$is_unsigned)> {
  let summary = "left shift, the count read without sign: by the width or more gives 0";
  let description = [{
    On scalars such a count is an error of the program. `is_unsigned` matters to host code, where the result is exact.
  }];
}
def Tile_ShrOp : Tile_IntegerOp<"shr", (ins UnitAttr:$is_unsigned)> {
  let summary = "right shift, the count read without sign: by the width or more gives 0, or -1 of a negative number";
  let description = [{ On scalars such a count is an error of the program. }];
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "combines over one dimension, which disappears, or over all";
  let description = [{
    Without `axis`: over all dimensions, giving a scalar, as does an axis that was the last one. f16 and bf16 accumulate in
    f32. Input: a tile, or a vector (all of it). `max` and `min` return the number if one operand is NaN.
  }];
  let arguments = (ins Tile_CombineKindAttr:$kind, AnyTypeOf<[AnyRankedTensor, AnyVectorOfNonZeroRank]>:$input,
                       OptionalAttr<I64Attr>:$axis, UnitAttr:$is_unsigned);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$kind $input (`axis` $axis^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReduceWithOp : Tile_Op<"reduce_with", [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "the same for n tiles by a user's combine: 2n scalars in, n out";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, OptionalAttr<I64Attr>:$axis);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "$inputs (`axis` $axis^)? attr-dict `:` type($inputs) `->` type($results) $combine";
  let hasRegionVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [Pure, SameOperandsAndResultType]> {
  let summary = "running results along a dimension";
  let arguments = (ins Tile_CombineKindAttr:$kind, AnyRankedTensor:$input, I64Attr:$axis, UnitAttr:$reverse,
                       UnitAttr:$exclusive, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$kind $input `axis` $axis attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Tile_ScanWithOp : Tile_Op<"scan_with", [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "running results by a user's associative combine";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` type($inputs) `->` type($results) $combine";
  let hasRegionVerifier = 1;
}

def Tile_TransposeOp : Tile_Op<"transpose", [Pure]> {
  let summary = "a new tile [N, M] from [M, N]";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [RecursiveMemoryEffects, RecursivelySpeculatable,
                                 SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "applies scalar code to each element of tiles of one shape";
  let description = [{ Body arguments: one scalar for each input. It has no side effects but those of `tile.verify` and `tile.print`. }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs) (`->` type($results)^)? $body";
  let hasRegionVerifier = 1;
}

def Tile_ParallelOp : Tile_Op<"parallel", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "runs its body once for each index; iterations are unordered and independent";
  let description = [{ Body arguments: one index (i32 or i64, as the extent) for each extent. }];
  let arguments = (ins Variadic<AnyTypeOf<[I32, I64]>>:$extents);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $extents `:` type($extents) `)` attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Tile_ThreadsOp : Tile_Op<"threads", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects, Tile_Ranged]> {
  let summary = "runs its body once per thread";
  let description = [{
    Body arguments: one i32 for each axis; the first runs along a warp. In a `tgpu.kernel`, too, the body is the code of one
    thread: what it computes is a number of each thread's own, no pass spreads it or moves it out.
  }];
  let arguments = (ins DenseI32ArrayAttr:$axes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$axes attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Atomics, diagnostics, thread-level operations
//===----------------------------------------------------------------------===//

def Tile_AtomicOp : Tile_Op<"atomic", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "atomic operation on one element; returns the old value";
  let arguments = (ins Tile_AtomicKindAttr:$kind, AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$value, Tile_Storage:$place,
                       Variadic<AnyTypeOf<[AnySignlessInteger, Index]>>:$indices,
                       DefaultValuedAttr<Tile_MemoryOrderAttr, "::tilec::tile::MemoryOrder::Relaxed">:$order,
                       UnitAttr:$is_unsigned);
  let results = (outs AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$result);
  let assemblyFormat = "$kind $value `,` $place `[` ($indices^ `:` type($indices))? `]` attr-dict `:` type($value) `,` qualified(type($place)) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_AtomicCasOp : Tile_Op<"atomic_cas", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "compare and exchange on one element; returns the old value";
  let arguments = (ins AnySignlessInteger:$expected, AnySignlessInteger:$value, Tile_Storage:$place,
                       Variadic<AnyTypeOf<[AnySignlessInteger, Index]>>:$indices,
                       DefaultValuedAttr<Tile_MemoryOrderAttr, "::tilec::tile::MemoryOrder::Relaxed">:$order);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$expected `,` $value `,` $place `[` ($indices^ `:` type($indices))? `]` attr-dict `:` type($expected) `,` type($value) `,` qualified(type($place)) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_AtomicTileOp : Tile_Op<"atomic_tile", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "atomic operation on a region, element by element";
  let arguments = (ins Tile_AtomicKindAttr:$kind, AnyRankedTensor:$value, Tile_Storage:$place,
                       DefaultValuedAttr<Tile_MemoryOrderAttr, "::tilec::tile::MemoryOrder::Relaxed">:$order,
                       UnitAttr:$is_unsigned);
  let assemblyFormat = "$kind $value `,` $place attr-dict `:` type($value) `,` qualified(type($place))";
  let hasVerifier = 1;
}

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "prints scalars and tiles in place of the `{}` of a format";
  let description = [{
    Once per block, or in a region once per thread, in a map once per element. In a kernel of a GPU `place` is the number of
    this print in its kernel, by which the buffer of messages names it (PrintBuffer.h), and `scratch` the byte offset of the
    shared word through which the threads learn where the message of a tile stands, once allocated.
  }];
  let arguments = (ins StrAttr:$format, Variadic<AnyType>:$values, OptionalAttr<DenseI32ArrayAttr>:$unsigned_values,
                       OptionalAttr<I32Attr>:$place, OptionalAttr<I64Attr>:$scratch);
  let assemblyFormat = "$format (`,` $values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}

def Tile_AssertOp : Tile_Op<"assert"> {
  let summary = "tested under --check, otherwise nothing";
  let arguments = (ins I1:$condition, StrAttr:$format, Variadic<AnyType>:$values,
                       OptionalAttr<DenseI32ArrayAttr>:$unsigned_values);
  let assemblyFormat = "$condition `,` $format (`,` $values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}

def Tile_AssumeOp : Tile_Op<"assume"> {
  let summary = "a fact to the optimiser; tested under --check";
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def Tile_VerifyOp : Tile_Op<"verify", [MemoryEffects<[MemWrite]>]> {
  let summary = "records an error of the program where the condition is false, and goes on";
  let description = [{
    What tile-insert-checks makes of assertions and of operations that can be errors, for targets that go on after one. A tile is a
    condition for each element. `place` is the number of this check in its kernel, `text` the message, in which each `{}`
    stands for one of the values; `unsigned_values` as in `tile.print`. The first failure of all is what the record keeps
    (FailureRecord.h).
  }];
  let arguments = (ins AnyTypeOf<[I1, RankedTensorOf<[I1]>]>:$condition, I32Attr:$place, StrAttr:$text,
                       Variadic<AnyTypeOf<[AnySignlessInteger, AnyFloat]>>:$values,
                       OptionalAttr<DenseI32ArrayAttr>:$unsigned_values);
  let assemblyFormat = "$condition `,` $place $text (`,` $values^ `:` type($values))? attr-dict `:` type($condition)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Tile_SyncThreadsOp : Tile_Op<"sync_threads"> {
  let summary = "barrier of all threads of the block, inside a region";
  let assemblyFormat = "attr-dict";
}
def Tile_SyncWarpOp : Tile_Op<"sync_warp"> {
  let summary = "barrier of the 32 lanes of a warp";
  let assemblyFormat = "attr-dict";
}

def Tile_WarpOp : Tile_Op<"warp", [SameOperandsAndResultType]> {
  let summary = "reduction or exchange among groups of `width` neighbouring lanes";
  let arguments = (ins Tile_WarpOpKindAttr:$kind, AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$value,
                       DefaultValuedAttr<I32Attr, "32">:$width, UnitAttr:$is_unsigned);
  let results = (outs AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$result);
  let description = [{ `width` is a power of two up to 32. Exchanges are `tile.shuffle`. }];
  let assemblyFormat = "$kind $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tile_WarpScanOp : Tile_Op<"warp_scan", [SameOperandsAndResultType]> {
  let summary = "running results along the lanes of groups of `width` neighbouring ones";
  let arguments = (ins Tile_CombineKindAttr:$kind, AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$value,
                       DefaultValuedAttr<I32Attr, "32">:$width, UnitAttr:$reverse, UnitAttr:$exclusive, UnitAttr:$is_unsigned);
  let results = (outs AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$result);
  let assemblyFormat = "$kind $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tile_ShuffleOp : Tile_Op<"shuffle"> {
  let summary = "value of another lane: by number, xor, up or down";
  let arguments = (ins Tile_WarpOpKindAttr:$kind, AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$value,
                       AnySignlessInteger:$lane, DefaultValuedAttr<I32Attr, "32">:$width);
  let results = (outs AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$result);
  let assemblyFormat = "$kind $value `,` $lane attr-dict `:` type($value) `,` type($lane) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_BallotOp : Tile_Op<"ballot"> {
  let summary = "bit mask of the lanes whose condition holds";
  let arguments = (ins I1:$condition);
  let results = (outs I32:$result);
  let assemblyFormat = "$condition attr-dict";
}

def Tile_LaneOp : Tile_Op<"lane", [Tile_Ranged]> {
  let summary = "lane number in the warp, 0 to 31";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

#endif
