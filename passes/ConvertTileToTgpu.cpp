//===- ConvertTileToTgpu.cpp - from mutable buffers to values ------------===//
//
// One walk over the structured program in execution order. The current value of each fragment and
// variable is kept in a map; at a loop or branch, those that its regions assign become loop-carried
// values or results. Since control flow is structured, no dominance frontier is needed.
//
//===----------------------------------------------------------------------===//
#include "dialects/support/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Analysis.h"
#include "passes/ConstantArrays.h"
#include "passes/CountedLoops.h"
#include "passes/FragmentParts.h"
#include "passes/FragmentSteps.h"
#include "passes/IntegerAnalysis.h"
#include "passes/PartsOfGathers.h"
#include "passes/Passes.h"
#include "passes/PromotedBuffers.h"
#include "passes/Reshape.h"
#include "passes/ThreadStorage.h"
#include "passes/VoteRescales.h"

#include "llvm/ADT/TypeSwitch.h"

namespace tilec {
#define GEN_PASS_DEF_CONVERTTILETOTGPU
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using tile::BufferType;
using tile::GlobalType;

namespace {

class Converter {
public:
  explicit Converter(tgpu::KernelOp kernel)
      : kernel(kernel), integers(kernel), builder(kernel.getContext()),
        storage(mapping, builder, kernel.getThreads()) {}

  LogicalResult run();

private:
  LogicalResult convertBlock(Block &block);
  LogicalResult convert(Operation *op);
  LogicalResult convertAlloc(tile::AllocOp op);
  LogicalResult convertRead(tile::ReadOp op);
  LogicalResult convertWrite(tile::WriteOp op);
  LogicalResult convertLoad(tile::LoadOp op);
  LogicalResult convertStore(tile::StoreOp op);
  LogicalResult convertCopy(tile::CopyOp op);
  LogicalResult convertGemm(tile::GemmOp op);
  LogicalResult convertSlice(tile::SliceOp op);
  LogicalResult convertView(Operation *op);
  LogicalResult convertFor(scf::ForOp op);
  LogicalResult convertIf(scf::IfOp op);
  LogicalResult convertWhile(scf::WhileOp op);
  LogicalResult convertPrint(tile::PrintOp op);
  LogicalResult convertThreads(tile::ThreadsOp op);

  Value mapped(Value value) { return mapping.lookupOrDefault(value); }
  SmallVector<Value> mappedAll(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return mapped(value); });
  }
  /// Contents of a tile operand (buffer or tile value).
  Value contentsOf(Operation *user, Value operand);
  /// What a slice of a fragment or tile holds.
  Value readPart(Operation *user, Value slice);
  Value readElement(tile::LoadOp op, const FragmentPart &part);
  Value wholeOf(const FragmentPart &part) {
    return isPromoted(part.whole) ? current.lookup(part.whole) : mapped(part.whole);
  }
  /// Assigns `value` to `buffer` (promoted, or in shared memory).
  void assign(Operation *user, Value buffer, Value value);
  /// A matrix operand: a buffer in shared memory stays one, anything else is a value.
  Value matrixOperand(Operation *user, Value operand);
  SmallVector<Value> currentValues(const llvm::SetVector<Value> &buffers) {
    return llvm::map_to_vector(buffers, [&](Value buffer) { return current.lookup(buffer); });
  }
  void setCurrent(const llvm::SetVector<Value> &buffers, ValueRange values) {
    for (auto [buffer, value] : llvm::zip_equal(buffers, values)) {
      current[buffer] = value;
    }
  }
  /// Converts `from` into the block at `to`, then ends it with a yield of `results` and the
  /// buffers.
  LogicalResult convertRegion(Block &from, Block &to, const llvm::SetVector<Value> &buffers);

  tgpu::KernelOp kernel;
  IntegerAnalysis integers; // of the old body
  OpBuilder builder;
  IRMapping mapping;
  ThreadStorage storage;
  tile::ThreadsOp region;         // of the new code, while it is converted
  DenseMap<Value, Value> handed;  // tile of the new code -> its buffer in front of the region
  DenseMap<Value, Value> current; // promoted buffer of the old body -> its value now
};

} // namespace

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

