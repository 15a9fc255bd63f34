#include "compiler/emit/Assembler.h"

#include "compiler/basic/Interrupt.h"
#include "compiler/basic/Tool.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

//===----------------------------------------------------------------------===//
// ptxas' output
//===----------------------------------------------------------------------===//

/// The number before `unit` in `line`; 0 if there is none: "96 bytes stack frame, ...".
static uint64_t numberBefore(StringRef line, StringRef unit) {
  SmallVector<StringRef> groups;
  uint64_t value = 0;
  if (Regex(("([0-9]+) " + unit).str()).match(line, &groups)) {
    groups[1].getAsInteger(10, value);
  }
  return value;
}

/// The function that a message names: `... in function 'gemm'`, `... for entry gemm, ...`.
static std::string functionOf(StringRef message) {
  SmallVector<StringRef> groups;
  if (Regex("(function|entry) '?([A-Za-z0-9_$]+)").match(message, &groups)) {
    return groups[2].str();
  }
  return {};
}

/// What kind of warning a line of ptxas is, if it is one.
static std::optional<diag::Id> classify(StringRef text, bool isWarning) {
  if (text.contains("wgmma") && text.contains("serialized")) {
    return diag::Id::SerialisedWgmma;
  }
  if (text.contains("setmaxnreg") && text.contains("ignored")) {
    return diag::Id::IgnoredSetmaxnreg;
  }
  if (text.contains("Potential Performance Loss") || isWarning) {
    return diag::Id::ToolWarning;
  }
  return std::nullopt;
}

AssemblerReport parseAssemblerOutput(StringRef output) {
  AssemblerReport report;
  std::string current; // the entry that properties are being listed of
  SmallVector<StringRef> lines, groups;
  output.split(lines, '\n', -1, /*KeepEmpty=*/false);
  Regex head("^ptxas (.*, line [0-9]+; )?(info|warning|error|fatal) *: (.*)$");
  for (StringRef line : lines) {
    if (line.contains("bytes stack frame")) {
      FunctionResources &found = report.functions[current];
      found.stackBytes = numberBefore(line, "bytes stack frame");
      found.spillStoreBytes = numberBefore(line, "bytes spill stores");
      found.spillLoadBytes = numberBefore(line, "bytes spill loads");
      continue;
    }
    if (!head.match(line, &groups)) {
      continue;
    }
    StringRef kind = groups[2], text = groups[3];
    if (kind == "error" || kind == "fatal") {
      report.errors.push_back(text.str());
    } else if (text.consume_front("Compiling entry function '")) {
      current = text.take_until([](char c) { return c == '\''; }).str();
    } else if (text.consume_front("Function properties for ")) {
      current = text.str();
    } else if (text.starts_with("Used ")) {
      FunctionResources &found = report.functions[current];
      found.registers = numberBefore(text, "registers");
      found.barriers = numberBefore(text, "barriers");
      found.staticSharedBytes = numberBefore(text, "bytes smem");
    } else if (std::optional<diag::Id> id = classify(text, kind == "warning")) {
      report.messages.push_back({*id, functionOf(text), text.str()});
    }
  }
  return report;
}

//===----------------------------------------------------------------------===//
// Running the tools
//===----------------------------------------------------------------------===//

