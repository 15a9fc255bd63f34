#include "tools/tile-run/Library.h"

#include <cstdlib>
#include <dlfcn.h>

namespace tile_run {

Library::Library(const char *variable, const std::vector<std::string> &names) {
  const char *given = std::getenv(variable);
  std::vector<std::string> tried;
  if (given && *given) {
    tried = {given};
  } else {
    tried = names;
    for (const std::string &one : names) {
      tried.push_back("/usr/local/cuda/lib64/" + one);
    }
  }
  for (const std::string &one : tried) {
    handle = dlopen(one.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle) {
      name = one;
      return;
    }
  }
  const char *reason = dlerror();
  throw LibraryError("cannot open " + tried.front() + (tried.size() > 2 ? " or an older one" : "") +
                     (reason ? std::string(": ") + reason : ""));
}

void *Library::address(const char *symbol) const {
  void *found = dlsym(handle, symbol);
  if (!found) {
    throw LibraryError(name + " has no " + symbol);
  }
  return found;
}

} // namespace tile_run
