#include "compiler/driver/KernelSubjects.h"

#include "dialects/tile/Tile.h"

using namespace mlir;

namespace tilec {

void KernelSubjects::begin(const ModuleJob &job) {
  arch = job.target->name.str();
  parameters = job.parameters;
  kept.clear();
}

Subject KernelSubjects::ofKernel(llvm::StringRef symbol) const {
  Subject subject;
  subject.kernel = symbol.str();
  subject.arch = arch;
  if (auto found = parameters.find(subject.kernel); found != parameters.end()) {
    subject.parameters = found->second;
  }
  return subject;
}

/// The number of the launch called `name` in a kernel, and how many there are.
static std::pair<std::optional<unsigned>, unsigned> findLaunch(tile::KernelOp host,
                                                               llvm::StringRef name) {
  std::optional<unsigned> number;
  unsigned count = 0;
  host.walk([&](Operation *op) {
    if (auto launch = dyn_cast<tgpu::LaunchOp>(op); launch && launch.getName() == name) {
      number = count;
    }
    count += isa<tile::LaunchOp, tgpu::LaunchOp>(op);
  });
  return {number, count};
}

Subject KernelSubjects::of(tgpu::KernelOp kernel) const {
  if (auto found = kept.find(kernel.getSymName().str()); found != kept.end()) {
    return found->second;
  }
  llvm::StringRef launch = kernel.getLaunch().value_or(kernel.getSymName());
  Subject subject = ofKernel(launch);
  if (auto module = kernel->getParentOfType<ModuleOp>()) {
    for (auto host : module.getOps<tile::KernelOp>()) {
      auto [number, count] = findLaunch(host, launch);
      if (number) {
        subject = ofKernel(host.getSymName());
        subject.launch = count > 1 ? number : std::nullopt;
        break;
      }
    }
  }
  subject.variant = kernel.getVariant().value_or("").str();
  return subject;
}

Subject KernelSubjects::named(llvm::StringRef name, ModuleOp module) const {
  if (auto found = kept.find(name.str()); found != kept.end()) {
    return found->second;
  }
  auto kernel = module ? module.lookupSymbol<tgpu::KernelOp>(name) : tgpu::KernelOp();
  return kernel ? of(kernel) : ofKernel(name);
}

void KernelSubjects::keep(ModuleOp module) {
  for (auto kernel : module.getOps<tgpu::KernelOp>()) {
    kept[kernel.getSymName().str()] = of(kernel);
  }
}

} // namespace tilec
