// Every kernel of the repository parses, and its print parses to the same tree.
#include "test/unit/parse/Parsed.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace {

std::vector<std::string> kernelFiles() {
  std::vector<std::string> files;
  std::error_code error;
  llvm::sys::fs::recursive_directory_iterator it(TILEC_SOURCE_DIR "/kernels", error), end;
  for (; it != end && !error; it.increment(error)) {
    if (llvm::StringRef(it->path()).ends_with(".tile")) {
      files.push_back(it->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Kernels, AllParseAndRoundTrip) {
  std::vector<std::string> files = kernelFiles();
  EXPECT_GE(files.size(), 12u);
  for (const std::string &file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    ASSERT_TRUE(buffer) << file;
    Parsed parsed((*buffer)->getBuffer());
    EXPECT_EQ(parsed.messages(), "") << file;
    EXPECT_FALSE(parsed.file->items.empty()) << file;
    Parsed again(parsed.print());
    EXPECT_EQ(again.messages(), "") << file;
    EXPECT_EQ(again.print(/*allParens=*/true), parsed.print(/*allParens=*/true)) << file;
  }
}

} // namespace
