#include "SameFile.h"

#include <filesystem>

namespace tile_rt {

namespace fs = std::filesystem;

/// With links on the way resolved; what is not there stays as it is named.
static fs::path placeOf(const std::string &name) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(fs::absolute(name, error), error);
  return error ? fs::path() : place;
}

bool isSameFile(const std::string &one, const std::string &other) {
  if (one.empty() || other.empty()) {
    return false;
  }
  std::error_code error;
  const fs::file_status status = fs::status(one, error);
  if (fs::exists(status)) {
    return fs::is_regular_file(status) && fs::equivalent(one, other, error);
  }
  const fs::path place = placeOf(one);
  return !place.empty() && place == placeOf(other);
}

} // namespace tile_rt
