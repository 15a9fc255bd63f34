#include "compiler/parse/Ast.h"

#include "llvm/Support/ErrorHandling.h"

namespace tilec::ast {

StringRef spelling(UnaryOp op) {
  switch (op) {
  case UnaryOp::Negate:
    return "-";
  case UnaryOp::Not:
    return "!";
  case UnaryOp::Complement:
    return "~";
  }
  llvm_unreachable("all operators are handled");
}

StringRef spelling(BinaryOp op) {
  static constexpr llvm::StringLiteral table[] = {
      "||", "&&", "==", "!=", "<", "<=", ">", ">=", "|",
      "^",  "&",  "<<", ">>", "+", "-",  "*", "/",  "%"};
  return table[static_cast<unsigned>(op)];
}

StringRef spelling(Direction direction) {
  switch (direction) {
  case Direction::In:
    return "";
  case Direction::Out:
    return "out";
  case Direction::InOut:
    return "inout";
  }
  llvm_unreachable("all directions are handled");
}

StringRef spelling(Scope scope) {
  switch (scope) {
  case Scope::Shared:
    return "shared";
  case Scope::Fragment:
    return "fragment";
  case Scope::Local:
    return "local";
  }
  llvm_unreachable("all scopes are handled");
}

StringRef spelling(ParamKind kind) {
  switch (kind) {
  case ParamKind::Int:
    return "int";
  case ParamKind::Bool:
    return "bool";
  case ParamKind::Type:
    return "type";
  }
  llvm_unreachable("all kinds are handled");
}

StringRef spelling(BufferKind kind) {
  switch (kind) {
  case BufferKind::Shared:
    return "shared";
  case BufferKind::Fragment:
    return "fragment";
  case BufferKind::Local:
    return "local";
  case BufferKind::Workspace:
    return "workspace";
  }
  llvm_unreachable("all kinds are handled");
}

} // namespace tilec::ast
