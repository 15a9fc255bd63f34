#include "compiler/testing/TestWorkers.h"

#include "compiler/basic/Interrupt.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace tilec {

/// Room for recursion over trees of the greatest depth that the parser lets through.
static constexpr unsigned stackBytes = 256u << 20;
/// Time beyond that of all runs of a case after which a silent process is ended.
static constexpr unsigned graceSeconds = 60;

struct TestWorkers::Worker {
  const TestBatch *batch = nullptr;
  std::string place; ///< its folder
  pid_t process = -1;
  int fromChild = -1;
  size_t done = 0; ///< cases that it has reported
  bool wasStopped = false;
  std::optional<EndedWithUs> guard;
  std::string received;
  Clock::time_point lastWord = Clock::now();
};

TestWorkers::TestWorkers(const Options &options, std::string folder,
                         std::function<void(const TestOutcome &)> report)
    : options(options), folder(std::move(folder)), report(std::move(report)) {}

TestWorkers::~TestWorkers() = default;

//===----------------------------------------------------------------------===//
// In the worker
//===----------------------------------------------------------------------===//

static std::string encode(const TestOutcome &outcome) {
  json::Array notes;
  for (const std::string &note : outcome.notes) {
    notes.push_back(json::fixUTF8(note));
  }
  std::string text;
  raw_string_ostream(text) << json::Value(json::Object{{"status", int(outcome.status)},
                                                       {"line", json::fixUTF8(outcome.line)},
                                                       {"details", json::fixUTF8(outcome.details)},
                                                       {"notes", std::move(notes)}})
                           << "\n";
  return text;
}

static std::optional<TestOutcome> decode(StringRef text) {
  Expected<json::Value> value = json::parse(text);
  if (!value) {
    consumeError(value.takeError());
    return std::nullopt;
  }
  const json::Object &object = *value->getAsObject();
  TestOutcome outcome;
  outcome.status = TestOutcome::Status(object.getInteger("status").value_or(0));
  outcome.line = object.getString("line").value_or("").str();
  outcome.details = object.getString("details").value_or("").str();
  if (const json::Array *notes = object.getArray("notes")) {
    for (const json::Value &note : *notes) {
      outcome.notes.push_back(note.getAsString().value_or("").str());
    }
  }
  return outcome;
}

static TestOutcome failed(const TestBatch &batch, const TestCase &test, const Twine &why) {
  TestOutcome outcome;
  outcome.status = TestOutcome::Status::Fail;
  outcome.line = (batch.tests->kernel + ": " + test.describe() + ": " + why).str();
  return outcome;
}

/// LLVM's fatal errors leave through the crash recovery.
static void leave(void *reason, const char *text, bool) {
  *static_cast<std::string *>(reason) = text;
  if (CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent()) {
    context->HandleExit(ExitInternal);
  }
}

void TestWorkers::work(const TestBatch &batch, const std::string &place, int toParent) {
  auto say = [&](const TestOutcome &outcome) {
    std::string text = encode(outcome);
    for (size_t sent = 0; sent < text.size();) {
      ssize_t count = write(toParent, text.data() + sent, text.size() - sent);
      if (count <= 0) {
        _exit(1);
      }
      sent += size_t(count);
    }
  };
  auto job = std::make_unique<TestJob>(options, *batch.file, *batch.tests, place);
  std::string reason;
  ScopedFatalErrorHandler fatal(leave, &reason);
  // The alarms by which LLVM limits the time of programs go to the thread that waits for them.
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, nullptr);
  auto run = [&](const TestCase &test) {
    pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
    return job->run(test);
  };
  for (const TestCase *test : batch.cases) {
    if (isLate()) {
      break;
    }
    TestOutcome outcome;
    CrashRecoveryContext guard;
    if (!guard.RunSafelyOnThread([&] { outcome = run(*test); }, stackBytes)) {
      say(failed(batch, *test, "tilec crashed" + (reason.empty() ? "" : ": " + reason)));
      _exit(1); // nothing of the job can be trusted any more
    }
    say(outcome);
  }
  job.reset();
}

//===----------------------------------------------------------------------===//
// In the parent
//===----------------------------------------------------------------------===//

bool TestWorkers::isLate() const {
  std::chrono::duration<double> spent = Clock::now() - begin;
  return options.test.maxSeconds > 0 && spent.count() > options.test.maxSeconds;
}

