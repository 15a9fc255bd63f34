#include "tools/tile-run/Case.h"

#include "runtime/harness/Compare.h"
#include "runtime/harness/Generate.h"
#include "runtime/harness/Npy.h"
#include "tools/tile-run/Arithmetic.h"
#include "tools/tile-run/CudaExecutor.h"
#include "tools/tile-run/EmulatorExecutor.h"
#include "tools/tile-run/Slot.h"

#include <algorithm>
#include <cstring>

using namespace tile_rt;

namespace tile_run {

namespace {
/// X of `same(X)`.
std::optional<std::string> sameAs(const std::string &text) {
  if (!text.starts_with("same(") || !text.ends_with(")")) {
    return std::nullopt;
  }
  return text.substr(5, text.size() - 6);
}

class Run {
public:
  Run(Executor &executor, tile_kernel &kernel, const CaseOptions &options)
      : executor(executor), manifest(kernel.pack->manifest), kernel(kernel), options(options) {}
  CaseResult run();

private:
  const Kernel &description() const { return *kernel.kernel; }
  void checkNames() const;
  void readGiven();
  void bindDims();
  std::vector<int64_t> shapeOf(const Argument &argument) const;
  void generateRest();
  void generateTensor(Slot &slot);
  void resolveSame();
  void upload();
  static void fill(Slot &slot);
  LaunchPlan plan() const {
    return planCall(manifest, description(), args, executor.device(), kernel.filter);
  }
  void launch() { executor.run(plan(), workspace->address()); }
  void check();
  void checkTensor(Slot &slot, bool &compared);
  void checkSecondRun();
  void time();
  void append(const std::string &part) { result.text += (result.text.empty() ? "" : "; ") + part; }
  void fail(const std::string &part) {
    append(part);
    result.ok = false;
  }

