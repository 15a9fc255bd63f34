//===- TgpuHostOps.td - operations of the tgpu dialect in host code ------===//
#ifndef TGPU_HOST_OPS_TD
#define TGPU_HOST_OPS_TD

def Tgpu_LaunchOp : Tgpu_Op<"launch", [AttrSizedOperandSegments]> {
  let summary = "host side of a launch: grid extents and the values that its kernels take";
  let description = [{
    `name` links it to the `tgpu.kernel`s whose `launch` it is (variants, targets). The grid extents are also passed to
    the kernel if it uses them.
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyTypeOf<[I32, I64]>>:$grid, Variadic<AnyType>:$args);
  let assemblyFormat = "$name `grid` `(` $grid `:` type($grid) `)` `args` `(` ($args^ `:` qualified(type($args)))? `)` attr-dict";
}

def Tgpu_ReciprocalOp : Tgpu_Op<"reciprocal",
    [Pure, AllTypesMatch<["divisor", "factor", "addend", "shift"]>]> {
  let summary = "in host code: what makes a division by this number a multiplication (Reciprocal.h)";
  let arguments = (ins AnyTypeOf<[I32, I64]>:$divisor, UnitAttr:$is_unsigned);
  let results = (outs AnyTypeOf<[I32, I64]>:$factor, AnyTypeOf<[I32, I64]>:$addend, AnyTypeOf<[I32, I64]>:$shift);
  let assemblyFormat = "$divisor attr-dict `:` type($divisor)";
}

def Tgpu_CostOp : Tgpu_Op<"cost", [SingleBlock, NoRegionArguments]> {
  let summary = "in host code, before a launch: the seconds that it is expected to take by kernel `entry`";
  let description = [{
    The region computes f64 numbers out of the values around it and yields them: the cost, then what it is made of, as `terms` names
    them (passes/CostModel.h). What stands in here belongs to one kernel alone, and may differ between architectures, unlike the
    rest of the host code.
  }];
  let arguments = (ins FlatSymbolRefAttr:$entry, StrArrayAttr:$terms);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$entry `terms` $terms attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// What the region yields: the cost, then one value for each term.
    ::mlir::OperandRange getResultsOfBody() { return getBody().front().getTerminator()->getOperands(); }
    /// The cost, seconds as f64.
    ::mlir::Value getValue() { return getResultsOfBody().front(); }
  }];
}

#endif
