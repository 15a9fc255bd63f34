#include "compiler/emit/SourceLocation.h"

#include "llvm/Support/Path.h"

using namespace mlir;

namespace tilec {

SourcePlace sourcePlace(Location location) {
  SourcePlace place;
  location->walk([&](Location inner) {
    auto at = dyn_cast<FileLineColLoc>(inner);
    if (!at) {
      return WalkResult::advance();
    }
    llvm::StringRef file = at.getFilename().getValue();
    // Packs hold no absolute paths: the same source gives the same bytes anywhere.
    file = llvm::sys::path::is_absolute(file) ? llvm::sys::path::filename(file) : file;
    place = {file.str(), at.getLine(), at.getColumn()};
    return WalkResult::interrupt();
  });
  return place;
}

llvm::SMRange sourceRange(Location location, const DiagnosticEngine &diags) {
  if (auto range = dyn_cast<FileLineColRange>(location)) {
    llvm::StringRef file = range.getFilename().getValue();
    llvm::SMLoc start = diags.locate(file, range.getStartLine(), range.getStartColumn());
    llvm::SMLoc end = diags.locate(file, range.getEndLine(), range.getEndColumn());
    if (!end.isValid() || end.getPointer() < start.getPointer()) {
      end = start;
    }
    return {start, end};
  }
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations()) {
      llvm::SMRange range = sourceRange(part, diags);
      if (range.isValid()) {
        return range;
      }
    }
    return {};
  }
  if (auto named = dyn_cast<NameLoc>(location)) {
    return sourceRange(named.getChildLoc(), diags);
  }
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    return sourceRange(call.getCallee(), diags);
  }
  return {};
}

} // namespace tilec
