#include "compiler/testing/TestCommand.h"

#include "compiler/basic/Interrupt.h"
#include "compiler/driver/Progress.h"
#include "compiler/testing/TestReference.h"
#include "compiler/testing/TestWorkers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

/// The most cases that one process runs: compiling once for many of them saves time, but a crash
/// costs the compilation again.
static constexpr size_t maxBatch = 24;
static constexpr unsigned stackBytes = 256u << 20;

namespace {
/// A source with its cases.
struct TestFile {
  std::string name;
  std::vector<KernelTests> kernels;
};

struct Totals {
  size_t passed = 0, failed = 0, skipped = 0;
  std::vector<std::string> notes; ///< each once
};
} // namespace

/// Reads the cases of one source. False after diagnostics, which are printed.
static bool readFile(const Options &options, TestFile &file) {
  SourceManager sources;
  DiagnosticEngine diags(sources.getMgr());
  ImportLoader loader(sources, diags, options.includeDirs);
  auto read = [&] {
    const LoadedFile *main = loader.load(file.name);
    if (main && !diags.hasErrors()) {
      file.kernels = readCases(*main, sources, loader.getContext(), diags, options.test.perLine,
                               options.test.lines);
    }
  };
  CrashRecoveryContext().RunSafelyOnThread(read, stackBytes);
  options.messages->add(diags);
  return !diags.hasErrors();
}

static bool matches(const Options &options, const KernelTests &tests, const TestCase &test) {
  bool isKernel = options.kernel.empty() || options.kernel == tests.kernel;
  return isKernel && StringRef(tests.kernel + ": " + test.describe()).contains(options.test.filter);
}

/// Cases with the same compile-time parameters share a process.
static void addBatches(const Options &options, const TestFile &file, const KernelTests &tests,
                       std::vector<TestBatch> &batches) {
  std::map<std::string, std::vector<const TestCase *>> groups; // by parameters
  std::vector<std::string> order;
  for (const TestCase &test : tests.cases) {
    if (matches(options, tests, test)) {
      std::vector<const TestCase *> &group = groups[test.parameters()];
      if (group.empty()) {
        order.push_back(test.parameters());
      }
      group.push_back(&test);
    }
  }
  for (const std::string &key : order) {
    const std::vector<const TestCase *> &group = groups[key];
    for (size_t i = 0; i < group.size(); i += maxBatch) {
      TestBatch batch{&file.name, &tests, {}};
      batch.cases.assign(group.begin() + long(i),
                         group.begin() + long(std::min(i + maxBatch, group.size())));
      batches.push_back(std::move(batch));
    }
  }
}

/// A case as other tools read it: what to compile, to draw, to run and to compare with.
static json::Object describe(const TestFile &file, const KernelTests &tests, const TestCase &test) {
  json::Object parameters, given, dimensions, scalars, tensors, tolerances;
  for (const CaseValue &value : test.values) {
    switch (value.kind) {
    case CaseValue::Kind::Parameter:
      parameters[value.name] = value.value;
      if (!value.isDefault) {
        given[value.name] = value.text;
      }
      break;
    case CaseValue::Kind::Dimension:
      dimensions[value.name] = value.value;
      break;
    case CaseValue::Kind::Scalar:
      scalars[value.name] = value.value;
      break;
    case CaseValue::Kind::Tensor:
      tensors[value.name] = value.text;
      break;
    }
  }
  for (const auto &[type, tolerance] : tests.tolerances) {
    tolerances[type] = tolerance;
  }
  return json::Object{{"file", file.name},
                      {"kernel", tests.kernel},
                      {"case", test.describe()},
                      {"reference", tests.reference},
                      {"inputs", tests.inputs},
                      {"tolerances", std::move(tolerances)},
                      {"parameters", std::move(parameters)},
                      {"given", std::move(given)},
                      {"dimensions", std::move(dimensions)},
                      {"scalars", std::move(scalars)},
                      {"tensors", std::move(tensors)},
                      {"work", test.work}};
}

