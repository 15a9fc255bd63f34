// Running programs that end when this one does.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tilec {

/// How a program ended.
struct ToolEnd {
  int status = -1;  ///< its exit status; negative: it did not start, or died
  std::string died; ///< why, then: "Segmentation fault"
};

/// Runs a program to its end in `folder`, with nothing to read and its output in the file `log`. It dies with this process, whatever
/// ends that, and finds its memory at the same addresses each time: where registers do not suffice, what ptxas 13.0 makes depends
/// on them.
ToolEnd runTool(llvm::StringRef program, llvm::ArrayRef<std::string> args, llvm::StringRef folder,
                llvm::StringRef log);

} // namespace tilec
