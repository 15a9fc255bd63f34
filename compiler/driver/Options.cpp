#include "compiler/driver/Options.h"

#include "compiler/basic/Version.h"
#include "compiler/driver/RunOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

static constexpr std::pair<StringLiteral, EmitKind> emitKinds[] = {
    {"ast", EmitKind::Ast},       {"tile", EmitKind::Tile},         {"tgpu", EmitKind::Tgpu},
    {"llvm", EmitKind::Llvm},     {"ptx", EmitKind::Ptx},           {"cubin", EmitKind::Cubin},
    {"fatbin", EmitKind::Fatbin}, {"manifest", EmitKind::Manifest}, {"pack", EmitKind::Pack}};

StringRef emitKindName(EmitKind kind) {
  return find_if(emitKinds, [&](const auto &entry) { return entry.second == kind; })->first;
}

bool takesSeveralArchs(EmitKind kind) { return kind == EmitKind::Ast || kind >= EmitKind::Fatbin; }

namespace {
/// The texts that CLI11 fills in, before they are checked.
struct RawOptions {
  std::string emit, archs, format = "text", optLevel = "2", testOn, failOn;
  std::vector<std::string> params;
};
} // namespace

/// CLI11 knows no long options with one dash: `-MD`, `-MF`, `-Werror` are renamed.
static std::vector<std::string> renameOldStyle(ArrayRef<std::string> args) {
  std::vector<std::string> renamed;
  for (StringRef arg : args) {
    StringRef name = StringSwitch<StringRef>(arg)
                         .Case("-MD", "--write-dependencies")
                         .Case("-MF", "--dependency-file")
                         .Case("-Werror", "--werror")
                         .Default(arg);
    renamed.push_back(name.str());
  }
  return renamed;
}

static void addCompileOptions(CLI::App &app, Options &options, RawOptions &raw) {
  app.add_option("FILE", options.inputs, "sources (.tile); - is standard input");
  app.add_option("-o", options.output, "output file; - is standard output");
  app.add_option("--emit", raw.emit,
                 "ast, tile, tgpu, llvm, ptx, cubin, fatbin, pack or manifest; without it the name "
                 "after -o decides");
  app.add_option("--arch", raw.archs, "architectures: sm_90a, sm_80, ..., with commas between");
  app.add_option("-P", raw.params,
                 "NAME=VALUE: value of a compile-time parameter or dimension; auto: "
                 "the compiler chooses what `tune` lists")
      ->allow_extra_args(false);
  app.add_option("--variants", options.variants,
                 "most sets of parameters that `auto` keeps of a kernel for dimensions known at "
                 "run time (6)")
      ->check(CLI::Range(1, 64));
  app.add_option("--tune-file", options.tuneFile,
                 "what `tilec tune` measured, for `auto`; without it K.tune.json beside K.tile, if "
                 "there is one; none: nothing");
  app.add_option("--kernel", options.kernel, "compile only this kernel or symbol");
  app.add_option("--instantiate", options.instantiate,
                 "'K<D = 64> as name': compile this too, as if written at the end of the file")
      ->allow_extra_args(false);
  app.add_option("-I", options.includeDirs, "folder to search for imports")
      ->allow_extra_args(false);
  app.add_option("-O", raw.optLevel, "0 to 3: level of optimisation");
  app.add_flag("-g", options.debug, "line tables");
  app.add_flag("--check", options.check, "test at run time what can be tested");
  app.add_flag("--save-temps", options.saveTemps, "keep each intermediate form beside the output");
  app.add_flag("--print-ir-after-all", options.printIrAfterAll, "print the IR after each pass");
  app.add_flag("--verify-each", options.verifyEach, "verify the IR after each pass");
  app.add_flag("--report", options.report,
               "print decisions: registers, shared memory, copies, layouts, ...");
  app.add_flag("--time-passes", options.timePasses, "print how long each phase takes");
  app.add_flag("--write-dependencies", options.writeDependencies,
               "(-MD) write a make rule to a .d file");
  app.add_option("--dependency-file", options.dependencyFile, "(-MF) name of that file");
  app.add_flag("--werror", options.warningsAreErrors, "(-Werror) warnings are errors");
  app.add_option("--diagnostics-format", raw.format, "text or json");
  app.add_option("--cuda-path", options.cudaPath, "folder of the CUDA toolkit (bin/ptxas in it)");
}

/// The kind of output that a file name asks for.
static EmitKind kindOfName(StringRef name) {
  StringRef extension = sys::path::extension(name);
  if (extension == ".o") {
    throw UsageError{"object files are not supported yet: write a `.pack`"};
  }
  return StringSwitch<EmitKind>(extension)
      .Case(".ptx", EmitKind::Ptx)
      .Case(".cubin", EmitKind::Cubin)
      .Case(".fatbin", EmitKind::Fatbin)
      .Case(".json", EmitKind::Manifest)
      .Default(EmitKind::Pack);
}

