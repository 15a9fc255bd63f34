// tile-run: runs kernels of a pack on a GPU or on the emulator, from files or generated data,
// compares and times them.
#include "runtime/harness/Signature.h"
#include "runtime/harness/StandardStreams.h"
#include "tools/tile-run/Arithmetic.h"
#include "tools/tile-run/Results.h"

#include <cstdio>

using namespace tile_rt;
using namespace tile_run;

namespace {
constexpr int kOk = 0, kWrong = 1, kUsage = 2, kNoDevice = 3;

/// The results go to standard output, what the emulator reports to standard error.
void print(const CaseResult &result, const char *indent) {
  std::printf("%s%s\n%s", indent, result.text.c_str(), result.profile.c_str());
  std::fflush(stdout);
  std::fputs(result.reports.c_str(), stderr);
}

/// What the options of one case get wrong is its failure: those behind it still run.
CaseResult runListed(tile_pack &pack, const CaseOptions &options) {
  CaseResult result;
  try {
    return runCase(pack, options);
  } catch (const Error &error) {
    result.deviceLost = error.status == TILE_ERROR_DRIVER;
    result.text = std::string("error: ") + error.what();
  } catch (const std::exception &error) {
    result.text = std::string("error: ") + error.what();
  }
  result.ok = false;
  return result;
}

int runAll(tile_pack &pack, const std::vector<CaseLine> &cases, Results *results) {
  size_t wrong = 0, done = 0;
  for (const CaseLine &entry : cases) {
    CaseResult result = runListed(pack, entry.options);
    show(result.printed);
    std::printf("%s %s\n", result.ok ? "pass" : "FAIL", entry.text.c_str());
    print(result, "    ");
    if (results) {
      results->add(entry.text, result, pack.context);
    }
    wrong += !result.ok;
    ++done;
    if (result.deviceLost) {
      std::printf("the device is lost: %zu cases were not run\n", cases.size() - done);
      break;
    }
  }
  std::printf("%zu of %zu cases passed\n", done - wrong, cases.size());
  return wrong || done < cases.size() ? kWrong : kOk;
}

/// The GPU; null for the emulator.
std::unique_ptr<tile_context> openGpu(const Options &options) {
  if (options.on == On::Emu) {
    return nullptr;
  }
  try {
    return std::make_unique<tile_context>(options.device);
  } catch (const Error &error) {
    if (options.on == On::Cuda || error.status != TILE_ERROR_NO_DRIVER) {
      throw;
    }
    std::fprintf(stderr, "tile-run: no GPU (%s): running on the emulator, as --on=emu does\n",
                 error.what());
    return nullptr;
  }
}

/// The GPU. Where there is none, what is wrong with the call is said first, as everywhere else: `mistake` is then the result.
std::unique_ptr<tile_context> openGpuFor(tile_pack &pack, const Options &options,
                                         std::optional<CaseResult> &mistake) {
  try {
    return openGpu(options);
  } catch (const Error &) {
    mistake = options.casesFile.empty() ? findMistake(pack, options.common) : std::nullopt;
    if (!mistake) {
      throw;
    }
    return nullptr;
  }
}

int run(const Options &options) {
  if (options.devices) {
    printDevices();
    return kOk;
  }
  if (options.list) {
    tile_pack *raw = nullptr;
    tile_status status = tile_load_pack_file(nullptr, options.pack.c_str(), &raw);
    if (status != TILE_OK) {
      throw Error(status, tile_last_error());
    }
    std::unique_ptr<tile_pack> pack(raw);
    for (const Kernel &kernel : pack->manifest.kernels) {
      std::printf("%s\n", signatureOf(kernel).c_str());
      for (unsigned i = 0; kernel.configurations.size() > 1 && i < kernel.configurations.size();
           ++i) {
        const std::string arch = archOf(pack->manifest, kernel.configurations[i]);
        const std::string params = describeConfiguration(kernel, i);
        std::printf("    configuration %u: %s%s%s\n", i, arch.c_str(), params.empty() ? "" : ", ",
                    params.c_str());
      }
    }
    return kOk;
  }
  std::vector<CaseLine> cases;
  if (!options.casesFile.empty()) {
    cases = readCases(options);
  }
  std::unique_ptr<tile_context> context; // outlives the pack
  // The pack is read first: what is wrong with it is said on machines without a GPU too.
  tile_pack *raw = nullptr;
  tile_status status = tile_load_pack_file(nullptr, options.pack.c_str(), &raw);
  std::unique_ptr<tile_pack> pack(raw);
  if (status != TILE_OK) {
    throw Error(status, tile_last_error());
  }
  std::optional<CaseResult> mistake;
  context = openGpuFor(*pack, options, mistake);
  if (mistake) {
    print(*mistake, "");
    return kWrong;
  }
  pack->context = context.get();
  std::optional<Results> results;
  if (!options.resultsFile.empty()) {
    results.emplace(options.resultsFile);
  }
  int code = kOk;
  if (options.casesFile.empty()) {
    CaseResult result = runCase(*pack, options.common);
    show(result.printed);
    print(result, "");
    if (results) {
      results->add("", result, context.get());
    }
    code = result.ok ? kOk : kWrong;
  } else {
    code = runAll(*pack, cases, results ? &*results : nullptr);
  }
  pack.reset(); // before its context
  return code;
}

/// `tilec run` becomes this program, and is what people have called.
const char *program = "tile-run";

int fail(const std::string &text, int code) {
  std::fprintf(stderr, "%s: error: %s\n", program, text.c_str());
  return code;
}

/// As tilec says it, which answers for the cpu target.
int failUsage(const std::string &text) {
  const size_t end = text.find("\nhelp: ");
  const std::string help = end == std::string::npos
                               ? std::string("\nhelp: see `") + program + " --help`"
                               : text.substr(end);
  return fail(text.substr(0, end) + " [usage]" + help, kUsage);
}

/// All but what can go wrong at the end.
int runCommandLine(int argc, char **argv) {
  try {
    std::optional<Options> options = parseCommandLine(argc, argv);
    return options ? run(*options) : kOk;
  } catch (const InputError &error) {
    return failUsage(error.what());
  } catch (const ArithmeticError &error) {
    return failUsage(std::string("--bench: ") + error.what());
  } catch (const Error &error) {
    return fail(error.what(), error.status == TILE_ERROR_NO_DRIVER ? kNoDevice : kWrong);
  } catch (const std::exception &error) {
    return fail(error.what(), kWrong);
  }
}

} // namespace

int main(int argc, char **argv) {
  holdStandardStreams();
  if (argc > 0 && std::string_view(argv[0]) == "tilec") {
    program = "tilec";
  }
  const int code = runCommandLine(argc, argv);
  const bool isLost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (isLost) { // a result that nobody got must not look like one
    fail("cannot write to standard output", kWrong);
  }
  return isLost && code == kOk ? kWrong : code;
}
