#include "compiler/emit/Pack.h"

#include "runtime/include/tile/pack_format.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

/// The manifest as text: a line with `indentSize` 0. The printer wants a value; a copy of a manifest would take longer than printing it.
static std::string print(json::Object &manifest, unsigned indentSize) {
  json::Value value(std::move(manifest));
  std::string text;
  raw_string_ostream os(text);
  json::OStream(os, indentSize).value(value);
  os << "\n";
  manifest = std::move(*value.getAsObject());
  return text;
}

std::string printManifest(json::Object &manifest) { return print(manifest, 2); }

std::string writePack(json::Object &manifest, ArrayRef<PackModule> modules) {
  std::string body;
  auto append = [&](StringRef bytes) { // returns where they lie
    body.resize(alignTo(body.size(), TILE_PACK_ALIGN), '\0');
    uint64_t offset = body.size();
    body += bytes;
    return offset;
  };
  json::Array list;
  for (const PackModule &module : modules) {
    json::Object entry{{"arch", module.arch},
                       {"kind", module.kind},
                       {"offset", append(module.bytes)},
                       {"bytes", module.bytes.size()}};
    if (!module.ptx.empty()) {
      entry["ptx"] = json::Object{{"offset", append(module.ptx)}, {"bytes", module.ptx.size()}};
    }
    list.push_back(std::move(entry));
  }
  manifest["modules"] = std::move(list);
  const std::string text = print(manifest, 0); // white space would be most of it

  std::string pack(sizeof(tile_pack_header), '\0');
  memcpy(pack.data(), TILE_PACK_MAGIC, TILE_PACK_MAGIC_BYTES);
  using support::endian::write32le;
  using support::endian::write64le;
  write32le(pack.data() + offsetof(tile_pack_header, version), TILE_PACK_VERSION);
  write64le(pack.data() + offsetof(tile_pack_header, manifest_bytes), text.size());
  write64le(pack.data() + offsetof(tile_pack_header, body_bytes), body.size());
  pack += text;
  pack.resize(alignTo(pack.size(), TILE_PACK_ALIGN), '\0');
  return pack + body;
}

} // namespace tilec
