// `if`, loops and jumps as structured control flow.
//
// `break`, `continue` and `return` are desugared, because the dialect has only structured control
// flow:
//  1. Where one side of an `if` never completes, what follows the `if` moves into the other side:
//     `if c { return; } rest` is `if c { } else { rest }`. This covers most jumps, without a flag.
//  2. Any other jump sets a flag, and what follows a statement that may have jumped runs under `if`
//     no flag is set. A flag belongs to a loop (`broken`, `continued`, the latter new in each
//     iteration) or to the launch or function (`returned`).
//  3. A loop that may be left early becomes `scf.while`, whose condition asks the flags first.
// In SSA mode variables and flags are results of the operations that may change them.
#include "compiler/lower/Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::lower;

//===----------------------------------------------------------------------===//
// Analysis of jumps
//===----------------------------------------------------------------------===//

static Jumps jumpsOf(sema::Block stmts);

/// The jumps that may leave `stmt`.
static Jumps jumpsOf(const sema::Stmt &stmt) {
  using Kind = sema::Stmt::Kind;
  switch (stmt.kind) {
  case Kind::Break:
    return {.breaks = true};
  case Kind::Continue:
    return {.continues = true};
  case Kind::Return:
    return {.returns = true};
  case Kind::Scope:
    return jumpsOf(llvm::cast<sema::ScopeStmt>(stmt).body);
  case Kind::If: {
    const auto &choice = llvm::cast<sema::IfStmt>(stmt);
    return jumpsOf(choice.thenBody) | jumpsOf(choice.elseBody);
  }
  case Kind::For:
    return {.returns = jumpsOf(llvm::cast<sema::ForStmt>(stmt).body).returns};
  case Kind::While:
    return {.returns = jumpsOf(llvm::cast<sema::WhileStmt>(stmt).body).returns};
  default:
    return {};
  }
}

static Jumps jumpsOf(sema::Block stmts) {
  Jumps jumps;
  for (const sema::Stmt *stmt : stmts) {
    jumps = jumps | jumpsOf(*stmt);
  }
  return jumps;
}

/// Whether every path through `stmts` ends in a jump.
static bool neverCompletes(sema::Block stmts) {
  return llvm::any_of(stmts, [](const sema::Stmt *stmt) {
    if (auto *choice = llvm::dyn_cast<sema::IfStmt>(stmt)) {
      return neverCompletes(choice->thenBody) && neverCompletes(choice->elseBody);
    }
    if (auto *scope = llvm::dyn_cast<sema::ScopeStmt>(stmt)) {
      return neverCompletes(scope->body);
    }
    return llvm::isa<sema::BreakStmt, sema::ContinueStmt, sema::ReturnStmt>(stmt);
  });
}

static SmallVector<const sema::Stmt *> concat(sema::Block first, sema::Block second) {
  SmallVector<const sema::Stmt *> all(first);
  all.append(second.begin(), second.end());
  return all;
}

//===----------------------------------------------------------------------===//
// Blocks and jumps
//===----------------------------------------------------------------------===//

void Lowering::lowerBlock(sema::Block stmts) {
  for (auto [i, stmt] : llvm::enumerate(stmts)) {
    Jumps jumps = jumpsOf(*stmt);
    sema::Block rest = stmts.drop_front(i + 1);
    if (!jumps.any() || rest.empty()) {
      lowerStmt(*stmt);
      continue;
    }
    if (llvm::isa<sema::BreakStmt, sema::ContinueStmt, sema::ReturnStmt>(stmt)) {
      lowerStmt(*stmt);
      return; // what follows is never reached
    }
    if (auto *scope = llvm::dyn_cast<sema::ScopeStmt>(stmt)) {
      lowerBlock(concat(scope->body, rest));
      return;
    }
    auto *choice = llvm::dyn_cast<sema::IfStmt>(stmt);
    At at(*this, stmt->range);
    if (choice && neverCompletes(choice->thenBody)) {
      lowerIf(*choice, choice->thenBody, concat(choice->elseBody, rest));
      return;
    }
    if (choice && neverCompletes(choice->elseBody)) {
      lowerIf(*choice, concat(choice->thenBody, rest), choice->elseBody);
      return;
    }
    lowerStmt(*stmt);
    emitIf(notJumped(jumps), assignedIn(rest), [&] { lowerBlock(rest); }, nullptr);
    return;
  }
}

