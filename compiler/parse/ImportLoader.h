// Loads a file and all that it imports.
#pragma once

#include "compiler/parse/Ast.h"

#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <string>
#include <vector>

namespace tilec {

class DiagnosticEngine;
class SourceManager;

/// A parsed file with the files that its `import` items name.
struct LoadedFile {
  const ast::File *ast = nullptr;
  struct Import {
    const ast::ImportItem *item;
    const LoadedFile *file;
  };
  /// In the order of the items; one that was not found or is cyclic is missing. A file that is
  /// imported twice appears twice.
  std::vector<Import> imports;
};

/// Loads files, each once however often it is imported, and owns their trees.
class ImportLoader {
public:
  /// `includeDirs`: the folders of `-I`, searched in order after the folder of the importing file.
  ImportLoader(SourceManager &sources, DiagnosticEngine &diagnostics,
               std::vector<std::string> includeDirs);
  ~ImportLoader();

  /// Loads `path` (`-`: standard input) with its imports. Null, after a diagnostic, if it cannot be
  /// read; errors in the text are only in the engine.
  const LoadedFile *load(llvm::StringRef path);
  /// The same for a text that is no file; its imports are searched along `-I` and in the working
  /// folder.
  const LoadedFile *loadText(llvm::StringRef name, llvm::StringRef text);

  /// All files, each behind those that it imports.
  llvm::ArrayRef<const LoadedFile *> files() const { return order; }
  ast::Context &getContext() { return context; }

private:
  struct State;
  const LoadedFile *loadBuffer(unsigned bufferId, llvm::StringRef path,
                               const std::string &identity);
  const LoadedFile *resolve(const ast::ImportItem &item, llvm::StringRef importer);
  void reportCycle(const ast::ImportItem &item, llvm::StringRef path);

  SourceManager &sources;
  DiagnosticEngine &diagnostics;
  std::vector<std::string> includeDirs;
  ast::Context context;
  std::unique_ptr<State> state;
  std::vector<const LoadedFile *> order;
};

} // namespace tilec
