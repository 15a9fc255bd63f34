#include "compiler/testing/TestJob.h"

#include "compiler/testing/CpuExecutor.h"
#include "compiler/testing/CpuManifest.h"
#include "runtime/harness/Call.h"
#include "runtime/harness/Compare.h"
#include "runtime/harness/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

/// Work beyond which the processor is not asked without --all, in operations or bytes.
static constexpr double maxWork = 3e9;
/// What is shown of the output of a run that failed.
static constexpr size_t maxDetails = 4000;

/// The name that the tested instance gets.
static constexpr StringLiteral symbol = "tested_case";

/// The first error of a compilation, "gemm.tile:3:4: text [name]".
static std::string firstError(const DiagnosticEngine &diags, bool &isRefused) {
  for (const Diagnostic *diagnostic : diags.sorted()) {
    if (diagnostic->severity != diag::Severity::Error) {
      continue;
    }
    StringRef name = diag::info(diagnostic->id).name;
    isRefused = name == "not-supported" || diagnostic->id == diag::Id::NothingForTarget;
    std::string text;
    raw_string_ostream os(text);
    SMLoc place = diagnostic->range.Start;
    if (unsigned buffer = place.isValid() ? diags.getSources().FindBufferContainingLoc(place) : 0) {
      auto [line, column] = diags.getSources().getLineAndColumn(place, buffer);
      os << diags.getSources().getMemoryBuffer(buffer)->getBufferIdentifier() << ':' << line << ':'
         << column << ": ";
    }
    os << diagnostic->message << " [" << name << ']';
    return text;
  }
  return "the compilation failed";
}

Options TestJob::compileOptions(const TestCase &test, const Target &target) const {
  Options result = options;
  result.archs = {&target};
  result.emit = EmitKind::Pack;
  result.emits = {EmitKind::Pack};
  result.kernel = symbol.str();
  std::string parameters = test.parameters();
  result.instantiate.push_back(tests.kernel + (parameters.empty() ? "" : "<" + parameters + ">") +
                               " as " + symbol.str());
  if (options.test.fixed) {
    for (const CaseValue &value : test.values) {
      if (value.kind == CaseValue::Kind::Dimension) {
        result.params.emplace_back(value.name, value.text);
      }
    }
  }
  return result;
}

/// Reads the arguments off the kernel and makes host code. The text says what is wrong.
std::string TestJob::prepare(const TestCase &test) {
  std::string wanted = options.test.fixed ? test.describe() : test.parameters();
  if (compiledFor == wanted) {
    return {};
  }
  compiledFor.reset();
  packs.clear();
  program.reset();
  module = nullptr;
  const Target &target = *findTarget("cpu");
  cpuCompilation.reset();
  cpuOptions = std::make_unique<Options>(compileOptions(test, target));
  cpuCompilation = std::make_unique<Compilation>(*cpuOptions, file);
  DiagnosticEngine &diags = cpuCompilation->getDiags();
  module = cpuCompilation->lowerFor({&target});
  std::optional<tile_rt::Manifest> described;
  if (module) {
    described = manifestForCpu(*module, diags);
  }
  bool isRefused = false;
  if (!described) {
    return firstError(diags, isRefused);
  }
  manifest = std::move(*described);
  if (manifest.kernels.size() != 1) {
    return "the kernel is left out for this target";
  }
  if (is_contained(options.test.on, "cpu")) {
    cpu::CpuOptions cpuRun;
    cpuRun.out = &nulls();
    cpuRun.checksHost = !hasHostParts(manifest);
    Expected<std::unique_ptr<cpu::CpuProgram>> made = cpu::CpuProgram::compile(*module, cpuRun);
    if (!made) {
      std::string text = toString(made.takeError());
      return diags.hasErrors() ? firstError(diags, isRefused) : text;
    }
    program = std::move(*made);
  }
  compiledFor = wanted;
  return {};
}

