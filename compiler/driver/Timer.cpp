#include "compiler/driver/Timer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec {

void PhaseTimer::add(llvm::StringRef phase, double milliseconds) {
  auto found = llvm::find_if(phases, [&](const auto &entry) { return entry.first == phase; });
  if (found == phases.end()) {
    phases.emplace_back(phase.str(), milliseconds);
  } else {
    found->second += milliseconds;
  }
}

void PhaseTimer::add(const PhaseTimer &other) {
  for (const auto &[phase, milliseconds] : other.phases) {
    add(phase, milliseconds);
  }
}

void PhaseTimer::print(llvm::raw_ostream &os) const {
  double own = 0, tool = 0;
  for (const auto &[phase, milliseconds] : phases) {
    os << llvm::format("%10.1f ms  ", milliseconds) << phase << "\n";
    if (phase == assembler) {
      tool += milliseconds;
    } else if (phase != packing) {
      own += milliseconds;
    }
  }
  os << llvm::format("%10.1f ms  ", own) << "tilec, source to PTX\n";
  os << llvm::format("%10.1f ms  ", tool) << "ptxas\n";
}

} // namespace tilec
