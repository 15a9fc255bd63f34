#include "compiler/parse/AstPrinterImpl.h"

#include "llvm/ADT/STLExtras.h"

namespace tilec {

using llvm::cast;
using namespace ast;

void Printer::file(const File &file) {
  for (const HeaderLine &header : file.header) {
    os << "//!" << header.text << '\n';
  }
  for (const Item *element : file.items) {
    item(*element);
  }
}

void Printer::item(const Item &item) {
  switch (item.kind) {
  case ItemKind::Import:
    os << "import ";
    string(cast<ImportItem>(item).path);
    os << ";\n";
    return;
  case ItemKind::Const:
    return constDecl(cast<ConstItem>(item).decl);
  case ItemKind::Function:
    return function(cast<FunctionItem>(item));
  case ItemKind::Kernel:
    return kernel(cast<KernelItem>(item));
  case ItemKind::Instantiate:
    return instantiate(cast<InstantiateItem>(item));
  case ItemKind::Tune:
    return tune(cast<TuneItem>(item));
  }
}

void Printer::function(const FunctionItem &item) {
  os << (item.isTile ? "\ntile fn " : "\nfn ") << item.name.name;
  generics(item.generics);
  os << '(';
  llvm::interleaveComma(item.params, os, [&](const FunctionParam &param) { functionParam(param); });
  os << ')';
  if (!item.results.empty()) {
    os << " -> " << (item.tupleResult ? "(" : "");
    llvm::interleaveComma(item.results, os, [&](const TileType &result) { tileType(result); });
    os << (item.tupleResult ? ")" : "");
  }
  os << ' ';
  block(item.body);
  os << '\n';
}

void Printer::functionParam(const FunctionParam &param) {
  os << (param.form == FunctionParam::Constant ? "const " : "") << param.name.name << ": ";
  direction(param.direction);
  switch (param.form) {
  case FunctionParam::Value:
    return tileType(param.type);
  case FunctionParam::Buffer:
    os << spelling(param.scope) << ' ';
    return tileType(param.type);
  case FunctionParam::Tensor:
    return tensor(param.type);
  case FunctionParam::Constant:
    os << spelling(param.kind);
    return;
  }
}

void Printer::kernel(const KernelItem &item) {
  os << '\n';
  annotations(item.annotations);
  os << "kernel " << item.name.name;
  generics(item.generics);
  os << '(';
  llvm::interleave(item.params, os, [&](const KernelParam &param) { kernelParam(param); }, ",");
  os << ')';
  where(item.where);
  os << ' ';
  block(item.body);
  os << '\n';
}

void Printer::kernelParam(const KernelParam &param) {
  os << "\n    " << param.name.name << ": ";
  if (!param.isTensor) {
    return tileType(param.type);
  }
  os << (param.isOptional ? "optional " : "");
  direction(param.direction);
  os << (param.isStrided ? "strided " : "");
  tensor(param.type);
  if (param.align) {
    os << " align(";
    expr(*param.align);
    os << ')';
  }
  for (const Ident &name : param.mayAlias) {
    os << " may_alias(" << name.name << ')';
  }
}

void Printer::instantiate(const InstantiateItem &item) {
  os << "\ninstantiate " << item.kernel.name;
  if (!item.given.empty()) {
    os << '<';
    llvm::interleaveComma(item.given, os, [&](const Given &given) {
      if (given.isAuto()) {
        os << "auto";
        return;
      }
      os << given.name.name << " = ";
      expr(*given.value, sumLevel);
    });
    os << '>';
  }
  os << " as " << item.symbol.name;
  where(item.where);
  os << ";\n";
}

void Printer::tune(const TuneItem &item) {
  os << "\ntune " << item.kernel.name << " {\n";
  for (const TuneParam &param : item.params) {
    os << "    " << param.name.name << " in ";
    if (param.list) {
      expr(*param.list);
    } else {
      range(param.bounds);
    }
    os << ";\n";
  }
  if (!item.where.empty()) {
    os << "   ";
    where(item.where);
    os << ";\n";
  }
  if (item.keep) {
    os << "    keep ";
    expr(*item.keep);
    os << ";\n";
  }
  os << "}\n";
}

} // namespace tilec
