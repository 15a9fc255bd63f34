// Runs one kernel on the cpu target: inputs, call, comparison. The counterpart of tile-run.
#pragma once

#include "compiler/cpu/CpuProgram.h"
#include "compiler/driver/Options.h"
#include "runtime/harness/Array.h"
#include "runtime/src/Manifest.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// One run. Wrong options and files end in `error`, a failed call or a wrong result in `ok ==
/// false`.
class CpuRun {
public:
  struct Result {
    bool ok = false;
    std::string text;  ///< one line for people
    std::string error; ///< wrong usage or a file that cannot be read; empty otherwise
  };

  /// `kernel` describes the arguments of `program`'s kernel of the same symbol.
  CpuRun(const tile_rt::Kernel &kernel, cpu::CpuProgram &program, const RunOptions &options)
      : kernel(kernel), program(program), options(options) {}
  Result run();

private:
  struct Slot {
    bool absent = false, fromFile = false;
    tile_rt::Array host;           ///< as before the run; a scalar has an empty shape
    std::vector<std::byte> memory; ///< guard zone, elements, guard zone
    std::byte *data = nullptr;     ///< aligned, inside memory
    size_t bytes = 0;              ///< from there
    /// The number of the slot whose tensor this is too: `same(X)`.
    std::optional<size_t> same;
    std::optional<int64_t> pitch; ///< elements from row to row, if more than a row has
  };

  void readOptions();
  void readGiven();
  void readScalar(unsigned index, const std::string &text);
  void bindDims();
  void resolveSame();
  void generateRest();
  void generateTensor(unsigned index);
  void setPitches();
  static void place(Slot &slot);
  std::vector<cpu::Argument> makeArguments();
  void checkTensor(unsigned index);
  void append(const std::string &part) { result.text += (result.text.empty() ? "" : "; ") + part; }

  const tile_rt::Kernel &kernel;
  cpu::CpuProgram &program;
  const RunOptions &options;
  std::map<std::string, std::string> dims, args, outs, expects, pitches;
  std::vector<Slot> slots;
  tile_rt::Env env;
  bool compared = false;
  Result result;
};

} // namespace tilec
