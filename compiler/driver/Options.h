// The command line of tilec.
#pragma once

#include "compiler/diag/MessageLog.h"
#include "dialects/support/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Triple.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilec {

/// What a program says with its exit status.
enum ExitCode : int {
  ExitSuccess = 0,
  ExitInput = 1,    ///< a diagnosed error in the input, or a file that cannot be read or written
  ExitUsage = 2,    ///< a wrong command line
  ExitTool = 3,     ///< ptxas, fatbinary or libdevice is missing or fails
  ExitInternal = 4, ///< an error of the compiler
};

/// The kinds of output, in the order in which they are made.
enum class EmitKind { Ast, Tile, Tgpu, Llvm, Ptx, Cubin, Fatbin, Manifest, Pack, Object, Header };

/// "ast", "tile", ...
llvm::StringRef emitKindName(EmitKind kind);
/// Whether the output holds code of several architectures (or of none).
bool takesSeveralArchs(EmitKind kind);

/// What `tilec run` takes beside the options of a compilation. Texts are "NAME=VALUE".
struct RunOptions {
  std::string on;                   ///< "cpu", "emu", "cuda", or empty: cuda if there is a GPU
  std::vector<std::string> dims;    ///< values of dimensions
  std::vector<std::string> pitches; ///< of strided tensors: elements from row to row
  std::vector<std::string> args;    ///< inputs: a .npy file, a distribution or a number
  std::vector<std::string> outs;    ///< outputs to write as .npy files
  std::vector<std::string> expect;  ///< outputs to compare with .npy files
  std::optional<double> tolerance;  ///< instead of the default of the output's type
  uint64_t seed = 1;
  unsigned repeat = 0;               ///< timed launches (cuda)
  std::vector<std::string> emulator; ///< options of the emulator, as tile-run takes them
};

/// What `tilec test` takes beside the options of a compilation.
struct TestOptions {
  std::vector<std::string> on;       ///< "cpu", "emu", "cuda"; never empty
  std::string filter;                ///< a text that the line of a case must contain
  std::string python;                ///< empty: a python3 that has numpy
  std::vector<std::string> lines;    ///< `test` lines in place of those of the files
  bool list = false;                 ///< print the cases as JSON instead of running them
  bool fixed = false;                ///< compile with the dimensions of each case
  bool all = false;                  ///< also what is too large for the processor
  unsigned jobs = 0;                 ///< processes; 0 until resolved: one for each core
  unsigned perLine = 0;              ///< combinations of a line; 0: all
  double maxSeconds = 0;             ///< no case begins later; 0: no limit
  unsigned caseSeconds = 300;        ///< a run that takes longer has failed
  std::vector<std::string> emulator; ///< options of the emulator, as tile-run takes them
};

/// What `tilec tune` takes beside the options of a compilation.
struct TuneOptions {
  std::vector<std::string> dims;  ///< NAME=VALUE or NAME=VALUE,VALUE,...
  std::string shapesFile;         ///< a shape a line: "M=64 N=128"; may be empty
  std::vector<std::string> args;  ///< as tile-run takes them
  std::vector<std::string> pitch; ///< likewise
  unsigned candidates = 12;       ///< that are measured at a shape
  unsigned gpus = 1;              ///< processes at a time, each with a GPU of its own
  unsigned repeat = 30;           ///< timed launches
  unsigned seconds = 60;          ///< for a shape, before its process is ended
  std::string work; ///< folder of what is unfinished; empty: beside the output, removed at the end
  std::string jobsFile; ///< command lines for another engine, instead of measuring
  bool dryRun = false;
  bool again = false; ///< forget what failed before
};

