// Names that a header for C and C++ cannot use as they are.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace tilec {

/// Whether `name` cannot name a member of a struct: keywords of C and C++, names of the headers that a
/// header of kernels includes, macros that are there without any.
bool isReservedMember(llvm::StringRef name);
/// Whether `name` cannot name a function: what isReservedMember() says, `main`, what begins with an
/// underscore, types of the C library, and its functions, which the program's own calls of these would
/// reach instead.
bool isReservedFunction(llvm::StringRef name);

/// `name` with as many `_` behind it as keep it apart from `taken`, to which it is added.
std::string uniqueName(std::string name, llvm::StringSet<> &taken);

} // namespace tilec
