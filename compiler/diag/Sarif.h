// Diagnostics as a log in SARIF 2.1.0, the OASIS standard that code hosts and editors read.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"

#include "llvm/Support/JSON.h"

#include <map>
#include <string>

namespace tilec {

/// Collects what one run of the program reports. Nothing in it depends on time or machine.
class SarifLog {
public:
  SarifLog();
  /// Adds a diagnostic; its notes are related locations, its hint stands in the message.
  void add(const Diagnostic &diagnostic, const llvm::SourceMgr &sources);
  /// Adds what is no diagnostic: how a crash is reproduced, say.
  void addNotification(llvm::StringRef text);
  /// The log: one run, with the rules of the table of diagnostics. Takes what was collected.
  llvm::json::Value take(int exitCode);

private:
  llvm::json::Object locationOf(llvm::SMRange range, const llvm::SourceMgr &sources);
  llvm::json::Object artifactOf(llvm::StringRef file);

  std::map<std::string, unsigned> ruleIndices; ///< by code
  llvm::json::Array rules, results, artifacts, notifications;
  std::map<std::string, unsigned> artifactIndices; ///< by URI
};

} // namespace tilec
