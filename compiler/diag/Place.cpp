#include "compiler/diag/Place.h"

#include "compiler/basic/Printable.h"

#include <algorithm>
#include <tuple>

using llvm::StringRef;

namespace tilec {

std::optional<Place> placeOf(llvm::SMRange range, const llvm::SourceMgr &sources) {
  unsigned buffer = range.Start.isValid() ? sources.FindBufferContainingLoc(range.Start) : 0;
  if (buffer == 0) {
    return std::nullopt;
  }
  const llvm::MemoryBuffer &memory = *sources.getMemoryBuffer(buffer);
  const char *start = range.Start.getPointer();
  const char *end = range.End.isValid() ? range.End.getPointer() : start;
  if (end < start || end > memory.getBufferEnd()) {
    end = start;
  }
  Place place;
  place.file = memory.getBufferIdentifier();
  std::tie(place.line, place.column) = sources.getLineAndColumn(range.Start, buffer);
  std::tie(place.endLine, place.endColumn) =
      sources.getLineAndColumn(llvm::SMLoc::getFromPointer(end), buffer);
  const char *lineStart = start - (place.column - 1);
  StringRef rest(lineStart, memory.getBufferEnd() - lineStart);
  place.text = rest.substr(0, rest.find_first_of("\r\n"));
  place.start = std::min<size_t>(place.column - 1, place.text.size());
  size_t length = std::min<size_t>(end - start, place.text.size() - place.start);
  place.length = std::max<size_t>(length, 1);
  return place;
}

unsigned countUtf16(StringRef text) {
  unsigned units = 0;
  while (!text.empty()) {
    const size_t length = characterLength(text);
    units += length == 4 ? 2 : 1; // beyond U+FFFF a pair of surrogates
    text = text.drop_front(length);
  }
  return units;
}

} // namespace tilec
