#include "Generate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <thread>
#include <vector>

namespace tile_rt {

namespace {
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// In (0, 1], 53 bits.
double unit(uint64_t bits) { return (static_cast<double>(bits >> 11) + 1) * 0x1p-53; }

std::optional<double> number(std::string text) {
  size_t begin = text.find_first_not_of(' ');
  size_t end = text.find_last_not_of(' ');
  if (begin == std::string::npos) {
    return std::nullopt;
  }
  text = text.substr(begin, end - begin + 1);
  char *rest = nullptr;
  double value = std::strtod(text.c_str(), &rest);
  return *rest ? std::nullopt : std::optional<double>(value);
}
} // namespace

std::optional<Distribution> parseDistribution(std::string_view text) {
  std::string name(text.substr(0, text.find('(')));
  std::vector<double> numbers;
  if (name.size() < text.size()) {
    if (text.back() != ')') {
      return std::nullopt;
    }
    std::string inside(text.substr(name.size() + 1, text.size() - name.size() - 2));
    size_t comma = inside.find(',');
    if (comma == std::string::npos) {
      return std::nullopt;
    }
    std::optional<double> a = number(inside.substr(0, comma)), b = number(inside.substr(comma + 1));
    if (!a || !b) {
      return std::nullopt;
    }
    numbers = {*a, *b};
  }
  Distribution result;
  if (name == "normal") {
    result = {Distribution::Kind::Normal, 0, 1};
  } else if (name == "uniform") {
    result = {Distribution::Kind::Uniform, 0, 1};
  } else if (name == "integers" && !numbers.empty()) {
    result.kind = Distribution::Kind::Integers;
  } else if (name == "steps" && !numbers.empty()) {
    result.kind = Distribution::Kind::Steps;
  } else if (std::optional<double> value = number(name); value && numbers.empty()) {
    return Distribution{Distribution::Kind::Constant, *value, *value};
  } else {
    return std::nullopt;
  }
  if (!numbers.empty()) {
    result.a = numbers[0];
    result.b = numbers[1];
  }
  bool ordered = result.kind == Distribution::Kind::Normal  ? result.b >= 0
                 : result.kind == Distribution::Kind::Steps ? true
                                                            : result.a <= result.b;
  return ordered ? std::optional<Distribution>(result) : std::nullopt;
}

uint64_t randomBits(uint64_t seed, uint64_t stream, uint64_t counter) {
  return mix(counter * 0x9e3779b97f4a7c15u +
             mix(stream * 0xd1342543de82ef95u + mix(seed + 0x9e3779b97f4a7c15u)));
}

bool isExact(const Distribution &distribution, DType dtype, int64_t count) {
  if (dtypeKind(dtype) != ValueKind::Int || distribution.kind == Distribution::Kind::Normal ||
      distribution.kind == Distribution::Kind::Uniform) {
    return true;
  }
  constexpr double most = 0x1p53;
  const double last = distribution.kind != Distribution::Kind::Steps
                          ? distribution.b
                          : distribution.a + distribution.b * static_cast<double>(count - 1);
  return count == 0 || (std::abs(distribution.a) < most && std::abs(last) < most);
}

double draw(const Distribution &distribution, uint64_t seed, uint64_t stream, uint64_t counter) {
  uint64_t bits = randomBits(seed, stream, 2 * counter);
  switch (distribution.kind) {
  case Distribution::Kind::Constant:
    return distribution.a;
  case Distribution::Kind::Uniform:
    return distribution.a + (distribution.b - distribution.a) * (1 - unit(bits));
  case Distribution::Kind::Steps:
    return distribution.a + distribution.b * static_cast<double>(counter);
  case Distribution::Kind::Integers:
    return std::floor(distribution.a) +
           std::floor((std::floor(distribution.b) - std::floor(distribution.a) + 1) *
                      (1 - unit(bits)));
  case Distribution::Kind::Normal:
    break;
  }
  // Box and Muller's method.
  double angle = 2 * std::numbers::pi * unit(randomBits(seed, stream, 2 * counter + 1));
  return distribution.a + distribution.b * std::sqrt(-2 * std::log(unit(bits))) * std::cos(angle);
}

void generate(Array &array, const Distribution &distribution, uint64_t seed, uint64_t stream) {
  int64_t size = array.size();
  auto fill = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      array.setValue(i, draw(distribution, seed, stream, static_cast<uint64_t>(i)));
    }
  };
  // Parts begin at even elements, so that no byte of a packed type is shared.
  int64_t parts =
      std::min<int64_t>(std::max(1u, std::thread::hardware_concurrency()), size / 65536 + 1);
  int64_t step = (size / parts + 2) / 2 * 2;
  std::vector<std::thread> threads;
  for (int64_t begin = step; begin < size; begin += step) {
    threads.emplace_back(fill, begin, std::min(begin + step, size));
  }
  fill(0, std::min(step, size));
  for (std::thread &thread : threads) {
    thread.join();
  }
}

uint64_t streamOf(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
  for (char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

} // namespace tile_rt
