// The options of tilec: the one table from which the parser, --help, the man page and the completion of shells are made.
//
// Names of what an option takes are in capital letters; `Values` is a closed set, of which the parser takes nothing else.
include "llvm/Option/OptParser.td"

//===----------------------------------------------------------------------===//
// Subcommands, flags and groups
//===----------------------------------------------------------------------===//

def CompileCommand : OptionVisibility;
def RunCommand : OptionVisibility;
def TestCommand : OptionVisibility;
def TuneCommand : OptionVisibility;
def BenchCommand : OptionVisibility;
def InspectCommand : OptionVisibility;

/// The subcommands that compile.
defvar compiling = [CompileCommand, RunCommand, TestCommand, TuneCommand, BenchCommand];
defvar everywhere = !listconcat(compiling, [InspectCommand]);
class In<list<OptionVisibility> commands> : Visibility<commands>;

/// May be given several times, and all count. What may not is an error when it is given twice.
def Repeatable : OptionFlag;
/// May be given several times, and the last counts.
def LastCounts : OptionFlag;
/// Takes several of its values with commas between.
def ValueList : OptionFlag;

class Titled<string title> : OptionGroup<title> { let HelpText = title; }
def input_group : Titled<"Sources and parameters">;
def output_group : Titled<"Output">;
def run_group : Titled<"Running, testing and measuring">;
def emulator_group : Titled<"The emulator">;
def messages_group : Titled<"Messages">;
def make_group : Titled<"Rules for make and ninja">;
def inside_group : Titled<"Looking inside">;
def about_group : Titled<"Information">;

/// `--name=VALUE` and `--name VALUE`.
multiclass Value<string name, string meta, string help> {
  def "" : Joined<["--"], name#"=">, MetaVarName<meta>, HelpText<help>;
  def _apart : Separate<["--"], name>, Alias<!cast<Option>(NAME)>;
}
/// The same as a short option.
multiclass LongName<string name, Option short> {
  def "" : Joined<["--"], name#"=">, Alias<short>;
  def _apart : Separate<["--"], name>, Alias<short>;
}
class Rare<list<OptionFlag> others = []> : Flags<!listconcat([HelpHidden], others)>;
defvar many = [Repeatable];

//===----------------------------------------------------------------------===//
// Sources and parameters
//===----------------------------------------------------------------------===//

