// The table of diagnostics, the engine and the printers.
#include "test/unit/parse/Parsed.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>
#include <map>

using namespace tilec;
using diag::Id;

namespace {

TEST(DiagnosticTable, NamesAndCodesBelongTogether) {
  std::map<std::string, std::string> codes, names;
  for (unsigned i = 0; i != diag::numDiagnostics(); ++i) {
    const diag::Info &entry = diag::info(static_cast<Id>(i));
    EXPECT_EQ(codes.try_emplace(entry.name.str(), entry.code.str()).first->second, entry.code.str())
        << entry.name.str() << " has two codes";
    EXPECT_EQ(names.try_emplace(entry.code.str(), entry.name.str()).first->second, entry.name.str())
        << entry.code.str() << " has two names";
    EXPECT_EQ(entry.code.size(), 5u);
    EXPECT_TRUE(diag::lookupByName(entry.name).has_value());
  }
}

TEST(DiagnosticTable, TextsFollowTheStyle) {
  for (unsigned i = 0; i != diag::numDiagnostics(); ++i) {
    const diag::Info &entry = diag::info(static_cast<Id>(i));
    for (llvm::StringRef text : {llvm::StringRef(entry.text), llvm::StringRef(entry.hint)}) {
      EXPECT_FALSE(text.ends_with(".")) << text.str();
      EXPECT_FALSE(!text.empty() && llvm::isUpper(text.front())) << text.str();
      EXPECT_EQ(text.count('`') % 2, 0u) << text.str();
      EXPECT_FALSE(text.contains("  ")) << text.str();
    }
    EXPECT_FALSE(entry.text.empty());
  }
}

TEST(DiagnosticTable, Formatting) {
  EXPECT_EQ(diag::substitute("a {1} {0} {2} {} {x", {"x", "{0}"}), "a {0} x {2} {} {x");
  EXPECT_EQ(diag::formatDiagnostic(Id::Stages, 0), "`stages` is 0 [stages]");
  std::string text = diag::formatDiagnostic(Id::Undeclared, "x");
  llvm::StringRef message = text;
  EXPECT_EQ(diag::splitName(message), Id::Undeclared);
  EXPECT_EQ(message, "`x` is not declared");
  for (llvm::StringRef other : {"no name", "x [nothing-like-it]", "x]", "[syntax]", ""}) {
    message = other;
    EXPECT_EQ(diag::splitName(message), std::nullopt);
    EXPECT_EQ(message, other);
  }
}

/// A source and an engine over it.
struct Fixture {
  SourceManager sources;
  DiagnosticEngine engine{sources.getMgr()};
  llvm::StringRef text;
  explicit Fixture(llvm::StringRef content) {
    text = sources.text(sources.addText("t.tile", content));
  }
  llvm::SMRange at(llvm::StringRef part) const {
    size_t start = text.find(part);
    return {llvm::SMLoc::getFromPointer(text.data() + start),
            llvm::SMLoc::getFromPointer(text.data() + start + part.size())};
  }
  std::string print() const {
    std::string result;
    llvm::raw_string_ostream os(result);
    for (const Diagnostic *diagnostic : engine.sorted()) {
      printText(*diagnostic, sources.getMgr(), os, false);
    }
    return result;
  }
  /// One line for each diagnostic.
  std::string json() const {
    std::string result;
    llvm::raw_string_ostream os(result);
    for (const Diagnostic *diagnostic : engine.sorted()) {
      printJson(*diagnostic, sources.getMgr(), os);
    }
    return result;
  }
};

TEST(DiagnosticEngine, TextWithNotesAndHint) {
  Fixture f("let value = 1;\nvalue = 2;\n");
  f.engine.report(Id::AssignLet, f.at("value = 2"), "value", "a `let`")
      << note(f.at("value"), "declared here") << note({}, "nowhere");
  EXPECT_EQ(f.print(), "t.tile:2:1: error: `value` cannot be assigned: it is a `let` [assign-let]\n"
                       "value = 2;\n"
                       "^~~~~~~~~\n"
                       "t.tile:1:5: note: declared here\n"
                       "let value = 1;\n"
                       "    ^~~~~\n"
                       "tilec: note: nowhere\n"
                       "help: declare it with `var`\n");
}

TEST(DiagnosticEngine, MarksFitCharactersAndTabs) {
  Fixture f("\t/* \xc3\xa9\xc3\xa9 \x01 */ bad");
  f.engine.report(Id::Undeclared, f.at("bad"), "bad");
  EXPECT_EQ(f.print(), "t.tile:1:15: error: `bad` is not declared [undeclared]\n"
                       " /* \xc3\xa9\xc3\xa9 ? */ bad\n"
                       "            ^~~\n");
}

TEST(DiagnosticEngine, RangesOfSeveralLinesEndWithTheFirst) {
  Fixture f("f(a,\n  b)");
  f.engine.report(Id::Undeclared, f.at("(a,\n  b)"), "x");
  EXPECT_EQ(f.print(), "t.tile:1:2: error: `x` is not declared [undeclared]\nf(a,\n ^~~\n");
}

TEST(DiagnosticEngine, LongLinesAreCut) {
  Fixture f(std::string(5000, 'a') + " bad " + std::string(5000, 'b'));
  f.engine.report(Id::Undeclared, f.at("bad"), "bad");
  EXPECT_LT(f.print().size(), 400u);
  EXPECT_NE(f.print().find(" bad b"), std::string::npos);
}

TEST(DiagnosticEngine, SortedAndWithoutRepetitions) {
  Fixture f("a b c");
  f.engine.report(Id::Undeclared, llvm::SMRange(), "nowhere");
  f.engine.report(Id::Undeclared, f.at("c"), "c");
  f.engine.report(Id::Undeclared, f.at("a"), "a");
  f.engine.report(Id::Undeclared, f.at("c"), "c") << note(f.at("a"), "dropped with it");
  f.engine.report(Id::UndeclaredType, f.at("a"), "a");
  std::string order;
  for (const Diagnostic *diagnostic : f.engine.sorted()) {
    order += diagnostic->message + "; ";
  }
  EXPECT_EQ(order, "`a` is not declared; there is no type `a`; `c` is not declared; `nowhere` is "
                   "not declared; ");
  EXPECT_EQ(f.engine.numErrors(), 4u);
}

TEST(DiagnosticEngine, ContextsBecomeNotes) {
  Fixture f("a b c");
  {
    DiagnosticEngine::Context outer(f.engine, f.at("a"), "outer");
    DiagnosticEngine::Context inner(f.engine, f.at("b"), "inner");
    f.engine.report(Id::Undeclared, f.at("c"), "c");
  }
  f.engine.report(Id::Undeclared, f.at("a"), "a");
  ASSERT_EQ(f.engine.sorted()[1]->notes.size(), 2u);
  EXPECT_EQ(f.engine.sorted()[1]->notes[0].text, "inner");
  EXPECT_EQ(f.engine.sorted()[0]->notes.size(), 0u);
}

TEST(DiagnosticEngine, WarningsAndErrors) {
  Fixture f("a");
  f.engine.report(Id::SpinWait, f.at("a"));
  EXPECT_FALSE(f.engine.hasErrors());
  EXPECT_NE(f.print().find("warning: this loop"), std::string::npos);
  Fixture g("a");
  g.engine.setWarnings({.areErrors = true, .named = {}});
  g.engine.report(Id::SpinWait, g.at("a"));
  EXPECT_TRUE(g.engine.hasErrors());
  EXPECT_NE(g.print().find("error: this loop"), std::string::npos);
}

TEST(DiagnosticEngine, Limit) {
  Fixture f("a");
  f.engine.setErrorLimit(2);
  for (int i = 0; i < 5; ++i) {
    f.engine.report(Id::Undeclared, f.at("a"), std::to_string(i));
    EXPECT_EQ(f.engine.limitReached(), i >= 1);
  }
  EXPECT_EQ(f.engine.sorted().size(), 3u);
  EXPECT_EQ(f.engine.sorted()[2]->message, "more than 2 errors, stopping here");
}

TEST(DiagnosticEngine, Json) {
  Fixture f("\xff let x\n= 1;");
  f.engine.report(Id::AssignLet, f.at("let x\n="), "\xff", "odd \"text\"")
      << note(f.at("1"), "here");
  f.engine.report(Id::Usage, llvm::SMRange(), "no input");
  std::string text = f.json();
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).trim().split(lines, '\n');
  ASSERT_EQ(lines.size(), 2u);
  auto first = llvm::json::parse(lines[0]);
  ASSERT_TRUE(bool(first));
  const llvm::json::Object &object = *first->getAsObject();
  EXPECT_EQ(object.getString("severity"), "error");
  EXPECT_EQ(object.getString("name"), "assign-let");
  EXPECT_EQ(object.getString("code"), diag::info(Id::AssignLet).code);
  EXPECT_EQ(object.getString("file"), "t.tile");
  EXPECT_EQ(object.getInteger("line"), 1);
  EXPECT_EQ(object.getInteger("column"), 3);
  EXPECT_EQ(object.getInteger("endLine"), 2);
  EXPECT_EQ(object.getInteger("endColumn"), 2);
  EXPECT_EQ(object.getString("hint"), "declare it with `var`");
  ASSERT_EQ(object.getArray("notes")->size(), 1u);
  EXPECT_EQ((*object.getArray("notes"))[0].getAsObject()->getInteger("column"), 3);
  auto second = llvm::json::parse(lines[1]);
  ASSERT_TRUE(bool(second));
  EXPECT_EQ(second->getAsObject()->get("file"), nullptr);
}

TEST(DiagnosticEngine, Locate) {
  Fixture f("a\nbc");
  EXPECT_EQ(f.engine.locate("t.tile", 2, 2).getPointer(), f.text.data() + 3);
  EXPECT_FALSE(f.engine.locate("other", 1, 1).isValid());
  EXPECT_FALSE(f.engine.locate("t.tile", 9, 1).isValid());
}

} // namespace