void Lowering::lowerJump(const sema::Stmt &stmt) {
  if (auto *ret = llvm::dyn_cast<sema::ReturnStmt>(&stmt)) {
    for (auto [i, value] : llvm::enumerate(ret->values)) {
      writeVariable({activation, kResult + i}, lowerValue(*value));
    }
    writeVariable({activation, kReturned}, boolConstant(true));
    return;
  }
  unsigned part = llvm::isa<sema::BreakStmt>(stmt) ? kBroken : kContinued;
  writeVariable({loop, part}, boolConstant(true));
}

Value Lowering::notJumped(Jumps jumps) {
  Value any;
  auto ask = [&](VarKey key) {
    Value flag = readVariable(key);
    any = any ? arith::OrIOp::create(b, any, flag) : flag;
  };
  if (jumps.breaks) {
    ask({loop, kBroken});
  }
  if (jumps.continues) {
    ask({loop, kContinued});
  }
  if (jumps.returns) {
    ask({activation, kReturned});
  }
  return any ? arith::XOrIOp::create(b, any, boolConstant(true)).getResult() : Value();
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

void Lowering::lowerIf(const sema::IfStmt &stmt, sema::Block thenBody, sema::Block elseBody) {
  Value condition = lowerValue(*stmt.cond);
  SmallVector<VarKey> carried = assignedIn(concat(thenBody, elseBody));
  auto lowerElse = [&] { lowerBlock(elseBody); };
  emitIf(
      condition, carried, [&] { lowerBlock(thenBody); },
      elseBody.empty() ? llvm::function_ref<void()>() : lowerElse);
}

void Lowering::emitIf(Value condition, ArrayRef<VarKey> carried,
                      llvm::function_ref<void()> thenBody, llvm::function_ref<void()> elseBody) {
  SmallVector<Value> before;
  for (VarKey key : carried) {
    before.push_back(variables.lookup(key));
  }
  bool hasElse = elseBody || !carried.empty();
  auto op = scf::IfOp::create(b, TypeRange(ValueRange(before)), condition, /*addThenBlock=*/true,
                              /*addElseBlock=*/hasElse);
  auto fill = [&](Block *block, llvm::function_ref<void()> body) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(block);
    if (body) {
      body();
    }
    SmallVector<Value> after;
    for (auto [key, old] : llvm::zip_equal(carried, before)) {
      after.push_back(variables.lookup(key));
      variables[key] = old;
    }
    scf::YieldOp::create(b, after);
  };
  fill(op.thenBlock(), thenBody);
  if (hasElse) {
    fill(op.elseBlock(), elseBody);
  }
  for (auto [key, result] : llvm::zip_equal(carried, op.getResults())) {
    variables[key] = result;
  }
}

