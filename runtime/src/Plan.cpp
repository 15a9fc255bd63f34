// How a call is planned (Plan.h says what holds of plans): the checks of kernel and configuration, then the host program, statement
// by statement. A Planner is for one plan, of one thread; it throws where the call is wrong, and is then of no use any more.
#include "Plan.h"

#include "../include/tile/pack_format.h"
#include "../support/Floats.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tile_rt {

namespace {
// cuTensorMapEncodeTiled, CUDA driver API reference: the base and the strides are multiples of 16
// bytes, strides are below 2^40, extents from 1 to 2^32.
constexpr uint64_t kMapAlign = 16;
constexpr Int kMapMaxStride = Int{1} << 40;
constexpr Int kMapMaxExtent = Int{1} << 32;

class Planner {
public:
  Planner(const Manifest &manifest, const Kernel &kernel, unsigned number, const DeviceInfo &device,
          const VariantFilter &filter, Env environment)
      : manifest(manifest), kernel(kernel), configuration(kernel.configurations[number]),
        device(device), filter(filter), env(std::move(environment)) {
    env.smCount = device.smCount;
    env.lets.resize(configuration.numLets);
    workspaces.resize(configuration.numWorkspaces);
    plan.configuration = number;
  }

  LaunchPlan planCheapest() {
    run();
    return std::move(plan);
  }

private:
  void run() {
    require(kernel.checks);
    require(configuration.checks);
    runBlock(configuration.host);
  }
  void require(const std::vector<Check> &checks) const;
  void runBlock(const std::vector<Statement> &block);
  void runLet(const Statement &statement);
  Value valueOf(const Statement &let) const;
  void runWorkspace(const Statement &statement);
  void runLaunch(const Statement &statement);
  bool setGrid(const Statement &statement);
  /// The chosen variant, its maps computed, its cost added to the plan's; throws if there is none.
  const Variant &choose(const Statement &statement, std::vector<PlannedMap> &maps);
  double costOf(const Variant &variant);
  /// Why a variant cannot be taken; empty if it can.
  std::string refuse(const Variant &variant, std::vector<PlannedMap> &maps) const;
  const std::string &archOf(const Variant &variant) const {
    return manifest.modules[variant.module].arch;
  }
  std::string planMap(const TensorMap &recipe, PlannedMap &map) const;
  bool standsForEmpty(const TensorMap &recipe) const;
  void placeEmpty(PlannedMap &map);
  std::array<unsigned, 3> countBlocks(const Statement &statement, const Variant &variant) const;
  PlannedParam planParam(const Parameter &parameter) const;
  std::string bindings() const;

