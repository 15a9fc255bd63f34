// Code that the driver has loaded, for all contexts (CUDA Driver API, "Library Management").
#pragma once

#include "Driver.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tile_rt {

/// An image that was given to the driver once: packs with the same image share it, in whatever contexts they are. Thread-safe.
class Library {
public:
  /// The one of this image that is in use, or a new one; the driver sees it when a function is asked for.
  static std::shared_ptr<Library> of(const std::shared_ptr<const Driver> &driver,
                                     std::string image);

  Library(std::shared_ptr<const Driver> driver, std::string image);
  ~Library();
  Library(const Library &) = delete;

  /// The function of the current context. `what` names the code in messages. Throws TILE_ERROR_DRIVER.
  cu::Function function(const std::string &entry, const std::string &what);

private:
  std::string withLog(const std::string &message) const;

  const std::shared_ptr<const Driver> driver;
  const std::string image;
  std::mutex mutex; ///< guards the two below
  cu::Library loaded = nullptr;
  std::vector<char> log; ///< the driver may write here whenever it compiles PTX, which can be late
};

} // namespace tile_rt