  Executor &executor;
  const Manifest &manifest;
  tile_kernel &kernel;
  const CaseOptions &options;
  std::vector<Slot> slots;
  Env env;
  std::vector<tile_arg> args;
  std::unique_ptr<Buffer> workspace;
  CaseResult result;
};

void Run::checkNames() const {
  auto known = [&](const std::string &name) {
    const auto &list = description().arguments;
    return std::any_of(list.begin(), list.end(), [&](const Argument &a) { return a.name == name; });
  };
  for (const auto *map : {&options.args, &options.outs, &options.expects}) {
    for (const auto &[name, value] : *map) {
      if (!known(name)) {
        throw UsageError("kernel `" + description().symbol + "` has no argument `" + name + "`");
      }
    }
  }
  for (const auto &[name, value] : options.pitches) {
    if (!known(name)) {
      throw UsageError("kernel `" + description().symbol + "` has no argument `" + name + "`");
    }
  }
  for (const auto &[name, value] : options.dims) {
    const auto &dims = description().dims;
    if (!known(name) && std::none_of(dims.begin(), dims.end(),
                                     [&, &n = name](const Dimension &d) { return d.name == n; })) {
      throw UsageError("kernel `" + description().symbol + "` has no dimension `" + name + "`");
    }
  }
}

bool isFile(const std::string &text) {
  return text.size() > 4 && text.substr(text.size() - 4) == ".npy";
}

/// Files and scalars: they need no dimensions.
void Run::readGiven() {
  env.scalars.resize(description().arguments.size());
  env.tensors.resize(description().arguments.size());
  for (const Argument &argument : description().arguments) {
    Slot &slot = slots.emplace_back();
    slot.argument = &argument;
    auto given = options.args.find(argument.name);
    std::string text = given == options.args.end() ? "" : given->second;
    if (!argument.isTensor) {
      auto dim = options.dims.find(argument.name);
      if (text.empty() && dim != options.dims.end()) {
        text = std::to_string(dim->second);
      }
      std::optional<Distribution> value = parseDistribution(text);
      if (!value || value->kind != Distribution::Kind::Constant) {
        throw UsageError("scalar argument `" + argument.name + "` needs a number: --arg " +
                         argument.name + "=...");
      }
      slot.host = Array(argument.dtype, {});
      slot.host.setValue(0, value->a);
      double back = slot.host.value(0);
      env.scalars[slots.size() - 1] =
          dtypeKind(argument.dtype) == ValueKind::Float  ? Value::ofFloat(back)
          : dtypeKind(argument.dtype) == ValueKind::Bool ? Value::ofBool(back != 0)
                                                         : Value::ofInt(static_cast<Int>(back));
    } else if (isFile(text)) {
      slot.host = readNpy(text, argument.dtype);
      slot.fromFile = true;
      if (slot.host.shape.size() != argument.extents.size()) {
        throw UsageError("`" + text + "` has rank " + std::to_string(slot.host.shape.size()) +
                         ", argument `" + argument.name + "` has rank " +
                         std::to_string(argument.extents.size()));
      }
    } else {
      slot.absent = text == "none" || (text.empty() && argument.optional);
    }
  }
}

void Run::bindDims() {
  for (const Dimension &dim : description().dims) {
    auto given = options.dims.find(dim.name);
    if (dim.value) {
      env.dims.push_back(Value::ofInt(*dim.value));
    } else if (given != options.dims.end()) {
      env.dims.push_back(Value::ofInt(given->second));
    } else if (slots[dim.arg].fromFile) {
      env.dims.push_back(Value::ofInt(slots[dim.arg].host.shape[dim.axis] - dim.offset));
    } else {
      throw UsageError("dimension `" + dim.name + "` is not known: give --dim " + dim.name +
                       "=... or a file for `" + slots[dim.arg].argument->name + "`");
    }
  }
}

std::vector<int64_t> Run::shapeOf(const Argument &argument) const {
  std::vector<int64_t> shape;
  Int total = 1;
  for (const Expr &extent : argument.extents) {
    Int value = evaluate(extent, env).integer;
    total *= std::max<Int>(value, 1);
    if (value < 0 || total > (Int{1} << 36)) {
      throw UsageError("argument `" + argument.name + "` cannot have an extent of " +
                       intText(value));
    }
    shape.push_back(static_cast<int64_t>(value));
  }
  return shape;
}

void Run::generateTensor(Slot &slot) {
  const Argument &argument = *slot.argument;
  auto given = options.args.find(argument.name);
  bool isGiven = given != options.args.end();
  slot.poisoned = isGiven ? given->second == "poison" : argument.direction == Direction::Out;
  if (slot.poisoned) {
    slot.host.data.assign(slot.host.data.size(), kPoison);
    return;
  }
  std::string text = isGiven                                         ? given->second
                     : dtypeKind(argument.dtype) == ValueKind::Float ? "normal"
                     : argument.dtype == DType::Bool                 ? "integers(0,1)"
                                                                     : "integers(0,7)";
  std::optional<Distribution> distribution = parseDistribution(text);
  if (!distribution) {
    throw UsageError("--arg " + argument.name + "=" + text +
                     ": neither a .npy file nor a distribution");
  }
  generate(slot.host, *distribution, options.seed, streamOf(argument.name));
}

void Run::generateRest() {
  for (Slot &slot : slots) {
    if (slot.argument->isTensor && !slot.fromFile && !slot.absent) {
      slot.host = Array(slot.argument->dtype, shapeOf(*slot.argument));
      if (!slot.same) {
        generateTensor(slot);
      }
    }
  }
}

/// Which slots are the tensor of another one. What does not fit together the call itself refuses.
void Run::resolveSame() {
  for (Slot &slot : slots) {
    auto given = options.args.find(slot.argument->name);
    std::optional<std::string> name =
        given == options.args.end() ? std::nullopt : sameAs(given->second);
    if (!name) {
      continue;
    }
    auto other = std::find_if(slots.begin(), slots.end(),
                              [&](const Slot &s) { return s.argument->name == *name; });
    auto chained = options.args.find(*name);
    if (other == slots.end() || !other->argument->isTensor || other->absent ||
        (chained != options.args.end() && sameAs(chained->second))) {
      throw UsageError("--arg " + slot.argument->name + "=" + given->second +
                       ": no tensor of its own");
    }
    slot.same = static_cast<size_t>(other - slots.begin());
  }
}

void Run::upload() {
  for (Slot &slot : slots) {
    if (slot.argument->isTensor && !slot.absent && !slot.same) {
      slot.device = executor.allocate(slot.memory().size(), slot.argument->name);
      fill(slot);
    }
  }
  for (Slot &slot : slots) {
    if (slot.same) {
      slot.device = slots[*slot.same].device;
    }
  }
  for (Slot &slot : slots) {
    tile_arg arg{nullptr, nullptr, nullptr, TILE_SCALAR_RANK,
                 static_cast<int32_t>(slot.argument->dtype)};
    if (!slot.argument->isTensor) {
      arg.data = slot.host.data.data();
    } else if (!slot.absent) {
      arg.data = reinterpret_cast<void *>(slot.device->address());
      arg.extents = slot.host.shape.data();
      arg.strides = slot.pitch ? slot.strides.data() : nullptr;
      arg.rank = static_cast<int32_t>(slot.host.shape.size());
    } else {
      arg.rank = 0;
    }
    args.push_back(arg);
  }
  LaunchPlan planned = plan();
  workspace = executor.allocate(planned.workspaceBytes, "workspace");
  for (const PlanStep &step : planned.steps) {
    if (step.isLaunch && !options.verbose) {
      append(step.launch.variant->name);
    }
  }
  if (options.verbose) {
    result.text += describePlan(manifest, planned);
  }
}

/// Gives a tensor its contents before a run.
void Run::fill(Slot &slot) {
  if (slot.same) {
    return;
  }
  if (slot.poisoned) {
    slot.device->poison();
  } else {
    slot.device->write(slot.memory());
  }
}

void Run::checkTensor(Slot &slot, bool &compared) {
  const std::string &name = slot.argument->name;
  std::string damage = slot.device->damage();
  if (!damage.empty()) {
    fail(name + ": WRONG: " + damage);
  }
  if (std::string unwritten = slot.poisoned ? slot.device->unwritten() : ""; !unwritten.empty()) {
    append(name + ": " + unwritten);
  }
  Array after = slot.host;
  after.data = slot.device->read();
  if (slot.pitch) {
    bool intact = true;
    const Slot &owner = slot.same ? slots[*slot.same] : slot;
    after = gatherRows(slot.host, *slot.pitch, after.data, owner.gap(), intact);
    if (!intact) {
      fail(name + ": WRONG: memory between its rows was written");
    }
  }
  if (slot.argument->direction == Direction::In && after.data != slot.host.data) {
    bool aliased = std::any_of(slots.begin(), slots.end(), [&](const Slot &other) {
      return other.device && other.argument->isWritten() &&
             other.device->address() == slot.device->address();
    });
    if (!aliased) {
      fail(name + ": WRONG: an input was changed");
    }
  }
  auto out = options.outs.find(name);
  if (out != options.outs.end()) {
    writeNpy(out->second, after);
  }
  auto expected = options.expects.find(name);
  if (expected == options.expects.end()) {
    return;
  }
  compared = true;
  Array reference;
  try {
    reference = readNpy(expected->second, slot.argument->dtype);
  } catch (const NpyError &) {
    reference = readNpy(expected->second); // of another type, f64 say
  }
  Comparison comparison = compareArrays(
      after, reference, options.tolerance.value_or(defaultTolerance(slot.argument->dtype)));
  comparison.ok ? append(name + " " + comparison.text) : fail(name + " " + comparison.text);
}

void Run::check() {
  bool compared = false;
  for (Slot &slot : slots) {
    if (slot.device) {
      checkTensor(slot, compared);
    }
  }
  std::string damage = workspace->damage();
  if (!damage.empty()) {
    fail("workspace: WRONG: " + damage);
  }
  if (!compared && result.ok) {
    append("ran, not compared");
  }
}

/// The same inputs again must give the same bits.
void Run::checkSecondRun() {
  std::vector<std::vector<std::byte>> first;
  for (Slot &slot : slots) {
    first.push_back(slot.device ? slot.device->read() : std::vector<std::byte>());
    if (slot.device) {
      fill(slot);
    }
  }
  launch();
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].device && slots[i].device->read() != first[i]) {
      fail(slots[i].argument->name + ": WRONG: a second run gave other bits");
    }
  }
}

