#include "compiler/driver/OptionHelp.h"

#include "compiler/basic/Spelling.h"
#include "compiler/basic/Version.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

/// Where the description of an option begins, and where lines end.
static constexpr unsigned helpColumn = 26, helpWidth = 100;

static constexpr StringLiteral about = "tilec compiles tile kernels for NVIDIA GPUs. A .tile file "
                                       "holds kernels; what comes out, a pack by default, is "
                                       "loaded by libtile_rt.";

namespace {
struct StatusText {
  ExitCode code;
  StringLiteral text;
};
struct VariableText {
  StringLiteral name, text;
};
} // namespace

static constexpr StatusText statuses[] = {
    {ExitSuccess, "done"},
    {ExitInput, "an error in a source, a wrong result, or a file that cannot be read or written"},
    {ExitUsage, "a wrong command line"},
    {ExitTool, "ptxas, fatbinary or libdevice is missing or fails"},
    {ExitInternal, "an error of the compiler; the folder that it names reproduces it"},
};

static constexpr VariableText variables[] = {
    {"CUDA_HOME, CUDA_PATH",
     "folders of CUDA toolkits; --cuda-path comes first, --print-tools says what is found"},
    {"NO_COLOR", "if it is not empty, messages have no colours where --color is auto"},
    {"TILE_CUDA_DRIVER", "the CUDA driver's library for what runs on a GPU (libcuda.so.1)"},
};

std::string helpOf(const OptionEntry &entry) {
  if (entry.values.empty()) {
    return entry.help.str();
  }
  return entry.help.str() + " (" + listed(entry.values) + ")";
}

/// A text in lines that begin in `column`, where the first one already is.
static void printWrapped(raw_ostream &os, StringRef text, unsigned column) {
  unsigned used = column;
  bool isFirst = true;
  for (StringRef word : split(text, ' ')) {
    if (!isFirst && used + 1 + word.size() > helpWidth) {
      os << "\n" << std::string(column, ' ');
      used = column;
      isFirst = true;
    }
    os << (isFirst ? "" : " ") << word;
    used += word.size() + (isFirst ? 0 : 1);
    isFirst = false;
  }
  os << "\n";
}

static void printEntry(raw_ostream &os, const std::string &form, StringRef text) {
  os << "  " << form;
  if (form.size() + 4 > helpColumn) {
    os << "\n" << std::string(helpColumn, ' ');
  } else {
    os << std::string(helpColumn - 2 - form.size(), ' ');
  }
  printWrapped(os, text, helpColumn);
}

/// "-j N, --jobs=N"
static std::string formsOf(const OptionEntry &entry) {
  std::string forms = entry.form();
  for (StringRef other : entry.others) {
    forms += ", " + other.str() + (other.ends_with("=") ? entry.meta.str() : "");
  }
  return forms;
}

static std::string nameOf(const CommandInfo &command) {
  return command.command == Options::Command::Compile ? "tilec" : ("tilec " + command.name).str();
}

void printHelp(raw_ostream &os, const CommandInfo &command, bool all) {
  const bool isCompile = command.command == Options::Command::Compile;
  os << nameOf(command) << ": " << (isCompile ? "compiles tile kernels" : command.about) << "\n"
     << "usage: " << nameOf(command) << " " << command.usage << " [OPTION...]\n";
  if (isCompile) {
    os << "\nSubcommands (tilec SUBCOMMAND --help):\n";
    for (const CommandInfo &info : allCommands()) {
      printEntry(os, info.name.str(), info.about);
    }
  }
  for (const OptionGroupInfo &group : optionTable().groups()) {
    bool hasTitle = false;
    for (const OptionEntry &entry : optionTable().entries()) {
      const bool isShown = entry.group == group.id &&
                           (entry.visibility & command.visibility) != 0 && (all || !entry.isRare);
      if (isShown) {
        os << (hasTitle ? "" : ("\n" + group.title + ":\n").str());
        hasTitle = true;
        printEntry(os, formsOf(entry), helpOf(entry));
      }
    }
  }
  os << "\n"
     << (all ? "" : "--help=all prints all options. ")
     << "@FILE stands for the options in FILE; -- ends the options.\n";
}

void printVersion(raw_ostream &os, bool asJson) {
  if (!asJson) {
    os << "tilec " << kVersion << "\n";
    return;
  }
  json::Array archs, commands, kinds;
  for (const Target &target : allTargets()) {
    if (target.isGpu()) {
      archs.push_back(target.name.str());
    }
  }
  for (const CommandInfo &info : allCommands()) {
    commands.push_back(info.name.str());
  }
  for (StringRef kind : optionTable().valuesOf(OPT_emit)) {
    kinds.push_back(kind.str());
  }
  json::Object object{{"name", "tilec"},
                      {"version", kVersion.str()},
                      {"llvm", LLVM_VERSION_STRING},
                      {"architectures", std::move(archs)},
                      {"subcommands", std::move(commands)},
                      {"outputs", std::move(kinds)}};
  os << formatv("{0:2}", json::Value(std::move(object))) << "\n";
}

//===----------------------------------------------------------------------===//
// The manual page
//===----------------------------------------------------------------------===//

