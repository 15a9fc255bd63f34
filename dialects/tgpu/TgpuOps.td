//===- TgpuOps.td - operations of the tgpu dialect -----------------------===//
#ifndef TGPU_OPS_TD
#define TGPU_OPS_TD

include "dialects/tgpu/TgpuDialect.td"
include "dialects/tile/TileTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tgpu_Op<string mnem, list<Trait> traits = []> : Op<Tgpu_Dialect, mnem, traits # [OnlyDeclaredAttributes]>;

/// Says in which range its integer results are.
def Tgpu_Ranged : DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Tgpu_KernelOp : Tgpu_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove]> {
  let summary = "device code of a launch, for one target and one set of assumptions";
  let description = [{
    Arguments are the operands of its `tgpu.launch`: `!tile.global` stands for the base address of a tensor or workspace,
    the rest are scalars. Argument attributes: `tgpu.divisible = n : i64` (the value is a multiple of n),
    `tgpu.align` (bytes, of an address). `target` is an architecture ("sm_90a"); `threads` counts those of the
    language, `block_threads` all that are launched (roles added). `launch`: symbol of the tgpu.launch it belongs to.
    `guard`: what the variant assumes. `tensor_maps`: recipes, passed as further parameters of 128 bytes by value
    after the arguments. `persistent`: number of resident blocks per multiprocessor (absent: one block for each point).
    `shared_bytes`: dynamic shared memory, once allocated. `min_blocks`: blocks of a multiprocessor that the program asks room for;
    `aimed_blocks`: that the compiler does, where it does not. `cluster`: extents of a cluster of blocks (Cluster.h). `precedes`: another launch of the call, which `follows`, may come behind
    this one and begin before it has ended.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
                       I32Attr:$threads, OptionalAttr<I32Attr>:$block_threads, OptionalAttr<StrAttr>:$target,
                       OptionalAttr<StrAttr>:$launch, OptionalAttr<StrAttr>:$variant, OptionalAttr<ArrayAttr>:$guard,
                       OptionalAttr<ArrayAttr>:$tensor_maps, OptionalAttr<I32Attr>:$persistent,
                       OptionalAttr<I64Attr>:$shared_bytes, OptionalAttr<I32Attr>:$max_registers,
                       OptionalAttr<I32Attr>:$min_blocks, OptionalAttr<I32Attr>:$aimed_blocks,
                       OptionalAttr<DenseI32ArrayAttr>:$cluster, OptionalAttr<StrArrayAttr>:$require,
                       OptionalAttr<StrAttr>:$warp_specialize, UnitAttr:$fast_math,
                       UnitAttr:$precedes, UnitAttr:$follows);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Threads launched: those of the language and of roles added by the compiler.
    int64_t getLaunchedThreads() { return getBlockThreads().value_or(getThreads()); }
    int64_t getNumWarps() { return getThreads() / 32; }
  }];
}

def Tgpu_ReturnOp : Tgpu_Op<"return", [Pure, HasParent<"KernelOp">, Terminator, ReturnLike]> {
  let summary = "end of a kernel";
  let assemblyFormat = "attr-dict";
}

include "dialects/tgpu/TgpuHostOps.td"
include "dialects/tgpu/TgpuRoleOps.td"

