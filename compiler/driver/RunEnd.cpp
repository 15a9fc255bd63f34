#include "compiler/driver/RunEnd.h"

#include "compiler/basic/Files.h"
#include "compiler/driver/TimeTrace.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace tilec {

static void reportTrace(const Options &options, std::error_code error) {
  const diag::Info &entry = diag::info(diag::Id::FileWrite);
  options.messages->report(diag::Id::FileWrite,
                           diag::substitute(entry.text, {options.timeTrace, error.message()}),
                           "`--time-trace=FILE` writes the trace to another file");
}

bool beginRun(const Options &options) {
  if (!options.messages->checkFile()) {
    return false;
  }
  if (options.timeTrace.empty()) {
    return true;
  }
  std::error_code error = checkWritable(options.timeTrace);
  if (sys::fs::is_directory(options.timeTrace)) {
    error = std::make_error_code(std::errc::is_a_directory);
  }
  if (error) {
    reportTrace(options, error);
    return false;
  }
  TimeTrace::begin();
  return true;
}

ExitCode endRun(const Options &options, ExitCode code) {
  if (options.messages->isFinished()) {
    return code;
  }
  if (std::error_code error = TimeTrace::write(options.timeTrace)) {
    reportTrace(options, error);
    code = std::max(code, ExitInput);
  }
  return ExitCode(options.messages->finish(code));
}

} // namespace tilec
