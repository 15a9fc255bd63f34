// tilec, the compiler of tile kernels: see compiler/driver.
#include "compiler/driver/RunEnd.h"
#include "tools/tilec/Driver.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

int main(int argc, char **argv) {
  void *address = reinterpret_cast<void *>(&tilec::parseOptions);
  std::string program = llvm::sys::fs::getMainExecutable(argv[0], address);
  tilec::ParsedOptions parsed =
      tilec::parseOptions(argc, argv, llvm::sys::path::parent_path(program).str());
  if (!parsed.options) {
    return parsed.exitCode;
  }
  const tilec::ExitCode code = tilec::endRun(*parsed.options, tilec::runDriver(*parsed.options));
  llvm::outs().flush();
  llvm::errs().flush();
  // Without destructors of globals: after a crash that was caught they could crash again.
  std::_Exit(code);
}
