// Runs some cases of one kernel: compiles, draws inputs, runs, compares with the reference.
#pragma once

#include "compiler/cpu/CpuProgram.h"
#include "compiler/driver/Compilation.h"
#include "compiler/testing/TestCases.h"
#include "compiler/testing/TestData.h"
#include "compiler/testing/TestReference.h"

namespace tilec {

/// How one case ended.
struct TestOutcome {
  enum class Status { Pass, Fail, Skip } status = Status::Skip;
  std::string line;               ///< "gemm: M = 1, T = f16: cpu 1e-04, emu sm_90a 2e-04"
  std::string details;            ///< what the runs that failed printed; may be empty
  std::vector<std::string> notes; ///< why GPU code was not run; the same for many cases
};

/// Cases of one kernel with the same compile-time parameters. They run in this process one after
/// the other, and GPU code in tile-run.
class TestJob {
public:
  /// `folder` exists, is empty, and stays the caller's. `options.test.python` is known to work.
  TestJob(const Options &options, std::string file, const KernelTests &tests, std::string folder)
      : options(options), file(std::move(file)), tests(tests), folder(std::move(folder)),
        reference(options.test.python) {}

  TestOutcome run(const TestCase &test);

private:
  /// How one executor ran a case.
  struct Ran {
    std::string skipped; ///< why it did not: "too large"
    std::string problem; ///< what went wrong, one line
    std::string details; ///< what it printed
    double error = 0;    ///< the largest of its outputs
  };
  /// GPU code for one executor and architecture, or why there is none.
  struct Pack {
    std::string path, problem;
    bool isRefused = false; ///< [not-supported], or left out by the kernel's own `where`
  };

  TestOutcome runAll(const TestCase &test);
  void add(TestOutcome &outcome, const std::string &name, const Ran &ran) const;
  Options compileOptions(const TestCase &test, const Target &target) const;
  std::string prepare(const TestCase &test);
  const Pack &getPack(const std::string &on, const Target &target, const TestCase &test);
  Ran runOn(const std::string &on, const Target &target, const TestCase &test,
            const TestData &data);
  Ran runOnCpu(const TestData &data, llvm::StringRef prefix);
  Ran runTileRun(const std::string &on, const Target &target, const std::string &pack,
                 const TestData &data, llvm::StringRef prefix);
  void compare(const TestData &data, llvm::StringRef prefix, Ran &ran) const;

  const Options &options;
  std::string file;
  const KernelTests &tests;
  std::string folder;
  TestReference reference;

  // The kernel as compiled: with --fixed, for one case.
  std::optional<std::string> compiledFor;
  std::unique_ptr<Options> cpuOptions; ///< of cpuCompilation
  std::unique_ptr<Compilation> cpuCompilation;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<cpu::CpuProgram> program;
  tile_rt::Manifest manifest;
  std::map<std::string, Pack> packs; ///< by executor and architecture
};

} // namespace tilec