LogicalResult Converter::convertAlloc(tile::AllocOp op) {
  BufferType type = op.getResult().getType();
  if (type.getScope() == tile::Scope::Shared) {
    auto smem = tgpu::SmemType::get(op.getContext(), type.getShape(), type.getElementType(), {});
    mapping.map(op.getResult(), storage.declareShared(op, smem));
    return success();
  }
  if (storage.holds(op.getResult())) {
    builder.clone(*op, mapping);
    return success();
  }
  // Undefined contents: zero is one of the values they may have, and dead unless the program reads
  // them.
  Value zero =
      arith::ConstantOp::create(builder, op.getLoc(), builder.getZeroAttr(type.getElementType()));
  current[op.getResult()] =
      type.getRank() == 0
          ? zero
          : Value(tile::SplatOp::create(builder, op.getLoc(), valueType(type), zero));
  return success();
}

Value Converter::contentsOf(Operation *user, Value operand) {
  if (isPromoted(operand)) {
    return fragmentPartOf(operand) ? readPart(user, operand) : current.lookup(operand);
  }
  if (storage.isPart(operand)) {
    return storage.readPart(user->getLoc(), operand);
  }
  if (auto smem = dyn_cast<tgpu::SmemType>(mapped(operand).getType())) {
    auto type = RankedTensorType::get(smem.getShape(), smem.getElementType());
    return tgpu::LocalLoadOp::create(builder, user->getLoc(), type, mapped(operand));
  }
  return mapped(operand);
}

/// In block code a scalar of the block. A region finds the tile in shared memory, written in front of
/// it once.
Value Converter::readElement(tile::LoadOp op, const FragmentPart &part) {
  FragmentParts parts(builder, op);
  SmallVector<Value> indices = mappedAll(op.getIndices());
  Value whole = wholeOf(part);
  if (!region) {
    return parts.element(whole, part, indices);
  }
  Value &buffer = handed[whole];
  if (!buffer) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(region);
    buffer = parts.inShared(whole);
  }
  return parts.elementOfThread(op.getResult().getType(), buffer, part, indices);
}

Value Converter::readPart(Operation *user, Value slice) {
  const FragmentPart part = *fragmentPartOf(slice);
  return FragmentParts(builder, user).read(wholeOf(part), part);
}

void Converter::assign(Operation *user, Value buffer, Value value) {
  if (std::optional<FragmentPart> part = fragmentPartOf(buffer)) {
    Value &whole = current[part->whole];
    whole = FragmentParts(builder, user).with(whole, *part, value);
  } else if (isPromoted(buffer)) {
    current[buffer] = value;
  } else if (storage.isPart(buffer)) {
    storage.writePart(user->getLoc(), value, buffer);
  } else {
    tgpu::LocalStoreOp::create(builder, user->getLoc(), value, mapped(buffer));
  }
}

LogicalResult Converter::convertRead(tile::ReadOp op) {
  if (Value value = storage.readLocal(op)) {
    mapping.map(op.getResult(), value);
    return success();
  }
  mapping.map(op.getResult(), contentsOf(op, op.getSource()));
  return success();
}

LogicalResult Converter::convertWrite(tile::WriteOp op) {
  if (storage.isLocal(op.getDest())) {
    return storage.fillLocal(op)
               ? success()
               : emitUnsupported(op, "an assignment of a tile to a `local` buffer");
  }
  assign(op, op.getDest(), mapped(op.getValue()));
  return success();
}

LogicalResult Converter::convertLoad(tile::LoadOp op) {
  if (isWholeVariable(op.getSource(), op.getIndices(), op.getResult().getType())) {
    mapping.map(op.getResult(), current.lookup(op.getSource()));
    return success();
  }
  if (isVector(op.getSource())) {
    mapping.map(op.getResult(),
                elementOf(builder, current.lookup(op.getSource()), op.getIndices()[0], mapping));
    return success();
  }
  if (storage.holds(op.getSource())) {
    mapping.map(op.getResult(), storage.load(op.getLoc(), op.getResult().getType(), op.getSource(),
                                             op.getIndices()));
    return success();
  }
  if (std::optional<FragmentPart> part = fragmentPartOf(op.getSource())) {
    mapping.map(op.getResult(), readElement(op, *part));
    return success();
  }
  builder.clone(*op, mapping);
  return success();
}

