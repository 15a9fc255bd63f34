// Trees that are too deep, and texts that are very long: an error in little time, never a crash.
#include "test/unit/parse/Parsed.h"

#include <chrono>
#include <gtest/gtest.h>

namespace {

std::string repeat(llvm::StringRef text, unsigned count) {
  std::string result;
  while (count-- != 0) {
    result += text;
  }
  return result;
}

/// A way to make trees deep: `depth` times `open`, then `core`, then as often `close`.
struct Shape {
  const char *name;
  const char *before, *open, *core, *close, *after;
  std::string make(unsigned depth) const {
    return before + repeat(open, depth) + core + repeat(close, depth) + after;
  }
};

const Shape shapes[] = {
    {"brackets", "const x = ", "(", "1", ")", ";"},
    {"lists", "const x = ", "[", "1", "]", ";"},
    {"unary", "const x = ", "-", "1", "", ";"},
    {"left chain", "const x = ", "1 + ", "1", "", ";"},
    {"mixed chain", "const x = ", "1 + 2 * ", "1", "", ";"},
    {"right operands", "const x = ", "1 - (", "1", ")", ";"},
    {"conditionals", "const x = ", "a ? b : ", "1", "", ";"},
    {"inner conditionals", "const x = ", "a ? ", "1", " : c", ";"},
    {"calls", "const x = ", "f(", "1", ")", ";"},
    {"subscripts", "const x = ", "a[", "1", "]", ";"},
    {"postfix chain", "const x = a", "[1]", "", "", ";"},
    {"vec types", "const x: ", "vec<", "f32", ">[2]", " = 1;"},
    {"blocks", "kernel k() { ", "if a { ", "", " }", " }"},
    {"loops", "kernel k() { ", "for i in 0..1 { ", "", " }", " }"},
    {"else if", "kernel k() { if a { }", " else if a { }", "", "", " }"},
    {"annotations", "@a", "(f", "", ")", " kernel k() { }"},
};

TEST(Depth, DeepTreesAreRefusedOnce) {
  for (const Shape &shape : shapes) {
    Parsed parsed(shape.make(1100));
    EXPECT_EQ(parsed.diagnostics.numErrors(), 1u) << shape.name << parsed.summary();
    EXPECT_NE(parsed.summary().find("nesting"), std::string::npos) << shape.name;
  }
}

TEST(Depth, LessDeepTreesParseAndPrint) {
  for (const Shape &shape : shapes) {
    if (llvm::StringRef(shape.name) == "lists") {
      continue;
    }
    unsigned depth = llvm::StringRef(shape.name) == "right operands" ? 480 : 980;
    if (llvm::StringRef(shape.name) == "annotations") {
      continue; // `(f(f(f` needs the names in front
    }
    Parsed parsed(shape.make(depth));
    EXPECT_EQ(parsed.messages(), "") << shape.name;
    Parsed again(parsed.print());
    EXPECT_EQ(again.messages(), "") << shape.name;
    EXPECT_EQ(again.print(), parsed.print()) << shape.name;
  }
}

TEST(Depth, VeryDeepTreesDoNotCrash) {
  for (const Shape &shape : shapes) {
    Parsed parsed(shape.make(1000 * 1000));
    EXPECT_TRUE(parsed.diagnostics.hasErrors()) << shape.name;
  }
}

TEST(Depth, TenMegabytesAreQuick) {
  constexpr unsigned size = 10 * 1000 * 1000;
  std::string garbage(size, '\0');
  uint64_t state = 1;
  for (char &c : garbage) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(state >> 56);
  }
  const std::string texts[] = {garbage,
                               std::string(size, '('),
                               std::string(size, '{'),
                               std::string(size, '}'),
                               std::string(size, '-'),
                               std::string(size, '9'),
                               std::string(size, 'x'),
                               std::string(size, '\n'),
                               std::string(size, '@'),
                               std::string(size, '\xff'),
                               std::string(size, '"'),
                               "/*" + std::string(size, '*'),
                               "const x = 0." + std::string(size, '7') + ";",
                               "const x = \"" + std::string(size, 'a') + "\";",
                               "kernel k() {" + repeat("x = 1;", size / 6),
                               repeat("kernel k() { ", size / 13),
                               "const x = f(" + repeat("1, ", size / 3)};
  for (const std::string &text : texts) {
    auto start = std::chrono::steady_clock::now();
    Parsed parsed(text);
    EXPECT_LE(parsed.diagnostics.diagnostics().size(), 21u);
    EXPECT_LT(parsed.messages().size(), 20000u);
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    EXPECT_LT(time.count(), 10.0) << text.substr(0, 20);
  }
}

} // namespace
