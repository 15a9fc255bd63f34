// Statements.
#include "compiler/lower/Lowering.h"
#include "dialects/tile/Remark.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::lower;

//===----------------------------------------------------------------------===//
// Any statement
//===----------------------------------------------------------------------===//

static tile::CacheHint cacheHint(sema::CachePolicy policy) {
  switch (policy) {
  case sema::CachePolicy::None:
    return tile::CacheHint::None;
  case sema::CachePolicy::EvictFirst:
    return tile::CacheHint::EvictFirst;
  case sema::CachePolicy::EvictLast:
    return tile::CacheHint::EvictLast;
  case sema::CachePolicy::NoAllocate:
    return tile::CacheHint::NoAllocate;
  }
  llvm_unreachable("no such policy");
}

void Lowering::lowerStmt(const sema::Stmt &stmt) {
  if (diagnostics.limitReached()) {
    return;
  }
  At at(*this, stmt.range);
  llvm::SaveAndRestore savedTma(noTma, noTma || stmt.annotations.noTma);
  const tile::CacheHint own = cacheHint(stmt.annotations.cache);
  llvm::SaveAndRestore savedCache(cache, own == tile::CacheHint::None ? cache : own);
  const unsigned hintedBefore = hintedAccesses;
  Block *block = b.getInsertionBlock();
  Operation *before = block->empty() ? nullptr : &block->back();
  lowerStmtInner(stmt);
  attachAnnotations(stmt, block, before);
  if (own != tile::CacheHint::None && hintedAccesses == hintedBefore) {
    tile::remarkOn(symbol, b.getLoc())
        << "@cache has no effect: nothing here accesses global memory";
  }
}

void Lowering::lowerStmtInner(const sema::Stmt &stmt) {
  using Kind = sema::Stmt::Kind;
  switch (stmt.kind) {
  case Kind::Let: {
    const auto &let = llvm::cast<sema::LetStmt>(stmt);
    values[let.decl] = lowerValue(*let.init);
    return;
  }
  case Kind::LetTuple:
    return lowerLetTuple(llvm::cast<sema::LetTupleStmt>(stmt));
  case Kind::Var: {
    const auto &var = llvm::cast<sema::VarStmt>(stmt);
    return declareVariable({var.decl, kVariable}, var.decl->name, lowerValue(*var.init));
  }
  case Kind::Buffer:
    return lowerBuffer(llvm::cast<sema::BufferStmt>(stmt));
  case Kind::Workspace:
    return lowerWorkspace(llvm::cast<sema::WorkspaceStmt>(stmt));
  case Kind::View: {
    const sema::ViewDecl *decl = llvm::cast<sema::ViewStmt>(stmt).decl;
    values[decl] = lowerPlace(*decl->place);
    return;
  }
  case Kind::Launch:
    return lowerLaunch(llvm::cast<sema::LaunchStmt>(stmt));
  case Kind::Scope:
    return lowerBlock(llvm::cast<sema::ScopeStmt>(stmt).body);
  case Kind::Threads:
    return lowerThreads(llvm::cast<sema::ThreadsStmt>(stmt));
  case Kind::Parallel:
    return lowerParallel(llvm::cast<sema::ParallelStmt>(stmt));
  case Kind::For:
    return lowerFor(llvm::cast<sema::ForStmt>(stmt));
  case Kind::While:
    return lowerWhile(llvm::cast<sema::WhileStmt>(stmt));
  case Kind::If: {
    const auto &choice = llvm::cast<sema::IfStmt>(stmt);
    return lowerIf(choice, choice.thenBody, choice.elseBody);
  }
  case Kind::Break:
  case Kind::Continue:
  case Kind::Return:
    return lowerJump(stmt);
  case Kind::Assign:
    return lowerAssign(llvm::cast<sema::AssignStmt>(stmt));
  case Kind::Evaluate:
    (void)lowerResults(*llvm::cast<sema::EvaluateStmt>(stmt).expr);
    return;
  case Kind::Copy:
    return lowerCopy(llvm::cast<sema::CopyStmt>(stmt));
  case Kind::Gemm:
    return lowerGemm(llvm::cast<sema::GemmStmt>(stmt));
  case Kind::Print:
    return lowerPrint(llvm::cast<sema::PrintStmt>(stmt));
  case Kind::Assert:
    return lowerAssert(llvm::cast<sema::AssertStmt>(stmt));
  case Kind::Sync:
    if (llvm::cast<sema::SyncStmt>(stmt).warp) {
      tile::SyncWarpOp::create(b);
    } else {
      tile::SyncThreadsOp::create(b);
    }
    return;
  }
}

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

