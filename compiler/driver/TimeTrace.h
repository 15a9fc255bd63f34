// Where the time of a run goes, as a trace that Chrome and Perfetto show: --time-trace.
#pragma once

#include "mlir/Pass/PassInstrumentation.h"

#include "llvm/ADT/StringRef.h"

#include <memory>
#include <system_error>

namespace tilec {

/// LLVM's profiler, which its own passes report to as well. It keeps what it knows of each thread; code
/// measures with llvm::TimeTraceScope, which does nothing in a thread that is not traced.
class TimeTrace {
public:
  /// Traces the calling thread, from which the trace is taken in the end.
  static void begin();
  /// Writes the trace, of the threads that have ended and of the calling one, if they are traced, and ends it. Returns an
  /// error of writing.
  static std::error_code write(llvm::StringRef file);

  /// While it lives, a thread other than that one is traced, if `isOn`.
  class Thread {
  public:
    explicit Thread(bool isOn);
    ~Thread();
    Thread(const Thread &) = delete;
    Thread &operator=(const Thread &) = delete;

  private:
    bool isOn;
  };

  /// A scope for each pass, with what it works on.
  static std::unique_ptr<mlir::PassInstrumentation> ofPasses();
};

} // namespace tilec
