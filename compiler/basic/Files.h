// Writing files so that they are whole or not there.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <system_error>

namespace tilec {

/// Opens what is there (or creates it) and writes through it: into a device or a FIFO, say.
std::error_code writeThrough(llvm::StringRef path, llvm::StringRef bytes);

/// Writes beside the place first: if anything goes wrong, a full disk too, what was there stays as it was.
std::error_code replaceFile(llvm::StringRef path, llvm::StringRef bytes);

/// A regular file is written beside its place first, so that it never exists half-written. What
/// only looks like a file (a device, a FIFO) is written through, and a symbolic link stays one: its
/// target is replaced.
std::error_code writeOutput(llvm::StringRef path, llvm::StringRef bytes);

/// Writes what is in the buffer of standard output. The first error since the last call, from anything written there.
std::error_code flushStandardOutput();

/// Whether a file of this name could be written, before anything is spent on what it shall hold. "-" and "" always can.
std::error_code checkWritable(llvm::StringRef path);

} // namespace tilec
