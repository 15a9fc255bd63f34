// Kernels and their host part.
#include "compiler/lower/Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::lower;

//===----------------------------------------------------------------------===//
// Interface of a kernel
//===----------------------------------------------------------------------===//

static StringRef directionName(sema::Direction direction) {
  switch (direction) {
  case sema::Direction::In:
    return "in";
  case sema::Direction::Out:
    return "out";
  case sema::Direction::InOut:
    return "inout";
  }
  llvm_unreachable("no such direction");
}

/// The attributes of an argument, as documented at `tile.kernel`.
static DictionaryAttr argumentAttrs(Builder &b, const sema::Param &param) {
  NamedAttrList attrs;
  const sema::Decl *decl = param.tensor ? (const sema::Decl *)param.tensor : param.scalar;
  tile::kName.set(attrs, b.getStringAttr(decl->name));
  tile::kDtype.set(attrs, b.getStringAttr(sema::scalarName(decl->type.elem)));
  if (const sema::TensorParam *tensor = param.tensor) {
    tile::kDirection.set(attrs, b.getStringAttr(directionName(tensor->dir)));
    if (tensor->optional) {
      tile::kOptional.set(attrs, b.getUnitAttr());
    }
    if (tensor->strided) {
      tile::kStrided.set(attrs, b.getUnitAttr());
    }
    if (tensor->align != 16) {
      tile::kAlign.set(attrs, b.getI64IntegerAttr(tensor->align));
    }
    if (!tensor->mayAlias.empty()) {
      SmallVector<StringRef> names;
      for (const sema::TensorParam *other : tensor->mayAlias) {
        names.push_back(other->name);
      }
      tile::kMayAlias.set(attrs, b.getStrArrayAttr(names));
    }
  }
  return attrs.getDictionary(b.getContext());
}

static Attribute bindingAttr(Builder &b, const sema::Binding &binding) {
  int64_t number = 0;
  switch (binding.kind) {
  case sema::Binding::Kind::Bool:
    return b.getBoolAttr(binding.value == "true");
  case sema::Binding::Kind::Int:
    if (!StringRef(binding.value).getAsInteger(10, number)) {
      return b.getI64IntegerAttr(number);
    }
    break;
  case sema::Binding::Kind::Type:
    break;
  }
  return b.getStringAttr(binding.value);
}

void Lowering::lowerKernel(const sema::KernelInstance &kernel) {
  At at(*this, kernel.range);
  fastMath = kernel.fastMath;
  symbol = kernel.symbol;
  SmallVector<Type> types;
  SmallVector<Attribute> argAttrs;
  for (const sema::Param &param : kernel.params) {
    types.push_back(param.tensor ? globalType(param.tensor->type) : valueType(param.scalar->type));
    argAttrs.push_back(argumentAttrs(b, param));
  }
  NamedAttrList parameters;
  for (const sema::Binding &binding : kernel.bindings) {
    parameters.set(binding.name, bindingAttr(b, binding));
  }
  auto op = tile::KernelOp::create(
      b, b.getStringAttr(kernel.symbol), TypeAttr::get(b.getFunctionType(types, {})), StringAttr(),
      b.getArrayAttr(argAttrs), ArrayAttr(), b.getStringAttr(kernel.sourceName),
      parameters.getDictionary(b.getContext()), kernel.fastMath ? b.getUnitAttr() : UnitAttr());

  OpBuilder::InsertionGuard guard(b);
  Block *entry = b.createBlock(&op.getBody());
  for (const sema::Param &param : kernel.params) {
    const sema::Decl *decl = param.tensor ? (const sema::Decl *)param.tensor : param.scalar;
    Type type = types[entry->getNumArguments()];
    values[decl] = entry->addArgument(type, location(decl->range));
  }
  lowerDimensions(kernel);
  lowerBlock(kernel.body);
  tile::ReturnOp::create(b);
}

//===----------------------------------------------------------------------===//
// Dimensions and checks
//===----------------------------------------------------------------------===//

void Lowering::lowerDimensions(const sema::KernelInstance &kernel) {
  for (const sema::DimDecl *dim : kernel.dims) {
    At at(*this, dim->range);
    if (!dim->constant) {
      values[dim] = tile::DimOp::create(b, b.getI32Type(), dim->name, values.lookup(dim->source),
                                        dim->axis, dim->offset);
    }
  }
  for (const sema::Param &param : kernel.params) {
    if (!param.tensor) {
      continue;
    }
    SmallVector<Value> &list = extents[values.lookup(param.tensor)];
    for (const sema::Extent &extent : param.tensor->extents) {
      bool isStatic = extent.constant != sema::kDynamic;
      list.push_back(isStatic ? Value() : extentValue(extent));
      if (!isStatic) {
        tensorExtents[extent.expr] = list.back();
      }
    }
  }
  for (const sema::DimCheck &check : kernel.dimChecks) {
    lowerDimCheck(check);
  }
  for (const sema::WhereCheck &check : kernel.whereChecks) {
    At at(*this, check.range);
    Value condition = lowerValue(*check.cond);
    tile::CheckOp::create(b, condition, "where-failed", check.text, Value());
  }
}

/// Always `arith.cmpi eq, tile.extent, expected`: the manifest takes a tensor's extents from here.
void Lowering::lowerDimCheck(const sema::DimCheck &check) {
  At at(*this, check.range);
  Value expected = tensorExtents.lookup(check.expected);
  if (!expected) {
    expected = hostExtent(lowerValue(*check.expected), check.expected->type.elem);
  }
  Value actual =
      tile::ExtentOp::create(b, expected.getType(), values.lookup(check.tensor), check.axis);
  Value equal = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, actual, expected);
  std::string text =
      ("extent " + Twine(check.axis) + " of `" + check.tensor->name + "` is `" + check.text + "`")
          .str();
  if (check.other && check.other != check.tensor) {
    text += (", which `" + check.other->name + "` binds").str();
  }
  Value optional = check.tensor->optional ? values.lookup(check.tensor) : Value();
  tile::CheckOp::create(b, equal, "dim-mismatch", text, optional);
}

