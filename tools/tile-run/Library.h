// Libraries of NVIDIA's that are used where they are there: nothing links them, and no header of theirs is needed.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace tile_run {

/// It is not there, or not what is needed; the text says what was tried.
struct LibraryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A library that stays open as long as the process.
class Library {
public:
  /// The one that the environment variable `variable` names, else the first of `names` that opens, where the loader
  /// looks or in CUDA's usual folder. Throws LibraryError.
  Library(const char *variable, const std::vector<std::string> &names);

  /// Sets `function` to the symbol; throws LibraryError where there is none.
  template <class Function>
  void find(Function &function, const char *symbol) const {
    function = reinterpret_cast<Function>(address(symbol));
  }

private:
  void *address(const char *symbol) const;

  std::string name;
  void *handle = nullptr;
};

} // namespace tile_run
