// The cases of a kernel file: its `//!` lines (kernels/README.md), read and expanded.
#pragma once

#include "compiler/basic/Source.h"
#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/parse/ImportLoader.h"

#include "llvm/Support/JSON.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// A name of a case with its value.
struct CaseValue {
  enum class Kind { Parameter, Dimension, Scalar, Tensor };
  std::string name;
  Kind kind = Kind::Parameter;
  bool isDefault = false;  ///< a parameter that the line does not name
  std::string text;        ///< as options take it: "128", "bf16", "uniform(-1,1)", "none"
  llvm::json::Value value; ///< for the reference: a number, a bool or the name of a type
};

/// One run of a kernel.
struct TestCase {
  std::vector<CaseValue> values; ///< in the order of the line, then the other parameters
  double work =
      0; ///< operations or bytes, by the kernel's `bench` line; else elements of its space
  const CaseValue *find(llvm::StringRef name) const;
  /// "M = 1, N = 7, T = f16": what the line says.
  std::string describe() const;
  /// The parameters that the line names: "T = f16".
  std::string parameters() const;
};

/// The cases of one kernel of a file.
struct KernelTests {
  std::string kernel;
  std::string reference;                    ///< "reference.py:gemm"
  std::string inputs;                       ///< likewise; empty if all inputs are drawn
  std::map<std::string, double> tolerances; ///< by type; 0: exact
  std::vector<TestCase> cases;
};

/// Reads the case lines of `main` for all its kernels that have `test` lines, in the order of the
/// file. `perLine` limits how many combinations of a line are taken, spread over the values of each
/// list; 0 means all. `given` are `test` lines in place of those of the file, if there are any. Reports
/// what is malformed, at its place.
std::vector<KernelTests> readCases(const LoadedFile &main, SourceManager &sources,
                                   ast::Context &context, DiagnosticEngine &diags, unsigned perLine,
                                   llvm::ArrayRef<std::string> given = {});

} // namespace tilec