/// What `tilec bench` takes beside the options of a compilation.
struct BenchOptions {
  std::vector<std::string> lines;  ///< `bench` lines in place of those of the file
  std::string shapesFile;          ///< more of them, a shape a line: "M=64 N=128"; may be empty
  std::string filter;              ///< a text that the line of a case must contain
  std::string baseline = "auto";   ///< "cublas": it must be there; "none"
  unsigned repeat = 30;            ///< timed launches, at least
  double launchSeconds = 0.5;      ///< of timed launches, at least
  unsigned seconds = 120;          ///< for a case, before its process is ended
  std::string work;                ///< folder of pack and results; empty: a temporary one
  std::string jobsFile;            ///< the command line for another machine, instead of measuring
  std::string json, plot, compare; ///< files to write, and one to compare with; may be empty
  std::optional<double> failOn;    ///< share that a time may be worse than before
  bool dryRun = false;
  bool again = false; ///< forget what failed before
};

/// What `tilec inspect` takes.
struct InspectOptions {
  bool asJson = false; ///< a JSON object a line for each file
};

struct Options {
  enum class Command { Compile, Run, Test, Tune, Bench, Inspect } command = Command::Compile;
  std::vector<std::string> inputs; ///< files, `-` is standard input; empty only with printTools
  /// `DIR/`: files in this folder; empty: beside the source, or standard output.
  std::string output;
  EmitKind emit = EmitKind::Pack;              ///< how far to compile: the last of `emits`
  std::vector<EmitKind> emits{EmitKind::Pack}; ///< in the order in which they are made, each once
  std::vector<const Target *> archs;           ///< in the order given, each once; never empty
  std::vector<std::pair<std::string, std::string>> params; ///< of -P
  bool autoParams = false;                                 ///< `-P auto`
  std::string tuneFile; ///< measurements for `auto`; empty: those beside the source; "none"
  unsigned variants =
      0; ///< most configurations that `auto` keeps of a kernel; 0: as its `tune` says, or 6
  unsigned jobs = 0; ///< threads that compile; 0: one for each core
  std::string kernel;
  llvm::Triple host;      ///< of objects; an unknown architecture for other kinds of output
  std::string hostPrefix; ///< before the names of an object's functions
  std::vector<std::string> includeDirs;
  std::vector<std::string> instantiate;
  unsigned optLevel = 2;
  bool debug = false;
  bool check = false;
  bool saveTemps = false;
  bool printIrAfterAll = false;
  unsigned scheduleSeed = 0; ///< of schedules that are drawn; 0: planned
  bool verifyEach = false;
  bool report = false;
  bool timePasses = false;
  std::string timeTrace; ///< file of the trace; empty: none
  bool writeDependencies = false;
  std::string dependencyFile;                 ///< empty: the output's name with `.d`
  std::vector<std::string> dependencyTargets; ///< as they stand; empty: the output
  bool phonyDependencies = false;             ///< an empty rule for each import
  WarningPolicy warnings;
  unsigned errorLimit = 20;                                              ///< 0: none
  std::shared_ptr<MessageLog> messages = std::make_shared<MessageLog>(); ///< of the whole run
  std::string cudaPath;
  bool printTools = false; ///< print where NVIDIA's tools are, and compile nothing
  RunOptions run;
  TestOptions test;
  TuneOptions tune;
  BenchOptions bench;
  InspectOptions inspect;

  bool wants(EmitKind kind) const { return llvm::is_contained(emits, kind); }
  bool wantsOnly(EmitKind kind) const { return emits == std::vector{kind}; }
  bool outputIsFolder() const { return llvm::StringRef(output).ends_with("/"); }

  std::string programDir;             ///< folder of the running tilec
  std::vector<std::string> arguments; ///< the command line without `@FILE`s, for reproducers
};

/// Options, or the exit status of a command line that asks for nothing more (--help) or is wrong;
/// the text is then already printed. `programDir` is the folder of the running tilec.
struct ParsedOptions {
  std::optional<Options> options;
  ExitCode exitCode = ExitSuccess;
};
ParsedOptions parseOptions(int argc, const char *const *argv, std::string programDir);

} // namespace tilec
