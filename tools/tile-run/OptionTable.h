// The options of tile-run: the one table from which the parser, --help, the manual page, docs/options-tile-run.md and the
// completion of shells are made.
#pragma once

#include "tools/tile-run/Options.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace tile_run {

/// Where the values of a command line go, before NAME=VALUE is taken apart.
struct OptionTexts {
  tile_rt::CallTexts call;
  std::optional<double> tolerance;
  std::optional<uint64_t> scheduleSeed;
  std::string on;
};
struct OptionTarget {
  CaseOptions &options;
  OptionTexts &texts;
  Options *all; ///< null for a line of a file of cases
};

enum class OptionGroup { Pack, Call, Choice, Timing, Emulator, Information };

struct OptionInfo {
  OptionGroup group;
  std::string_view name;   ///< "--dim"
  std::string_view other;  ///< "-v", or empty
  std::string_view meta;   ///< what it takes: "NAME=VALUE"; empty for a flag
  std::string_view values; ///< all that it takes, with commas between; empty: anything
  bool isOfCase;           ///< whether it may stand in a line of a file of cases
  /// Null for what is answered before the rest is read.
  void (*add)(CLI::App &app, const OptionInfo &info, const OptionTarget &target);
  std::string_view help;

  std::vector<std::string_view> allValues() const;
};

std::span<const OptionInfo> allOptions();
std::string_view titleOf(OptionGroup group);

/// What may help who wrote an option that there is not; may be empty.
std::string hintForOption(std::string_view word);
/// Throws InputError if `value` is none of those that the option takes.
void checkValue(std::string_view option, std::string_view value);

} // namespace tile_run
