#include "compiler/tuning/TuneRunner.h"

#include "compiler/basic/Files.h"
#include "compiler/tuning/TuneResults.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace tilec {

std::string visibleDevice(const char *visible, unsigned gpu) {
  SmallVector<StringRef> names;
  StringRef(visible ? visible : "").split(names, ',', -1, /*KeepEmpty=*/false);
  return gpu < names.size() ? names[gpu].trim().str() : std::to_string(gpu);
}

/// The last line that is not empty.
static std::string lastLineOf(const std::string &path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
  StringRef text = file ? (*file)->getBuffer().rtrim() : StringRef();
  return text.substr(text.rfind('\n') + 1).str();
}

/// In the child: becomes the program.
[[noreturn]] static void become(std::vector<char *> &argv, const std::string &log, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); // it must not disturb what is measured later
  int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (getppid() == parent && out >= 0) {
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execv(argv.front(), argv.data());
  }
  _exit(127);
}

bool TuneRunner::start(Process &process) {
  TuneTask &task = process.task;
  std::string text;
  for (const std::string &line : task.cases) {
    text += line + "\n";
  }
  if (std::error_code error = writeThrough(task.casesFile, text)) {
    fatal = "`" + task.casesFile + "` cannot be written: " + error.message();
    return false;
  }
  std::vector<std::string> command = task.command;
  command.push_back("--cases=" + task.casesFile);
  command.push_back("--results=" + task.resultsFile);
  std::vector<char *> argv;
  argv.reserve(command.size() + 1);
  for (std::string &word : command) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  outs().flush();
  errs().flush();
  const std::string device = visibleDevice(std::getenv("CUDA_VISIBLE_DEVICES"), process.gpu);
  const pid_t parent = getpid();
  // Before the process begins: what it writes at once counts, too.
  process.bytes = 0;
  (void)sys::fs::file_size(task.resultsFile, process.bytes);
  process.id = fork();
  if (process.id == 0) {
    if (gpus > 1) {
      setenv("CUDA_VISIBLE_DEVICES", device.c_str(), 1);
    }
    become(argv, task.logFile, parent);
  }
  process.last = Clock::now();
  process.isLate = false;
  if (process.id < 0) {
    fatal = "no process can be made";
    return false;
  }
  process.guard = std::make_unique<EndedWithUs>(process.id);
  return true;
}

void TuneRunner::collect(Process &process) {
  uint64_t bytes = 0;
  if (sys::fs::file_size(process.task.resultsFile, bytes) || bytes == process.bytes) {
    return;
  }
  bytes = process.bytes;
  const std::map<std::string, TuneRecord> records =
      readRecords(process.task.resultsFile, process.bytes);
  if (bytes == process.bytes) {
    return; // a line that has no end yet
  }
  process.last = Clock::now();
  std::vector<std::string> &cases = process.task.cases;
  const size_t before = cases.size();
  erase_if(cases, [&](const std::string &one) { return records.count(one) != 0; });
  left -= before - cases.size();
  if (before != cases.size()) {
    progress(process.task, left);
  }
}

bool TuneRunner::hasEnded(Process &process, int &status) {
  const pid_t ended = waitpid(process.id, &status, WNOHANG);
  if (ended == 0 && !process.isLate &&
      Clock::now() - process.last > std::chrono::seconds(seconds)) {
    process.isLate = true;
    kill(process.id, SIGKILL);
  }
  if (ended != 0) {
    process.guard.reset();
    waitIfInterrupted();
  }
  return ended != 0;
}

void TuneRunner::finish(Process &process, int status, std::vector<TuneTask> &waiting) {
  collect(process);
  TuneTask &task = process.task;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (task.cases.empty()) {
    return;
  }
  const std::string said = lastLineOf(task.logFile);
  constexpr int kUsage = 2, kNoDevice = 3, kNoProgram = 127; // of tile-run
  if (code == kNoDevice || code == kUsage || code == kNoProgram) {
    fatal = said.empty() ? "`" + task.command.front() + "` does not start" : said;
    return;
  }
  const std::string reason =
      process.isLate        ? "it took more than " + std::to_string(seconds) + " s (--timeout)"
      : WIFSIGNALED(status) ? "the process died of signal " + std::to_string(WTERMSIG(status))
                            : "the process ended with status " + std::to_string(code) + ": " + said;
  if (!addFailure(task.resultsFile, task.cases.front(), reason)) {
    fatal = "`" + task.resultsFile + "` cannot be written";
    return;
  }
  task.cases.erase(task.cases.begin());
  progress(task, --left);
  if (!task.cases.empty()) {
    waiting.insert(waiting.begin(), std::move(task));
  }
}

std::string TuneRunner::run(std::vector<TuneTask> waiting) {
  for (const TuneTask &task : waiting) {
    left += task.cases.size();
  }
  std::vector<Process> running;
  std::vector<unsigned> idle;
  for (unsigned gpu = gpus; gpu-- > 0;) {
    idle.push_back(gpu);
  }
  while ((!waiting.empty() && fatal.empty()) || !running.empty()) {
    while (fatal.empty() && !waiting.empty() && !idle.empty()) {
      Process process;
      process.task = std::move(waiting.front());
      waiting.erase(waiting.begin());
      process.gpu = idle.back();
      if (start(process)) {
        idle.pop_back();
        running.push_back(std::move(process));
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (size_t i = 0; i < running.size();) {
      collect(running[i]);
      int status = 0;
      if (!fatal.empty()) {
        kill(running[i].id, SIGKILL);
      }
      if (!hasEnded(running[i], status)) {
        ++i;
        continue;
      }
      if (fatal.empty()) {
        finish(running[i], status, waiting);
      }
      idle.push_back(running[i].gpu);
      running.erase(running.begin() + ptrdiff_t(i));
    }
  }
  return fatal;
}

} // namespace tilec