static std::string requirementText(const sema::Requirement &requirement) {
  using Kind = sema::Requirement::Kind;
  switch (requirement.kind) {
  case Kind::Wgmma:
    return "wgmma";
  case Kind::Mma:
    return "mma";
  case Kind::Tma:
    return "tma";
  case Kind::CpAsync:
    return "cp_async";
  case Kind::Pipelined:
    return "pipelined";
  case Kind::Stages:
    return "stages";
  case Kind::WarpSpecialize:
    return "warp_specialize";
  case Kind::Cluster:
    return "cluster";
  case Kind::NoExchange:
    return "no_exchange";
  case Kind::NoSpill:
    return "no_spill";
  case Kind::NoPartial:
    return "no_partial";
  case Kind::NoSplit:
    return "no_split";
  case Kind::NoVote:
    return "no_vote";
  case Kind::NoNarrow:
    return "no_narrow";
  case Kind::Vector:
    return "vector=" + std::to_string(requirement.bytes);
  }
  llvm_unreachable("no such requirement");
}

ArrayAttr Lowering::requireAttr(ArrayRef<sema::Requirement> list) {
  if (list.empty()) {
    return {};
  }
  SmallVector<Attribute> texts;
  for (const sema::Requirement &requirement : list) {
    texts.push_back(b.getStringAttr(requirementText(requirement)));
  }
  return b.getArrayAttr(texts);
}

