#include "compiler/basic/Tool.h"

#include "compiler/basic/Interrupt.h"

#include "llvm/ADT/SmallVector.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace llvm;

namespace tilec {

namespace {
/// All that the new process needs: between fork and exec it may make system calls, nothing more.
struct Start {
  const char *folder, *log;
  char *const *arguments; ///< "/bin/sh", the program, ...
  pid_t parent;
};

[[noreturn]] void become(const Start &start) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != start.parent) {
    _exit(127); // that has died already
  }
  constexpr unsigned long ask = 0xffffffff; // personality(2): returns what is set
  if (const int before = personality(ask); before >= 0) {
    personality(static_cast<unsigned long>(before) | ADDR_NO_RANDOMIZE); // where that is allowed
  }
  const int none = open("/dev/null", O_RDONLY);
  const int out = open(start.log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (none < 0 || out < 0 || chdir(start.folder) != 0) {
    _exit(127);
  }
  dup2(none, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  execv(start.arguments[1], start.arguments + 1);
  if (errno == ENOEXEC) { // a script without its first line
    execv(start.arguments[0], start.arguments);
  }
  const char *why = strerrordesc_np(errno);
  (void)!write(STDERR_FILENO, why, strlen(why));
  _exit(127);
}
} // namespace

ToolEnd runTool(StringRef program, ArrayRef<std::string> args, StringRef folder, StringRef log) {
  std::string shell = "/bin/sh", name = program.str(), in = folder.str(), out = log.str();
  std::vector<std::string> words(args);
  SmallVector<char *> arguments{shell.data(), name.data()};
  for (std::string &word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  const Start start{in.c_str(), out.c_str(), arguments.data(), getpid()};
  waitIfInterrupted();
  const pid_t process = fork();
  if (process == 0) {
    become(start);
  }
  if (process < 0) {
    return {-1, std::string("no process: ") + std::strerror(errno)};
  }
  int status = 0;
  pid_t ended = 0;
  {
    const EndedWithUs guard(process);
    do {
      ended = waitpid(process, &status, 0);
    } while (ended < 0 && errno == EINTR);
  }
  waitIfInterrupted(); // it was ended with us: nothing is said of it
  if (ended >= 0 && WIFEXITED(status)) {
    return {WEXITSTATUS(status), {}};
  }
  if (ended >= 0 && WIFSIGNALED(status)) {
    std::string died = strsignal(WTERMSIG(status));
    return {-2, WCOREDUMP(status) ? died + " (core dumped)" : died};
  }
  return {-1, std::string("lost: ") + std::strerror(errno)};
}

} // namespace tilec