std::string rates(double milliseconds, const std::map<std::string, double> &amounts) {
  std::string text;
  char buffer[80];
  for (const auto &[name, amount] : amounts) {
    if (name == "flops") {
      std::snprintf(buffer, sizeof(buffer), ", %.1f TFLOPS", amount / milliseconds * 1e-9);
    } else if (name == "bytes") {
      std::snprintf(buffer, sizeof(buffer), ", %.1f GB/s", amount / milliseconds * 1e-6);
    } else {
      std::snprintf(buffer, sizeof(buffer), ", %.4g %.40s per second", amount / milliseconds * 1e3,
                    name.c_str());
    }
    text += buffer;
  }
  return text;
}

void Run::time() {
  Names names;
  for (size_t i = 0; i < description().dims.size(); ++i) {
    names.values[description().dims[i].name] = static_cast<double>(env.dims[i].integer);
  }
  for (const Slot &slot : slots) {
    names.types[slot.argument->name] = dtypeName(slot.argument->dtype);
    if (!slot.argument->isTensor) {
      names.values[slot.argument->name] = slot.host.value(0);
    }
  }
  for (const auto &[name, value] : description().params) {
    char *end = nullptr;
    double number = std::strtod(value.c_str(), &end);
    if (*end == 0 && end != value.c_str()) {
      names.values[name] = number;
    } else {
      names.types[name] = value;
    }
  }
  std::map<std::string, double> amounts = evaluateFormulas(options.bench, names);
  std::vector<float> times =
      executor.time(plan(), workspace->address(), options.warmup, options.repeat, options.flushL2);
  std::sort(times.begin(), times.end());
  double median = times[times.size() / 2];
  char buffer[80];
  std::snprintf(buffer, sizeof(buffer), "%.4f ms (median of %zu, least %.4f)", median, times.size(),
                static_cast<double>(times[0]));
  append(buffer + rates(median, amounts));
}

