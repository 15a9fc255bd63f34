#include "compiler/driver/TimeTrace.h"

#include "compiler/basic/Files.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilec {

/// What takes fewer microseconds is in sums, but is no event of its own.
static constexpr unsigned leastMicroseconds = 20;

void TimeTrace::begin() { llvm::timeTraceProfilerInitialize(leastMicroseconds, "tilec"); }

std::error_code TimeTrace::write(llvm::StringRef file) {
  if (!llvm::timeTraceProfilerEnabled()) {
    return {};
  }
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::timeTraceProfilerWrite(os);
  llvm::timeTraceProfilerCleanup();
  os << "\n";
  return writeOutput(file, text);
}

TimeTrace::Thread::Thread(bool isOn) : isOn(isOn) {
  if (isOn) {
    begin();
  }
}

TimeTrace::Thread::~Thread() {
  if (isOn && llvm::timeTraceProfilerEnabled()) {
    llvm::timeTraceProfilerFinishThread();
  }
}

namespace {
/// A pipeline that is a pass of another has no name on the command line, and is no pass of its own.
class PassTracer : public PassInstrumentation {
public:
  void runBeforePass(Pass *pass, Operation *op) override {
    if (!pass->getArgument().empty()) {
      auto symbol = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
      llvm::timeTraceProfilerBegin(pass->getArgument(), symbol ? symbol.getValue() : "");
    }
  }
  void runAfterPass(Pass *pass, Operation *) override { end(pass); }
  void runAfterPassFailed(Pass *pass, Operation *) override { end(pass); }

private:
  static void end(Pass *pass) {
    if (!pass->getArgument().empty()) {
      llvm::timeTraceProfilerEnd();
    }
  }
};
} // namespace

std::unique_ptr<PassInstrumentation> TimeTrace::ofPasses() {
  return std::make_unique<PassTracer>();
}

} // namespace tilec
