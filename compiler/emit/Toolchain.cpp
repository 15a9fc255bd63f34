#include "compiler/emit/Toolchain.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <algorithm>
#include <cstdlib>

using namespace llvm;

namespace tilec {

/// Names of the entries of `folder` in alphabetical order; none if it cannot be read.
static std::vector<std::string> entriesOf(const Twine &folder) {
  std::vector<std::string> entries;
  std::error_code error;
  for (sys::fs::directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error)) {
    entries.push_back(it->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// Adds the folders that nvidia's wheels have under `prefix`/lib/python3*/{site,dist}-packages.
static void addWheels(const Twine &prefix, std::vector<std::string> &roots) {
  for (const std::string &python : entriesOf(prefix + "/lib")) {
    if (!sys::path::filename(python).starts_with("python3")) {
      continue;
    }
    for (const char *packages : {"/site-packages", "/dist-packages"}) {
      for (const char *wheel : {"/nvidia/cu13", "/nvidia/cuda_nvcc", "/nvidia/nvvm"}) {
        roots.push_back(python + packages + wheel);
      }
    }
  }
}

Toolchain::Toolchain(StringRef cudaPath, StringRef programDir) : searchPath(cudaPath.empty()) {
  if (!cudaPath.empty()) {
    roots.push_back(cudaPath.str());
    return;
  }
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char *value = std::getenv(variable); value && *value) {
      roots.emplace_back(value);
    }
  }
  roots.emplace_back("/usr/local/cuda");
  addWheels(programDir + "/../venv", roots);
  for (const char *variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char *value = std::getenv(variable); value && *value) {
      addWheels(value, roots);
    }
  }
  if (const char *home = std::getenv("HOME"); home && *home) {
    addWheels(Twine(home) + "/.local", roots);
  }
  addWheels("/usr/local", roots);
  addWheels("/usr", roots);
}

std::optional<std::string> Toolchain::findProgram(StringRef name) const {
  for (const std::string &root : roots) {
    SmallString<128> path(root);
    sys::path::append(path, "bin", name);
    if (sys::fs::can_execute(path) && !sys::fs::make_absolute(path)) {
      return path.str().str(); // absolute: tools run in other folders
    }
  }
  if (searchPath) {
    if (ErrorOr<std::string> path = sys::findProgramByName(name)) {
      return *path;
    }
  }
  return std::nullopt;
}

std::optional<std::string> Toolchain::findLibdevice() const {
  for (const std::string &root : roots) {
    for (const char *folder : {"/nvvm/libdevice/", "/libdevice/"}) {
      std::string path = root + folder + "libdevice.10.bc";
      if (sys::fs::exists(path)) {
        return path;
      }
    }
  }
  return std::nullopt;
}

void Toolchain::print(raw_ostream &os) const {
  for (StringRef name : {"ptxas", "fatbinary"}) {
    os << name << ": " << findProgram(name).value_or("not found") << "\n";
  }
  os << "libdevice: " << findLibdevice().value_or("not found") << "\n";
}

} // namespace tilec
