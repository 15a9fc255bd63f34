//===- LaunchOrder.cpp - names of launches, and which of them may overlap -===//
#include "passes/LaunchOrder.h"

using namespace mlir;
using namespace tilec;

/// True if a call may execute both: they are not in different branches.
static bool mayMeet(Operation *a, Operation *b) {
  for (Region *region = a->getParentRegion(); region; region = region->getParentRegion()) {
    if (region->getParentOp()->isProperAncestor(b)) {
      return region->isAncestor(b->getParentRegion());
    }
  }
  return true;
}

/// True if a launch that takes `value` of the host may write to it.
static bool mayWrite(tile::KernelOp host, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!isa<tile::GlobalType>(value.getType()) || !argument) {
    return isa<tile::GlobalType>(value.getType()); // a workspace
  }
  StringAttr direction = tile::kDirection.get(host, argument.getArgNumber());
  return !direction || direction != "in";
}

/// True if a call may pass the same memory for two values of the host.
static bool maySame(tile::KernelOp host, Value a, Value b) {
  auto first = dyn_cast<BlockArgument>(a), second = dyn_cast<BlockArgument>(b);
  auto admits = [&](BlockArgument from, BlockArgument to) {
    auto list = tile::kMayAlias.get(host, from.getArgNumber());
    Attribute name = tile::kName.get(host, to.getArgNumber());
    return list && name && llvm::is_contained(list, name);
  };
  return a == b || (first && second && (admits(first, second) || admits(second, first)));
}

void tilec::noteOverlap(tile::KernelOp host, ArrayRef<OutlinedLaunch> launches) {
  for (size_t index = 0; index < launches.size(); ++index) {
    OutlinedLaunch later = launches[index];
    for (OutlinedLaunch earlier : launches.take_front(later.mayOverlap ? index : 0)) {
      if (!mayMeet(earlier.launch, later.launch)) {
        continue;
      }
      earlier.kernel.setPrecedes(true);
      later.kernel.setFollows(true);
      for (auto [number, value] : llvm::enumerate(later.launch.getArgs())) {
        if (llvm::any_of(earlier.launch.getArgs(), [&](Value written) {
              return mayWrite(host, written) && maySame(host, value, written);
            })) {
          tgpu::kWrittenBefore.set(later.kernel, number, UnitAttr::get(host.getContext()));
        }
      }
    }
  }
}

std::string tilec::nameOfLaunch(tile::KernelOp host, size_t number) {
  std::string name = (host.getSymName() + "_" + Twine(number)).str();
  while (llvm::any_of(host->getParentOp()->getRegion(0).getOps<tile::KernelOp>(),
                      [&](tile::KernelOp other) { return other.getSymName().starts_with(name); })) {
    name += '_';
  }
  return name;
}