LogicalResult Converter::convertStore(tile::StoreOp op) {
  if (isWholeVariable(op.getDest(), op.getIndices(), op.getValue().getType())) {
    current[op.getDest()] = mapped(op.getValue());
    return success();
  }
  if (isVector(op.getDest())) {
    Value &vec = current[op.getDest()];
    vec = withElement(builder, vec, mapped(op.getValue()), op.getIndices()[0], mapping);
    return success();
  }
  if (storage.holds(op.getDest())) {
    storage.store(op.getLoc(), mapped(op.getValue()), op.getDest(), op.getIndices());
    return success();
  }
  if (std::optional<FragmentPart> part = fragmentPartOf(op.getDest())) {
    Value &whole = current[part->whole];
    whole = FragmentParts(builder, op)
                .withElement(whole, *part, mappedAll(op.getIndices()), mapped(op.getValue()));
    return success();
  }
  builder.clone(*op, mapping);
  return success();
}

LogicalResult Converter::convertView(Operation *op) {
  std::string reason;
  if (isa<BufferType>(op->getResult(0).getType())) { // found in the buffer by all that use it
    return storage.isRenumbered(op, reason) ? success() : emitUnsupported(op, reason);
  }
  auto reshape = dyn_cast<tile::ReshapeOp>(op);
  return reshape ? convertReshape(reshape, mapping, builder)
                 : convertBitcast(cast<tile::BitcastViewOp>(op), mapping, builder);
}

LogicalResult Converter::convertSlice(tile::SliceOp op) {
  if (isa<GlobalType>(op.getSource().getType())) {
    if (takesPartOfGather(op)) {
      return emitUnsupported(op, "part of a gathered dimension");
    }
    builder.clone(*op, mapping);
    return success();
  }
  if (std::optional<FragmentPart> part = fragmentPartOf(op.getResult())) {
    // Others find it in the fragment, or in the tile, themselves.
    const bool isRead = !llvm::all_of(op->getUsers(), llvm::IsaPred<tile::LoadOp, tile::SliceOp>);
    if (isa<RankedTensorType>(op.getResult().getType()) && isRead) {
      mapping.map(op.getResult(), readPart(op, op.getResult()));
    }
    return success();
  }
  if (storage.isPartByIndices(op, /*asTile=*/false)) {
    return success();
  }
  auto smem = dyn_cast<tgpu::SmemType>(mapped(op.getSource()).getType());
  SmallVector<int64_t> offsets;
  for (Value offset : op.getOffsets()) {
    if (APInt constant; smem && matchPattern(offset, m_ConstantInt(&constant))) {
      offsets.push_back(constant.getSExtValue());
    }
  }
  if (!smem || offsets.size() != op.getOffsets().size() ||
      llvm::is_contained(op.getStaticSizes(), tile::SliceOp::kDropped)) {
    return storage.isPartByIndices(op, /*asTile=*/true)
               ? success()
               : emitUnsupported(op, "this slice of a tile");
  }
  auto part = tgpu::SmemType::get(op.getContext(), op.getStaticSizes(), smem.getElementType(),
                                  smem.getLayout());
  mapping.map(op.getResult(), Value(tgpu::SubviewOp::create(builder, op.getLoc(), part,
                                                            mapped(op.getSource()), offsets)));
  return success();
}

//===----------------------------------------------------------------------===//
// Copies and products
//===----------------------------------------------------------------------===//

