#include "compiler/driver/RunOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <thread>

using namespace llvm;

namespace tilec {

bool hasGpu() { return sys::fs::exists("/dev/nvidiactl"); }

static void checkRunOptions(const RunOptions &run) {
  if (StringRef(run.on).contains(',')) {
    throw UsageError{"`--on=" + run.on + "`: a kernel runs in one place at a time"};
  }
  if (!run.emulator.empty() && run.on != "emu") {
    throw UsageError{"`" + run.emulator.front() + "` is for the emulator: add `--on=emu`"};
  }
  if (run.repeat != 0 && (run.on == "emu" || run.on == "cpu")) {
    throw UsageError{"`--repeat` measures a GPU: it needs `--on=cuda`"};
  }
}

static void resolveBenchOptions(BenchOptions &bench, const std::string &failOn) {
  if (!failOn.empty()) {
    double percent = 0;
    if (StringRef(failOn).rtrim('%').getAsDouble(percent) || !(percent >= 0)) {
      throw UsageError{"`--fail-on " + failOn + "` is no share: 3%"};
    }
    bench.failOn = percent / 100;
  }
  if (bench.failOn && bench.compare.empty()) {
    throw UsageError{"`--fail-on` needs `--compare OLD.json`"};
  }
  if (!bench.jobsFile.empty() && bench.work.empty()) {
    throw UsageError{"`--jobs-file` needs `--work`, the folder that goes to the other machine"};
  }
}

static void resolveTestOptions(TestOptions &test) {
  if (test.on.empty()) {
    test.on = {"cpu", "emu"};
    if (hasGpu()) {
      test.on.emplace_back("cuda");
    }
  }
  if (test.jobs == 0) {
    test.jobs = std::max(1u, std::thread::hardware_concurrency());
  }
}

/// Options that go to tile-run as they are.
static void readEmulatorOptions(const OptionReader &reader, std::vector<std::string> &list) {
  for (const OptionEntry &entry : optionTable().entries()) {
    if (entry.group != OPT_emulator_group || !reader.has(entry.id)) {
      continue;
    }
    std::string value;
    if (entry.takesValue()) {
      reader.read(entry.id, value);
    }
    list.push_back(entry.spelling.str() + value);
  }
}

void readRunOptions(const OptionReader &reader, RunOptions &run) {
  reader.read(OPT_on, run.on);
  reader.read(OPT_dim, run.dims);
  reader.read(OPT_arg, run.args);
  reader.read(OPT_pitch, run.pitches);
  reader.read(OPT_out, run.outs);
  reader.read(OPT_expect, run.expect);
  reader.read(OPT_tolerance, run.tolerance);
  reader.read(OPT_seed, run.seed);
  reader.read(OPT_repeat, run.repeat);
  readEmulatorOptions(reader, run.emulator);
  checkRunOptions(run);
}

void readTestOptions(const OptionReader &reader, TestOptions &test) {
  test.on = reader.list(OPT_on);
  reader.read(OPT_filter, test.filter);
  reader.read(OPT_line, test.lines);
  reader.read(OPT_list_cases, test.list);
  reader.read(OPT_per_line, test.perLine);
  reader.read(OPT_fixed, test.fixed);
  reader.read(OPT_all, test.all);
  reader.read(OPT_j, test.jobs);
  reader.read(OPT_max_seconds, test.maxSeconds, 0, 1e9);
  reader.read(OPT_case_seconds, test.caseSeconds, 1);
  reader.read(OPT_python, test.python);
  readEmulatorOptions(reader, test.emulator);
  resolveTestOptions(test);
}

void readTuneOptions(const OptionReader &reader, TuneOptions &tune) {
  reader.read(OPT_dim, tune.dims);
  reader.read(OPT_shapes, tune.shapesFile);
  reader.read(OPT_arg, tune.args);
  reader.read(OPT_pitch, tune.pitch);
  reader.read(OPT_candidates, tune.candidates, 1, 100000);
  reader.read(OPT_gpus, tune.gpus, 1, 64);
  reader.read(OPT_repeat, tune.repeat, 1, 100000);
  reader.read(OPT_timeout, tune.seconds, 1, 100000);
  reader.read(OPT_work, tune.work);
  reader.read(OPT_jobs_file, tune.jobsFile);
  reader.read(OPT_dry_run, tune.dryRun);
  reader.read(OPT_again, tune.again);
}

void readBenchOptions(const OptionReader &reader, BenchOptions &bench) {
  reader.read(OPT_line, bench.lines);
  reader.read(OPT_shapes, bench.shapesFile);
  reader.read(OPT_filter, bench.filter);
  reader.read(OPT_baseline, bench.baseline);
  reader.read(OPT_repeat, bench.repeat, 1, 100000);
  reader.read(OPT_seconds, bench.launchSeconds, 0, 1000);
  reader.read(OPT_timeout, bench.seconds, 1, 100000);
  reader.read(OPT_json, bench.json);
  reader.read(OPT_plot, bench.plot);
  reader.read(OPT_compare, bench.compare);
  reader.read(OPT_work, bench.work);
  reader.read(OPT_jobs_file, bench.jobsFile);
  reader.read(OPT_dry_run, bench.dryRun);
  reader.read(OPT_again, bench.again);
  std::string failOn;
  reader.read(OPT_fail_on, failOn);
  resolveBenchOptions(bench, failOn);
}

} // namespace tilec
