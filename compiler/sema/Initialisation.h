//===- Initialisation.h - Reads of what was never written -------*- C++ -*-===//
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/sema/Program.h"

namespace tilec::sema {

/// Reports the first read of each buffer of `launch` that finds it as it was declared, without a
/// value, on every path that leads there. The launch must be complete: a statement that is missing
/// after an error might have written.
void checkInitialised(const LaunchStmt &launch, DiagnosticEngine &engine);

} // namespace tilec::sema