LogicalResult Converter::convertCopy(tile::CopyOp op) {
  Location loc = op.getLoc();
  Value source = op.getSource(), dest = op.getDest();
  Type element = elementTypeOf(dest.getType());
  bool sameElements = elementTypeOf(source.getType()) == element;
  auto inShared = [&](Value value) { return isa<tgpu::SmemType>(mapped(value).getType()); };
  bool fromGlobal = isa<GlobalType>(source.getType()), toGlobal = isa<GlobalType>(dest.getType());

  if (sameElements && ((fromGlobal && inShared(dest)) || (inShared(source) && toGlobal))) {
    tgpu::CopyOp::create(builder, loc, mapped(source), mapped(dest), tgpu::CopyPathAttr(),
                         IntegerAttr(), op.getNoTma(), op.getCache(), op.getRequireAttr());
    return success();
  }
  Value value;
  if (fromGlobal) {
    auto type = cast<GlobalType>(source.getType());
    auto shape = isa<BufferType>(dest.getType()) ? cast<BufferType>(dest.getType()).getShape()
                                                 : type.getShape();
    auto load =
        tgpu::LoadOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()),
                             mapped(source), IntegerAttr(), op.getCache());
    if (op.getRequireAttr()) {
      tile::kRequire.set(load, op.getRequireAttr());
    }
    value = load.getResult();
  } else {
    value = contentsOf(op, source);
  }
  Value converted = copiedAs(builder, op, value, element);
  if (toGlobal) {
    if (!isa<RankedTensorType>(converted.getType())) {
      return emitUnsupported(op, "copying a scalar to a tensor");
    }
    tgpu::StoreOp::create(builder, loc, converted, mapped(dest), tgpu::CopyPathAttr(),
                          IntegerAttr(), op.getNoTma(), op.getCache(), op.getRequireAttr());
    return success();
  }
  assign(op, dest, converted);
  return success();
}

Value Converter::matrixOperand(Operation *user, Value operand) {
  const bool inShared = isa<tgpu::SmemType>(mapped(operand).getType());
  return inShared ? mapped(operand) : contentsOf(user, operand);
}

LogicalResult Converter::convertGemm(tile::GemmOp op) {
  Value a = matrixOperand(op, op.getA()), b = matrixOperand(op, op.getB());
  Value acc = contentsOf(op, op.getAcc());
  // Sums are in f32 also where the accumulator is f16 (docs/language.md section 10): it is rounded
  // once, at the end.
  auto accType = cast<RankedTensorType>(acc.getType());
  bool rounds = accType.getElementType().isF16();
  auto convert = [&](Value value, Type element) -> Value {
    return tile::ConvertOp::create(builder, op.getLoc(),
                                   RankedTensorType::get(accType.getShape(), element), value,
                                   /*src_unsigned=*/false, /*dst_unsigned=*/false);
  };
  Value sums = rounds ? convert(acc, builder.getF32Type()) : acc;
  Value product = tgpu::DotOp::create(
      builder, op.getLoc(), sums.getType(), a, b, sums, op.getTransposeA(), op.getTransposeB(),
      op.getAccumulate(), op.getPolicy(), op.getPrecision(), op.getPromote(), op.getAUnsigned(),
      op.getBUnsigned(), tgpu::MmaAttr(), op.getRequireAttr());
  assign(op, op.getAcc(), rounds ? convert(product, accType.getElementType()) : product);
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult Converter::convertRegion(Block &from, Block &to,
                                       const llvm::SetVector<Value> &buffers) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&to);
  if (failed(convertBlock(from))) {
    return failure();
  }
  SmallVector<Value> results;
  if (auto yield = dyn_cast<scf::YieldOp>(from.getTerminator())) {
    results = mappedAll(yield.getOperands());
  }
  llvm::append_range(results, currentValues(buffers));
  scf::YieldOp::create(builder, from.getTerminator()->getLoc(), results);
  return success();
}

