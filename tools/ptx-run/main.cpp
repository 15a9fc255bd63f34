// ptx-run: runs PTX on the emulator, as its description says, and checks the answer.
#include "tools/ptx-run/Comparison.h"
#include "tools/ptx-run/Run.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

using namespace tile_ptx;

namespace {

constexpr const char *kUsage =
    "usage: ptx-run FILE.ptx [options]\n"
    "Runs a program on the emulator. FILE.json beside it, or the lines of it that begin with //!,\n"
    "say how it is launched (test/ptx/README.md).\n"
    "  --description FILE  another description\n"
    "  --answer FILE       compare the result buffers with these bytes\n"
    "  --out FILE          store the result buffers\n"
    "  --seed N            this random schedule alone; without, round-robin and then three random "
    "ones\n"
    "  --budget N          end after N steps of warps\n"
    "  --no-races          only check bounds, alignment and definedness\n"
    "  --lenient           what many programs rely on beyond the letter of PTX: no proxy fence "
    "between\n"
    "                      reads by threads and asynchronous writes; a warp's wait for wgmma is "
    "its "
    "warpgroup's;\n"
    "                      each warp's part reads its own rows of A alone; a lane waits alone\n"
    "  --profile           print what the hardware would feel, by line\n"
    "  --quiet             print reports in one line each\n"
    "Exit status: 0 all right, 1 reports, 2 another answer, 3 neither PTX nor description.\n";

struct Arguments {
  std::string file, description, answer, out;
  tile_emu::Options options;
  bool quiet = false, lenient = false;
};

bool parse(int argc, char **argv, Arguments &result) {
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    const char *value = i + 1 < argc ? argv[i + 1] : nullptr;
    bool takesValue = true;
    if (word == "--description" && value) {
      result.description = value;
    } else if (word == "--answer" && value) {
      result.answer = value;
    } else if (word == "--out" && value) {
      result.out = value;
    } else if (word == "--seed" && value) {
      result.options.randomSchedule = true;
      result.options.seed = std::strtoull(value, nullptr, 10);
    } else if (word == "--budget" && value) {
      result.options.stepBudget = std::strtoull(value, nullptr, 10);
    } else {
      takesValue = false;
      if (word == "--no-races") {
        result.options.checkRaces = false;
      } else if (word == "--lenient") {
        result.lenient = true;
      } else if (word == "--profile") {
        result.options.profile = true;
      } else if (word == "--quiet") {
        result.quiet = true;
      } else if (word[0] != '-' && result.file.empty()) {
        result.file = word;
      } else {
        return false;
      }
    }
    i += takesValue;
  }
  return !result.file.empty();
}

void printReports(const Outcome &outcome, bool quiet) {
  if (!quiet) {
    std::cout << outcome.text;
    return;
  }
  for (const tile_emu::Report &report : outcome.reports) {
    std::cout << tile_emu::kindName(report.kind) << ": " << report.message;
    for (const tile_emu::Party &party : report.parties) {
      std::cout << "; " << party.what << ", line " << party.ptxLine;
    }
    std::cout << "\n";
  }
}

/// "" or how the results differ from the answer.
std::string differenceOf(const Arguments &arguments, const Description &description,
                         const Outcome &outcome) {
  if (arguments.answer.empty()) {
    return "";
  }
  const std::string want = readFile(arguments.answer);
  return compare(outcome.answer, {reinterpret_cast<const uint8_t *>(want.data()), want.size()},
                 description.compare);
}

int runFile(const Arguments &arguments) {
  const std::string ptx = readFile(arguments.file);
  const Description description = arguments.description.empty()
                                      ? describe(arguments.file, ptx)
                                      : parseDescription(readFile(arguments.description));
  tile_emu::Options options = arguments.options;
  options.strictProxyReads = options.strictWaits = !(arguments.lenient || description.lenient);
  bool isPlain = !options.randomSchedule;
  const Outcome outcome = run(ptx, description, options);
  std::string difference = differenceOf(arguments, description, outcome);
  Outcome shown = outcome;
  for (uint64_t seed = 1; isPlain && seed <= tile_emu::schedulesAfter(outcome.steps); ++seed) {
    if (!shown.reports.empty() || !shown.ended || !difference.empty()) {
      break;
    }
    options.randomSchedule = true;
    options.seed = seed;
    shown = run(ptx, description, options);
    difference = differenceOf(arguments, description, shown);
    if (!shown.reports.empty() || !difference.empty()) {
      shown.text += "in a random schedule: --seed " + std::to_string(seed) + "\n";
    }
  }
  printReports(shown, arguments.quiet);
  for (size_t i = 0; i < outcome.unwritten.size() && outcome.ended && !arguments.quiet; ++i) {
    std::cout << outcome.unwritten[i] << "\n";
  }
  std::cout << outcome.profile;
  if (!arguments.out.empty()) {
    std::ofstream(arguments.out, std::ios::binary)
        .write(reinterpret_cast<const char *>(outcome.answer.data()),
               std::streamsize(outcome.answer.size()));
  }
  std::cout << difference << (difference.empty() ? "" : "\n");
  return !shown.reports.empty() || !shown.ended ? 1 : difference.empty() ? 0 : 2;
}

} // namespace

int main(int argc, char **argv) try {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::cerr << kUsage;
    return 3;
  }
  return runFile(arguments);
} catch (const std::exception &error) {
  std::cerr << "ptx-run: " << error.what() << "\n";
  return 3;
}
