// A command line as the table of options takes it apart. Private to the command line.
#pragma once

#include "compiler/driver/OptionTable.h"

#include "llvm/Option/ArgList.h"
#include "llvm/Support/Allocator.h"

#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// A command line that is wrong: what to say, and what may help.
struct UsageError {
  std::string text;
  std::string hint = {};
};

/// Puts the words of `@FILE` in their place; throws UsageError.
std::vector<std::string> expandResponseFiles(llvm::ArrayRef<std::string> arguments);

/// What was given for each option. Throws UsageError for what no option takes.
class OptionReader {
public:
  OptionReader(const CommandInfo &command, llvm::ArrayRef<std::string> arguments);

  bool has(unsigned id) const { return args.hasArg(id); }
  std::vector<std::string> inputs() const { return args.getAllArgValues(OPT_INPUT); }
  const llvm::opt::InputArgList &all() const { return args; }

  void read(unsigned id, std::string &value) const;
  void read(unsigned id, std::vector<std::string> &values) const;
  void read(unsigned id, bool &isGiven) const { isGiven = has(id); }
  void read(unsigned id, unsigned &value, uint64_t least = 0, uint64_t most = 1u << 30) const;
  void read(unsigned id, uint64_t &value) const;
  void read(unsigned id, double &value, double least, double most) const;
  void read(unsigned id, std::optional<double> &value) const;
  /// The parts of a list with commas between, of all times that it was given, each once.
  std::vector<std::string> list(unsigned id) const;

private:
  void checkUnknown() const;
  void checkValues(const llvm::opt::Arg &arg) const;
  std::optional<std::string> last(unsigned id) const;

  const CommandInfo &command;
  std::vector<const char *> words;
  llvm::opt::InputArgList args;
};

} // namespace tilec
