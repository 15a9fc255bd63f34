#include "compiler/parse/ImportLoader.h"

#include "compiler/basic/Source.h"
#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/parse/Parser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TimeProfiler.h"

namespace tilec {

using diag::Id;
using llvm::SmallString;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

/// A file whose imports are being loaded.
struct OpenFile {
  std::string identity;
  StringRef name;
};

} // namespace

struct ImportLoader::State {
  /// By identity (see identityOf): one file may be reached by several paths.
  llvm::StringMap<std::unique_ptr<LoadedFile>> files;
  std::vector<OpenFile> open; // from the main file to the one in work
};

ImportLoader::ImportLoader(SourceManager &sources, DiagnosticEngine &diagnostics,
                           std::vector<std::string> includeDirs)
    : sources(sources), diagnostics(diagnostics), includeDirs(std::move(includeDirs)),
      state(std::make_unique<State>()) {}

ImportLoader::~ImportLoader() = default;

/// What a file is called, however its path is written: the absolute path without links.
static std::string identityOf(StringRef file) {
  SmallString<256> real;
  if (file == "-" || fs::real_path(file, real)) {
    return file.str();
  }
  return std::string(real);
}

const LoadedFile *ImportLoader::load(StringRef file) {
  auto known = state->files.find(identityOf(file));
  if (known != state->files.end()) {
    return known->second.get();
  }
  llvm::ErrorOr<unsigned> buffer = sources.addFile(file);
  if (!buffer) {
    diagnostics.report(Id::FileRead, llvm::SMRange(), file, buffer.getError().message());
    return nullptr;
  }
  return loadBuffer(*buffer, file, identityOf(file));
}

const LoadedFile *ImportLoader::loadText(StringRef name, StringRef text) {
  unsigned bufferId = sources.addText(name, text);
  return loadBuffer(bufferId, name, (name + "#" + llvm::Twine(bufferId)).str());
}

const LoadedFile *ImportLoader::loadBuffer(unsigned bufferId, StringRef file,
                                           const std::string &identity) {
  llvm::TimeTraceScope trace("parse file", file);
  std::unique_ptr<LoadedFile> &slot = state->files[identity];
  slot = std::make_unique<LoadedFile>();
  LoadedFile *loaded = slot.get();
  loaded->ast = parse(bufferId, sources.getMgr(), context, diagnostics);
  state->open.push_back({identity, sources.name(bufferId)});
  for (const ast::Item *item : loaded->ast->items) {
    if (const auto *import = llvm::dyn_cast<ast::ImportItem>(item)) {
      if (const LoadedFile *imported = resolve(*import, file)) {
        loaded->imports.push_back({import, imported});
      }
    }
  }
  state->open.pop_back();
  order.push_back(loaded);
  return loaded;
}

/// The file that `item` of the file `importer` names, or null after a diagnostic.
const LoadedFile *ImportLoader::resolve(const ast::ImportItem &item, StringRef importer) {
  SmallString<256> found;
  std::vector<StringRef> folders{path::parent_path(importer)};
  if (!path::is_absolute(item.path)) {
    folders.insert(folders.end(), includeDirs.begin(), includeDirs.end());
  }
  for (StringRef folder : folders) {
    SmallString<256> candidate(path::is_absolute(item.path) ? StringRef() : folder);
    path::append(candidate, item.path);
    if (fs::is_regular_file(candidate)) {
      found = candidate;
      break;
    }
  }
  if (found.empty() || item.path.empty()) {
    diagnostics.report(Id::ImportNotFound, item.pathRange, item.path);
    return nullptr;
  }
  std::string identity = identityOf(found);
  if (llvm::any_of(state->open, [&](const OpenFile &file) { return file.identity == identity; })) {
    reportCycle(item, identity);
    return nullptr;
  }
  auto known = state->files.find(identity);
  if (known != state->files.end()) {
    return known->second.get();
  }
  llvm::ErrorOr<unsigned> buffer = sources.addFile(found);
  if (!buffer) {
    diagnostics.report(Id::FileRead, item.pathRange, found.str(), buffer.getError().message());
    return nullptr;
  }
  return loadBuffer(*buffer, found, identity);
}

void ImportLoader::reportCycle(const ast::ImportItem &item, StringRef identity) {
  auto first =
      llvm::find_if(state->open, [&](const OpenFile &file) { return file.identity == identity; });
  std::string chain;
  for (auto file = first; file != state->open.end(); ++file) {
    chain += "`" + file->name.str() + "` imports ";
  }
  chain += "`" + first->name.str() + "`";
  diagnostics.report(Id::ImportCycle, item.pathRange, item.path, chain);
}

} // namespace tilec
