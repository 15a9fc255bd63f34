// Every kernel of kernels/ lowers to a tile module that verifies and keeps its meaning's landmarks.
#include "compiler/basic/Source.h"
#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/lower/Lower.h"
#include "compiler/parse/ImportLoader.h"
#include "compiler/sema/Sema.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace tilec;

namespace {

/// What a file of kernels/ holds after lowering.
struct Expected {
  const char *file;
  std::vector<std::string> symbols; ///< in order
  int launches, gemms, pipelinedLoops;
};

std::ostream &operator<<(std::ostream &out, const Expected &expected) {
  return out << expected.file;
}

std::vector<Expected> kernels() {
  return {
      {"gemm/gemm.tile", {"gemm"}, 2, 1, 2},
      {"gemm/gemm_nt.tile",
       {"gemm_nt_f16", "gemm_nt_bf16", "gemm_nt_f16_f32", "gemm_nt_bf16_f32"},
       8,
       4,
       8},
      {"gemm/gemm_tn.tile",
       {"gemm_tn_f16", "gemm_tn_bf16", "gemm_tn_f16_f32", "gemm_tn_bf16_f32"},
       8,
       4,
       8},
      {"gemm/gemm_tt.tile",
       {"gemm_tt_f16", "gemm_tt_bf16", "gemm_tt_f16_f32", "gemm_tt_bf16_f32"},
       8,
       4,
       8},
      {"gemm/gemm_e4m3.tile", {"gemm_e4m3_bf16", "gemm_e4m3_f16", "gemm_e4m3_f32"}, 3, 6, 3},
      {"elementwise/elementwise.tile", {"map_gelu", "map_relu"}, 2, 0, 0},
      {"gemv/gemv.tile", {"gemv"}, 1, 0, 0},
      {"norm/layernorm.tile", {"layernorm"}, 1, 0, 0},
      {"norm/softmax_rmsnorm.tile",
       {"softmax_wide", "softmax", "softmax_long", "rmsnorm", "argmax"},
       5,
       0,
       3},
      {"attention/flash_attention.tile",
       {"flash_attention_f16_d128", "flash_attention_f16_d128_causal"},
       2,
       4,
       2},
      {"attention/mla_decode.tile", {"mla_decode"}, 2, 3, 1},
      {"conv/conv2d.tile", {"conv2d_f16_s1p1", "conv2d_f16_s2p3"}, 2, 2, 2},
      {"grouped_gemm/grouped_gemm.tile", {"grouped_gemm_bf16", "grouped_gemm_f16"}, 2, 2, 2},
      {"linear_attention/linear_attention.tile",
       {"linear_attention_bf16_d64", "linear_attention_bf16_d128"},
       2,
       8,
       2},
      {"splitk_gemm/splitk_gemm.tile", {"splitk_gemm_f16", "splitk_gemm_bf16"}, 4, 2, 4},
      {"w4a16_gemm/w4a16_gemm.tile",
       {"w4a16_gemm_f16", "w4a16_gemm_bf16", "w4a16_gemm_f16_decode"},
       6,
       3,
       6},
      {"batched_gemm/batched_gemm.tile", {"batched_gemm", "strided_batched_gemm"}, 2, 2, 2},
      {"int8_gemm/int8_gemm.tile", {"int8_gemm"}, 1, 1, 1},
      {"window_attention/window_attention.tile", {"window_attention"}, 1, 2, 1},
      {"varlen_attention/varlen_attention.tile",
       {"varlen_attention_f16_d128_causal", "varlen_attention_f16_d128"},
       2,
       4,
       2},
      {"paged_attention/paged_attention.tile", {"paged_attention"}, 2, 2, 1},
      {"attention_backward/attention_backward.tile",
       {"attention_backward_f16_d128", "attention_backward_f16_d128_causal"},
       6,
       14,
       4},
      {"transpose/transpose.tile", {"transpose"}, 1, 0, 0},
      {"cumsum/cumsum.tile", {"cumsum"}, 1, 0, 0},
      {"topk/topk.tile", {"topk_long", "topk"}, 2, 0, 1},
      {"gemm_epilogue/gemm_epilogue.tile", {"gemm_epilogue", "gemm_swiglu"}, 2, 3, 2},
      {"add_rmsnorm/add_rmsnorm.tile", {"add_rmsnorm"}, 1, 0, 0},
      {"rotary/rotary.tile", {"rope_half", "rope_interleaved"}, 2, 0, 0},
      {"cross_entropy/cross_entropy.tile", {"cross_entropy"}, 1, 0, 1},
      {"quantize/quantize.tile", {"quantize_long", "quantize"}, 2, 0, 0},
  };
}

class Kernels : public testing::TestWithParam<Expected> {};

std::string messages(const DiagnosticEngine &diagnostics) {
  std::string all;
  for (const Diagnostic *diagnostic : diagnostics.sorted()) {
    all += diagnostic->message + "\n";
  }
  return all;
}

template <typename Op>
int count(mlir::ModuleOp module, llvm::function_ref<bool(Op)> which = [](Op) { return true; }) {
  int number = 0;
  module.walk([&](Op op) { number += which(op); });
  return number;
}

TEST_P(Kernels, Lowers) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources.getMgr());
  ImportLoader loader(sources, diagnostics, {});
  const LoadedFile *file = loader.load(std::string(TILEC_SOURCE_DIR "/kernels/") + GetParam().file);
  ASSERT_TRUE(file);
  std::unique_ptr<sema::Program> program = sema::analyze(*file, {}, diagnostics);
  ASSERT_FALSE(diagnostics.hasErrors()) << messages(diagnostics);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = lowerToTile(*program, context, diagnostics);
  ASSERT_TRUE(module) << messages(diagnostics);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));

  std::vector<std::string> symbols;
  for (auto kernel : module->getOps<tile::KernelOp>()) {
    symbols.push_back(kernel.getSymName().str());
  }
  EXPECT_EQ(symbols, GetParam().symbols);
  EXPECT_EQ(count<tile::LaunchOp>(*module), GetParam().launches);
  EXPECT_EQ(count<tile::GemmOp>(*module), GetParam().gemms);
  auto isPipelined = [](mlir::scf::ForOp loop) { return tile::kStages.has(loop); };
  EXPECT_EQ(count<mlir::scf::ForOp>(*module, isPipelined), GetParam().pipelinedLoops);
  EXPECT_EQ(count<mlir::func::CallOp>(*module), 0);

  // What is printed is the same module.
  std::string text, again;
  llvm::raw_string_ostream(text) << *module;
  auto parsed = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(parsed);
  llvm::raw_string_ostream(again) << *parsed;
  EXPECT_EQ(text, again);
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::ValuesIn(kernels()));

} // namespace
