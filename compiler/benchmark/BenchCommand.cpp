#include "compiler/benchmark/BenchCommand.h"

#include "compiler/basic/Files.h"
#include "compiler/basic/Interrupt.h"
#include "compiler/basic/NumberText.h"
#include "compiler/basic/Version.h"
#include "compiler/benchmark/BenchCompare.h"
#include "compiler/benchmark/BenchPlan.h"
#include "compiler/benchmark/BenchPlot.h"
#include "compiler/benchmark/BenchResults.h"
#include "compiler/benchmark/BenchTable.h"
#include "compiler/driver/Devices.h"
#include "compiler/driver/Progress.h"
#include "compiler/tuning/FolderLock.h"
#include "compiler/tuning/Jobs.h"
#include "compiler/tuning/TuneResults.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace llvm;

namespace tilec {

namespace {
class Bench {
public:
  Bench(const Options &options, Compilation &compilation)
      : options(options), bench(options.bench), compilation(compilation),
        diags(compilation.getDiags()), folder(bench.work) {}
  Bench(const Bench &) = delete;
  Bench &operator=(const Bench &) = delete;

  /// Whatever goes wrong is reported. Returns the status of the compilation of the pack.
  ExitCode run();

private:
  std::string fileOf(StringRef name) const {
    SmallString<128> path = StringRef(folder);
    sys::path::append(path, name);
    return path.str().str();
  }
  bool readOld();
  bool canWrite(const std::string &path);
  void printPlan() const;
  bool makeFolder();
  ExitCode compilePack();
  TuneTask taskOf() const;
  bool writeJob(const TuneTask &task);
  bool measure(TuneTask task);
  bool collect();
  void addRow(const BenchRun &run, const BenchRecord &record);
  void checkPeer(const BenchRow &row);
  void printNotes() const;
  bool writeOutputs();
  void compare();