  const Manifest &manifest;
  const Kernel &kernel;
  const Configuration &configuration;
  const DeviceInfo &device;
  const VariantFilter &filter;
  Env env;
  std::vector<uint64_t> workspaces; ///< offsets
  LaunchPlan plan;
};

std::string Planner::bindings() const {
  std::string text;
  for (size_t i = 0; i < kernel.dims.size(); ++i) {
    text += (i ? ", " : ": ") + kernel.dims[i].name + " = " + valueText(env.dims[i]);
  }
  return text;
}

void Planner::require(const std::vector<Check> &checks) const {
  for (const Check &check : checks) {
    if (!evaluate(check.expr, env).isTrue()) {
      failCall(check.diagnostic.c_str(), "`" + check.text + "` does not hold for this call of `" +
                                             kernel.symbol + "`" + bindings());
    }
  }
}

void Planner::runBlock(const std::vector<Statement> &block) {
  for (const Statement &statement : block) {
    switch (statement.kind) {
    case Statement::Kind::Let:
      runLet(statement);
      break;
    case Statement::Kind::Workspace:
      runWorkspace(statement);
      break;
    case Statement::Kind::If:
      runBlock(evaluate(statement.expr, env).isTrue() ? statement.then : statement.otherwise);
      break;
    case Statement::Kind::Launch:
      runLaunch(statement);
      break;
    }
  }
}

/// What fails has no value, and the call fails where it needs it: the compiler binds what several choices share in front of
/// them, though a call may take none that uses it.
void Planner::runLet(const Statement &statement) {
  try {
    env.lets[statement.index] = valueOf(statement);
  } catch (const Error &) {
    env.letErrors.resize(env.lets.size());
    env.letErrors[statement.index] = std::current_exception();
  }
}

Value Planner::valueOf(const Statement &statement) const {
  Value value = evaluate(statement.expr, env);
  if (value.kind == ValueKind::Int &&
      (value.integer < minInt(statement.type) || value.integer > maxInt(statement.type))) {
    failCall("host-overflow", "`" + statement.name + "` is " + intText(value.integer) +
                                  ", which does not fit " + dtypeName(statement.type));
  }
  if (value.kind == ValueKind::Float) {
    value.real = roundFloat(statement.type, value.real);
  }
  return value;
}

void Planner::runWorkspace(const Statement &statement) {
  const Workspace &workspace = statement.workspace;
  Int count = 1;
  for (const Expr &extent : workspace.extents) {
    Int value = std::max<Int>(evaluate(extent, env).integer, 0);
    if (__builtin_mul_overflow(count, value, &count) || count > (Int{1} << 50)) {
      failCall("host-overflow", "workspace `" + workspace.name + "` is larger than 2^50 elements");
    }
  }
  uint64_t bytes = dtypeBytes(workspace.dtype, static_cast<uint64_t>(count));
  uint64_t offset = plan.workspaceBytes;
  workspaces[statement.index] = offset;
  plan.workspaceBytes =
      (offset + bytes + TILE_WORKSPACE_ALIGN - 1) / TILE_WORKSPACE_ALIGN * TILE_WORKSPACE_ALIGN;
  if (!workspace.init || bytes == 0) {
    return;
  }
  PlanStep step;
  uint64_t bits = scalarBits(workspace.dtype, *workspace.init);
  unsigned width = dtypeBits(workspace.dtype);
  step.fill = {offset, width / 8, bits, static_cast<uint64_t>(count)};
  if (width == 4) {
    step.fill = {offset, 1, (bits & 15) * 17, bytes};
  }
  plan.steps.push_back(std::move(step));
}

bool Planner::setGrid(const Statement &statement) {
  env.grid.clear();
  env.gridPoints = 1;
  bool empty = false;
  for (const Expr &extent : statement.grid) {
    env.grid.push_back(evaluate(extent, env).integer);
    empty |= env.grid.back() <= 0;
  }
  if (empty) {
    return false;
  }
  bool tooLarge = false;
  for (Int extent : env.grid) {
    tooLarge = tooLarge || __builtin_mul_overflow(env.gridPoints, extent, &env.gridPoints) ||
               env.gridPoints >= (Int{1} << 31);
  }
  if (tooLarge) {
    std::string text;
    for (Int extent : env.grid) {
      text += (text.empty() ? "" : " x ") + intText(extent);
    }
    failCall("grid-too-large",
             "launch `" + statement.name + "`: its grid is " + text + ", 2^31 points or more");
  }
  return true;
}

std::string Planner::planMap(const TensorMap &recipe, PlannedMap &map) const {
  map.recipe = &recipe;
  if (recipe.ofWorkspace) {
    map.base = {true, workspaces[recipe.index]};
  } else {
    map.absent = !env.tensors[recipe.index].present;
    map.base = {false, env.tensors[recipe.index].address};
  }
  if (map.absent) {
    return {};
  }
  Int offset = evaluate(recipe.offset, env).integer;
  map.base.value += static_cast<uint64_t>(offset);
  auto name = [&] {
    return recipe.ofWorkspace ? "the workspace" : "`" + kernel.arguments[recipe.index].name + "`";
  };
  for (const Expr &dim : recipe.dims) {
    Int extent = evaluate(dim, env).integer;
    map.empty = map.empty || extent == 0;
    if (extent < 0 || extent > kMapMaxExtent || (map.empty && !standsForEmpty(recipe))) {
      return "an extent of " + name() + " is " + intText(extent);
    }
    map.dims.push_back(static_cast<uint64_t>(extent));
  }
  if (map.empty) {
    map.dims.assign(recipe.dims.size(), 1);
    map.strides.assign(recipe.strides.size(), kMapAlign);
    return {};
  }
  if (map.base.value % kMapAlign != 0) {
    return name() + " does not begin at a multiple of 16 bytes";
  }
  for (const Expr &stride : recipe.strides) {
    Int bytes = evaluate(stride, env).integer;
    if (bytes < 0 || bytes % static_cast<Int>(kMapAlign) != 0 || bytes >= kMapMaxStride) {
      return "a stride of " + name() + " is " + intText(bytes) + " bytes, not a multiple of 16";
    }
    map.strides.push_back(static_cast<uint64_t>(bytes));
  }
  return {};
}

/// Whether the one element that a map must have can stand for none: no kernel both writes and reads it, and what lies outside is zero.
bool Planner::standsForEmpty(const TensorMap &recipe) const {
  return !recipe.ofWorkspace && !recipe.nanFill &&
         kernel.arguments[recipe.index].direction != Direction::InOut;
}

/// A tensor without elements gets a place in the workspace for the one of its map: of zeros, which is what lies outside a tensor,
/// if the kernel reads it.
void Planner::placeEmpty(PlannedMap &map) {
  map.base = {true, plan.workspaceBytes};
  if (!kernel.arguments[map.recipe->index].isWritten()) {
    PlanStep step;
    step.fill = {map.base.value, 1, 0, kMapAlign};
    plan.steps.push_back(std::move(step));
  }
  plan.workspaceBytes += TILE_WORKSPACE_ALIGN;
}

std::string Planner::refuse(const Variant &variant, std::vector<PlannedMap> &maps) const {
  const Module &module = manifest.modules[variant.module];
  if (!filter.arch.empty() && filter.arch != module.arch) {
    return "not for " + filter.arch;
  }
  if (!filter.variant.empty() && filter.variant != variant.name) {
    return "not the variant asked for";
  }
  if (!archRuns(module, device)) {
    return module.arch + " code does not run on this device (compute capability " +
           std::to_string(device.major) + "." + std::to_string(device.minor) + ")";
  }
  uint64_t shared = variant.sharedBytes + variant.staticSharedBytes;
  if (shared > device.maxSharedBytes) {
    return "needs " + std::to_string(shared) + " bytes of shared memory, the device has " +
           std::to_string(device.maxSharedBytes);
  }
  if (variant.guard && !evaluate(*variant.guard, env).isTrue()) {
    return "its guard is false: " + exprText(*variant.guard);
  }
  if (!variant.tensorMaps.empty() && !device.hasTensorMaps) {
    return "the driver has no tensor maps";
  }
  for (const TensorMap &recipe : variant.tensorMaps) {
    maps.emplace_back();
    std::string reason = planMap(recipe, maps.back());
    if (!reason.empty()) {
      return reason;
    }
  }
  return {};
}

/// Infinity where there is no number: no call fails because an estimate does.
double Planner::costOf(const Variant &variant) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  try {
    for (const CostLet &let : variant.lets) {
      env.lets[let.index] = Value::ofFloat(roundFloat(let.type, evaluate(let.expr, env).real));
    }
    const Value value = evaluate(*variant.cost, env);
    const double cost =
        value.kind == ValueKind::Float ? value.real : static_cast<double>(value.integer);
    return std::isnan(cost) ? kUnknown : cost;
  } catch (const Error &) {
    return kUnknown;
  }
}

