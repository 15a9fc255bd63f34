// What is wrong with PTX text is said with its line, and no text takes long or much memory.
#include "Ptx.h"

#include <algorithm>

namespace tile_emu::ptx {
namespace {

struct Case {
  const char *text, *words;
  uint32_t line = 1; ///< within the text
};

TEST(PtxErrors, Tokens) {
  const Case cases[] = {
      {"/* without end", "comment without end"},
      {".file 1 \"name", "string without end"},
      {".file 1 \"name\n\"", "string without end"},
      {"\n#pragma", "unexpected character '#'", 2},
      {"\x80", "unexpected byte 128"},
      {"i 0x;", "number without digits"},
      {"i 0b2;", "number without digits"},
      {"i 089;", "malformed number"},
      {"i 12ab;", "malformed number"},
      {"i 1.5x;", "malformed number"},
      {"i 0f3F80;", "has 8 digits"},
      {"i 0d3FF000000000000000;", "has 16 digits"},
      {"i 1e999;", "malformed number"},
      {"i 18446744073709551616;", "more than 64 bits"},
  };
  for (const Case &c : cases) {
    expectError(c.text, c.line, c.words);
  }
}

TEST(PtxErrors, Modules) {
  const Case cases[] = {
      {"ret;", "expected a directive, found 'ret'"},
      {".frobnicate 1", "found '.frobnicate'"},
      {".address_size 32", "64 bits"},
      {".version new", "expected a version, found 'new'"},
      {".section .debug_info {\n{ .b8 1 }", "without '}'", 2},
      {".section .debug_info ;", "expected '{'"},
      {".pragma 1;", "text of a pragma"},
      {".local .b32 x;", "found '.local'"},
      {".global .b32 x", "expected ';'"},
      {".global .b32 x;\n.global .b32 x;", "'x' is declared twice", 2},
      {".global .b32 x[3][];", "only the first dimension"},
      {".global .b32 x[];", "has no size"},
      {".global .b32 x[0];", "out of range"},
      {".global .b32 x[-1];", "out of range"},
      {".global .b32 x[1.5];", "integer"},
      {".global .b64 x[268435456];", "too large"},
      {".shared .b8 x[2000000];", "too large"},
      {".shared .b8 x[1000000];\n.shared .b8 y[1000000];", "in one state space", 2},
      {".global .b8 x[2][2][2][2][2][2][2][2][2];", "at most 8 dimensions"},
      {".global .align 3 .b8 x;", "power of two"},
      {".global .pred x;", "not supported"},
      {".global .texref x;", "not supported"},
      {".global .attribute .b8 x;", "expected '('"},
      {".shared .b8 x = 1;", "cannot have a value"},
      {".extern .global .b8 x = 1;", "cannot have a value"},
      {".global .b8 y;\n.global .b64 x = y;", "addresses as values", 2},
      {".global .b64 x = generic(y);", "addresses as values"},
      {".global .b8 x[2] = 1;", "expected '{'"},
      {".global .b8 x[2] = {1, 2, 3};", "more values than elements"},
      {".global .b8 x[2] = {{1}};", "more braces than dimensions"},
      {".global .b8 x[2] = {1 2};", "expected ','"},
      {".global .b8 x = 1.5;", "floating-point value"},
      {".global .f32 x = 1;", "an integer as value"},
      {".entry k(.reg .b32 x) {}", "expected '.param'"},
      {".entry k(.param .b32 x .param .b32 y) {}", "expected ','"},
      {".entry k(.param .b32 x, .param .b32 x) {}", "declared twice"},
      {".entry k(.param .u64 .ptr .nowhere x) {}", "state space"},
      {".entry k() .fast {}", "directive of functions"},
      {".entry k() .reqntid {}", "number of threads"},
      {".entry k() {}\n.entry k() {}", "'k' is declared twice", 2},
      {".global .b32 k;\n.entry k() {}", "'k' is declared twice", 2},
      {".entry k() {}\n.global .b32 k;", "'k' is declared twice", 2},
      {".entry k() ret;", "'{'"},
  };
  for (const Case &c : cases) {
    expectError(kHeader + std::string(c.text), c.line + 3, c.words);
  }
  expectError(".target sm_90a", 1, "no .version");
  expectError(".version 9.0", 1, "no .target");
  expectError("", 1, "no .version");
}

TEST(PtxErrors, Bodies) {
  const Case cases[] = {
      {"ret", "expected an operand, found '}'", 2},
      {"ret;\n+;", "expected an instruction", 2},
      {".entry j() {}", "directive that the body of a function can have"},
      {".reg .b33 x;", "no type '.b33'"},
      {".reg .v2 .b32 x;", "vector registers"},
      {".reg .b32 x<4;", "expected '>'"},
      {".reg .b32 x;\n.reg .b64 x;", "'x' is declared twice", 2},
      {".reg .b32 x<3>;\n.reg .b64 x<4>;", "'x' is declared twice", 2},
      {".reg .b32 x; .shared .b32 x;", "'x' is declared twice"},
      {"mov.b32 %r1, 0;", "'%r1' is neither declared nor a special register"},
      {".reg .b32 %r<3>;\nmov.b32 %r3, 0;", "'%r3' is neither", 2},
      {".reg .b32 %r<30>; mov.b32 %r03, 0;", "'%r03' is neither"},
      {"mov.b32 x, 0;", "'x' is not declared"},
      {"{ .reg .b32 x; } mov.b32 x, 0;", "'x' is not declared"},
      {"i %tid;", "component of a special register"},
      {"i %tid.w;", "components x, y and z"},
      {"i %envreg32;", "'%envreg32' is neither"},
      {"i %pm8;", "'%pm8' is neither"},
      {".reg .b32 r; @r ret;", "'r' is no predicate register"},
      {"@p ret;", "'p' is no predicate register"},
      {"@ ret;", "'ret' is no predicate register"},
      {"@; ret;", "expected a predicate"},
      {"bra L;\nL: { bra M; { M: } }", "no label 'M'", 2},
      {"L: L:", "label 'L' stands twice"},
      {".reg .b32 r; brx.idx r, t;", "no list of branch targets 't'"},
      {"t: .branchtargets L;", "no label 'L'"},
      {"t: .branchtargets;", "expected a label"},
      {"i [1.0];", "no address"},
      {"i [%tid.x];", "an address starts with"},
      {".reg .b64 d; i [d;", "expected ']'"},
      {".reg .b64 d; i [d + 1.5];", "an offset is an integer"},
      {".reg .b64 d; i {d;", "expected ','"},
      {".reg .b64 d; i d d;", "expected ','"},
      {"i ,;", "expected an operand, found ','"},
      {"i !%tid.x;", "before predicates only"},
      {".shared .b32 s; .reg .pred p; i p|s;", "a pair consists of registers"},
      {"i {{{{{{1}}}}}};", "nested too deeply"},
      {"i 1 / 0;", "division by zero"},
      {"i 1.0 + 2.0;", "floating-point numbers"},
      {"i (.s32) 1;", ".s64 or .u64"},
      {"i (1;", "expected ')'"},
      {".loc 1 2;", "expected a column"},
      {".loc 1 2 3, somewhere;", "'somewhere' after .loc"},
      {".pragma \"x\"", "expected ';'", 2},
      {".local .b8 x[2000000];", "too large"},
  };
  for (const Case &c : cases) {
    expectError(kHeader + std::string(".entry k() {\n") + c.text + "\n}", c.line + 4, c.words);
  }
  expectError(kHeader + std::string(".entry k() {\nret;\n"), 6, "'}' after the body");
}

TEST(PtxErrors, DepthIsBounded) {
  auto repeat = [](const char *text, size_t count) {
    std::string result;
    for (size_t i = 0; i < count; ++i) {
      result += text;
    }
    return result;
  };
  std::string head = std::string(kHeader) + ".entry k() {\n";
  expectError(head + repeat("{", 100000), 5, "nested too deeply");
  expectError(head + "i " + repeat("(", 100000), 5, "nested too deeply");
  expectError(head + "i " + repeat("-", 100000), 5, "nested too deeply");
  expectError(head + "i " + repeat("1 ? ", 100000), 5, "nested too deeply");
  expectError(head + "i " + repeat("[", 100000), 5, "expected a register");
  expectError(head + "i " + repeat("{", 100000), 5, "nested too deeply");
  expectError(kHeader + std::string(".global .b8 x[2] = ") + repeat("{", 100000), 4, "more braces");
  expectError(kHeader + std::string(".section .x ") + repeat("{", 100000), 4, "without '}'");
}

TEST(PtxErrors, EveryTruncationEnds) {
  std::string text =
      std::string(kHeader) +
      ".file 1 \"a.tile\"\n.global .b32 g[2] = {1, 2};\n.visible .entry k(.param .u64 "
      ".ptr .global .align 16 p) .reqntid 32, 1, 1\n{\n.reg .b64 %rd<4>;\n.loc 1 2 3\n"
      "{ .reg .pred q; @!q ld.global.v2.b32 {%rd1, _}, [%rd2+-8]; }\nL: bra L;\n}\n";
  EXPECT_NO_THROW(parse(text));
  for (size_t length = 0; length < text.size(); ++length) {
    try {
      parse(std::string_view(text).substr(0, length));
    } catch (const SyntaxError &error) {
      EXPECT_LE(error.line, 1 + std::count(text.begin(), text.end(), '\n'));
    }
  }
}

TEST(PtxErrors, RegistersCostOnlyWhenUsed) {
  Function k = parseBody(".reg .b32 %r<4294967295>; mov.b32 %r4294967294, %r0;");
  EXPECT_EQ(k.registers.size(), 2u);
}

} // namespace
} // namespace tile_emu::ptx