void TestWorkers::start(const TestBatch &batch, size_t number) {
  auto worker = std::make_unique<Worker>();
  worker->batch = &batch;
  worker->place = folder + "/" + std::to_string(number);
  int ends[2];
  if (sys::fs::create_directory(worker->place) || pipe2(ends, O_CLOEXEC) != 0) {
    report(failed(batch, *batch.cases.front(), "no folder or pipe for a process"));
    notBegun += batch.cases.size() - 1;
    return;
  }
  outs().flush();
  errs().flush();
  pid_t parent = getpid();
  worker->process = fork();
  if (worker->process == 0) {
    setpgid(0, 0); // it is ended with the programs that it runs
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN); // of a reference that has ended
    leaveInterruptsToParent();
    setenv("TMPDIR", worker->place.c_str(), 1); // what it leaves goes with its folder
    close(ends[0]);
    if (getppid() == parent) {
      work(batch, worker->place, ends[1]);
    }
    _exit(0);
  }
  close(ends[1]);
  worker->guard.emplace(-worker->process);
  worker->fromChild = ends[0];
  if (worker->process < 0) {
    close(ends[0]);
    report(failed(batch, *batch.cases.front(), "no process"));
    notBegun += batch.cases.size() - 1;
    return;
  }
  workers.push_back(std::move(worker));
}

void TestWorkers::read(Worker &worker) {
  char buffer[4096];
  ssize_t count = ::read(worker.fromChild, buffer, sizeof(buffer));
  if (count <= 0) {
    end(worker);
    return;
  }
  worker.lastWord = Clock::now();
  worker.received.append(buffer, size_t(count));
  for (size_t stop; (stop = worker.received.find('\n')) != std::string::npos;) {
    std::optional<TestOutcome> outcome = decode(StringRef(worker.received).take_front(stop));
    worker.received.erase(0, stop + 1);
    ++worker.done;
    if (outcome) {
      report(*outcome);
    }
  }
}

/// The process has closed its pipe.
void TestWorkers::end(Worker &worker) {
  int status = 0;
  waitpid(worker.process, &status, 0);
  worker.guard.reset();
  waitIfInterrupted();
  close(worker.fromChild);
  worker.fromChild = -1;
  bool crashed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  const TestBatch &batch = *worker.batch;
  if (crashed && worker.done < batch.cases.size()) {
    if (worker.wasStopped || WIFSIGNALED(status)) {
      report(failed(batch, *batch.cases[worker.done],
                    worker.wasStopped ? "does not end" : "its process ended by a signal"));
      ++worker.done;
    }
    // The cases behind it get a process of their own.
    if (worker.done < batch.cases.size()) {
      auto rest = std::make_unique<TestBatch>(batch);
      rest->cases.erase(rest->cases.begin(), rest->cases.begin() + long(worker.done));
      remainders.push_back(std::move(rest));
    }
  } else {
    notBegun += batch.cases.size() - worker.done;
  }
  (void)sys::fs::remove_directories(worker.place); // what cannot be removed stays
}

void TestWorkers::poll() {
  std::vector<pollfd> list;
  list.reserve(workers.size());
  for (const std::unique_ptr<Worker> &worker : workers) {
    list.push_back({worker->fromChild, POLLIN, 0});
  }
  if (::poll(list.data(), list.size(), 1000) < 0) {
    return; // a signal
  }
  // A case compiles, and runs on each executor for each architecture.
  size_t runs = 2 + options.test.on.size() * options.archs.size();
  std::chrono::seconds patience(graceSeconds + runs * options.test.caseSeconds);
  for (auto [worker, entry] : llvm::zip_equal(workers, list)) {
    if (entry.revents != 0) {
      read(*worker);
    } else if (Clock::now() - worker->lastWord > patience) {
      worker->wasStopped = true;
      kill(-worker->process, SIGKILL);
      worker->lastWord = Clock::now();
    }
  }
  llvm::erase_if(workers, [](const auto &worker) { return worker->fromChild < 0; });
}

size_t TestWorkers::run(const std::vector<TestBatch> &batches) {
  size_t next = 0, nextRest = 0, number = 0;
  while (true) {
    while (workers.size() < options.test.jobs &&
           (next < batches.size() || nextRest < remainders.size())) {
      const TestBatch &batch =
          nextRest < remainders.size() ? *remainders[nextRest++] : batches[next++];
      if (isLate()) {
        notBegun += batch.cases.size();
      } else {
        start(batch, number++);
      }
    }
    if (workers.empty()) {
      return notBegun;
    }
    poll();
  }
}

} // namespace tilec