namespace {
/// A temporary folder with the files of one run.
class Scratch {
public:
  Scratch() : folder("tilec"), error(folder.error()) {}
  std::string path(const Twine &name) const { return (folder.path() + "/" + name).str(); }
  bool write(const Twine &name, StringRef bytes) {
    if (error) {
      return false;
    }
    raw_fd_ostream os(path(name), error);
    if (!error) {
      os << bytes;
      os.close();
      error = os.error();
      os.clear_error();
    }
    return !error;
  }
  std::optional<std::string> read(const Twine &name) const {
    auto buffer = MemoryBuffer::getFile(path(name), /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
    if (!buffer) {
      return std::nullopt;
    }
    return (*buffer)->getBuffer().str();
  }

  TemporaryFolder folder;
  std::error_code error; ///< of the folder, or of the first file that could not be written
};
} // namespace

/// Runs a program with its output in the scratch file "log". It runs in the scratch folder: ptxas
/// writes time and size of a source into the line table if it finds the file where it runs.
static ToolEnd runTool(StringRef program, ArrayRef<std::string> args, const Scratch &scratch) {
  return runTool(program, args, scratch.folder.path(), scratch.path("log"));
}

/// ptxas says so of products whose accumulators do not fit the registers that `@min_blocks`,
/// `@max_registers` or the number of threads leave.
static bool isShortOfRegisters(StringRef text, int64_t &available, int64_t &needed) {
  Regex pattern("Insufficient registers \\(([0-9]+)\\).* register target of ([0-9]+)");
  SmallVector<StringRef> groups;
  return pattern.match(text, &groups) && !groups[1].getAsInteger(10, available) &&
         !groups[2].getAsInteger(10, needed);
}

/// What ptxas was at when it ended without a message: the entry that it named last, else all of the text.
static std::vector<std::string> entriesAtWork(const std::string &log, StringRef ptx) {
  std::vector<std::string> entries;
  SmallVector<StringRef> groups;
  StringRef rest =
      StringRef(log).substr(std::min(StringRef(log).rfind("Compiling entry"), log.size()));
  if (Regex("Compiling entry function '([A-Za-z0-9_$]+)'").match(rest, &groups)) {
    return {groups[1].str()};
  }
  const Regex entry("[.]entry ([A-Za-z0-9_$]+)");
  for (rest = ptx; entry.match(rest, &groups); rest = rest.substr(groups[0].end() - rest.begin())) {
    entries.push_back(groups[1].str());
  }
  return entries;
}

void Assembler::reportFailure(const AssemblerReport &report, int status, const Failure &failed,
                              PlaceOf place) {
  if (report.errors.empty()) {
    std::string which, text = !failed.died.empty() ? failed.died
                              : status == 0        ? std::string("it wrote no code")
                                                   : "exit status " + std::to_string(status);
    for (const std::string &entry : failed.entries) {
      which += (which.empty() ? " for `" : "`, `") + entry;
    }
    diags
        .report(diag::Id::ToolFailed, place(failed.entries.size() == 1 ? failed.entries[0] : ""),
                "ptxas", text + which + (which.empty() ? " for " : "` on ") + failed.arch.str())
        .hint("other code may go through: try another level of `-O`, other tile sizes, or another "
              "version of CUDA (`--cuda-path`); `--emit=ptx` gives the text to report to NVIDIA");
  }
  for (const std::string &error : report.errors) {
    if (StringRef(error).starts_with("Ptx assembly aborted") && report.errors.size() > 1) {
      continue;
    }
    SMRange range = place(functionOf(error));
    int64_t available = 0, needed = 0;
    if (isShortOfRegisters(error, available, needed)) {
      diags.report(diag::Id::FragmentTooLarge, range, needed, available);
    } else {
      diags.report(diag::Id::ToolFailed, range, "ptxas", error);
    }
  }
}

std::optional<Cubin> Assembler::assemble(StringRef ptx, StringRef arch, bool lineTables,
                                         PlaceOf place) {
  std::optional<std::string> ptxas = toolchain.findProgram("ptxas");
  if (!ptxas) {
    diags.report(diag::Id::ToolMissing, SMRange(), "ptxas");
    return std::nullopt;
  }
  Scratch scratch;
  if (!scratch.write("kernels.ptx", ptx)) {
    diags.report(diag::Id::FileWrite, SMRange(), scratch.path("kernels.ptx"),
                 scratch.error.message());
    return std::nullopt;
  }
  std::vector<std::string> args{"-v", ("-arch=" + arch).str()};
  if (lineTables) {
    args.emplace_back("-lineinfo");
  }
  args.insert(args.end(), {scratch.path("kernels.ptx"), "-o", scratch.path("kernels.cubin")});
  Failure failed{arch, {}, {}};
  TimeTraceScope trace("run ptxas", arch);
  const ToolEnd end = runTool(*ptxas, args, scratch);
  failed.died = end.died;
  const std::string log = scratch.read("log").value_or("");
  AssemblerReport report = parseAssemblerOutput(log);
  std::optional<std::string> bytes = scratch.read("kernels.cubin");
  if (end.status != 0 || !bytes) {
    failed.entries = entriesAtWork(log, ptx);
    reportFailure(report, end.status, failed, place);
    return std::nullopt;
  }
  return Cubin{std::move(*bytes), std::move(report)};
}

std::optional<std::string> Assembler::bundle(ArrayRef<FatbinImage> images) {
  std::optional<std::string> program = toolchain.findProgram("fatbinary");
  if (!program) {
    diags.report(diag::Id::ToolMissing, SMRange(), "fatbinary");
    return std::nullopt;
  }
  Scratch scratch;
  std::vector<std::string> args{"--create=" + scratch.path("kernels.fatbin")};
  for (const FatbinImage &image : images) {
    bool isPtx = image.kind == FatbinImage::Kind::Ptx;
    std::string name = image.arch + (isPtx ? ".ptx" : ".cubin");
    if (!scratch.write(name, image.bytes)) {
      diags.report(diag::Id::FileWrite, SMRange(), scratch.path(name), scratch.error.message());
      return std::nullopt;
    }
    StringRef number = StringRef(image.arch).substr(strlen("sm_"));
    args.push_back(("--image3=kind=" + Twine(isPtx ? "ptx" : "elf") + ",sm=" + number +
                    ",file=" + scratch.path(name))
                       .str());
  }
  TimeTraceScope trace("run fatbinary");
  const ToolEnd end = runTool(*program, args, scratch);
  std::optional<std::string> bytes = scratch.read("kernels.fatbin");
  if (end.status != 0 || !bytes) {
    diags.report(diag::Id::ToolFailed, SMRange(), "fatbinary",
                 StringRef(scratch.read("log").value_or("")).trim());
    return std::nullopt;
  }
  return bytes;
}

} // namespace tilec
