#include "compiler/inspect/InspectCommand.h"

#include "compiler/basic/Printable.h"
#include "compiler/inspect/Cubin.h"
#include "compiler/inspect/HostFile.h"
#include "compiler/inspect/Pack.h"
#include "runtime/include/tile/pack_format.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

namespace {
class Inspector {
public:
  Inspector(const Options &options, DiagnosticEngine &diags, raw_ostream &os)
      : asJson(options.inspect.asJson), diags(diags), os(os) {}
  void inspect(const std::string &file);

private:
  void inspectPack(StringRef bytes);
  void inspectHost(StringRef bytes);
  void inspectCubin(StringRef bytes);
  void reportDamage(const Twine &problem) {
    diags.report(diag::Id::InspectDamaged, SMRange(), name, printable(problem.str()));
  }
  void print(json::Object object) {
    object["file"] = json::fixUTF8(name);
    os << json::Value(std::move(object)) << "\n";
  }

  const bool asJson;
  DiagnosticEngine &diags;
  raw_ostream &os;
  std::string name; ///< of the file that is looked at
};
} // namespace

void Inspector::inspectPack(StringRef bytes) {
  PackContents pack;
  const std::string problem = readPack(bytes, pack);
  if (!problem.empty()) {
    return reportDamage(problem);
  }
  if (asJson) {
    json::Object object = describePack(pack);
    object["kind"] = "pack";
    return print(std::move(object));
  }
  os << name << ": pack of tilec " << printable(pack.manifest.compiler) << ", " << bytes.size()
     << " bytes\n";
  printPack(pack, 2, os);
}

void Inspector::inspectHost(StringRef bytes) {
  Expected<HostFile> file = readHostFile(bytes);
  if (!file) {
    return reportDamage(toString(file.takeError()));
  }
  if (file->packs.empty()) {
    diags.report(diag::Id::InspectForeign, SMRange(), name, "this " + file->kind + " holds no pack")
        .hint("objects that `tilec --emit=obj` writes hold one, and what they are linked into");
    return;
  }
  json::Array list;
  if (!asJson) {
    os << name << ": " << file->kind << (file->machine.empty() ? "" : " for " + file->machine)
       << ", " << bytes.size() << " bytes, with " << file->packs.size()
       << (file->packs.size() == 1 ? " pack\n" : " packs\n");
  }
  for (const EmbeddedPack &embedded : file->packs) {
    const std::string place = "byte " + std::to_string(embedded.offset) +
                              (embedded.member.empty() ? "" : " of " + printable(embedded.member));
    PackContents pack;
    const std::string problem =
        embedded.problem.empty() ? readPack(embedded.bytes, pack) : embedded.problem;
    if (!problem.empty()) {
      reportDamage(Twine("the pack at ") + place + ": " + problem);
    } else if (asJson) {
      json::Object object = describePack(pack);
      object["offset"] = embedded.offset;
      object["member"] = json::fixUTF8(embedded.member);
      list.push_back(std::move(object));
    } else {
      os << "  at " << place << ": pack of tilec " << printable(pack.manifest.compiler) << ", "
         << embedded.bytes.size() << " bytes\n";
      printPack(pack, 4, os);
    }
  }
  if (asJson) {
    print(json::Object{{"kind", file->kind},
                       {"machine", file->machine},
                       {"bytes", bytes.size()},
                       {"packs", std::move(list)}});
  }
}

static std::string extentsText(const std::array<uint32_t, 3> &extents) {
  std::string text = std::to_string(extents[0]);
  for (unsigned i = 1; i < 3 && (extents[1] > 1 || extents[2] > 1); ++i) {
    text += " x " + std::to_string(extents[i]);
  }
  return text;
}

static std::string constantsText(const ConstantBanks &banks) {
  std::string text;
  for (const auto &[bank, bytes] : banks) {
    text += (text.empty() ? "" : ", ") + std::to_string(bytes) + " bytes in bank " +
            std::to_string(bank);
  }
  return text;
}

static json::Object describeConstants(const ConstantBanks &banks) {
  json::Object object;
  for (const auto &[bank, bytes] : banks) {
    object[std::to_string(bank)] = bytes;
  }
  return object;
}

