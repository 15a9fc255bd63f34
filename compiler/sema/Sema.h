//===- Sema.h - From syntax trees to the typed program ----------*- C++ -*-===//
//
// Semantic analysis checks a source file and elaborates every kernel that is to be compiled: see
// Program.h for what comes out and docs/language.md for the rules. Errors go to the engine; nothing
// here ends the process, whatever the input.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/parse/ImportLoader.h"
#include "compiler/sema/Program.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tilec {

class DiagnosticEngine;

namespace sema {

struct SemaOptions {
  /// The constant ARCH: 80, 89, 90, ...
  int arch = 90;
  /// Of `-P NAME=VALUE`, in order, the last one wins. VALUE is an integer, `true`, `false` or a
  /// type.
  std::vector<std::pair<std::string, std::string>> params;
  /// `-P auto`.
  bool autoParams = false;
  /// Of `--instantiate TEXT`: files that hold `instantiate TEXT;`, as if at the end of the main
  /// file.
  std::vector<const LoadedFile *> instantiate;
  /// By symbol: which of the candidates of `auto`, in the order of KernelInstance::candidates. Without
  /// one the defaults are taken where they are admissible, else the first.
  std::map<std::string, unsigned> choices;
  /// Which instances: all, those that have such a choice, or those without `auto`.
  enum class Select { All, Chosen, NotTuned } select = Select::All;
  /// Of `--kernel NAME`: only instances of this kernel, or with this symbol; empty: all.
  std::string kernel;
};

/// Analyses `main` with all that it imports. The result is complete if the engine has no new
/// errors; otherwise it holds what could be understood and only tools that show programs may use
/// it. The syntax trees and sources must outlive the Program. Null never.
std::unique_ptr<Program> analyze(const LoadedFile &main, const SemaOptions &options,
                                 DiagnosticEngine &engine);

} // namespace sema
} // namespace tilec
