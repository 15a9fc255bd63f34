// The table of options (Options.td), as the parser, the help and the completion of shells read it. Private to the command
// line.
#pragma once

#include "compiler/driver/Options.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"

namespace tilec {

/// OPT_emit, OPT_arch, ...
enum OptionId : unsigned {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "compiler/driver/OptionTable.inc"
#undef OPTION
};

/// The flags of an option, beside LLVM's.
inline constexpr unsigned Repeatable = 1 << 4, LastCounts = 1 << 5, ValueList = 1 << 6;

/// A subcommand: `tilec NAME`.
struct CommandInfo {
  Options::Command command;
  llvm::StringLiteral name;
  unsigned visibility; ///< of its options
  llvm::StringLiteral usage;
  llvm::StringLiteral about;
  llvm::StringLiteral files = "*.tile"; ///< what it takes, for shells
  /// Whether it compiles sources; what does not has few options, of its own.
  bool compiles() const { return command != Options::Command::Inspect; }
};
llvm::ArrayRef<CommandInfo> allCommands();
const CommandInfo &infoOf(Options::Command command);

/// An option with all its spellings, as people are told of it.
struct OptionEntry {
  unsigned id;
  unsigned group;
  llvm::StringRef spelling; ///< "--emit=", "-P", "--check"
  llvm::SmallVector<llvm::StringRef, 2>
      others;           ///< of the same option, but those that differ by `=`
  llvm::StringRef meta; ///< what it takes; may be empty
  llvm::SmallVector<llvm::StringRef, 8> values; ///< all that it takes; may be empty
  llvm::StringRef help;
  unsigned visibility;
  bool isRare;   ///< not among the options that most need
  bool isJoined; ///< the value follows without a space: --emit=ptx, -Wno-spills

  bool takesValue() const { return !meta.empty(); }
  /// "--emit=KIND", "-o FILE", "--check"
  std::string form() const;
};

struct OptionGroupInfo {
  unsigned id;
  llvm::StringRef title;
};

class OptionTable : public llvm::opt::PrecomputedOptTable {
public:
  OptionTable();
  /// In the order in which people are told of them; of an option and its aliases there is one entry.
  llvm::ArrayRef<OptionEntry> entries() const { return all; }
  llvm::ArrayRef<OptionGroupInfo> groups() const { return allGroups; }
  const OptionEntry *find(unsigned id) const;
  /// The values that an option takes; empty if it takes any.
  llvm::ArrayRef<llvm::StringRef> valuesOf(unsigned id) const;

private:
  std::vector<OptionEntry> all;
  std::vector<OptionGroupInfo> allGroups;
};

const OptionTable &optionTable();

} // namespace tilec
