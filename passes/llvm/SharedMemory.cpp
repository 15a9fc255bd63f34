//===- SharedMemory.cpp - buffers, and fragments from and to them --------===//
#include "dialects/tgpu/Roles.h"
#include "passes/llvm/Addresses.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::lowering {

Value KernelLowering::sharedPointer(Value dynamic, int64_t bytes) {
  Type byte = b.getI8Type();
  Value pointer = smemBase;
  if (dynamic) {
    pointer = LLVM::GEPOp::create(b, loc, pointer.getType(), byte, pointer, ValueRange{dynamic});
  }
  if (bytes == 0) {
    return pointer;
  }
  return LLVM::GEPOp::create(b, loc, pointer.getType(), byte, pointer,
                             ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
}

Value KernelLowering::sharedSteps(const Shared &buffer) {
  Value sum;
  for (auto [index, bytes] : buffer.steps) {
    sum = add(sum, mul(index, bytes));
  }
  return sum;
}

LogicalResult KernelLowering::lowerAlloc(tgpu::AllocSharedOp op) {
  tgpu::SmemType type = op.getResult().getType();
  const layout::SharedLayout *layout = tgpu::getLayout(type);
  if (!op.getOffset() || !layout) {
    return unsupported(op, "a buffer without an address or layout");
  }
  if (*op.getOffset() % layout->alignment() != 0) {
    return op.emitError("offset ") << *op.getOffset() << " is not a multiple of "
                                   << layout->alignment() << ", the alignment of the layout";
  }
  Shared buffer;
  buffer.bytes = *op.getOffset();
  buffer.layout = *layout;
  buffer.origin.assign(layout->rank(), 0);
  buffer.shape.assign(type.getShape().begin(), type.getShape().end());
  buffer.element = type.getElementType();
  if (tgpu::kOfEachTeam.has(op)) {
    buffer.steps.push_back({team, teamBytes});
  }
  buffers[op.getResult()] = buffer;
  return success();
}

LogicalResult KernelLowering::lowerSlot(tgpu::SlotOp op) {
  Shared buffer = buffers[op.getRing()];
  const int64_t slots = buffer.shape.front();
  const int64_t stride = buffer.layout.slotStride();
  buffer.bytes += buffer.origin.front() * stride;
  if (slots > 1) {
    buffer.steps.push_back({ringPlace(op.getPosition(), slots).index, stride});
  }
  buffer.layout = buffer.layout.dropLeading();
  buffer.origin.erase(buffer.origin.begin());
  buffer.shape.erase(buffer.shape.begin());
  buffers[op.getResult()] = buffer;
  return success();
}

LogicalResult KernelLowering::lowerSubview(tgpu::SubviewOp op) {
  Shared buffer = buffers[op.getSource()];
  for (auto [origin, offset] : llvm::zip_equal(buffer.origin, op.getOffsets())) {
    origin += offset;
  }
  ArrayRef<int64_t> shape = op.getResult().getType().getShape();
  buffer.shape.assign(shape.begin(), shape.end());
  buffers[op.getResult()] = buffer;
  return success();
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

std::optional<layout::MatrixPlan> KernelLowering::matrixPlan(const Shared &buffer,
                                                             const layout::RegisterLayout &fragment,
                                                             bool store) {
  // What is less than a byte has one in memory, but not in its slot.
  if (arch < (store ? 90u : 75u) || fragment.rank() != 2 || buffer.layout.rank() != 2 ||
      fragment.hasPadding() || buffer.element.getIntOrFloatBitWidth() < 8) {
    return std::nullopt;
  }
  // A part must begin at a row of 16 bytes for the plan of the whole to hold.
  const unsigned contiguous = buffer.layout.contiguousDim();
  if (buffer.origin[contiguous] * buffer.layout.elementBits() % 128 != 0 ||
      alignedStart(buffer) != 16) {
    return std::nullopt;
  }
  for (bool trans : {false, true}) {
    auto plan = store ? layout::stmatrixPlan(buffer.layout, fragment, trans)
                      : layout::ldmatrixPlan(buffer.layout, fragment, trans);
    if (plan && plan->address.isSeparable()) {
      return *plan;
    }
  }
  return std::nullopt;
}

layout::AccessPlan withAccesses(layout::AccessPlan plan, int64_t most, int64_t elementBytes) {
  while (plan.bytes > elementBytes && most % plan.bytes != 0) {
    layout::AccessPlan halves{plan.bytes / 2, {}};
    for (ArrayRef<int64_t> group : plan.groups) {
      for (ArrayRef<int64_t> part :
           {group.take_front(group.size() / 2), group.drop_front(group.size() / 2)}) {
        halves.groups.emplace_back(part.begin(), part.end());
      }
    }
    plan = halves;
  }
  return plan;
}

FailureOr<layout::AccessPlan> KernelLowering::accessPlan(Operation *op, const Shared &buffer,
                                                         const layout::RegisterLayout &fragment) {
  auto plan = layout::accessPlan(buffer.layout, fragment);
  if (!plan || !fragment.isSeparable()) {
    return unsupported(op, "a fragment in shared memory: " +
                               (plan ? "its coordinates mix slots and threads" : plan.reason()));
  }
  return withAccesses(*plan, alignedStart(buffer), memoryBytes(buffer.element));
}

Value KernelLowering::slotInTile(const layout::RegisterLayout &fragment, int64_t reg) {
  Value all;
  layout::Coords slot = fragment.registerOffset(reg), span = fragment.span();
  for (unsigned d = 0; d < fragment.rank(); ++d) {
    if (span[d] > fragment.shape()[d]) {
      Value at = add(threadCoordinate(fragment, d), slot[d]);
      all = both(all, compare(arith::CmpIPredicate::ult, at, i32(fragment.shape()[d])));
    }
  }
  return all;
}

static NVVM::LdStMatrixShapeAttr shape8x8(OpBuilder &b) {
  return NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
}

Fragment KernelLowering::loadMatrices(const Shared &buffer, const layout::MatrixPlan &plan) {
  SharedAddresses addresses(*this, buffer, plan.address);
  Type word = b.getI32Type();
  Type result = plan.matrices == 1 ? word
                                   : Type(LLVM::LLVMStructType::getLiteral(
                                         b.getContext(), SmallVector<Type>(plan.matrices, word)));
  Fragment slots;
  for (int64_t i = 0; i < plan.address.registersPerThread(); ++i) {
    Value loaded =
        NVVM::LdMatrixOp::create(b, loc, result, addresses.pointer(i), plan.matrices,
                                 plan.transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                                 shape8x8(b), NVVM::LdStMatrixEltType::B16);
    for (unsigned j = 0; j < plan.matrices; ++j) {
      unpackWord(plan.matrices == 1 ? loaded
                                    : Value(LLVM::ExtractValueOp::create(b, loc, loaded, j)),
                 buffer.element, slots);
    }
  }
  return slots;
}

void KernelLowering::storeMatrices(const Shared &buffer, const layout::MatrixPlan &plan,
                                   ArrayRef<Value> slots) {
  SharedAddresses addresses(*this, buffer, plan.address);
  Fragment words = packWords(slots);
  for (int64_t i = 0; i < plan.address.registersPerThread(); ++i) {
    NVVM::StMatrixOp::create(b, loc, addresses.pointer(i),
                             ArrayRef<Value>(words).slice(i * plan.matrices, plan.matrices),
                             plan.transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                             shape8x8(b), NVVM::LdStMatrixEltType::B16);
  }
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

FailureOr<Fragment> KernelLowering::loadShared(Operation *op, const Shared &buffer,
                                               const layout::RegisterLayout &fragment) {
  if (auto plan = matrixPlan(buffer, fragment, /*store=*/false)) {
    return loadMatrices(buffer, *plan);
  }
  if (auto plan = wordPlan(buffer, fragment)) {
    return loadWords(buffer, fragment, *plan);
  }
  FailureOr<layout::AccessPlan> plan = accessPlan(op, buffer, fragment);
  if (failed(plan)) {
    return failure();
  }
  SharedAddresses addresses(*this, buffer, fragment);
  Fragment slots(fragment.registersPerThread());
  Type slot = slotType(buffer.element);
  for (const auto &group : plan->groups) {
    Value pointer = addresses.pointer(group[0]);
    Value inTile = slotInTile(fragment, group[0]);
    Fragment values;
    if (inTile) {
      SmallVector<Type> types(group.size(), slot);
      auto branch = scf::IfOp::create(b, loc, types, inTile, true, true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(b, loc,
                           loadElements(pointer, buffer.element, group.size(), plan->bytes));
      b.setInsertionPointToStart(branch.elseBlock());
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(slot));
      scf::YieldOp::create(b, loc, SmallVector<Value>(group.size(), zero));
      values.append(branch.getResults().begin(), branch.getResults().end());
    } else {
      values = loadElements(pointer, buffer.element, group.size(), plan->bytes);
    }
    for (auto [reg, value] : llvm::zip_equal(group, values)) {
      slots[reg] = value;
    }
  }
  return slots;
}

LogicalResult KernelLowering::storeShared(Operation *op, const Shared &buffer,
                                          const layout::RegisterLayout &fragment,
                                          ArrayRef<Value> slots) {
  if (fragment.partial()) {
    return unsupported(op, "a store of partial values");
  }
  if (auto plan = matrixPlan(buffer, fragment, /*store=*/true)) {
    // Lanes hold different elements (stmatrixPlan), so whole warps are owners or not.
    return byOwners(op, fragment, [&] { storeMatrices(buffer, *plan, slots); });
  }
  FailureOr<layout::AccessPlan> plan = accessPlan(op, buffer, fragment);
  if (failed(plan)) {
    return failure();
  }
  return byOwners(op, fragment, [&] {
    SharedAddresses addresses(*this, buffer, fragment);
    for (const auto &group : plan->groups) {
      Fragment values;
      for (int64_t reg : group) {
        values.push_back(slots[reg]);
      }
      Value pointer = addresses.pointer(group[0]);
      guarded(slotInTile(fragment, group[0]),
              [&] { storeElements(pointer, buffer.element, values, plan->bytes); });
    }
  });
}

LogicalResult KernelLowering::lowerLocalLoad(tgpu::LocalLoadOp op) {
  const layout::RegisterLayout *layout = tgpu::getLayout(op.getResult().getType());
  if (!layout) {
    return unsupported(op, "a fragment without a layout");
  }
  FailureOr<Fragment> slots = loadShared(op, buffers[op.getSource()], *layout);
  if (failed(slots)) {
    return failure();
  }
  scalars[op.getResult()] = *slots;
  return success();
}

LogicalResult KernelLowering::lowerLocalStore(tgpu::LocalStoreOp op) {
  const layout::RegisterLayout *layout = tgpu::getLayout(op.getValue().getType());
  if (!layout) {
    return unsupported(op, "a fragment without a layout");
  }
  return storeShared(op, buffers[op.getDest()], *layout, scalars[op.getValue()]);
}

} // namespace tilec::lowering
