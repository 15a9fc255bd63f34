// Processes of tile-run, on one GPU or several.
#pragma once

#include "compiler/basic/Interrupt.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tilec {

/// What a process is given and leaves.
struct TuneTask {
  std::string label;                ///< for people
  std::vector<std::string> command; ///< without the file of cases
  std::string casesFile, resultsFile, logFile;
  std::vector<std::string> cases; ///< that have no result yet
};

/// Runs tasks until each of their cases has a result: a line of its own, or one that says that its process was
/// ended or died on it, behind which another process goes on.
class TuneRunner {
public:
  /// `progress` is called when a case has ended: of which task, and how many cases of all are left.
  /// A process on each of `gpus`, for at most so many `seconds` for a case.
  TuneRunner(unsigned gpus, unsigned seconds,
             std::function<void(const TuneTask &, size_t left)> progress)
      : gpus(gpus), seconds(seconds), progress(std::move(progress)) {}

  /// Empty, or why nothing can be measured at all: no GPU, or options that tile-run does not take.
  std::string run(std::vector<TuneTask> tasks);

private:
  using Clock = std::chrono::steady_clock;
  struct Process {
    TuneTask task;
    unsigned gpu = 0;
    pid_t id = 0;
    uint64_t bytes = 0;     ///< of the file of results that were read
    Clock::time_point last; ///< when it began or last had a result
    bool isLate = false;
    std::unique_ptr<EndedWithUs> guard;
  };

  bool start(Process &process);
  /// Takes the cases that have a result from the task.
  void collect(Process &process);
  /// Whether the process has ended, and with what status.
  bool hasEnded(Process &process, int &status);
  void finish(Process &process, int status, std::vector<TuneTask> &waiting);

  unsigned gpus, seconds;
  std::function<void(const TuneTask &, size_t left)> progress;
  std::string fatal;
  size_t left = 0;
};

/// The device that the number `gpu` stands for among those that CUDA_VISIBLE_DEVICES names.
std::string visibleDevice(const char *visible, unsigned gpu);

} // namespace tilec
