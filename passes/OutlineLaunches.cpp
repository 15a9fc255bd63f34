#include "passes/Passes.h"
namespace tilec {
#define GEN_PASS_DEF_OUTLINELAUNCHES
#include "passes/Passes.h.inc"
} // namespace tilec
namespace {
struct OutlineLaunches : tilec::impl::OutlineLaunchesBase<OutlineLaunches> {
  void runOnOperation() override {}
};
} // namespace
