#include "compiler/basic/Interrupt.h"

#include "llvm/Support/FileSystem.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace tilec {

namespace {
// What the handler reads has a place of its own, without locks. A thread that makes an entry fills it before it sets the state.
struct Folder {
  enum State : int { Free, Filling, Used };
  std::atomic<int> state = Free;
  char path[1024] = {};
};

constexpr size_t maxFolders = 256, maxProcesses = 256;
std::array<Folder, maxFolders> folders;
std::array<std::atomic<pid_t>, maxProcesses> processes; ///< 0: free
std::atomic<bool> isEnding = false;
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

//===----------------------------------------------------------------------===//
// In the handler: system calls only
//===----------------------------------------------------------------------===//

/// What getdents64 writes.
struct Entry {
  uint64_t inode;
  int64_t next;
  uint16_t bytes;
  uint8_t type;
  char name[1];
};

constexpr int maxDepth = 8; // of folders in folders

/// Removes what is in an open folder, and closes it.
void clear(int folder, int depth) {
  alignas(Entry) char buffer[4096];
  for (long count; (count = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0;) {
    for (long at = 0; at < count;) {
      const auto *entry = reinterpret_cast<const Entry *>(buffer + at);
      at += entry->bytes;
      const char *name = entry->name;
      if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(folder, name, 0) == 0) {
        continue;
      }
      const int inner = depth < maxDepth
                            ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                            : -1;
      if (inner >= 0) {
        clear(inner, depth + 1);
        unlinkat(folder, name, AT_REMOVEDIR);
      }
    }
  }
  close(folder);
}

/// Whether the folder is gone, if there was one.
bool remove(const Folder &entry) {
  const int folder =
      entry.state == Folder::Used ? open(entry.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (folder < 0) {
    return true;
  }
  clear(folder, 0);
  return rmdir(entry.path) == 0;
}

void onInterrupt(int number) {
  isEnding = true;
  for (std::atomic<pid_t> &entry : processes) {
    const pid_t process = entry;
    if (process != 0) {
      kill(process, SIGKILL);
    }
  }
  for (std::atomic<pid_t> &entry : processes) {
    const pid_t process = entry;
    while (process != 0 && waitpid(process, nullptr, 0) > 0) { // of a group each one
    }
  }
  for (const Folder &entry : folders) {
    remove(entry);
  }
  signal(number, SIG_DFL);
  raise(number); // comes when this returns
}
} // namespace

//===----------------------------------------------------------------------===//
// Behind SIGKILL
//===----------------------------------------------------------------------===//

namespace {
/// That there is a folder, or none any more. Processes that were forked since send theirs, too, which have the same places
/// in tables of their own: so it is known by its path.
struct Message {
  bool exists;
  decltype(Folder::path) path;
};

void note(const Message &message) {
  for (Folder &entry : folders) {
    const bool isUsed = entry.state == Folder::Used;
    if (message.exists ? !isUsed : isUsed && strcmp(entry.path, message.path) == 0) {
      std::memcpy(entry.path, message.path, sizeof message.path);
      entry.state = message.exists ? Folder::Used : Folder::Free;
      return;
    }
  }
}

/// A process that outlives this one by the moment in which it removes the folders that it was told of and that are still
/// there. It has a copy of this process' memory as it was at the fork, where other threads may have held locks: system calls
/// only.
[[noreturn]] void removeBehindParent(int told) {
  setsid(); // not of the group that a shell or a harness kills
  for (int number : {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE}) {
    signal(number, SIG_IGN);
  }
  // Whoever reads what this program writes must not wait for this process.
  dup2(told, 0);
  const int none = open("/dev/null", O_WRONLY);
  dup2(none, 1);
  dup2(none, 2);
  close_range(3, ~0U, 0);

  for (Folder &entry : folders) {
    entry.state = Folder::Free; // each is told
  }
  Message message;
  for (ssize_t bytes; (bytes = read(0, &message, sizeof message)) > 0 || errno == EINTR;) {
    if (bytes == ssize_t(sizeof message)) {
      note(message);
    }
    errno = 0; // an end is no error
  }
  // What the kernel ends with the parent may write for a moment still.
  for (int attempt = 0; attempt < 100; ++attempt) {
    bool isLeft = false;
    for (const Folder &entry : folders) {
      isLeft |= !remove(entry);
    }
    if (!isLeft) {
      break;
    }
    const timespec pause = {0, 20'000'000};
    nanosleep(&pause, nullptr);
  }
  _exit(0);
}

/// Where that process hears of folders, from the first on; -1: there is none.
int remover() {
  static const int socket = [] {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
      return -1;
    }
    // Its parent ends at once and need not be waited for.
    const pid_t between = fork();
    if (between == 0) {
      if (fork() == 0) {
        removeBehindParent(ends[1]);
      }
      _exit(0);
    }
    close(ends[1]);
    if (between < 0) {
      close(ends[0]);
      return -1;
    }
    waitpid(between, nullptr, 0);
    return ends[0];
  }();
  return socket;
}

void tell(bool exists, StringRef path) {
  Message message{exists, {}};
  std::memcpy(message.path, path.data(),
              path.size()); // shorter than the place, or it was not entered
  (void)!send(remover(), &message, sizeof message, MSG_NOSIGNAL);
}
} // namespace

void handleInterrupts() {
  for (int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) {
      continue;
    }
    action = {};
    action.sa_handler = onInterrupt;
    sigfillset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

void leaveInterruptsToParent() {
  for (int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == onInterrupt) {
      signal(number, SIG_DFL);
    }
  }
}

void waitIfInterrupted() {
  while (isEnding) {
    pause();
  }
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

TemporaryFolder::TemporaryFolder(StringRef prefix) {
  waitIfInterrupted();
  // The signal waits until the handler knows of the folder.
  sigset_t ending, before;
  sigemptyset(&ending);
  for (int number : {SIGHUP, SIGINT, SIGTERM}) {
    sigaddset(&ending, number);
  }
  pthread_sigmask(SIG_BLOCK, &ending, &before);
  problem = sys::fs::createUniqueDirectory(prefix, name);
  for (size_t i = 0; !problem && name.size() < sizeof(Folder::path) && i < folders.size(); ++i) {
    int expected = Folder::Free;
    if (folders[i].state.compare_exchange_strong(expected, Folder::Filling)) {
      std::memcpy(folders[i].path, name.c_str(), name.size() + 1);
      folders[i].state = Folder::Used;
      slot = int(i);
      tell(true, name);
      break;
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TemporaryFolder::~TemporaryFolder() {
  waitIfInterrupted();
  if (!problem) { // whatever could not be written: on a full disk above all
    (void)sys::fs::remove_directories(name); // what cannot be removed stays
  }
  if (slot >= 0) {
    folders[size_t(slot)].state = Folder::Free;
    tell(false, name);
  }
}

EndedWithUs::EndedWithUs(pid_t process) : slot(-1) {
  for (size_t i = 0; i < processes.size(); ++i) {
    pid_t expected = 0;
    if (processes[i].compare_exchange_strong(expected, process)) {
      slot = int(i);
      break;
    }
  }
}

EndedWithUs::~EndedWithUs() {
  if (slot >= 0) {
    processes[size_t(slot)] = 0;
  }
}

} // namespace tilec