static void resolveEmit(Options &options, const RawOptions &raw) {
  const bool isBench = options.command == Options::Command::Bench;
  if (options.command == Options::Command::Tune || isBench) {
    if (!raw.emit.empty()) {
      throw UsageError{std::string("`tilec ") + (isBench ? "bench" : "tune") +
                       "` writes measurements: `--emit` has no meaning"};
    }
    return; // packs
  }
  if (raw.emit.empty()) {
    options.emit = options.output.empty() ? EmitKind::Pack : kindOfName(options.output);
  } else if (raw.emit == "obj") {
    throw UsageError{"`--emit=obj` is not supported yet: write a pack"};
  } else {
    const auto *entry =
        find_if(emitKinds, [&](const auto &candidate) { return candidate.first == raw.emit; });
    if (entry == std::end(emitKinds)) {
      throw UsageError{"there is no output kind `" + raw.emit +
                       "`; there are ast, tile, tgpu, llvm, ptx, cubin, fatbin, pack, manifest"};
    }
    options.emit = entry->second;
  }
  if (options.archs.size() > 1 && !takesSeveralArchs(options.emit)) {
    bool isCode = options.emit == EmitKind::Ptx || options.emit == EmitKind::Cubin;
    throw UsageError{"`" + emitKindName(options.emit).str() +
                     "` holds code of one architecture: give one --arch" +
                     (isCode ? ", or write a `fatbin`" : "")};
  }
}

static void resolveArchs(Options &options, const RawOptions &raw) {
  SmallVector<StringRef> names;
  bool isTest = options.command == Options::Command::Test;
  StringRef archs = !raw.archs.empty() ? StringRef(raw.archs) : isTest ? "sm_90a,sm_80" : "sm_90a";
  archs.split(names, ',', -1, /*KeepEmpty=*/false);
  for (StringRef name : names) {
    const Target *target = findTarget(name.trim());
    if (!target || !target->isGpu()) {
      std::string known;
      for (const Target &candidate : allTargets()) {
        known += candidate.isGpu() ? " " + candidate.name.str() : "";
      }
      throw UsageError{"there is no architecture `" + name.str() + "`; there are" + known};
    }
    if (!is_contained(options.archs, target)) {
      options.archs.push_back(target);
    }
  }
  if (options.archs.empty()) {
    throw UsageError{"`--arch` names no architecture"};
  }
}

static void resolveParams(Options &options, const RawOptions &raw) {
  for (StringRef text : raw.params) {
    auto [name, value] = text.split('=');
    if (text == "auto") {
      options.autoParams = true;
    } else if (name.trim().empty() || value.trim().empty()) {
      throw UsageError{"`-P " + text.str() + "` is not NAME=VALUE"};
    } else {
      options.params.emplace_back(name.trim().str(), value.trim().str());
    }
  }
}

static void checkFiles(const Options &options) {
  if (options.inputs.empty() && !options.printTools) {
    throw UsageError{"no source file is given"};
  }
  if (options.inputs.size() > 1 && !options.output.empty()) {
    throw UsageError{"`-o` names one output for several sources"};
  }
  if (count(options.inputs, "-") > 1) {
    throw UsageError{"standard input can be read only once"};
  }
  for (const std::string &input : options.inputs) {
    bool same = false;
    if (options.output != "-" && input != "-" &&
        !sys::fs::equivalent(input, options.output, same) && same) {
      throw UsageError{"the output `" + options.output + "` is the source itself"};
    }
  }
  const bool isTune = options.command == Options::Command::Tune;
  const bool isBench = options.command == Options::Command::Bench;
  const std::string program = std::string("`tilec ") + (isTune    ? "tune"
                                                        : isBench ? "bench"
                                                                  : "run");
  if ((options.command == Options::Command::Run || isTune || isBench) &&
      options.inputs.size() > 1) {
    throw UsageError{program + "` takes one source"};
  }
  if (isTune && options.inputs.front() == "-") {
    throw UsageError{"`tilec tune` takes a file: what it measures is kept beside it"};
  }
  if (isBench && options.inputs.front() == "-") {
    throw UsageError{"`tilec bench` takes a file: its results name it"};
  }
  if ((isTune || isBench) && options.archs.size() > 1) {
    throw UsageError{program + "` measures code of one architecture at a time"};
  }
  bool isSource = false;
  if (isBench && !sys::fs::equivalent(options.inputs.front(), options.bench.plot, isSource) &&
      isSource) {
    throw UsageError{"the output `" + options.bench.plot + "` is the source itself"};
  }
}

