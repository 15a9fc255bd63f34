// Reading JSON with errors that say where: a cursor over nlohmann's document. Only the manifest's
// parser includes this.
#pragma once

#include "Error.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tile_rt {

/// A value together with its path ("kernels[0].host[2].launch"), for messages.
class JsonRef {
public:
  JsonRef(const nlohmann::json &value, std::string path) : value(&value), path(std::move(path)) {}

  [[noreturn]] void fail(const std::string &what) const { failPack(path + ": " + what); }
  const nlohmann::json &raw() const { return *value; }
  const std::string &where() const { return path; }

  /// Member that must be there.
  JsonRef operator[](const char *key) const {
    if (!has(key)) {
      fail(std::string("member `") + key + "` is missing");
    }
    return {value->at(key), path + "." + key};
  }
  bool has(const char *key) const { return value->is_object() && value->contains(key); }
  /// There and not null.
  bool hasValue(const char *key) const { return has(key) && !value->at(key).is_null(); }

  size_t size() const {
    if (!value->is_array()) {
      fail("expected an array");
    }
    return value->size();
  }
  JsonRef at(size_t i) const { return {value->at(i), path + "[" + std::to_string(i) + "]"}; }
  std::vector<JsonRef> items() const {
    std::vector<JsonRef> result;
    for (size_t i = 0, n = size(); i < n; ++i) {
      result.push_back(at(i));
    }
    return result;
  }

  std::string string() const {
    if (!value->is_string()) {
      fail("expected a string");
    }
    return value->get<std::string>();
  }
  bool boolean() const {
    if (!value->is_boolean()) {
      fail("expected true or false");
    }
    return value->get<bool>();
  }
  /// An integer within bounds, from any JSON integer up to 64 bits.
  __int128 integer(__int128 lowest = std::numeric_limits<int64_t>::min(),
                   __int128 highest = std::numeric_limits<uint64_t>::max()) const {
    if (!value->is_number_integer()) {
      fail("expected an integer");
    }
    __int128 number = value->is_number_unsigned() ? static_cast<__int128>(value->get<uint64_t>())
                                                  : static_cast<__int128>(value->get<int64_t>());
    if (number < lowest || number > highest) {
      fail("the number is out of range");
    }
    return number;
  }
  template <class T>
  T as(__int128 lowest = std::numeric_limits<T>::min()) const {
    return static_cast<T>(integer(lowest, std::numeric_limits<T>::max()));
  }

private:
  const nlohmann::json *value;
  std::string path;
};

} // namespace tile_rt