const Variant &Planner::choose(const Statement &statement, std::vector<PlannedMap> &maps) {
  std::vector<const Variant *> eligible;
  std::vector<std::vector<PlannedMap>> eligibleMaps;
  std::string reasons;
  bool allCosts = true;
  for (const Variant &variant : statement.variants) {
    // Costs of different architectures are estimates for different machines.
    if (!eligible.empty() && archOf(variant) != archOf(*eligible.front())) {
      continue;
    }
    std::vector<PlannedMap> variantMaps;
    std::string reason = refuse(variant, variantMaps);
    if (!reason.empty()) {
      reasons += "; " + variant.name + ": " + reason;
      continue;
    }
    eligible.push_back(&variant);
    eligibleMaps.push_back(std::move(variantMaps));
    allCosts = allCosts && variant.cost;
    if (!allCosts) {
      break; // the first one is taken, whatever follows
    }
  }
  if (eligible.empty()) {
    throw Error(TILE_ERROR_NO_VARIANT, "[no-variant] launch `" + statement.name + "` of kernel `" +
                                           kernel.symbol + "` has no variant for this call" +
                                           reasons);
  }
  size_t best = 0;
  double bestCost = 0;
  for (size_t i = 0; allCosts && i < eligible.size(); ++i) {
    const double cost = costOf(*eligible[i]);
    if (i == 0 || cost < bestCost) {
      best = i;
      bestCost = cost;
    }
  }
  if (!allCosts) {
    plan.cost.reset();
  } else if (plan.cost) {
    *plan.cost = std::isinf(*plan.cost) ? *plan.cost : *plan.cost + bestCost;
  }
  maps = std::move(eligibleMaps[best]);
  return *eligible[best];
}

