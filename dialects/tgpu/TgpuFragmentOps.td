//===- TgpuFragmentOps.td - parts of fragments ---------------------------===//
#ifndef TILEC_DIALECTS_TGPU_FRAGMENTOPS_TD
#define TILEC_DIALECTS_TGPU_FRAGMENTOPS_TD

include "dialects/tgpu/TgpuDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tgpu_FragmentSliceOp : Tgpu_Op<"fragment_slice", [Pure]> {
  let summary = "a static part of a fragment that is made of whole registers in every thread";
  let description = [{ Each thread takes what it holds itself (layout::partRegisters). }];
  let arguments = (ins AnyRankedTensor:$source, DenseI64ArrayAttr:$offsets);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `at` $offsets attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tgpu_FragmentInsertOp : Tgpu_Op<"fragment_insert", [Pure, AllTypesMatch<["dest", "result"]>]> {
  let summary = "a fragment of which a static part is another one's";
  let description = [{ The inverse of `tgpu.fragment_slice`: the part is made of whole registers in every thread. }];
  let arguments = (ins AnyRankedTensor:$source, AnyRankedTensor:$dest, DenseI64ArrayAttr:$offsets);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `into` $dest `at` $offsets attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

#endif
