#include "Signature.h"

#include "InputError.h"

namespace tile_rt {

std::string argumentText(const Argument &argument) {
  static const char *const directions[] = {"", "out ", "inout "};
  std::string text = argument.name + ": " + (argument.optional ? "optional " : "") +
                     directions[static_cast<int>(argument.direction)] +
                     (argument.strided ? "strided " : "") + dtypeName(argument.dtype);
  for (size_t d = 0; d < argument.extents.size(); ++d) {
    text += (d ? ", " : "[") + exprText(argument.extents[d]);
  }
  return text + (argument.isTensor ? "]" : "");
}

std::string signatureOf(const Kernel &kernel) {
  std::string text = kernel.symbol + "(";
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    text += (i ? ", " : "") + argumentText(kernel.arguments[i]);
  }
  return text + ")";
}

static std::string archOf(const Manifest &manifest, const std::vector<Statement> &host) {
  for (const Statement &statement : host) {
    if (!statement.variants.empty()) {
      return manifest.modules[statement.variants.front().module].arch;
    }
    for (const auto *branch : {&statement.then, &statement.otherwise}) {
      if (std::string arch = archOf(manifest, *branch); !arch.empty()) {
        return arch;
      }
    }
  }
  return "";
}

std::string archOf(const Manifest &manifest, const Configuration &configuration) {
  return archOf(manifest, configuration.host);
}

void refuseKernel(const Manifest &manifest, const std::string &name) {
  std::string known;
  for (const Kernel &kernel : manifest.kernels) {
    known += (known.empty() ? "" : ", ") + kernel.symbol;
  }
  throw InputError(name.empty() ? "there are several kernels, choose one with `--kernel`: " + known
                                : "there is no kernel `" + name + "`; there are: " + known);
}

} // namespace tile_rt
