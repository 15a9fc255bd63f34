// The texts of a call's options: NAME=VALUE, and scalars.
#include "../support/Floats.h"
#include "Call.h"
#include "Generate.h"
#include "SameFile.h"

#include <algorithm>
#include <charconv>
#include <set>

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

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// All of an option. Of two with one name only the last would count, without a word.
static NamedTexts splitAll(const std::vector<std::string> &list, const char *option) {
  NamedTexts all;
  std::set<std::string> names;
  for (const std::string &text : list) {
    all.push_back(split(text, option));
    const std::string &name = all.back().first;
    if (!names.insert(name).second) {
      throw InputError("`" + std::string(option) + " " + name + "` is given twice");
    }
  }
  return all;
}

static int64_t readInteger(const std::string &name, const std::string &value, const char *option) {
  std::optional<__int128> number = parseInteger(value);
  if (!number || *number > INT64_MAX) {
    throw InputError("`" + std::string(option) + " " + name + "=" + value + "` is not an integer");
  }
  return static_cast<int64_t>(*number);
}

static std::vector<int64_t> readIntegers(const std::string &name, const std::string &value,
                                         const char *option) {
  std::vector<int64_t> list;
  for (size_t begin = 0; begin <= value.size();) {
    const size_t end = std::min(value.find(',', begin), value.size());
    list.push_back(readInteger(name, value.substr(begin, end - begin), option));
    begin = end + 1;
  }
  return list;
}

/// Of two tensors that are written to one file only the last would be left.
static void checkOutFiles(const std::map<std::string, std::string> &outs) {
  for (auto later = outs.begin(); later != outs.end(); ++later) {
    for (auto out = outs.begin(); out != later; ++out) {
      if (isSameFile(out->second, later->second)) {
        throw InputError("`--out " + later->first + "=" + later->second + "`: `" + out->first +
                         "` is written to this file");
      }
    }
  }
}

void readCallTexts(CallOptions &options, const CallTexts &texts) {
  for (const auto &[name, value] : splitAll(texts.dims, "--dim")) {
    options.dims[name] = readInteger(name, value, "--dim");
  }
  for (const auto &[name, value] : splitAll(texts.pitches, "--pitch")) {
    options.pitches[name] = readIntegers(name, value, "--pitch");
  }
  auto fill = [](std::map<std::string, std::string> &map, const std::vector<std::string> &list,
                 const char *option) {
    for (const auto &[name, value] : splitAll(list, option)) {
      map[name] = value;
    }
  };
  fill(options.args, texts.args, "--arg");
  fill(options.outs, texts.outs, "--out");
  fill(options.expects, texts.expects, "--expect");
  checkOutFiles(options.outs);
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
