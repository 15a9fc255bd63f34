#include "tools/ptx-run/Inputs.h"

#include "runtime/support/Floats.h"

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tile_ptx {

using Json = nlohmann::json;

namespace {

constexpr size_t kAlign = 256;             ///< of every segment
constexpr uint64_t kMaxElements = 1 << 28; ///< of one segment

void append(std::vector<uint8_t> &data, uint64_t bits, unsigned width) {
  for (unsigned i = 0; i < width; ++i) {
    data.push_back(uint8_t(bits >> (8 * i)));
  }
}

uint64_t count(const Json &segment, const char *key) {
  uint64_t result = segment.at(key).get<uint64_t>();
  if (result > kMaxElements) {
    throw std::runtime_error("a segment of too many elements");
  }
  return result;
}

void appendReals(std::vector<uint8_t> &data, const Json &segment) {
  const std::string kind = segment.at("real");
  const unsigned bits = segment.at("bits");
  if (bits < 1 || bits > 32) {
    throw std::runtime_error("`bits` of a segment is 1 to 32");
  }
  tile_rt::DType type = kind == "f16"    ? tile_rt::DType::F16
                        : kind == "bf16" ? tile_rt::DType::BF16
                        : kind == "f32"  ? tile_rt::DType::F32
                                         : tile_rt::DType::F64;
  unsigned width = kind == "f64" ? 8 : kind == "f32" ? 4 : 2;
  const double scale = std::ldexp(1.0, segment.at("shift").get<int>());
  const uint64_t seed = segment.at("seed");
  for (uint64_t i = 0, n = count(segment, "count"); i < n; ++i) {
    double number = double(splitmix64(seed, i) & ((uint64_t(1) << bits) - 1)) -
                    double(uint64_t(1) << (bits - 1));
    append(data, tile_rt::encodeFloat(type, number * scale), width);
  }
}

void appendIntegers(std::vector<uint8_t> &data, const Json &segment) {
  const unsigned width = segment.at("width");
  if (segment.contains("random")) {
    const uint64_t seed = segment.at("seed"), keep = segment.value("and", ~uint64_t(0)),
                   force = segment.value("or", uint64_t(0));
    for (uint64_t i = 0, n = count(segment, "random"); i < n; ++i) {
      append(data, (splitmix64(seed, i) & keep) | force, width);
    }
  } else if (segment.contains("list")) {
    const auto items = segment.at("list").get<std::vector<uint64_t>>();
    const uint64_t repeat = std::max<uint64_t>(1, segment.value("repeat", uint64_t(1)));
    if (items.empty()) {
      throw std::runtime_error("an empty list");
    }
    for (uint64_t i = 0, n = count(segment, "count"); i < n; ++i) {
      append(data, items[i / repeat % items.size()], width);
    }
  } else {
    const uint64_t from = segment.at("from"), step = segment.at("step");
    for (uint64_t i = 0, n = count(segment, "steps"); i < n; ++i) {
      append(data, from + i * step, width);
    }
  }
}

} // namespace

uint64_t splitmix64(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0x100000001B3 + (index + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

std::vector<uint8_t> inputBytes(const Json &segments) {
  std::vector<uint8_t> data;
  for (const Json &segment : segments) {
    data.resize((data.size() + kAlign - 1) / kAlign * kAlign);
    if (segment.contains("real")) {
      appendReals(data, segment);
    } else {
      appendIntegers(data, segment);
    }
  }
  return data;
}

} // namespace tile_ptx
