#include "tools/tile-run/Arithmetic.h"

#include "runtime/support/DType.h"

#include <cctype>
#include <cstdlib>

namespace tile_run {

namespace {
class Reader {
public:
  Reader(const std::string &text, const Names &names) : text(text), names(names) {}

  double whole() {
    double value = sum();
    skip();
    if (at != text.size()) {
      fail("unexpected `" + text.substr(at) + "`");
    }
    return value;
  }

private:
  [[noreturn]] void fail(const std::string &what) {
    throw ArithmeticError("in `" + text + "`: " + what);
  }
  void skip() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
    }
  }
  bool take(char c) {
    skip();
    if (at < text.size() && text[at] == c) {
      ++at;
      return true;
    }
    return false;
  }
  std::string name() {
    skip();
    size_t begin = at;
    while (at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_')) {
      ++at;
    }
    return text.substr(begin, at - begin);
  }

  double sum() {
    double value = product();
    while (true) {
      if (take('+')) {
        value += product();
      } else if (take('-')) {
        value -= product();
      } else {
        return value;
      }
    }
  }
  double product() {
    double value = primary();
    while (true) {
      if (take('*')) {
        value *= primary();
      } else if (take('/')) {
        value /= primary();
      } else {
        return value;
      }
    }
  }
  double primary() {
    if (++depth > 200) {
      fail("nested too deeply");
    }
    double value = 0;
    skip();
    if (take('(')) {
      value = sum();
      if (!take(')')) {
        fail("`)` is missing");
      }
    } else if (take('-')) {
      value = -primary();
    } else if (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]))) {
      char *end = nullptr;
      value = std::strtod(text.c_str() + at, &end);
      at = static_cast<size_t>(end - text.c_str());
    } else {
      value = named();
    }
    --depth;
    return value;
  }
  double named() {
    std::string word = name();
    if (word == "bits" && take('(')) {
      std::string type = name();
      if (!take(')')) {
        fail("`)` is missing");
      }
      auto found = names.types.find(type);
      std::optional<tile_rt::DType> dtype =
          tile_rt::dtypeFromName(found == names.types.end() ? type : found->second);
      if (!dtype) {
        fail("`" + type + "` is no type");
      }
      return tile_rt::dtypeBits(*dtype);
    }
    auto found = names.values.find(word);
    if (found == names.values.end()) {
      fail(word.empty() ? "a value is missing" : "`" + word + "` is not known");
    }
    return found->second;
  }

  const std::string &text;
  const Names &names;
  size_t at = 0;
  int depth = 0;
};
} // namespace

double evaluateArithmetic(const std::string &text, const Names &names) {
  return Reader(text, names).whole();
}

std::map<std::string, double> evaluateFormulas(const std::string &text, const Names &names) {
  std::map<std::string, double> results;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(';', begin), text.size());
    std::string formula = text.substr(begin, end - begin);
    begin = end + 1;
    size_t equals = formula.find('=');
    if (formula.find_first_not_of(" \t") == std::string::npos) {
      continue;
    }
    if (equals == std::string::npos) {
      throw ArithmeticError("`" + formula + "` is not of the form name = formula");
    }
    std::string name = formula.substr(0, equals);
    size_t first = name.find_first_not_of(" \t"), last = name.find_last_not_of(" \t");
    name = first == std::string::npos ? "" : name.substr(first, last - first + 1);
    results[name] = evaluateArithmetic(formula.substr(equals + 1), names);
  }
  return results;
}

} // namespace tile_run
