#include "compiler/tuning/TuneCommand.h"

#include "compiler/basic/Files.h"
#include "compiler/basic/Version.h"
#include "compiler/driver/Devices.h"
#include "compiler/driver/Progress.h"
#include "compiler/tuning/FolderLock.h"
#include "compiler/tuning/Jobs.h"
#include "compiler/tuning/TunePlan.h"
#include "compiler/tuning/TuneResults.h"
#include "compiler/tuning/TuneRunner.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace llvm;

namespace tilec {

namespace {
class Tuner {
public:
  Tuner(const Options &options, Compilation &compilation)
      : options(options), tune(options.tune), compilation(compilation),
        diags(compilation.getDiags()),
        output(options.output.empty() ? tuneFileBeside(compilation.getInput()) : options.output),
        folder(folderOf(tune, output == "-" ? tuneFileBeside(compilation.getInput()) : output)) {}

  /// Whatever goes wrong is reported.
  void run();

private:
  std::string fileOf(const TuneJob &job, StringRef extension) const {
    SmallString<128> path = StringRef(folder);
    sys::path::append(path, job.name + extension.str());
    return path.str().str();
  }
  /// A path that no program takes for an option.
  static std::string folderOf(const TuneOptions &tune, const std::string &output) {
    const std::string path = tune.work.empty() ? output + ".work" : tune.work;
    return StringRef(path).starts_with("-") ? "./" + path : path;
  }
  bool readOutput();
  bool canWriteOutput();
  void readResults();
  bool forgetFailures();
  std::vector<TuneTask> remaining();
  std::vector<TuneTask> tasks() const;
  void printPlan(size_t left) const;
  bool checkDevices();
  bool prepare(std::vector<TuneTask> &tasks);
  void reportMissing(const std::vector<std::map<unsigned, std::string>> &byShape);
  bool writeJobs(ArrayRef<TuneTask> tasks);
  bool measure(std::vector<TuneTask> tasks);
  bool writeOutput();
  void printBest(const std::vector<std::map<unsigned, TuneRecord>> &byShape) const;
  void removeFiles() const;

