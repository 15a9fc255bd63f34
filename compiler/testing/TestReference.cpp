#include "compiler/testing/TestReference.h"

#include "compiler/testing/ServeReference.inc" // serveReference, made of serve_reference.py

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

extern char **environ;

namespace tilec {

static Error failure(const Twine &text) { return createStringError(text); }

static bool hasNumpy(StringRef python) {
  StringRef args[] = {python, "-c", "import numpy"};
  std::optional<StringRef> nowhere[] = {StringRef(), StringRef(), StringRef()};
  return sys::ExecuteAndWait(python, args, std::nullopt, nowhere, 60) == 0;
}

Expected<std::string> findPython(const std::string &wanted) {
  std::vector<std::string> candidates;
  std::string name = wanted.empty() ? "python3" : wanted;
  ErrorOr<std::string> found = sys::findProgramByName(name);
  if (found && sys::fs::can_execute(*found)) {
    candidates.push_back(*found);
  }
  if (wanted.empty() && sys::fs::can_execute("/usr/bin/python3")) {
    candidates.emplace_back("/usr/bin/python3");
  }
  for (const std::string &candidate : candidates) {
    if (hasNumpy(candidate)) {
      return candidate;
    }
  }
  if (candidates.empty()) {
    return failure("`" + Twine(name) +
                   "` is not found: the references of `tilec test` are numpy functions; install "
                   "Python 3 with numpy, or give one with `--python`");
  }
  return failure("`" + Twine(candidates.front()) +
                 "` has no numpy: the references of `tilec test` are numpy functions; install it "
                 "(apt install python3-numpy, pip install numpy), or give another Python with "
                 "`--python`");
}

TestReference::~TestReference() {
  if (process > 0) {
    close(toChild);
    close(fromChild);
    kill(process, SIGTERM); // it may be in a long computation
    waitpid(process, nullptr, 0);
  }
}

Error TestReference::start() {
  int request[2], reply[2];
  if (pipe2(request, O_CLOEXEC) != 0) {
    return failure("no pipe for the reference");
  }
  if (pipe2(reply, O_CLOEXEC) != 0) {
    close(request[0]);
    close(request[1]);
    return failure("no pipe for the reference");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, request[0], 0);
  posix_spawn_file_actions_adddup2(&actions, reply[1], 1);
  std::string option = "-c", text = serveReference;
  char *args[] = {python.data(), option.data(), text.data(), nullptr};
  int status = posix_spawn(&process, python.c_str(), &actions, nullptr, args, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(request[0]);
  close(reply[1]);
  toChild = request[1];
  fromChild = reply[0];
  if (status != 0) {
    process = -1;
    close(toChild);
    close(fromChild);
    return failure("`" + Twine(python) + "` does not start");
  }
  return Error::success();
}

Expected<json::Object> TestReference::ask(json::Object request) {
  if (process < 0) {
    if (Error error = start()) {
      return std::move(error);
    }
  }
  std::string line;
  raw_string_ostream(line) << json::Value(std::move(request)) << "\n";
  for (size_t sent = 0; sent < line.size();) {
    ssize_t count = write(toChild, line.data() + sent, line.size() - sent);
    if (count <= 0) {
      return failure("the reference's Python has ended");
    }
    sent += size_t(count);
  }
  size_t end;
  while ((end = received.find('\n')) == std::string::npos) {
    char buffer[4096];
    ssize_t count = read(fromChild, buffer, sizeof(buffer));
    if (count <= 0) {
      return failure("the reference's Python has ended");
    }
    received.append(buffer, size_t(count));
  }
  Expected<json::Value> reply = json::parse(StringRef(received).take_front(end));
  received.erase(0, end + 1);
  if (!reply) {
    return reply.takeError();
  }
  const json::Object *object = reply->getAsObject();
  if (!object) {
    return failure("the reference's Python talks nonsense");
  }
  if (std::optional<StringRef> problem = object->getString("error")) {
    return failure("the reference failed: " + *problem);
  }
  return *object;
}

Expected<std::vector<std::string>> TestReference::draw(const std::string &function, uint64_t seed,
                                                       const json::Object &values,
                                                       const std::string &folder) {
  Expected<json::Object> reply = ask(json::Object{{"function", function},
                                                  {"seed", int64_t(seed & INT64_MAX)},
                                                  {"values", json::Object(values)},
                                                  {"folder", folder}});
  if (!reply) {
    return reply.takeError();
  }
  std::vector<std::string> names;
  if (const json::Array *list = reply->getArray("names")) {
    for (const json::Value &name : *list) {
      names.push_back(name.getAsString().value_or("").str());
    }
  }
  return names;
}

Error TestReference::compute(const std::string &function, const json::Object &inputs,
                             const json::Object &values, const json::Object &outputs) {
  return ask(json::Object{{"function", function},
                          {"inputs", json::Object(inputs)},
                          {"values", json::Object(values)},
                          {"outputs", json::Object(outputs)}})
      .takeError();
}

} // namespace tilec
