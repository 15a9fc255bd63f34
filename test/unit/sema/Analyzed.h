// A text with its typed program and diagnostics, for tests.
#pragma once

#include "compiler/basic/Source.h"
#include "compiler/diag/DiagnosticPrinter.h"
#include "compiler/parse/ImportLoader.h"
#include "compiler/parse/Parser.h"
#include "compiler/sema/Sema.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <gtest/gtest.h>
#include <string>

struct Analyzed {
  tilec::SourceManager sources;
  tilec::DiagnosticEngine diagnostics{sources.getMgr()};
  tilec::ImportLoader loader{sources, diagnostics, {}};
  std::unique_ptr<tilec::sema::Program> program;

  explicit Analyzed(const std::string &text, tilec::sema::SemaOptions options = {},
                    const std::vector<std::string> &instantiate = {}) {
    run(loader.loadText("t.tile", text), options, instantiate);
  }
  static std::unique_ptr<Analyzed> file(const std::string &path,
                                        tilec::sema::SemaOptions options = {}) {
    std::unique_ptr<Analyzed> a(new Analyzed());
    a->run(a->loader.load(path), options, {});
    return a;
  }

  const tilec::sema::KernelInstance *kernel(const std::string &symbol) const {
    for (const auto &k : program->kernels) {
      if (k->symbol == symbol) {
        return k.get();
      }
    }
    return nullptr;
  }

  /// All diagnostics as users see them.
  std::string messages() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    for (const tilec::Diagnostic *diagnostic : diagnostics.sorted()) {
      tilec::printText(*diagnostic, sources.getMgr(), os, false);
    }
    return text;
  }

  /// `line [name]` of each diagnostic, separated by spaces.
  std::string summary() const {
    std::string text;
    for (const tilec::Diagnostic *d : diagnostics.sorted()) {
      text += text.empty() ? "" : " ";
      if (d->range.Start.isValid()) {
        text += std::to_string(sources.getMgr().getLineAndColumn(d->range.Start).first) + " ";
      }
      text += "[" + tilec::diag::info(d->id).name.str() + "]";
    }
    return text;
  }

  /// `line: text [name]` of each diagnostic, separated by `; `.
  std::string findings() const {
    std::string text;
    for (const tilec::Diagnostic *d : diagnostics.sorted()) {
      text += text.empty() ? "" : "; ";
      if (d->range.Start.isValid()) {
        text += std::to_string(sources.getMgr().getLineAndColumn(d->range.Start).first) + ": ";
      }
      text += d->message + " [" + tilec::diag::info(d->id).name.str() + "]";
    }
    return text;
  }

private:
  Analyzed() = default;
  void run(const tilec::LoadedFile *file, tilec::sema::SemaOptions &options,
           const std::vector<std::string> &instantiate) {
    for (const std::string &text : instantiate) {
      options.instantiate.push_back(
          loader.loadText("<--instantiate>", "instantiate " + text + ";"));
    }
    program = file ? tilec::sema::analyze(*file, options, diagnostics)
                   : std::make_unique<tilec::sema::Program>();
  }
};

/// A rule: what is wrong in a text, and on which line. Lines that the bodies do not count for are
/// kept on the first line.
struct Rule {
  const char *text;
  const char *expected; // as Analyzed::findings
};

inline void expectRules(llvm::ArrayRef<Rule> rules, const std::string &before,
                        const std::string &after) {
  for (const Rule &rule : rules) {
    Analyzed a(before + rule.text + after);
    EXPECT_EQ(a.findings(), rule.expected) << rule.text << "\n" << a.messages();
  }
}
