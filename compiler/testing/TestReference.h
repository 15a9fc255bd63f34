// The numpy references of `tilec test`: a Python process that exchanges .npy files.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <sys/types.h>

namespace tilec {

/// A Python that has numpy: `wanted`, or without it a python3 of the path or of the system. The
/// error says what to do.
llvm::Expected<std::string> findPython(const std::string &wanted);

/// Calls functions of Python files, in one process that starts with the first call and ends with
/// this. Arrays travel as .npy files, everything else as JSON.
class TestReference {
public:
  explicit TestReference(std::string python) : python(std::move(python)) {}
  ~TestReference();
  TestReference(const TestReference &) = delete;
  TestReference &operator=(const TestReference &) = delete;

  /// Draws inputs with `function` ("path.py:name") into files of `folder`. Returns their names:
  /// "offsets" is in "offsets.npy".
  llvm::Expected<std::vector<std::string>> draw(const std::string &function, uint64_t seed,
                                                const llvm::json::Object &values,
                                                const std::string &folder);
  /// Calls the reference. `inputs` are paths by name, null for what is absent; `outputs` are the
  /// paths to write: f64, or i64 for integers.
  llvm::Error compute(const std::string &function, const llvm::json::Object &inputs,
                      const llvm::json::Object &values, const llvm::json::Object &outputs);

private:
  llvm::Error start();
  llvm::Expected<llvm::json::Object> ask(llvm::json::Object request);

  std::string python;
  pid_t process = -1;
  int toChild = -1, fromChild = -1;
  std::string received; ///< what was read beyond the last line
};

} // namespace tilec
