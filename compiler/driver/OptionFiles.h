// What the command line says of files: nothing that is written may take the place of what is read, or written too. Private to the
// command line, but for isOneFile.
#pragma once

#include "compiler/driver/OptionReader.h"
#include "compiler/driver/Options.h"

#include <optional>

namespace tilec {

/// Whether both names are of one regular file, be it there yet or not. Devices and FIFOs are written through, and "-" and "" are no files.
bool isOneFile(llvm::StringRef one, llvm::StringRef other);

/// The kind of output that the extension of a file stands for, if it stands for one.
std::optional<EmitKind> kindOfExtension(llvm::StringRef name);

// These throw UsageError.
void checkFiles(const Options &options);
/// Where the trace goes.
void resolveTimeTrace(const OptionReader &reader, Options &options);
/// Where `-MF` sends the make rule; after resolveTimeTrace.
void checkDependencyFile(const Options &options);
/// Where `tilec run` writes tensors; likewise.
void checkRunOutputs(const Options &options);
/// The file of messages must not take the place of a source or of an output, not even to say so.
void checkMessageFile(llvm::ArrayRef<std::string> args, MessageLog &messages);

} // namespace tilec
