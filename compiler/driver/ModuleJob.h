// What one module of a pack is compiled from.
#pragma once

#include "compiler/sema/Sema.h"
#include "dialects/support/Target.h"
#include "mlir/IR/Location.h"

#include <map>
#include <string>

namespace tilec {

/// Kernels of the source, under a choice of the parameters that `tune` lists, for one architecture.
struct ModuleJob {
  const Target *target = nullptr;
  using Select = sema::SemaOptions::Select;
  Select select = Select::All;
  std::map<std::string, unsigned> choices = {};       ///< by symbol: which of its candidates
  std::vector<std::string> variants = {};             ///< as PipelineOptions has them
  std::map<std::string, std::string> parameters = {}; ///< by symbol: what these are, for reports
  std::string name = {}; ///< tells intermediate files of a source's jobs apart; may be empty
};

/// What is known of an entry before ptxas sees it.
struct EntryFacts {
  mlir::Location location; ///< of the launch in the source
  int64_t threads;
  int64_t sharedBytes;   ///< dynamic
  bool mayNotSpill;      ///< `@require(no_spill)`
  bool blocksBound;      ///< its blocks leave a thread fewer registers than it might have
  int64_t mostRegisters; ///< that a thread of it may have, if one block has a multiprocessor
};

} // namespace tilec
