#include "compiler/driver/Report.h"

#include "compiler/emit/SourceLocation.h"
#include "dialects/tgpu/Tgpu.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilec {

/// "`As`: 65536 bytes at 0, 4x128x64 f16, swizzle of 128 bytes".
static std::string describe(tgpu::AllocSharedOp alloc) {
  tgpu::SmemType type = alloc.getResult().getType();
  const layout::SharedLayout *layout = tgpu::getLayout(type);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "shared buffer `" << alloc.getName().value_or("buffer")
     << "`: " << (layout ? layout->sizeBytes() : 0) << " bytes at " << alloc.getOffset().value_or(0)
     << ", ";
  llvm::interleave(type.getShape(), os, "x");
  os << ' ' << type.getElementType();
  if (layout && layout->swizzle() != 0) {
    os << ", swizzle of " << layout->swizzle() << " bytes";
  }
  return text;
}

void reportKernels(ModuleOp module, DiagnosticEngine &diags) {
  module.walk([&](tgpu::KernelOp kernel) {
    std::string variant =
        kernel.getVariant() ? (" (variant `" + *kernel.getVariant() + "`)").str() : std::string();
    auto remark = [&](Operation *op, const llvm::Twine &text) {
      diags.report(diag::Id::Remark, sourceRange(op->getLoc(), diags), text + variant);
    };
    kernel.walk([&](Operation *op) {
      if (auto alloc = dyn_cast<tgpu::AllocSharedOp>(op)) {
        remark(op, describe(alloc));
      } else if (isa<tgpu::TmaLoadOp>(op)) {
        remark(op, "copy moves by TMA");
      } else if (isa<tgpu::TmaStoreOp>(op)) {
        remark(op, "copy stores by TMA");
      }
    });
  });
}

} // namespace tilec
