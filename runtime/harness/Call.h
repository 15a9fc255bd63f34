// One call of a kernel as tools make it: inputs from files or drawn, outputs compared and written.
// The same for every executor, so that one mistake has one message everywhere.
#pragma once

#include "Array.h"
#include "Executor.h"
#include "InputError.h"

#include <map>
#include <optional>

namespace tile_rt {

/// What is asked of a call: docs/runtime.md, "tile-run". Values of `args` are a .npy file, a
/// distribution, a number, `same(X)`, `poison` or `none`.
struct CallOptions {
  std::map<std::string, int64_t> dims;
  /// Of `strided` tensors: elements from row to row, or the strides of all dimensions but the last.
  std::map<std::string, std::vector<int64_t>> pitches;
  std::map<std::string, std::string> args, outs, expects;
  std::optional<double> tolerance; ///< accepted ||out - ref|| / ||ref||; else from the type
  uint64_t seed = 1;               ///< of drawn inputs
  bool twice = false;              ///< a second run must give the same bits
  bool verbose = false;
};

/// The options of a call as a command line has them, each NAME=VALUE.
struct CallTexts {
  std::vector<std::string> dims, pitches, args, outs, expects;
};
/// Takes them apart: on top of what `options` has, but each name once. Throws InputError, also where two outputs would be written to
/// one file.
void readCallTexts(CallOptions &options, const CallTexts &texts);

/// The value that `text` gives a scalar argument of `type`. Throws InputError where it is no value
/// of this type: a fraction or a number out of range for an integer.
Array readScalar(const std::string &argument, DType type, const std::string &text);

struct CallResult {
  bool ok = false;
  bool deviceLost = false; ///< the driver reported an error: nothing else will run in this process
  std::string text;        ///< for people: one line, or several if it is verbose
};

class Call {
public:
  /// `kernel`, `executor` and `options` outlive it.
  Call(Executor &executor, const Kernel &kernel, const CallOptions &options)
      : executor(executor), kernel(kernel), options(options) {}

  /// Makes the arguments, runs, checks. Throws InputError for what the options get wrong, before
  /// anything runs; errors of the call and of the device are in the result.
  CallResult run();

  /// After run(): dimensions and scalar arguments by name, and types of all arguments.
  std::map<std::string, double> values() const;
  std::map<std::string, std::string> types() const;

private:
  /// A tensor or scalar of the call, on both sides.
  struct Slot {
    const Argument *argument = nullptr;
    bool absent = false, fromFile = false;
    bool poisoned = false;          ///< holds nothing before the run
    Array host;                     ///< as before the run; a scalar has an empty shape
    std::optional<Array> reference; ///< what --expect names
    /// The number of the slot whose tensor this is too: `same(X)`.
    std::optional<size_t> same;
    std::vector<int64_t> strides; ///< in elements, of a tensor with a pitch; else empty
    std::shared_ptr<Buffer> device;

    /// Where its memory holds elements: not 0 there; empty if it does everywhere.
    std::vector<std::byte> places() const;
    std::byte gap() const;                 ///< what lies between rows
    std::vector<std::byte> memory() const; ///< its bytes before a run
  };

  const std::string *given(const Argument &argument) const;
  void checkNames() const;
  void readGiven();
  void readTensor(Slot &slot, const std::string &text) const;
  void checkOutputs() const;
  void readReferences();
  void bindDims();
  /// What a reference says of a dimension that is an extent of its tensor.
  std::optional<int64_t> expectedExtent(size_t dim) const;
  void resolveSame();
  std::vector<int64_t> shapeOf(const Argument &argument) const;
  void setShapes();
  void generateTensor(Slot &slot) const;
  void generateRest();
  void setPitches();
  void setStrides(Slot &slot, const std::vector<int64_t> &pitch) const;
  void upload();
  static void fill(Slot &slot);
  void check();
  void checkTensor(Slot &slot, bool &compared);
  void compare(const Slot &slot, const Array &after);
  void write(const std::string &path, const Array &array);
  void checkSecondRun();
  void append(const std::string &part) { result.text += (result.text.empty() ? "" : "; ") + part; }
  void fail(const std::string &part) {
    append(part);
    result.ok = false;
  }

  Executor &executor;
  const Kernel &kernel;
  const CallOptions &options;
  std::vector<Slot> slots;
  Env env;
  std::vector<tile_arg> args;
  CallResult result;
};

} // namespace tile_rt
