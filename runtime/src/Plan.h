// From the arguments of a call to what must be enqueued, without a driver: checks, host program,
// choice of variants.
//
// A plan is the host program of one configuration as it has run for one call: its fills and launches in their order, each launch
// with the variant that it takes, its blocks, and values for all parameters. Whatever can be wrong with the call has been found when
// there is one: to plan is to check, and nothing is enqueued before.
//
// - Planning is a function of manifest, environment, device and filter. It keeps nothing between calls, changes none of them
//   and looks at no device memory, so threads may plan at the same time. A plan does not change once it is made.
// - A plan points into the manifest (statements, variants, recipes of maps, the text of its architecture), which must outlive it;
//   a pack keeps its manifest where it is as long as it lives. It owns all else, and nothing of the caller's: extents and
//   strides are copied into the environment.
// - Indices need no checks here. ManifestParser.cpp has resolved every name to a number within `dims`, `arguments`, `lets`,
//   `workspaces`, `variants` or `modules`, and refuses a `let` or workspace that is used before the statement that binds it.
//   bindArguments fills `dims`, `scalars` and `tensors` of an environment, one entry for each of the kernel, before anything is
//   evaluated; the planner makes room for lets and workspaces, by the counts of the configuration, and binds them in the
//   program's order. A name that is bound under `if` is seen there alone.
// - Addresses are those of the call, workspaces offsets: one plan serves calls that differ in addresses and copied scalars alone.
//   CallKey.h says which do, Prepared.h keeps plans for them and puts the addresses in.
#pragma once

#include "../support/Span.h"
#include "Error.h"
#include "Manifest.h"

namespace tile_rt {

/// The properties of a device that planning depends on.
struct DeviceInfo {
  unsigned major = 0, minor = 0; ///< compute capability
  unsigned smCount = 0;
  uint64_t maxSharedBytes = 0; ///< per block, with opting in
  bool hasTensorMaps = false;  ///< the device reads them
  std::string name;
  bool overlapsLaunches =
      true;                 ///< the driver lets a launch begin before the one before it has ended
  uint64_t sharedBytes = 0; ///< of a multiprocessor
  uint64_t reservedSharedBytes = 0; ///< of them the driver's for each block
};

/// Restricts the choice of configurations and variants; empty means any.
struct VariantFilter {
  std::string arch, variant;
  std::optional<unsigned> configuration = std::nullopt;
};

/// Where data lies: an address of the caller's, or an offset into the call's workspace.
struct Place {
  bool inWorkspace = false;
  uint64_t value = 0;
};

struct PlannedMap {
  const TensorMap *recipe = nullptr;
  bool absent = false; ///< its tensor was not given: pass zeros
  bool empty = false;  ///< its tensor has no elements: the map's only one lies in the workspace
  Place base;
  std::vector<uint64_t> dims, strides; ///< elements, bytes; innermost first
};

struct PlannedParam {
  Parameter::Kind kind = Parameter::Kind::Scalar;
  Place place;         ///< of a tensor or workspace
  uint64_t bits = 0;   ///< of a scalar, in the low bytes
  bool copies = false; ///< a scalar as the call gives it: not part of what the plan depends on
  unsigned map = 0;    ///< index into the launch's maps
};

/// Fill `count` elements of `elementBytes` at the place with the low bytes of `bits`.
struct PlannedFill {
  uint64_t offset = 0; ///< in the workspace
  unsigned elementBytes = 1;
  uint64_t bits = 0, count = 0;
};

struct PlannedLaunch {
  const Statement *statement = nullptr;
  const Variant *variant = nullptr;
  std::array<unsigned, 3> blocks{1, 1, 1};
  bool overlaps = false; ///< it may begin before the step before it, a launch, has ended
  std::vector<PlannedParam> params;
  std::vector<PlannedMap> maps;
};

struct PlanStep {
  bool isLaunch = false;
  PlannedFill fill;
  PlannedLaunch launch;
};

struct LaunchPlan {
  unsigned configuration = 0;  ///< that the call takes
  std::vector<PlanStep> steps; ///< in order
  uint64_t workspaceBytes = 0;
  /// What the variants of all launches cost together; nothing if one of them does not say it.
  std::optional<double> cost = 0;
  std::string_view arch; ///< of the first launch's code; "" without launches
};

/// Throws the call error [extent-too-large] for an extent that no call may have.
void checkExtent(const Argument &argument, size_t axis, Int extent);

/// Checks the arguments against the kernel's parameters and fills in the environment's dims,
/// scalars and tensors. Throws Error with the rule's name in brackets. Contents of device memory
/// are never looked at.
Env bindArguments(const Kernel &kernel, Span<const tile_arg> args);

/// The bytes that a tensor touches, counted from its address: [begin, end).
struct ByteRange {
  Int begin = 0, end = 0;
};
ByteRange touchedBytes(DType type, const TensorView &view);

/// Calls `function` with the numbers of two arguments, the smaller first, for all that must not lie over each other
/// in this call but as the kernel admits: both are tensors with elements, and one is written.
template <class Function>
void forEachAliasPair(const Kernel &kernel, const Env &env, Function &&function) {
  auto takesPart = [&](unsigned i) {
    return kernel.arguments[i].isTensor && env.tensors[i].present && !env.tensors[i].isEmpty();
  };
  for (unsigned i = 0; i < kernel.arguments.size(); ++i) {
    for (unsigned j = i + 1; j < kernel.arguments.size(); ++j) {
      if ((kernel.arguments[i].isWritten() || kernel.arguments[j].isWritten()) && takesPart(i) &&
          takesPart(j)) {
        function(i, j);
      }
    }
  }
}

/// Whether a parameter is an argument's value as it was given.
bool copiesScalar(const Parameter &parameter, const Kernel &kernel);
/// The bits of a value as a parameter of this type has them.
uint64_t scalarBits(DType type, const Value &value);
/// The bits of a scalar argument as a parameter of its own type has them.
uint64_t scalarParameter(const Argument &argument, const void *data);

/// Plans a call with one of the kernel's configurations; `env` is what bindArguments gave. Throws
/// Error: TILE_ERROR_ARGUMENT, or TILE_ERROR_NO_VARIANT with the reasons.
LaunchPlan planConfiguration(const Manifest &manifest, const Kernel &kernel, unsigned configuration,
                             const Env &env, const DeviceInfo &device, const VariantFilter &filter);

/// Whether code for `arch` ("sm_90a") runs on the device: plain architectures on the same major
/// version from that minor version on (cubins) and, if the module may hold PTX, on everything
/// newer; `f` within the family; `a` only there.
bool archRuns(const Module &module, const DeviceInfo &device);

/// The configuration, if there are several, and one line per launch, for people.
std::string describePlan(const Manifest &manifest, const Kernel &kernel, const LaunchPlan &plan);

/// "BM = 128, BN = 64": what sets the configuration apart; "" where there is one.
std::string describeConfiguration(const Kernel &kernel, unsigned configuration);

} // namespace tile_rt
