#include "tools/tile-run/OptionTable.h"

#include "runtime/support/Nearest.h"

#include <CLI/CLI.hpp>

using namespace tile_rt;

namespace tile_run {

namespace {
std::string namesOf(const OptionInfo &info) {
  return std::string(info.name) + (info.other.empty() ? "" : "," + std::string(info.other));
}

/// A list of texts has all that it is given; anything else is given once.
template <class T>
void addValue(CLI::App &app, const OptionInfo &info, T &place) {
  app.add_option(namesOf(info), place)->allow_extra_args(false);
}

// Options and flags by the member that they set: of a case, of its call, of texts that are taken apart later, of the command
// line as a whole.
template <auto Member>
void ofCase(CLI::App &app, const OptionInfo &info, const OptionTarget &target) {
  addValue(app, info, target.options.*Member);
}
template <auto Member>
void ofCall(CLI::App &app, const OptionInfo &info, const OptionTarget &target) {
  addValue(app, info, target.options.call.*Member);
}
template <auto Member>
void ofCallTexts(CLI::App &app, const OptionInfo &info, const OptionTarget &target) {
  addValue(app, info, target.texts.call.*Member);
}
template <auto Member>
void ofTexts(CLI::App &app, const OptionInfo &info, const OptionTarget &target) {
  addValue(app, info, target.texts.*Member);
}
template <auto Member>
void ofAll(CLI::App &app, const OptionInfo &info, const OptionTarget &target) {
  addValue(app, info, target.all->*Member);
}
template <auto Member, bool Value = true>
void caseFlag(CLI::App &app, const OptionInfo &info, const OptionTarget &target) {
  app.add_flag(namesOf(info) + (Value ? "" : "{false}"), target.options.*Member);
}
template <auto Member>
void callFlag(CLI::App &app, const OptionInfo &info, const OptionTarget &target) {
  app.add_flag(namesOf(info), target.options.call.*Member);
}
template <auto Member>
void allFlag(CLI::App &app, const OptionInfo &info, const OptionTarget &target) {
  app.add_flag(namesOf(info), target.all->*Member);
}

void addSms(CLI::App &app, const OptionInfo &info, const OptionTarget &target) {
  app.add_option(namesOf(info), target.options.sms)->check(CLI::Range(1, 1024));
}

constexpr OptionGroup pack = OptionGroup::Pack, call = OptionGroup::Call,
                      choice = OptionGroup::Choice, timing = OptionGroup::Timing,
                      emulator = OptionGroup::Emulator, information = OptionGroup::Information;

constexpr OptionInfo options[] = {
    {pack, "--on", "", "TARGET", "cuda,emu", false, ofTexts<&OptionTexts::on>,
     "where to run: a GPU or the emulator; without it a GPU if there is one, else the emulator"},
    {pack, "--device", "", "N", "", false, ofAll<&Options::device>,
     "number of the CUDA device (0)"},
    {pack, "--list", "", "", "", false, allFlag<&Options::list>,
     "list the kernels, their arguments and their configurations; needs no GPU"},
    {pack, "--devices", "", "", "", false, allFlag<&Options::devices>,
     "list the GPUs, each as a line of JSON; needs no pack"},
    {pack, "--cases", "", "FILE", "", false, ofAll<&Options::casesFile>,
     "run the cases of a file: each line has options like this command line, # begins a comment"},
    {pack, "--results", "", "FILE", "", false, ofAll<&Options::resultsFile>,
     "write a line of JSON for each case, when it is done, behind what the file has"},

    {call, "--kernel", "", "NAME", "", true, ofCase<&CaseOptions::kernel>,
     "symbol of the kernel; needed if the pack has several"},
    {call, "--dim", "", "NAME=VALUE", "", true, ofCallTexts<&CallTexts::dims>,
     "a dimension, for tensors that are generated"},
    {call, "--arg", "", "NAME=VALUE", "", true, ofCallTexts<&CallTexts::args>,
     "an argument: a .npy file, normal, normal(mean, deviation), uniform(a, b), integers(a, b), "
     "steps(a, b), a number, same(X) (the tensor of argument X), poison (for an output: nothing), "
     "or none"},
    {call, "--pitch", "", "NAME=N", "", true, ofCallTexts<&CallTexts::pitches>,
     "the rows of this `strided` tensor begin N elements apart; NAME=N,N,...: its strides, but the "
     "last"},
    {call, "--out", "", "NAME=FILE.npy", "", true, ofCallTexts<&CallTexts::outs>,
     "write this tensor after the run"},
    {call, "--expect", "", "NAME=FILE.npy", "", true, ofCallTexts<&CallTexts::expects>,
     "compare this tensor with a reference"},
    {call, "--tolerance", "", "NUMBER", "", true, ofTexts<&OptionTexts::tolerance>,
     "accepted ||out - ref|| / ||ref||; by default from the type"},
    {call, "--seed", "", "N", "", true, ofCall<&CallOptions::seed>,
     "seed of generated data, and of a random schedule (1)"},
    {call, "--twice", "", "", "", true, callFlag<&CallOptions::twice>,
     "run twice and require the same bits"},
    {call, "--no-print", "", "", "", true, caseFlag<&CaseOptions::showPrints, false>,
     "leave out what kernels print"},
    {call, "--verbose", "-v", "", "", true, callFlag<&CallOptions::verbose>, "print the launches"},

    {choice, "--arch", "", "ARCH", "", true, ofCase<&CaseOptions::arch>,
     "only variants for this architecture (sm_80); the emulator is such a device"},
    {choice, "--variant", "", "NAME", "", true, ofCase<&CaseOptions::variant>,
     "only variants of this name"},
    {choice, "--configuration", "", "N", "", true, ofCase<&CaseOptions::configuration>,
     "only the configuration of this number, as --list counts them"},

    {timing, "--repeat", "", "N", "", true, ofCase<&CaseOptions::repeat>,
     "time so many launches and print the median"},
    {timing, "--warmup", "", "N", "", true, ofCase<&CaseOptions::warmup>,
     "launches before those that are timed (3)"},
    {timing, "--seconds", "", "N", "", true, ofCase<&CaseOptions::seconds>,
     "go on with timed launches for so long, if --repeat of them take less"},
    {timing, "--flush-l2", "", "", "", true, caseFlag<&CaseOptions::flushL2>,
     "overwrite 256 MiB between timed launches"},
    {timing, "--bench", "", "FORMULAS", "", true, ofCase<&CaseOptions::bench>,
     "\"flops = 2*M*N*K; bytes = ...\": print TFLOPS and GB/s"},
    {timing, "--baseline", "", "PRODUCT", "", true, ofCase<&CaseOptions::baseline>,
     "cublas(A, B, C, transpose_b = true): time this product of the arguments in turn with the "
     "kernel, and compare C"},
    {timing, "--sensors", "", "", "", true, caseFlag<&CaseOptions::sensors>,
     "read the GPU's clock and power while launches are timed"},

    {emulator, "--ptx", "", "FILE", "", true, ofCase<&CaseOptions::ptx>,
     "run this PTX instead of that in the pack"},
    {emulator, "--schedule", "", "ORDER", "round-robin,random", true,
     ofCase<&CaseOptions::schedule>,
     "order of warps; without it round-robin and then a few random ones"},
    {emulator, "--schedule-seed", "", "N", "", true, ofTexts<&OptionTexts::scheduleSeed>,
     "seed of a random schedule, if it is not --seed"},
    {emulator, "--schedules", "", "N", "", true, ofCase<&CaseOptions::schedules>,
     "run so many random schedules, with seeds one after the other, up to the first that is wrong"},
    {emulator, "--sms", "", "N", "", true, addSms, "multiprocessors of the device (4)"},
    {emulator, "--step-budget", "", "N", "", true, ofCase<&CaseOptions::stepBudget>,
     "instructions of warps that a launch may take before it counts as endless (2^32)"},
    {emulator, "--profile", "", "", "", true, caseFlag<&CaseOptions::profile>,
     "print instructions, bank conflicts and sectors by source line"},
    {emulator, "--no-race-check", "", "", "", true, caseFlag<&CaseOptions::checkRaces, false>,
     "do not look for data races"},

    {information, "--help", "-h", "WHAT", "text,man,markdown", false, nullptr,
     "print the options: for a terminal, as the manual page, or as docs/options-tile-run.md"},
    {information, "--version", "", "", "", false, nullptr, "print the version"},
    {information, "--completion", "", "SHELL", "bash,zsh,fish", false, nullptr,
     "print the completion of command lines for this shell"},
};
} // namespace

std::span<const OptionInfo> allOptions() { return options; }

std::vector<std::string_view> OptionInfo::allValues() const {
  std::vector<std::string_view> list;
  for (std::string_view rest = values; !rest.empty();) {
    const size_t comma = rest.find(',');
    list.push_back(rest.substr(0, comma));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return list;
}

std::string_view titleOf(OptionGroup group) {
  static constexpr std::string_view titles[] = {
      "The pack and where it runs", "The call",     "What of the kernel runs",
      "Timing, on a GPU",           "The emulator", "Information"};
  return titles[static_cast<size_t>(group)];
}

std::string hintForOption(std::string_view word) {
  std::vector<std::string_view> names;
  for (const OptionInfo &option : options) {
    names.push_back(option.name);
    if (word.size() > 1 && option.name.substr(1) == word) {
      return "did you mean `" + std::string(option.name) + "`?"; // with one dash
    }
  }
  return didYouMean(word, names);
}

void checkValue(std::string_view name, std::string_view value) {
  for (const OptionInfo &option : options) {
    const std::vector<std::string_view> known = option.allValues();
    if (option.name != name || known.empty() ||
        std::find(known.begin(), known.end(), value) != known.end()) {
      continue;
    }
    std::string text = "`" + std::string(name) + "` takes ";
    for (size_t i = 0; i < known.size(); ++i) {
      text += (i == 0 ? "" : i + 1 == known.size() ? " or " : ", ") + std::string(known[i]);
    }
    const std::string meant = didYouMean(value, known);
    throw InputError(text + ", not `" + std::string(value) + "`" +
                     (meant.empty() ? "" : "\nhelp: " + meant));
  }
}

} // namespace tile_run
