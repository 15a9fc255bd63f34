#include "compiler/inspect/Pack.h"

#include "compiler/inspect/Cubin.h"
#include "runtime/src/Error.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>

using namespace llvm;
using namespace tile_rt;

namespace tilec {

/// How each fat binary begins.
static constexpr StringLiteral kFatbin("\x50\xed\x55\xba");

using Launch = Statement;

static void forEachLaunch(const std::vector<Statement> &host,
                          function_ref<void(const Statement &)> visit) {
  for (const Statement &statement : host) {
    if (statement.kind == Statement::Kind::Launch) {
      visit(statement);
    }
    forEachLaunch(statement.then, visit);
    forEachLaunch(statement.otherwise, visit);
  }
}

/// Names of the entries that variants have in a module.
static std::vector<std::string> entriesOf(const Manifest &manifest, unsigned module) {
  std::vector<std::string> entries;
  for (const Kernel &kernel : manifest.kernels) {
    for (const Configuration &configuration : kernel.configurations) {
      forEachLaunch(configuration.host, [&](const Statement &launch) {
        for (const Variant &variant : launch.variants) {
          if (variant.module == module) {
            entries.push_back(variant.entry);
          }
        }
      });
    }
  }
  return entries;
}

static std::string problemOf(const Manifest &manifest, unsigned index, StringRef body) {
  const Module &module = manifest.modules[index];
  StringRef bytes = body.substr(module.offset, module.bytes);
  if (module.kind == Module::Kind::Fatbin) {
    return bytes.starts_with(kFatbin) ? "" : "it is no fat binary";
  }
  if (module.kind == Module::Kind::Ptx) {
    return bytes.ends_with(StringRef("\0", 1)) ? "" : "its PTX does not end with a zero byte";
  }
  if (!isCubin(bytes)) {
    return "it is no cubin";
  }
  Expected<CubinContents> cubin = readCubin(bytes);
  if (!cubin) {
    return toString(cubin.takeError());
  }
  for (const std::string &entry : entriesOf(manifest, index)) {
    if (none_of(cubin->kernels, [&](const CubinKernel &kernel) { return kernel.name == entry; })) {
      return "it has no kernel `" + entry + "`, which a variant calls";
    }
  }
  return "";
}

std::string readPack(StringRef bytes, PackContents &pack) {
  PackParts parts;
  try {
    parts = splitPack(bytes);
    pack.manifest = parseManifest(parts.manifest, parts.body.size());
  } catch (const tile_rt::Error &error) {
    StringRef text = error.what();
    text.consume_front("malformed pack: ");
    return text.str();
  }
  pack.bytes = bytes.size();
  for (unsigned i = 0; i < pack.manifest.modules.size(); ++i) {
    const std::string problem = problemOf(pack.manifest, i, parts.body);
    if (!problem.empty()) {
      return "module " + std::to_string(i) + ": " + problem;
    }
  }
  return "";
}

} // namespace tilec