static void printKernel(const CubinKernel &kernel, raw_ostream &os) {
  os << "  kernel " << printable(kernel.name) << "\n    registers: " << kernel.registers
     << "; stack: " << kernel.stackBytes << " bytes; barriers: " << kernel.barriers
     << "\n    shared memory: " << kernel.sharedBytes << " bytes, static";
  if (!kernel.constants.empty()) {
    os << "; constant memory: " << constantsText(kernel.constants);
  }
  os << "\n    parameters: " << kernel.parameters << ", " << kernel.parameterBytes
     << " bytes; code: " << kernel.codeBytes << " bytes\n";
  if (kernel.threads || kernel.cluster) {
    os << "    ";
    if (kernel.threads) {
      os << "threads: " << extentsText(*kernel.threads)
         << (kernel.threadsAreExact ? "" : " at most");
    }
    if (kernel.cluster) {
      os << (kernel.threads ? "; " : "") << "cluster: " << extentsText(*kernel.cluster);
    }
    os << "\n";
  }
}

static json::Object describeKernel(const CubinKernel &kernel) {
  json::Object object{{"name", json::fixUTF8(kernel.name)},
                      {"registers", kernel.registers},
                      {"stack_bytes", kernel.stackBytes},
                      {"barriers", kernel.barriers},
                      {"static_shared_bytes", kernel.sharedBytes},
                      {"constant_bytes", describeConstants(kernel.constants)},
                      {"parameters", kernel.parameters},
                      {"parameter_bytes", kernel.parameterBytes},
                      {"code_bytes", kernel.codeBytes}};
  if (kernel.threads) {
    object[kernel.threadsAreExact ? "threads" : "max_threads"] = json::Array(*kernel.threads);
  }
  if (kernel.cluster) {
    object["cluster"] = json::Array(*kernel.cluster);
  }
  return object;
}

void Inspector::inspectCubin(StringRef bytes) {
  Expected<CubinContents> cubin = readCubin(bytes);
  if (!cubin) {
    return reportDamage(toString(cubin.takeError()));
  }
  if (asJson) {
    json::Array kernels;
    for (const CubinKernel &kernel : cubin->kernels) {
      kernels.push_back(describeKernel(kernel));
    }
    return print(json::Object{{"kind", "cubin"},
                              {"arch", json::fixUTF8(cubin->arch)},
                              {"tool", json::fixUTF8(cubin->tool)},
                              {"bytes", bytes.size()},
                              {"constant_bytes", describeConstants(cubin->constants)},
                              {"kernels", std::move(kernels)}});
  }
  os << name << ": cubin for " << printable(cubin->arch) << ", " << bytes.size() << " bytes\n";
  if (!cubin->tool.empty()) {
    os << "  made by: " << printable(cubin->tool) << "\n";
  }
  if (!cubin->constants.empty()) {
    os << "  constant memory of all kernels: " << constantsText(cubin->constants) << "\n";
  }
  for (const CubinKernel &kernel : cubin->kernels) {
    printKernel(kernel, os);
  }
}

/// What a file is that holds no pack and is no cubin, as far as its first bytes say it.
static std::string foreignKind(StringRef bytes) {
  if (bytes.empty()) {
    return "it is empty";
  }
  if (bytes.starts_with("\x50\xed\x55\xba")) {
    return "it is a fat binary";
  }
  if (bytes.ltrim().starts_with("{")) {
    return "it is JSON, perhaps the manifest of a pack";
  }
  if (bytes.contains(".address_size") && bytes.contains(".target")) {
    return "it is PTX";
  }
  return "it is nothing that is known";
}

void Inspector::inspect(const std::string &file) {
  name = file == "-" ? "<stdin>" : file;
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFileOrSTDIN(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) {
    diags.report(diag::Id::FileRead, SMRange(), file, buffer.getError().message());
    return;
  }
  StringRef bytes = (*buffer)->getBuffer();
  if (bytes.starts_with(StringRef(TILE_PACK_MAGIC, TILE_PACK_MAGIC_BYTES))) {
    inspectPack(bytes);
  } else if (isCubin(bytes)) {
    inspectCubin(bytes);
  } else if (isHostFile(bytes)) {
    inspectHost(bytes);
  } else if (!bytes.empty() && StringRef(TILE_PACK_MAGIC).starts_with(bytes)) {
    reportDamage("it ends within the first word of a pack");
  } else {
    diags.report(diag::Id::InspectForeign, SMRange(), name, foreignKind(bytes));
  }
}

ExitCode inspectFiles(const Options &options) {
  SourceMgr none;
  DiagnosticEngine diags(none);
  diags.setErrorLimit(0); // each file is one of its own
  Inspector inspector(options, diags, outs());
  for (const std::string &file : options.inputs) {
    inspector.inspect(file);
  }
  options.messages->add(diags);
  return diags.hasErrors() ? ExitInput : ExitSuccess;
}

} // namespace tilec
