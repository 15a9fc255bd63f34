//===- HostCodegen.cpp - values, memory and records of generated code -----===//
#include "compiler/cpu/HostCodegen.h"

#include "dialects/tile/ElementNames.h"

#include "llvm/ADT/TypeSwitch.h"

namespace tilec::cpu {

using namespace mlir;

std::optional<DType> dtypeOf(Type type, bool isUnsigned) {
  return tile_rt::dtypeFromName(tile::elementName(type, isUnsigned));
}

Type elementTypeOf(Type type) {
  return llvm::TypeSwitch<Type, Type>(type)
      .Case<tile::GlobalType, tile::BufferType, RankedTensorType, VectorType>(
          [](auto shaped) { return shaped.getElementType(); })
      .Default([](Type scalar) { return scalar; });
}

ArrayRef<int64_t> shapeOf(Type type) {
  return llvm::TypeSwitch<Type, ArrayRef<int64_t>>(type)
      .Case<tile::GlobalType, tile::BufferType, RankedTensorType, VectorType>(
          [](auto shaped) { return shaped.getShape(); })
      .Default([](Type) { return ArrayRef<int64_t>(); });
}

bool isTile(Type type) { return isa<RankedTensorType, VectorType>(type); }

HostCodegen::HostCodegen(llvm::Module &module, int32_t smCount, bool checksHost)
    : module(module), context(module.getContext()), b(context), smCount(smCount),
      checksHost(checksHost) {
  ptr = b.getPtrTy();
  i64 = b.getInt64Ty();
  f32 = b.getFloatTy();
  f64 = b.getDoubleTy();
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

llvm::Type *HostCodegen::scalarType(Type type) {
  DType num = dtypeOf(type).value_or(DType::I64);
  switch (num) {
  case DType::F64:
    return f64;
  case DType::F32:
    return f32;
  case DType::Bool:
    return b.getInt1Ty();
  default:
    return b.getIntNTy(std::max(8u, dtypeBits(num)));
  }
}

llvm::Type *HostCodegen::memoryType(Type type) {
  return type.isInteger(1) ? b.getInt8Ty() : scalarType(type);
}

HostValue HostCodegen::scalarOf(Type type, uint64_t bits) {
  llvm::Type *host = scalarType(type);
  if (host->isFloatTy()) {
    llvm::APInt pattern(32, (uint32_t)bits);
    return llvm::ConstantFP::get(context, llvm::APFloat(llvm::APFloat::IEEEsingle(), pattern));
  }
  if (host->isDoubleTy()) {
    llvm::APInt pattern(64, bits);
    return llvm::ConstantFP::get(context, llvm::APFloat(llvm::APFloat::IEEEdouble(), pattern));
  }
  return llvm::ConstantInt::get(host, llvm::APInt(host->getIntegerBitWidth(), bits, false, true));
}

HostValue HostCodegen::toWord(HostValue integer, bool isUnsigned) {
  return isUnsigned ? b.CreateZExtOrTrunc(integer, i64) : b.CreateSExtOrTrunc(integer, i64);
}

HostValue HostCodegen::toBits(HostValue scalar) {
  if (scalar->getType()->isFloatTy()) {
    scalar = b.CreateBitCast(scalar, b.getInt32Ty());
  } else if (scalar->getType()->isDoubleTy()) {
    scalar = b.CreateBitCast(scalar, i64);
  }
  return b.CreateZExt(scalar, i64);
}

HostValue HostCodegen::fromBits(Type type, HostValue bits) {
  llvm::Type *host = scalarType(type);
  if (host->isFloatTy()) {
    return b.CreateBitCast(b.CreateTrunc(bits, b.getInt32Ty()), host);
  }
  return host->isDoubleTy() ? b.CreateBitCast(bits, host) : b.CreateTrunc(bits, host);
}

HostValue HostCodegen::decodeTo(Type type, HostValue scalar, llvm::Type *to) {
  HostValue value = scalar;
  if (isa<BFloat16Type>(type)) {
    value = b.CreateBitCast(b.CreateShl(b.CreateZExt(scalar, b.getInt32Ty()), 16), f32);
  } else if (!scalar->getType()->isFloatingPointTy()) {
    value =
        call("tile_host_decode", f64, {word((int64_t)*dtypeOf(type)), b.CreateZExt(scalar, i64)},
             /*pure=*/true);
  }
  return b.CreateFPCast(value, to);
}

HostValue HostCodegen::widen(Type type, HostValue scalar) {
  return type.isF32() ? scalar : decodeTo(type, scalar, f64);
}

HostValue HostCodegen::narrow(Type type, HostValue wide) {
  if (type.isF32() || type.isF64()) {
    return b.CreateFPCast(wide, scalarType(type));
  }
  HostValue bits =
      call("tile_host_encode", i64, {word((int64_t)*dtypeOf(type)), b.CreateFPCast(wide, f64)},
           /*pure=*/true);
  return b.CreateTrunc(bits, scalarType(type));
}

//===----------------------------------------------------------------------===//
// Values across functions
//===----------------------------------------------------------------------===//

/// `value` in the function being written. A region that is a function of its own loads what it uses
/// from outside from its closure.
HostValue HostCodegen::local(HostValue value) {
  if (!value || isa<llvm::Constant>(value)) {
    return value;
  }
  llvm::Function *home = nullptr;
  if (auto *instruction = dyn_cast<llvm::Instruction>(value)) {
    home = instruction->getFunction();
  } else if (auto *argument = dyn_cast<llvm::Argument>(value)) {
    home = argument->getParent();
  }
  if (home == function || !captures) {
    return value;
  }
  HostValue &loaded = (*captures)[value];
  if (!loaded) {
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    llvm::BasicBlock &entry = function->getEntryBlock();
    b.SetInsertPoint(entry.getTerminator());
    HostValue address = b.CreateConstInBoundsGEP1_64(i64, closure, captures->size() - 1);
    loaded = b.CreateLoad(value->getType(), address);
  }
  return loaded;
}

HostValue HostCodegen::get(mlir::Value value) { return local(values.lookup(value)); }

View HostCodegen::getView(mlir::Value value) {
  if (isTile(value.getType())) {
    return tileView(value);
  }
  View view = views.lookup(value);
  for (HostValue *part : {&view.base, &view.offset, &view.valid, &view.present, &view.perThread}) {
    *part = local(*part);
  }
  for (CodeDim &dim : view.dims) {
    for (HostValue *part : {&dim.size, &dim.stride, &dim.lo, &dim.hi, &dim.indices, &dim.indexStart,
                            &dim.indexLo, &dim.indexHi}) {
      *part = local(*part);
    }
  }
  if (view.perThread && threadNumber) {
    view.offset = b.CreateAdd(view.offset, b.CreateMul(view.perThread, local(threadNumber)));
    view.perThread = nullptr;
  }
  return view;
}

View HostCodegen::denseView(Type element, ArrayRef<int64_t> shape, HostValue base, bool packed) {
  View view;
  view.base = base;
  view.offset = word(0);
  view.valid = b.getTrue();
  view.element = element;
  view.packed = packed;
  int64_t stride = 1;
  view.dims.resize(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    CodeDim &dim = view.dims[d];
    dim.size = dim.hi = word(shape[d]);
    dim.lo = word(0);
    dim.stride = word(stride);
    stride *= shape[d];
  }
  return view;
}

View HostCodegen::tileView(mlir::Value value) {
  View view = denseView(elementTypeOf(value.getType()), shapeOf(value.getType()), get(value),
                        /*packed=*/false);
  Operation *definition = value.getDefiningOp(); // a constant array has a name
  StringAttr name = definition ? tile::kName.get(definition) : StringAttr();
  view.name = name ? name.getValue().str() : "tile";
  return view;
}

/// Memory of the function's frame.
HostValue HostCodegen::slot(llvm::Type *type, uint64_t count) {
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  llvm::BasicBlock &entry = function->getEntryBlock();
  b.SetInsertPoint(&entry, entry.begin());
  return b.CreateAlloca(type, word((int64_t)count));
}

HostValue HostCodegen::describe(const View &view, HostValue record) {
  if (!record) {
    record = slot(i64, sizeof(HostView) / 8);
  }
  unsigned next = 0;
  auto put = [&](HostValue value) {
    b.CreateStore(value, b.CreateConstInBoundsGEP1_64(i64, record, next++));
  };
  put(view.base);
  put(view.offset);
  put(word((int64_t)*dtypeOf(view.element)));
  put(word(view.packed));
  put(word((int64_t)view.dims.size()));
  put(b.CreateZExt(view.valid, i64));
  HostValue null = llvm::ConstantPointerNull::get(b.getPtrTy());
  for (const CodeDim &dim : view.dims) {
    put(dim.size);
    put(dim.stride);
    put(dim.lo);
    put(dim.hi);
    put(dim.indices ? dim.indices : null);
    put(word(dim.indexBits / 8));
    put(dim.indices ? dim.indexStart : word(0));
    put(dim.indices ? dim.indexLo : word(0));
    put(dim.indices ? dim.indexHi : word(0));
  }
  return record;
}

//===----------------------------------------------------------------------===//
// Tile values and elements
//===----------------------------------------------------------------------===//

HostValue HostCodegen::newTile(Type type) {
  int64_t bytes = ShapedType::getNumElements(shapeOf(type));
  bytes *= (memoryType(elementTypeOf(type))->getScalarSizeInBits() + 7) / 8;
  return call("tile_host_allocate", ptr, {thread, word(bytes)});
}

HostValue HostCodegen::loadTile(Type element, HostValue base, HostValue index) {
  llvm::Type *memory = memoryType(element);
  HostValue value = b.CreateLoad(memory, b.CreateInBoundsGEP(memory, base, index));
  return element.isInteger(1) ? b.CreateIsNotNull(value) : value;
}

void HostCodegen::storeTile(Type element, HostValue base, HostValue index, HostValue value) {
  llvm::Type *memory = memoryType(element);
  if (element.isInteger(1)) {
    value = b.CreateZExt(value, memory);
  }
  b.CreateStore(value, b.CreateInBoundsGEP(memory, base, index));
}

HostCodegen::Place HostCodegen::place(const View &view, ArrayRef<HostValue> index) {
  Place at{view.valid, nullptr, nullptr};
  HostValue offset = view.offset;
  for (auto [dim, given] : llvm::zip_equal(view.dims, index)) {
    offset = b.CreateAdd(offset, distance(dim, given, at.inside));
  }
  if (dtypeBits(*dtypeOf(view.element)) == 4 && view.packed) {
    at.shift = b.CreateTrunc(b.CreateShl(b.CreateAnd(offset, 1), 2), b.getInt8Ty());
    offset = b.CreateAShr(offset, 1);
  }
  at.address = b.CreateGEP(memoryType(view.element), view.base, offset);
  return at;
}

/// The element, or the zero of its type where it is out of range.
HostValue HostCodegen::loadPlace(const View &view, const Place &at) {
  HostValue result = slot(memoryType(view.element));
  b.CreateStore(llvm::Constant::getNullValue(memoryType(view.element)), result);
  when(at.inside, [&] {
    HostValue value = b.CreateLoad(memoryType(view.element), at.address);
    if (at.shift) {
      value = b.CreateAnd(b.CreateLShr(value, at.shift), 15);
    }
    b.CreateStore(value, result);
  });
  HostValue value = b.CreateLoad(memoryType(view.element), result);
  return view.element.isInteger(1) ? b.CreateIsNotNull(value) : value;
}

void HostCodegen::storePlace(const View &view, const Place &at, HostValue value) {
  if (view.element.isInteger(1)) {
    value = b.CreateZExt(value, b.getInt8Ty());
  }
  when(at.inside, [&] {
    if (at.shift) {
      HostValue old = b.CreateLoad(b.getInt8Ty(), at.address);
      HostValue mask = b.CreateShl(b.getInt8(15), at.shift);
      value = b.CreateShl(b.CreateAnd(value, 15), at.shift);
      value = b.CreateOr(b.CreateAnd(old, b.CreateNot(mask)), value);
    }
    b.CreateStore(value, at.address);
  });
}

void HostCodegen::checkIndex(Operation *op, const View &view, unsigned axis, HostValue index,
                             HostValue inside) {
  when(b.CreateNot(inside), [&] {
    call("tile_host_trap_index", b.getVoidTy(),
         {thread, where(op), text(view.name), word(axis), index, view.dims[axis].size});
  });
}

/// Stops the program at an index outside of a buffer or tile; global memory takes any.
void HostCodegen::checkIndices(Operation *op, const View &view, ArrayRef<HostValue> index) {
  for (unsigned axis = 0; axis < index.size() && !view.bounded; ++axis) {
    const CodeDim &dim = view.dims[axis];
    HostValue inside =
        b.CreateAnd(b.CreateICmpSGE(index[axis], dim.lo), b.CreateICmpSLT(index[axis], dim.hi));
    checkIndex(op, view, axis, index[axis], inside);
  }
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

void HostCodegen::loop(HostValue from, HostValue to, HostValue step,
                       llvm::function_ref<void(HostValue)> body, bool isUnsigned) {
  auto *before = b.GetInsertBlock();
  auto *inside = llvm::BasicBlock::Create(context, "body", function);
  auto *after = llvm::BasicBlock::Create(context, "after", function);
  b.CreateCondBr(isUnsigned ? b.CreateICmpULT(from, to) : b.CreateICmpSLT(from, to), inside, after);
  b.SetInsertPoint(inside);
  llvm::PHINode *index = b.CreatePHI(i64, 2);
  index->addIncoming(from, before);
  body(index);
  // What is left of the way has no sign; a step beyond the end may not fit the type.
  HostValue more = b.CreateICmpULT(step, b.CreateSub(to, index));
  index->addIncoming(b.CreateAdd(index, step), b.GetInsertBlock());
  b.CreateCondBr(more, inside, after);
  b.SetInsertPoint(after);
}

void HostCodegen::when(HostValue condition, llvm::function_ref<void()> body) {
  if (auto *constant = dyn_cast<llvm::ConstantInt>(condition)) {
    if (constant->isZero()) {
      return;
    }
    return body();
  }
  auto *inside = llvm::BasicBlock::Create(context, "then", function);
  auto *after = llvm::BasicBlock::Create(context, "after", function);
  b.CreateCondBr(condition, inside, after);
  b.SetInsertPoint(inside);
  body();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

void HostCodegen::trapIf(HostValue condition, Operation *op, const llvm::Twine &message) {
  const bool ofView = isa<tile::SliceOp, tile::ReshapeOp, tile::BitcastViewOp>(op);
  if (!checksHost && !ofView && !op->getParentOfType<tile::LaunchOp>()) {
    return;
  }
  when(condition, [&] {
    call("tile_host_trap", b.getVoidTy(), {thread, text(whereText(op) + message.str())});
  });
}

/// Calls a function of the runtime. `pure`: its result depends on the arguments alone.
HostValue HostCodegen::call(llvm::StringRef name, llvm::Type *result, ArrayRef<HostValue> arguments,
                            bool pure) {
  SmallVector<llvm::Type *> types;
  for (HostValue argument : arguments) {
    types.push_back(argument->getType());
  }
  auto *type = llvm::FunctionType::get(result, types, /*isVarArg=*/false);
  llvm::FunctionCallee callee = module.getOrInsertFunction(name, type);
  auto *declaration = cast<llvm::Function>(callee.getCallee());
  declaration->setDoesNotThrow();
  if (name.starts_with("tile_host_trap")) {
    declaration->setDoesNotReturn();
    declaration->addFnAttr(llvm::Attribute::Cold);
  }
  if (pure) {
    declaration->setDoesNotAccessMemory();
    declaration->addFnAttr(llvm::Attribute::WillReturn);
  }
  return b.CreateCall(callee, arguments);
}

HostValue HostCodegen::text(llvm::StringRef string) {
  return b.CreateGlobalString(string, "text", 0, &module);
}

/// The place of `location` in the source, as the compiler's own messages name it.
static std::string placeOf(Location location) {
  std::string place;
  location->walk([&](Location inner) {
    if (auto file = dyn_cast<FileLineColLoc>(inner)) {
      place = file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" +
              std::to_string(file.getColumn()) + ": ";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return place;
}

std::string HostCodegen::whereText(Operation *op) { return placeOf(op->getLoc()) + "error: "; }

/// Writes `body`, after which the memory taken by the operations of `region` is free again, if they
/// take any.
void HostCodegen::scoped(Region &region, llvm::function_ref<void()> body) {
  bool takes = region
                   .walk([](Operation *op) {
                     bool tile = llvm::any_of(op->getResultTypes(), isTile);
                     return tile || isa<tile::AllocOp, tile::GemmOp, tile::SliceOp>(op)
                                ? WalkResult::interrupt()
                                : WalkResult::advance();
                   })
                   .wasInterrupted();
  HostValue mark = takes ? call("tile_host_mark", i64, {thread}) : nullptr;
  body();
  if (takes) {
    call("tile_host_release", b.getVoidTy(), {thread, mark});
  }
}

} // namespace tilec::cpu
