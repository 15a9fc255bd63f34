// What a bug report needs.
#pragma once

#include "compiler/basic/Source.h"
#include "compiler/driver/Options.h"

#include <string>

namespace tilec {

/// Saves the sources and a shell script with the command line in a new folder among the temporary
/// files. Returns the script's path; empty if that did not work.
std::string writeReproducer(const Options &options, const SourceManager &sources);

} // namespace tilec
