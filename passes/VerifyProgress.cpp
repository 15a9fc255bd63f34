//===- VerifyProgress.cpp - does everybody who waits go on? ---------------===//
#include "passes/Progress.h"
#include "passes/SyncChecker.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

void Checker::checkProgress() {
  SmallVector<Turn> cycle = findDeadlock(kernel);
  if (cycle.empty()) {
    return;
  }
  // Begins where something waits.
  auto *waits = llvm::find_if(cycle, [](const Turn &turn) { return turn.isWait; });
  std::rotate(cycle.begin(), waits, cycle.end());
  failed = true;
  InFlightDiagnostic error =
      cycle.front().to->emitOpError("waits for ever: it comes behind itself");
  for (const Turn &turn : cycle) {
    const int64_t distance = std::abs(turn.distance);
    const std::string count =
        std::to_string(distance) + (distance == 1 ? " iteration" : " iterations");
    const std::string when = distance == 0       ? "in the same iteration"
                             : turn.distance > 0 ? count + " earlier"
                                                 : count + " later";
    error.attachNote(turn.from->getLoc())
        << (turn.isWait ? "which waits for this" : "which comes behind this") << ", " << when;
  }
}
