//===- Builtins.h - The table of built-in functions -------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace tilec::sema {

enum class Builtin : uint8_t {
#define TILE_BUILTIN(ENUM, NAME, CLASS, PARAMS, CONTEXTS) ENUM,
#include "compiler/sema/Builtins.def"
};

/// What a call is checked by.
enum class BuiltinClass : uint8_t {
  MathNumber,
  MathFloat,
  MathInteger,
  Bitcast,
  TypeQuery,
  NumThreads,
  Stride,
  SmCount,
  Present,
  Reshape,
  Copy,
  Gemm,
  Reduce,
  ReduceFn,
  Scan,
  ScanFn,
  Transpose,
  Atomic,
  Print,
  Assert,
  Sync,
  Warp,
  Shuffle,
  Lane,
};

struct BuiltinParam {
  llvm::StringRef name;
  bool optional = false; ///< may be left out
  bool repeated = false; ///< takes any number of arguments
  bool named = false;    ///< given by its name only
  bool word = false;     ///< a word or a function's name, not an expression
};

struct BuiltinInfo {
  Builtin id;
  llvm::StringRef name;
  BuiltinClass cls;
  llvm::SmallVector<BuiltinParam, 9> params;
  llvm::StringRef contexts;
};

/// The names of all, in the order of the table.
llvm::ArrayRef<llvm::StringRef> builtinNames();
/// Null if there is no built-in function of this name.
const BuiltinInfo *findBuiltin(llvm::StringRef name);

} // namespace tilec::sema
