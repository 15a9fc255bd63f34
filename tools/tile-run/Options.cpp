#include "tools/tile-run/Options.h"

#include "runtime/harness/SameFile.h"
#include "tools/tile-run/OptionHelp.h"
#include "tools/tile-run/OptionTable.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>

using namespace tile_rt;

namespace tile_run {

namespace {
/// What the table has of options for a command line, or for a line of a file of cases.
void addOptions(CLI::App &app, const OptionTarget &target) {
  app.set_help_flag();
  app.allow_extras();
  for (const OptionInfo &info : allOptions()) {
    if (info.add && (target.all || info.isOfCase)) {
      info.add(app, info, target);
    }
  }
}

/// Words that no option takes.
void checkRemaining(const CLI::App &app) {
  for (const std::string &word : app.remaining()) {
    const std::string name = word.substr(0, word.find('='));
    if (word.size() < 2 || word[0] != '-') {
      throw InputError("`" + word + "` is one pack too many, or the value of no option");
    }
    const auto all = allOptions();
    const bool isKnown = std::any_of(all.begin(), all.end(), [&](const OptionInfo &option) {
      return option.name == name || option.other == name;
    });
    const std::string hint = isKnown ? "" : hintForOption(name);
    throw InputError((isKnown ? "`" + name + "` cannot stand in a line of a file of cases"
                              : "`tile-run` has no option `" + name + "`") +
                     (hint.empty() ? "" : "\nhelp: " + hint));
  }
}

void finish(CaseOptions &options, const OptionTexts &raw) {
  readCallTexts(options.call, raw.call);
  if (raw.tolerance) {
    if (!(*raw.tolerance >= 0)) {
      throw InputError("`--tolerance` is 0 or more");
    }
    options.call.tolerance = raw.tolerance;
  }
  options.scheduleSeed = raw.scheduleSeed;
  if (!options.schedule.empty()) {
    checkValue("--schedule", options.schedule);
  }
}

/// An output must not take the place of what is read, nor of the results.
void checkOutputs(const CaseOptions &one, const Options &all) {
  const std::pair<const char *, const std::string &> others[] = {
      {"the pack itself", all.pack},
      {"the file of cases", all.casesFile},
      {"the file of results", all.resultsFile},
      {"the PTX that runs", one.ptx}};
  for (const auto &[name, file] : one.call.outs) {
    for (const auto &[what, other] : others) {
      if (isSameFile(file, other)) {
        throw InputError("the output `" + file + "` is " + what);
      }
    }
  }
}

On executorNamed(const std::string &name) {
  if (name == "cpu") {
    throw InputError("--on cpu: a pack runs on cuda or emu; `tilec run --on=cpu` runs a source on "
                     "the processor");
  }
  checkValue("--on", name);
  return name == "cuda" ? On::Cuda : On::Emu;
}

/// Answers `--help`, `--version` and `--completion`, wherever they stand; false if there is none of them.
bool printAbout(const std::vector<std::string> &words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    std::string value = equals == std::string::npos ? "" : words[i].substr(equals + 1);
    if (words[i] == "--") {
      return false;
    }
    if (words[i] == "-h" || name == "--help") {
      value = equals == std::string::npos ? "text" : value;
      checkValue("--help", value);
      std::cout << (value == "man"        ? manualText()
                    : value == "markdown" ? markdownText()
                                          : helpText());
    } else if (words[i] == "--version") {
      std::cout << "tile-run " << TILE_RT_VERSION << "\n";
    } else if (name == "--completion") {
      value = equals == std::string::npos && i + 1 < words.size() ? words[i + 1] : value;
      checkValue("--completion", value);
      std::cout << completionText(value);
    } else {
      continue;
    }
    return true;
  }
  return false;
}
/// An empty name, which a script's unset variable leaves, must not mean that the option is not there.
void checkFileNames(const std::vector<std::string> &words) {
  for (const OptionInfo &option : allOptions()) {
    for (size_t i = 0; i < words.size() && option.meta == "FILE"; ++i) {
      const bool isApart = words[i] == option.name && i + 1 < words.size() && words[i + 1].empty();
      if (isApart || words[i] == std::string(option.name) + "=") {
        throw InputError("`" + std::string(option.name) + "` names no file");
      }
    }
  }
}
} // namespace

std::optional<Options> parseCommandLine(int argc, char **argv) {
  if (printAbout({argv + 1, argv + argc})) {
    return std::nullopt;
  }
  checkFileNames({argv + 1, argv + argc});
  CLI::App app;
  Options options;
  OptionTexts texts;
  app.add_option("pack", options.pack, "the pack");
  addOptions(app, {options.common, texts, &options});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    throw InputError(error.what());
  }
  checkRemaining(app);
  finish(options.common, texts);
  if (options.pack.empty() && !options.devices) {
    throw InputError("pack is required");
  }
  checkOutputs(options.common, options);
  if (!texts.on.empty()) {
    options.on = executorNamed(texts.on);
  }
  return options;
}

std::vector<CaseLine> readCases(const Options &options) {
  const std::string &path = options.casesFile;
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
    CaseLine entry{line.substr(begin), options.common};
    OptionTexts texts;
    CLI::App app;
    addOptions(app, {entry.options, texts, nullptr});
    try {
      app.parse(entry.text);
      checkRemaining(app);
      finish(entry.options, texts);
      checkOutputs(entry.options, options);
    } catch (const std::exception &error) {
      throw InputError(path + ":" + std::to_string(number) + ": " + error.what());
    }
    cases.push_back(std::move(entry));
  }
  return cases;
}

} // namespace tile_run
