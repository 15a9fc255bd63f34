// A pack as text.
#include "compiler/basic/Printable.h"
#include "compiler/inspect/Pack.h"
#include "runtime/harness/Signature.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tile_rt;

namespace tilec {

namespace {
class Printer {
public:
  Printer(const Manifest &manifest, raw_ostream &os) : manifest(manifest), os(os) {}
  void print(unsigned indent);

private:
  raw_ostream &line(unsigned indent) { return os.indent(indent); }
  void printKernel(const Kernel &kernel, unsigned indent);
  void printConfiguration(const Kernel &kernel, unsigned index, unsigned indent);
  void printHost(const std::vector<Statement> &host, unsigned indent);
  void printVariant(const Variant &variant, unsigned indent);
  void printPreference(const Kernel &kernel, const Preference &preference, unsigned indent);

  const Manifest &manifest;
  raw_ostream &os;
};
} // namespace

static std::string joined(const std::vector<Expr> &list) {
  std::string text;
  for (const Expr &expr : list) {
    text += (text.empty() ? "" : ", ") + exprText(expr);
  }
  return printable(text);
}

static std::string joined(const Parameters &params) {
  std::string text;
  for (const auto &[name, value] : params) {
    text.append(text.empty() ? "" : ", ").append(name).append(" = ").append(value);
  }
  return printable(text);
}

static std::string extentsText(const std::array<unsigned, 3> &extents) {
  std::string text = std::to_string(extents[0]);
  for (unsigned i = 1; i < 3 && (extents[1] > 1 || extents[2] > 1); ++i) {
    text += " x " + std::to_string(extents[i]);
  }
  return text;
}

static std::string blocksText(const Blocks &blocks) {
  switch (blocks.kind) {
  case Blocks::Kind::Direct:
    return "a block for each point";
  case Blocks::Kind::Persistent:
    return std::to_string(blocks.perSm) + " for each multiprocessor, at most";
  case Blocks::Kind::Explicit:
    return joined(blocks.extents);
  }
  return "";
}

void Printer::printVariant(const Variant &variant, unsigned indent) {
  line(indent) << "variant " << printable(variant.name) << ": " << printable(variant.entry)
               << " in module " << variant.module << "\n";
  if (variant.guard) {
    line(indent + 2) << "if " << printable(exprText(*variant.guard)) << "\n";
  }
  line(indent + 2) << "blocks: " << blocksText(variant.blocks) << ", of "
                   << extentsText(variant.block) << " threads";
  if (variant.cluster[0] * variant.cluster[1] * variant.cluster[2] > 1) {
    os << ", in clusters of " << extentsText(variant.cluster);
  }
  os << "\n";
  line(indent + 2) << "shared memory: " << variant.sharedBytes << " bytes";
  if (variant.staticSharedBytes != 0) {
    os << ", and " << variant.staticSharedBytes << " static";
  }
  if (variant.registers) {
    os << "; registers: " << *variant.registers;
  }
  if (variant.spillBytes) {
    os << "; spilled: " << *variant.spillBytes << " bytes";
  }
  os << "\n";
  if (!variant.tensorMaps.empty() || !variant.checks.empty() || !variant.prints.empty()) {
    line(indent + 2) << "tensor maps: " << variant.tensorMaps.size()
                     << "; checks: " << variant.checks.size()
                     << "; prints: " << variant.prints.size() << "\n";
  }
}

void Printer::printHost(const std::vector<Statement> &host, unsigned indent) {
  for (const Statement &statement : host) {
    switch (statement.kind) {
    case Statement::Kind::Let:
      line(indent) << printable(statement.name) << " = " << printable(exprText(statement.expr))
                   << "\n";
      break;
    case Statement::Kind::Workspace:
      line(indent) << "workspace " << printable(statement.workspace.name) << ": "
                   << dtypeName(statement.workspace.dtype) << "["
                   << joined(statement.workspace.extents) << "]"
                   << (statement.workspace.init ? " = " + valueText(*statement.workspace.init) : "")
                   << "\n";
      break;
    case Statement::Kind::If:
      line(indent) << "if " << printable(exprText(statement.expr)) << ":\n";
      printHost(statement.then, indent + 2);
      if (!statement.otherwise.empty()) {
        line(indent) << "else:\n";
        printHost(statement.otherwise, indent + 2);
      }
      break;
    case Statement::Kind::Launch:
      line(indent) << "launch " << printable(statement.name) << ", grid (" << joined(statement.grid)
                   << ")\n";
      for (const Variant &variant : statement.variants) {
        printVariant(variant, indent + 2);
      }
      break;
    }
  }
}

void Printer::printConfiguration(const Kernel &kernel, unsigned index, unsigned indent) {
  const Configuration &configuration = kernel.configurations[index];
  const std::string arch = archOf(manifest, configuration);
  line(indent) << "configuration " << index << (arch.empty() ? "" : ", " + printable(arch))
               << (configuration.params.empty() ? "" : ": " + joined(configuration.params)) << "\n";
  for (const Check &check : configuration.checks) {
    line(indent + 2) << "if " << printable(check.text) << "\n";
  }
  printHost(configuration.host, indent + 2);
}

void Printer::printPreference(const Kernel &kernel, const Preference &preference, unsigned indent) {
  std::string text;
  for (const Preference::Range &range : preference.ranges) {
    const std::string &name =
        range.isScalar ? kernel.arguments[range.index].name : kernel.dims[range.index].name;
    text += (text.empty() ? "" : ", ") + name + " from " + std::to_string(range.least) + " to " +
            std::to_string(range.most);
  }
  line(indent) << "measured: configuration " << preference.configuration << " for "
               << printable(text.empty() ? "all calls" : text)
               << (preference.rows
                       ? std::string(", rows: ") + Preference::rowsNames[size_t(*preference.rows)]
                       : "")
               << "\n";
}

void Printer::printKernel(const Kernel &kernel, unsigned indent) {
  line(indent) << "kernel " << printable(signatureOf(kernel)) << "\n";
  if (!kernel.params.empty() || kernel.source != kernel.symbol) {
    line(indent + 2) << printable(kernel.source)
                     << (kernel.params.empty() ? "" : " with " + joined(kernel.params)) << "\n";
  }
  for (const Dimension &dim : kernel.dims) {
    if (dim.value) {
      line(indent + 2) << printable(dim.name) << " = " << *dim.value << "\n";
    }
  }
  for (const Check &check : kernel.checks) {
    line(indent + 2) << "needs " << printable(check.text) << "\n";
  }
  for (unsigned i = 0; i < kernel.configurations.size(); ++i) {
    printConfiguration(kernel, i, indent + 2);
  }
  for (const Preference &preference : kernel.preferences) {
    printPreference(kernel, preference, indent + 2);
  }
}

void Printer::print(unsigned indent) {
  static constexpr StringLiteral kinds[] = {"fat binary", "cubin", "PTX"};
  if (!manifest.sourceHash.empty()) {
    line(indent) << "sources: " << printable(manifest.sourceHash) << "\n";
  }
  for (const auto &[index, module] : enumerate(manifest.modules)) {
    line(indent) << "module " << index << ": " << printable(module.arch) << ", "
                 << kinds[unsigned(module.kind)] << " of " << module.bytes << " bytes";
    if (module.ptxBytes != 0) {
      os << ", and its PTX, " << module.ptxBytes << " bytes";
    }
    os << "\n";
  }
  for (const Kernel &kernel : manifest.kernels) {
    printKernel(kernel, indent);
  }
}

void printPack(const PackContents &pack, unsigned indent, raw_ostream &os) {
  Printer(pack.manifest, os).print(indent);
}

} // namespace tilec
