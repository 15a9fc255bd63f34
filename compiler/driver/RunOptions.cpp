#include "compiler/driver/RunOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <thread>

using namespace llvm;

namespace tilec {

bool hasGpu() { return sys::fs::exists("/dev/nvidiactl"); }

/// Options that go to tile-run as they are.
static void addEmulatorOptions(CLI::App &app, std::vector<std::string> &list) {
  auto value = [&](const char *name, const char *help) {
    app.add_option_function<std::string>(
           name,
           [&list, name](const std::string &text) {
             list.push_back(std::string(name) + "=" + text);
           },
           help)
        ->group("Emulator");
  };
  auto flag = [&](const char *name, const char *help) {
    app.add_flag_callback(
           name, [&list, name] { list.emplace_back(name); }, help)
        ->group("Emulator");
  };
  value("--schedule", "round-robin or random order of warps; without, one after the other");
  value("--schedule-seed", "seed of a random schedule");
  value("--schedules", "run so many random schedules, up to the first that is wrong");
  value("--sms", "multiprocessors of the device (4)");
  value("--step-budget", "instructions of warps that a launch may take");
  flag("--profile", "print instructions, bank conflicts and sectors by source line");
  flag("--no-race-check", "do not look for data races");
}

void addRunOptions(CLI::App &app, RunOptions &run) {
  app.add_option("--on", run.on, "cpu, emu or cuda; without it cuda if there is a GPU, else cpu");
  app.add_option("--dim", run.dims, "NAME=VALUE: a dimension")->allow_extra_args(false);
  app.add_option("--arg", run.args,
                 "NAME=VALUE: an input, a .npy file, normal, uniform(a, b), integers(a, b), a "
                 "number, same(X), poison or none")
      ->allow_extra_args(false);
  app.add_option("--pitch", run.pitches,
                 "NAME=N: the rows of this `strided` tensor begin N elements apart; NAME=N,N,...: "
                 "its strides, but the last")
      ->allow_extra_args(false);
  app.add_option("--out", run.outs, "NAME=FILE.npy: write an output")->allow_extra_args(false);
  app.add_option("--expect", run.expect, "NAME=FILE.npy: compare an output")
      ->allow_extra_args(false);
  app.add_option("--tolerance", run.tolerance, "accepted ||out - ref|| / ||ref||");
  app.add_option("--seed", run.seed, "of generated inputs");
  app.add_option("--repeat", run.repeat, "on cuda: print the median time of so many launches");
  addEmulatorOptions(app, run.emulator);
}

void addTestOptions(CLI::App &app, TestOptions &test, std::string &on) {
  app.add_option("--on", on,
                 "cpu, emu, cuda, with commas between; without it cpu, emu, and cuda "
                 "if there is a GPU");
  app.add_option("--filter", test.filter,
                 "run only cases whose line has this text: 'T = bf16', 'K = 129'");
  app.add_option("--line", test.lines,
                 "'test: M in [1, 7]; N = 8' in place of the `test` lines of the files")
      ->allow_extra_args(false);
  app.add_flag("--list", test.list, "print the cases, one JSON object a line, and run none");
  app.add_option(
      "--per-line", test.perLine,
      "take so many combinations of a line, with as many of its values as they can hold");
  app.add_flag("--fixed", test.fixed, "compile with the dimensions of each case, as -P does");
  app.add_flag("--all", test.all, "run also what takes the processor long");
  app.add_option("-j,--jobs", test.jobs, "cases at a time; by default one for each core");
  app.add_option("--max-seconds", test.maxSeconds, "begin no case later than that");
  app.add_option("--case-seconds", test.caseSeconds, "a run that takes longer has failed (300)");
  app.add_option("--python", test.python, "Python with numpy, for the references");
  addEmulatorOptions(app, test.emulator);
}

void addTuneOptions(CLI::App &app, TuneOptions &tune) {
  app.add_option("--dim", tune.dims,
                 "NAME=VALUE or NAME=VALUE,VALUE,...: a dimension, or an integer argument; of "
                 "several lists all combinations are measured")
      ->allow_extra_args(false);
  app.add_option("--shapes", tune.shapesFile,
                 "a file with a shape a line: M=64 N=128; # begins a comment");
  app.add_option("--arg", tune.args, "NAME=VALUE: other arguments, as tile-run takes them")
      ->allow_extra_args(false);
  app.add_option("--pitch", tune.pitch, "NAME=N: of a `strided` tensor, as tile-run takes it")
      ->allow_extra_args(false);
  app.add_option(
         "--candidates", tune.candidates,
         "how many candidates to measure at each shape, those that the model thinks best (12)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--gpus", tune.gpus, "GPUs of this machine to measure on, a process on each (1)")
      ->check(CLI::Range(1, 64));
  app.add_option("--repeat", tune.repeat, "timed launches of each candidate at each shape (30)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--timeout", tune.seconds, "seconds that a candidate may take for a shape (60)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--work", tune.work,
                 "folder of packs and results while not all are there; it stays. Without it "
                 "OUTPUT.work, which is removed at the end");
  app.add_option("--jobs-file", tune.jobsFile,
                 "write command lines there, one for each candidate, instead of running them");
  app.add_flag("--dry-run", tune.dryRun, "print what would be measured, and do nothing");
  app.add_flag("--again", tune.again, "measure once more what has failed");
}

void addBenchOptions(CLI::App &app, BenchOptions &bench, std::string &failOn) {
  app.add_option("--line", bench.lines,
                 "'bench: M in [64, 128]; N, K = 4096' in place of the `bench` lines of the file")
      ->allow_extra_args(false);
  app.add_option("--shapes", bench.shapesFile,
                 "a file with a shape a line, likewise: M=64 N=128; # begins a comment");
  app.add_option("--filter", bench.filter, "measure only cases whose line has this text: 'K = 64'");
  app.add_option("--baseline", bench.baseline,
                 "auto: cuBLAS where a case names a product and the library is there; cublas: it "
                 "must be there; none");
  app.add_option("--repeat", bench.repeat, "timed launches of a case, at least (30)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--seconds", bench.launchSeconds,
                 "go on with timed launches for so long, if --repeat of them take less (0.5)")
      ->check(CLI::Range(0.0, 1000.0));
  app.add_option("--timeout", bench.seconds, "seconds that a case may take (120)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--json", bench.json, "write the results there, as -o does");
  app.add_option("--plot", bench.plot, "write a roofline picture there, as SVG");
  app.add_option("--compare", bench.compare,
                 "results of an earlier run: say what has changed since");
  app.add_option("--fail-on", failOn,
                 "3%: with --compare, end with status 1 if a case has become slower by more");
  app.add_option("--work", bench.work,
                 "folder of the pack and of results; it stays, and what it has is not measured "
                 "again");
  app.add_option("--jobs-file", bench.jobsFile,
                 "write the command line to run on a GPU machine there instead of running it; "
                 "needs --work");
  app.add_flag("--dry-run", bench.dryRun, "print what would be measured, and do nothing");
  app.add_flag("--again", bench.again, "with --work: measure once more what has failed");
}

void checkRunOptions(const RunOptions &run) {
  if (!run.on.empty() && run.on != "cpu" && run.on != "emu" && run.on != "cuda") {
    throw UsageError{"`--on=" + run.on + "`: a kernel runs on cpu, emu or cuda"};
  }
  if (!run.emulator.empty() && run.on != "emu") {
    throw UsageError{"`" + run.emulator.front() + "` is for the emulator: add `--on=emu`"};
  }
  if (run.repeat != 0 && (run.on == "emu" || run.on == "cpu")) {
    throw UsageError{"`--repeat` measures a GPU: it needs `--on=cuda`"};
  }
}

void resolveBenchOptions(BenchOptions &bench, const std::string &failOn) {
  if (bench.baseline != "auto" && bench.baseline != "cublas" && bench.baseline != "none") {
    throw UsageError{"`--baseline " + bench.baseline + "`: there are auto, cublas and none"};
  }
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

void resolveTestOptions(TestOptions &test, const std::string &on) {
  SmallVector<StringRef> names;
  StringRef(on).split(names, ',', -1, /*KeepEmpty=*/false);
  for (StringRef name : names) {
    name = name.trim();
    if (name != "cpu" && name != "emu" && name != "cuda") {
      throw UsageError{"`--on=" + name.str() + "`: cases run on cpu, emu and cuda"};
    }
    if (!is_contained(test.on, name)) {
      test.on.push_back(name.str());
    }
  }
  if (test.on.empty()) {
    test.on = {"cpu", "emu"};
    if (hasGpu()) {
      test.on.emplace_back("cuda");
    }
  }
  if (test.caseSeconds == 0) {
    throw UsageError{"`--case-seconds=0`: a run takes longer"};
  }
  if (test.jobs == 0) {
    test.jobs = std::max(1u, std::thread::hardware_concurrency());
  }
}

} // namespace tilec
