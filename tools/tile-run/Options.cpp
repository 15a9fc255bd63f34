#include "tools/tile-run/Options.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

using namespace tile_rt;

namespace tile_run {

namespace {
/// The options as CLI11 collects them, before NAME=VALUE is taken apart.
struct Raw {
  CallTexts texts;
  double tolerance = -1;
  std::optional<uint64_t> scheduleSeed;
};

void addCaseOptions(CLI::App &app, CaseOptions &options, Raw &raw) {
  app.add_option("--kernel", options.kernel,
                 "symbol of the kernel; needed if the pack has several");
  app.add_option("--dim", raw.texts.dims, "NAME=VALUE: a dimension, for tensors that are generated")
      ->allow_extra_args(false);
  app.add_option(
         "--arg", raw.texts.args,
         "NAME=FILE.npy, NAME=normal[(mean,deviation)], uniform(a,b), integers(a,b), a "
         "number, same(X) (the tensor of argument X), poison (for an output: nothing), or none")
      ->allow_extra_args(false);
  app.add_option("--pitch", raw.texts.pitches,
                 "NAME=N: the rows of this `strided` tensor begin N elements apart; NAME=N,N,...: "
                 "its strides, but the last")
      ->allow_extra_args(false);
  app.add_option("--out", raw.texts.outs, "NAME=FILE.npy: write this tensor after the run")
      ->allow_extra_args(false);
  app.add_option("--expect", raw.texts.expects,
                 "NAME=FILE.npy: compare this tensor with a reference")
      ->allow_extra_args(false);
  app.add_option("--tolerance", raw.tolerance,
                 "accepted ||out - ref|| / ||ref||; by default from the type");
  app.add_option("--seed", options.call.seed, "seed of generated data, and of a random schedule");
  app.add_option("--repeat", options.repeat, "time so many launches and print the median");
  app.add_option("--seconds", options.seconds,
                 "go on with timed launches for so long, if --repeat of them take less");
  app.add_option("--baseline", options.baseline,
                 "cublas(A, B, C, transpose_b = true): time this product of the arguments in turn "
                 "with the kernel, and compare C");
  app.add_flag("--sensors", options.sensors,
               "read the GPU's clock and power while launches are timed");
  app.add_option("--warmup", options.warmup, "launches before those that are timed");
  app.add_flag("--flush-l2", options.flushL2, "overwrite 256 MiB between timed launches");
  app.add_flag("--twice", options.call.twice, "run twice and require the same bits");
  app.add_option("--bench", options.bench,
                 "\"flops = 2*M*N*K; bytes = ...\": print TFLOPS and GB/s");
  app.add_option("--arch", options.arch,
                 "only variants for this architecture (sm_80); the emulator is such a device");
  app.add_option("--variant", options.variant, "only variants of this name");
  app.add_option("--configuration", options.configuration,
                 "only the configuration of this number, as --list counts them");
  app.add_flag("--no-print{false}", options.showPrints, "leave out what kernels print");
  app.add_flag("--verbose,-v", options.call.verbose, "print the launches");
}

void addEmulatorOptions(CLI::App &app, CaseOptions &options, Raw &raw) {
  app.add_option("--ptx", options.ptx, "emu: run this PTX instead of that in the pack");
  app.add_option("--schedule", options.schedule,
                 "emu: round-robin or random order of warps; without, round-robin and then a few "
                 "random ones");
  app.add_option("--schedule-seed", raw.scheduleSeed,
                 "emu: seed of a random schedule, if it is not --seed");
  app.add_option("--schedules", options.schedules,
                 "emu: run so many random schedules, with seeds one after the other, up to the "
                 "first that is wrong");
  app.add_option("--sms", options.sms, "emu: multiprocessors of the device (4)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--step-budget", options.stepBudget,
                 "emu: instructions of warps that a launch may take before it counts as endless");
  app.add_flag("--profile", options.profile,
               "emu: print instructions, bank conflicts and sectors by source line");
  app.add_flag("--no-race-check{false}", options.checkRaces, "emu: do not look for data races");
}

void finish(CaseOptions &options, const Raw &raw) {
  readCallTexts(options.call, raw.texts);
  if (raw.tolerance >= 0) {
    options.call.tolerance = raw.tolerance;
  }
  options.scheduleSeed = raw.scheduleSeed;
  if (!options.schedule.empty() && options.schedule != "round-robin" &&
      options.schedule != "random") {
    throw InputError("--schedule " + options.schedule + ": there are round-robin and random");
  }
}

On executorNamed(const std::string &name) {
  if (name == "cuda" || name == "emu") {
    return name == "cuda" ? On::Cuda : On::Emu;
  }
  throw InputError("--on " + name + ": a pack runs on cuda or emu" +
                   (name == "cpu" ? "; `tilec run --on=cpu` runs a source on the processor" : ""));
}
} // namespace

std::optional<Options> parseCommandLine(int argc, char **argv) {
  CLI::App app("Run a kernel of a pack on a GPU or on the emulator, compare its results, time it.\n"
               "Exit status: 0 right, 1 wrong results, a report of the emulator or a diagnosed "
               "error, 2 wrong usage, 3 no GPU or driver.",
               "tile-run");
  Options options;
  Raw raw;
  std::string on;
  app.add_option("pack", options.pack, "the pack");
  app.add_option("--on", on, "cuda or emu; without it cuda if there is a GPU, else emu");
  app.add_option("--cases", options.casesFile,
                 "a file of cases: each line has options like this command line");
  app.add_option("--results", options.resultsFile,
                 "a file that gets a line of JSON for each case, when it is done");
  app.add_flag("--devices", options.devices, "list the GPUs, each as a line of JSON");
  app.add_option("--device", options.device, "number of the CUDA device");
  app.add_flag("--list", options.list, "list the kernels and their arguments; needs no GPU");
  addCaseOptions(app, options.common, raw);
  addEmulatorOptions(app, options.common, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    std::cout << app.help();
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    throw InputError(error.what());
  }
  finish(options.common, raw);
  if (options.pack.empty() && !options.devices) {
    throw InputError("pack is required");
  }
  if (!on.empty()) {
    options.on = executorNamed(on);
  }
  return options;
}

std::vector<CaseLine> readCases(const std::string &path, const CaseOptions &common) {
  std::ifstream file(path);
  if (!file) {
    throw InputError("cannot open `" + path + "`");
  }
  std::vector<CaseLine> cases;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') {
      continue;
    }
    CaseLine entry{line.substr(begin), common};
    Raw raw;
    CLI::App app;
    addCaseOptions(app, entry.options, raw);
    addEmulatorOptions(app, entry.options, raw);
    try {
      app.parse(entry.text);
      finish(entry.options, raw);
    } catch (const std::exception &error) {
      throw InputError(path + ":" + std::to_string(number) + ": " + error.what());
    }
    cases.push_back(std::move(entry));
  }
  return cases;
}

} // namespace tile_run