const TestJob::Pack &TestJob::getPack(const std::string &on, const Target &target,
                                      const TestCase &test) {
  auto [entry, isNew] = packs.try_emplace(on + "." + target.name.str());
  Pack &pack = entry->second;
  if (isNew) {
    Options packOptions = compileOptions(test, target);
    Compilation compilation(packOptions, file);
    pack.path = folder + "/" + entry->first + ".pack";
    compilation.setOutput(pack.path);
    if (on == "emu") {
      compilation.setPtxOnly();
    }
    compilation.compile();
    if (compilation.getDiags().hasErrors()) {
      pack.problem = firstError(compilation.getDiags(), pack.isRefused);
    }
  }
  return pack;
}

TestJob::Ran TestJob::runOnCpu(const TestData &data, StringRef prefix) {
  const tile_rt::Kernel &kernel = manifest.kernels.front();
  tile_rt::CallOptions call;
  CpuExecutor executor(manifest, kernel, *program);
  Ran ran;
  try {
    readCallTexts(call, {data.dims(), {}, data.args(), {}, {}});
    for (const TestData::Output &output : data.outputs()) {
      call.outs[output.name] = (prefix + output.name + ".npy").str();
    }
    tile_rt::CallResult result = tile_rt::Call(executor, kernel, call).run();
    if (!result.ok) {
      ran.problem = result.text;
    }
  } catch (const tile_rt::InputError &error) {
    ran.problem = error.what();
  }
  return ran;
}

static std::string readText(const std::string &path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

TestJob::Ran TestJob::runTileRun(const std::string &on, const Target &target,
                                 const std::string &pack, const TestData &data, StringRef prefix) {
  std::vector<std::string> args{"tile-run", pack, "--on=" + on, "--arch=" + target.name.str(),
                                "--no-print"};
  for (const std::string &dim : data.dims()) {
    args.push_back("--dim=" + dim);
  }
  for (const std::string &arg : data.args()) {
    args.push_back("--arg=" + arg);
  }
  for (const TestData::Output &output : data.outputs()) {
    args.push_back("--out=" + output.name + "=" + (prefix + output.name + ".npy").str());
  }
  if (on == "emu") {
    append_range(args, options.test.emulator);
  }
  SmallVector<StringRef> argv(args.begin(), args.end());
  std::string out = (prefix + "stdout").str(), err = (prefix + "stderr").str(), error;
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(out), StringRef(err)};
  int status = sys::ExecuteAndWait(options.programDir + "/tile-run", argv, std::nullopt, redirects,
                                   options.test.caseSeconds, 0, &error);
  Ran ran;
  std::string text = StringRef(readText(out)).trim().str();
  if (status == -2 && StringRef(error).contains("timed out")) {
    ran.problem = "not done after " + std::to_string(options.test.caseSeconds) + " s";
  } else if (status < 0) {
    ran.problem = "tile-run failed: " + error;
  } else if (status != 0) {
    std::string said = readText(err);
    auto [first, rest] = StringRef(said).split('\n');
    ran.problem = text.empty() ? first.str() : text;
    ran.details = text.empty() ? rest.str() : said;
  }
  if (ran.details.size() > maxDetails) {
    ran.details.resize(maxDetails);
    ran.details += "...\n";
  }
  return ran;
}

/// Compares the outputs, which lie in files with this prefix.
void TestJob::compare(const TestData &data, StringRef prefix, Ran &ran) const {
  for (const TestData::Output &output : data.outputs()) {
    try {
      tile_rt::Array result = tile_rt::readNpy((prefix + output.name + ".npy").str(), output.dtype);
      tile_rt::Array expected = tile_rt::readNpy(output.reference);
      tile_rt::Comparison comparison = tile_rt::compareArrays(result, expected, output.tolerance);
      ran.error = std::max(ran.error, comparison.error);
      if (!comparison.ok) {
        ran.problem += (ran.problem.empty() ? "" : "; ") + output.name + " " + comparison.text;
      }
    } catch (const tile_rt::NpyError &error) {
      ran.problem += (ran.problem.empty() ? "" : "; ") + std::string(error.what());
    }
  }
}