Value Lowering::hostExtent(Value value, sema::Scalar elem) {
  bool wide = sema::scalarBits(elem) > 32 || elem == sema::Scalar::U32;
  return resizeInteger(value, elem, wide ? b.getI64Type() : b.getI32Type());
}

Value Lowering::extentValue(const sema::Extent &extent) {
  if (extent.constant != sema::kDynamic && llvm::isInt<32>(extent.constant)) {
    return intConstant(b.getI32Type(), extent.constant);
  }
  return hostExtent(lowerValue(*extent.expr), extent.expr->type.elem);
}

//===----------------------------------------------------------------------===//
// Workspaces and launches
//===----------------------------------------------------------------------===//

void Lowering::lowerWorkspace(const sema::WorkspaceStmt &stmt) {
  const sema::WorkspaceDecl &decl = *stmt.decl;
  SmallVector<Value> operands, list;
  for (const sema::Extent &extent : decl.extents) {
    bool isStatic = extent.constant != sema::kDynamic;
    list.push_back(isStatic ? Value() : extentValue(extent));
    if (!isStatic) {
      operands.push_back(list.back());
    }
  }
  TypedAttr init;
  if (decl.init) {
    init = constantAttr(*llvm::cast<sema::ConstantExpr>(decl.init));
  }
  Value workspace =
      tile::WorkspaceOp::create(b, globalType(decl.type), b.getStringAttr(decl.name), operands,
                                init, b.getStringAttr(sema::scalarName(decl.type.elem)));
  values[&decl] = workspace;
  extents[workspace] = list;
}

static StringAttr specializationAttr(Builder &b, sema::LaunchAnnotations::WarpSpecialize choice) {
  using Choice = sema::LaunchAnnotations::WarpSpecialize;
  switch (choice) {
  case Choice::Auto:
    return {};
  case Choice::Off:
    return b.getStringAttr("off");
  case Choice::Producer:
    return b.getStringAttr("producer");
  case Choice::Operations:
    return b.getStringAttr("operations");
  case Choice::PingPong:
    return b.getStringAttr("pingpong");
  }
  llvm_unreachable("no such choice");
}

static void setLaunchAttrs(Builder &b, tile::LaunchOp op, const sema::LaunchAnnotations &launch) {
  auto optionalI32 = [&](std::optional<int64_t> value) {
    return value ? b.getI32IntegerAttr(*value) : IntegerAttr();
  };
  if (launch.persistent) {
    op.setPersistentAttr(b.getStringAttr(launch.persistentDynamic ? "dynamic" : "static"));
  }
  op.setOverlap(launch.overlap);
  op.setMinBlocksAttr(optionalI32(launch.minBlocks));
  op.setMaxRegistersAttr(optionalI32(launch.maxRegisters));
  op.setWarpSpecializeAttr(specializationAttr(b, launch.warpSpecialize));
  if (!launch.cluster.empty()) {
    SmallVector<int32_t> cluster(launch.cluster.begin(), launch.cluster.end());
    op.setClusterAttr(b.getDenseI32ArrayAttr(cluster));
  }
}

/// Of a panel of grid points (i32), at least 1; null where it is 1.
Value Lowering::panelHeight(const sema::Expr *expr) {
  auto *constant = llvm::dyn_cast_or_null<sema::ConstantExpr>(expr);
  if (!expr || (constant && constant->intValue <= 1)) {
    return {};
  }
  Value value = hostExtent(lowerValue(*expr), expr->type.elem);
  auto bound = [&](int64_t number) { return intConstant(value.getType(), number); };
  value = b.createOrFold<arith::MaxSIOp>(value, bound(1));
  if (value.getType().isInteger(64)) {
    value = b.createOrFold<arith::MinSIOp>(value, bound(INT32_MAX));
    value = b.createOrFold<arith::TruncIOp>(b.getI32Type(), value);
  }
  return value;
}

void Lowering::lowerLaunch(const sema::LaunchStmt &stmt) {
  SmallVector<Value> grid;
  for (const sema::Expr *extent : stmt.grid) {
    grid.push_back(hostExtent(lowerValue(*extent), extent->type.elem));
  }
  auto op = tile::LaunchOp::create(
      b, grid, panelHeight(stmt.launch.rasterizeGroup), b.getI32IntegerAttr(stmt.threads),
      StringAttr(), DenseI32ArrayAttr(), IntegerAttr(), IntegerAttr(), StringAttr(),
      stmt.annotations.noTma ? b.getUnitAttr() : UnitAttr(), requireAttr(stmt.annotations.require),
      /*overlap=*/UnitAttr());
  setLaunchAttrs(b, op, stmt.launch);

  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&op.getBody());
  for (const sema::IndexDecl *binder : stmt.binders) {
    values[binder] = body->addArgument(b.getI32Type(), location(binder->range));
  }
  llvm::SaveAndRestore savedMode(mode, VarMode::Uniform);
  llvm::SaveAndRestore savedThreads(threads, stmt.threads);
  llvm::SaveAndRestore savedTma(noTma, false); // the launch's attribute says it for all
  llvm::SaveAndRestore<const void *> savedActivation(activation, &stmt);
  VarKey returned{&stmt, kReturned};
  declareVariable(returned, "returned", boolConstant(false));
  lowerBlock(stmt.body);
  dropUnreadFlag(returned);
  tile::YieldOp::create(b);
}