LogicalResult Converter::convertFor(scf::ForOp op) {
  llvm::SetVector<Value> buffers = buffersAssignedIn(op);
  SmallVector<Value> inits = mappedAll(op.getInitArgs());
  size_t own = inits.size();
  llvm::append_range(inits, currentValues(buffers));
  CountedLoops counted(integers, mapping, builder);
  const bool counts = counted.isNeeded(op);
  auto loop = counts ? counted.create(op, inits)
                     : scf::ForOp::create(builder, op.getLoc(), mapped(op.getLowerBound()),
                                          mapped(op.getUpperBound()), mapped(op.getStep()), inits,
                                          /*bodyBuilder=*/nullptr);
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Block &body = *loop.getBody();
  if (!body.empty()) {
    body.getTerminator()->erase();
  }
  mapping.map(op.getInductionVar(),
              counts ? counted.inductionOf(op, loop) : Value(loop.getInductionVar()));
  mapping.map(op.getRegionIterArgs(), loop.getRegionIterArgs().take_front(own));
  setCurrent(buffers, loop.getRegionIterArgs().drop_front(own));
  if (failed(convertRegion(*op.getBody(), body, buffers))) {
    return failure();
  }
  mapping.map(op.getResults(), loop.getResults().take_front(own));
  setCurrent(buffers, loop.getResults().drop_front(own));
  return success();
}

LogicalResult Converter::convertIf(scf::IfOp op) {
  llvm::SetVector<Value> buffers = buffersAssignedIn(op);
  SmallVector<Value> before = currentValues(buffers);
  SmallVector<Type> types(op.getResultTypes());
  llvm::append_range(types, ValueRange(before).getTypes());
  bool withElse = op.elseBlock() || !types.empty();
  auto branch = scf::IfOp::create(builder, op.getLoc(), types, mapped(op.getCondition()),
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/withElse);
  branch->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    if (block && !block->empty()) {
      block->clear();
    }
  }
  if (failed(convertRegion(*op.thenBlock(), *branch.thenBlock(), buffers))) {
    return failure();
  }
  setCurrent(buffers, before);
  if (op.elseBlock()) {
    if (failed(convertRegion(*op.elseBlock(), *branch.elseBlock(), buffers))) {
      return failure();
    }
  } else if (withElse) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(builder, op.getLoc(), before);
  }
  size_t own = op.getNumResults();
  mapping.map(op.getResults(), branch.getResults().take_front(own));
  setCurrent(buffers, branch.getResults().drop_front(own));
  return success();
}

LogicalResult Converter::convertWhile(scf::WhileOp op) {
  llvm::SetVector<Value> buffers = buffersAssignedIn(op);
  SmallVector<Value> inits = mappedAll(op.getInits());
  size_t own = inits.size(), ownResults = op.getNumResults();
  llvm::append_range(inits, currentValues(buffers));
  SmallVector<Type> types(op.getResultTypes());
  llvm::append_range(types, ValueRange(currentValues(buffers)).getTypes());
  auto loop = scf::WhileOp::create(builder, op.getLoc(), types, inits);
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  SmallVector<Location> beforeLocs(inits.size(), op.getLoc()), afterLocs(types.size(), op.getLoc());
  Block *before =
      builder.createBlock(&loop.getBefore(), {}, ValueRange(inits).getTypes(), beforeLocs);
  mapping.map(op.getBeforeArguments(), before->getArguments().take_front(own));
  setCurrent(buffers, before->getArguments().drop_front(own));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(before);
    if (failed(convertBlock(*op.getBeforeBody()))) {
      return failure();
    }
    SmallVector<Value> passed = mappedAll(op.getConditionOp().getArgs());
    llvm::append_range(passed, currentValues(buffers));
    scf::ConditionOp::create(builder, op.getLoc(), mapped(op.getConditionOp().getCondition()),
                             passed);
  }
  Block *after = builder.createBlock(&loop.getAfter(), {}, types, afterLocs);
  mapping.map(op.getAfterArguments(), after->getArguments().take_front(ownResults));
  setCurrent(buffers, after->getArguments().drop_front(ownResults));
  if (failed(convertRegion(*op.getAfterBody(), *after, buffers))) {
    return failure();
  }
  builder.setInsertionPointAfter(loop);
  mapping.map(op.getResults(), loop.getResults().take_front(ownResults));
  setCurrent(buffers, loop.getResults().drop_front(ownResults));
  return success();
}

