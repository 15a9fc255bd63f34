#include "tools/ptx-run/Description.h"

#include "tools/ptx-run/Inputs.h"

#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace tile_ptx {

using Json = nlohmann::json;

namespace {

constexpr uint64_t kMaxBytes = uint64_t(1) << 32;

std::array<uint32_t, 3> triple(const Json &value) {
  std::array<uint32_t, 3> result{1, 1, 1};
  if (value.is_number()) {
    result[0] = value;
  } else {
    for (size_t i = 0; i < value.size() && i < 3; ++i) {
      result[i] = value[i];
    }
  }
  return result;
}

Buffer parseBuffer(const std::string &name, const Json &value) {
  Buffer buffer;
  buffer.name = name;
  buffer.defined = value.contains("input");
  if (buffer.defined) {
    buffer.contents = inputBytes(value.at("input"));
  } else {
    uint64_t bytes = value.at("bytes");
    if (bytes > kMaxBytes) {
      throw std::runtime_error("buffer " + name + " is too large");
    }
    buffer.contents.assign(bytes, value.value("fill", uint8_t(0xCD)));
    buffer.defined = value.contains("fill");
  }
  buffer.isResult = value.value("result", !value.contains("input"));
  return buffer;
}

template <typename T>
Bytes bytesOf(T value) {
  Bytes bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

MapParameter parseMap(const Json &value) {
  MapParameter map;
  map.buffer = value.at("of");
  tile_emu::TensorMapRecipe &recipe = map.recipe;
  const std::string name = value.at("type");
  auto type = tile_emu::ptx::typeNamed(name);
  if (!type) {
    throw std::runtime_error("no type " + name);
  }
  recipe.type = *type;
  recipe.base = value.value("offset", uint64_t(0));
  recipe.dims = value.at("dims").get<std::vector<uint64_t>>();
  recipe.strides = value.at("strides").get<std::vector<uint64_t>>();
  recipe.box = value.at("box").get<std::vector<uint32_t>>();
  recipe.elementStrides =
      value.value("element_strides", std::vector<uint32_t>(recipe.dims.size(), 1));
  recipe.swizzle = value.value("swizzle", 0u);
  recipe.nanFill = value.value("nan_fill", false);
  return map;
}

Parameter parseParameter(const Json &value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.contains("map")) {
    return parseMap(value.at("map"));
  }
  if (value.contains("u8")) {
    return bytesOf(value.at("u8").get<uint8_t>());
  }
  if (value.contains("u32")) {
    return bytesOf(value.at("u32").get<uint32_t>());
  }
  if (value.contains("u64")) {
    return bytesOf(value.at("u64").get<uint64_t>());
  }
  return bytesOf(value.at("f32").get<float>());
}

Launch parseLaunch(const Json &value) {
  Launch launch;
  launch.entry = value.at("entry");
  launch.grid = triple(value.at("grid"));
  launch.block = triple(value.at("block"));
  launch.cluster = triple(value.value("cluster", Json(1)));
  launch.sharedBytes = value.at("shared");
  launch.overlaps = value.value("overlaps", false);
  for (const Json &parameter : value.at("params")) {
    launch.params.push_back(parseParameter(parameter));
  }
  return launch;
}

} // namespace

Description parseDescription(const std::string &json) try {
  // Buffers stay in the order written: results are put together in it.
  const auto ordered = nlohmann::ordered_json::parse(json);
  const Json value = Json::parse(json);
  Description result;
  result.what = value.value("what", "");
  result.lenient = value.value("lenient", false);
  result.compare = value.value("compare", "exact");
  result.error = value.value("error", "");
  for (const auto &entry : ordered.at("buffers").items()) {
    result.buffers.push_back(parseBuffer(entry.key(), value.at("buffers").at(entry.key())));
  }
  for (const Json &launch : value.at("launches")) {
    result.launches.push_back(parseLaunch(launch));
  }
  return result;
} catch (const Json::exception &error) {
  throw std::runtime_error(std::string("description: ") + error.what());
}

std::string descriptionIn(const std::string &ptx) {
  std::istringstream lines(ptx);
  std::string json;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("//!")) {
      json += line.substr(3) + "\n";
    }
  }
  return json;
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot read " + path);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

Description describe(const std::string &path, const std::string &ptx) {
  std::string beside = path.substr(0, path.rfind('.')) + ".json";
  if (std::ifstream(beside)) {
    return parseDescription(readFile(beside));
  }
  std::string json = descriptionIn(ptx);
  if (json.empty()) {
    throw std::runtime_error(path + " has no description (see test/ptx/README.md)");
  }
  return parseDescription(json);
}

} // namespace tile_ptx
