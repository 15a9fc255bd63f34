//===- NamesOfOthers.cpp - What other languages call it -------------------===//
#include "compiler/sema/NamesOfOthers.h"

#include "llvm/ADT/StringSwitch.h"

namespace tilec::sema {

llvm::StringRef typeOfOthers(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"float", "float32", "fp32", "single"}, "f32")
      .Cases({"double", "float64", "fp64"}, "f64")
      .Cases({"half", "float16", "fp16", "__half"}, "f16")
      .Cases({"bfloat16", "__nv_bfloat16", "nv_bfloat16"}, "bf16")
      .Cases({"int", "int32", "int32_t"}, "i32")
      .Cases({"long", "int64", "int64_t"}, "i64")
      .Cases({"short", "int16", "int16_t"}, "i16")
      .Cases({"char", "int8", "int8_t"}, "i8")
      .Cases({"unsigned", "uint", "uint32", "uint32_t"}, "u32")
      .Cases({"size_t", "uint64", "uint64_t"}, "u64")
      .Cases({"uint8", "uint8_t"}, "u8")
      .Cases({"fp8", "float8_e4m3fn", "e4m3fn"}, "e4m3")
      .Default("");
}

llvm::StringRef functionOfOthers(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"dot", "matmul", "mma", "mma_sync", "wgmma", "wmma"},
             "a product is added to a fragment: `gemm(a, b, acc);`")
      .Cases({"load", "tma_load", "async_copy", "memcpy_async"},
             "`copy(X[i, j], x);` fills a tile; outside of the tensor it reads 0, so no mask is "
             "needed")
      .Cases({"store", "tma_store"},
             "`copy(x, Y[i, j]);` stores a tile; outside of the tensor nothing is written, so no "
             "mask is needed")
      .Cases({"clear", "fill", "zeros", "zero", "full", "ones", "fill_fragment"},
             "a tile is filled by an assignment: `x = 0;`, or where it is declared")
      .Case("sum", "reductions name what they do: `reduce_sum(x, axis = 1)`")
      .Cases({"amax", "reduce_maximum"}, "did you mean `reduce_max`?")
      .Cases({"amin", "reduce_minimum"}, "did you mean `reduce_min`?")
      .Case("maximum", "did you mean `max`?")
      .Case("minimum", "did you mean `min`?")
      .Cases({"cdiv", "div_up", "ceil_div", "divup"}, "did you mean `ceildiv`?")
      .Case("softmax", "it is written with `reduce_max`, `exp` and `reduce_sum`: "
                       "docs/tutorial/3-rows.md")
      .Cases({"cast", "astype", "to", "static_cast"},
             "a type converts as a function does: `f16(x)`")
      .Cases({"trans", "permute"},
             "did you mean `transpose`? `gemm` takes operands transposed by `transpose_a` and "
             "`transpose_b`")
      .Cases({"program_id", "get_program_id"},
             "a block is called as `launch` says: `launch (bx, by) in grid(...)`")
      .Cases({"arange", "iota"}, "indices come from a loop: `parallel i in [64] { x[i] = i; }`")
      .Cases({"where", "if_then_else"}, "a choice is written `condition ? a : b`")
      .Cases({"__syncthreads", "syncthreads", "barrier", "sync"},
             "block code needs no barriers; threads of a `threads` region meet by `sync_threads()`")
      .Cases({"__syncwarp", "syncwarp"}, "did you mean `sync_threads`?")
      .Cases({"__shfl_sync", "__shfl_down_sync", "__shfl_xor_sync"}, "did you mean `shuffle`?")
      .Cases({"__expf", "expf"}, "did you mean `exp`?")
      .Cases({"sqrtf", "__fsqrt_rn"}, "did you mean `sqrt`?")
      .Default("");
}

} // namespace tilec::sema
