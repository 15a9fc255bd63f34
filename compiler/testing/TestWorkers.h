// Processes for the cases of `tilec test`: what crashes or hangs in one ends only that.
#pragma once

#include "compiler/testing/TestCases.h"
#include "compiler/testing/TestJob.h"

#include <chrono>
#include <functional>

namespace tilec {

/// Some cases of one kernel, for one process.
struct TestBatch {
  const std::string *file = nullptr;
  const KernelTests *tests = nullptr;
  std::vector<const TestCase *> cases;
};

/// Runs batches in processes of their own, so many at a time as the options say.
class TestWorkers {
public:
  /// `report` is told how each case ended, as it ends. `folder` is empty and stays the caller's.
  TestWorkers(const Options &options, std::string folder,
              std::function<void(const TestOutcome &)> report);
  ~TestWorkers();

  /// Returns how many cases did not begin in time.
  size_t run(const std::vector<TestBatch> &batches);

private:
  using Clock = std::chrono::steady_clock;
  struct Worker;
  void start(const TestBatch &batch, size_t number);
  void work(const TestBatch &batch, const std::string &place, int toParent);
  void poll();
  void read(Worker &worker);
  void end(Worker &worker);
  bool isLate() const;

  const Options &options;
  std::string folder;
  std::function<void(const TestOutcome &)> report;
  Clock::time_point begin = Clock::now();
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::unique_ptr<TestBatch>> remainders; ///< of processes that have crashed
  size_t notBegun = 0;
};

} // namespace tilec
