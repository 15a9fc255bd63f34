// libFuzzer over what `tilec inspect` reads: packs, cubins, and objects and archives that hold packs.
#include "compiler/inspect/Cubin.h"
#include "compiler/inspect/HostFile.h"
#include "compiler/inspect/Pack.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tilec;

static void show(StringRef bytes) {
  PackContents pack;
  if (readPack(bytes, pack).empty()) {
    raw_null_ostream nowhere;
    printPack(pack, 2, nowhere);
    nowhere << json::Value(describePack(pack));
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  if (isCubin(bytes)) {
    consumeError(readCubin(bytes).takeError());
  } else if (isHostFile(bytes)) {
    Expected<HostFile> file = readHostFile(bytes);
    if (!file) {
      consumeError(file.takeError());
      return 0;
    }
    for (const EmbeddedPack &pack : file->packs) {
      show(pack.bytes);
    }
  } else {
    show(bytes);
  }
  return 0;
}
