// What tilec says of itself, all of it from the table of options. Private to the command line.
#pragma once

#include "compiler/driver/OptionTable.h"

namespace tilec {

/// --help: the options of a subcommand in groups; without `all` those that most need.
void printHelp(llvm::raw_ostream &os, const CommandInfo &command, bool all);
/// --help=man: the page tilec(1) for man, as roff.
void printManual(llvm::raw_ostream &os);
/// --help=markdown: docs/options.md.
void printMarkdown(llvm::raw_ostream &os);
/// --version; as JSON with what this tilec knows.
void printVersion(llvm::raw_ostream &os, bool asJson);
/// --completion: a script for bash, zsh or fish.
void printCompletion(llvm::raw_ostream &os, llvm::StringRef shell);

/// What is said of an option: its help, and the values that it takes.
std::string helpOf(const OptionEntry &entry);

} // namespace tilec
