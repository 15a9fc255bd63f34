#include "compiler/basic/Printable.h"

#include "llvm/Support/ConvertUTF.h"

using llvm::StringRef;

namespace tilec {

size_t characterLength(StringRef text) {
  const size_t length = llvm::getNumBytesForUTF8(text.front());
  const auto *data = reinterpret_cast<const llvm::UTF8 *>(text.data());
  return length <= text.size() && llvm::isLegalUTF8Sequence(data, data + length) ? length : 1;
}

size_t printableLength(StringRef text) {
  unsigned char first = text.front();
  if (first < 0x80) {
    return first >= 0x20 && first != 0x7f;
  }
  const size_t length = characterLength(text);
  // U+0080 to U+009F are control characters.
  const bool isControl = first == 0xc2 && length > 1 && static_cast<unsigned char>(text[1]) < 0xa0;
  return length > 1 && !isControl ? length : 0;
}

std::string printable(StringRef text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = printableLength(text);
    result += length == 0 ? StringRef("?") : text.substr(0, length);
    text = text.drop_front(std::max<size_t>(length, 1));
  }
  return result;
}

} // namespace tilec
