// ELF files of which nothing is believed that they say of themselves.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Error.h"

namespace tilec {

using Elf = llvm::object::ELFFile<llvm::object::ELF64LE>;

/// An error of reading, in the words of this call.
template <typename... Args>
llvm::Error unreadable(const char *format, const Args &...args) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), format, args...);
}

bool isElf(llvm::StringRef bytes);
/// Of 64 bits and little endian: what openElf() takes.
bool isElf64(llvm::StringRef bytes);

/// The file, if all sections and segments that its tables name lie within it.
llvm::Expected<Elf> openElf(llvm::StringRef bytes);

} // namespace tilec
