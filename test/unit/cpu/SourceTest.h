// Runs programs of the language on the cpu target: parsed, analysed, lowered, executed.
#pragma once

#include "CpuTest.h"
#include "compiler/basic/Source.h"
#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/lower/Lower.h"
#include "compiler/parse/ImportLoader.h"
#include "compiler/sema/Sema.h"

namespace tilec::cpu {

class SourceTest : public CpuTest {
protected:
  /// Compiles a kernel of kernels/, instantiated by `text` ("gemm<BM = 32> as k") under the symbol
  /// `k`.
  void compileKernel(const std::string &path, const std::string &text) {
    ImportLoader loader(sources, diagnostics, {});
    const LoadedFile *instance = loader.loadText("<test>", "instantiate " + text + ";");
    sema::SemaOptions semaOptions;
    semaOptions.instantiate = {instance};
    semaOptions.kernel = "k";
    lowerAndCompile(loader, loader.load(std::string(TILEC_SOURCE_DIR) + "/kernels/" + path),
                    semaOptions);
  }

  /// Compiles a program given as text.
  void compileText(const std::string &text) {
    ImportLoader loader(sources, diagnostics, {});
    lowerAndCompile(loader, loader.loadText("test.tile", text), {});
  }

private:
  void lowerAndCompile(ImportLoader &loader, const LoadedFile *file,
                       const sema::SemaOptions &semaOptions) {
    program = nullptr;
    std::unique_ptr<sema::Program> typed = sema::analyze(*file, semaOptions, diagnostics);
    mlir::OwningOpRef<mlir::ModuleOp> module;
    if (!diagnostics.hasErrors()) {
      module = lowerToTile(*typed, context, diagnostics);
    }
    for (const Diagnostic *diagnostic : diagnostics.sorted()) {
      ADD_FAILURE() << diagnostic->message;
    }
    ASSERT_TRUE(module);
    auto compiled = CpuProgram::compile(*module, options);
    ASSERT_TRUE((bool)compiled) << llvm::toString(compiled.takeError());
    program = std::move(*compiled);
  }

  SourceManager sources;
  DiagnosticEngine diagnostics{sources.getMgr()};
};

} // namespace tilec::cpu
