#include "Device.h"

#include "TensorMaps.h"

#include <cstring>

using namespace tile_rt;

namespace {
uint64_t resolve(const Place &place, uint64_t workspace) {
  return place.inWorkspace ? workspace + place.value : place.value;
}

cu::TensorMapBytes encodeMap(const Driver &driver, const PlannedMap &map, uint64_t workspace) {
  cu::TensorMapBytes bytes{};
  if (map.absent) {
    return bytes;
  }
  TensorMapArguments arguments = tensorMapArguments(map, workspace);
  cu::Result result = driver.encodeTiled(
      &bytes, arguments.dataType, arguments.rank, reinterpret_cast<void *>(arguments.address),
      arguments.dims, arguments.strides, arguments.box, arguments.elementStrides,
      arguments.interleave, arguments.swizzle, arguments.l2Promotion, arguments.fill);
  std::string why = whyRefused(arguments);
  driver.check(result, "cuTensorMapEncodeTiled" + (why.empty() ? "" : " (" + why + ")"));
  return bytes;
}
} // namespace

tile_context::tile_context(int ordinal) : driver(Driver::open()) {
  int count = 0;
  driver->check(driver->deviceGetCount(&count), "cuDeviceGetCount");
  if (ordinal < 0 || ordinal >= count) {
    throw Error(TILE_ERROR_NO_DRIVER, "there is no device " + std::to_string(ordinal) +
                                          ": the driver has " + std::to_string(count));
  }
  driver->check(driver->deviceGet(&device, ordinal), "cuDeviceGet");
  auto attribute = [&](int which) {
    int value = 0;
    driver->check(driver->deviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
    return static_cast<unsigned>(value);
  };
  info.major = attribute(cu::kCapabilityMajor);
  info.minor = attribute(cu::kCapabilityMinor);
  info.smCount = attribute(cu::kMultiprocessorCount);
  info.maxSharedBytes = attribute(cu::kMaxSharedPerBlockOptin);
  info.hasTensorMaps = driver->encodeTiled != nullptr && info.major >= 9;
  char name[256] = {};
  driver->check(driver->deviceGetName(name, sizeof(name), device), "cuDeviceGetName");
  info.name = name;
  driver->check(driver->primaryRetain(&context, device), "cuDevicePrimaryCtxRetain");
  failures.open(*driver, context);
  prints.open(*driver, context);
}

tile_context::~tile_context() {
  failures.close();
  prints.close();
  driver->primaryRelease(device);
}

LaunchPlan tile_kernel::plan(Span<const tile_arg> args) const {
  if (!pack->context) {
    throw Error(TILE_ERROR_NO_DRIVER, "the pack was loaded without a context");
  }
  return planCall(pack->manifest, *kernel, args, pack->context->info, filter, &choices);
}

tile_pack::tile_pack(tile_context *context, std::string fileBytes)
    : context(context), bytes(std::move(fileBytes)) {
  PackParts parts = splitPack(bytes);
  body = parts.body;
  manifest = parseManifest(parts.manifest, body.size());
  manifestText = parts.manifest;
  modules.resize(manifest.modules.size());
  kernels = std::vector<tile_kernel>(manifest.kernels.size()); // they do not move
  for (size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].pack = this;
    kernels[i].kernel = &manifest.kernels[i];
  }
}

tile_pack::~tile_pack() {
  for (cu::Module module : modules) {
    if (module) {
      const Driver &driver = *context->driver;
      // A driver that is shutting down refuses: nothing is left to unload.
      if (driver.ctxPush(context->context) == 0) {
        cu::Context popped = nullptr;
        driver.moduleUnload(module);
        driver.ctxPop(&popped);
      }
    }
  }
}

cu::Module tile_pack::module(unsigned index) {
  if (modules[index]) {
    return modules[index];
  }
  const Module &description = manifest.modules[index];
  // A copy: aligned for the driver, and PTX gets its zero byte even if the pack forgot it.
  std::string image(body.substr(description.offset, description.bytes));
  char log[4096] = {};
  int options[] = {cu::kJitErrorLog, cu::kJitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(uintptr_t{sizeof(log) - 1})};
  cu::Module loaded = nullptr;
  cu::Result result = context->driver->moduleLoad(&loaded, image.c_str(), 2, options, values);
  std::string what = "loading the " + description.arch + " module";
  context->driver->check(result, log[0] ? what + " (" + log + ")" : what);
  modules[index] = loaded;
  return loaded;
}