Values Lowering::emitChoice(Value condition, TypeRange types, llvm::function_ref<Values()> whenTrue,
                            llvm::function_ref<Values()> whenFalse) {
  auto op = scf::IfOp::create(b, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  auto fill = [&](Block *block, llvm::function_ref<Values()> side) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(block);
    scf::YieldOp::create(b, side());
  };
  fill(op.thenBlock(), whenTrue);
  fill(op.elseBlock(), whenFalse);
  return Values(op.getResults().begin(), op.getResults().end());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void Lowering::lowerFor(const sema::ForStmt &stmt) {
  Value lo = lowerValue(*stmt.lo);
  Value hi = lowerValue(*stmt.hi);
  Value step = stmt.step ? lowerValue(*stmt.step) : intConstant(lo.getType(), 1);
  Jumps jumps = jumpsOf(stmt.body);
  if (jumps.breaks || jumps.returns) {
    lowerForWithExit(stmt, lo, hi, step, jumps);
  } else {
    lowerCountedFor(stmt, lo, hi, step);
  }
}

/// One pass through the body of a loop.
void Lowering::lowerIteration(const sema::Stmt *stmt, sema::Block body, bool continues) {
  llvm::SaveAndRestore savedLoop(loop, stmt);
  VarKey continued{stmt, kContinued};
  if (continues) {
    declareVariable(continued, "continued", boolConstant(false));
  }
  lowerBlock(body);
  if (continues) {
    dropUnreadFlag(continued);
  }
}

static void setLoopAttrs(Builder &b, scf::ForOp op, const sema::ForStmt &stmt) {
  if (stmt.mode == sema::ForStmt::Mode::Pipelined) {
    tile::kStages.set(op, b.getI32IntegerAttr(stmt.stages));
    if (stmt.hold != 0) {
      tile::kHold.set(op, b.getI32IntegerAttr(stmt.hold));
    }
    if (stmt.turns) {
      tile::kTurns.set(op, b.getUnitAttr());
    }
  } else if (stmt.mode == sema::ForStmt::Mode::Unrolled) {
    tile::kUnroll.set(op, b.getI32IntegerAttr(stmt.factor));
  }
}

void Lowering::lowerCountedFor(const sema::ForStmt &stmt, Value lo, Value hi, Value step) {
  SmallVector<VarKey> carried;
  {
    llvm::SaveAndRestore<const sema::Stmt *> savedLoop(loop, &stmt);
    carried = assignedIn(stmt.body);
    llvm::erase_if(carried, [&](VarKey key) { return key.first == &stmt; });
  }
  SmallVector<Value> inits;
  for (VarKey key : carried) {
    inits.push_back(variables.lookup(key));
  }
  bool isUnsigned = sema::isUnsignedInteger(stmt.decl->type.elem);
  auto op = scf::ForOp::create(b, lo, hi, step, inits, nullptr, isUnsigned);
  setLoopAttrs(b, op, stmt);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = op.getBody();
    if (!body->empty()) {
      body->getTerminator()->erase();
    }
    b.setInsertionPointToEnd(body);
    values[stmt.decl] = op.getInductionVar();
    for (auto [key, arg] : llvm::zip_equal(carried, op.getRegionIterArgs())) {
      variables[key] = arg;
    }
    lowerIteration(&stmt, stmt.body, jumpsOf(stmt.body).continues);
    SmallVector<Value> yielded;
    for (VarKey key : carried) {
      yielded.push_back(variables.lookup(key));
    }
    scf::YieldOp::create(b, yielded);
  }
  for (auto [key, result] : llvm::zip_equal(carried, op.getResults())) {
    variables[key] = result;
  }
}

void Lowering::lowerForWithExit(const sema::ForStmt &stmt, Value lo, Value hi, Value step,
                                Jumps jumps) {
  // The counter is a variable of the loop; SSA mode makes it an argument of `scf.while`.
  VarKey counter{stmt.decl, kVariable}, broken{&stmt, kBroken};
  declareVariable(counter, stmt.decl->name, lo);
  if (jumps.breaks) {
    declareVariable(broken, "broken", boolConstant(false));
  }
  llvm::SaveAndRestore<const sema::Stmt *> savedLoop(loop, &stmt);
  SmallVector<VarKey> carried = assignedIn(stmt.body);
  llvm::erase_if(carried, [&](VarKey key) { return key == VarKey{&stmt, kContinued}; });
  if (isSsa(counter)) {
    carried.push_back(counter);
  }
  sema::Scalar elem = stmt.decl->type.elem;
  if (!matchPattern(step, m_Constant())) {
    // It makes no trips: its step is tested as that of any loop.
    scf::ForOp::create(b, lo, lo, step, ValueRange(), nullptr, sema::isUnsignedInteger(elem));
  }
  emitWhile(
      carried,
      [&] {
        Value inRange = comparison(sema::BinaryOp::Lt, readVariable(counter), hi, elem);
        Value goesOn = notJumped({.breaks = jumps.breaks, .returns = jumps.returns});
        return arith::AndIOp::create(b, goesOn, inRange).getResult();
      },
      [&] {
        values[stmt.decl] = readVariable(counter);
        lowerIteration(&stmt, stmt.body, jumps.continues);
        writeVariable(counter, nextOrEnd(values.lookup(stmt.decl), hi, step));
      });
}

