// A pack as JSON.
#include "compiler/inspect/Pack.h"
#include "runtime/harness/Signature.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tile_rt;

namespace tilec {

static json::Array textsOf(const std::vector<Expr> &list) {
  json::Array texts;
  for (const Expr &expr : list) {
    texts.push_back(exprText(expr));
  }
  return texts;
}

static json::Array textsOf(const std::vector<Check> &list) {
  json::Array texts;
  for (const Check &check : list) {
    texts.push_back(check.text);
  }
  return texts;
}

static json::Object valuesOf(const Parameters &params) {
  json::Object values;
  for (const auto &[name, value] : params) {
    values[name] = value;
  }
  return values;
}

static json::Object describeBlocks(const Blocks &blocks) {
  switch (blocks.kind) {
  case Blocks::Kind::Direct:
    return json::Object{{"kind", "direct"}};
  case Blocks::Kind::Persistent:
    return json::Object{{"kind", "persistent"}, {"blocks_per_sm", blocks.perSm}};
  case Blocks::Kind::Explicit:
    return json::Object{{"kind", "explicit"}, {"extents", textsOf(blocks.extents)}};
  }
  llvm_unreachable("all kinds are handled");
}

static json::Object describeVariant(const Variant &variant) {
  json::Object object{{"name", variant.name},
                      {"entry", variant.entry},
                      {"module", variant.module},
                      {"block", json::Array(variant.block)},
                      {"cluster", json::Array(variant.cluster)},
                      {"blocks", describeBlocks(variant.blocks)},
                      {"shared_bytes", variant.sharedBytes},
                      {"static_shared_bytes", variant.staticSharedBytes},
                      {"tensor_maps", variant.tensorMaps.size()},
                      {"checks", variant.checks.size()},
                      {"prints", variant.prints.size()}};
  if (variant.guard) {
    object["guard"] = exprText(*variant.guard);
  }
  if (variant.registers) {
    object["registers"] = *variant.registers;
  }
  if (variant.spillBytes) {
    object["spill_bytes"] = *variant.spillBytes;
  }
  return object;
}

static json::Array describeHost(const std::vector<Statement> &host) {
  json::Array list;
  for (const Statement &statement : host) {
    switch (statement.kind) {
    case Statement::Kind::Let:
      list.push_back(json::Object{{"let", json::Object{{"name", statement.name},
                                                       {"type", dtypeName(statement.type)},
                                                       {"expr", exprText(statement.expr)}}}});
      break;
    case Statement::Kind::Workspace: {
      const Workspace &memory = statement.workspace;
      json::Object object{{"name", memory.name},
                          {"dtype", dtypeName(memory.dtype)},
                          {"extents", textsOf(memory.extents)}};
      if (memory.init) {
        object["init"] = valueText(*memory.init);
      }
      list.push_back(json::Object{{"workspace", std::move(object)}});
      break;
    }
    case Statement::Kind::If:
      list.push_back(
          json::Object{{"if", json::Object{{"cond", exprText(statement.expr)},
                                           {"then", describeHost(statement.then)},
                                           {"else", describeHost(statement.otherwise)}}}});
      break;
    case Statement::Kind::Launch: {
      json::Array variants;
      for (const Variant &variant : statement.variants) {
        variants.push_back(describeVariant(variant));
      }
      list.push_back(json::Object{{"launch", json::Object{{"name", statement.name},
                                                          {"grid", textsOf(statement.grid)},
                                                          {"variants", std::move(variants)}}}});
      break;
    }
    }
  }
  return list;
}

static json::Object describeArgument(const Argument &argument) {
  json::Object object{{"name", argument.name},
                      {"kind", argument.isTensor ? "tensor" : "scalar"},
                      {"dtype", dtypeName(argument.dtype)}};
  if (argument.isTensor) {
    static constexpr StringLiteral directions[] = {"in", "out", "inout"};
    object["direction"] = directions[unsigned(argument.direction)];
    object["extents"] = textsOf(argument.extents);
    object["optional"] = argument.optional;
    object["strided"] = argument.strided;
    object["align"] = argument.align;
  }
  return object;
}

static json::Object describePreference(const Kernel &kernel, const Preference &preference) {
  json::Object ranges;
  for (const Preference::Range &range : preference.ranges) {
    const std::string &name =
        range.isScalar ? kernel.arguments[range.index].name : kernel.dims[range.index].name;
    ranges[name] = json::Array{range.least, range.most};
  }
  json::Object object{{"ranges", std::move(ranges)}, {"configuration", preference.configuration}};
  if (preference.rows) {
    object["rows"] = Preference::rowsNames[size_t(*preference.rows)];
  }
  return object;
}

static json::Object describeKernel(const Manifest &manifest, const Kernel &kernel) {
  json::Array arguments, configurations, preferences;
  json::Object fixed;
  for (const Argument &argument : kernel.arguments) {
    arguments.push_back(describeArgument(argument));
  }
  for (const Dimension &dim : kernel.dims) {
    if (dim.value) {
      fixed[dim.name] = *dim.value;
    }
  }
  for (const Configuration &configuration : kernel.configurations) {
    configurations.push_back(json::Object{{"arch", archOf(manifest, configuration)},
                                          {"params", valuesOf(configuration.params)},
                                          {"checks", textsOf(configuration.checks)},
                                          {"host", describeHost(configuration.host)}});
  }
  for (const Preference &preference : kernel.preferences) {
    preferences.push_back(describePreference(kernel, preference));
  }
  return json::Object{{"symbol", kernel.symbol},
                      {"source_kernel", kernel.source},
                      {"signature", signatureOf(kernel)},
                      {"params", valuesOf(kernel.params)},
                      {"arguments", std::move(arguments)},
                      {"fixed_dims", std::move(fixed)},
                      {"checks", textsOf(kernel.checks)},
                      {"configurations", std::move(configurations)},
                      {"preferences", std::move(preferences)}};
}

json::Object describePack(const PackContents &pack) {
  static constexpr StringLiteral kinds[] = {"fatbin", "cubin", "ptx"};
  json::Array modules, kernels, archs;
  for (const Module &module : pack.manifest.modules) {
    modules.push_back(json::Object{{"arch", module.arch},
                                   {"kind", kinds[unsigned(module.kind)]},
                                   {"bytes", module.bytes},
                                   {"ptx_bytes", module.ptxBytes}});
    if (!is_contained(archs, json::Value(module.arch))) {
      archs.push_back(module.arch);
    }
  }
  for (const Kernel &kernel : pack.manifest.kernels) {
    kernels.push_back(describeKernel(pack.manifest, kernel));
  }
  return json::Object{{"bytes", pack.bytes},
                      {"tilec", pack.manifest.compiler},
                      {"source_hash", pack.manifest.sourceHash},
                      {"architectures", std::move(archs)},
                      {"modules", std::move(modules)},
                      {"kernels", std::move(kernels)}};
}

} // namespace tilec