LogicalResult Converter::convertThreads(tile::ThreadsOp op) {
  region = tile::ThreadsOp::create(builder, op.getLoc(), op.getAxesAttr());
  region->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Block &old = op.getBody().front();
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(
      &region.getBody(), {}, old.getArgumentTypes(),
      llvm::map_to_vector(old.getArguments(), [](BlockArgument a) { return a.getLoc(); }));
  mapping.map(old.getArguments(), body->getArguments());
  if (failed(convertBlock(old))) {
    return failure();
  }
  tile::YieldOp::create(builder, op.getLoc());
  region = {};
  handed.clear();
  return success();
}

/// Its tiles are values already. What is printed must be a message that the buffer takes.
LogicalResult Converter::convertPrint(tile::PrintOp op) {
  const int64_t bytes = tile::messageShape(op.getValues().getTypes()).bytes;
  if (bytes > tile::PrintBuffer::kMaxMessage) {
    return emitUnsupported(op, "a `print` of " + std::to_string(bytes) + " bytes, more than " +
                                   std::to_string(tile::PrintBuffer::kMaxMessage) + ",");
  }
  builder.clone(*op, mapping);
  return success();
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

LogicalResult Converter::convert(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::AllocOp op) { return convertAlloc(op); })
      .Case([&](tile::ReadOp op) { return convertRead(op); })
      .Case([&](tile::WriteOp op) { return convertWrite(op); })
      .Case([&](tile::LoadOp op) { return convertLoad(op); })
      .Case([&](tile::StoreOp op) { return convertStore(op); })
      .Case([&](tile::CopyOp op) { return convertCopy(op); })
      .Case([&](tile::GemmOp op) { return convertGemm(op); })
      .Case([&](tile::SliceOp op) { return convertSlice(op); })
      .Case<tile::ReshapeOp, tile::BitcastViewOp>([&](auto op) { return convertView(op); })
      .Case([&](scf::ForOp op) { return convertFor(op); })
      .Case([&](scf::IfOp op) { return convertIf(op); })
      .Case([&](scf::WhileOp op) { return convertWhile(op); })
      // Facts for checks and the optimiser: neither changes a value.
      .Case<tile::AssertOp, tile::AssumeOp>([](auto) { return success(); })
      .Case<tgpu::GatherOp, tgpu::ScatterOp, tgpu::AtomicOp, tgpu::AtomicTileOp>(
          [&](Operation *op) {
            if (!storage.convertInPart(op)) {
              builder.clone(*op, mapping);
            }
            return success();
          })
      .Case([&](tile::ThreadsOp op) { return convertThreads(op); })
      .Case([&](tile::ConstantArrayOp array) {
        return array->use_empty() ? success()
                                  : emitUnsupported(array, "a constant array as a tile");
      })
      .Case<tile::AtomicOp, tile::AtomicCasOp, tile::AtomicTileOp>([&](auto op) {
        storage.atomic(op);
        return success();
      })
      .Case([&](tile::PrintOp op) { return convertPrint(op); })
      .Default([&](Operation *op) {
        if (usesBuffer(op)) {
          return emitUnsupported(op, ("`" + op->getName().getStringRef() + "` of a tile").str());
        }
        builder.clone(*op, mapping);
        return success();
      });
}

LogicalResult Converter::convertBlock(Block &block) {
  return success(llvm::all_of(block.without_terminator(),
                              [&](Operation &op) { return succeeded(convert(&op)); }));
}

LogicalResult Converter::run() {
  convertLookups(kernel);
  Block &old = kernel.getBody().front();
  Block *fresh = builder.createBlock(
      &kernel.getBody(), kernel.getBody().end(), old.getArgumentTypes(),
      llvm::map_to_vector(old.getArguments(), [](BlockArgument a) { return a.getLoc(); }));
  mapping.map(old.getArguments(), fresh->getArguments());
  if (failed(convertBlock(old))) {
    return failure();
  }
  tgpu::ReturnOp::create(builder, kernel.getLoc());
  old.dropAllDefinedValueUses();
  old.erase();
  return success();
}

namespace {
struct ConvertTileToTgpu : tilec::impl::ConvertTileToTgpuBase<ConvertTileToTgpu> {
  void runOnOperation() override {
    composeGathers(getOperation());
    refuseVotes(getOperation());
    if (failed(Converter(getOperation()).run())) {
      signalPassFailure();
    }
  }
};
} // namespace
