#include "compiler/driver/OptionTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tilec {

/// The bits by which Options.td says which subcommand has an option.
enum OptionVisibility : unsigned {
  CompileCommand = 1 << 1,
  RunCommand = 1 << 2,
  TestCommand = 1 << 3,
  TuneCommand = 1 << 4,
  BenchCommand = 1 << 5,
  InspectCommand = 1 << 6,
};

#define OPTTABLE_STR_TABLE_CODE
#include "compiler/driver/OptionTable.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "compiler/driver/OptionTable.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

#define OPTTABLE_PREFIXES_UNION_CODE
#include "compiler/driver/OptionTable.inc"
#undef OPTTABLE_PREFIXES_UNION_CODE

using llvm::opt::DefaultVis;
using llvm::opt::HelpHidden;

static constexpr opt::OptTable::Info infos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "compiler/driver/OptionTable.inc"
#undef OPTION
};

static constexpr CommandInfo commands[] = {
    {Options::Command::Compile, "compile", CompileCommand, "FILE.tile... [-o OUTPUT|DIR/]",
     "compiles kernels; without a subcommand, too"},
    {Options::Command::Run, "run", RunCommand, "FILE.tile --dim NAME=VALUE... --arg NAME=VALUE...",
     "compiles a kernel and runs it"},
    {Options::Command::Test, "test", TestCommand, "FILE.tile...",
     "runs the cases of kernel files and compares with their references"},
    {Options::Command::Tune, "tune", TuneCommand, "FILE.tile --dim NAME=VALUE,...",
     "measures the parameters that `tune` lists on a GPU, for `auto`"},
    {Options::Command::Bench, "bench", BenchCommand, "FILE.tile",
     "measures the `bench` cases of a kernel file on a GPU, beside cuBLAS"},
    {Options::Command::Inspect, "inspect", InspectCommand, "FILE...",
     "prints what is in packs, in what packs are linked into, and in cubins", "*"},
};

ArrayRef<CommandInfo> allCommands() { return commands; }

const CommandInfo &infoOf(Options::Command command) {
  return *find_if(commands, [&](const CommandInfo &info) { return info.command == command; });
}

std::string OptionEntry::form() const {
  return spelling.str() + (takesValue() && !isJoined ? " " : "") + meta.str();
}

OptionTable::OptionTable()
    : PrecomputedOptTable(OptionStrTable, OptionPrefixesTable, infos, OptionPrefixesUnion) {
  static constexpr unsigned order[] = {OPT_input_group,    OPT_output_group,   OPT_run_group,
                                       OPT_emulator_group, OPT_messages_group, OPT_make_group,
                                       OPT_inside_group,   OPT_about_group};
  for (unsigned group : order) {
    allGroups.push_back({group, getOptionHelpText(group)});
    for (const Info &info : infos) {
      if (info.GroupID != group || info.AliasID != OPT_INVALID) {
        continue;
      }
      OptionEntry entry{info.ID, group, getOptionPrefixedName(info.ID), {}, {}, {}, {}, 0,
                        false,   false};
      entry.meta = info.MetaVar ? info.MetaVar : "";
      entry.help = info.HelpText;
      entry.visibility = info.Visibility;
      entry.isRare = (info.Flags & HelpHidden) != 0;
      entry.isJoined = info.Kind == opt::Option::JoinedClass;
      if (info.Values) {
        StringRef(info.Values).split(entry.values, ',');
      }
      for (const Info &alias : infos) {
        StringRef name = alias.AliasID == info.ID ? getOptionPrefixedName(alias.ID) : "";
        if (!name.empty() && name != entry.spelling.rtrim('=') &&
            !is_contained(entry.others, (name + "=").str())) {
          entry.others.push_back(name);
        }
      }
      all.push_back(std::move(entry));
    }
  }
}

const OptionEntry *OptionTable::find(unsigned id) const {
  auto found = find_if(all, [&](const OptionEntry &entry) { return entry.id == id; });
  return found == all.end() ? nullptr : &*found;
}

ArrayRef<StringRef> OptionTable::valuesOf(unsigned id) const {
  const OptionEntry *entry = find(id);
  return entry ? ArrayRef<StringRef>(entry->values) : ArrayRef<StringRef>();
}

const OptionTable &optionTable() {
  static const OptionTable table;
  return table;
}

} // namespace tilec
