// Extents of tensors as host functions compute them from dimensions and scalars.
//
// Only a proposal: the runtime evaluates the same expressions exactly and refuses a call whose extents
// differ. So arithmetic may wrap here, and what takes more than integers is left to the caller, who
// gives such an extent as a member of its own.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace tilec {

/// Whether buildExtent() can compute the expression from names that `knows` knows: of dimensions, of
/// scalars that are integers.
bool isComputable(const llvm::json::Value &expression,
                  llvm::function_ref<bool(llvm::StringRef)> knows);

/// The value of a computable expression, i64; `valueOf` gives that of a name. Divisors of 0 give 0:
/// never a trap.
llvm::Value *buildExtent(llvm::IRBuilder<> &builder, const llvm::json::Value &expression,
                         llvm::function_ref<llvm::Value *(llvm::StringRef)> valueOf);

/// For people: "K / 128". "?" where it is more than integers.
std::string extentText(const llvm::json::Value &expression);

} // namespace tilec