let Group = input_group, Visibility = compiling in {
def P : JoinedOrSeparate<["-"], "P">, MetaVarName<"NAME=VALUE">, Flags<many>,
  HelpText<"value of a compile-time parameter or dimension; auto: the compiler chooses what `tune` lists">;
defm kernel : Value<"kernel", "NAME", "compile only this kernel or symbol">;
defm instantiate : Value<"instantiate", "TEXT",
    "'K<D = 64> as name': compile this too, as if written at the end of the file">, Flags<many>;
def I : JoinedOrSeparate<["-"], "I">, MetaVarName<"DIR">, Flags<many>, HelpText<"folder to search for imports">;
defm variants : Value<"variants", "N",
    "most sets of parameters that `auto` keeps of a kernel for dimensions known at run time (what its `tune` says, or 6)">, Rare;
defm tune_file : Value<"tune-file", "FILE",
    "what `tilec tune` measured, for `auto`; without it K.tune.json beside K.tile, if there is one; none: nothing">, Rare;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

let Group = output_group, Visibility = compiling in {
defm arch : Value<"arch", "ARCH",
    "architectures, with commas between; native: that of this machine's GPU; without it sm_90a, for `tilec test` also sm_80">,
    Values<"native,all,sm_80,sm_86,sm_89,sm_90a">, Flags<[ValueList, Repeatable]>;
def O : JoinedOrSeparate<["-"], "O">, MetaVarName<"LEVEL">, Values<"0,1,2,3">, Flags<[LastCounts]>,
  HelpText<"level of optimisation, 2 by default">;
def g : Flag<["-"], "g">, HelpText<"line tables, for profilers and debuggers">;
def lineinfo : Flag<["-", "--"], "lineinfo">, Alias<g>;
def check : Flag<["--"], "check">, HelpText<"test at run time what can be tested">;
defm cuda_path : Value<"cuda-path", "DIR", "the only folder where ptxas, fatbinary and libdevice are looked for; without it CUDA_HOME, CUDA_PATH, /usr/local/cuda, NVIDIA's wheels for Python and PATH">, Rare;
}
let Group = output_group in {
def o : JoinedOrSeparate<["-"], "o">, MetaVarName<"FILE">, In<[CompileCommand, TuneCommand, BenchCommand]>,
  HelpText<"output; its extension says the kind where --emit does not: .ptx, .cubin, .fatbin, .json, .pack, .o, .h or .ll; DIR/: files in this folder; - is standard output; without it a file beside the source, or standard output for ast, tile, tgpu and llvm">;
defm emit : Value<"emit", "KIND", "kinds of output of one compilation, with commas between">,
    Values<"ast,tile,tgpu,llvm,ptx,cubin,fatbin,manifest,pack,obj,header">, Flags<[ValueList, Repeatable]>, In<[CompileCommand]>;
defm host : Value<"host", "TRIPLE",
    "the machine that an object is for: x86_64-linux-gnu or aarch64-linux-gnu; without it this one">, Rare, In<[CompileCommand]>;
defm prefix : Value<"prefix", "TEXT", "stands before the names of functions in objects and headers">, Rare, In<[CompileCommand]>;
defm format : Value<"format", "FORMAT", "print text, or a JSON object a line for each file">, Values<"text,json">,
    In<[InspectCommand]>;
def j : JoinedOrSeparate<["-"], "j">, MetaVarName<"N">, Flags<[LastCounts]>,
  In<[CompileCommand, TestCommand, TuneCommand, BenchCommand]>,
  HelpText<"configurations and kernels to compile, or cases to run, at a time; by default one for each core">;
defm jobs : LongName<"jobs", j>, In<[CompileCommand, TestCommand, TuneCommand, BenchCommand]>;
}

//===----------------------------------------------------------------------===//
// Running, testing and measuring
//===----------------------------------------------------------------------===//

let Group = run_group in {
defm on : Value<"on", "TARGET",
    "where to run: the processor, the emulator or a GPU; `tilec test` takes several, with commas between; without it what is there">,
    Values<"cpu,emu,cuda">, Flags<[ValueList]>, In<[RunCommand, TestCommand]>;
defm dim : Value<"dim", "NAME=VALUE",
    "a dimension; `tilec tune` takes NAME=VALUE,VALUE,..., also for integer arguments, and measures all combinations">,
    Flags<many>, In<[RunCommand, TuneCommand]>;
defm arg : Value<"arg", "NAME=VALUE",
    "an input: a .npy file, normal, uniform(a, b), integers(a, b), a number, same(X), poison or none">,
    Flags<many>, In<[RunCommand, TuneCommand]>;
defm pitch : Value<"pitch", "NAME=N",
    "the rows of this `strided` tensor begin N elements apart; NAME=N,N,...: its strides, but the last">,
    Flags<many>, In<[RunCommand, TuneCommand]>;
defm out : Value<"out", "NAME=FILE.npy", "write an output">, Flags<many>, In<[RunCommand]>;
defm expect : Value<"expect", "NAME=FILE.npy", "compare an output">, Flags<many>, In<[RunCommand]>;
defm tolerance : Value<"tolerance", "NUMBER", "accepted ||out - ref|| / ||ref||">, In<[RunCommand]>;
defm seed : Value<"seed", "N", "of generated inputs">, In<[RunCommand]>;
defm repeat : Value<"repeat", "N",
    "timed launches, at least (30 for tune and bench); `tilec run --on=cuda` prints their median time">,
    In<[RunCommand, TuneCommand, BenchCommand]>;
defm filter : Value<"filter", "TEXT", "only cases whose line has this text: 'T = bf16', 'K = 129'">,
    In<[TestCommand, BenchCommand]>;
defm line : Value<"line", "TEXT",
    "'test: M in [1, 7]; N = 8' (or 'bench: ...') in place of such lines of the files">,
    Flags<many>, In<[TestCommand, BenchCommand]>;
def list_cases : Flag<["--"], "list">, In<[TestCommand]>,
  HelpText<"print the cases, one JSON object a line, and run none">;
defm per_line : Value<"per-line", "N",
    "take so many combinations of a line, with as many of its values as they can hold">, In<[TestCommand]>;
def fixed : Flag<["--"], "fixed">, In<[TestCommand]>, HelpText<"compile with the dimensions of each case, as -P does">;
def all : Flag<["--"], "all">, In<[TestCommand]>, HelpText<"run also what takes the processor long">;
defm max_seconds : Value<"max-seconds", "N", "begin no case later than that">, In<[TestCommand]>;
defm case_seconds : Value<"case-seconds", "N", "a run that takes longer has failed (300)">, Rare, In<[TestCommand]>;
defm python : Value<"python", "PROGRAM", "Python with numpy, for the references">, Rare, In<[TestCommand]>;
defm shapes : Value<"shapes", "FILE", "a file with a shape a line: M=64 N=128; # begins a comment">,
    In<[TuneCommand, BenchCommand]>;
defm candidates : Value<"candidates", "N",
    "how many candidates to measure at each shape, those that the model thinks best (12)">, In<[TuneCommand]>;
defm gpus : Value<"gpus", "N", "GPUs of this machine to measure on, a process on each (1)">, In<[TuneCommand]>;
defm baseline : Value<"baseline", "WHAT",
    "what to measure beside; auto: cuBLAS where a case names a product and the library is there; cublas: it must be there">,
    Values<"auto,cublas,none">, In<[BenchCommand]>;
defm seconds : Value<"seconds", "N",
    "go on with timed launches for so long, if --repeat of them take less (0.5)">, Rare, In<[BenchCommand]>;
defm timeout : Value<"timeout", "N",
    "seconds that a candidate may take for a shape (60), or a case of `tilec bench` (120)">, Rare,
    In<[TuneCommand, BenchCommand]>;
defm json : Value<"json", "FILE", "write the results there, as -o does">, In<[BenchCommand]>;
defm plot : Value<"plot", "FILE", "write a roofline picture there, as SVG">, In<[BenchCommand]>;
defm compare : Value<"compare", "FILE", "results of an earlier run: say what has changed since">, In<[BenchCommand]>;
defm fail_on : Value<"fail-on", "SHARE",
    "3%: with --compare, end with status 1 if a case has become slower by more">, In<[BenchCommand]>;
defm work : Value<"work", "DIR",
    "folder of packs and results; it stays, and what it has is not measured again">, In<[TuneCommand, BenchCommand]>;
defm jobs_file : Value<"jobs-file", "FILE",
    "write command lines for a machine with a GPU there, instead of running them (`tilec bench`: needs --work)">,
    Rare, In<[TuneCommand, BenchCommand]>;
def dry_run : Flag<["--"], "dry-run">, In<[TuneCommand, BenchCommand]>,
  HelpText<"print what would be measured, and do nothing">;
def again : Flag<["--"], "again">, In<[TuneCommand, BenchCommand]>, HelpText<"measure once more what has failed">;
}

let Group = emulator_group, Visibility = [RunCommand, TestCommand] in {
defm schedule : Value<"schedule", "ORDER", "order of warps; without it one after the other">,
    Values<"round-robin,random">;
defm schedule_seed : Value<"schedule-seed", "N", "seed of a random schedule">, Rare;
defm schedules : Value<"schedules", "N", "run so many random schedules, up to the first that is wrong">;
defm sms : Value<"sms", "N", "multiprocessors of the device (4)">, Rare;
defm step_budget : Value<"step-budget", "N", "instructions of warps that a launch may take">, Rare;
def profile : Flag<["--"], "profile">, HelpText<"print instructions, bank conflicts and sectors by source line">;
def no_race_check : Flag<["--"], "no-race-check">, Rare, HelpText<"do not look for data races">;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

let Group = messages_group, Visibility = compiling in {
def Werror : Flag<["-"], "Werror">, HelpText<"warnings are errors">;
def werror : Flag<["--"], "werror">, Alias<Werror>;
def Werror_EQ : Joined<["-"], "Werror=">, MetaVarName<"NAME">, Flags<many>,
  HelpText<"this warning is an error: the name in its brackets">;
def Wno_error : Joined<["-"], "Wno-error=">, MetaVarName<"NAME">, Rare<many>,
  HelpText<"this warning stays one where -Werror is given">;
def Wno : Joined<["-"], "Wno-">, MetaVarName<"NAME">, Flags<many>, HelpText<"leave this warning out">;
defm error_limit : Value<"error-limit", "N", "stop after so many errors (20); 0: never">;
}
let Group = messages_group, Visibility = everywhere in {
defm color : Value<"color", "WHEN", "colours in messages; auto: on a terminal, unless NO_COLOR is set">,
    Values<"auto,always,never">, Flags<[LastCounts]>;
defm diagnostics_format : Value<"diagnostics-format", "FORMAT", "how messages are written: as text, a line of JSON for each, or a log in SARIF 2.1.0">,
    Values<"text,json,sarif">, Flags<[LastCounts]>;
defm diagnostics_file : Value<"diagnostics-file", "FILE",
    "write messages there when all is done, not to standard error; - is standard output">, Flags<[LastCounts]>;
}
def report : Flag<["--"], "report">, Group<messages_group>, In<compiling>,
  HelpText<"print each decision in a line, and of each kernel what it takes of a multiprocessor, what bounds it and the time that is expected">;

//===----------------------------------------------------------------------===//
// Rules for make and ninja
//===----------------------------------------------------------------------===//

let Group = make_group, Visibility = [CompileCommand] in {
def MD : Flag<["-"], "MD">, HelpText<"write a make rule with all that was read, to the output's name with .d">;
def write_dependencies : Flag<["--"], "write-dependencies">, Alias<MD>;
def MF : JoinedOrSeparate<["-"], "MF">, MetaVarName<"FILE">, HelpText<"write that rule there">;
defm dependency_file : LongName<"dependency-file", MF>;
def MT : JoinedOrSeparate<["-"], "MT">, MetaVarName<"TARGET">, Flags<many>,
  HelpText<"target of that rule, as it stands, instead of the output">;
def MP : Flag<["-"], "MP">, HelpText<"an empty rule for each import too, so that one may be removed">;
}

//===----------------------------------------------------------------------===//
// Looking inside
//===----------------------------------------------------------------------===//

def save_temps : Flag<["--"], "save-temps">, In<[CompileCommand]>, Group<inside_group>, Rare, HelpText<"keep each intermediate form beside the output">;
let Group = inside_group, Visibility = compiling in {
def print_ir_after_all : Flag<["--"], "print-ir-after-all">, Rare, HelpText<"print the IR after each pass">;
let Flags = [HelpHidden] in
defm random_schedules : Value<"random-schedules", "SEED", "draw the schedules of pipelined loops, any that is right, to test the compiler">;
def verify_each : Flag<["--"], "verify-each">, Rare, HelpText<"verify the IR after each pass">;
def time_passes : Flag<["--"], "time-passes">, Rare, HelpText<"print how long each phase takes">;
}
def time_trace : Flag<["--"], "time-trace">, Group<inside_group>, In<[CompileCommand, RunCommand, TuneCommand, BenchCommand]>,
  HelpText<"write where the time goes, for Chrome and Perfetto, to the name of the (first) output with .trace.json">;
def time_trace_EQ : Joined<["--"], "time-trace=">, MetaVarName<"FILE">, Group<inside_group>, In<[CompileCommand, RunCommand, TuneCommand, BenchCommand]>,
  HelpText<"write where the time goes to this file">;
def print_tools : Flag<["--"], "print-tools">, Group<inside_group>, Rare, In<[CompileCommand]>,
  HelpText<"print where ptxas, fatbinary and libdevice are found, and compile nothing">;

//===----------------------------------------------------------------------===//
// Information
//===----------------------------------------------------------------------===//

let Group = about_group, Visibility = everywhere in {
def help : Flag<["--", "-"], "help">, HelpText<"print the options that most need">;
def h : Flag<["-"], "h">, Alias<help>;
def help_EQ : Joined<["--"], "help=">, MetaVarName<"WHAT">, Values<"all,man,markdown">,
  HelpText<"print all options, for a terminal, as the manual page, or as docs/options.md">;
def version : Flag<["--"], "version">, HelpText<"print the version">;
def version_EQ : Joined<["--"], "version=">, MetaVarName<"FORMAT">, Values<"json">,
  HelpText<"print the version, and what this tilec knows">;
defm explain : Value<"explain", "NAME", "explain a diagnostic, by the name in its brackets or its code; with an example where there is one">;
defm completion : Value<"completion", "SHELL", "print the completion of command lines for this shell">, Rare,
    Values<"bash,zsh,fish">;
}