/// `@require` of a statement whose operation has no attribute of its own for it: on all operations
/// made for it. That spills are none is required of the whole launch, whose threads share
/// registers.
void Lowering::attachAnnotations(const sema::Stmt &stmt, Block *block, Operation *before) {
  using Kind = sema::Stmt::Kind;
  ArrayAttr require = requireAttr(stmt.annotations.require);
  if (!require || stmt.kind == Kind::Launch) {
    return;
  }
  StringAttr noSpill = b.getStringAttr("no_spill");
  auto launch = dyn_cast<tile::LaunchOp>(block->getParentOp());
  launch = launch ? launch : block->getParentOp()->getParentOfType<tile::LaunchOp>();
  if (launch && llvm::is_contained(require, noSpill)) {
    SmallVector<Attribute> list(launch.getRequireAttr() ? launch.getRequireAttr().getValue()
                                                        : ArrayRef<Attribute>());
    list.push_back(noSpill);
    launch.setRequireAttr(b.getArrayAttr(list));
  }
  if (stmt.kind == Kind::Copy || stmt.kind == Kind::Gemm) {
    return;
  }
  auto first = before ? std::next(before->getIterator()) : block->begin();
  for (Operation &op : llvm::make_range(first, block->end())) {
    if (!op.hasTrait<OpTrait::ConstantLike>()) {
      tile::kRequire.set(&op, require);
    }
  }
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Lowering::lowerLetTuple(const sema::LetTupleStmt &stmt) {
  Values results = lowerResults(*stmt.init);
  for (auto [decl, value] : llvm::zip_equal(stmt.decls, results)) {
    values[decl] = value;
  }
}

static std::string layoutText(const sema::LayoutChoice &layout) {
  using Kind = sema::LayoutChoice::Kind;
  switch (layout.kind) {
  case Kind::Inferred:
    return "";
  case Kind::RowMajor:
    return "row_major";
  case Kind::Swizzle:
    return "swizzle(" + std::to_string(layout.amount) + ")";
  case Kind::Padded:
    return "padded(" + std::to_string(layout.amount) + ")";
  }
  llvm_unreachable("no such layout");
}

static tile::Scope scopeOf(sema::Space space) {
  switch (space) {
  case sema::Space::Shared:
    return tile::Scope::Shared;
  case sema::Space::Fragment:
    return tile::Scope::Fragment;
  default:
    return tile::Scope::Local;
  }
}

void Lowering::lowerBuffer(const sema::BufferStmt &stmt) {
  const sema::BufferDecl &decl = *stmt.decl;
  Value init = stmt.init ? lowerValue(*stmt.init) : Value();
  std::string layout = layoutText(decl.layout);
  Value buffer = tile::AllocOp::create(b, bufferType(decl.type, scopeOf(decl.space)),
                                       b.getStringAttr(decl.name),
                                       layout.empty() ? StringAttr() : b.getStringAttr(layout));
  values[&decl] = buffer;
  if (init) {
    tile::WriteOp::create(b, init, buffer);
  }
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void Lowering::lowerThreads(const sema::ThreadsStmt &stmt) {
  SmallVector<int32_t> axes;
  for (const sema::ThreadAxis &axis : stmt.axes) {
    axes.push_back(axis.extent);
  }
  auto op = tile::ThreadsOp::create(b, b.getDenseI32ArrayAttr(axes));
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&op.getBody());
  for (const sema::ThreadAxis &axis : stmt.axes) {
    values[axis.decl] = body->addArgument(b.getI32Type(), location(axis.decl->range));
  }
  llvm::SaveAndRestore savedMode(mode, VarMode::Local);
  llvm::SaveAndRestore savedRegion(inRegion, true);
  lowerBlock(stmt.body);
  tile::YieldOp::create(b);
}

void Lowering::lowerParallel(const sema::ParallelStmt &stmt) {
  Value domain;
  if (stmt.domain && llvm::any_of(stmt.extents, [](const sema::Extent &e) {
        return e.constant == sema::kDynamic && !e.expr;
      })) {
    domain = lowerPlace(*stmt.domain);
  }
  SmallVector<Value> sizes;
  for (auto [axis, binder] : llvm::enumerate(stmt.binders)) {
    const sema::Extent &extent = stmt.extents[axis];
    bool isStatic = extent.constant != sema::kDynamic;
    Value size = isStatic || extent.expr ? extentValue(extent) : extentOf(domain, axis);
    sizes.push_back(resizeInteger(size, sema::Scalar::I64, valueType(binder->type)));
    if (isStatic) {
      parallelExtents[binder] = extent.constant;
    }
  }
  auto op = tile::ParallelOp::create(b, sizes);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&op.getBody());
  for (const sema::IndexDecl *binder : stmt.binders) {
    values[binder] = body->addArgument(valueType(binder->type), location(binder->range));
  }
  llvm::SaveAndRestore savedMode(mode, VarMode::Ssa);
  lowerBlock(stmt.body);
  tile::YieldOp::create(b);
}

//===----------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------===//

Value Lowering::assignedValue(const sema::AssignStmt &stmt, llvm::function_ref<Value()> old) {
  Value value = lowerValue(*stmt.value);
  if (!stmt.op) {
    return value;
  }
  Value before = old();
  return arithmetic(*stmt.op, before, value, stmt.target->type.elem, stmt.value->type.elem);
}

