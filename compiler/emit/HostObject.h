// The object of `--emit=obj`: a pack, and host functions that call its kernels, as machine code of
// LLVM's back end for the host.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/emit/HostInterface.h"

#include "llvm/TargetParser/Triple.h"

#include <optional>
#include <string>

namespace tilec {

/// The triple that `name` means, empty for the machine that this runs on: nothing if objects are not
/// made for it.
std::optional<llvm::Triple> findHost(llvm::StringRef name);

/// An ELF object for `host`: position independent, all its data read-only and without relocations.
/// `symbols` are those of the pack's kernels in its order.
std::optional<std::string> writeObject(llvm::ArrayRef<HostKernel> kernels, llvm::StringRef pack,
                                       llvm::ArrayRef<std::string> symbols,
                                       const llvm::Triple &host, DiagnosticEngine &diags);

} // namespace tilec