CaseResult Run::run() {
  result.ok = true;
  if (options.repeat > 0 && !executor.isTimed()) {
    throw UsageError("--repeat measures a GPU: it needs --on=cuda");
  }
  checkNames();
  readGiven();
  bindDims();
  resolveSame();
  try {
    generateRest();
    setPitches(slots, options.pitches);
    upload();
    launch();
    check();
    if (options.twice) {
      checkSecondRun();
    }
    if (options.repeat > 0) {
      time();
    }
  } catch (const Error &error) {
    result.deviceLost = error.status == TILE_ERROR_DRIVER;
    fail(std::string("error: ") + error.what());
  }
  Executor::Findings found = executor.findings();
  if (found.count > 0) {
    fail(std::to_string(found.count) + (found.count == 1 ? " report: " : " reports: ") +
         found.summary);
  }
  result.reports = std::move(found.text);
  result.profile = executor.profile();
  return std::move(result);
}

tile_kernel &findKernel(tile_pack &pack, const std::string &name) {
  std::string known;
  for (tile_kernel &kernel : pack.kernels) {
    known += " " + kernel.kernel->symbol;
    if (kernel.kernel->symbol == name || (name.empty() && pack.kernels.size() == 1)) {
      return kernel;
    }
  }
  throw UsageError(name.empty() ? "the pack has several kernels, choose with --kernel:" + known
                                : "the pack has no kernel `" + name + "`; it has:" + known);
}

/// In which orders a case runs: none is round-robin, else the seed of a random one.
using Schedule = std::optional<uint64_t>;

CaseResult runSchedule(tile_kernel &kernel, const CaseOptions &options, Schedule schedule,
                       uint64_t &steps) {
  EmulatorExecutor executor(*kernel.pack, *kernel.kernel, options, schedule);
  CaseResult result = Run(executor, kernel, options).run();
  steps = executor.steps();
  result.text = executor.name() + ": " + result.text;
  return result;
}

std::string repeating(uint64_t seed) {
  return ": --schedule=random --schedule-seed=" + std::to_string(seed);
}

/// So many random schedules, up to the first that is wrong.
CaseResult runRandomSchedules(tile_kernel &kernel, const CaseOptions &options, uint64_t first) {
  CaseResult result;
  uint64_t steps = 0;
  for (unsigned i = 0; i < options.schedules; ++i) {
    result = runSchedule(kernel, options, first + i, steps);
    if (!result.ok) {
      result.text += "; in schedule " + std::to_string(i + 1) + " of " +
                     std::to_string(options.schedules) + repeating(first + i);
      return result;
    }
  }
  result.text += "; " + std::to_string(options.schedules) + " random schedules";
  return result;
}

/// Round-robin, whose result and profile are shown, and a few random schedules, unless one of them
/// is wrong.
CaseResult runOnEmulator(tile_kernel &kernel, const CaseOptions &options) {
  uint64_t first = options.scheduleSeed.value_or(options.seed), steps = 0, ignored = 0;
  if (options.schedules > 0) {
    return runRandomSchedules(kernel, options, first);
  }
  if (options.schedule == "random") {
    return runSchedule(kernel, options, first, steps);
  }
  CaseResult result = runSchedule(kernel, options, std::nullopt, steps);
  bool more = result.ok && options.schedule.empty();
  CaseOptions others = options;
  others.profile = false;
  for (unsigned i = 0; more && i < tile_emu::schedulesAfter(steps); ++i) {
    CaseResult random = runSchedule(kernel, others, first + i, ignored);
    if (!random.ok) {
      random.text += "; in a random schedule" + repeating(first + i);
      return random;
    }
  }
  return result;
}
} // namespace

CaseResult runCase(tile_pack &pack, const CaseOptions &options) {
  tile_kernel &kernel = findKernel(pack, options.kernel);
  kernel.filter = {options.arch, options.variant};
  if (!pack.context) {
    return runOnEmulator(kernel, options);
  }
  CudaExecutor executor(pack);
  CaseResult result = Run(executor, kernel, options).run();
  result.text = executor.name() + ": " + result.text;
  return result;
}

} // namespace tile_run
