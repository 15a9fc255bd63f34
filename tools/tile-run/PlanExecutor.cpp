#include "tools/tile-run/PlanExecutor.h"

using namespace tile_rt;

namespace tile_run {

std::string PlanExecutor::prepare(std::span<const tile_arg> given, bool verbose) {
  args = given;
  plan = planCall(kernel.pack->manifest, *kernel.kernel, args, device(), kernel.filter,
                  &kernel.choices);
  if (plan.workspaceBytes > memoryLimit()) {
    throw Error(TILE_ERROR_ARGUMENT, "the call needs a workspace of " +
                                         std::to_string(plan.workspaceBytes) +
                                         " bytes, more than there is here");
  }
  workspace = allocate(plan.workspaceBytes, "workspace");
  if (verbose) {
    return describePlan(kernel.pack->manifest, *kernel.kernel, plan);
  }
  std::string text = describeConfiguration(*kernel.kernel, plan.choice.configuration);
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
  for (const PlanStep &step : plan.steps) {
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
