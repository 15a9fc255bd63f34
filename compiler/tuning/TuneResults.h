// The results of the processes of `tilec tune`: files with a line of JSON for each shape, as tile-run writes them.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// Calls `take` with each line from this byte on that tile-run or addFailure wrote, and its case. Returns where the last whole line
/// ends: one that is cut short counts for nothing, and no file has no lines.
uint64_t forEachResult(
    llvm::StringRef path, uint64_t from,
    llvm::function_ref<void(llvm::StringRef line, llvm::StringRef name, const llvm::json::Object &)>
        take);

/// How a case ended.
struct TuneRecord {
  bool ok = false;
  std::string text; ///< why it is not, for people
  std::string device, driver;
  std::vector<std::string> variants;
  double median = 0, lower = 0, upper = 0; ///< microseconds
};

/// By case; of several the last. Lines that are cut short count for nothing, and no file is no record.
std::map<std::string, TuneRecord> readRecords(llvm::StringRef path);

/// Those of the lines that begin at this byte or later, which is moved behind the last whole line.
std::map<std::string, TuneRecord> readRecords(llvm::StringRef path, uint64_t &from);

/// Leaves the lines of what was measured; false if the file cannot be written.
bool dropFailures(llvm::StringRef path);

/// Adds a line that says that a case failed, and why; false if the file cannot be written.
bool addFailure(llvm::StringRef path, llvm::StringRef name, llvm::StringRef text);

} // namespace tilec
