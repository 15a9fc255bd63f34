//===- TgpuPartialOps.td - operations on partial values ------------------===//
//
// Partial values are a state of the layout (layout::Partial): an element is what the parts of the threads that contribute to it
// make together. Only these operations and control flow take them; the verifier of `tgpu.kernel` refuses all others.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_DIALECTS_TGPU_PARTIALOPS_TD
#define TILEC_DIALECTS_TGPU_PARTIALOPS_TD

include "dialects/tgpu/TgpuDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tgpu_BeginPartialOp : Tgpu_Op<"begin_partial", [Pure]> {
  let summary = "partial values that make `start` together, or the neutral element";
  let description = [{
    Of the threads that contribute to an element the first one has `start`, a complete value of the same map, and the others
    have the neutral element; without `start` all have. A partial scalar is a tensor of rank 0, `start` a scalar then.
  }];
  let arguments = (ins Optional<AnyType>:$start, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "($start^ `:` type($start))? attr-dict `->` type($result)";
  let hasVerifier = 1;
}
def Tgpu_AccumulatePartialOp : Tgpu_Op<"accumulate_partial", [Pure]> {
  let summary = "a reduction along `axes` that stops within each thread, combined with partial values";
  let description = [{
    Nothing moves between threads. Which lanes and warps contribute follows from the layout of the source and must be what the type
    of the partial values says (layout::planPartialReduction).
  }];
  let arguments = (ins AnyRankedTensor:$source, DenseI64ArrayAttr:$axes, AnyRankedTensor:$partial, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `axes` $axes `into` $partial attr-dict `:` type($source) `,` type($partial) `->` type($result)";
  let hasVerifier = 1;
}
def Tgpu_ScalePartialOp : Tgpu_Op<"scale_partial", [Pure]> {
  let summary = "partial sums times complete factors";
  let description = [{
    Each thread scales its own part, so the sum over the threads is scaled: the online softmax's row sums stay partial. The two
    layouts are the same map, one of them with partial values; the factor of a partial scalar is a scalar.
  }];
  let arguments = (ins AnyRankedTensor:$partial, AnyType:$factor);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$partial `by` $factor attr-dict `:` type($partial) `,` type($factor) `->` type($result)";
  let hasVerifier = 1;
}
def Tgpu_PartialPartsOp : Tgpu_Op<"partial_parts", [Pure]> {
  let summary = "partial values as a complete tile whose dimensions `axes` count the threads that contribute";
  let description = [{ No instruction: each thread keeps what it has. Reducing the tile along `axes` gives the complete values. }];
  let arguments = (ins AnyRankedTensor:$partial, DenseI64ArrayAttr:$axes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$partial `axes` $axes attr-dict `:` type($partial) `->` type($result)";
  let hasVerifier = 1;
}

#endif
