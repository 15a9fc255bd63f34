#include "tools/tilec/Driver.h"

#include "compiler/basic/Interrupt.h"
#include "compiler/benchmark/BenchCommand.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Reproducer.h"
#include "compiler/driver/RunEnd.h"
#include "compiler/driver/TimeTrace.h"
#include "compiler/emit/Toolchain.h"
#include "compiler/inspect/InspectCommand.h"
#include "compiler/testing/RunCommand.h"
#include "compiler/testing/TestCommand.h"
#include "compiler/tuning/TuneCommand.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <unistd.h>

using namespace llvm;

namespace tilec {

/// Room for recursion over trees of the greatest depth that the parser lets through.
static constexpr unsigned stackBytes = 256u << 20;

/// LLVM's fatal errors: keeps the reason and leaves through the crash recovery.
static void keepReason(void *reason, const char *text, bool) {
  *static_cast<std::string *>(reason) = text;
  if (CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent()) {
    context->HandleExit(ExitInternal);
  }
}

//===----------------------------------------------------------------------===//
// Crashes
//===----------------------------------------------------------------------===//

/// What LLVM's crash recovery has installed, by signal.
static struct sigaction recovery[NSIG];
/// Of a thread, since compilations side by side may each crash, and each is reported.
static thread_local volatile sig_atomic_t hasCrashed = 0;

[[noreturn]] static void giveUp(int) {
  static constexpr char text[] = "tilec: error: internal error: crash [internal]\n";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  _exit(ExitInternal);
}

/// A crash may leave a lock held, of the heap say: what reports it then waits forever, or crashes itself.
static void onCrash(int signal) {
  if (hasCrashed) {
    giveUp(signal);
  }
  hasCrashed = 1;
  std::signal(SIGALRM, giveUp);
  alarm(20); // seconds; a report takes milliseconds
  recovery[signal].sa_handler(signal);
}

static void enableRecovery() {
  CrashRecoveryContext::Enable();
  for (int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) {
    struct sigaction action;
    sigaction(signal, nullptr, &recovery[signal]);
    action = recovery[signal];
    action.sa_handler = onCrash;
    sigaction(signal, &action, nullptr);
  }
}

/// Reports an internal error of which no diagnostic could tell.
static void reportCrash(const Compilation &compilation, StringRef reason, const Options &options,
                        const std::string &reproducer) {
  SourceMgr none;
  DiagnosticEngine diags(none);
  std::string what = reason.empty() ? "crash" : reason.trim().str();
  diags.report(diag::Id::InternalError, SMRange(),
               what + " (during " + compilation.getPhase() + " of `" + compilation.getInput() +
                   "`)")
      << note(SMRange(), reproducer.empty() ? "the sources could not be saved"
                                            : "it is reproduced by: sh " + reproducer);
  options.messages->add(diags);
}

/// Does one source. After a crash the compilation is left as it is.
static ExitCode runOne(const Options &options, const std::string &input) {
  auto compilation = std::make_unique<Compilation>(options, input);
  std::string reason;
  ScopedFatalErrorHandler fatal(keepReason, &reason);
  CrashRecoveryContext guard;
  ExitCode code = ExitSuccess;
  bool survived = guard.RunSafelyOnThread(
      [&] {
        TimeTrace::Thread trace(!options.timeTrace.empty());
        if (options.command == Options::Command::Run) {
          code = runKernel(options, *compilation);
        } else if (options.command == Options::Command::Tune) {
          code = tuneKernel(options, *compilation);
        } else if (options.command == Options::Command::Bench) {
          code = benchKernels(options, *compilation);
        } else {
          compilation->compile();
          code = compilation->finish(errs());
        }
      },
      stackBytes);
  if (survived && code != ExitInternal) {
    return code;
  }
  std::string reproducer = writeReproducer(options, compilation->getSources());
  if (survived) {
    options.messages->note("it is reproduced by: sh " + reproducer);
    return ExitInternal;
  }
  reportCrash(*compilation, reason, options, reproducer);
  alarm(0);
  hasCrashed = 0;
  (void)compilation.release(); // in no state to be destroyed
  return ExitInternal;
}

ExitCode runDriver(const Options &options) {
  if (options.printTools) {
    Toolchain(options.cudaPath, options.programDir).print(outs());
    return ExitSuccess;
  }
  if (!beginRun(options)) {
    return ExitInput;
  }
  enableRecovery();
  handleInterrupts();
  if (options.command == Options::Command::Inspect) {
    return inspectFiles(options);
  }
  if (options.command == Options::Command::Test) {
    return runTests(options);
  }
  ExitCode worst = ExitSuccess;
  for (const std::string &input : options.inputs) {
    worst = std::max(worst, runOne(options, input));
  }
  return worst;
}

} // namespace tilec
