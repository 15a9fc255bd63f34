//===- Tables.cpp - constant arrays ---------------------------------------===//
//
// An array lies in global memory, not in the constant bank, which serves lanes with different indices one
// after the other. LLVM reads it through .nc, as it does what is constant.
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

/// A constant of the module with these elements: the one that is there, or a new one in front of `kernel`.
static LLVM::GlobalOp tableOf(tgpu::KernelOp kernel, DenseElementsAttr elements) {
  auto module = kernel->getParentOfType<ModuleOp>();
  unsigned number = 0;
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    if (global.getValueOrNull() == elements) {
      return global;
    }
    number += global.getName().starts_with("tilec_table");
  }
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(elements.getElementType(), elements.getNumElements());
  return LLVM::GlobalOp::create(builder, kernel.getLoc(), type, /*isConstant=*/true,
                                LLVM::Linkage::Internal, "tilec_table_" + std::to_string(number),
                                elements, /*alignment=*/16,
                                unsigned(NVVM::NVVMMemorySpace::Global));
}

LogicalResult KernelLowering::lowerLookup(tgpu::LookupOp op) {
  FailureOr<Fragment> indices = flatten(op, op.getIndex());
  auto elements = dyn_cast<DenseElementsAttr>(op.getTable());
  Type element = getElementTypeOrSelf(op.getResult().getType());
  if (failed(indices) || !elements || memoryBytes(element) == 0) {
    return failed(indices) ? failure() : unsupported(op, "such a constant array");
  }
  // As memory holds it: bits of floats of 8 bits or less, a byte for each bool and each integer of 4 bits.
  Type memory = memoryType(element);
  if (memory != element) {
    SmallVector<APInt> bits;
    if (isa<IntegerType>(element)) {
      for (const APInt &value : elements.getValues<APInt>()) {
        bits.push_back(value.zext(memory.getIntOrFloatBitWidth()));
      }
    } else {
      for (const APFloat &value : elements.getValues<APFloat>()) {
        bits.push_back(value.bitcastToAPInt());
      }
    }
    elements = DenseElementsAttr::get(RankedTensorType::get({int64_t(bits.size())}, memory), bits);
  }
  LLVM::GlobalOp table = tableOf(kernel, elements);
  auto pointer =
      LLVM::LLVMPointerType::get(b.getContext(), unsigned(NVVM::NVVMMemorySpace::Global));
  Value base = LLVM::AddressOfOp::create(b, loc, pointer, table.getSymName());
  Fragment result;
  for (Value index : *indices) {
    Type type = index.getType();
    Value last = constant(elements.getNumElements() - 1, type);
    Value inside = b.createOrFold<arith::MinUIOp>(loc, index, last);
    Value place =
        LLVM::GEPOp::create(b, loc, pointer, memory, base, ArrayRef<LLVM::GEPArg>{inside});
    result.append(loadElements(place, element, 1, memoryBytes(element)));
  }
  scalars[op.getResult()] = result;
  return success();
}

} // namespace tilec::lowering
