// PTX for the tests of its parser.
#pragma once

#include "runtime/emulator/ptx/Parser.h"

#include <gtest/gtest.h>

namespace tile_emu::ptx {

inline const char *const kHeader = ".version 9.0\n.target sm_90a\n.address_size 64\n";

/// A module of these directives.
inline Module parseText(const std::string &text) { return parse(kHeader + text); }

/// The entry of this body.
inline Function parseBody(const std::string &body) {
  return parseText(".entry k() {\n" + body + "\n}").functions.at(0);
}

inline std::vector<std::string> names(const std::vector<Variable> &variables) {
  std::vector<std::string> result;
  for (const Variable &variable : variables) {
    result.push_back(variable.name);
  }
  return result;
}

/// Expects an error in a line (0: any) with these words.
inline void expectError(const std::string &text, uint32_t line, const std::string &words) {
  try {
    parse(text);
    ADD_FAILURE() << "no error in: " << text;
  } catch (const SyntaxError &error) {
    EXPECT_TRUE(line == 0 || error.line == line) << error.line << ": " << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos)
        << error.what() << "\nof: " << text;
  }
}

} // namespace tile_emu::ptx