std::array<unsigned, 3> Planner::countBlocks(const Statement &statement,
                                             const Variant &variant) const {
  uint64_t cluster = uint64_t{variant.cluster[0]} * variant.cluster[1] * variant.cluster[2];
  uint64_t points = static_cast<uint64_t>(env.gridPoints);
  uint64_t count = points;
  uint64_t limit = (uint64_t{1} << 31) - 1;
  if (variant.blocks.kind == Blocks::Kind::Explicit) {
    std::array<unsigned, 3> result;
    for (size_t i = 0; i < 3; ++i) {
      Int extent = evaluate(variant.blocks.extents[i], env).integer;
      if (extent < 1 || extent > (i == 0 ? static_cast<Int>(limit) : 65535)) {
        failCall("grid-too-large", "launch `" + statement.name + "`: " + intText(extent) +
                                       " blocks along axis " + std::to_string(i));
      }
      result[i] = static_cast<unsigned>(extent);
    }
    return result;
  }
  if (variant.blocks.kind == Blocks::Kind::Persistent) {
    limit = std::min(limit, uint64_t{variant.blocks.perSm} * std::max(device.smCount, 1u));
    count = std::min(points, limit);
  }
  count = (count + cluster - 1) / cluster * cluster;
  if (count > limit) {
    count = std::max(limit / cluster * cluster, cluster);
    if (variant.blocks.kind == Blocks::Kind::Direct) {
      failCall("grid-too-large",
               "launch `" + statement.name + "`: too many blocks for whole clusters");
    }
  }
  return {static_cast<unsigned>(count), 1, 1};
}

PlannedParam Planner::planParam(const Parameter &parameter) const {
  PlannedParam planned;
  planned.kind = parameter.kind;
  switch (parameter.kind) {
  case Parameter::Kind::Tensor:
    planned.place = {false, env.tensors[parameter.index].address};
    break;
  case Parameter::Kind::Workspace:
    planned.place = {true, workspaces[parameter.index]};
    break;
  case Parameter::Kind::TensorMap:
    planned.map = parameter.index;
    break;
  case Parameter::Kind::CheckRecord:
  case Parameter::Kind::CheckBase:
  case Parameter::Kind::PrintBuffer:
  case Parameter::Kind::PrintBase:
    break; // known to what runs the launch
  case Parameter::Kind::Scalar: {
    Value value = evaluate(parameter.expr, env);
    if (value.kind == ValueKind::Int &&
        (value.integer < minInt(parameter.type) || value.integer > maxInt(parameter.type))) {
      failCall("host-overflow", "`" + exprText(parameter.expr) + "` is " + intText(value.integer) +
                                    ", which does not fit " + dtypeName(parameter.type));
    }
    planned.bits = scalarBits(parameter.type, value);
    planned.copies = copiesScalar(parameter, kernel);
    break;
  }
  }
  return planned;
}