/// The index after `index`, which is below `end`; `end` itself where that is nearer, so that no
/// type is too small, and where the step is not positive, so that the loop ends.
Value Lowering::nextOrEnd(Value index, Value end, Value step) {
  Value next = arith::AddIOp::create(b, index, step);
  if (matchPattern(step, m_One())) {
    return next;
  }
  Value room = arith::SubIOp::create(b, end, index); // without sign it fits
  if (!matchPattern(step, m_Constant())) {
    Value one = arith::ConstantOp::create(b, b.getIntegerAttr(step.getType(), 1));
    room = arith::SubIOp::create(b, room, one);
    step = arith::SubIOp::create(b, step, one); // without sign the largest for a step of 0
  }
  Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, room, step);
  return arith::SelectOp::create(b, isInside, next, end);
}

void Lowering::lowerWhile(const sema::WhileStmt &stmt) {
  Jumps jumps = jumpsOf(stmt.body);
  VarKey broken{&stmt, kBroken};
  if (jumps.breaks) {
    declareVariable(broken, "broken", boolConstant(false));
  }
  llvm::SaveAndRestore<const sema::Stmt *> savedLoop(loop, &stmt);
  SmallVector<VarKey> carried = assignedIn(stmt.body);
  llvm::erase_if(carried, [&](VarKey key) { return key == VarKey{&stmt, kContinued}; });
  emitWhile(
      carried,
      [&] {
        Value goesOn = notJumped({.breaks = jumps.breaks, .returns = jumps.returns});
        if (!goesOn) {
          return lowerValue(*stmt.cond);
        }
        return emitChoice(
            goesOn, b.getI1Type(), [&] { return Values{lowerValue(*stmt.cond)}; },
            [&] { return Values{boolConstant(false)}; })[0];
      },
      [&] { lowerIteration(&stmt, stmt.body, jumps.continues); });
}

void Lowering::emitWhile(ArrayRef<VarKey> carried, llvm::function_ref<Value()> condition,
                         llvm::function_ref<void()> body) {
  SmallVector<Value> inits;
  for (VarKey key : carried) {
    inits.push_back(variables.lookup(key));
  }
  SmallVector<Type> types(TypeRange{ValueRange(inits)});
  SmallVector<Location> locs(types.size(), b.getLoc());
  auto op = scf::WhileOp::create(b, types, inits);
  auto enter = [&](Region &region) {
    Block *block = b.createBlock(&region, {}, types, locs);
    for (auto [key, arg] : llvm::zip_equal(carried, block->getArguments())) {
      variables[key] = arg;
    }
  };
  auto current = [&] {
    SmallVector<Value> list;
    for (VarKey key : carried) {
      list.push_back(variables.lookup(key));
    }
    return list;
  };
  {
    OpBuilder::InsertionGuard guard(b);
    enter(op.getBefore());
    Value goesOn = condition();
    scf::ConditionOp::create(b, goesOn, current());
    enter(op.getAfter());
    body();
    scf::YieldOp::create(b, current());
  }
  for (auto [key, result] : llvm::zip_equal(carried, op.getResults())) {
    variables[key] = result;
  }
}
