// Wall-clock time of the phases of a compilation, for --time-passes.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/TimeProfiler.h"

#include <chrono>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilec {

/// Adds up times by phase, in the order in which phases first began. Each is a scope of --time-trace, too.
class PhaseTimer {
public:
  /// Measures until its end. `detail` is for the trace.
  class Scope {
  public:
    Scope(PhaseTimer &timer, llvm::StringRef phase, llvm::StringRef detail = {})
        : timer(timer), phase(phase), trace(phase, detail),
          start(std::chrono::steady_clock::now()) {}
    ~Scope() {
      std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
      timer.add(phase, spent.count());
    }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    PhaseTimer &timer;
    llvm::StringRef phase;
    llvm::TimeTraceScope trace;
    std::chrono::steady_clock::time_point start;
  };

  void add(llvm::StringRef phase, double milliseconds);
  /// Adds those of another.
  void add(const PhaseTimer &other);
  /// A line for each phase, then tilec's own time from source to PTX and that of ptxas.
  void print(llvm::raw_ostream &os) const;

  static constexpr llvm::StringLiteral assembler = "ptxas";
  static constexpr llvm::StringLiteral packing = "packing";

private:
  std::vector<std::pair<std::string, double>> phases;
};

} // namespace tilec
