#include "compiler/driver/Options.h"

#include "compiler/basic/Spelling.h"
#include "compiler/driver/Devices.h"
#include "compiler/driver/Explain.h"
#include "compiler/driver/OptionFiles.h"
#include "compiler/driver/OptionHelp.h"
#include "compiler/driver/RunOptions.h"
#include "compiler/emit/HostObject.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace tilec {

static constexpr std::pair<StringLiteral, EmitKind> emitKinds[] = {
    {"ast", EmitKind::Ast},       {"tile", EmitKind::Tile},         {"tgpu", EmitKind::Tgpu},
    {"llvm", EmitKind::Llvm},     {"ptx", EmitKind::Ptx},           {"cubin", EmitKind::Cubin},
    {"fatbin", EmitKind::Fatbin}, {"manifest", EmitKind::Manifest}, {"pack", EmitKind::Pack},
    {"obj", EmitKind::Object},    {"header", EmitKind::Header}};

StringRef emitKindName(EmitKind kind) {
  return find_if(emitKinds, [&](const auto &entry) { return entry.second == kind; })->first;
}

bool takesSeveralArchs(EmitKind kind) { return kind == EmitKind::Ast || kind >= EmitKind::Fatbin; }

namespace {
/// Texts that have to be taken apart.
struct RawOptions {
  std::vector<std::string> emits;
  std::string host;
  std::vector<std::string> archs;
  std::vector<std::string> params;
};
} // namespace

static void readCompileOptions(const OptionReader &reader, Options &options, RawOptions &raw) {
  options.inputs = reader.inputs();
  reader.read(OPT_o, options.output);
  raw.emits = reader.list(OPT_emit);
  reader.read(OPT_host, raw.host);
  reader.read(OPT_prefix, options.hostPrefix);
  raw.archs = reader.list(OPT_arch);
  reader.read(OPT_P, raw.params);
  reader.read(OPT_variants, options.variants, 1, 64);
  reader.read(OPT_tune_file, options.tuneFile);
  reader.read(OPT_j, options.jobs);
  reader.read(OPT_kernel, options.kernel);
  reader.read(OPT_instantiate, options.instantiate);
  reader.read(OPT_I, options.includeDirs);
  reader.read(OPT_O, options.optLevel);
  reader.read(OPT_g, options.debug);
  reader.read(OPT_check, options.check);
  reader.read(OPT_save_temps, options.saveTemps);
  reader.read(OPT_print_ir_after_all, options.printIrAfterAll);
  reader.read(OPT_random_schedules, options.scheduleSeed, 1, INT32_MAX);
  reader.read(OPT_verify_each, options.verifyEach);
  reader.read(OPT_report, options.report);
  reader.read(OPT_time_passes, options.timePasses);
  reader.read(OPT_cuda_path, options.cudaPath);
  reader.read(OPT_print_tools, options.printTools);
}

static void readDependencyOptions(const OptionReader &reader, Options &options) {
  reader.read(OPT_MD, options.writeDependencies);
  reader.read(OPT_MF, options.dependencyFile);
  reader.read(OPT_MT, options.dependencyTargets);
  reader.read(OPT_MP, options.phonyDependencies);
  const bool isWritten = options.writeDependencies || !options.dependencyFile.empty();
  if (!isWritten && (options.phonyDependencies || !options.dependencyTargets.empty())) {
    throw UsageError{std::string("`") + (options.phonyDependencies ? "-MP" : "-MT") +
                         "` says how a make rule is written, but none is asked for",
                     "add `-MD` or `-MF FILE`"};
  }
}

/// Names of diagnostics, each once: those of warnings, or those that are none.
static std::vector<StringRef> diagnosticNames(bool ofWarnings) {
  std::vector<StringRef> warnings, others;
  for (unsigned i = 0; i != diag::numDiagnostics(); ++i) {
    const diag::Info &info = diag::info(diag::Id(i));
    std::vector<StringRef> &list = info.severity == diag::Severity::Warning ? warnings : others;
    if (!is_contained(list, StringRef(info.name))) {
      list.push_back(info.name);
    }
  }
  return ofWarnings ? warnings : others;
}

