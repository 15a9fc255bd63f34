#include "compiler/driver/RunCommand.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

/// Whether this machine has an NVIDIA GPU that programs may use.
static bool hasGpu() { return sys::fs::exists("/dev/nvidiactl"); }

/// The command line of tile-run for a pack.
static std::vector<std::string> tileRunArguments(const Options &options, const std::string &pack) {
  std::vector<std::string> args{"tile-run", pack};
  auto add = [&](const char *name, const std::vector<std::string> &values) {
    for (const std::string &value : values) {
      args.push_back(std::string("--") + name + "=" + value);
    }
  };
  if (!options.kernel.empty()) {
    args.push_back("--kernel=" + options.kernel);
  }
  add("dim", options.run.dims);
  add("arg", options.run.args);
  add("out", options.run.outs);
  add("expect", options.run.expect);
  if (options.run.tolerance) {
    args.push_back("--tolerance=" + std::to_string(*options.run.tolerance));
  }
  args.push_back("--seed=" + std::to_string(options.run.seed));
  if (options.run.time) {
    args.push_back("--time");
  }
  return args;
}

/// Compiles to a temporary pack and hands it to tile-run.
static ExitCode runOnGpu(const Options &options, Compilation &compilation) {
  SmallString<128> pack;
  if (std::error_code error = sys::fs::createTemporaryFile("tilec", "pack", pack)) {
    compilation.getDiags().report(diag::Id::FileWrite, SMRange(), "temporary file",
                                  error.message());
    return compilation.finish(errs());
  }
  FileRemover remover(pack);
  compilation.setOutput(pack.str().str());
  compilation.compile();
  if (ExitCode code = compilation.finish(errs()); code != ExitSuccess) {
    return code;
  }
  std::string program = options.programDir + "/tile-run";
  std::vector<std::string> args = tileRunArguments(options, pack.str().str());
  SmallVector<StringRef> argv(args.begin(), args.end());
  std::string error;
  int status = sys::ExecuteAndWait(program, argv, std::nullopt, {}, 0, 0, &error);
  if (status < 0) {
    errs() << "tilec: error: `tile-run` failed: " << error << " [tool]\n";
    return ExitTool;
  }
  return static_cast<ExitCode>(status);
}

ExitCode runKernel(const Options &options, Compilation &compilation) {
  bool onGpu = options.run.on == "cuda" || (options.run.on.empty() && hasGpu());
  if (onGpu) {
    return runOnGpu(options, compilation);
  }
  compilation.getDiags().report(diag::Id::NotSupported, SMRange(), "`tilec run --on=cpu`");
  return compilation.finish(errs());
}

} // namespace tilec
