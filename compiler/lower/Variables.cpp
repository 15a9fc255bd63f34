// Variables and flags: buffers of rank 0 (a `vec`: rank 1), or SSA values that structured
// operations hand on as results.
#include "compiler/lower/Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::lower;

bool Lowering::isSsa(VarKey key) const {
  Value known = variables.lookup(key);
  return known && !isa<tile::BufferType>(known.getType());
}

void Lowering::declareVariable(VarKey key, StringRef name, Value init) {
  if (mode == VarMode::Ssa) {
    variables[key] = init;
    return;
  }
  tile::Scope scope = mode == VarMode::Local ? tile::Scope::Local : tile::Scope::Uniform;
  SmallVector<int64_t> shape;
  if (auto vector = dyn_cast<VectorType>(init.getType())) {
    shape.push_back(vector.getDimSize(0));
  }
  auto type =
      tile::BufferType::get(b.getContext(), shape, getElementTypeOrSelf(init.getType()), scope);
  variables[key] = tile::AllocOp::create(b, type, b.getStringAttr(name), StringAttr());
  writeVariable(key, init);
}

Value Lowering::readVariable(VarKey key) {
  Value variable = variables.lookup(key);
  auto type = dyn_cast<tile::BufferType>(variable.getType());
  if (!type) {
    return variable;
  }
  if (type.getRank() == 0) {
    return tile::ReadOp::create(b, type.getElementType(), variable);
  }
  Value zero = intConstant(b.getI32Type(), 0);
  return tile::LoadOp::create(b, VectorType::get(type.getShape(), type.getElementType()), variable,
                              zero);
}

void Lowering::writeVariable(VarKey key, Value value) {
  Value variable = variables.lookup(key);
  auto type = dyn_cast_if_present<tile::BufferType>(variable ? variable.getType() : Type());
  if (!type) {
    variables[key] = value;
  } else if (type.getRank() == 0) {
    tile::WriteOp::create(b, value, variable);
  } else {
    tile::StoreOp::create(b, value, variable, intConstant(b.getI32Type(), 0));
  }
}

void Lowering::dropUnreadFlag(VarKey key) {
  Value flag = variables.lookup(key);
  bool isUnread = !isSsa(key) && llvm::all_of(flag.getUsers(),
                                              [](Operation *op) { return isa<tile::WriteOp>(op); });
  if (!isUnread) {
    return;
  }
  for (Operation *write : llvm::make_early_inc_range(flag.getUsers())) {
    write->erase();
  }
  flag.getDefiningOp()->erase();
  variables.erase(key);
}

//===----------------------------------------------------------------------===//
// Which SSA variables a piece of code changes
//===----------------------------------------------------------------------===//

/// The variable that an assignment changes, if its target is one or an element of one.
static const sema::VarDecl *assignedVariable(const sema::Expr &target) {
  const sema::Expr *expr = &target;
  if (auto *element = llvm::dyn_cast<sema::VecElementExpr>(expr)) {
    expr = element->vec;
  }
  auto *ref = llvm::dyn_cast<sema::RefExpr>(expr);
  return ref ? llvm::dyn_cast<sema::VarDecl>(ref->decl) : nullptr;
}

void Lowering::collectAssigned(sema::Block stmts, const sema::Stmt *inLoop,
                               llvm::SetVector<VarKey> &assigned,
                               llvm::SetVector<VarKey> &declared) {
  for (const sema::Stmt *stmt : stmts) {
    if (auto *var = llvm::dyn_cast<sema::VarStmt>(stmt)) {
      declared.insert({var->decl, kVariable});
    } else if (auto *assign = llvm::dyn_cast<sema::AssignStmt>(stmt)) {
      if (const sema::VarDecl *decl = assignedVariable(*assign->target)) {
        assigned.insert({decl, kVariable});
      }
    } else if (llvm::isa<sema::BreakStmt>(stmt)) {
      assigned.insert({inLoop, kBroken});
    } else if (llvm::isa<sema::ContinueStmt>(stmt)) {
      assigned.insert({inLoop, kContinued});
    } else if (auto *ret = llvm::dyn_cast<sema::ReturnStmt>(stmt)) {
      assigned.insert({activation, kReturned});
      for (unsigned i = 0; i != ret->values.size(); ++i) {
        assigned.insert({activation, kResult + i});
      }
    } else if (auto *inner = llvm::dyn_cast<sema::ForStmt>(stmt)) {
      declared.insert({inner, kBroken});
      declared.insert({inner, kContinued});
      collectAssigned(inner->body, inner, assigned, declared);
    } else if (auto *inner = llvm::dyn_cast<sema::WhileStmt>(stmt)) {
      declared.insert({inner, kBroken});
      declared.insert({inner, kContinued});
      collectAssigned(inner->body, inner, assigned, declared);
    } else if (auto *choice = llvm::dyn_cast<sema::IfStmt>(stmt)) {
      collectAssigned(choice->thenBody, inLoop, assigned, declared);
      collectAssigned(choice->elseBody, inLoop, assigned, declared);
    } else if (auto *scope = llvm::dyn_cast<sema::ScopeStmt>(stmt)) {
      collectAssigned(scope->body, inLoop, assigned, declared);
    }
  }
}

SmallVector<VarKey> Lowering::assignedIn(sema::Block stmts) {
  llvm::SetVector<VarKey> assigned, declared;
  collectAssigned(stmts, loop, assigned, declared);
  SmallVector<VarKey> carried;
  for (VarKey key : assigned) {
    if (!declared.contains(key) && isSsa(key)) {
      carried.push_back(key);
    }
  }
  return carried;
}