void Planner::runLaunch(const Statement &statement) {
  if (!setGrid(statement)) {
    return;
  }
  PlanStep step;
  step.isLaunch = true;
  PlannedLaunch &launch = step.launch;
  launch.statement = &statement;
  launch.variant = &choose(statement, launch.maps);
  if (plan.arch.empty()) {
    plan.arch = archOf(*launch.variant);
  }
  launch.blocks = countBlocks(statement, *launch.variant);
  for (PlannedMap &map : launch.maps) {
    if (map.empty) {
      placeEmpty(map);
    }
  }
  // Never the call's first step: what came before the call may be anything, and has to have ended. Fills end before what follows.
  launch.overlaps = launch.variant->overlaps && device.overlapsLaunches && !plan.steps.empty() &&
                    plan.steps.back().isLaunch;
  for (const Parameter &parameter : launch.variant->params) {
    launch.params.push_back(planParam(parameter));
  }
  plan.steps.push_back(std::move(step));
}
} // namespace

uint64_t scalarBits(DType type, const Value &value) {
  if (dtypeKind(type) == ValueKind::Float) {
    return encodeFloat(type, value.real);
  }
  return static_cast<uint64_t>(value.integer);
}

bool copiesScalar(const Parameter &parameter, const Kernel &kernel) {
  return parameter.kind == Parameter::Kind::Scalar && parameter.expr.op == Op::Arg &&
         parameter.type == kernel.arguments[parameter.expr.index].dtype;
}

bool archRuns(const Module &module, const DeviceInfo &device) {
  unsigned number = 0;
  size_t i = std::strlen("sm_");
  for (; i < module.arch.size() && module.arch[i] >= '0' && module.arch[i] <= '9'; ++i) {
    number = number * 10 + static_cast<unsigned>(module.arch[i] - '0');
  }
  unsigned major = number / 10, minor = number % 10;
  char suffix = i < module.arch.size() ? module.arch[i] : 0;
  if (suffix == 'a') {
    return device.major == major && device.minor == minor;
  }
  bool sameMajor = device.major == major && device.minor >= minor;
  if (suffix == 'f' || module.kind == Module::Kind::Cubin) {
    return sameMajor;
  }
  return sameMajor || device.major > major;
}

LaunchPlan planConfiguration(const Manifest &manifest, const Kernel &kernel, unsigned configuration,
                             const Env &env, const DeviceInfo &device,
                             const VariantFilter &filter) {
  return Planner(manifest, kernel, configuration, device, filter, env).planCheapest();
}

std::string describeConfiguration(const Kernel &kernel, unsigned configuration) {
  std::string text;
  if (kernel.configurations.size() > 1) {
    for (const auto &[name, value] : kernel.configurations[configuration].params) {
      text += text.empty() ? "" : ", ";
      text.append(name).append(" = ").append(value);
    }
  }
  return text;
}

std::string describePlan(const Manifest &manifest, const Kernel &kernel, const LaunchPlan &plan) {
  std::string text;
  if (kernel.configurations.size() > 1) {
    const std::string params = describeConfiguration(kernel, plan.configuration);
    text = "configuration " + std::to_string(plan.configuration) + (params.empty() ? "" : ": ") +
           params + "\n";
  }
  for (const PlanStep &step : plan.steps) {
    if (!step.isLaunch) {
      continue;
    }
    const Variant &variant = *step.launch.variant;
    const auto &blocks = step.launch.blocks;
    text += step.launch.statement->name + ": variant " + variant.name + ", entry " + variant.entry +
            ", " + manifest.modules[variant.module].arch + ", " + std::to_string(blocks[0]) +
            " x " + std::to_string(blocks[1]) + " x " + std::to_string(blocks[2]) + " blocks of " +
            std::to_string(variant.block[0] * variant.block[1] * variant.block[2]) + " threads, " +
            std::to_string(variant.sharedBytes) + " bytes of shared memory" +
            (step.launch.overlaps ? ", beginning before the end of the launch before it\n" : "\n");
  }
  return text;
}

} // namespace tile_rt
