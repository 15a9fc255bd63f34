#include "compiler/driver/RunCommand.h"

#include "compiler/driver/CpuRun.h"
#include "compiler/driver/RunOptions.h"
#include "compiler/emit/Manifest.h"
#include "runtime/src/Error.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

/// The command line of tile-run for a pack.
static std::vector<std::string> tileRunArguments(const Options &options, const std::string &pack,
                                                 const std::string &on) {
  std::vector<std::string> args{"tile-run", pack, "--on=" + on};
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
  add("pitch", options.run.pitches);
  add("out", options.run.outs);
  add("expect", options.run.expect);
  if (options.run.tolerance) {
    args.push_back("--tolerance=" + std::to_string(*options.run.tolerance));
  }
  args.push_back("--seed=" + std::to_string(options.run.seed));
  if (options.run.repeat != 0) {
    args.push_back("--repeat=" + std::to_string(options.run.repeat));
  }
  append_range(args, options.run.emulator);
  return args;
}

/// Compiles to a temporary pack and hands it to tile-run. The emulator needs no machine code.
static ExitCode runPack(const Options &options, Compilation &compilation, const std::string &on) {
  SmallString<128> pack;
  if (std::error_code error = sys::fs::createTemporaryFile("tilec", "pack", pack)) {
    compilation.getDiags().report(diag::Id::FileWrite, SMRange(), "temporary file",
                                  error.message());
    return compilation.finish(errs());
  }
  FileRemover remover(pack);
  compilation.setOutput(pack.str().str());
  if (on == "emu") {
    compilation.setPtxOnly();
  }
  compilation.compile();
  if (ExitCode code = compilation.finish(errs()); code != ExitSuccess) {
    return code;
  }
  std::string program = options.programDir + "/tile-run";
  std::vector<std::string> args = tileRunArguments(options, pack.str().str(), on);
  SmallVector<StringRef> argv(args.begin(), args.end());
  std::string error;
  int status = sys::ExecuteAndWait(program, argv, std::nullopt, {}, 0, 0, &error);
  if (status < 0) {
    errs() << "tilec: error: `tile-run` failed: " << error << " [tool]\n";
    return ExitTool;
  }
  return static_cast<ExitCode>(status);
}

/// Reports a wrong option and ends.
static ExitCode usageError(Compilation &compilation, const Twine &text) {
  compilation.getDiags().report(diag::Id::Usage, SMRange(), text);
  return compilation.finish(errs());
}

/// The kernel that --kernel names, by its symbol or its name in the source, or the only one.
static const tile_rt::Kernel *chooseKernel(const tile_rt::Manifest &manifest, StringRef name,
                                           Compilation &compilation) {
  std::string known;
  for (const tile_rt::Kernel &kernel : manifest.kernels) {
    known += " " + kernel.symbol;
    if (kernel.symbol == name || (manifest.kernels.size() == 1 && name.empty())) {
      return &kernel;
    }
  }
  if (!name.empty() && manifest.kernels.size() == 1) {
    return &manifest.kernels.front(); // analysis has taken what `name` says
  }
  compilation.getDiags().report(diag::Id::Usage, SMRange(),
                                "choose one kernel with `--kernel`; there are" + known);
  return nullptr;
}

/// Straight from the tile dialect, in this process.
static ExitCode runOnCpu(const Options &options, Compilation &compilation) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compilation.lowerFor(*findTarget("cpu"));
  std::optional<json::Object> signatures;
  if (module) {
    signatures = buildSignatures(*module, compilation.getDiags());
  }
  if (!signatures) {
    return compilation.finish(errs());
  }
  Expected<std::unique_ptr<cpu::CpuProgram>> program = cpu::CpuProgram::compile(*module);
  if (!program) {
    std::string text = toString(program.takeError());
    if (!compilation.getDiags().hasErrors()) {
      compilation.getDiags().report(diag::Id::InternalError, SMRange(), text);
    }
    return compilation.finish(errs());
  }
  tile_rt::Manifest manifest;
  try {
    manifest = tile_rt::parseManifest(printManifest(*signatures), 0);
  } catch (const tile_rt::Error &error) {
    compilation.getDiags().report(diag::Id::InternalError, SMRange(), error.what());
    return compilation.finish(errs());
  }
  const tile_rt::Kernel *kernel = chooseKernel(manifest, options.kernel, compilation);
  if (!kernel) {
    return compilation.finish(errs());
  }
  CpuRun::Result result = CpuRun(*kernel, **program, options.run).run();
  if (!result.error.empty()) {
    return usageError(compilation, result.error);
  }
  ExitCode code = compilation.finish(errs());
  outs() << kernel->symbol << " on cpu: " << (result.ok ? "" : "FAILED: ") << result.text << "\n";
  outs().flush();
  return code != ExitSuccess ? code : result.ok ? ExitSuccess : ExitInput;
}

ExitCode runKernel(const Options &options, Compilation &compilation) {
  std::string on = !options.run.on.empty() ? options.run.on : hasGpu() ? "cuda" : "cpu";
  return on == "cpu" ? runOnCpu(options, compilation) : runPack(options, compilation, on);
}

} // namespace tilec
