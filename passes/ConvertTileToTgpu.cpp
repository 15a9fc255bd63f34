#include "passes/Passes.h"
namespace tilec {
#define GEN_PASS_DEF_CONVERTTILETOTGPU
#include "passes/Passes.h.inc"
} // namespace tilec
namespace {
struct ConvertTileToTgpu : tilec::impl::ConvertTileToTgpuBase<ConvertTileToTgpu> {
  void runOnOperation() override {}
};
} // namespace
