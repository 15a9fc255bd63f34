#include "tools/tile-run/PlanExecutor.h"

#include "runtime/harness/Memory.h"

using namespace tile_rt;

namespace tile_run {

std::string PlanExecutor::prepare(std::span<const tile_arg> given, bool verbose) {
  args = given;
  const Env env = bindArguments(*kernel.kernel, args);
  call = std::make_unique<PreparedCall>(
      *kernel.kernel, env,
      planCall(kernel.pack->manifest, *kernel.kernel, env, device(), kernel.filter));
  const LaunchPlan &plan = call->plan;
  checkMemory(plan.workspaceBytes, "workspaces");
  workspace = allocate(plan.workspaceBytes, "workspace");
  if (verbose) {
    return describePlan(kernel.pack->manifest, *kernel.kernel, plan);
  }
  std::string text = describeConfiguration(*kernel.kernel, plan.configuration);
  text += text.empty() ? "" : ": ";
  bool isFirst = true;
  for (const std::string &name : variants()) {
    text += (isFirst ? "" : "; ") + name;
    isFirst = false;
  }
  return text;
}

std::vector<std::string> PlanExecutor::variants() const {
  std::vector<std::string> names;
  if (!call) {
    return names; // the call was refused
  }
  for (const PlanStep &step : call->plan.steps) {
    if (step.isLaunch) {
      names.push_back(step.launch.variant->name);
    }
  }
  return names;
}

std::string PlanExecutor::damage() const {
  std::string damage = workspace ? workspace->damage() : "";
  return damage.empty() ? "" : "workspace: WRONG: " + damage;
}

} // namespace tile_run