static void list(const Options &options, ArrayRef<TestFile> files) {
  for (const TestFile &file : files) {
    for (const KernelTests &tests : file.kernels) {
      for (const TestCase &test : tests.cases) {
        if (matches(options, tests, test)) {
          outs() << json::Value(describe(file, tests, test)) << "\n";
        }
      }
    }
  }
}

static void print(const TestOutcome &outcome, Totals &totals) {
  switch (outcome.status) {
  case TestOutcome::Status::Pass:
    ++totals.passed;
    outs() << "pass ";
    break;
  case TestOutcome::Status::Fail:
    ++totals.failed;
    outs() << "FAIL ";
    break;
  case TestOutcome::Status::Skip:
    ++totals.skipped;
    outs() << "skip ";
    break;
  }
  outs() << outcome.line << "\n";
  for (const std::string &note : outcome.notes) {
    if (!is_contained(totals.notes, note)) {
      totals.notes.push_back(note);
    }
  }
  SmallVector<StringRef> lines;
  StringRef(outcome.details).rtrim().split(lines, '\n', -1, /*KeepEmpty=*/true);
  for (StringRef line : lines) {
    if (!outcome.details.empty()) {
      outs() << "    " << line << "\n";
    }
  }
  outs().flush();
}

static ExitCode toolMissing(const Options &options, const Twine &text) {
  options.messages->report(diag::Id::ToolMissing, text, "");
  return ExitTool;
}

ExitCode runTests(const Options &given) {
  Options options = given;
  std::vector<TestFile> files;
  for (const std::string &input : options.inputs) {
    files.push_back({input, {}});
    if (!readFile(options, files.back())) {
      return ExitInput;
    }
  }
  if (options.test.list) {
    list(options, files);
    return ExitSuccess;
  }
  std::vector<TestBatch> batches;
  for (const TestFile &file : files) {
    for (const KernelTests &tests : file.kernels) {
      addBatches(options, file, tests, batches);
    }
  }
  if (batches.empty()) {
    options.messages->report(
        diag::Id::Usage, "there are no cases to run",
        "`//! test:` lines of a file are its cases (kernels/README.md); --filter and "
        "--kernel choose among them");
    return ExitUsage;
  }
  Expected<std::string> python = findPython(options.test.python);
  if (!python) {
    return toolMissing(options, toString(python.takeError()));
  }
  options.test.python = *python;
  bool usesTileRun = any_of(options.test.on, [](StringRef on) { return on != "cpu"; });
  if (usesTileRun && !sys::fs::can_execute(options.programDir + "/tile-run")) {
    return toolMissing(options, "`tile-run` is not in `" + options.programDir +
                                    "`, beside tilec: build it, or test with --on=cpu");
  }
  const TemporaryFolder folder("tilec-test");
  if (std::error_code error = folder.error()) {
    return toolMissing(options, "cannot make a folder for temporary files: " + error.message());
  }
  Totals totals;
  size_t left = 0;
  for (const TestBatch &batch : batches) {
    left += batch.cases.size();
  }
  Progress progress("tilec test", left, "cases");
  auto report = [&](const TestOutcome &outcome) {
    progress.clear(); // the line of the case may go to the same terminal
    print(outcome, totals);
    if (--left != 0 && progress.isOnTerminal()) {
      progress.show(left);
    }
  };
  if (progress.isOnTerminal()) {
    progress.show(left); // the first case is compiled first
  }
  const size_t notBegun = TestWorkers(options, folder.path().str(), report).run(batches);
  progress.clear();
  sort(totals.notes);
  for (const std::string &note : totals.notes) {
    outs() << "note: " << note << "\n";
  }
  if (notBegun != 0) {
    outs() << notBegun << " cases did not begin within --max-seconds\n";
  }
  outs() << totals.passed << " passed, " << totals.failed << " failed, " << totals.skipped
         << " skipped\n";
  outs().flush();
  return totals.failed == 0 ? ExitSuccess : ExitInput;
}

} // namespace tilec
