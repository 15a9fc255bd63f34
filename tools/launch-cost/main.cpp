// launch-cost PACK KERNEL "M=64 N=64 K=64"...: what a call costs on the host, beside the bare driver. Of
// one call the same again and again, of several in turn. Launches go in bursts, and the GPU is waited
// for between them, so that no launch waits for room in the driver's queue.
#include "runtime/include/tile/tile.hpp"
#include "runtime/src/Device.h"
#include "runtime/src/LaunchAttributes.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>

using namespace tile_rt;

namespace {
using Clock = std::chrono::steady_clock;
constexpr int kBursts = 200, kLaunches = 100; ///< of calls, in each burst

double microsecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

/// Memory on the device for all tensors of a call, and the call's arguments.
class Arguments {
public:
  Arguments(const tile_kernel &kernel, const std::string &dims) : kernel(kernel) {
    Env env;
    env.tensors.resize(kernel.kernel->arguments.size());
    for (const Dimension &dim : kernel.kernel->dims) {
      env.dims.push_back(Value::ofInt(dim.value ? *dim.value : extentOf(dims, dim.name)));
    }
    for (const Argument &argument : kernel.kernel->arguments) {
      if (argument.isTensor) {
        addTensor(argument, env);
      } else {
        args.push_back(
            {&one, nullptr, nullptr, TILE_SCALAR_RANK, static_cast<int>(argument.dtype)});
      }
    }
    size_t bytes = 0;
    tile::check(tile_workspace_size(&mutableKernel(), args.data(), args.size(), &bytes));
    workspaceBytes = bytes;
    workspace = bytes ? allocate(bytes) : 0;
  }
  ~Arguments() {
    for (cu::DevicePtr address : memory) {
      driver().memFree(address);
    }
  }
  Arguments(const Arguments &) = delete;

  void launch() const {
    tile::check(tile_launch(&mutableKernel(), args.data(), args.size(), nullptr,
                            reinterpret_cast<void *>(workspace), workspaceBytes));
  }
  std::shared_ptr<PreparedCall> prepared() const {
    return kernel.prepare(args.data(), args.size());
  }
  /// The value of a parameter that each call sets.
  uint64_t valueOf(const Parameter &parameter, const PlannedParam &planned) const {
    return parameter.kind == Parameter::Kind::Workspace
               ? workspace + planned.place.value
               : reinterpret_cast<uint64_t>(args[parameter.index].data);
  }

private:
  static int64_t extentOf(const std::string &dims, const std::string &name) {
    std::istringstream stream(dims);
    for (std::string word; stream >> word;) {
      if (word.rfind(name + "=", 0) == 0) {
        return std::strtoll(word.c_str() + name.size() + 1, nullptr, 10);
      }
    }
    throw Error(TILE_ERROR_ARGUMENT, "dimension `" + name + "` has no value in `" + dims + "`");
  }
  const Driver &driver() const { return *kernel.pack->context->driver; }
  tile_kernel &mutableKernel() const { return const_cast<tile_kernel &>(kernel); }

  cu::DevicePtr allocate(size_t bytes) {
    CurrentContext current(driver(), kernel.pack->context->context);
    cu::DevicePtr address = 0;
    driver().check(driver().memAlloc(&address, bytes), "allocating " + std::to_string(bytes));
    memory.push_back(address);
    return address;
  }

  void addTensor(const Argument &argument, const Env &env) {
    std::vector<int64_t> list;
    uint64_t elements = 1;
    for (const Expr &extent : argument.extents) {
      list.push_back(static_cast<int64_t>(evaluate(extent, env).integer));
      elements *= static_cast<uint64_t>(list.back());
    }
    extents.push_back(std::make_unique<std::vector<int64_t>>(std::move(list)));
    const cu::DevicePtr address =
        allocate(std::max<uint64_t>(dtypeBytes(argument.dtype, elements), 1));
    args.push_back({reinterpret_cast<void *>(address), extents.back()->data(), nullptr,
                    static_cast<int32_t>(extents.back()->size()),
                    static_cast<int32_t>(argument.dtype)});
  }

  const tile_kernel &kernel;
  uint64_t one = 1;
  std::vector<std::unique_ptr<std::vector<int64_t>>> extents;
  std::vector<tile_arg> args;
  std::vector<cu::DevicePtr> memory;
  cu::DevicePtr workspace = 0;
  size_t workspaceBytes = 0;
};

/// The launches of a call that was launched before, by cuLaunchKernelEx alone.
class Bare {
public:
  Bare(const Driver &driver, const Arguments &arguments)
      : driver(driver), arguments(arguments), call(arguments.prepared()) {
    for (size_t step = 0; step < call->plan.steps.size(); ++step) {
      if (call->plan.steps[step].isLaunch) {
        add(call->plan.steps[step].launch, call->launches[step]);
      }
    }
  }
  size_t count() const { return launches.size(); }

