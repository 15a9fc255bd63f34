// tilec, the compiler of tile kernels: see compiler/driver.
#include "compiler/driver/RunEnd.h"
#include "runtime/harness/StandardStreams.h"
#include "tools/tilec/Driver.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

int main(int argc, char **argv) {
  tile_rt::holdStandardStreams();
  void *address = reinterpret_cast<void *>(&tilec::parseOptions);
  std::string program = llvm::sys::fs::getMainExecutable(argv[0], address);
  tilec::ParsedOptions parsed =
      tilec::parseOptions(argc, argv, llvm::sys::path::parent_path(program).str());
  const tilec::ExitCode code =
      parsed.options ? tilec::endRun(*parsed.options, tilec::runDriver(*parsed.options))
                     : parsed.exitCode;
  llvm::outs().flush();
  llvm::errs().flush();
  // Without destructors of globals: after a crash that was caught they could crash again, and that of errs() ends the
  // program with a status of its own if standard error is full.
  std::_Exit(code);
}