TestJob::Ran TestJob::runOn(const std::string &on, const Target &target, const TestCase &test,
                            const TestData &data) {
  std::string prefix = folder + "/" + on + "." + target.name.str() + ".";
  Ran ran;
  if (test.work > maxWork && on != "cuda" && !options.test.all) {
    ran.skipped = "too large";
    return ran;
  }
  if (on == "cpu") {
    ran = runOnCpu(data, prefix);
  } else {
    const Pack &pack = getPack(on, target, test);
    if (pack.isRefused) {
      ran.skipped = "not supported";
      ran.details = pack.problem;
      return ran;
    }
    if (!pack.problem.empty()) {
      ran.problem = pack.problem;
      return ran;
    }
    ran = runTileRun(on, target, pack.path, data, prefix);
  }
  if (ran.problem.empty()) {
    compare(data, prefix, ran);
  }
  return ran;
}

/// "1.2e-04", "exact".
static std::string errorText(double error) {
  std::string text;
  raw_string_ostream os(text);
  error == 0 ? os << "exact" : os << format("%.1e", error);
  return text;
}

void TestJob::add(TestOutcome &outcome, const std::string &name, const Ran &ran) const {
  outcome.line += (outcome.line.empty() ? "" : ", ") + name;
  if (!ran.skipped.empty()) {
    outcome.line += " " + ran.skipped;
    if (!ran.details.empty()) {
      outcome.notes.push_back(name + " does not run `" + tests.kernel + "`: " + ran.details);
    }
  } else if (!ran.problem.empty()) {
    outcome.status = TestOutcome::Status::Fail;
    outcome.line += ": " + ran.problem;
    outcome.details += ran.details;
  } else {
    outcome.line += " " + errorText(ran.error);
    if (outcome.status == TestOutcome::Status::Skip) {
      outcome.status = TestOutcome::Status::Pass;
    }
  }
}

/// The runs of a case; the outcome's line does not name the case yet.
TestOutcome TestJob::runAll(const TestCase &test) {
  TestOutcome outcome;
  if (test.work > maxWork && !options.test.all && !is_contained(options.test.on, "cuda")) {
    raw_string_ostream(outcome.line) << format("%.1e", test.work) << " operations: only with --all";
    return outcome;
  }
  auto fail = [&](std::string problem) {
    outcome.status = TestOutcome::Status::Fail;
    outcome.line = std::move(problem);
    return outcome;
  };
  if (std::string problem = prepare(test); !problem.empty()) {
    return fail(std::move(problem));
  }
  TestData data(manifest.kernels.front(), tests, test, file, folder);
  if (Error error = data.make(reference)) {
    return fail(toString(std::move(error)));
  }
  for (const std::string &on : options.test.on) {
    if (on == "cpu") { // one for all architectures
      add(outcome, on, runOn(on, *findTarget("cpu"), test, data));
      continue;
    }
    for (const Target *target : options.archs) {
      add(outcome, on + " " + target->name.str(), runOn(on, *target, test, data));
    }
  }
  return outcome;
}

TestOutcome TestJob::run(const TestCase &test) {
  TestOutcome outcome = runAll(test);
  std::string name = tests.kernel + ": " + test.describe();
  outcome.line = name + ": " + outcome.line;
  if (outcome.status == TestOutcome::Status::Fail) {
    if (!outcome.details.empty() && outcome.details.back() != '\n') {
      outcome.details += "\n";
    }
    outcome.details += "again: tilec test " + file + (options.test.fixed ? " --fixed" : "") +
                       " --filter '" + name + "'\n";
  }
  return outcome;
}

} // namespace tilec
