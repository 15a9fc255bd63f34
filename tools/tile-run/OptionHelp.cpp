#include "tools/tile-run/OptionHelp.h"

#include "tools/tile-run/OptionTable.h"

namespace tile_run {

namespace {
/// Where the description of an option begins, and where lines end.
constexpr size_t helpColumn = 26, helpWidth = 100;

constexpr char about[] =
    "Runs a kernel of a pack on a GPU or on the emulator, compares its results and times it.";
constexpr char usage[] = "PACK --dim NAME=VALUE... --arg NAME=VALUE... [OPTION...]";

struct Entry {
  const char *name, *text;
};
constexpr Entry statuses[] = {
    {"0", "right"},
    {"1", "wrong results, a report of the emulator, a failed check, or a diagnosed error"},
    {"2", "wrong usage"},
    {"3", "no GPU or driver"},
};
constexpr Entry variables[] = {
    {"TILE_CUDA_DRIVER", "the CUDA driver's library (libcuda.so.1)"},
    {"TILE_CUBLAS, TILE_CUBLASLT", "libraries of --baseline"},
    {"TILE_NVML", "the library of --sensors"},
};

constexpr OptionGroup groups[] = {OptionGroup::Pack,     OptionGroup::Call,
                                  OptionGroup::Choice,   OptionGroup::Timing,
                                  OptionGroup::Emulator, OptionGroup::Information};

std::string formOf(const OptionInfo &option) {
  std::string form = option.other.empty() ? "" : std::string(option.other) + ", ";
  form += option.name;
  if (option.name == "--help") {
    return form + "[=" + std::string(option.meta) + "]";
  }
  return form + (option.meta.empty() ? "" : "=" + std::string(option.meta));
}

/// With the values that it takes.
std::string textOf(const OptionInfo &option) {
  std::string text(option.help), list;
  for (std::string_view value : option.allValues()) {
    list += (list.empty() ? "" : ", ") + std::string(value);
  }
  return list.empty() ? text : text + " (" + list + ")";
}

/// A text in lines that begin in `column`, where the first one already is.
std::string wrapped(const std::string &text, size_t column) {
  std::string result;
  size_t used = column;
  for (size_t place = 0; place < text.size();) {
    const size_t end = std::min(text.find(' ', place), text.size());
    const std::string word = text.substr(place, end - place);
    if (used > column && used + 1 + word.size() > helpWidth) {
      result += "\n" + std::string(column, ' ');
      used = column;
    }
    result += (used > column ? " " : "") + word;
    used += word.size() + (used > column ? 1 : 0);
    place = end + 1;
  }
  return result + "\n";
}

template <class Visit>
void forEachOf(OptionGroup group, Visit visit) {
  for (const OptionInfo &option : allOptions()) {
    if (option.group == group) {
      visit(option);
    }
  }
}

/// `text` with `before` put before each of the letters of `special`.
std::string escaped(std::string_view text, std::string_view special, const char *before) {
  std::string result;
  for (char c : text) {
    result += special.find(c) == std::string_view::npos ? "" : before;
    result += c;
  }
  return result;
}

/// For roff: `-` is to be the character that is typed.
std::string roff(std::string_view text) {
  std::string result = !text.empty() && (text[0] == '.' || text[0] == '\'') ? "\\&" : "";
  return result + escaped(text, "-", "\\");
}

std::string cell(std::string_view text) { return escaped(text, "|<*", "\\"); }

bool takesFile(const OptionInfo &option) {
  return option.meta.find("FILE") != std::string_view::npos;
}

std::string valuesOf(const OptionInfo &option) {
  std::string list;
  for (std::string_view value : option.allValues()) {
    list += (list.empty() ? "" : " ") + std::string(value);
  }
  return list;
}

//===----------------------------------------------------------------------===//
// Shells
//===----------------------------------------------------------------------===//

/// bash takes words apart at `=`: an option, `=` and the value are three.
std::string bashText() {
  std::string words, cases;
  for (const OptionInfo &option : allOptions()) {
    const bool isJoined = !option.meta.empty() && option.name != "--help";
    words += (words.empty() ? "" : " ") + std::string(option.name) + (isJoined ? "=" : "");
    words += option.other.empty() ? "" : " " + std::string(option.other);
    if (option.meta.empty()) {
      continue;
    }
    cases += "        " + std::string(option.name) + ")";
    if (!option.values.empty()) {
      cases += " COMPREPLY=($(compgen -W \"" + valuesOf(option) + "\" -- \"$cur\"));";
    } else if (takesFile(option)) {
      cases += " mapfile -t COMPREPLY < <(compgen -f -- \"$cur\");";
    }
    cases += " return;;\n";
  }
  return R"(# Completion of tile-run for bash: made by `tile-run --completion=bash`.
_tile_run() {
    local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]}
    if [[ $cur == "=" ]]; then
        cur=
    elif [[ $option == "=" ]]; then
        option=${COMP_WORDS[COMP_CWORD-2]}
    fi
    COMPREPLY=()
    case $option in
)" + cases +
         R"(    esac
    if [[ $cur == -* ]]; then
        compopt -o nospace 2>/dev/null
        COMPREPLY=($(compgen -W ")" +
         words + R"(" -- "$cur"))
        if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} != *= ]]; then
            COMPREPLY=("${COMPREPLY[0]} ")
        fi
        return
    fi
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
complete -o filenames -F _tile_run tile-run
)";
}

