#include "compiler/emit/HostHeader.h"

#include "compiler/basic/Version.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

std::string signatureText(const HostKernel &kernel) {
  std::string text = kernel.symbol + "(";
  ListSeparator separator;
  raw_string_ostream os(text);
  for (const HostArgument &argument : kernel.arguments) {
    static constexpr StringLiteral directions[] = {"", "out ", "inout "};
    os << separator << argument.name << ": " << (argument.isOptional ? "optional " : "")
       << directions[int(argument.direction)] << (argument.isStrided ? "strided " : "")
       << dtypeName(argument.dtype) << argument.shape;
  }
  return text + ")";
}

static void writeStruct(const HostKernel &kernel, raw_ostream &os) {
  os << "/* " << signatureText(kernel) << " */\n";
  os << "typedef struct " << kernel.args << " {\n";
  for (const HostMember &member : kernel.members) {
    os << "  " << member.type << member.name << ";";
    os << (member.comment.empty() ? "" : " /* " + member.comment + " */") << "\n";
  }
  if (kernel.members.empty()) { // C has no empty structs
    os << "  char unused;\n";
  }
  os << "} " << kernel.args << ";\n\n";
}

static void writeFunctions(const HostKernel &kernel, raw_ostream &os) {
  const std::string args = "const " + kernel.args + " *args";
  auto symbol = [&](const std::string &name) {
    return "\n    TILE_SYMBOL(\"" + name + kernel.suffix + "\");\n";
  };
  os << "tile_status " << kernel.call << "(tile_context *context, " << args
     << ", void *stream,\n    void *workspace, size_t workspace_bytes)" << symbol(kernel.call);
  os << "tile_status " << kernel.workspace << "(tile_context *context, " << args
     << ",\n    size_t *bytes)" << symbol(kernel.workspace);
  os << "tile_status " << kernel.prepare << "(tile_context *context);\n";
  os << "tile_status " << kernel.describe << "(tile_context *context, " << args
     << ",\n    char *text, size_t size, size_t *needed)" << symbol(kernel.describe);
  os << "tile_status " << kernel.handle << "(tile_context *context, tile_kernel **kernel)"
     << symbol(kernel.handle) << "\n";
}

std::string writeHeader(ArrayRef<HostKernel> kernels) {
  std::string body;
  raw_string_ostream os(body);
  os << "#include <tile/tile.h>\n\n"
        "#ifdef __cplusplus\n"
        "extern \"C\" {\n"
        "#endif\n\n";
  for (const HostKernel &kernel : kernels) {
    writeStruct(kernel, os);
    writeFunctions(kernel, os);
  }
  os << "#ifdef __cplusplus\n"
        "}\n"
        "#endif\n\n"
     << writeOverlay(kernels);
  // The guard is the text's own: headers of other kernels may have the same file name.
  const std::array<uint8_t, 32> hash = SHA256::hash(arrayRefFromStringRef(body));
  const std::string guard = "TILE_KERNELS_" + toHex(ArrayRef(hash).take_front(8));
  return ("/* Typed calls of the kernels in an object, both written by tilec " + kVersion +
          ".\n"
          " *\n"
          " * NAME_args: device pointers, scalars, and the extents that dimensions have; what is "
          "not\n"
          " *   given has to be 0. Tensors are contiguous unless their strides are given.\n"
          " * NAME: enqueues the call, as tile_launch. NAME_workspace: how much workspace it "
          "needs.\n"
          " * NAME_prepare: loads the code. NAME_describe: what a call would do. NAME_kernel: the "
          "handle\n"
          " *   for other functions of tile/tile.h. */\n"
          "#ifndef " +
          guard + "\n#define " + guard + "\n\n" + body + "#endif\n")
      .str();
}

} // namespace tilec
