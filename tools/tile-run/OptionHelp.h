// What tile-run prints of its options, from the table.
#pragma once

#include <string>

namespace tile_run {

/// For a terminal.
std::string helpText();
/// The manual page, in roff.
std::string manualText();
/// docs/options-tile-run.md
std::string markdownText();
/// The completion of command lines, as a script for "bash", "zsh" or "fish".
std::string completionText(const std::string &shell);

} // namespace tile_run
