// Standard input, output and error of programs, which a shell may leave closed.
#pragma once

namespace tile_rt {

/// Gives those of the three that are closed a descriptor that cannot be read or written. Otherwise the next file that is
/// opened becomes standard output, say, and gets what is printed. To be called before any file is opened.
void holdStandardStreams();

} // namespace tile_rt
