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
#include <fcntl.h>
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
    if (entry.state != Folder::Used) {
      continue;
    }
    const int folder = open(entry.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
      clear(folder, 0);
      rmdir(entry.path);
    }
  }
  signal(number, SIG_DFL);
  raise(number); // comes when this returns
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
