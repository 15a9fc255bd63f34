// The texts of a call's options: NAME=VALUE, and scalars.
#include "../support/Floats.h"
#include "Call.h"
#include "Generate.h"

#include <charconv>

namespace tile_rt {

/// An integer in C's notation, decimal or hexadecimal, from -2^63 to 2^64 - 1.
static std::optional<__int128> parseInteger(std::string_view text) {
  bool negative = text.starts_with('-');
  text.remove_prefix(negative ? 1 : 0);
  int base = text.starts_with("0x") || text.starts_with("0X") ? 16 : 10;
  text.remove_prefix(base == 16 ? 2 : 0);
  uint64_t magnitude = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (error != std::errc() || end != text.data() + text.size() ||
      (negative && magnitude > uint64_t{1} << 63)) {
    return std::nullopt;
  }
  return negative ? -static_cast<__int128>(magnitude) : static_cast<__int128>(magnitude);
}

/// NAME and VALUE.
static std::pair<std::string, std::string> split(const std::string &text, const char *option) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw InputError("`" + std::string(option) + " " + text + "` is not NAME=VALUE");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void readCallTexts(CallOptions &options, const CallTexts &texts) {
  auto numbers = [](std::map<std::string, int64_t> &map, const std::vector<std::string> &list,
                    const char *option) {
    for (const std::string &text : list) {
      auto [name, value] = split(text, option);
      std::optional<__int128> number = parseInteger(value);
      if (!number || *number > INT64_MAX) {
        throw InputError("`" + std::string(option) + " " + text + "` is not an integer");
      }
      map[name] = static_cast<int64_t>(*number);
    }
  };
  numbers(options.dims, texts.dims, "--dim");
  for (const std::string &text : texts.pitches) {
    auto [name, value] = split(text, "--pitch");
    std::map<std::string, int64_t> one;
    for (size_t begin = 0; begin <= value.size();) {
      size_t end = std::min(value.find(',', begin), value.size());
      numbers(one, {name + "=" + value.substr(begin, end - begin)}, "--pitch");
      options.pitches[name].push_back(one[name]);
      begin = end + 1;
    }
  }
  auto fill = [](std::map<std::string, std::string> &map, const std::vector<std::string> &list,
                 const char *option) {
    for (const std::string &text : list) {
      auto [name, value] = split(text, option);
      map[name] = value;
    }
  };
  fill(options.args, texts.args, "--arg");
  fill(options.outs, texts.outs, "--out");
  fill(options.expects, texts.expects, "--expect");
}

Array readScalar(const std::string &argument, DType type, const std::string &text) {
  auto refuse = [&](const std::string &why) {
    throw InputError("scalar argument `" + argument + "` " + why + ": --arg " + argument + "=...");
  };
  Array value(type, {});
  if (dtypeKind(type) == ValueKind::Float) {
    std::optional<Distribution> number = parseDistribution(text);
    if (!number || number->kind != Distribution::Kind::Constant) {
      refuse("needs a number");
    }
    value.setValue(0, number->a);
    return value;
  }
  if (type == DType::Bool && (text == "true" || text == "false")) {
    value.setBits(0, text == "true");
    return value;
  }
  std::optional<__int128> integer = parseInteger(text);
  if (!integer) {
    refuse(text.empty() ? "needs a number"
                        : "is " + std::string(dtypeName(type)) + ", not `" + text + "`");
  }
  if (*integer < minInt(type) || *integer > maxInt(type)) {
    refuse("cannot be " + text + ", which is outside " + dtypeName(type));
  }
  value.setBits(0, static_cast<uint64_t>(*integer));
  return value;
}

} // namespace tile_rt