/// For roff: a line must not begin as a request, and `-` is to be the character that is typed.
static std::string roff(StringRef text) {
  std::string result = !text.empty() && (text.front() == '.' || text.front() == '\'') ? "\\&" : "";
  for (char c : text) {
    if (c == '-') {
      result += "\\-";
    } else if (c == '\\') {
      result += "\\e";
    } else {
      result += c;
    }
  }
  return result;
}

/// Of which subcommands an option is, where it is not one of all that compile.
static std::string scopeOf(const OptionEntry &entry) {
  SmallVector<StringRef> names;
  bool isOfAll = true;
  for (const CommandInfo &info : allCommands()) {
    const bool has = (entry.visibility & info.visibility) != 0;
    isOfAll &= has || !info.compiles();
    if (has) {
      names.push_back(info.name);
    }
  }
  return isOfAll ? "" : " (" + listed(names, "and") + ")";
}

/// What stands above the options: of which subcommands they are.
static std::string scopeText() {
  std::string text =
      "Where an option is not one of all subcommands that compile, those that have it stand in "
      "parentheses.";
  for (const CommandInfo &info : allCommands()) {
    if (info.compiles()) {
      continue;
    }
    SmallVector<std::string> forms;
    for (const OptionEntry &entry : optionTable().entries()) {
      if ((entry.visibility & info.visibility) != 0 && entry.group != OPT_about_group) {
        forms.push_back("`" + entry.spelling.rtrim('=').str() + "`");
      }
    }
    SmallVector<StringRef> names(forms.begin(), forms.end());
    text +=
        " `" + info.name.str() + "` has " + listed(names, "and") + ", and those of information.";
  }
  return text;
}

void printManual(raw_ostream &os) {
  os << ".TH TILEC 1 \"\" \"tilec " << kVersion << "\" \"tilec\"\n"
     << ".SH NAME\ntilec \\- compiles, runs, tests and measures tile kernels\n.SH SYNOPSIS\n";
  for (const CommandInfo &info : allCommands()) {
    os << ".B " << roff(nameOf(info)) << "\n" << roff(info.usage) << " [OPTION...]\n.br\n";
  }
  os << ".SH DESCRIPTION\n" << roff(about) << "\n.SH SUBCOMMANDS\n";
  for (const CommandInfo &info : allCommands()) {
    os << ".TP\n.B " << info.name << "\n" << roff(info.about) << "\n";
  }
  os << ".SH OPTIONS\n"
     << roff(scopeText()) << " @FILE stands for the options in FILE; \\-\\- ends the options.\n";
  for (const OptionGroupInfo &group : optionTable().groups()) {
    os << ".SS " << group.title << "\n";
    for (const OptionEntry &entry : optionTable().entries()) {
      if (entry.group == group.id) {
        os << ".TP\n.B " << roff(formsOf(entry)) << "\n"
           << roff(helpOf(entry) + scopeOf(entry)) << "\n";
      }
    }
  }
  os << ".SH EXIT STATUS\n";
  for (const StatusText &status : statuses) {
    os << ".TP\n.B " << unsigned(status.code) << "\n" << roff(status.text) << "\n";
  }
  os << ".SH ENVIRONMENT\n";
  for (const VariableText &variable : variables) {
    os << ".TP\n.B " << roff(variable.name) << "\n" << roff(variable.text) << "\n";
  }
  os << ".SH SEE ALSO\n.BR tile\\-run (1)\n";
}

//===----------------------------------------------------------------------===//
// docs/options.md
//===----------------------------------------------------------------------===//

/// In a cell of a table.
static std::string markdown(StringRef text) {
  std::string result;
  for (char c : text) {
    result += c == '|' || c == '<' || c == '*' ? std::string("\\") + c : std::string(1, c);
  }
  return result;
}

void printMarkdown(raw_ostream &os) {
  os << "<!-- Made by `tilec --help=markdown` from compiler/driver/Options.td. -->\n"
     << "# The options of tilec\n\n"
     << about << "\n\n";
  for (const CommandInfo &info : allCommands()) {
    os << "    " << nameOf(info) << " " << info.usage << " [OPTION...]\n";
  }
  os << "\n| subcommand | |\n|---|---|\n";
  for (const CommandInfo &info : allCommands()) {
    os << "| `" << info.name << "` | " << info.about << " |\n";
  }
  os << "\n"
     << scopeText()
     << " `--name VALUE` is `--name=VALUE`. `@FILE` stands for the options in FILE; `--` ends the "
        "options.\n";
  for (const OptionGroupInfo &group : optionTable().groups()) {
    os << "\n## " << group.title << "\n| option | |\n|---|---|\n";
    for (const OptionEntry &entry : optionTable().entries()) {
      if (entry.group == group.id) {
        os << "| `" << formsOf(entry) << "` | " << markdown(helpOf(entry) + scopeOf(entry))
           << " |\n";
      }
    }
  }
  os << "\n## Exit status\n| status | |\n|---|---|\n";
  for (const StatusText &status : statuses) {
    os << "| " << unsigned(status.code) << " | " << status.text << " |\n";
  }
  os << "\n## Environment\n| variable | |\n|---|---|\n";
  for (const VariableText &variable : variables) {
    os << "| `" << variable.name << "` | " << variable.text << " |\n";
  }
}

} // namespace tilec