  const Options &options;
  const BenchOptions &bench;
  Compilation &compilation;
  DiagnosticEngine &diags;
  std::optional<TemporaryFolder> temporary; ///< without --work
  std::string folder;
  FolderLock lock;
  BenchPlan plan;
  BenchReport report;
  std::optional<BenchReport> old;
};

bool Bench::readOld() {
  if (bench.compare.empty()) {
    return true;
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(bench.compare);
  if (!file) {
    diags.report(diag::Id::FileRead, SMRange(), bench.compare, file.getError().message());
    return false;
  }
  Expected<BenchReport> read = parseBenchReport((*file)->getBuffer());
  if (!read) {
    diags.report(diag::Id::BenchFile, SMRange(), bench.compare, toString(read.takeError()));
    return false;
  }
  old = std::move(*read);
  return true;
}

/// Before minutes are spent.
bool Bench::canWrite(const std::string &path) {
  const std::error_code error = checkWritable(path);
  if (error) {
    diags.report(diag::Id::FileWrite, SMRange(), path, error.message());
  }
  return !error;
}

void Bench::printPlan() const {
  outs() << plan.runs.size() << (plan.runs.size() == 1 ? " case on " : " cases on ")
         << options.archs.front()->name << "\n";
  for (const BenchRun &run : plan.runs) {
    outs() << "  " << run.kernel << ": " << run.call;
    if (run.measured.flops) {
      outs() << format("; %.4g GFLOP of ", *run.measured.flops * 1e-9) << run.measured.rate;
    }
    if (run.measured.bytes) {
      outs() << format("; %.4g MB", *run.measured.bytes * 1e-6);
    }
    if (!run.measured.baseline.empty() && bench.baseline != "none") {
      outs() << "; beside " << run.measured.baseline;
    }
    outs() << "\n";
  }
}

bool Bench::makeFolder() {
  if (!bench.work.empty()) {
    return lock.open(folder, "tilec bench", diags);
  }
  temporary.emplace("tilec-bench");
  folder = temporary->path().str();
  const std::error_code error = temporary->error();
  if (error) {
    diags.report(diag::Id::FileWrite, SMRange(), folder, error.message());
  }
  return !error;
}

ExitCode Bench::compilePack() {
  const std::string pack = fileOf(plan.pack);
  if (sys::fs::exists(pack)) {
    return ExitSuccess;
  }
  Compilation own(plan.options, compilation.getInput());
  own.setOutput(pack);
  own.compile();
  return own.finish(errs());
}

/// The cases without a result.
TuneTask Bench::taskOf() const {
  TuneTask task;
  task.label = sys::path::filename(compilation.getInput()).str();
  task.resultsFile = fileOf(plan.results);
  task.casesFile = task.resultsFile + ".cases";
  task.logFile = task.resultsFile + ".log";
  const std::map<std::string, BenchRecord> known = bench.work.empty()
                                                       ? std::map<std::string, BenchRecord>()
                                                       : readBenchRecords(task.resultsFile);
  for (const BenchRun &run : plan.runs) {
    if (known.find(run.line) == known.end()) {
      task.cases.push_back(run.line);
    }
  }
  task.command = {options.programDir + "/tile-run",
                  fileOf(plan.pack),
                  "--on=cuda",
                  "--repeat=" + std::to_string(bench.repeat),
                  "--seconds=" + numberText(bench.launchSeconds),
                  "--flush-l2",
                  "--sensors",
                  "--no-print"};
  return task;
}

bool Bench::writeJob(const TuneTask &task) {
  std::string cases;
  for (const std::string &line : task.cases) {
    cases += line + "\n";
  }
  const std::string text = task.cases.empty() ? "" : shellCommandOf(task, bench.seconds) + "\n";
  if ((!task.cases.empty() && !compilation.writeFile(task.casesFile, cases)) ||
      !compilation.writeFile(bench.jobsFile, text)) {
    return false;
  }
  if (bench.jobsFile != "-") {
    outs() << "`" << bench.jobsFile << "` measures " << task.cases.size()
           << (task.cases.size() == 1 ? " case" : " cases")
           << "; when it is done, the same command without --jobs-file collects\n";
  }
  return true;
}

bool Bench::measure(TuneTask task) {
  if (task.cases.empty()) {
    return true;
  }
  const size_t total = task.cases.size();
  Progress progress("tilec bench", total, "cases");
  TuneRunner runner(/*gpus=*/1, bench.seconds,
                    [&](const TuneTask &, size_t left) { progress.show(left); });
  const std::string problem = runner.run({std::move(task)});
  progress.clear();
  if (!problem.empty()) {
    diags.report(diag::Id::NoDevice, SMRange(), problem);
  }
  return problem.empty();
}

void Bench::checkPeer(const BenchRow &row) {
  if (bench.baseline == "cublas" && row.peer && !row.peer->time) {
    diags.report(diag::Id::NoBaseline, SMRange(), row.kernel, row.call, row.peer->note);
  }
}

void Bench::addRow(const BenchRun &run, const BenchRecord &record) {
  if (report.device.empty()) {
    report.device = record.device;
    report.driver = record.driver;
    report.capability = record.capability;
    report.multiprocessors = record.multiprocessors;
  }
  BenchRow row = record.row;
  row.kernel = run.kernel;
  row.call = run.call;
  row.flops = run.measured.flops;
  row.bytes = run.measured.bytes;
  row.rate = row.flops ? run.measured.rate : "";
  checkPeer(row);
  report.rows.push_back(std::move(row));
}

/// False if there is no row at all.
bool Bench::collect() {
  report.source = compilation.getInput();
  report.sourceHash = plan.sourceHash;
  report.arch = options.archs.front()->name.str();
  report.compiler = kVersion.str();
  const std::map<std::string, BenchRecord> records = readBenchRecords(fileOf(plan.results));
  for (const BenchRun &run : plan.runs) {
    auto found = records.find(run.line);
    const bool isMeasured = found != records.end() && found->second.ok;
    std::string problem = found == records.end() ? "there is no result" : found->second.text;
    if (isMeasured && !report.device.empty() && found->second.device != report.device) {
      problem =
          "it was measured on `" + found->second.device + "`, others on `" + report.device + "`";
    } else if (isMeasured) {
      addRow(run, found->second);
      continue;
    }
    diags.report(diag::Id::BenchFailed, SMRange(), run.kernel, run.call, problem);
  }
  return !report.rows.empty();
}

/// What the columns do not say, each once.
void Bench::printNotes() const {
  std::set<std::string> notes;
  for (const BenchRow &row : report.rows) {
    if (row.peer && !row.peer->note.empty()) {
      notes.insert(row.peer->name + ": " + row.peer->note);
    }
    if (!row.sensorNote.empty()) {
      notes.insert("clock and power: " + row.sensorNote);
    }
  }
  for (const std::string &note : notes) {
    outs() << "note: " << note << "\n";
  }
}

bool Bench::writeOutputs() {
  std::string peers;
  for (const BenchRow &row : report.rows) {
    if (row.peer && row.peer->time && !StringRef(peers).contains(row.peer->name)) {
      peers += ", " + row.peer->name;
    }
  }
  if (options.output != "-") {
    outs() << compilation.getInput() << " for " << report.arch << " on " << report.device
           << ", driver " << report.driver << peers << "\n"
           << printBenchTable(report) << printBenchSummary(report);
    printNotes();
  }
  return (options.output.empty() ||
          compilation.writeFile(options.output, printBenchReport(report))) &&
         (bench.plot.empty() || compilation.writeFile(bench.plot, printBenchPlot(report)));
}

void Bench::compare() {
  const BenchComparison comparison = compareReports(*old, report);
  if (!comparison.problem.empty()) {
    diags.report(diag::Id::NothingToCompare, SMRange(), bench.compare, comparison.problem);
    return;
  }
  (options.output == "-" ? errs() : outs()) << printComparison(comparison, bench.compare);
  if (!bench.failOn) {
    return;
  }
  const auto slower = count_if(comparison.changes, [&](const BenchChange &one) {
    return one.isSignificant() && one.change > *bench.failOn;
  });
  if (slower != 0) {
    diags.report(diag::Id::Slower, SMRange(), size_t(slower), comparison.changes.size(),
                 numberText(*bench.failOn * 100), bench.compare);
  }
}

ExitCode Bench::run() {
  if (!readOld() || !makePlan(options, compilation, plan)) {
    return ExitSuccess;
  }
  if (bench.dryRun) {
    printPlan();
    return ExitSuccess;
  }
  const std::string known = fileOf(plan.results);
  if (!canWrite(options.output) || !canWrite(bench.plot)) {
    return ExitSuccess;
  }
  if (bench.again && !bench.work.empty() && !dropFailures(known)) {
    diags.report(diag::Id::FileWrite, SMRange(), known, "its failures are to be dropped");
    return ExitSuccess;
  }
  TuneTask task = taskOf();
  const bool isList = !bench.jobsFile.empty();
  std::string problem;
  if (!task.cases.empty() && !isList && listDevices(options.programDir, problem).empty()) {
    diags.report(diag::Id::NoDevice, SMRange(), problem);
    return ExitSuccess;
  }
  if (!task.cases.empty()) {
    if (!makeFolder()) {
      return ExitSuccess;
    }
    if (const ExitCode code = compilePack(); code != ExitSuccess) {
      return code;
    }
    task = taskOf(); // in the folder, which has a name now
  }
  if (isList) {
    writeJob(task);
    return ExitSuccess;
  }
  if (measure(std::move(task)) && collect() && writeOutputs() && old) {
    compare();
  }
  return ExitSuccess;
}
} // namespace

ExitCode benchKernels(const Options &options, Compilation &compilation) {
  const ExitCode code = Bench(options, compilation).run();
  outs().flush();
  return std::max(code, compilation.finish(errs()));
}

} // namespace tilec