static WarningPolicy readWarnings(const OptionReader &reader) {
  WarningPolicy policy;
  policy.areErrors = reader.has(OPT_Werror);
  const std::vector<StringRef> warnings = diagnosticNames(/*ofWarnings=*/true);
  for (const opt::Arg *arg : reader.all().filtered(OPT_Wno, OPT_Werror_EQ, OPT_Wno_error)) {
    StringRef name = arg->getValue();
    if (!is_contained(warnings, name)) {
      const std::string text = "`" + arg->getSpelling().str() + name.str() + "`: ";
      if (is_contained(diagnosticNames(/*ofWarnings=*/false), name)) {
        throw UsageError{text + "[" + name.str() + "] is no warning"};
      }
      std::string meant = didYouMean(name, warnings);
      throw UsageError{text + "there is no warning [" + name.str() + "]",
                       meant.empty() ? "there are " + listed(warnings, "and") : meant};
    }
    const unsigned id = arg->getOption().getID();
    policy.named[name.str()] = id == OPT_Wno         ? WarningPolicy::Fate::Ignored
                               : id == OPT_Werror_EQ ? WarningPolicy::Fate::Error
                                                     : WarningPolicy::Fate::Warning;
  }
  return policy;
}

static void readMessageOptions(const OptionReader &reader, Options &options) {
  options.warnings = readWarnings(reader);
  reader.read(OPT_error_limit, options.errorLimit);
}

/// Where messages go, read before all else, so that what is wrong with other options goes there too. What is wrong with these is
/// found later.
static std::shared_ptr<MessageLog> readMessageLog(ArrayRef<std::string> args) {
  std::string color, format, file;
  std::pair<StringRef, std::string &> wanted[] = {
      {"--color", color}, {"--diagnostics-format", format}, {"--diagnostics-file", file}};
  for (size_t i = 0; i != args.size() && args[i] != "--"; ++i) {
    for (auto &[name, value] : wanted) {
      StringRef word = args[i];
      if (word == name && i + 1 != args.size()) {
        value = args[++i];
        break;
      }
      if (word.consume_front(name) && word.consume_front("=")) {
        value = word.str();
      }
    }
  }
  return std::make_shared<MessageLog>(format == "json"    ? DiagnosticsFormat::Json
                                      : format == "sarif" ? DiagnosticsFormat::Sarif
                                                          : DiagnosticsFormat::Text,
                                      color == "always"  ? ColorMode::Always
                                      : color == "never" ? ColorMode::Never
                                                         : ColorMode::Auto,
                                      std::move(file));
}

/// The kind of output that the name after `-o` asks for. Devices and the like have names that say nothing.
static EmitKind kindOfName(const Options &options) {
  StringRef name = options.output;
  sys::fs::file_status status;
  const bool isSpecial = !sys::fs::status(name, status) && sys::fs::exists(status) &&
                         status.type() != sys::fs::file_type::regular_file;
  if (name.empty() || name == "-" || options.outputIsFolder() || isSpecial) {
    return EmitKind::Pack;
  }
  std::optional<EmitKind> kind = kindOfExtension(name);
  if (kind) {
    return *kind;
  }
  throw UsageError{"`-o " + name.str() +
                       "`: the name says no kind of output; .ptx, .cubin, .fatbin, .json, .pack, "
                       ".o, .h and .ll do",
                   "`--emit` names the kind: " + listed(optionTable().valuesOf(OPT_emit))};
}

/// `-o k.cubin --emit=ptx`
static void checkName(const Options &options) {
  if (options.emits.size() > 1) {
    if (!options.output.empty() && !options.outputIsFolder()) {
      throw UsageError{"`-o " + options.output + "` names one output for several kinds",
                       "`-o DIR/` names a folder for them"};
    }
    return;
  }
  std::optional<EmitKind> kind = kindOfExtension(options.output);
  if (kind && *kind != options.emit) {
    throw UsageError{"`-o " + options.output + "` is the name of a " + emitKindName(*kind).str() +
                         ", but `--emit` asks for " + emitKindName(options.emit).str(),
                     "leave one of them out"};
  }
}

static void resolveEmit(Options &options, const RawOptions &raw) {
  if (options.command != Options::Command::Compile) {
    return; // packs
  }
  options.emits.clear();
  for (const auto &[name, kind] : emitKinds) { // in the order in which they are made
    if (is_contained(raw.emits, name)) {
      options.emits.push_back(kind);
    }
  }
  if (options.emits.empty()) {
    options.emits.push_back(kindOfName(options));
  }
  options.emit = options.emits.back();
  checkName(options);
  for (EmitKind kind : options.emits) {
    if (options.archs.size() > 1 && !takesSeveralArchs(kind)) {
      const bool isCode = kind == EmitKind::Ptx || kind == EmitKind::Cubin;
      throw UsageError{"`" + emitKindName(kind).str() +
                       "` holds code of one architecture: give one --arch" +
                       (isCode ? ", or write a `fatbin`" : "")};
    }
  }
}

