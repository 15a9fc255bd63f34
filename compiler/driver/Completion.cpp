// The completion of command lines, as scripts for shells.
#include "compiler/driver/OptionHelp.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

/// All spellings of an option, `=` with those behind which the value follows.
static SmallVector<StringRef> spellingsOf(const OptionEntry &entry) {
  SmallVector<StringRef> names{entry.spelling};
  names.append(entry.others.begin(), entry.others.end());
  return names;
}

static bool takesFile(const OptionEntry &entry) { return entry.meta.contains("FILE"); }
static bool takesFolder(const OptionEntry &entry) { return entry.meta == "DIR"; }

//===----------------------------------------------------------------------===//
// bash
//===----------------------------------------------------------------------===//

static std::string bashWords(unsigned visibility) {
  std::string words;
  for (const OptionEntry &entry : optionTable().entries()) {
    for (StringRef name :
         (entry.visibility & visibility) != 0 ? spellingsOf(entry) : SmallVector<StringRef>()) {
      words += (words.empty() ? "" : " ") + name.str();
    }
  }
  return words;
}

/// bash takes words apart at `=`: an option, `=` and the value are three.
static constexpr StringLiteral bashHead =
    R"(# Completion of tilec for bash: made by `tilec --completion=bash`.
_tilec() {
    local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} before= words
    if [[ $cur == "=" ]]; then
        cur=
    elif [[ $option == "=" ]]; then
        option=${COMP_WORDS[COMP_CWORD-2]}
    fi
    COMPREPLY=()
    case $option in
)";

static constexpr StringLiteral bashTail = R"(    esac
    if [[ $cur == -* ]]; then
        compopt -o nospace 2>/dev/null
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
        if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} != *[=-] ]]; then
            COMPREPLY=("${COMPREPLY[0]} ")
        fi
        return
    fi
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    if [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY+=($(compgen -W "$subcommands" -- "$cur"))
    fi
}
complete -o filenames -F _tilec tilec
)";

static void printBash(raw_ostream &os) {
  os << bashHead;
  for (const OptionEntry &entry : optionTable().entries()) {
    if (!entry.takesValue()) {
      continue;
    }
    SmallVector<std::string> names;
    for (StringRef name : spellingsOf(entry)) {
      names.push_back(name.rtrim('=').str());
    }
    os << "        " << join(names, "|") << ")\n";
    if (!entry.values.empty()) {
      os << "            [[ $cur == *,* ]] && before=${cur%,*},\n"
         << "            COMPREPLY=($(compgen -P \"$before\" -W \"" << join(entry.values, " ")
         << "\" -- \"${cur##*,}\"))\n";
    } else if (takesFile(entry) || takesFolder(entry)) {
      os << "            mapfile -t COMPREPLY < <(compgen " << (takesFolder(entry) ? "-d" : "-f")
         << " -- \"$cur\")\n";
    }
    os << "            return;;\n";
  }
  os << "    esac\n    local subcommands=\"";
  interleave(allCommands(), os, [&](const CommandInfo &info) { os << info.name; }, " ");
  os << "\"\n    case ${COMP_WORDS[1]} in\n";
  for (const CommandInfo &info : allCommands()) {
    if (info.command != Options::Command::Compile) {
      os << "        " << info.name << ") words=\"" << bashWords(info.visibility) << "\";;\n";
    }
  }
  os << "        *) words=\"" << bashWords(infoOf(Options::Command::Compile).visibility) << "\";;\n"
     << bashTail;
}

//===----------------------------------------------------------------------===//
// zsh
//===----------------------------------------------------------------------===//

/// Inside single quotes and brackets of _arguments.
static std::string zshText(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += (c == '[' || c == ']' || c == ':' || c == '\\') ? std::string("\\") + c
                                                                : std::string(1, c);
    }
  }
  return result;
}

