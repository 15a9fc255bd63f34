#include "tools/tile-run/Baseline.h"

#include "runtime/harness/Call.h"

#include <cctype>

using namespace tile_rt;

namespace tile_run {

namespace {
[[noreturn]] void fail(const std::string &text, const std::string &why) {
  throw InputError("`--baseline " + text + "`: " + why);
}

std::string withoutBlanks(const std::string &text) {
  std::string result;
  for (char c : text) {
    if (!std::isspace(static_cast<unsigned char>(c))) {
      result += c;
    }
  }
  return result;
}

/// `transpose_b=true`, without blanks.
void readWord(BaselineSpec &spec, const std::string &text, const std::string &word) {
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
  if ((name == "transpose_a" || name == "transpose_b") && (value == "true" || value == "false")) {
    (name == "transpose_a" ? spec.transposeA : spec.transposeB) = value == "true";
  } else if (name == "precision" && (value == "tf32" || value == "full")) {
    spec.tf32 = value == "tf32";
  } else {
    fail(text, "`" + word +
                   "` is none of transpose_a, transpose_b = true or false, precision = "
                   "tf32 or full");
  }
}
} // namespace

BaselineSpec parseBaseline(const std::string &text) {
  const std::string plain = withoutBlanks(text);
  const size_t open = plain.find('(');
  if (plain.substr(0, open) != "cublas" || plain.back() != ')') {
    fail(text, "it is cublas(A, B, C), with the names of tensors");
  }
  BaselineSpec spec;
  std::vector<std::string> names;
  for (size_t begin = open + 1; begin < plain.size();) {
    const size_t end = std::min(plain.find(',', begin), plain.size() - 1);
    const std::string word = plain.substr(begin, end - begin);
    begin = end + 1;
    if (word.find('=') != std::string::npos) {
      readWord(spec, text, word);
    } else {
      names.push_back(word);
    }
  }
  if (names.size() != 3) {
    fail(text, "it names three tensors: two operands and the result");
  }
  spec.a = names[0];
  spec.b = names[1];
  spec.c = names[2];
  return spec;
}

} // namespace tile_run