static void resolveHost(Options &options, const RawOptions &raw) {
  const bool isObject = options.wants(EmitKind::Object);
  if (!raw.host.empty() && !isObject) {
    throw UsageError{"`--host` says what machine an object is for: give --emit=obj"};
  }
  if (!options.hostPrefix.empty() && !isObject && !options.wants(EmitKind::Header)) {
    throw UsageError{"`--prefix` is for objects and headers: give --emit=obj or --emit=header"};
  }
  if (isObject) {
    std::optional<Triple> host = findHost(raw.host);
    if (!host) {
      throw UsageError{"there are no objects for `" +
                       (raw.host.empty() ? sys::getProcessTriple() : raw.host) +
                       "`; --host takes x86_64-linux-gnu and aarch64-linux-gnu"};
    }
    options.host = *host;
  }
  StringRef prefix = options.hostPrefix;
  auto isNamePart = [](char c) { return isAlnum(c) || c == '_'; };
  if (!prefix.empty() && (isDigit(prefix.front()) || !all_of(prefix, isNamePart))) {
    throw UsageError{"`--prefix=" + prefix.str() + "`: no name in C begins so"};
  }
}

static void addArch(Options &options, const Target &target) {
  if (!is_contained(options.archs, &target)) {
    options.archs.push_back(&target);
  }
}

/// The target for a GPU of architecture `name`, "sm_90": its own, or an older one of which it runs the machine code.
static const Target *targetOfDevice(StringRef name) {
  int arch = 0;
  if (!name.consume_front("sm_") || name.getAsInteger(10, arch)) {
    return nullptr;
  }
  const Target *best = nullptr;
  for (const Target &target : allTargets()) {
    const bool isPortable = isDigit(target.name.back());
    if (target.isGpu() && (target.arch == arch ||
                           (isPortable && target.arch / 10 == arch / 10 && target.arch < arch))) {
      best = &target; // the last is the newest
    }
  }
  return best;
}

static void addNativeArchs(Options &options) {
  std::string problem;
  const std::vector<DeviceInfo> devices = listDevices(options.programDir, problem);
  if (devices.empty()) {
    throw UsageError{"`--arch=native`: no GPU is found here: " + problem,
                     "name the architecture: `--arch=sm_90a`"};
  }
  for (const DeviceInfo &device : devices) {
    const Target *target = targetOfDevice(device.arch);
    if (!target) {
      throw UsageError{"`--arch=native`: `" + device.name + "` is " + device.arch +
                       ", for which there is no target"};
    }
    addArch(options, *target);
  }
}

