// PTX becomes a cubin, several images a fat binary, by NVIDIA's tools.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/emit/Toolchain.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// What ptxas says of one function, bytes per thread for spills and per block for shared memory.
struct FunctionResources {
  unsigned registers = 0;
  uint64_t spillStoreBytes = 0, spillLoadBytes = 0;
  uint64_t stackBytes = 0;
  uint64_t staticSharedBytes = 0;
  unsigned barriers = 0;
};

/// A message of ptxas that concerns speed.
struct AssemblerMessage {
  diag::Id id;          ///< SerialisedWgmma, IgnoredSetmaxnreg or ToolWarning
  std::string function; ///< its entry; empty if the message names none
  std::string text;     ///< in ptxas' words, with its number
};

/// ptxas' -v output, read.
struct AssemblerReport {
  std::map<std::string, FunctionResources> functions; ///< by entry
  std::vector<AssemblerMessage> messages;             ///< in the order of the output
  std::vector<std::string> errors;
  double milliseconds = 0;
};

/// Reads what `ptxas -v` printed. Lines that mean nothing to us are skipped.
AssemblerReport parseAssemblerOutput(llvm::StringRef output);

struct Cubin {
  std::string bytes;
  AssemblerReport report;
};

/// One image of a fat binary.
struct FatbinImage {
  enum class Kind { Cubin, Ptx } kind;
  std::string arch; ///< "sm_90a"
  std::string bytes;
};

/// Runs the tools in a temporary folder that is gone afterwards; no name of it reaches the output,
/// so equal input gives equal bytes. A tool that is missing or fails is reported to the engine
/// ([tool]) and nothing is returned.
class Assembler {
public:
  Assembler(const Toolchain &toolchain, DiagnosticEngine &diags)
      : toolchain(toolchain), diags(diags) {}

  /// The place in the source of the launch whose entry has this name; none if it is not known.
  using PlaceOf = llvm::function_ref<llvm::SMRange(const std::string &entry)>;

  /// Products that do not fit the registers which a launch leaves them are an error of the program
  /// ([fragment-too-large]).
  std::optional<Cubin> assemble(
      llvm::StringRef ptx, llvm::StringRef arch, bool lineTables,
      PlaceOf place = [](const std::string &) { return llvm::SMRange(); });
  std::optional<std::string> bundle(llvm::ArrayRef<FatbinImage> images);

private:
  /// What is known where ptxas itself says nothing.
  struct Failure {
    llvm::StringRef arch;
    std::string died;                 ///< of what signal; empty if it ended by itself
    std::vector<std::string> entries; ///< that it was at
  };
  void reportFailure(const AssemblerReport &report, int status, const Failure &failed,
                     PlaceOf place);

  const Toolchain &toolchain;
  DiagnosticEngine &diags;
};

} // namespace tilec
