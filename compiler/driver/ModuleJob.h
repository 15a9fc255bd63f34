// What one module of a pack is compiled from.
#pragma once

#include "compiler/emit/Assembler.h"
#include "compiler/sema/Sema.h"
#include "dialects/support/Target.h"
#include "mlir/IR/Location.h"

#include "llvm/Support/JSON.h"

#include <map>
#include <optional>
#include <string>

namespace tilec {

/// Kernels of the source, under a choice of the parameters that `tune` lists, for one architecture.
struct ModuleJob {
  const Target *target = nullptr;
  using Select = sema::SemaOptions::Select;
  Select select = Select::All;
  std::map<std::string, unsigned> choices = {}; ///< by symbol: which of its candidates
  /// Of the two variants by alignment, `aligned` or `any`; empty: both.
  std::string onlyVariant = {};
  std::string name = {}; ///< tells intermediate files of a source's jobs apart; may be empty
};

/// What is known of an entry before ptxas sees it.
struct EntryFacts {
  mlir::Location location; ///< of the launch in the source
  int64_t threads;
  int64_t sharedBytes; ///< dynamic
  bool mayNotSpill;    ///< `@require(no_spill)`
};

/// What is made of a job.
struct DeviceCode {
  std::optional<llvm::json::Object> manifest;
  std::optional<llvm::json::Object> signatures; ///< of the source, for objects
  std::string ptx;                              ///< what ptxas gets
  std::string ptxWithLines;                     ///< what the pack gets
  std::string cubin;
  AssemblerReport report;
  std::map<std::string, EntryFacts> launches; ///< by entry
};

} // namespace tilec