  void launch() {
    for (Launch &launch : launches) {
      launch.config.attributes = launch.attributes.data();
      launch.config.numAttributes = launch.attributes.count();
      if (cu::Result result =
              driver.launch(&launch.config, launch.function, launch.params.data(), nullptr)) {
        driver.check(result, "a bare launch");
      }
    }
  }

private:
  struct Launch {
    cu::LaunchConfig config;
    LaunchAttributes attributes;
    cu::Function function;
    std::vector<uint64_t> values;
    std::vector<void *> params;
  };

  void add(const PlannedLaunch &planned, LaunchState &state) {
    const Variant &variant = *planned.variant;
    Launch launch{{planned.blocks[0], planned.blocks[1], planned.blocks[2], variant.block[0],
                   variant.block[1], variant.block[2], static_cast<unsigned>(variant.sharedBytes),
                   nullptr, nullptr, 0},
                  LaunchAttributes(planned),
                  state.function,
                  state.values,
                  {}};
    for (size_t i = 0; i < planned.params.size(); ++i) {
      const Parameter &parameter = variant.params[i];
      if (parameter.kind == Parameter::Kind::Tensor ||
          parameter.kind == Parameter::Kind::Workspace) {
        launch.values[i] = arguments.valueOf(parameter, planned.params[i]);
      }
      launch.params.push_back(parameter.kind == Parameter::Kind::TensorMap
                                  ? static_cast<void *>(&state.maps[parameter.index])
                                  : &launch.values[i]);
    }
    launches.push_back(std::move(launch));
  }

  const Driver &driver;
  const Arguments &arguments;
  std::shared_ptr<PreparedCall> call;
  std::vector<Launch> launches;
};

/// Microseconds of a call: the median over the bursts.
double measure(const tile_context &context, size_t count, const std::function<void(size_t)> &call) {
  CurrentContext current(*context.driver, context.context);
  std::vector<double> bursts;
  for (int burst = 0; burst < kBursts; ++burst) {
    const Clock::time_point begin = Clock::now();
    for (size_t i = 0; i < kLaunches; ++i) {
      call(i % count);
    }
    bursts.push_back(microsecondsSince(begin) / kLaunches);
    context.driver->check(context.driver->ctxSynchronize(), "waiting for launches");
  }
  std::nth_element(bursts.begin(), bursts.begin() + kBursts / 2, bursts.end());
  return bursts[kBursts / 2];
}

void run(const char *path, const char *symbol, const std::vector<std::string> &calls) {
  tile::Context context;
  Clock::time_point begin = Clock::now();
  tile::Pack pack(context, path);
  const double loading = microsecondsSince(begin);
  tile_kernel &kernel = *pack.kernel(symbol).get();
  std::vector<std::unique_ptr<Arguments>> arguments;
  double first = 0;
  for (const std::string &dims : calls) {
    arguments.push_back(std::make_unique<Arguments>(kernel, dims));
    begin = Clock::now();
    arguments.back()->launch();
    first = std::max(first, microsecondsSince(begin));
  }
  std::printf("loading the pack: %.0f us; the slowest first call: %.0f us\n", loading, first);
  std::vector<std::unique_ptr<Bare>> bare;
  size_t launches = 0;
  for (const std::unique_ptr<Arguments> &one : arguments) {
    bare.push_back(std::make_unique<Bare>(*context.get()->driver, *one));
    launches += bare.back()->count();
  }
  std::printf("%zu calls of %zu launches\n", bare.size(), launches);
  auto compare = [&](const char *what, size_t count) {
    // The bare launches before and after, for what the machine does meanwhile.
    auto bareLaunch = [&](size_t i) { bare[i]->launch(); };
    const double before = measure(*context.get(), count, bareLaunch);
    const double own = measure(*context.get(), count, [&](size_t i) { arguments[i]->launch(); });
    const double after = measure(*context.get(), count, bareLaunch);
    const double alone = (before + after) / 2;
    std::printf("%s: %.3f us a call, cuLaunchKernelEx alone %.3f us (%.3f and %.3f): %.3f us more, "
                "%.2f times as long\n",
                what, own, alone, before, after, own - alone, own / alone);
  };
  compare("the first call again and again", 1);
  compare("all calls in turn", bare.size());
  const double unknown = measure(*context.get(), bare.size(), [&](size_t i) {
    tile::check(tile_kernel_restrict(&kernel, nullptr, nullptr)); // forgets
    arguments[i]->launch();
  });
  std::printf("calls that were not seen before: %.3f us\n", unknown);
}
} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: launch-cost PACK KERNEL \"M=64 N=64 K=64\"...\n");
    return 2;
  }
  try {
    run(argv[1], argv[2], {argv + 3, argv + argc});
    return 0;
  } catch (const tile::Error &error) {
    std::fprintf(stderr, "launch-cost: %s\n", error.what());
    return error.status == TILE_ERROR_NO_DRIVER ? 3 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "launch-cost: %s\n", error.what());
    return 1;
  }
}