static void printZshOption(raw_ostream &os, const OptionEntry &entry) {
  for (StringRef name : spellingsOf(entry)) {
    os << "    '*" << name.rtrim('=');
    if (entry.takesValue()) {
      // `=`: joined or apart; `-`: joined; `+`: either.
      os << (name.ends_with("=") ? (name.starts_with("--") ? "=" : "=-")
             : entry.isJoined    ? "-"
                                 : "+");
    }
    os << "[" << zshText(entry.help) << "]";
    if (entry.takesValue()) {
      os << ":" << zshText(entry.meta) << ":";
      if (!entry.values.empty()) {
        os << "_sequence compadd - " << join(entry.values, " ");
      } else if (takesFile(entry) || takesFolder(entry)) {
        os << (takesFolder(entry) ? "_files -/" : "_files");
      }
    }
    os << "' \\\n";
  }
}

static void printZsh(raw_ostream &os) {
  os << "#compdef tilec\n# Completion of tilec for zsh: made by `tilec --completion=zsh`.\n";
  for (const CommandInfo &info : allCommands()) {
    os << "_tilec_" << info.name << "() {\n  _arguments \\\n";
    for (const OptionEntry &entry : optionTable().entries()) {
      if ((entry.visibility & info.visibility) != 0) {
        printZshOption(os, entry);
      }
    }
    os << "    '*:file:_files -g \"" << info.files << "(-.)\"'\n}\n";
  }
  os << "_tilec() {\n  local -a subcommands=(\n";
  for (const CommandInfo &info : allCommands()) {
    os << "    '" << info.name << ":" << zshText(info.about) << "'\n";
  }
  os << "  )\n  case $words[2] in\n";
  for (const CommandInfo &info : allCommands()) {
    os << "    " << info.name << ") shift words; (( CURRENT-- )); _tilec_" << info.name << ";;\n";
  }
  os << "    *) if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
     << "         _describe subcommand subcommands\n       fi\n       _tilec_compile;;\n"
     << "  esac\n}\n"
     << "# Read by compinit it completes at once; by `source` it says what it is for.\n"
     << "if [[ $funcstack[1] == _tilec ]]; then\n  _tilec \"$@\"\nelse\n  compdef _tilec "
        "tilec\nfi\n";
}

//===----------------------------------------------------------------------===//
// fish
//===----------------------------------------------------------------------===//

static std::string fishText(StringRef text) {
  std::string result;
  for (char c : text) {
    result += (c == '\'' || c == '\\') ? std::string("\\") + c : std::string(1, c);
  }
  return "'" + result + "'";
}

static void printFish(raw_ostream &os) {
  os << "# Completion of tilec for fish: made by `tilec --completion=fish`.\n";
  std::string all;
  for (const CommandInfo &info : allCommands()) {
    all += (all.empty() ? "" : " ") + info.name.str();
  }
  for (const CommandInfo &info : allCommands()) {
    os << "complete -c tilec -n __fish_use_subcommand -a " << info.name << " -d "
       << fishText(info.about) << "\n";
  }
  for (const OptionEntry &entry : optionTable().entries()) {
    std::string scope, others;
    for (const CommandInfo &info : allCommands()) {
      const bool has = (entry.visibility & info.visibility) != 0;
      (has ? scope : others) += " " + info.name.str();
    }
    const bool isOfCompile = (entry.visibility & infoOf(Options::Command::Compile).visibility) != 0;
    os << "complete -c tilec";
    if (!others.empty()) { // without a subcommand it is `compile`
      os << " -n "
         << fishText(isOfCompile ? "not __fish_seen_subcommand_from" + others
                                 : "__fish_seen_subcommand_from" + scope);
    }
    for (StringRef name : spellingsOf(entry)) {
      StringRef bare = name.rtrim('=').ltrim('-');
      os << (name.starts_with("--") ? " -l " : bare.size() == 1 ? " -s " : " -o ") << bare;
    }
    if (!entry.values.empty()) {
      os << " -x -a " << fishText(join(entry.values, " "));
    } else if (entry.takesValue()) {
      os << (takesFile(entry) || takesFolder(entry) ? " -r" : " -x");
    }
    os << " -d " << fishText(entry.help) << "\n";
  }
}

void printCompletion(raw_ostream &os, StringRef shell) {
  if (shell == "bash") {
    printBash(os);
  } else if (shell == "zsh") {
    printZsh(os);
  } else {
    printFish(os);
  }
}

} // namespace tilec
