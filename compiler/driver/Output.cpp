// Compilation, continued: what it writes and how it ends.
#include "compiler/basic/Files.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/OptionFiles.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

/// Extension of an output that `-o` does not name.
static StringRef defaultExtension(EmitKind kind) {
  switch (kind) {
  case EmitKind::Ast:
    return "ast";
  case EmitKind::Tile:
    return "tile.mlir";
  case EmitKind::Tgpu:
    return "tgpu.mlir";
  case EmitKind::Llvm:
    return "ll";
  case EmitKind::Ptx:
    return "ptx";
  case EmitKind::Cubin:
    return "cubin";
  case EmitKind::Fatbin:
    return "fatbin";
  case EmitKind::Manifest:
    return "json";
  case EmitKind::Pack:
    return "pack";
  case EmitKind::Object:
    return "o";
  case EmitKind::Header:
    return "h";
  }
  llvm_unreachable("an output kind without extension");
}

/// Whether an output goes to standard output where nothing says otherwise.
static bool isForReading(EmitKind kind) { return kind <= EmitKind::Llvm; }

/// `path` with another extension.
static std::string withExtension(StringRef path, const Twine &extension) {
  SmallString<128> result = path;
  sys::path::replace_extension(result, extension);
  return result.str().str();
}

std::string Compilation::outputBase() const {
  const std::string name = input == "-" ? "stdin" : input;
  const bool isFolder = options.outputIsFolder() && output == options.output;
  return isFolder ? output + sys::path::filename(name).str() : name;
}

std::string Compilation::outputPath(EmitKind kind) const {
  const bool isFolder = options.outputIsFolder() && output == options.output;
  if (!output.empty() && !isFolder) {
    return output;
  }
  if (!isFolder && (input == "-" || (options.emits.size() == 1 && isForReading(kind)))) {
    return "-";
  }
  return withExtension(outputBase(), defaultExtension(kind));
}

bool Compilation::writeFile(StringRef path, StringRef bytes) {
  TimeTraceScope trace("write", path);
  if (path == "-") {
    outs() << bytes;
    const std::error_code error = flushStandardOutput();
    if (error) {
      diags.report(diag::Id::FileWrite, SMRange(), "<stdout>", error.message());
    }
    return !error;
  }
  if (sys::fs::is_directory(path)) {
    diags.report(diag::Id::FileWrite, SMRange(), path, "it is a directory")
        .hint("`" + path.rtrim('/') + "/` after `-o` writes files into it");
    return false;
  }
  if (std::error_code error = writeOutput(path, bytes)) {
    diags.report(diag::Id::FileWrite, SMRange(), path, error.message());
    return false;
  }
  return true;
}

bool Compilation::writeText(EmitKind kind, StringRef text) {
  phase = "writing";
  return !diags.hasErrors() && writeFile(outputPath(kind), text);
}

/// With --save-temps: an intermediate form beside the output.
bool Compilation::saveTemp(const ModuleJob &job, StringRef extension,
                           llvm::function_ref<std::string()> print) {
  if (!options.saveTemps) {
    return true;
  }
  const std::string path = outputPath(options.emit);
  const std::string base = path == "-" || options.emits.size() > 1 ? outputBase() : path;
  const std::string own = job.name.empty() ? "" : "." + job.name;
  return writeFile(withExtension(base, job.target->name + own + "." + extension), print());
}

/// Quotes a file name for make.
static std::string makeQuoted(StringRef name) {
  std::string quoted;
  for (char c : name) {
    if (c == '$') {
      quoted += '$';
    } else if (c == ' ' || c == '#') {
      quoted += '\\';
    }
    quoted += c;
  }
  return quoted;
}

std::string Compilation::dependencyPath() const {
  if (!options.dependencyFile.empty()) {
    return options.dependencyFile;
  }
  const std::string path = outputPath(options.emit);
  return withExtension(path == "-" || options.emits.size() > 1 ? outputBase() : path, "d");
}

bool Compilation::checkDependencies() {
  if (!writesDependencies()) {
    return true;
  }
  const std::string path = dependencyPath();
  std::vector<std::string> others = sources.files();
  for (EmitKind kind : options.emits) {
    others.push_back(outputPath(kind));
  }
  for (const std::string &other : others) {
    if (isOneFile(path, other)) {
      diags.report(diag::Id::Usage, SMRange(), "`" + other + "` cannot be the make rule as well")
          .hint("`-MF` takes a name of its own");
      return false;
    }
  }
  return true;
}

bool Compilation::writeDependencies() {
  if (!writesDependencies()) {
    return true;
  }
  std::vector<std::string> targets =
      options.dependencyTargets; // as they stand, as compilers of C do
  if (targets.empty()) {
    for (EmitKind kind : options.emits) {
      targets.push_back(makeQuoted(outputPath(kind)));
    }
  }
  std::string text = join(targets, " ") + ":";
  std::vector<std::string> read;
  for (const std::string &file : sources.files()) {
    if (file != "-") {
      read.push_back(file);
    }
  }
  if (!tuneFilePath.empty()) {
    read.push_back(tuneFilePath);
  }
  for (const std::string &file : read) {
    text += " \\\n  " + makeQuoted(file);
  }
  text += "\n";
  for (const std::string &file : read) {
    if (options.phonyDependencies && file != input) {
      text += "\n" + makeQuoted(file) + ":\n";
    }
  }
  return writeFile(dependencyPath(), text);
}

/// SHA-256 of the texts, in the order of loading; names do not count.
std::string Compilation::sourceHash() const {
  SHA256 hash;
  for (unsigned id = 1; id <= sources.numFiles(); ++id) {
    StringRef text = sources.text(id);
    hash.update(std::to_string(text.size()) + ":");
    hash.update(text);
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

/// The status that the worst diagnostic asks for.
static ExitCode exitCodeOf(const DiagnosticEngine &diags) {
  ExitCode code = ExitSuccess;
  for (const Diagnostic *diagnostic : diags.sorted()) {
    if (diagnostic->severity != diag::Severity::Error) {
      continue;
    }
    ExitCode own =
        diagnostic->id == diag::Id::InternalError ? ExitInternal
        : diagnostic->id == diag::Id::ToolMissing || diagnostic->id == diag::Id::ToolFailed
            ? ExitTool
        : diagnostic->id == diag::Id::Usage ? ExitUsage
                                            : ExitInput;
    code = std::max(code, own);
  }
  return code;
}

ExitCode Compilation::finish(raw_ostream &os) {
  options.messages->add(diags);
  ExitCode code = exitCodeOf(diags);
  if (options.timePasses) {
    timer.print(os);
  }
  return code;
}

} // namespace tilec
