//===- Builtins.cpp - The table of built-in functions ---------------------===//
#include "compiler/sema/Builtins.h"

#include "compiler/sema/Expr.h"

#include "llvm/ADT/StringMap.h"

namespace tilec::sema {

namespace {
struct Row {
  llvm::StringLiteral name;
  BuiltinClass cls;
  llvm::StringLiteral params;
  llvm::StringLiteral contexts;
};
constexpr Row rows[] = {
#define TILE_BUILTIN(ENUM, NAME, CLASS, PARAMS, CONTEXTS)                                          \
  {NAME, BuiltinClass::CLASS, PARAMS, CONTEXTS},
#include "compiler/sema/Builtins.def"
};

BuiltinParam parseParam(llvm::StringRef text) {
  BuiltinParam p;
  p.named = p.optional = text.consume_front("=");
  p.word = text.consume_front("#");
  p.optional |= text.consume_back("?");
  p.repeated = text.consume_back("*");
  p.name = text;
  return p;
}

llvm::StringMap<BuiltinInfo> buildTable() {
  llvm::StringMap<BuiltinInfo> table;
  for (unsigned i = 0; i < std::size(rows); ++i) {
    const Row &row = rows[i];
    BuiltinInfo info{Builtin(i), row.name, row.cls, {}, row.contexts};
    llvm::SmallVector<llvm::StringRef, 9> parts;
    row.params.split(parts, ' ', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef part : parts) {
      info.params.push_back(parseParam(part));
    }
    table[row.name] = std::move(info);
  }
  return table;
}
} // namespace

llvm::ArrayRef<llvm::StringRef> builtinNames() {
  static constexpr llvm::StringRef names[] = {
#define TILE_BUILTIN(ENUM, NAME, CLASS, PARAMS, CONTEXTS) NAME,
#include "compiler/sema/Builtins.def"
  };
  return names;
}

const BuiltinInfo *findBuiltin(llvm::StringRef name) {
  static const llvm::StringMap<BuiltinInfo> table = buildTable();
  auto it = table.find(name);
  return it == table.end() ? nullptr : &it->second;
}

} // namespace tilec::sema