  const Options &options;
  const TuneOptions &tune;
  Compilation &compilation;
  DiagnosticEngine &diags;
  std::string output, folder;
  FolderLock lock;
  TunePlan plan;
  TuneFile file;                                          ///< what the output has so far
  std::vector<std::map<std::string, TuneRecord>> records; ///< of each job, by case
};

bool Tuner::readOutput() {
  file = TuneFile();
  if (output == "-" || !sys::fs::exists(output)) {
    return true;
  }
  std::optional<TuneFile> read = readTuneFile(output, diags);
  if (!read) {
    return false;
  }
  file = std::move(*read);
  return true;
}

/// Before hours are spent.
bool Tuner::canWriteOutput() {
  const std::error_code error = checkWritable(output);
  if (error) {
    diags.report(diag::Id::FileWrite, SMRange(), output, error.message());
  }
  return !error;
}

void Tuner::readResults() {
  records.clear();
  for (const TuneJob &job : plan.jobs) {
    records.push_back(readRecords(fileOf(job, ".results")));
  }
}

/// What has no result yet.
std::vector<TuneTask> Tuner::tasks() const {
  std::vector<TuneTask> result;
  for (auto [job, known] : zip_equal(plan.jobs, records)) {
    TuneTask task;
    for (size_t shape : job.shapes) {
      std::string line = caseOf(plan.kernel, plan.shapes[shape]);
      auto record = known.find(line);
      if (record == known.end()) {
        task.cases.push_back(std::move(line));
      }
    }
    if (task.cases.empty()) {
      continue;
    }
    task.label = describeCandidate(plan.kernel, job.candidate);
    task.casesFile = fileOf(job, ".cases");
    task.resultsFile = fileOf(job, ".results");
    task.logFile = fileOf(job, ".log");
    task.command = {options.programDir + "/tile-run",
                    fileOf(job, ".pack"),
                    "--on=cuda",
                    "--kernel=" + plan.kernel.symbol,
                    "--repeat=" + std::to_string(tune.repeat),
                    "--flush-l2",
                    "--no-print"};
    for (const std::string &text : tune.args) {
      task.command.push_back("--arg=" + text);
    }
    for (const std::string &text : tune.pitch) {
      task.command.push_back("--pitch=" + text);
    }
    result.push_back(std::move(task));
  }
  return result;
}

void Tuner::printPlan(size_t left) const {
  const TunableKernel &kernel = plan.kernel;
  size_t all = 0;
  for (const TuneJob &job : plan.jobs) {
    all += job.shapes.size();
  }
  outs() << "`" << kernel.symbol << "` on " << options.archs.front()->name << ": "
         << kernel.candidates.size() << " candidates, " << plan.refused
         << " of them not worth compiling; " << plan.shapes.size() << " shapes, "
         << plan.jobs.size() << " processes, " << all << " times, " << left << " to be taken\n";
  for (auto [shape, ranking] : zip_equal(plan.shapes, plan.ranking)) {
    outs() << describeShape(shape) << "\n";
    for (const PredictedTime &one : ArrayRef(ranking).take_front(tune.candidates)) {
      outs() << formatv("  {0,10:f1} us  {1}\n", one.seconds * 1e6,
                        describeCandidate(kernel, one.candidate));
    }
  }
}

bool Tuner::checkDevices() {
  std::string problem;
  const size_t devices = listDevices(options.programDir, problem).size();
  if (devices == 0) {
    diags.report(diag::Id::NoDevice, SMRange(), problem);
    return false;
  }
  if (tune.gpus > devices) {
    diags.report(diag::Id::Usage, SMRange(),
                 "`--gpus " + std::to_string(tune.gpus) + "`: there are " +
                     std::to_string(devices));
    return false;
  }
  return true;
}

/// Compiles the packs that are not there. What does not compile counts as measured.
bool Tuner::prepare(std::vector<TuneTask> &tasks) {
  std::vector<CandidatePack> packs;
  std::vector<TuneTask *> waiting;
  for (TuneTask &task : tasks) {
    auto job = find_if(plan.jobs,
                       [&](const TuneJob &one) { return fileOf(one, ".cases") == task.casesFile; });
    const std::string pack = fileOf(*job, ".pack");
    if (!sys::fs::exists(pack)) {
      packs.push_back({job->candidate, pack});
      waiting.push_back(&task);
    }
  }
  std::optional<std::vector<std::string>> problems =
      compilation.compileCandidates(plan.kernel, packs);
  if (!problems) {
    return false;
  }
  for (auto [task, problem] : zip_equal(waiting, *problems)) {
    if (!problem.empty()) {
      for (const std::string &line : task->cases) {
        if (!addFailure(task->resultsFile, line, problem)) {
          diags.report(diag::Id::FileWrite, SMRange(), task->resultsFile, "no more can be added");
          return false;
        }
      }
      task->cases.clear();
    }
  }
  erase_if(tasks, [](const TuneTask &task) { return task.cases.empty(); });
  return true;
}

bool Tuner::writeJobs(ArrayRef<TuneTask> tasks) {
  std::string text;
  for (const TuneTask &task : tasks) {
    std::string cases;
    for (const std::string &line : task.cases) {
      cases += line + "\n";
    }
    if (!compilation.writeFile(task.casesFile, cases)) {
      return false;
    }
    text += shellCommandOf(task, tune.seconds) + "\n";
  }
  if (!compilation.writeFile(tune.jobsFile, text)) {
    return false;
  }
  if (tune.jobsFile != "-") {
    outs() << "`" << tune.jobsFile << "` has " << tasks.size()
           << " jobs; when they are done, the same command without --jobs-file collects\n";
  }
  return true;
}

bool Tuner::measure(std::vector<TuneTask> tasks) {
  size_t total = 0;
  for (const TuneTask &task : tasks) {
    total += task.cases.size();
  }
  Progress progress("tilec tune", total, "times");
  auto show = [&](const TuneTask &task, size_t left) {
    if (progress.isOnTerminal() || task.cases.empty()) { // elsewhere a line for each task
      progress.show(left, task.label);
    }
  };
  TuneRunner runner(tune.gpus, tune.seconds, show);
  const std::string problem = runner.run(std::move(tasks));
  progress.clear();
  if (!problem.empty()) {
    diags.report(diag::Id::NoDevice, SMRange(), problem);
  }
  return problem.empty();
}

void Tuner::printBest(const std::vector<std::map<unsigned, TuneRecord>> &byShape) const {
  for (auto [shape, ranking, times] : zip_equal(plan.shapes, plan.ranking, byShape)) {
    const std::pair<const unsigned, TuneRecord> *best = nullptr;
    for (const auto &entry : times) {
      best = !best || entry.second.median < best->second.median ? &entry : best;
    }
    if (!best) {
      continue;
    }
    outs() << describeShape(shape)
           << formatv(": {0:f1} us with {1}", best->second.median,
                      describeCandidate(plan.kernel, best->first));
    auto first = times.find(ranking.front().candidate);
    if (first != times.end()) {
      outs() << (first->first == best->first
                     ? std::string(", as predicted")
                     : formatv("; {0:f1} us with what was predicted best, {1}",
                               first->second.median, describeCandidate(plan.kernel, first->first))
                           .str());
    }
    outs() << "\n";
  }
}

/// What is the matter with all candidates at a shape is said once.
void Tuner::reportMissing(const std::vector<std::map<unsigned, std::string>> &byShape) {
  for (auto [number, reasons] : enumerate(byShape)) {
    const std::string shape = describeShape(plan.shapes[number]);
    const size_t tried = std::min<size_t>(plan.ranking[number].size(), tune.candidates);
    const bool isCommon =
        reasons.size() > 1 && reasons.size() == tried &&
        all_of(reasons, [&](const auto &entry) { return entry.second == reasons.begin()->second; });
    if (isCommon) {
      diags.report(diag::Id::NotMeasured, SMRange(), plan.kernel.symbol, shape,
                   reasons.begin()->second);
      continue;
    }
    for (const auto &[candidate, reason] : reasons) {
      diags.report(diag::Id::NotMeasured, SMRange(), describeCandidate(plan.kernel, candidate),
                   shape, reason);
    }
  }
}

bool Tuner::writeOutput() {
  std::map<std::pair<std::string, std::string>, TuneGroup> groups; // by device and driver
  std::vector<std::map<unsigned, TuneRecord>> byShape(plan.shapes.size());
  std::vector<std::map<unsigned, std::string>> missing(plan.shapes.size());
  for (auto [job, known] : zip_equal(plan.jobs, records)) {
    for (size_t number : job.shapes) {
      const Shape &shape = plan.shapes[number];
      auto found = known.find(caseOf(plan.kernel, shape));
      if (found == known.end() || !found->second.ok) {
        missing[number][job.candidate] =
            found == known.end() ? "there is no result" : found->second.text;
        continue;
      }
      const TuneRecord &record = found->second;
      byShape[number][job.candidate] = record;
      groups[{record.device, record.driver}].rows.push_back(
          {shape, plan.kernel.ownParams(job.candidate), record.variants, record.median,
           record.lower, record.upper});
    }
  }
  reportMissing(missing);
  if (groups.empty()) {
    diags.report(diag::Id::NothingMeasured, SMRange(), plan.kernel.symbol);
    return false;
  }
  if (!readOutput()) { // others may have written it meanwhile
    return false;
  }
  for (auto &[key, group] : groups) {
    group.kernel = plan.kernel.name;
    group.params = plan.kernel.sharedParams();
    group.arch = options.archs.front()->name.str();
    group.device = key.first;
    group.driver = key.second;
    group.compiler = kVersion.str();
    group.sourceHash = plan.kernel.sourceHash;
    mergeTuneGroup(file, group);
  }
  if (!compilation.writeFile(output, printTuneFile(file))) {
    return false;
  }
  if (output != "-") {
    printBest(byShape);
  }
  return true;
}

bool Tuner::forgetFailures() {
  for (const TuneJob &job : plan.jobs) {
    if (const std::string path = fileOf(job, ".results"); !dropFailures(path)) {
      diags.report(diag::Id::FileWrite, SMRange(), path, "its failures are to be dropped");
      return false;
    }
  }
  return true;
}

/// The files of this plan, those that a process which was ended left half-written too, and the folder if there is
/// nothing else in it. One that was named stays.
void Tuner::removeFiles() const {
  if (!tune.work.empty()) {
    return;
  }
  std::error_code error;
  std::vector<std::string> files;
  for (sys::fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const StringRef name = sys::path::filename(it->path());
    if (any_of(plan.jobs, [&](const TuneJob &job) { return name.starts_with(job.name + "."); })) {
      files.push_back(it->path());
    }
  }
  for (const std::string &file : files) {
    (void)sys::fs::remove(file);
  }
  (void)sys::fs::remove(folder); // not if it has other files
}

/// What is left to be measured.
std::vector<TuneTask> Tuner::remaining() {
  readResults();
  return tasks();
}

void Tuner::run() {
  if (!readOutput() || !makePlan(options, compilation, plan)) {
    return;
  }
  if (tune.dryRun) {
    size_t count = 0;
    for (const TuneTask &task : remaining()) {
      count += task.cases.size();
    }
    printPlan(count);
    return;
  }
  const bool isNew = !sys::fs::exists(folder), isList = !tune.jobsFile.empty();
  if (!canWriteOutput() || !lock.open(folder, "tilec tune", diags) ||
      (tune.again && !forgetFailures())) {
    return;
  }
  std::vector<TuneTask> left = remaining();
  if (!left.empty() && !isList && !checkDevices()) {
    if (isNew) {
      (void)sys::fs::remove(folder);
    }
    return;
  }
  if (!left.empty() && !prepare(left)) {
    return;
  }
  if (isList) {
    writeJobs(left);
    return;
  }
  if (!measure(std::move(left))) {
    return;
  }
  readResults();
  if (writeOutput()) {
    removeFiles();
  }
}
} // namespace

ExitCode tuneKernel(const Options &options, Compilation &compilation) {
  Tuner(options, compilation).run();
  return compilation.finish(errs());
}

} // namespace tilec
