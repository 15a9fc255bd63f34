#include "compiler/basic/NumberText.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

std::string numberText(double value) {
  for (int digits : {6, 9, 17}) {
    std::string text;
    raw_string_ostream(text) << format("%.*g", digits, value);
    double back = 0;
    if (!StringRef(text).getAsDouble(back) && back == value) {
      return text;
    }
  }
  return "nan";
}

} // namespace tilec