static void resolveArchs(Options &options, const RawOptions &raw) {
  std::vector<std::string> names = raw.archs;
  if (names.empty()) {
    names = options.command == Options::Command::Test ? std::vector<std::string>{"sm_90a", "sm_80"}
                                                      : std::vector<std::string>{"sm_90a"};
  }
  for (const std::string &name : names) {
    if (name == "native") {
      addNativeArchs(options);
    } else if (name == "all") {
      for (const Target &target : allTargets()) {
        if (target.isGpu()) {
          addArch(options, target);
        }
      }
    } else {
      addArch(options, *findTarget(name)); // the table of options has no others
    }
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

static void readSubcommand(const OptionReader &reader, Options &options) {
  switch (options.command) {
  case Options::Command::Run:
    return readRunOptions(reader, options.run);
  case Options::Command::Test:
    return readTestOptions(reader, options.test);
  case Options::Command::Tune:
    return readTuneOptions(reader, options.tune);
  case Options::Command::Bench:
    readBenchOptions(reader, options.bench);
    if (!options.bench.json.empty() && !options.output.empty()) {
      throw UsageError{"`-o` and `--json` name the same output"};
    }
    options.output = options.output.empty() ? options.bench.json : options.output;
    return;
  case Options::Command::Inspect: {
    std::string format;
    reader.read(OPT_format, format);
    options.inspect.asJson = format == "json";
    return;
  }
  case Options::Command::Compile:
    return;
  }
}

/// Takes the subcommand off the arguments; without one it is `compile`.
static const CommandInfo &takeCommand(std::vector<std::string> &args) {
  const CommandInfo &compile = infoOf(Options::Command::Compile);
  if (args.empty()) {
    return compile;
  }
  std::string first = args.front();
  for (const CommandInfo &info : allCommands()) {
    if (first == info.name) {
      args.erase(args.begin());
      return info;
    }
  }
  if (first == "explain" && !sys::fs::exists(first)) {
    throw UsageError{"there is no subcommand `explain`",
                     "`tilec --explain NAME` explains a diagnostic"};
  }
  static constexpr StringLiteral later[] = {"fmt", "viz"};
  if (is_contained(later, StringRef(first)) && !sys::fs::exists(first)) {
    throw UsageError{"`tilec " + first + "` is not supported yet"};
  }
  // A word that is no file and looks like a subcommand: `tilec tets k.tile`.
  if (isAlpha(first.front()) && all_of(first, isAlpha) && !sys::fs::exists(first)) {
    SmallVector<StringRef> names;
    append_range(names, map_range(allCommands(),
                                  [](const CommandInfo &info) { return StringRef(info.name); }));
    std::string meant = didYouMean(first, names);
    throw UsageError{"there is neither a file nor a subcommand `" + first + "`",
                     meant.empty() ? "subcommands are " + listed(names, "and") : meant};
  }
  return compile;
}

/// Prints what --help, --version and --completion ask for; false if none of them is given.
static bool printAbout(const OptionReader &reader, const CommandInfo &command) {
  std::string what;
  if (reader.has(OPT_help) || reader.has(OPT_help_EQ)) {
    reader.read(OPT_help_EQ, what);
    if (what == "man") {
      printManual(outs());
    } else if (what == "markdown") {
      printMarkdown(outs());
    } else {
      printHelp(outs(), command, /*all=*/what == "all");
    }
  } else if (reader.has(OPT_version) || reader.has(OPT_version_EQ)) {
    printVersion(outs(), /*asJson=*/reader.has(OPT_version_EQ));
  } else if (reader.has(OPT_explain)) {
    reader.read(OPT_explain, what);
    printExplanation(outs(), what);
  } else if (reader.has(OPT_completion)) {
    reader.read(OPT_completion, what);
    printCompletion(outs(), what);
  } else {
    return false;
  }
  return true;
}

/// `messages` may become another log before something is wrong.
static ParsedOptions parse(std::vector<std::string> args, std::string programDir,
                           std::shared_ptr<MessageLog> &messages) {
  Options options;
  options.programDir = std::move(programDir);
  checkMessageFile(args, *messages);
  args = expandResponseFiles(args);
  options.messages = messages = readMessageLog(args);
  checkMessageFile(args, *messages);
  options.arguments = args;
  const CommandInfo &command = takeCommand(args);
  options.command = command.command;
  OptionReader reader(command, args);
  if (printAbout(reader, command)) {
    return {std::nullopt, ExitCode(messages->finishPrinting())};
  }
  RawOptions raw;
  readCompileOptions(reader, options, raw);
  if (command.command == Options::Command::Inspect) {
    readMessageOptions(reader, options);
    readSubcommand(reader, options);
    if (options.inputs.empty()) {
      throw UsageError{"no file is given", "`tilec inspect FILE.pack`"};
    }
    return {std::move(options), ExitSuccess};
  }
  readDependencyOptions(reader, options);
  readMessageOptions(reader, options);
  readSubcommand(reader, options);
  resolveArchs(options, raw);
  checkFiles(options);
  resolveEmit(options, raw);
  resolveHost(options, raw);
  resolveParams(options, raw);
  resolveTimeTrace(reader, options);
  checkDependencyFile(options);
  checkRunOutputs(options);
  return {std::move(options), ExitSuccess};
}

ParsedOptions parseOptions(int argc, const char *const *argv, std::string programDir) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  std::shared_ptr<MessageLog> messages = readMessageLog(args);
  try {
    return parse(args, std::move(programDir), messages);
  } catch (const UsageError &error) {
    messages->checkFile();
    messages->report(diag::Id::Usage, error.text,
                     error.hint.empty() ? std::nullopt : std::optional<StringRef>(error.hint));
    return {std::nullopt, ExitCode(messages->finish(ExitUsage))};
  }
}

} // namespace tilec
