//===- TgpuDialect.td - the tgpu dialect, its attributes and types -------===//
#ifndef TGPU_DIALECT_TD
#define TGPU_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"

def Tgpu_Dialect : Dialect {
  let name = "tgpu";
  let cppNamespace = "::tilec::tgpu";
  let summary = "What a GPU does with tiles: layouts, asynchronous copies, matrix instructions, roles, synchronisation";
  let description = [{
    A `tgpu.kernel` is the device code of one launch, written for all warps of a block together.

    * A **fragment** is an SSA value: a builtin `tensor` whose encoding is a `#tgpu.fragment` layout (absent before
      layout inference). A value of `!tgpu.pending` is a fragment that a matrix instruction is still writing:
      only `tgpu.wgmma` may take it, and `tgpu.wgmma_wait` turns it into the fragment.
    * **Shared memory** is `!tgpu.smem`, a buffer with a `#tgpu.shared` layout; a ring of n buffers has a leading
      dimension n, and `tgpu.slot` is one of them.
    * A **channel** guards a ring (or one buffer) between those who fill it and those who read it: a full and an
      empty barrier for each slot. Positions count on without end; position p is slot p mod n, and the parity of its
      barriers is (p / n) mod 2. `tgpu.acquire` .. fill .. on the one side, `tgpu.wait` .. read .. `tgpu.release` on the other.
    * A **schedule** is data: on each operation of a pipelined loop the attribute `tgpu.schedule = #tgpu.stage<s, o>`
      (iteration distance s, order o); on a wait, `#tgpu.stage<s, o, hold = 37>` places it inside the element-wise work
      of the same order, after 37 % of it. What that becomes is a `tgpu.stream`.
    * `tgpu.roles` gives warps different programs.
  }];
  let dependentDialects = ["::tilec::tile::TileDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  // Attributes `tgpu.*` are the facts of dialects/tgpu/Tgpu.h; others do not verify.
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Plans of the conversions of layouts in this context.
    ::tilec::layout::ConversionPlans &getConversionPlans() { return conversionPlans; }

  private:
    ::tilec::layout::ConversionPlans conversionPlans;

  public:
  }];
}

class Tgpu_Enum<string name, string what, list<I32EnumAttrCase> cases> : I32EnumAttr<name, what, cases> {
  let cppNamespace = "::tilec::tgpu";
  let genSpecializedAttr = 0;
}
class Tgpu_EnumAttr<EnumAttrInfo info, string mnem> : EnumAttr<Tgpu_Dialect, info, mnem> {
  let assemblyFormat = "`<` $value `>`";
}

def Tgpu_MmaKind : Tgpu_Enum<"MmaKind", "what computes a matrix product", [
  I32EnumAttrCase<"Wgmma", 0, "wgmma">, I32EnumAttrCase<"MmaSync", 1, "mma_sync">, I32EnumAttrCase<"Fma", 2, "fma">]>;

def Tgpu_CopyPath : Tgpu_Enum<"CopyPath", "how data moves", [
  I32EnumAttrCase<"Tma", 0, "tma">, I32EnumAttrCase<"CpAsync", 1, "cp_async">,
  I32EnumAttrCase<"Vector", 2, "vector">]>;
def Tgpu_CopyPathAttr : Tgpu_EnumAttr<Tgpu_CopyPath, "path">;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Tgpu_Attr<string name, string mnem, list<Trait> traits = []> : AttrDef<Tgpu_Dialect, name, traits> {
  let mnemonic = mnem;
}

def Tgpu_FragmentAttr : Tgpu_Attr<"Fragment", "fragment",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let summary = "where the elements of a fragment live: registers, lanes, warps (layout::RegisterLayout)";
  let parameters = (ins "::tilec::layout::RegisterLayout":$layout);
  let hasCustomAssemblyFormat = 1;
}

def Tgpu_SharedAttr : Tgpu_Attr<"Shared", "shared"> {
  let summary = "where the elements of a buffer live in shared memory (layout::SharedLayout)";
  let parameters = (ins "::tilec::layout::SharedLayout":$layout);
  let hasCustomAssemblyFormat = 1;
}