/// Inside single quotes and brackets of _arguments.
std::string zshQuoted(std::string_view text) {
  std::string result;
  for (char c : escaped(text, "[]:\\", "\\")) {
    result += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return result;
}

std::string zshText() {
  std::string text = "#compdef tile-run\n# Completion of tile-run for zsh: made by `tile-run "
                     "--completion=zsh`.\n_tile-run() {\n_arguments \\\n";
  for (const OptionInfo &option : allOptions()) {
    for (std::string_view name : {option.name, option.other}) {
      if (name.empty()) {
        continue;
      }
      const bool takesValue = !option.meta.empty() && name == option.name;
      text +=
          "  '*" + std::string(name) + (takesValue ? "=" : "") + "[" + zshQuoted(option.help) + "]";
      if (takesValue) {
        text += (option.name == "--help" ? "::" : ":") + zshQuoted(option.meta) + ":" +
                (!option.values.empty() ? "(" + valuesOf(option) + ")"
                 : takesFile(option)    ? "_files"
                                        : "");
      }
      text += "' \\\n";
    }
  }
  return text + "  '*:pack:_files -g \"*.pack(-.)\"'\n}\n"
                "# Read by compinit it completes at once; by `source` it says what it is for.\n"
                "if [[ $funcstack[1] == _tile-run ]]; then\n  _tile-run \"$@\"\nelse\n"
                "  compdef _tile-run tile-run\nfi\n";
}

std::string fishText() {
  std::string text = "# Completion of tile-run for fish: made by `tile-run --completion=fish`.\n";
  for (const OptionInfo &option : allOptions()) {
    text += "complete -c tile-run -l " + std::string(option.name.substr(2));
    text += option.other.empty() ? "" : " -s " + std::string(option.other.substr(1));
    if (!option.values.empty()) {
      text += (option.name == "--help" ? " -f -a '" : " -x -a '") + valuesOf(option) + "'";
    } else if (!option.meta.empty()) {
      text += takesFile(option) ? " -r" : " -x";
    }
    text += " -d '" + escaped(option.help, "'\\", "\\") + "'\n";
  }
  return text;
}
} // namespace

std::string helpText() {
  std::string text = std::string(about) + "\nusage: tile-run " + usage + "\n";
  for (OptionGroup group : groups) {
    text += "\n" + std::string(titleOf(group)) + ":\n";
    forEachOf(group, [&](const OptionInfo &option) {
      const std::string form = "  " + formOf(option);
      text += form + (form.size() + 2 > helpColumn ? "\n" + std::string(helpColumn, ' ')
                                                   : std::string(helpColumn - form.size(), ' '));
      text += wrapped(textOf(option), helpColumn);
    });
  }
  text += "\nExit status:";
  for (const Entry &status : statuses) {
    text += std::string(&status == statuses ? " " : ", ") + status.name + " " + status.text;
  }
  return text.substr(0, text.rfind('\n') + 1) + wrapped(text.substr(text.rfind('\n') + 1), 0);
}

std::string manualText() {
  std::string text = ".TH TILE\\-RUN 1 \"\" \"tile\\-run " TILE_RT_VERSION "\" \"tilec\"\n"
                     ".SH NAME\ntile\\-run \\- runs, checks and times kernels of packs\n"
                     ".SH SYNOPSIS\n.B tile\\-run\n" +
                     roff(usage) + "\n.SH DESCRIPTION\n" + roff(about) + "\n.SH OPTIONS\n";
  for (OptionGroup group : groups) {
    text += ".SS " + std::string(titleOf(group)) + "\n";
    forEachOf(group, [&](const OptionInfo &option) {
      text += ".TP\n.B " + roff(formOf(option)) + "\n" + roff(textOf(option)) + "\n";
    });
  }
  text += ".SH EXIT STATUS\n";
  for (const Entry &status : statuses) {
    text += std::string(".TP\n.B ") + status.name + "\n" + roff(status.text) + "\n";
  }
  text += ".SH ENVIRONMENT\n";
  for (const Entry &variable : variables) {
    text += ".TP\n.B " + roff(variable.name) + "\n" + roff(variable.text) + "\n";
  }
  return text + ".SH SEE ALSO\n.BR tilec (1)\n";
}

std::string markdownText() {
  std::string text =
      "<!-- Made by `tile-run --help=markdown` from tools/tile-run/OptionTable.cpp. -->\n"
      "# The options of tile-run\n\n" +
      std::string(about) + " [runtime.md](runtime.md#tile-run) says more.\n\n    tile-run " +
      usage + "\n\n`--name VALUE` is `--name=VALUE`, but for `--help`.\n";
  for (OptionGroup group : groups) {
    text += "\n## " + std::string(titleOf(group)) + "\n| option | |\n|---|---|\n";
    forEachOf(group, [&](const OptionInfo &option) {
      text += "| `" + formOf(option) + "` | " + cell(textOf(option)) + " |\n";
    });
  }
  text += "\n## Exit status\n| status | |\n|---|---|\n";
  for (const Entry &status : statuses) {
    text += std::string("| ") + status.name + " | " + status.text + " |\n";
  }
  text += "\n## Environment\n| variable | |\n|---|---|\n";
  for (const Entry &variable : variables) {
    text += std::string("| `") + variable.name + "` | " + variable.text + " |\n";
  }
  return text;
}

std::string completionText(const std::string &shell) {
  return shell == "bash" ? bashText() : shell == "zsh" ? zshText() : fishText();
}

} // namespace tile_run
