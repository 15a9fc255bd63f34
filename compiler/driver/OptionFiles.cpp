#include "compiler/driver/OptionFiles.h"

#include "runtime/harness/SameFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace llvm;

namespace tilec {

bool isOneFile(StringRef one, StringRef other) {
  return one != "-" && other != "-" && tile_rt::isSameFile(one.str(), other.str());
}

std::optional<EmitKind> kindOfExtension(StringRef name) {
  return StringSwitch<std::optional<EmitKind>>(sys::path::extension(name))
      .Case(".ptx", EmitKind::Ptx)
      .Case(".cubin", EmitKind::Cubin)
      .Case(".fatbin", EmitKind::Fatbin)
      .Case(".json", EmitKind::Manifest)
      .Case(".pack", EmitKind::Pack)
      .Case(".o", EmitKind::Object)
      .Cases({".h", ".hpp"}, EmitKind::Header)
      .Case(".ll", EmitKind::Llvm)
      .Default(std::nullopt);
}

/// Two sources whose outputs would have one name: the second would replace the first.
static void checkOutputNames(const Options &options) {
  std::map<std::string, std::string> sources;
  for (const std::string &input : options.inputs) {
    SmallString<128> name = StringRef(input);
    if (options.outputIsFolder()) {
      name = sys::path::filename(input);
    }
    sys::path::replace_extension(name, "");
    auto [first, isNew] = sources.try_emplace(name.str().str(), input);
    if (!isNew) {
      throw UsageError{"the outputs of `" + first->second + "` and `" + input + "` have one name",
                       "compile them one after the other, into different folders"};
    }
  }
}

void checkFiles(const Options &options) {
  if (options.inputs.empty() && !options.printTools) {
    throw UsageError{"no source file is given"};
  }
  if (options.inputs.size() > 1 && !options.output.empty() && !options.outputIsFolder()) {
    throw UsageError{"`-o` names one output for several sources",
                     "`-o DIR/` names a folder for them"};
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
  if (options.command == Options::Command::Compile) {
    checkOutputNames(options);
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

/// Neither the trace nor the file of messages nor the make rule, which are written last, may take the place of an output
/// whose name follows from the source. `option`: "--time-trace=", as it stands before the file.
static void checkNoOutput(const Options &options, std::string file, StringRef option) {
  const std::optional<EmitKind> kind = kindOfExtension(file);
  const bool isManifest = kind == EmitKind::Manifest; // other files end in .json as well
  auto isOf = [&](StringRef source) { return sys::path::stem(source) == sys::path::stem(file); };
  if (kind && (!isManifest || (options.wants(*kind) && any_of(options.inputs, isOf)))) {
    options.messages->useStandardError();
    throw UsageError{"`" + option.str() + file + "`: that is the name of a " +
                         emitKindName(*kind).str(),
                     "`" + option.rtrim("= ").str() + "` takes a name of its own"};
  }
}

/// The files that `tilec run` writes tensors to.
static std::vector<std::string> runOutputs(const Options &options) {
  std::vector<std::string> files;
  files.reserve(options.run.outs.size());
  for (StringRef text : options.run.outs) {
    files.push_back(text.split('=').second.str());
  }
  return files;
}

/// Files that the command line names, but for the trace and the rule.
static std::vector<std::string> namedFiles(const Options &options) {
  std::vector<std::string> files = options.inputs;
  files.insert(files.end(), {options.output, options.messages->getFile()});
  append_range(files, runOutputs(options));
  return files;
}

void resolveTimeTrace(const OptionReader &reader, Options &options) {
  reader.read(OPT_time_trace_EQ, options.timeTrace);
  if (options.timeTrace.empty() && reader.has(OPT_time_trace) && !options.inputs.empty()) {
    StringRef source = options.inputs.front() == "-" ? "stdin" : StringRef(options.inputs.front());
    SmallString<128> name = StringRef(options.output);
    if (options.outputIsFolder()) {
      name += sys::path::filename(source);
    } else if (name.empty() || name == "-") {
      name = source;
    }
    sys::path::replace_extension(name, "trace.json");
    options.timeTrace = name.str().str();
  }
  checkNoOutput(options, options.timeTrace, "--time-trace=");
  checkNoOutput(options, options.messages->getFile(), "--diagnostics-file=");
  if (options.timeTrace == "-") {
    throw UsageError{"`--time-trace=-`: a trace is a file of its own",
                     "`--time-trace=k.trace.json`"};
  }
  for (const std::string &other : namedFiles(options)) {
    if (isOneFile(options.timeTrace, other)) {
      throw UsageError{"`" + options.timeTrace + "` cannot be the trace as well",
                       "`--time-trace=FILE` takes a name of its own"};
    }
  }
}

void checkDependencyFile(const Options &options) {
  const std::string &file = options.dependencyFile;
  if (file.empty()) {
    return;
  }
  if (options.command == Options::Command::Compile && options.inputs.size() > 1) {
    throw UsageError{"`-MF` names one file for the rules of several sources",
                     "`-MD` alone writes each beside its output"};
  }
  checkNoOutput(options, file, "-MF ");
  std::vector<std::string> others = namedFiles(options);
  others.push_back(options.timeTrace);
  if (any_of(others, [&](const std::string &other) { return isOneFile(file, other); })) {
    throw UsageError{"`" + file + "` cannot be the make rule as well",
                     "`-MF` takes a name of its own"};
  }
}

void checkRunOutputs(const Options &options) {
  const std::string file = options.messages->getFile();
  for (const std::string &out : runOutputs(options)) {
    if (isOneFile(out, file)) {
      options.messages->useStandardError();
      throw UsageError{"`" + file + "` cannot be the file of messages as well",
                       "`--diagnostics-file` takes a name of its own"};
    }
  }
}

void checkMessageFile(ArrayRef<std::string> args, MessageLog &messages) {
  const std::string file = messages.getFile();
  if (file.empty() || file == "-") {
    return;
  }
  for (const std::string &arg : args) {
    StringRef word = arg;
    if (word.starts_with("--diagnostics-file")) {
      continue;
    }
    word.consume_front("-o");
    word.consume_front("@");
    bool isSame = false;
    const bool isValue =
        word == file && &arg != args.begin() && *(&arg - 1) == "--diagnostics-file";
    if (!isValue && (word == file || (!sys::fs::equivalent(file, word, isSame) && isSame))) {
      messages.useStandardError();
      throw UsageError{"`" + file + "` cannot be the file of messages as well",
                       "`--diagnostics-file` takes a name of its own"};
    }
  }
}

} // namespace tilec
