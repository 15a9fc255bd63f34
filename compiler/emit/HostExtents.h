// Extents of tensors as host functions compute them from dimensions and scalars.
//
// Only a proposal: the runtime evaluates the same expressions exactly and refuses a call whose extents
// differ. So arithmetic may wrap here, and what takes floats is left to the caller, who
// gives such an extent as a member of its own.
#pragma once

#include "runtime/support/DType.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace tilec {

/// The type of a dimension or scalar of this name; nothing if host functions do not have it.
using TypeOfName = llvm::function_ref<std::optional<tile_rt::DType>(llvm::StringRef)>;

/// Whether buildExtent() can compute the expression: it takes integers and bools alone.
bool isComputable(const llvm::json::Value &expression, TypeOfName typeOf);

/// The value of a computable expression, i64; `valueOf` gives that of a name, i64 or, of a bool, i1. Divisors
/// of 0 give 0: never a trap.
llvm::Value *buildExtent(llvm::IRBuilder<> &builder, const llvm::json::Value &expression,
                         llvm::function_ref<llvm::Value *(llvm::StringRef)> valueOf);

/// For people: "K / 128". "?" where it is more than integers.
std::string extentText(const llvm::json::Value &expression);

} // namespace tilec