static void resolve(Options &options, const RawOptions &raw) {
  resolveArchs(options, raw);
  resolveEmit(options, raw);
  resolveParams(options, raw);
  if (raw.optLevel.size() != 1 || raw.optLevel[0] < '0' || raw.optLevel[0] > '3') {
    throw UsageError{"`-O" + raw.optLevel + "`: the levels are 0 to 3"};
  }
  options.optLevel = raw.optLevel[0] - '0';
  if (raw.format != "text" && raw.format != "json") {
    throw UsageError{"`--diagnostics-format=" + raw.format + "`: the formats are text and json"};
  }
  options.format = raw.format == "json" ? DiagnosticsFormat::Json : DiagnosticsFormat::Text;
  if (options.command == Options::Command::Run) {
    checkRunOptions(options.run);
  } else if (options.command == Options::Command::Test) {
    resolveTestOptions(options.test, raw.testOn);
  } else if (options.command == Options::Command::Bench) {
    resolveBenchOptions(options.bench, raw.failOn);
    if (!options.bench.json.empty() && !options.output.empty()) {
      throw UsageError{"`-o` and `--json` name the same output"};
    }
    options.output = options.output.empty() ? options.bench.json : options.output;
  }
  checkFiles(options);
}

/// Takes the subcommand off the arguments; without one it is `compile`.
static Options::Command takeCommand(std::vector<std::string> &args) {
  if (args.empty()) {
    return Options::Command::Compile;
  }
  std::string first = args.front();
  static constexpr StringLiteral later[] = {"fmt", "explain", "inspect", "viz"};
  if (is_contained(later, StringRef(first)) && !sys::fs::exists(first)) {
    throw UsageError{"`tilec " + first + "` is not supported yet"};
  }
  if (first != "compile" && first != "run" && first != "test" && first != "tune" &&
      first != "bench") {
    return Options::Command::Compile;
  }
  args.erase(args.begin());
  return first == "run"     ? Options::Command::Run
         : first == "test"  ? Options::Command::Test
         : first == "tune"  ? Options::Command::Tune
         : first == "bench" ? Options::Command::Bench
                            : Options::Command::Compile;
}

/// What --help begins with, and the name of the program in it.
static std::pair<const char *, const char *> describe(Options::Command command) {
  switch (command) {
  case Options::Command::Run:
    return {"tilec run: compiles a kernel and runs it", "tilec run"};
  case Options::Command::Test:
    return {"tilec test: runs the cases of kernel files and compares with their references",
            "tilec test"};
  case Options::Command::Tune:
    return {"tilec tune: measures the parameters that `tune` lists on a GPU, for `auto`",
            "tilec tune"};
  case Options::Command::Bench:
    return {"tilec bench: measures the `bench` cases of a kernel file on a GPU, beside cuBLAS",
            "tilec bench"};
  case Options::Command::Compile:
    break;
  }
  return {"tilec: compiles tile kernels (subcommands: compile, run, test, tune, bench)", "tilec"};
}

/// Parses and checks; --help and --version end in CLI11's exceptions.
static ParsedOptions parse(std::vector<std::string> args) {
  Options options;
  RawOptions raw;
  options.command = takeCommand(args);
  const auto [about, program] = describe(options.command);
  CLI::App app(about, program);
  app.set_version_flag("--version", "tilec " + kVersion.str());
  addCompileOptions(app, options, raw);
  switch (options.command) {
  case Options::Command::Run:
    addRunOptions(app, options.run);
    break;
  case Options::Command::Test:
    addTestOptions(app, options.test, raw.testOn);
    break;
  case Options::Command::Tune:
    addTuneOptions(app, options.tune);
    app.add_option("-j,--jobs", options.jobs,
                   "candidates to compile at a time; by default one for each core");
    break;
  case Options::Command::Bench:
    addBenchOptions(app, options.bench, raw.failOn);
    app.add_option("-j,--jobs", options.jobs,
                   "configurations to compile at a time; by default one for each core");
    break;
  case Options::Command::Compile:
    app.add_option("-j,--jobs", options.jobs,
                   "configurations to compile at a time; by default one for each core");
    app.add_flag("--print-tools", options.printTools,
                 "print where ptxas, fatbinary and libdevice are found, and compile nothing");
    break;
  }
  try {
    std::vector<std::string> reversed = renameOldStyle(args);
    std::reverse(reversed.begin(), reversed.end()); // CLI11 takes them from the back
    app.parse(reversed);
  } catch (const CLI::Success &request) {
    app.exit(request);
    return {std::nullopt, ExitSuccess};
  } catch (const CLI::ParseError &error) {
    throw UsageError{error.what()};
  }
  resolve(options, raw);
  return {std::move(options), ExitSuccess};
}

ParsedOptions parseOptions(int argc, const char *const *argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  try {
    ParsedOptions parsed = parse(args);
    if (parsed.options) {
      parsed.options->arguments = std::move(args);
    }
    return parsed;
  } catch (const UsageError &error) {
    errs() << "tilec: error: " << error.text << " [usage]\nhelp: see `tilec --help`\n";
    return {std::nullopt, ExitUsage};
  }
}

} // namespace tilec