def Tgpu_MmaAttr : Tgpu_Attr<"Mma", "mma"> {
  let summary = "the instruction of a matrix product and how warps share it";
  let description = [{
    `#tgpu.mma<wgmma, 64x256x16, warps = 2x1>`: one instruction computes m x n x k. For wgmma `warps` counts
    warpgroups along rows and columns of the accumulator, for the others warps.
  }];
  let parameters = (ins "::tilec::tgpu::MmaKind":$kind, "int64_t":$m, "int64_t":$n, "int64_t":$k,
                        "int64_t":$warpsM, "int64_t":$warpsN);
  let assemblyFormat = "`<` $kind `,` $m `,` $n `,` $k `,` `warps` `=` $warpsM `,` $warpsN `>`";
  let genVerifyDecl = 1;
}

def Tgpu_StageAttr : Tgpu_Attr<"Stage", "stage"> {
  let summary = "place of an operation in the schedule of its loop";
  let description = [{
    `stage`: how many iterations later than its own the operation runs, in loops with channels: a negative one runs ahead. In loops that
    tgpu-plan-pipeline plans it counts from the first operations of an iteration. `order`: place among all operations of the
    loop body; element-wise operations may share one. `hold`: a wait, or what it lets go, runs after so many percent of the slots of the
    element-wise operations of the same order, as an event of a `tgpu.stream`.
  }];
  let parameters = (ins "int64_t":$stage, "int64_t":$order, DefaultValuedParameter<"int64_t", "0">:$hold);
  let assemblyFormat = "`<` $stage `,` $order (`,` `hold` `=` $hold^)? `>`";
  let genVerifyDecl = 1;
}

def Tgpu_PipelineAttr : Tgpu_Attr<"Pipeline", "pipeline"> {
  let summary = "a pipelined loop that has a schedule: how its copies move, and the stages it gets";
  let description = [{
    `tile.stages` of the loop is what the program asks for; `stages` here is at most that.
  }];
  let parameters = (ins "::tilec::tgpu::CopyPath":$path, "int64_t":$stages);
  let assemblyFormat = "`<` $path `,` `stages` `=` $stages `>`";
  let genVerifyDecl = 1;
}

def Tgpu_DivisibleAttr : Tgpu_Attr<"Divisible", "divisible"> {
  let summary = "a variant's assumption: launch argument `argument` is a multiple of `divisor`";
  let parameters = (ins "int64_t":$argument, "int64_t":$divisor);
  let assemblyFormat = "`<` $argument `,` $divisor `>`";
  let genVerifyDecl = 1;
}

def Tgpu_TensorMapAttr : Tgpu_Attr<"TensorMap", "tensor_map"> {
  let summary = "recipe of a TMA descriptor over the whole of a kernel argument";
  let description = [{
    `argument`: number of the `!tile.global` kernel argument. The map has one dimension for each of the tensor, innermost
    first; `extents` and `strides` (elements; the innermost is the constant 1) are numbers of kernel arguments, or -1 - c
    for a constant c. `box` in elements; `swizzle` in bytes. Of packed types all count bytes.
  }];
  let parameters = (ins "int64_t":$argument, ArrayRefParameter<"int64_t">:$extents,
                        ArrayRefParameter<"int64_t">:$strides, ArrayRefParameter<"int64_t">:$box, "int64_t":$swizzle);
  let assemblyFormat = [{
    `<` $argument `,` `extents` `=` `[` $extents `]` `,` `strides` `=` `[` $strides `]` `,`
    `box` `=` `[` $box `]` `,` `swizzle` `=` $swizzle `>`
  }];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Tgpu_Type<string name, string mnem> : TypeDef<Tgpu_Dialect, name> { let mnemonic = mnem; }

def Tgpu_SmemType : Tgpu_Type<"Smem", "smem"> {
  let summary = "a buffer in shared memory";
  let description = [{ `!tgpu.smem<4x128x64xf16, #tgpu.shared<"...">>`; the layout is absent until it is chosen. }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        OptionalParameter<"::tilec::tgpu::SharedAttr">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    /// The same buffer with another layout.
    SmemType withLayout(SharedAttr layout) const { return get(getContext(), getShape(), getElementType(), layout); }
  }];
}

def Tgpu_PendingType : Tgpu_Type<"Pending", "pending"> {
  let summary = "a fragment that an asynchronous matrix product is still writing";
  let parameters = (ins "::mlir::RankedTensorType":$fragment);
  let assemblyFormat = "`<` $fragment `>`";
}

def Tgpu_ChannelType : Tgpu_Type<"Channel", "channel"> {
  let summary = "full and empty barriers of a ring of `slots` buffers";
  let parameters = (ins "int64_t":$slots);
  let assemblyFormat = "`<` $slots `>`";
  let genVerifyDecl = 1;
}

#endif
