#include "compiler/driver/OptionReader.h"

#include "compiler/basic/Spelling.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;

namespace tilec {

std::vector<std::string> expandResponseFiles(ArrayRef<std::string> arguments) {
  BumpPtrAllocator allocator;
  SmallVector<const char *> words;
  for (const std::string &argument : arguments) {
    StringRef word = argument;
    if (word.consume_front("@") && (!sys::fs::exists(word) || sys::fs::is_directory(word))) {
      throw UsageError{"cannot read `" + word.str() + "`, the file of options that `" + argument +
                       "` names"};
    }
    words.push_back(argument.c_str());
  }
  cl::ExpansionContext context(allocator, cl::TokenizeGNUCommandLine);
  if (Error error = context.setRelativeNames(true).expandResponseFiles(words)) {
    throw UsageError{"files of options: " + toString(std::move(error))};
  }
  return {words.begin(), words.end()};
}

/// The option without the value that follows it.
static StringRef nameOf(StringRef word) {
  return word.take_until([](char c) { return c == '='; });
}

/// Names of all options of these subcommands, without `=`.
static SmallVector<StringRef> namesOf(unsigned visibility) {
  SmallVector<StringRef> names;
  for (const OptionEntry &entry : optionTable().entries()) {
    if ((entry.visibility & visibility) != 0) {
      names.push_back(entry.spelling.rtrim('='));
      append_range(names, map_range(entry.others, [](StringRef name) { return name.rtrim('='); }));
    }
  }
  return names;
}

/// What may help who wrote an option that `command` does not have.
static std::string hintOf(StringRef word, const CommandInfo &command) {
  SmallVector<std::string> others;
  for (const CommandInfo &other : allCommands()) {
    if (is_contained(namesOf(other.visibility), nameOf(word))) {
      others.push_back(("`tilec " + other.name + "`").str());
    }
  }
  if (!others.empty()) {
    SmallVector<StringRef> names(others.begin(), others.end());
    return "it is an option of " + listed(names, "and");
  }
  const std::string two = "--" + nameOf(word).ltrim('-').str();
  const SmallVector<StringRef> names = namesOf(command.visibility);
  return is_contained(names, two) ? "did you mean `" + two + "`?" : didYouMean(nameOf(word), names);
}

OptionReader::OptionReader(const CommandInfo &command, ArrayRef<std::string> arguments)
    : command(command) {
  for (const std::string &argument : arguments) {
    words.push_back(argument.c_str());
  }
  unsigned missingIndex = 0, missingCount = 0;
  args = optionTable().ParseArgs(words, missingIndex, missingCount,
                                 opt::Visibility(command.visibility));
  checkUnknown();
  if (missingCount != 0) {
    throw UsageError{formatv("`{0}` needs a value behind it", words[missingIndex]).str()};
  }
  SmallSet<unsigned, 16> seen;
  for (const opt::Arg *arg : args) {
    const opt::Option option = arg->getOption();
    const unsigned id = option.getID();
    const bool mayRepeat = option.getKind() == opt::Option::FlagClass ||
                           option.getKind() == opt::Option::InputClass ||
                           (option.getUnaliasedOption().hasFlag(Repeatable | LastCounts));
    if (!seen.insert(id).second && !mayRepeat) {
      throw UsageError{
          formatv("`{0}` is given twice", StringRef(arg->getSpelling()).rtrim('=')).str()};
    }
    checkValues(*arg);
  }
}

/// Words that look like options and are none.
void OptionReader::checkUnknown() const {
  for (const opt::Arg *arg : args.filtered(OPT_UNKNOWN)) {
    const std::string word = arg->getAsString(args);
    throw UsageError{("`tilec" +
                      (command.command == Options::Command::Compile ? "" : " " + command.name) +
                      "` has no option `" + nameOf(word) + "`")
                         .str(),
                     hintOf(word, command)};
  }
  // `-on=emu` is no output called `n=emu`.
  for (const opt::Arg *arg : args) {
    StringRef word = args.getArgString(arg->getIndex());
    const bool isJoined = arg->getOption().getKind() == opt::Option::JoinedOrSeparateClass &&
                          word.size() > arg->getSpelling().size();
    if (isJoined && is_contained(namesOf(~0u), "-" + nameOf(word).str())) {
      throw UsageError{("`tilec` has no option `" + nameOf(word) + "`").str(),
                       "did you mean `-" + nameOf(word).str() + "`?"};
    }
  }
}

void OptionReader::checkValues(const opt::Arg &arg) const {
  const opt::Option option = arg.getOption().getUnaliasedOption();
  // What a variable of a script that is not set leaves behind: it must not mean the name that is chosen without the option.
  const OptionEntry *entry = optionTable().find(option.getID());
  const bool isFolder = entry && entry->meta == "DIR";
  if (entry && (isFolder || entry->meta == "FILE") && !option.hasFlag(Repeatable) &&
      StringRef(arg.getValue()).empty()) {
    throw UsageError{
        formatv("`{0}` names no {1}", StringRef(arg.getSpelling()), isFolder ? "folder" : "file")
            .str()};
  }
  ArrayRef<StringRef> known = optionTable().valuesOf(option.getID());
  if (known.empty()) {
    return;
  }
  SmallVector<StringRef> given;
  if (option.hasFlag(ValueList)) {
    StringRef(arg.getValue()).split(given, ',');
  } else {
    given.push_back(arg.getValue());
  }
  for (StringRef value : given) {
    if (!is_contained(known, value.trim())) {
      throw UsageError{formatv("`{0}` takes {1}, not `{2}`", option.getPrefixedName().rtrim('='),
                               listed(known), value.trim())
                           .str(),
                       didYouMean(value.trim(), known)};
    }
  }
}

std::optional<std::string> OptionReader::last(unsigned id) const {
  const opt::Arg *arg = args.getLastArg(id);
  return arg ? std::optional<std::string>(arg->getValue()) : std::nullopt;
}

void OptionReader::read(unsigned id, std::string &value) const { value = last(id).value_or(value); }

void OptionReader::read(unsigned id, std::vector<std::string> &values) const {
  values = args.getAllArgValues(id);
}

[[noreturn]] static void refuse(unsigned id, StringRef text, const Twine &what) {
  StringRef name = optionTable().find(id)->spelling;
  throw UsageError{
      (name + (name.ends_with("=") ? "" : " ") + text + "` is " + what).str().insert(0, "`")};
}

void OptionReader::read(unsigned id, unsigned &value, uint64_t least, uint64_t most) const {
  uint64_t number = value;
  if (std::optional<std::string> text = last(id)) {
    if (StringRef(*text).getAsInteger(10, number) || number < least || number > most) {
      refuse(id, *text, "no whole number from " + Twine(least) + " to " + Twine(most));
    }
  }
  value = unsigned(number);
}

void OptionReader::read(unsigned id, uint64_t &value) const {
  std::optional<std::string> text = last(id);
  if (text && StringRef(*text).getAsInteger(10, value)) {
    refuse(id, *text, "no whole number from 0 to 2^64 - 1");
  }
}

void OptionReader::read(unsigned id, double &value, double least, double most) const {
  std::optional<std::string> text = last(id);
  if (text && (!to_float(*text, value) || !(value >= least && value <= most))) {
    refuse(id, *text, "no number from " + Twine(uint64_t(least)) + " to " + Twine(uint64_t(most)));
  }
}

void OptionReader::read(unsigned id, std::optional<double> &value) const {
  if (has(id)) {
    double number = 0;
    read(id, number, 0, 1e9);
    value = number;
  }
}

std::vector<std::string> OptionReader::list(unsigned id) const {
  std::vector<std::string> parts;
  for (const std::string &text : args.getAllArgValues(id)) {
    for (StringRef part : split(text, ',')) {
      if (!is_contained(parts, part.trim())) {
        parts.push_back(part.trim().str());
      }
    }
  }
  return parts;
}

} // namespace tilec
