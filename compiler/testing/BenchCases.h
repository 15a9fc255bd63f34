// The `bench` lines of a kernel file, for one compiled kernel (docs/benchmarks.md).
#pragma once

#include "compiler/sema/Program.h"
#include "compiler/testing/TestCases.h"

namespace tilec {

/// A call to measure, and what it is measured by.
struct BenchCase {
  TestCase call;
  std::optional<double> flops, bytes; ///< the work of the call, as the line says
  std::string rate;                   ///< of its products: "f16", or "tf32"
  std::string baseline;               ///< as tile-run takes it; empty without one
  std::optional<double> tolerance;    ///< of the baseline's result; nothing: that of its type
};

/// Values of parameters: "T" is "bf16".
using CaseParameters = std::vector<std::pair<std::string, std::string>>;

struct KernelBenches {
  std::vector<BenchCase> cases;
  /// What lines ask for and this kernel was not compiled with: names in the order of the line.
  std::vector<CaseParameters> others;
};

/// The cases of `kernel`, which `main` declares; none where it does not. Lines that name parameters or dimensions hold for what is
/// compiled with these. `given` are lines in place of those of the file, if there are any; what they do not say of work and baseline
/// the first line of the kernel in the file does. Reports what is malformed, at its place.
KernelBenches readBenches(const LoadedFile &main, SourceManager &sources, ast::Context &context,
                          DiagnosticEngine &diags, const sema::KernelInstance &kernel,
                          llvm::ArrayRef<std::string> given);

} // namespace tilec
