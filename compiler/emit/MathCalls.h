// Mathematical functions that LLVM's NVPTX backend cannot select.
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace tilec {

/// Replaces, in `module`, calls that the backend would abort on: the intrinsics exp, exp10, log,
/// log2, log10, pow, sin, cos, tan, their inverses and hyperbolics, and libm's functions by name.
/// Where the call allows approximation (`afn`) and an instruction has it, by that; else by
/// libdevice's functions, which compute f16 and bf16 in f32. Vectors are taken apart. Returns
/// whether the module now needs libdevice.
bool legaliseMathCalls(llvm::Module &module);

} // namespace tilec