cu::Function tile_pack::function(const Variant &variant) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = functions.find(&variant);
  if (found != functions.end()) {
    return found->second;
  }
  const Driver &driver = *context->driver;
  cu::Function function = nullptr;
  driver.check(driver.moduleGetFunction(&function, module(variant.module), variant.entry.c_str()),
               "finding the entry `" + variant.entry + "`");
  // Up to 48 KiB need no opting in (CUDA C++ Programming Guide, "Shared Memory" of compute
  // capability 8.x and 9.0).
  if (variant.sharedBytes > 48 * 1024) {
    driver.check(driver.funcSetAttribute(function, cu::kFunctionMaxDynamicShared,
                                         static_cast<int>(variant.sharedBytes)),
                 "raising the shared memory of `" + variant.entry + "`");
  }
  if (variant.cluster[0] * variant.cluster[1] * variant.cluster[2] > 8) {
    driver.check(driver.funcSetAttribute(function, cu::kFunctionNonPortableCluster, 1),
                 "allowing the cluster of `" + variant.entry + "`");
  }
  functions[&variant] = function;
  return function;
}

void tile_pack::fill(const PlannedFill &fill, cu::Stream stream, uint64_t workspace) const {
  const Driver &driver = *context->driver;
  uint64_t address = workspace + fill.offset;
  cu::Result result = 0;
  switch (fill.elementBytes) {
  case 1:
    result = driver.memsetD8(address, static_cast<unsigned char>(fill.bits), fill.count, stream);
    break;
  case 2:
    result = driver.memsetD16(address, static_cast<unsigned short>(fill.bits), fill.count, stream);
    break;
  case 4:
    result = driver.memsetD32(address, static_cast<unsigned>(fill.bits), fill.count, stream);
    break;
  default:
    // Halves of 64-bit elements: two columns of a matrix of 8-byte rows.
    result = driver.memset2D32(address, 8, static_cast<unsigned>(fill.bits), 1, fill.count, stream);
    if (!result) {
      result = driver.memset2D32(address + 4, 8, static_cast<unsigned>(fill.bits >> 32), 1,
                                 fill.count, stream);
    }
    break;
  }
  driver.check(result, "filling the workspace");
}

void tile_pack::launch(const PlannedLaunch &launch, cu::Stream stream, uint64_t workspace) {
  const Driver &driver = *context->driver;
  const Variant &variant = *launch.variant;
  std::vector<cu::TensorMapBytes> maps;
  maps.reserve(launch.maps.size());
  for (const PlannedMap &map : launch.maps) {
    maps.push_back(encodeMap(driver, map, workspace));
  }
  std::vector<uint64_t> values(launch.params.size());
  std::vector<void *> params(launch.params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    const PlannedParam &param = launch.params[i];
    if (param.kind == Parameter::Kind::TensorMap) {
      params[i] = &maps[param.map];
      continue;
    }
    switch (param.kind) {
    case Parameter::Kind::Scalar:
      values[i] = param.bits;
      break;
    case Parameter::Kind::CheckRecord:
      values[i] = context->failures.address();
      break;
    case Parameter::Kind::CheckBase:
      values[i] = context->failures.add(variant.checks);
      break;
    case Parameter::Kind::PrintBuffer:
      values[i] = context->prints.address();
      break;
    case Parameter::Kind::PrintBase:
      values[i] = context->prints.add(variant.prints);
      break;
    default:
      values[i] = resolve(param.place, workspace);
      break;
    }
    params[i] = &values[i];
  }
  cu::LaunchAttribute cluster{
      cu::kLaunchCluster, 0, {variant.cluster[0], variant.cluster[1], variant.cluster[2]}};
  bool clustered = variant.cluster[0] * variant.cluster[1] * variant.cluster[2] > 1;
  cu::LaunchConfig config{launch.blocks[0],
                          launch.blocks[1],
                          launch.blocks[2],
                          variant.block[0],
                          variant.block[1],
                          variant.block[2],
                          static_cast<unsigned>(variant.sharedBytes),
                          stream,
                          clustered ? &cluster : nullptr,
                          clustered ? 1u : 0u};
  driver.check(driver.launch(&config, function(variant), params.data(), nullptr),
               "launching `" + variant.entry + "`");
}

void tile_pack::execute(const LaunchPlan &plan, cu::Stream stream, uint64_t workspace) {
  CurrentContext current(*context->driver, context->context);
  for (const PlanStep &step : plan.steps) {
    if (step.isLaunch) {
      launch(step.launch, stream, workspace);
    } else {
      fill(step.fill, stream, workspace);
    }
  }
}
