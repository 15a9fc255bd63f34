#include "tools/ptx-run/Comparison.h"

#include "runtime/support/Floats.h"

#include <bit>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace tile_ptx {

namespace {

struct Rule {
  enum class Kind : uint8_t { Exact, Ulp, Close } kind = Kind::Exact;
  int64_t ulp = 0;
  double relative = 0, absolute = 0;
  tile_rt::DType type = tile_rt::DType::F32;
  unsigned width = 4; ///< bytes
};

void readType(Rule &rule, const std::string &name) {
  if (name == "f16") {
    rule.type = tile_rt::DType::F16, rule.width = 2;
  } else if (name == "bf16") {
    rule.type = tile_rt::DType::BF16, rule.width = 2;
  } else if (name == "f32") {
    rule.type = tile_rt::DType::F32, rule.width = 4;
  } else if (name == "f64") {
    rule.type = tile_rt::DType::F64, rule.width = 8;
  } else {
    throw std::runtime_error("comparison of unknown type " + name);
  }
}

Rule parse(const std::string &text) {
  std::istringstream words(text);
  std::string kind, type;
  Rule rule;
  words >> kind;
  if (kind == "exact") {
    rule.width = 1;
    return rule;
  }
  if (kind == "ulp") {
    rule.kind = Rule::Kind::Ulp;
    words >> rule.ulp >> type;
  } else if (kind == "close") {
    rule.kind = Rule::Kind::Close;
    words >> rule.relative >> rule.absolute >> type;
  } else {
    throw std::runtime_error("unknown comparison " + text);
  }
  readType(rule, type);
  return rule;
}

uint64_t element(std::span<const uint8_t> data, size_t index, unsigned width) {
  uint64_t bits = 0;
  for (unsigned i = 0; i < width; ++i) {
    bits |= uint64_t(data[index * width + i]) << (8 * i);
  }
  return bits;
}

/// Numbers of a float type in order, neighbours one apart; the two zeros are equal.
int64_t place(uint64_t bits, unsigned width) {
  uint64_t sign = uint64_t(1) << (8 * width - 1);
  return bits & sign ? -int64_t(bits & (sign - 1)) : int64_t(bits);
}

/// How far apart: 0 is within the rule.
double excess(const Rule &rule, uint64_t got, uint64_t want) {
  if (got == want) {
    return 0;
  }
  if (rule.kind == Rule::Kind::Exact) {
    return 1;
  }
  double x = tile_rt::decodeFloat(rule.type, got), y = tile_rt::decodeFloat(rule.type, want);
  if (std::isnan(x) || std::isnan(y)) {
    return std::isnan(x) && std::isnan(y) ? 0 : INFINITY;
  }
  if (rule.kind == Rule::Kind::Ulp) {
    double distance = std::abs(double(place(got, rule.width)) - double(place(want, rule.width)));
    // A rule of no distance still tells the two zeros apart.
    return rule.ulp == 0 || distance > double(rule.ulp) ? std::max(distance, 0.5) : 0;
  }
  double distance = std::abs(x - y);
  bool near = distance <= std::max(rule.relative * std::abs(y), rule.absolute);
  return near ? 0 : distance;
}

std::string shown(const Rule &rule, uint64_t bits) {
  std::ostringstream text;
  text << "0x" << std::hex << bits;
  if (rule.kind != Rule::Kind::Exact) {
    text << " (" << std::dec << tile_rt::decodeFloat(rule.type, bits) << ")";
  }
  return text.str();
}

} // namespace

std::string compare(std::span<const uint8_t> got, std::span<const uint8_t> want,
                    const std::string &text) {
  Rule rule = parse(text);
  std::ostringstream message;
  if (got.size() != want.size()) {
    message << got.size() << " bytes instead of " << want.size();
    return message.str();
  }
  size_t wrong = 0, first = 0, count = want.size() / rule.width;
  double worst = 0;
  for (size_t i = 0; i < count; ++i) {
    double distance = excess(rule, element(got, i, rule.width), element(want, i, rule.width));
    if (distance > 0) {
      first = wrong ? first : i;
      worst = std::max(worst, distance);
      ++wrong;
    }
  }
  if (!wrong) {
    return "";
  }
  message << wrong << " of " << count << " elements differ (" << text << "; largest distance "
          << worst << "), first at byte " << first * rule.width << ": "
          << shown(rule, element(got, first, rule.width)) << " instead of "
          << shown(rule, element(want, first, rule.width));
  return message.str();
}

} // namespace tile_ptx