def Tgpu_BlockIdOp : Tgpu_Op<"block_id", [Pure, Tgpu_Ranged]> {
  let summary = "number of this block in the launch";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def Tgpu_NumBlocksOp : Tgpu_Op<"num_blocks", [Pure, Tgpu_Ranged]> {
  let summary = "number of blocks of the launch";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def Tgpu_ClusterIdOp : Tgpu_Op<"cluster_id", [Pure, Tgpu_Ranged]> {
  let summary = "number of this block's cluster in the launch";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def Tgpu_NumClustersOp : Tgpu_Op<"num_clusters", [Pure, Tgpu_Ranged]> {
  let summary = "number of clusters of the launch";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def Tgpu_WarpIdOp : Tgpu_Op<"warp_id", [Pure, Tgpu_Ranged]> {
  let summary = "number of the calling warp in its block, uniform over the warp";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Tgpu_GridPointOp : Tgpu_Op<"grid_point", [AlwaysSpeculatable, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, Tgpu_Ranged, AttrSizedOperandSegments]> {
  let summary = "indices of grid point number `linear`";
  let description = [{
    Of a persistent kernel the beginning of what is done for each point, so that it stays there also where nobody asks for an index,
    until tgpu-make-persistent has made the loop. Pure elsewhere.
    First extent fastest. With `group` g, at least 1 (rank 2 or more), points go in panels of g along the second index: within a
    panel the second index runs fastest, so that neighbouring blocks share operands in L2.
    With `cluster` (that of the kernel) `linear` is the number of a box of as many points, which a cluster has at once: each
    block that at its own place in the box. The extents are multiples of the cluster's; a panel is as many boxes as hold `group`.
    `inverses`, none or one for each d of pointDivisors() (GridPoint.h): 2^62 / d + 1, by which is multiplied in place of dividing by d.
  }];
  let arguments = (ins I32:$linear, Variadic<I32>:$extents, Optional<I32>:$group, Variadic<I64>:$inverses,
                       OptionalAttr<DenseI32ArrayAttr>:$cluster);
  let results = (outs Variadic<I32>:$indices);
  let assemblyFormat = "$linear `in` `(` $extents `)` (`group` `(` $group^ `)`)? (`inverses` `(` $inverses^ `)`)? attr-dict `:` type($indices)";
  let hasVerifier = 1;
}

def Tgpu_ViewOp : Tgpu_Op<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "a kernel argument with its extents and strides";
  let description = [{
    One extent (elements) for each dimension, one stride (elements) for each but the last, which is 1. `reshaped`: they are
    not the argument's own, the program gave them (`reshape`).
  }];
  let arguments = (ins Tile_GlobalType:$base, Variadic<AnyTypeOf<[I32, I64]>>:$extents,
                       Variadic<AnyTypeOf<[I32, I64]>>:$strides, UnitAttr:$reshaped);
  let results = (outs Tile_GlobalType:$result);
  let assemblyFormat = "$base `extents` `(` ($extents^ `:` type($extents))? `)` `strides` `(` ($strides^ `:` type($strides))? `)` attr-dict `:` qualified(type($base)) `->` qualified(type($result))";
}

//===----------------------------------------------------------------------===//
// Shared memory and channels
//===----------------------------------------------------------------------===//

def Tgpu_AllocSharedOp : Tgpu_Op<"alloc_shared", [MemoryEffects<[MemAlloc<DefaultResource>]>]> {
  let summary = "a buffer (or ring of buffers) in shared memory";
  let description = [{
    Lives from here to the end of the enclosing block. `offset`: bytes from the start of dynamic shared memory, once
    allocated. `layout_hint` is the user's `@layout`.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$name, OptionalAttr<StrAttr>:$layout_hint, OptionalAttr<I64Attr>:$offset);
  let results = (outs Tgpu_SmemType:$result);
  let assemblyFormat = "($name^)? attr-dict `:` qualified(type($result))";
}

def Tgpu_SlotOp : Tgpu_Op<"slot", [Pure]> {
  let summary = "buffer number position mod n of a ring";
  let arguments = (ins Tgpu_SmemType:$ring, I32:$position);
  let results = (outs Tgpu_SmemType:$result);
  let assemblyFormat = "$ring `[` $position `]` attr-dict `:` qualified(type($ring)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Tgpu_SubviewOp : Tgpu_Op<"subview", [Pure]> {
  let summary = "a static part of a buffer; its layout is the buffer's";
  let description = [{
    The result type carries the part's shape and the *whole* buffer's layout; offsets accumulate at lowering.
  }];
  let arguments = (ins Tgpu_SmemType:$source, DenseI64ArrayAttr:$offsets);
  let results = (outs Tgpu_SmemType:$result);
  let assemblyFormat = "$source `at` $offsets attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Tgpu_ChannelOp : Tgpu_Op<"channel", [MemoryEffects<[MemAlloc<DefaultResource>]>]> {
  let summary = "the barriers of a ring, initialised at the start of the kernel";
  let description = [{
    `producers`: arrivals that complete a full barrier, besides the bytes expected of TMA; `consumers`: arrivals that
    complete an empty barrier (one for each warp that releases). `offset` as for buffers (8 bytes a barrier, full ones
    first). `guards`: rings whose slots a role hands to others by publishing here, and that no one touches without it, besides
    those that TMA fills for the channel. Without any what a role publishes is all that it has used before.

    `across`: blocks of the cluster that differ along these dimensions of it alone fill each other's slots. Each says all of this of its
    own; to acquire a slot is then to wait until it is free in all of them, for which there is a third barrier, behind the empty ones.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$name, I32Attr:$producers, I32Attr:$consumers, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<DenseI32ArrayAttr>:$across, Variadic<Tgpu_SmemType>:$guards);
  let results = (outs Tgpu_ChannelType:$result);
  let hasVerifier = 1;
  let assemblyFormat = "($name^)? (`guards` `(` $guards^ `:` qualified(type($guards)) `)`)? attr-dict `:` qualified(type($result))";
}

class Tgpu_ChannelUse<string mnem, string what> : Tgpu_Op<mnem> {
  let summary = what;
  let arguments = (ins Tgpu_ChannelType:$channel, I32:$position);
  let assemblyFormat = "$channel `[` $position `]` attr-dict `:` qualified(type($channel))";
}
def Tgpu_AcquireOp : Tgpu_ChannelUse<"acquire", "waits until the slot's last readers have released it (at once in the first round)">;
def Tgpu_PublishOp : Tgpu_ChannelUse<"publish", "arrives at the full barrier: the calling thread's writes are done">;
def Tgpu_WaitOp : Tgpu_ChannelUse<"wait", "waits until the slot is full; its contents are then visible to the calling warps">;
def Tgpu_ReleaseOp : Tgpu_ChannelUse<"release", "one lane of each calling warp arrives at the empty barrier">;

def Tgpu_ExpectOp : Tgpu_Op<"expect"> {
  let summary = "arrives at the full barrier, which then also counts `bytes` bytes of TMA";
  let arguments = (ins Tgpu_ChannelType:$channel, I32:$position, I64Attr:$bytes);
  let assemblyFormat = "$channel `[` $position `]` `bytes` $bytes attr-dict `:` qualified(type($channel))";
}

def Tgpu_BarrierOp : Tgpu_Op<"barrier"> {
  let summary = "named barrier of `threads` threads (0: all of the block)";
  let description = [{ Of several `groups` of neighbouring warps, as many in each, each meets alone, at a barrier of its own (groupBarrier). }];
  let arguments = (ins DefaultValuedAttr<I32Attr, "0">:$id, DefaultValuedAttr<I32Attr, "0">:$threads,
                       DefaultValuedAttr<I32Attr, "1">:$groups);
  let assemblyFormat = "attr-dict";
}
def Tgpu_BarrierArriveOp : Tgpu_Op<"barrier_arrive"> {
  let summary = "arrives at a named barrier without waiting";
  let arguments = (ins I32Attr:$id, I32Attr:$threads);
  let assemblyFormat = "attr-dict";
}
def Tgpu_FenceAsyncOp : Tgpu_Op<"fence_async"> {
  let summary = "orders the calling thread's reads and writes of shared (or `global`) memory before later accesses by the async proxy (TMA, wgmma)";
  let arguments = (ins UnitAttr:$global);
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def Tgpu_CopyOp : Tgpu_Op<"copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a slice of global memory to a buffer, or back; complete when it returns";
  let description = [{ `path` once chosen; `bytes`: width of one access. Out of range: zero, or not written. }];
  let arguments = (ins AnyTypeOf<[Tile_GlobalType, Tgpu_SmemType]>:$source, AnyTypeOf<[Tile_GlobalType, Tgpu_SmemType]>:$dest,
                       OptionalAttr<Tgpu_CopyPathAttr>:$path, OptionalAttr<I32Attr>:$bytes, UnitAttr:$no_tma,
                       DefaultValuedAttr<Tile_CacheHintAttr, "::tilec::tile::CacheHint::None">:$cache,
                       OptionalAttr<ArrayAttr>:$require);
  let assemblyFormat = "$source `to` $dest attr-dict `:` qualified(type($source)) `,` qualified(type($dest))";
  let hasVerifier = 1;
}

def Tgpu_TmaLoadOp : Tgpu_Op<"tma_load", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "issues TMA loads of a slice into a buffer, counted by the full barrier of a channel's slot";
  let description = [{
    Issued by the calling thread (inside `tgpu.one_thread`). The source is a slice of a `tgpu.view`; `map` is the number
    of its recipe in the kernel's `tensor_maps`.
    `across`, some of the channel's: blocks of the cluster that differ along these dimensions alone load the same slice, each a
    share of its boxes for all of them.
  }];
  let arguments = (ins Tile_GlobalType:$source, Tgpu_SmemType:$dest, Tgpu_ChannelType:$channel, I32:$position,
                       I32Attr:$map, OptionalAttr<DenseI32ArrayAttr>:$across,
                       DefaultValuedAttr<Tile_CacheHintAttr, "::tilec::tile::CacheHint::None">:$cache);
  let hasVerifier = 1;
  let assemblyFormat = "$source `to` $dest `on` $channel `[` $position `]` attr-dict `:` qualified(type($source)) `,` qualified(type($dest)) `,` qualified(type($channel))";
}

def Tgpu_TmaStoreOp : Tgpu_Op<"tma_store", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "issues TMA stores of a buffer to a slice of global memory";
  let description = [{ In a `tgpu.one_thread` of several groups each thread stores the rows of its group. }];
  let arguments = (ins Tgpu_SmemType:$source, Tile_GlobalType:$dest, I32Attr:$map,
                       DefaultValuedAttr<Tile_CacheHintAttr, "::tilec::tile::CacheHint::None">:$cache);
  let assemblyFormat = "$source `to` $dest attr-dict `:` qualified(type($source)) `,` qualified(type($dest))";
}
def Tgpu_TmaStoreCommitOp : Tgpu_Op<"tma_store_commit"> {
  let summary = "closes a group of TMA stores of the calling thread";
  let assemblyFormat = "attr-dict";
}
def Tgpu_TmaStoreWaitOp : Tgpu_Op<"tma_store_wait"> {
  let summary = "waits until at most `pending` groups of TMA stores of the calling thread are still read from (or, without `read`, incomplete)";
  let arguments = (ins I32Attr:$pending, UnitAttr:$read);
  let assemblyFormat = "$pending attr-dict";
}

def Tgpu_CpAsyncOp : Tgpu_Op<"cp_async", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "issues cp.async of a slice into a buffer, `bytes` bytes an access, zero-filling what is out of range";
  let arguments = (ins Tile_GlobalType:$source, Tgpu_SmemType:$dest, I32Attr:$bytes,
                       DefaultValuedAttr<Tile_CacheHintAttr, "::tilec::tile::CacheHint::None">:$cache);
  let assemblyFormat = "$source `to` $dest attr-dict `:` qualified(type($source)) `,` qualified(type($dest))";
}
def Tgpu_CpAsyncCommitOp : Tgpu_Op<"cp_async_commit"> {
  let summary = "closes a group of the calling thread's cp.async";
  let assemblyFormat = "attr-dict";
}
def Tgpu_CpAsyncWaitOp : Tgpu_Op<"cp_async_wait"> {
  let summary = "waits until at most `pending` groups of the calling thread are incomplete";
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Tgpu_LoadOp : Tgpu_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "a slice of global memory as a fragment; zero out of range";
  let arguments = (ins Tile_GlobalType:$source, OptionalAttr<I32Attr>:$bytes,
                       DefaultValuedAttr<Tile_CacheHintAttr, "::tilec::tile::CacheHint::None">:$cache);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` type($result)";
}
def Tgpu_StoreOp : Tgpu_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a fragment to a slice of global memory; nothing out of range";
  let description = [{ With path `tma` it goes through shared memory; `bytes` bounds the width of one plain access. }];
  let arguments = (ins AnyRankedTensor:$value, Tile_GlobalType:$dest, OptionalAttr<Tgpu_CopyPathAttr>:$path,
                       OptionalAttr<I32Attr>:$bytes, UnitAttr:$no_tma,
                       DefaultValuedAttr<Tile_CacheHintAttr, "::tilec::tile::CacheHint::None">:$cache,
                       OptionalAttr<ArrayAttr>:$require);
  let assemblyFormat = "$value `,` $dest attr-dict `:` type($value) `,` qualified(type($dest))";
}
def Tgpu_LocalLoadOp : Tgpu_Op<"local_load", [MemoryEffects<[MemRead]>]> {
  let summary = "a buffer as a fragment (ldmatrix or ld.shared, whichever its layouts admit)";
  let arguments = (ins Tgpu_SmemType:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` type($result)";
}
def Tgpu_LocalStoreOp : Tgpu_Op<"local_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a fragment to a buffer (stmatrix or st.shared, whichever its layouts admit)";
  let description = [{ `groups`: so many groups of neighbouring warps each write rows of their own, in order (RegisterLayout::hasRowGroups). }];
  let arguments = (ins AnyRankedTensor:$value, Tgpu_SmemType:$dest, DefaultValuedAttr<I32Attr, "1">:$groups);
  let assemblyFormat = "$value `,` $dest attr-dict `:` type($value) `,` qualified(type($dest))";
  let hasVerifier = 1;
}
def Tgpu_ZeroBeyondOp : Tgpu_Op<"zero_beyond", [MemoryEffects<[MemWrite]>, SameVariadicOperandSize]> {
  let summary = "zeros in place of the elements of a buffer outside a box";
  let description = [{
    The box reaches in each dimension from `low` to `high` (exclusive), the rest of the buffer is written by all threads. TMA fills with
    zeros what is outside a tensor; this does it for what is inside, but outside a view of part of it.
  }];
  let arguments = (ins Tgpu_SmemType:$dest, Variadic<I32>:$low, Variadic<I32>:$high);
  let assemblyFormat = "$dest `from` `(` $low `)` `to` `(` $high `)` attr-dict `:` qualified(type($dest))";
  let hasVerifier = 1;
}
def Tgpu_CoordinateOp : Tgpu_Op<"coordinate", [Pure]> {
  let summary = "0, 1, 2, ...: the index of each element of a tile of one dimension";
  let description = [{
    Costs the same in any layout, each thread computes those of its own slots: so it ties no layout, and is repeated where
    another one is needed.
  }];
  let results = (outs 1DTensorOf<[I32, I64]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tgpu_PackedTile : AnyTypeOf<[AnyRankedTensor, AnyVectorOfNonZeroRank]>;

class Tgpu_PackingOp<string mnem> : Tgpu_Op<mnem, [Pure]> {
  let arguments = (ins Tgpu_PackedTile:$source);
  let results = (outs Tgpu_PackedTile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def Tgpu_UnpackOp : Tgpu_PackingOp<"unpack"> {
  let summary = "the elements of 4 bits that are packed in bytes: twice as many along the last dimension";
  let description = [{ The even one is the low half. With layouts, a thread holds both elements of each byte that it holds. }];
}
def Tgpu_PackOp : Tgpu_PackingOp<"pack"> {
  let summary = "bytes of two elements of 4 bits each: the inverse of `tgpu.unpack`";
}

// Indices, mask and value are scalars or tiles of one shape, that of the result; if all are scalars, so is it.
def Tgpu_Place : AnyTypeOf<[Tile_GlobalType, Tile_BufferType, Tgpu_SmemType]>;
def Tgpu_Index : AnyTypeOf<[AnySignlessInteger, RankedTensorOf<[AnySignlessInteger]>]>;
def Tgpu_Mask : AnyTypeOf<[I1, RankedTensorOf<[I1]>]>;
def Tgpu_Element : AnyTypeOf<[AnySignlessInteger, AnyFloat, AnyRankedTensor]>;

def Tgpu_GatherOp : Tgpu_Op<"gather", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "elements of a view or shared buffer at computed indices; zero where the mask is false";
  let description = [{
    One index for each dimension of the source. Of a view, what is out of range is zero; of a buffer it is an error of the
    program where the mask holds.
  }];
  let arguments = (ins Tgpu_Place:$source, Variadic<Tgpu_Index>:$indices, Optional<Tgpu_Mask>:$mask);
  let results = (outs Tgpu_Element:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` (`if` $mask^)? attr-dict `:` qualified(type($source)) `[` type($indices) `]` (`if` type($mask)^)?
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tgpu_ScatterOp : Tgpu_Op<"scatter", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "writes elements of a view or shared buffer at computed indices, where the mask holds";
  let description = [{
    As `tgpu.gather`; of a view, what is out of range is not written. Two elements of the tile go to different places: the order of
    writes is open. Where several threads hold an element, one of them writes it.
  }];
  let arguments = (ins Tgpu_Element:$value, Tgpu_Place:$dest, Variadic<Tgpu_Index>:$indices, Optional<Tgpu_Mask>:$mask);
  let assemblyFormat = [{
    $value `,` $dest `[` $indices `]` (`if` $mask^)? attr-dict `:` type($value) `,` qualified(type($dest)) `[` type($indices) `]`
    (`if` type($mask)^)?
  }];
  let hasVerifier = 1;
}

def Tgpu_LookupOp : Tgpu_Op<"lookup", [Pure, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "elements of a constant array";
  let description = [{ An index outside of the array, an error of the program, gives some element of it. }];
  let arguments = (ins ElementsAttr:$table, Tgpu_Index:$index);
  let results = (outs Tgpu_Element:$result);
  let assemblyFormat = "$table `[` $index `]` attr-dict `:` type($index) `->` type($result)";
  let hasVerifier = 1;
}

def Tgpu_AtomicOp : Tgpu_Op<"atomic", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "atomic operations on elements of a view or shared buffer at computed indices, where the mask holds";
  let description = [{
    As `tgpu.scatter`, but several elements of the tile may meet in one place. With `expecting` the kind is an exchange, which happens
    where the place holds that value. In a region each thread runs it, with scalars, and has the old value as the result, and so has
    the one thread of `tgpu.one_thread`. In block code
    an element belongs to one thread, the first one where all are scalars, and the old values go to the shared buffer `old`, of the
    tile's shape ([1] for scalars): 0 where nothing was accessed.
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tgpu_Element:$value, Optional<Tgpu_Element>:$expected, Tgpu_Place:$dest,
                       Variadic<Tgpu_Index>:$indices, Optional<Tgpu_Mask>:$mask,
                       Optional<AnyTypeOf<[Tile_BufferType, Tgpu_SmemType]>>:$old,
                       DefaultValuedAttr<Tile_MemoryOrderAttr, "::tilec::tile::MemoryOrder::Relaxed">:$order,
                       UnitAttr:$is_unsigned);
  let results = (outs Optional<AnyTypeOf<[AnySignlessInteger, AnyFloat]>>:$result);
  let assemblyFormat = [{
    $kind $value (`expecting` $expected^)? `,` $dest `[` $indices `]` (`if` $mask^)? (`old` $old^)? attr-dict `:` type($value)
    (`expecting` type($expected)^)? `,` qualified(type($dest)) `[` type($indices) `]` (`if` type($mask)^)?
    (`old` qualified(type($old))^)? (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Tgpu_AtomicTileOp : Tgpu_Op<"atomic_tile", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "atomic operations on the elements of a slice, one for each element of the tile";
  let description = [{
    What is out of range is left alone. `bytes`: how many neighbours one instruction may take, as in `tgpu.store`.
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, AnyRankedTensor:$value, Tile_GlobalType:$dest, OptionalAttr<I32Attr>:$bytes,
                       DefaultValuedAttr<Tile_MemoryOrderAttr, "::tilec::tile::MemoryOrder::Relaxed">:$order,
                       UnitAttr:$is_unsigned);
  let assemblyFormat = "$kind $value `,` $dest attr-dict `:` type($value) `,` qualified(type($dest))";
  let hasVerifier = 1;
}

def Tgpu_LoadElementOp : Tgpu_Op<"load_element", [MemoryEffects<[MemRead]>]> {
  let summary = "one element of a buffer, or as many neighbours along its last dimension as the result vector has";
  let description = [{
    Each calling thread reads by indices of its own. An index outside of the buffer, an error of the program, gives some
    element of it.
  }];
  let arguments = (ins Tgpu_SmemType:$source, Variadic<AnyTypeOf<[I32, I64, Index]>>:$indices);
  let results = (outs Tile_ScalarOrVector:$result);
  let assemblyFormat = "$source `[` ($indices^ `:` type($indices))? `]` attr-dict `:` qualified(type($source)) `->` type($result)";
  let hasVerifier = 1;
}
def Tgpu_StoreElementOp : Tgpu_Op<"store_element", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes one element of a buffer, or as many neighbours along its last dimension as the vector has";
  let description = [{
    In a region (`tile.threads`) each calling thread writes; in block code, where value and indices are uniform, one of them
    does. Nothing is written where an index is outside of the buffer.
  }];
  let arguments = (ins Tile_ScalarOrVector:$value, Tgpu_SmemType:$dest, Variadic<AnyTypeOf<[I32, I64, Index]>>:$indices);
  let assemblyFormat = "$value `,` $dest `[` ($indices^ `:` type($indices))? `]` attr-dict `:` type($value) `,` qualified(type($dest))";
  let hasVerifier = 1;
}
def Tgpu_ReduceInWarpsOp : Tgpu_Op<"reduce_in_warps", [RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "combines what each warp holds of dimension `axis`, which then counts the warps that hold parts of it";
  let description = [{
    The first step of a reduction across warps (layout::planWarpParts gives the layout of the results); what it leaves to do is a
    conversion of layouts and a reduction in each thread. It combines by a `kind`, or as `tile.reduce_with` by a region that
    takes the elements of two parts, of the lower one first.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$axis, OptionalAttr<Tile_CombineKindAttr>:$kind,
                       UnitAttr:$is_unsigned);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region MaxSizedRegion<1>:$combine);
  let assemblyFormat = "$inputs `axis` $axis (`by` $kind^)? attr-dict `:` type($inputs) `->` type($results) ($combine^)?";
  let hasRegionVerifier = 1;
}
def Tgpu_ScanInWarpsOp : Tgpu_Op<"scan_in_warps", [RecursiveMemoryEffects, RecursivelySpeculatable, SameVariadicResultSize]> {
  let summary = "running results of what each warp holds of each row, and what all of that makes together";
  let description = [{
    The first step of a scan across warps. `totals` are the parts of the warps, as of `tgpu.reduce_in_warps`, combined in order.
    It combines by a `kind`, or as `tile.scan_with` by a region.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$axis, OptionalAttr<Tile_CombineKindAttr>:$kind, UnitAttr:$reverse,
                       UnitAttr:$exclusive, UnitAttr:$is_unsigned);
  let results = (outs Variadic<AnyRankedTensor>:$scanned, Variadic<AnyRankedTensor>:$totals);
  let regions = (region MaxSizedRegion<1>:$combine);
  let assemblyFormat = "$inputs `axis` $axis (`by` $kind^)? attr-dict `:` type($inputs) `->` type($scanned) `totals` type($totals) ($combine^)?";
  let hasRegionVerifier = 1;
}
def Tgpu_ScanAcrossWarpsOp : Tgpu_Op<"scan_across_warps", [RecursiveMemoryEffects, RecursivelySpeculatable, SameVariadicOperandSize]> {
  let summary = "running results of rows from those of each warp and the totals of all warps, which each thread holds";
  let description = [{ The last step of a scan across warps: each combines what the warps before it make with what it has. }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$totals, I64Attr:$axis,
                       OptionalAttr<Tile_CombineKindAttr>:$kind, UnitAttr:$reverse, UnitAttr:$is_unsigned);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region MaxSizedRegion<1>:$combine);
  let assemblyFormat = "$inputs `after` $totals `axis` $axis (`by` $kind^)? attr-dict `:` type($inputs) `after` type($totals) `->` type($results) ($combine^)?";
  let hasRegionVerifier = 1;
}
def Tgpu_YieldOp : Tgpu_Op<"yield", [Pure, ReturnLike, Terminator,
                                      ParentOneOf<["CostOp", "ReduceInWarpsOp", "ScanInWarpsOp", "ScanAcrossWarpsOp", "StreamOp"]>]> {
  let summary = "end of the region of an operation that combines, of a cost, or of a stream or one of its events";
  let arguments = (ins Variadic<AnyType>:$operands);
  let builders = [OpBuilder<(ins), [{ }]>];
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}
def Tgpu_ConvertLayoutOp : Tgpu_Op<"convert_layout", [Pure]> {
  let summary = "the same fragment in another layout";
  let description = [{ Registers, shuffles, or shared memory (`scratch`: byte offset of its buffer, once allocated). }];
  let arguments = (ins AnyRankedTensor:$source, OptionalAttr<I64Attr>:$scratch);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

def Tgpu_MatrixOperand : AnyTypeOf<[Tgpu_SmemType, AnyRankedTensor]>;
def Tgpu_Accumulator : AnyTypeOf<[AnyRankedTensor, Tgpu_PendingType]>;


def Tgpu_DotOp : Tgpu_Op<"dot", [MemoryEffects<[MemRead]>]> {
  let summary = "acc + A * B, before an instruction is chosen and after (attribute `mma`)";
  let description = [{
    A `[M, K]` (`[K, M]` with transpose_a), B `[K, N]` (`[N, K]` with transpose_b); without `accumulate` acc counts as 0. The
    other attributes are those of `tile.gemm`.
  }];
  let arguments = (ins Tgpu_MatrixOperand:$a, Tgpu_MatrixOperand:$b, AnyRankedTensor:$acc, UnitAttr:$transpose_a,
                       UnitAttr:$transpose_b, DefaultValuedAttr<BoolAttr, "true">:$accumulate,
                       DefaultValuedAttr<Tile_GemmPolicyAttr, "::tilec::tile::GemmPolicy::Square">:$policy,
                       DefaultValuedAttr<Tile_GemmPrecisionAttr, "::tilec::tile::GemmPrecision::Full">:$precision,
                       DefaultValuedAttr<I32Attr, "128">:$promote, UnitAttr:$a_unsigned, UnitAttr:$b_unsigned,
                       OptionalAttr<Tgpu_MmaAttr>:$mma, OptionalAttr<ArrayAttr>:$require);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` qualified(type($a)) `,` qualified(type($b)) `,` type($acc) `->` type($result)";
  let hasVerifier = 1;
}

def Tgpu_WgmmaFenceOp : Tgpu_Op<"wgmma_fence"> {
  let summary = "orders accesses to the registers of the wgmmas that follow";
  let assemblyFormat = "attr-dict";
}

def Tgpu_WgmmaBeginOp : Tgpu_Op<"wgmma_begin", [Pure]> {
  let summary = "a complete accumulator as the first of a chain of pending ones";
  let description = [{ Costs nothing: it gives loop-carried accumulators one type from the first iteration on. }];
  let arguments = (ins AnyRankedTensor:$acc);
  let results = (outs Tgpu_PendingType:$result);
  let assemblyFormat = "$acc attr-dict `:` type($acc) `->` qualified(type($result))";
}
def Tgpu_HiddenOp : Tgpu_Op<"hidden", [AllTypesMatch<["value", "result"]>]> {
  let summary = "the same values, in registers of which LLVM does not know what they hold";
  let arguments = (ins Tgpu_Accumulator:$value);
  let results = (outs Tgpu_Accumulator:$result);
  let assemblyFormat = "$value attr-dict `:` qualified(type($result))";
}
def Tgpu_WgmmaOp : Tgpu_Op<"wgmma", [MemoryEffects<[MemRead]>]> {
  let summary = "issues acc + A * B on the tensor cores of the calling warpgroups; the result is pending";
  let description = [{
    B in shared memory, A there or a fragment. Verified with layouts: each owner of an element of the result accumulates each
    k exactly once (layout::MatrixProduct::check). All k-steps of one instruction shape `mma` are issued; `tgpu.wgmma_commit`
    closes the group. `use_acc`: when present and false, acc counts as 0 (scale-d at run time); without
    `accumulate` it does so always.
  }];
  let arguments = (ins Tgpu_MatrixOperand:$a, Tgpu_SmemType:$b, Tgpu_Accumulator:$acc, Optional<I1>:$use_acc,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b, DefaultValuedAttr<BoolAttr, "true">:$accumulate,
                       UnitAttr:$a_unsigned, UnitAttr:$b_unsigned, Tgpu_MmaAttr:$mma);
  let results = (outs Tgpu_PendingType:$result);
  let assemblyFormat = "$a `,` $b `,` $acc (`if` $use_acc^)? attr-dict `:` qualified(type($a)) `,` qualified(type($b)) `,` qualified(type($acc)) `->` qualified(type($result))";
  let hasVerifier = 1;
}
def Tgpu_WgmmaCommitOp : Tgpu_Op<"wgmma_commit"> {
  let summary = "closes a group of wgmmas of the calling warpgroups";
  let assemblyFormat = "attr-dict";
}
def Tgpu_WgmmaWaitOp : Tgpu_Op<"wgmma_wait", [AttrSizedOperandSegments]> {
  let summary = "waits until at most `pending` groups are incomplete and gives the accumulators that are then complete";
  let description = [{
    Operands that `keep` in-flight accumulators tied to the wait may be given too: a result of `!tgpu.pending` type is
    still being written (its group is among the `pending` youngest). `fragments` are the A operands that products whose
    flight may end here read from registers: the wait uses them, so that nothing else gets their registers before it.
  }];
  let arguments = (ins I32Attr:$pending, Variadic<Tgpu_PendingType>:$inputs, Variadic<AnyRankedTensor>:$fragments);
  let results = (outs Variadic<Tgpu_Accumulator>:$results);
  let assemblyFormat = [{
    $pending (`,` $inputs^ `:` qualified(type($inputs)) `->` qualified(type($results)))?
    (`reads` $fragments^ `:` type($fragments))? attr-dict
  }];
  let hasVerifier = 1;
}

def Tgpu_MmaOp : Tgpu_Op<"mma", [Pure]> {
  let summary = "acc + A * B with mma.sync on fragments in operand layouts";
  let description = [{ Verified with layouts as `tgpu.wgmma`. Padding of k in A and B holds zeros. }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b, AnyRankedTensor:$acc, UnitAttr:$a_unsigned, UnitAttr:$b_unsigned,
                       Tgpu_MmaAttr:$mma);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `,` type($acc) `->` type($result)";
  let hasVerifier = 1;
}

def Tgpu_FmaOp : Tgpu_Op<"fma", [MemoryEffects<[MemRead]>]> {
  let summary = "acc + A * B with scalar multiply-adds, operands read from shared memory";
  let description = [{ Any layouts: each thread computes the elements of the accumulator that it holds. }];
  let arguments = (ins Tgpu_SmemType:$a, Tgpu_SmemType:$b, AnyRankedTensor:$acc, UnitAttr:$transpose_a,
                       UnitAttr:$transpose_b, UnitAttr:$a_unsigned, UnitAttr:$b_unsigned);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` qualified(type($a)) `,` qualified(type($b)) `,` type($acc) `->` type($result)";
  let hasVerifier = 1;
}

include "dialects/tgpu/TgpuDependentOps.td"
include "dialects/tgpu/TgpuFragmentOps.td"
include "dialects/tgpu/TgpuPartialOps.td"
include "dialects/tgpu/TgpuStreamOps.td"

#endif
