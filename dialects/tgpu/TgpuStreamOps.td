//===- TgpuStreamOps.td - element-wise work that waits interrupt ---------===//
#ifndef TILEC_DIALECTS_TGPU_STREAMOPS_TD
#define TILEC_DIALECTS_TGPU_STREAMOPS_TD

include "dialects/tgpu/TgpuDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tgpu_StreamOp : Tgpu_Op<"stream", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "element-wise work that is interrupted by events after percentages of its slots";
  let description = [{
    The body's operations are element-wise, on fragments of one shape and layout, broadcasts and splats. It is run slot by slot of a
    thread: all operations for the first slot, then for the next, row after row where something is broadcast along rows. After
    `percents[i]` percent of the slots, rounded down to an even number, event i happens: waits, releases, barriers and fences, with the
    scalars that they need. Slots behind an event that retires a matrix product are computed after it, not only written after it.

    Results are those that the body yields, then those of each event. In the order of the program the body comes first, then its
    events: what an event gives no slot of the body may use.
  }];
  let arguments = (ins DenseI64ArrayAttr:$percents);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body, VariadicRegion<SizedRegion<1>>:$events);
  let assemblyFormat = "$body `` custom<StreamEvents>($percents, $events) attr-dict (`:` type($results)^)?";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// What the terminator of the body, or of an event, gives the stream as results.
    ::mlir::ResultRange getResultsOf(::mlir::Operation *yield);
  }];
}

#endif