void Lowering::lowerAssign(const sema::AssignStmt &stmt) {
  const sema::Expr &target = *stmt.target;
  if (auto *element = llvm::dyn_cast<sema::VecElementExpr>(&target)) {
    VarKey key{llvm::cast<sema::RefExpr>(element->vec)->decl, kVariable};
    Value index = lowerIndex(*element->index);
    if (isSsa(key)) {
      Value position = arith::IndexCastOp::create(b, b.getIndexType(), index);
      Value value = assignedValue(stmt, [&]() -> Value {
        return vector::ExtractOp::create(b, readVariable(key), OpFoldResult(position));
      });
      writeVariable(key, vector::InsertOp::create(b, value, readVariable(key),
                                                  ArrayRef<OpFoldResult>{position}));
      return;
    }
    Access access{variables.lookup(key), {index}};
    return store(access, assignedValue(stmt, [&] { return load(access, target.type); }),
                 target.range);
  }
  if (auto *element = llvm::dyn_cast<sema::ElementExpr>(&target)) {
    Access access = lowerAccess(*element->base, element->indices, target.type);
    return store(access, assignedValue(stmt, [&] { return load(access, target.type); }),
                 target.range);
  }
  if (auto *element = llvm::dyn_cast<sema::VecAccessExpr>(&target)) {
    Access access = lowerAccess(*element->base, element->indices, target.type);
    return store(access, assignedValue(stmt, [&] { return load(access, target.type); }),
                 target.range);
  }
  if (auto *ref = llvm::dyn_cast<sema::RefExpr>(&target);
      ref && ref->decl->kind == sema::Decl::Kind::Var) {
    VarKey key{ref->decl, kVariable};
    return writeVariable(key, assignedValue(stmt, [&] { return readVariable(key); }));
  }
  Value place = lowerPlace(target);
  Value value = assignedValue(stmt, [&] { return readPlace(place); });
  tile::WriteOp::create(b, value, place);
}

//===----------------------------------------------------------------------===//
// Diagnostics of the program
//===----------------------------------------------------------------------===//

/// The text with `{}` where values stand.
static std::string formatText(const sema::FormatString &format) {
  return llvm::join(format.text, "{}");
}

DenseI32ArrayAttr Lowering::lowerFormatArgs(const sema::FormatString &format,
                                            SmallVectorImpl<Value> &args) {
  SmallVector<int32_t> unsignedArgs;
  for (auto [i, arg] : llvm::enumerate(format.args)) {
    args.push_back(lowerValue(*arg));
    if (sema::isUnsignedInteger(arg->type.elem) || arg->type.elem == sema::Scalar::U4) {
      unsignedArgs.push_back(i);
    }
  }
  return unsignedArgs.empty() ? DenseI32ArrayAttr() : b.getDenseI32ArrayAttr(unsignedArgs);
}

void Lowering::lowerPrint(const sema::PrintStmt &stmt) {
  SmallVector<Value> args;
  DenseI32ArrayAttr unsignedArgs = lowerFormatArgs(stmt.format, args);
  tile::PrintOp::create(b, b.getStringAttr(formatText(stmt.format)), args, unsignedArgs,
                        /*place=*/IntegerAttr(), /*scratch=*/IntegerAttr());
}

void Lowering::lowerAssert(const sema::AssertStmt &stmt) {
  Value condition = lowerValue(*stmt.cond);
  if (isa<RankedTensorType, VectorType>(condition.getType())) {
    condition = tile::ReduceOp::create(b, b.getI1Type(), tile::CombineKind::And, condition,
                                       IntegerAttr(), /*is_unsigned=*/false);
  }
  if (stmt.assume) {
    tile::AssumeOp::create(b, condition);
    return;
  }
  std::string text = stmt.sourceText.str();
  SmallVector<Value> args;
  DenseI32ArrayAttr unsignedArgs;
  if (!stmt.message.text.empty()) {
    text += ": " + formatText(stmt.message);
    unsignedArgs = lowerFormatArgs(stmt.message, args);
  }
  tile::AssertOp::create(b, condition, text, args, unsignedArgs);
}
