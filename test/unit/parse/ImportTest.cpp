#include "compiler/parse/ImportLoader.h"
#include "test/unit/parse/Parsed.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fstream>
#include <gtest/gtest.h>

using namespace tilec;

namespace {

class Import : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tilec-import", folder));
  }
  void TearDown() override { (void)llvm::sys::fs::remove_directories(folder); }

  std::string path(const llvm::Twine &name) {
    llvm::SmallString<128> full(folder);
    llvm::sys::path::append(full, name);
    return std::string(full);
  }
  void write(const llvm::Twine &name, llvm::StringRef text) {
    std::string full = path(name);
    ASSERT_FALSE(llvm::sys::fs::create_directories(llvm::sys::path::parent_path(full)));
    std::ofstream(full) << text.str();
  }

  llvm::SmallString<128> folder;
  SourceManager sources;
  DiagnosticEngine diagnostics{sources.getMgr()};
};

TEST_F(Import, BesideTheFileThenAlongTheFolders) {
  write("main.tile", "import \"a.tile\"; import \"b.tile\"; import \"sub/c.tile\";");
  write("a.tile", "const a = 1;");
  write("inc/a.tile", "const other = 1;");
  write("inc/b.tile", "const b = 1;");
  write("sub/c.tile", "import \"d.tile\";"); // beside c, not beside main
  write("sub/d.tile", "const d = 1;");
  ImportLoader loader(sources, diagnostics, {path("inc")});
  const LoadedFile *main = loader.load(path("main.tile"));
  EXPECT_FALSE(diagnostics.hasErrors());
  ASSERT_EQ(main->imports.size(), 3u);
  EXPECT_EQ(main->imports[0].file->ast->name, path("a.tile"));
  EXPECT_EQ(main->imports[1].file->ast->name, path("inc/b.tile"));
  ASSERT_EQ(main->imports[2].file->imports.size(), 1u);
  ASSERT_EQ(loader.files().size(), 5u);
  EXPECT_EQ(loader.files().back(), main);
}

TEST_F(Import, OnceEach) {
  write("main.tile", "import \"a.tile\"; import \"b.tile\"; import \"./b.tile\";");
  write("a.tile", "import \"b.tile\";");
  write("b.tile", "const b = ;");
  ImportLoader loader(sources, diagnostics, {});
  const LoadedFile *main = loader.load(path("main.tile"));
  ASSERT_EQ(main->imports.size(), 3u);
  EXPECT_EQ(main->imports[1].file, main->imports[2].file);
  EXPECT_EQ(main->imports[0].file->imports[0].file, main->imports[1].file);
  EXPECT_EQ(loader.files().size(), 3u);
  EXPECT_EQ(diagnostics.numErrors(), 1u);
}

TEST_F(Import, NotFound) {
  write("main.tile", "import \"no.tile\"; import \"\"; import \".\"; const a = 1;");
  ImportLoader loader(sources, diagnostics, {path("inc")});
  const LoadedFile *main = loader.load(path("main.tile"));
  EXPECT_EQ(main->ast->items.size(), 4u);
  ASSERT_EQ(diagnostics.numErrors(), 3u);
  for (const Diagnostic *diagnostic : diagnostics.sorted()) {
    EXPECT_EQ(diag::info(diagnostic->id).name, "import-not-found");
  }
}

TEST_F(Import, Cycles) {
  write("a.tile", "import \"b.tile\";");
  write("b.tile", "import \"c.tile\";");
  write("c.tile", "import \"b.tile\"; import \"c.tile\";");
  ImportLoader loader(sources, diagnostics, {});
  ASSERT_NE(loader.load(path("a.tile")), nullptr);
  std::vector<const Diagnostic *> reported = diagnostics.sorted();
  ASSERT_EQ(reported.size(), 2u);
  EXPECT_EQ(diag::info(reported[0]->id).name, "import-cycle");
  EXPECT_EQ(reported[0]->message, "import `b.tile` leads back to this file: `" + path("b.tile") +
                                      "` imports `" + path("c.tile") + "` imports `" +
                                      path("b.tile") + "`");
  EXPECT_EQ(diag::info(reported[1]->id).name, "import-cycle");
}

TEST_F(Import, TextsOfOneNameAreDifferentFiles) {
  ImportLoader loader(sources, diagnostics, {});
  const LoadedFile *first = loader.loadText("<command line>", "const a = 1;");
  const LoadedFile *second = loader.loadText("<command line>", "kernel k() { }");
  EXPECT_TRUE(llvm::isa<ast::ConstItem>(first->ast->items[0]));
  EXPECT_TRUE(llvm::isa<ast::KernelItem>(second->ast->items[0]));
}

TEST_F(Import, UnreadableMainFile) {
  ImportLoader loader(sources, diagnostics, {});
  EXPECT_EQ(loader.load(path("no.tile")), nullptr);
  EXPECT_EQ(loader.load(folder), nullptr); // a folder
  ASSERT_EQ(diagnostics.numErrors(), 2u);
  EXPECT_EQ(diag::info(diagnostics.sorted()[0]->id).name, "file");
}

} // namespace
