#include "compiler/parse/AstPrinterImpl.h"

#include "llvm/ADT/STLExtras.h"

namespace tilec {

using llvm::cast;
using namespace ast;

void Printer::block(const Block &block) {
  os << "{\n";
  ++depth;
  for (const Stmt *stmt : block.statements) {
    line();
    annotations(stmt->annotations);
    statement(*stmt);
  }
  --depth;
  line() << '}';
}

/// Prints with the line break.
void Printer::statement(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Const:
    return constDecl(cast<ConstStmt>(stmt).decl);
  case StmtKind::Buffer:
    return buffer(cast<BufferStmt>(stmt));
  case StmtKind::Let:
    return let(cast<LetStmt>(stmt));
  case StmtKind::Var:
    return var(cast<VarStmt>(stmt));
  case StmtKind::View:
    os << "view " << cast<ViewStmt>(stmt).name.name << " = ";
    expr(*cast<ViewStmt>(stmt).value);
    break;
  case StmtKind::Launch:
    return launch(cast<LaunchStmt>(stmt));
  case StmtKind::Threads:
    axes(cast<ThreadsStmt>(stmt).axes);
    block(cast<ThreadsStmt>(stmt).body);
    os << '\n';
    return;
  case StmtKind::Parallel:
    return parallel(cast<ParallelStmt>(stmt));
  case StmtKind::For:
    return forLoop(cast<ForStmt>(stmt));
  case StmtKind::While:
    os << "while ";
    expr(*cast<WhileStmt>(stmt).condition);
    os << ' ';
    block(cast<WhileStmt>(stmt).body);
    os << '\n';
    return;
  case StmtKind::If:
    ifElse(cast<IfStmt>(stmt));
    os << '\n';
    return;
  case StmtKind::Break:
    os << "break";
    break;
  case StmtKind::Continue:
    os << "continue";
    break;
  case StmtKind::Return:
    os << "return";
    if (const Expr *value = cast<ReturnStmt>(stmt).value) {
      os << ' ';
      expr(*value);
    }
    break;
  case StmtKind::Assign:
    return assign(cast<AssignStmt>(stmt));
  case StmtKind::Call:
    expr(*cast<CallStmt>(stmt).call);
    break;
  }
  os << ";\n";
}

void Printer::constDecl(const ConstDecl &decl) {
  os << "const " << decl.name.name;
  if (decl.type) {
    os << ": ";
    tileType(decl.type);
  }
  os << " = ";
  expr(*decl.value);
  os << ";\n";
}

void Printer::buffer(const BufferStmt &stmt) {
  os << spelling(stmt.bufferKind) << ' ';
  names(stmt.names);
  os << ": ";
  tileType(stmt.type);
  if (stmt.init) {
    os << " = ";
    expr(*stmt.init);
  }
  os << ";\n";
}

void Printer::let(const LetStmt &stmt) {
  os << "let ";
  binder(stmt.names, stmt.isTuple);
  if (stmt.type) {
    os << ": ";
    tileType(stmt.type);
  }
  os << " = ";
  expr(*stmt.value);
  os << ";\n";
}

void Printer::var(const VarStmt &stmt) {
  os << "var " << stmt.name.name;
  if (stmt.type) {
    os << ": ";
    type(*stmt.type);
  }
  os << " = ";
  expr(*stmt.value);
  os << ";\n";
}

void Printer::binder(ArrayRef<Ident> binder, bool isTuple) {
  os << (isTuple ? "(" : "");
  names(binder);
  os << (isTuple ? ")" : "");
}

void Printer::axes(ArrayRef<Axis> axes) {
  os << "threads(";
  llvm::interleaveComma(axes, os, [&](const Axis &axis) {
    os << axis.name.name << ": ";
    expr(*axis.extent);
  });
  os << ") ";
}

void Printer::range(const Range &range) {
  expr(*range.first);
  os << "..";
  expr(*range.last);
  if (range.step) {
    os << " step ";
    expr(*range.step);
  }
}

void Printer::parallel(const ParallelStmt &stmt) {
  os << "parallel ";
  binder(stmt.binder, stmt.isTuple);
  os << " in ";
  expr(*stmt.domain);
  os << ' ';
  block(stmt.body);
  os << '\n';
}

void Printer::launch(const LaunchStmt &stmt) {
  os << "launch ";
  binder(stmt.binder, stmt.isTuple);
  os << " in grid(";
  exprs(stmt.grid);
  os << ") ";
  if (stmt.threadCount) {
    os << "threads(";
    expr(*stmt.threadCount);
    os << ") ";
  } else {
    axes(stmt.axes);
  }
  block(stmt.body);
  os << '\n';
}

void Printer::forLoop(const ForStmt &stmt) {
  os << "for " << stmt.variable.name << " in ";
  if (stmt.forKind == ForKind::Serial) {
    range(stmt.bounds);
  } else {
    os << (stmt.forKind == ForKind::Pipelined ? "pipelined(" : "unrolled(");
    range(stmt.bounds);
    for (const Arg &option : stmt.options) {
      os << ", ";
      arg(option);
    }
    os << ')';
  }
  os << ' ';
  block(stmt.body);
  os << '\n';
}

/// Prints without the line break.
void Printer::ifElse(const IfStmt &stmt) {
  os << "if ";
  expr(*stmt.condition);
  os << ' ';
  block(stmt.thenBlock);
  if (!stmt.elseBlock) {
    return;
  }
  os << " else ";
  if (stmt.elseIf) {
    ifElse(cast<IfStmt>(*stmt.elseBlock->statements[0]));
  } else {
    block(*stmt.elseBlock);
  }
}

void Printer::assign(const AssignStmt &stmt) {
  expr(*stmt.target, postfixLevel);
  os << ' ' << (stmt.hasOp ? spelling(stmt.op) : "") << "= ";
  expr(*stmt.value);
  os << ";\n";
}

} // namespace tilec
