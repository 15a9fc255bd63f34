#include "compiler/testing/RunCommand.h"

#include "compiler/driver/RunEnd.h"
#include "compiler/driver/RunOptions.h"
#include "compiler/testing/CpuExecutor.h"
#include "compiler/testing/CpuManifest.h"
#include "runtime/harness/Call.h"
#include "runtime/harness/Memory.h"
#include "runtime/harness/SameFile.h"
#include "runtime/harness/Signature.h"

#include "llvm/Support/raw_ostream.h"

#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

using namespace llvm;

namespace tilec {

/// Reports a wrong option and ends.
static ExitCode usageError(Compilation &compilation, const Twine &text) {
  compilation.getDiags().report(diag::Id::Usage, SMRange(), text);
  return compilation.finish(errs());
}

/// What the command line says of the call. Throws InputError.
static tile_rt::CallOptions readCall(const RunOptions &run) {
  tile_rt::CallOptions call;
  readCallTexts(call, {run.dims, run.pitches, run.args, run.outs, run.expect});
  call.tolerance = run.tolerance;
  call.seed = run.seed;
  return call;
}

/// An output must not take the place of a source that was read, an import say. Throws InputError.
static void checkOutputs(const tile_rt::CallOptions &call, Compilation &compilation) {
  for (const auto &[name, file] : call.outs) {
    for (const std::string &source : compilation.getSources().files()) {
      if (tile_rt::isSameFile(file, source)) {
        throw tile_rt::InputError(
            "the output `" + file + "` is " +
            (source == compilation.getInput() ? "the source itself" : "an import of the source"));
      }
    }
  }
}

/// The command line of tile-run for a pack. In messages it calls itself what was called.
static std::vector<std::string> tileRunArguments(const Options &options, const std::string &pack,
                                                 const std::string &on) {
  std::vector<std::string> args{"tilec", pack, "--on=" + on};
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
    args.push_back(formatv("--tolerance={0:e17}", *options.run.tolerance).str());
  }
  args.push_back("--seed=" + std::to_string(options.run.seed));
  if (options.run.repeat != 0) {
    args.push_back("--repeat=" + std::to_string(options.run.repeat));
  }
  append_range(args, options.run.emulator);
  return args;
}

/// Compiles to a pack in memory and becomes tile-run, so that nothing is left behind by whatever
/// ends it. The emulator needs no machine code. Throws InputError.
static ExitCode runPack(const Options &options, const tile_rt::CallOptions &call,
                        Compilation &compilation, const std::string &on) {
  int pack = memfd_create("pack", 0); // tile-run inherits it
  if (pack < 0) {
    compilation.getDiags().report(diag::Id::FileWrite, SMRange(), "memory file",
                                  std::generic_category().message(errno));
    return compilation.finish(errs());
  }
  std::string path = "/proc/self/fd/" + std::to_string(pack);
  compilation.setOutput(path);
  if (on == "emu") {
    compilation.setPtxOnly();
  }
  compilation.compile();
  if (!compilation.getDiags().hasErrors()) {
    checkOutputs(call, compilation);
  }
  if (ExitCode code = compilation.finish(errs()); code != ExitSuccess) {
    return code;
  }
  std::string program = options.programDir + "/tile-run";
  std::vector<std::string> args = tileRunArguments(options, path, on);
  std::vector<char *> argv;
  argv.reserve(args.size() + 1);
  for (std::string &arg : args) {
    argv.push_back(arg.data());
  }
  argv.push_back(nullptr);
  if (ExitCode code = endRun(options, ExitSuccess); code != ExitSuccess) {
    return code;
  }
  outs().flush();
  errs().flush();
  execv(program.c_str(), argv.data());
  errs() << "tilec: error: `" << program
         << "` does not start: " << std::generic_category().message(errno) << " [tool]\n";
  return ExitTool;
}

/// The kernel that --kernel names, by its symbol, or the only one. `isChosen`: analysis has taken what
/// `name` says, which may be the name in the source. Throws InputError.
static const tile_rt::Kernel &chooseKernel(const tile_rt::Manifest &manifest,
                                           const std::string &name, bool isChosen) {
  for (const tile_rt::Kernel &kernel : manifest.kernels) {
    if (kernel.symbol == name) {
      return kernel;
    }
  }
  if (manifest.kernels.size() == 1 && (isChosen || name.empty())) {
    return manifest.kernels.front();
  }
  tile_rt::refuseKernel(manifest, name);
}

/// Straight from the tile dialect, in this process. Throws InputError.
static ExitCode runOnCpu(const Options &options, const tile_rt::CallOptions &call,
                         Compilation &compilation) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compilation.lowerFor({findTarget("cpu")});
  std::optional<tile_rt::Manifest> manifest;
  if (module) {
    manifest = manifestForCpu(*module, compilation.getDiags());
  }
  if (manifest && manifest->kernels.empty()) { // IR, which analysis has not seen
    compilation.getDiags().report(diag::Id::NothingToCompile, SMRange(), compilation.getInput());
    manifest.reset();
  }
  if (!manifest) {
    return compilation.finish(errs());
  }
  checkOutputs(call, compilation);
  cpu::CpuOptions cpuOptions;
  cpuOptions.checksHost = !hasHostParts(*manifest);
  cpuOptions.memoryLimit = int64_t(tile_rt::memoryLimit());
  Expected<std::unique_ptr<cpu::CpuProgram>> program =
      cpu::CpuProgram::compile(*module, cpuOptions);
  if (!program) {
    std::string text = toString(program.takeError());
    if (!compilation.getDiags().hasErrors()) {
      compilation.getDiags().report(diag::Id::InternalError, SMRange(), text);
    }
    return compilation.finish(errs());
  }
  const tile_rt::Kernel &kernel = chooseKernel(*manifest, options.kernel, !compilation.readsIr());
  CpuExecutor executor(*manifest, kernel, **program);
  tile_rt::CallResult result = tile_rt::Call(executor, kernel, call).run();
  result.text = executor.name() + ": " + result.text;
  ExitCode code = compilation.finish(errs());
  outs() << result.text << "\n";
  outs().flush();
  return code != ExitSuccess ? code : result.ok ? ExitSuccess : ExitInput;
}

ExitCode runKernel(const Options &options, Compilation &compilation) {
  std::string on = !options.run.on.empty() ? options.run.on : hasGpu() ? "cuda" : "cpu";
  try {
    const tile_rt::CallOptions call = readCall(options.run);
    return on == "cpu" ? runOnCpu(options, call, compilation)
                       : runPack(options, call, compilation, on);
  } catch (const tile_rt::InputError &error) {
    return usageError(compilation, error.what());
  }
}

} // namespace tilec
