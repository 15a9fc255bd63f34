// The part of a header that only C++17 sees: a struct of views for each kernel (call.hpp).
#include "compiler/emit/HostHeader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

/// "TILE_F16"
static std::string enumerator(tile_rt::DType type) {
  return "TILE_" + StringRef(dtypeName(type)).upper();
}

static std::string memberType(const HostArgument &argument) {
  const std::string dtype = enumerator(argument.dtype);
  if (!argument.isTensor) {
    return "::tile::Scalar<" + dtype + ">";
  }
  const bool isRead = argument.direction == HostArgument::Direction::In;
  std::string view = std::string(isRead ? "::tile::In<" : "::tile::Out<") + dtype + ", " +
                     std::to_string(argument.extents.size()) + ">";
  return argument.isOptional ? "::tile::Optional<" + view + ">" : view;
}

static void writeStruct(const HostKernel &kernel, raw_ostream &os) {
  os << "/* " << signatureText(kernel) << " */\nstruct " << kernel.call << " {\n";
  for (const HostArgument &argument : kernel.arguments) {
    const HostMember &member = kernel.members[argument.member];
    os << "  " << memberType(argument) << " " << member.name << ";";
    os << (member.comment.empty() ? "" : " /* " + member.comment + " */") << "\n";
  }
  os << "};\n";
}

static void writeTraits(const HostKernel &kernel, raw_ostream &os) {
  const std::string type = "::tile::kernels::" + kernel.call;
  os << "template <>\nstruct CallTraits<" << type << "> {\n"
     << "  static tile_status find(tile_context *context, tile_kernel **kernel) {\n"
     << "    return ::" << kernel.handle << "(context, kernel);\n  }\n"
     << "  template <class Function>\n  static void visit(const " << type << " &"
     << (kernel.arguments.empty() ? "" : "call") << ", Function &&function) {\n    function(";
  ListSeparator separator;
  for (const HostArgument &argument : kernel.arguments) {
    os << separator << "call." << kernel.members[argument.member].name;
  }
  os << ");\n  }\n};\n";
}

std::string writeOverlay(ArrayRef<HostKernel> kernels) {
  std::string text;
  raw_string_ostream os(text);
  os << "#if defined(__cplusplus) && __cplusplus >= 201703L && defined(__cpp_exceptions) && "
        "!defined(TILE_C_ONLY)\n"
        "#include <tile/call.hpp>\n\n"
        "namespace tile {\nnamespace kernels {\n";
  for (const HostKernel &kernel : kernels) {
    writeStruct(kernel, os);
  }
  os << "} /* namespace kernels */\n\n";
  for (const HostKernel &kernel : kernels) {
    writeTraits(kernel, os);
  }
  os << "} /* namespace tile */\n#endif\n\n";
  return text;
}

} // namespace tilec
