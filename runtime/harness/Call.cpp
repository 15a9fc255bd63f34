#include "Call.h"

#include "../src/Error.h"
#include "../src/Plan.h"
#include "../support/Floats.h"
#include "Compare.h"
#include "Generate.h"
#include "Memory.h"
#include "Npy.h"
#include "Pitch.h"

#include <algorithm>
#include <filesystem>
#include <new>

namespace tile_rt {

namespace {
/// X of `same(X)`.
std::optional<std::string> sameAs(const std::string *text) {
  if (!text || !text->starts_with("same(") || !text->ends_with(")")) {
    return std::nullopt;
  }
  return text->substr(5, text->size() - 6);
}

/// What a shape takes; of what is beyond all memory a number that is, too.
Int bytesOf(DType type, const std::vector<int64_t> &shape) {
  constexpr Int beyond = Int{1} << 100;
  Int bits = dtypeBits(type);
  for (int64_t extent : shape) {
    if (extent == 0) {
      return 0;
    }
    bits = bits > beyond / extent ? beyond : bits * extent;
  }
  return (bits + 7) / 8;
}

/// Files are refused by their size, before they are read.
Array readFile(const std::string &path, std::optional<DType> type) {
  std::error_code none;
  const uintmax_t bytes = std::filesystem::file_size(path, none);
  checkMemory(none ? Int{0} : static_cast<Int>(bytes), "tensors (`" + path + "`)");
  return readNpy(path, type);
}

Value valueOf(const Array &scalar) {
  switch (dtypeKind(scalar.dtype)) {
  case ValueKind::Float:
    return Value::ofFloat(scalar.value(0));
  case ValueKind::Bool:
    return Value::ofBool(scalar.bits(0) != 0);
  case ValueKind::Int:
    break;
  }
  return Value::ofInt(wrapInt(scalar.dtype, static_cast<Int>(scalar.bits(0))));
}
} // namespace

std::byte Call::Slot::gap() const { return poisoned ? kPoison : kGuard; }

std::vector<std::byte> Call::Slot::memory() const {
  return strides.empty() ? host.data : spreadRows(host, strides, gap());
}

std::vector<std::byte> Call::Slot::places() const {
  if (strides.empty()) {
    return {};
  }
  Array whole = host;
  std::ranges::fill(whole.data, std::byte{0xff});
  return spreadRows(whole, strides, std::byte{});
}

/// What --arg says of an argument; null if nothing.
const std::string *Call::given(const Argument &argument) const {
  auto it = options.args.find(argument.name);
  return it == options.args.end() ? nullptr : &it->second;
}

void Call::checkNames() const {
  // What there is, for who has misspelt a name.
  auto listed = [](const char *what, const std::vector<std::string> &names) {
    std::string text;
    for (const std::string &name : names) {
      text += (text.empty() ? "; it has " : ", ") + name;
    }
    return text.empty() ? std::string("; it has no ") + what : text;
  };
  std::vector<std::string> arguments, tensors, dims;
  for (const Argument &argument : kernel.arguments) {
    arguments.push_back(argument.name);
    if (argument.isTensor) {
      tensors.push_back(argument.name);
    }
  }
  for (const Dimension &dim : kernel.dims) {
    dims.push_back(dim.name);
  }
  auto isArgument = [&](const std::string &name, bool tensor) {
    return std::any_of(kernel.arguments.begin(), kernel.arguments.end(), [&](const Argument &a) {
      return a.name == name && (a.isTensor || !tensor);
    });
  };
  for (const auto *map : {&options.args, &options.outs, &options.expects}) {
    for (const auto &[name, value] : *map) {
      if (!isArgument(name, /*tensor=*/map != &options.args)) {
        const bool isArg = map == &options.args;
        throw InputError("kernel `" + kernel.symbol + "` has no " +
                         (isArg ? "argument" : "tensor") + " `" + name + "`" +
                         (isArg ? listed("arguments", arguments) : listed("tensors", tensors)));
      }
    }
  }
  for (const auto &[name, value] : options.pitches) {
    if (!isArgument(name, /*tensor=*/true)) {
      throw InputError("kernel `" + kernel.symbol + "` has no tensor `" + name + "`" +
                       listed("tensors", tensors));
    }
  }
  for (const auto &[name, value] : options.dims) {
    bool known = std::any_of(kernel.dims.begin(), kernel.dims.end(),
                             [&, &n = name](const Dimension &d) { return d.name == n; });
    if (!known && !isArgument(name, /*tensor=*/false)) {
      throw InputError("kernel `" + kernel.symbol + "` has no dimension `" + name + "`" +
                       listed("dimensions", dims));
    }
    if (!known && options.args.count(name) != 0) {
      std::string text = "`" + name;
      text.append("` has two values: `--dim ").append(name).append("=");
      text.append(std::to_string(value)).append("` and `--arg ").append(name).append("=");
      throw InputError(text.append(options.args.at(name)).append("`"));
    }
  }
}

void Call::readTensor(Slot &slot, const std::string &text) const {
  const Argument &argument = *slot.argument;
  if (!text.ends_with(".npy")) {
    slot.absent = text == "none" || (text.empty() && argument.optional);
    if (slot.absent && !argument.optional) {
      throw InputError("`--arg " + argument.name + "=none`: the kernel cannot do without `" +
                       argument.name + "`");
    }
    return;
  }
  slot.host = readFile(text, argument.dtype);
  slot.fromFile = true;
  if (slot.host.shape.size() != argument.extents.size()) {
    throw InputError("`" + text + "` has rank " + std::to_string(slot.host.shape.size()) +
                     ", argument `" + argument.name + "` has rank " +
                     std::to_string(argument.extents.size()));
  }
}

/// Files and scalars: they need no dimensions.
void Call::readGiven() {
  env.scalars.resize(kernel.arguments.size());
  env.tensors.resize(kernel.arguments.size());
  for (const Argument &argument : kernel.arguments) {
    Slot &slot = slots.emplace_back();
    slot.argument = &argument;
    std::string text = given(argument) ? *given(argument) : "";
    if (argument.isTensor) {
      readTensor(slot, text);
      continue;
    }
    auto dim = options.dims.find(argument.name);
    if (text.empty() && dim != options.dims.end()) {
      text = std::to_string(dim->second);
    }
    slot.host = readScalar(argument.name, argument.dtype, text);
    env.scalars[slots.size() - 1] = valueOf(slot.host);
  }
}

/// What an absent tensor would hold nobody can write or compare. Where results go is looked at
/// before they take time.
void Call::checkOutputs() const {
  for (const Slot &slot : slots) {
    const std::string &name = slot.argument->name;
    for (const auto &[option, map] :
         {std::pair{"--out", &options.outs}, std::pair{"--expect", &options.expects}}) {
      if (slot.absent && map->count(name)) {
        std::string text = "`";
        text.append(option).append(" ").append(name);
        text.append("`: the optional tensor is not given; ask for it with `--arg ");
        throw InputError(text.append(name).append("=poison`"));
      }
    }
    if (auto out = options.outs.find(name); out != options.outs.end()) {
      checkNpyPath(out->second);
    }
  }
}

void Call::readReferences() {
  for (Slot &slot : slots) {
    auto expected = options.expects.find(slot.argument->name);
    if (expected == options.expects.end()) {
      continue;
    }
    try {
      slot.reference = readFile(expected->second, slot.argument->dtype);
    } catch (const NpyError &) {
      slot.reference = readFile(expected->second, std::nullopt); // of another type, f64 say
    }
  }
}

std::optional<int64_t> Call::expectedExtent(size_t dim) const {
  for (const Slot &slot : slots) {
    const std::vector<Expr> &extents = slot.argument->extents;
    for (size_t axis = 0; slot.reference && axis < extents.size(); ++axis) {
      if (extents[axis].op == Op::Dim && extents[axis].index == dim &&
          axis < slot.reference->shape.size()) {
        return slot.reference->shape[axis];
      }
    }
  }
  return std::nullopt;
}

void Call::bindDims() {
  for (const Dimension &dim : kernel.dims) {
    auto value = options.dims.find(dim.name);
    if (dim.value) {
      env.dims.push_back(Value::ofInt(*dim.value));
    } else if (value != options.dims.end()) {
      env.dims.push_back(Value::ofInt(value->second));
    } else if (slots[dim.arg].fromFile) {
      env.dims.push_back(Value::ofInt(slots[dim.arg].host.shape[dim.axis] - dim.offset));
    } else if (std::optional<int64_t> extent = expectedExtent(env.dims.size())) {
      env.dims.push_back(Value::ofInt(*extent));
    } else {
      throw InputError("dimension `" + dim.name + "` is not known: give --dim " + dim.name +
                       "=... or a file for `" + slots[dim.arg].argument->name + "`");
    }
  }
}

/// Which slots are the tensor of another one. What does not fit together the call itself refuses.
void Call::resolveSame() {
  for (Slot &slot : slots) {
    std::optional<std::string> name = sameAs(given(*slot.argument));
    if (!name) {
      continue;
    }
    auto other = std::find_if(slots.begin(), slots.end(),
                              [&](const Slot &s) { return s.argument->name == *name; });
    if (other == slots.end() || !other->argument->isTensor || other->absent ||
        sameAs(given(*other->argument))) {
      throw InputError("`--arg " + slot.argument->name + "=same(" + *name +
                       ")`: no tensor of its own");
    }
    slot.same = static_cast<size_t>(other - slots.begin());
  }
}

std::vector<int64_t> Call::shapeOf(const Argument &argument) const {
  std::vector<Int> extents;
  std::string text;
  for (const Expr &extent : argument.extents) {
    extents.push_back(evaluate(extent, env).integer);
    text += (text.empty() ? "" : " x ") + intText(extents.back());
  }
  if (*std::min_element(extents.begin(), extents.end()) < 0) {
    throw InputError("argument `" + argument.name + "` cannot be made: its extents are " + text);
  }
  std::vector<int64_t> shape;
  for (Int extent : extents) {
    checkExtent(argument, shape.size(), extent);
    shape.push_back(static_cast<int64_t>(extent));
  }
  return shape;
}

/// Gives tensors that no file gives their shapes, and sees to it that there is room for all of them, before
/// any is made.
void Call::setShapes() {
  Int total = 0;
  std::string list;
  for (Slot &slot : slots) {
    if (!slot.argument->isTensor || slot.absent) {
      continue;
    }
    if (!slot.fromFile) {
      slot.host.dtype = slot.argument->dtype;
      slot.host.shape = shapeOf(*slot.argument);
    }
    if (!slot.same) {
      const Int bytes = bytesOf(slot.host.dtype, slot.host.shape);
      total += bytes;
      list += (list.empty() ? "" : ", ") + slot.argument->name + " " + sizeText(bytes);
    }
  }
  checkMemory(total, "tensors (" + list + ")");
}

void Call::generateTensor(Slot &slot) const {
  const Argument &argument = *slot.argument;
  const std::string *wanted = given(argument);
  slot.poisoned = wanted ? *wanted == "poison" : argument.direction == Direction::Out;
  if (slot.poisoned) {
    slot.host.data.assign(slot.host.data.size(), kPoison);
    return;
  }
  std::string text = wanted                                          ? *wanted
                     : dtypeKind(argument.dtype) == ValueKind::Float ? "normal"
                     : argument.dtype == DType::Bool                 ? "integers(0,1)"
                                                                     : "integers(0,7)";
  std::optional<Distribution> distribution = parseDistribution(text);
  if (!distribution) {
    throw InputError("`--arg " + argument.name + "=" + text +
                     "`: neither a .npy file nor a distribution");
  }
  if (!isExact(*distribution, argument.dtype, slot.host.size())) {
    throw InputError("`--arg " + argument.name + "=" + text +
                     "`: integers that are drawn are below 2^53; a .npy file may have others");
  }
  generate(slot.host, *distribution, options.seed, streamOf(argument.name));
}

void Call::generateRest() {
  for (Slot &slot : slots) {
    if (slot.argument->isTensor && !slot.fromFile && !slot.absent) {
      slot.host = Array(slot.argument->dtype, std::move(slot.host.shape));
      if (!slot.same) {
        generateTensor(slot);
      }
    }
  }
}

/// Gives a tensor the strides that --pitch asks for.
void Call::setStrides(Slot &slot, const std::vector<int64_t> &pitch) const {
  const std::vector<int64_t> &shape = slot.host.shape;
  const std::string option = "`--pitch " + slot.argument->name + "`: ";
  if (slot.absent || slot.same || shape.size() < 2 || dtypeBits(slot.argument->dtype) < 8) {
    throw InputError(option + "it is for tensors of their own with rank 2 or more and whole bytes");
  }
  if (pitch.size() != 1 && pitch.size() != shape.size() - 1) {
    throw InputError(option + "it has a number for rows, or one for each dimension but the last");
  }
  bool isNegative = std::any_of(pitch.begin(), pitch.end(), [](int64_t p) { return p < 0; });
  if (isNegative || (pitch.size() == 1 && pitch[0] < shape.back())) {
    throw InputError(option + "the distance is no less than a row");
  }
  slot.strides = pitch;
  slot.strides.push_back(1);
  if (pitch.size() == 1) {
    slot.strides = pitchedStrides(shape, pitch[0]);
  }
  Int last = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    last += static_cast<Int>(slot.strides[d]) * std::max<int64_t>(shape[d] - 1, 0);
  }
  if (last * dtypeBits(slot.argument->dtype) / 8 >= static_cast<Int>(memoryLimit())) {
    throw InputError(option + "the tensor is too large with it");
  }
  if (!haveSharedRows(slot.host, slot.strides)) {
    return;
  }
  if (slot.argument->isWritten()) {
    throw InputError(option + "rows that are written cannot share memory");
  }
  bool intact = true;
  Array shared = gatherRows(slot.host, slot.strides, slot.memory(), slot.gap(), intact);
  if (shared.data != slot.host.data && slot.fromFile) {
    throw InputError(option + "rows that share memory hold different values");
  }
  slot.host = shared;
}

/// Gives tensors their pitches; one that is another tensor too has that one's.
void Call::setPitches() {
  for (Slot &slot : slots) {
    auto given = options.pitches.find(slot.argument->name);
    if (given != options.pitches.end()) {
      setStrides(slot, given->second);
    }
  }
  for (Slot &slot : slots) {
    if (slot.same) {
      slot.strides = slots[*slot.same].strides;
    }
  }
}

void Call::upload() {
  for (Slot &slot : slots) {
    if (slot.argument->isTensor && !slot.absent && !slot.same) {
      const size_t bytes = slot.strides.empty() ? slot.host.data.size() : slot.memory().size();
      slot.device = executor.allocate(bytes, slot.argument->name);
      fill(slot);
    }
  }
  for (Slot &slot : slots) {
    if (slot.same) {
      slot.device = slots[*slot.same].device;
    }
    tile_arg arg{nullptr, nullptr, nullptr, TILE_SCALAR_RANK,
                 static_cast<int32_t>(slot.argument->dtype)};
    if (!slot.argument->isTensor) {
      arg.data = slot.host.data.data();
    } else if (!slot.absent) {
      arg.data = reinterpret_cast<void *>(slot.device->address());
      arg.extents = slot.host.shape.data();
      arg.rank = static_cast<int32_t>(slot.host.shape.size());
      arg.strides = slot.strides.empty() ? nullptr : slot.strides.data();
    } else {
      arg.rank = 0;
    }
    args.push_back(arg);
  }
}

/// Gives a tensor its contents before a run.
void Call::fill(Slot &slot) {
  if (!slot.device || slot.same) {
    return;
  }
  if (slot.poisoned) {
    slot.device->poison();
  } else if (slot.strides.empty()) {
    slot.device->write(slot.host.data);
  } else {
    slot.device->write(slot.memory());
  }
}

void Call::compare(const Slot &slot, const Array &after) {
  Comparison comparison = compareArrays(
      after, *slot.reference, options.tolerance.value_or(defaultTolerance(slot.argument->dtype)));
  std::string text = slot.argument->name + " " + comparison.text;
  comparison.ok ? append(text) : fail(text);
}

/// What the disk does not take is no reason to say nothing of the run.
void Call::write(const std::string &path, const Array &array) {
  try {
    writeNpy(path, array);
  } catch (const NpyError &error) {
    fail(std::string("error: ") + error.what());
  }
}

void Call::checkTensor(Slot &slot, bool &compared) {
  const std::string &name = slot.argument->name;
  if (std::string damage = slot.device->damage(); !damage.empty()) {
    fail(name + ": WRONG: " + damage);
  }
  if (std::string unwritten = slot.poisoned ? slot.device->unwritten(slot.places()) : "";
      !unwritten.empty()) {
    append(name + ": " + unwritten);
  }
  Array after;
  after.dtype = slot.host.dtype;
  after.shape = slot.host.shape;
  after.data = slot.device->read();
  if (!slot.strides.empty()) {
    bool intact = true;
    after = gatherRows(slot.host, slot.strides, after.data, slot.gap(), intact);
    if (!intact) {
      fail(name + ": WRONG: memory between its rows was written");
    }
  }
  if (slot.argument->direction == Direction::In && after.data != slot.host.data) {
    bool aliased = std::any_of(slots.begin(), slots.end(), [&](const Slot &other) {
      return other.device == slot.device && other.argument->isWritten();
    });
    if (!aliased) {
      fail(name + ": WRONG: an input was changed");
    }
  }
  if (auto out = options.outs.find(name); out != options.outs.end()) {
    write(out->second, after);
  }
  if (slot.reference) {
    compared = true;
    compare(slot, after);
  }
}

void Call::check() {
  bool compared = false;
  for (Slot &slot : slots) {
    if (slot.device) {
      checkTensor(slot, compared);
    }
  }
  if (std::string damage = executor.damage(); !damage.empty()) {
    fail(damage);
  }
  if (!compared && result.ok) {
    append("ran, not compared");
  }
}

/// The same inputs again must give the same bits.
void Call::checkSecondRun() {
  std::vector<std::vector<std::byte>> first;
  first.reserve(slots.size());
  for (const Slot &slot : slots) {
    first.push_back(slot.device ? slot.device->read() : std::vector<std::byte>());
  }
  for (Slot &slot : slots) {
    fill(slot);
  }
  executor.run();
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].device && slots[i].device->read() != first[i]) {
      fail(slots[i].argument->name + ": WRONG: a second run gave other bits");
    }
  }
}

CallResult Call::run() {
  result.ok = true;
  checkNames();
  try {
    readGiven();
    checkOutputs();
    readReferences();
    bindDims();
    resolveSame();
    setShapes();
    generateRest();
    setPitches();
    upload();
    if (std::string chosen = executor.prepare(args, options.verbose); options.verbose) {
      result.text += chosen;
    } else if (!chosen.empty()) {
      append(chosen);
    }
    executor.run();
    check();
    if (options.twice) {
      checkSecondRun();
    }
  } catch (const Error &error) {
    result.deviceLost = error.status == TILE_ERROR_DRIVER;
    fail(std::string("error: ") + error.what());
  } catch (const std::bad_alloc &) {
    fail("error: this machine has not enough memory for the call");
  }
  Executor::Findings found = executor.findings();
  if (found.count > 0) {
    fail(std::to_string(found.count) + (found.count == 1 ? " report: " : " reports: ") +
         found.summary);
  }
  return result;
}

std::map<std::string, double> Call::values() const {
  std::map<std::string, double> list;
  for (size_t i = 0; i < env.dims.size(); ++i) {
    list[kernel.dims[i].name] = static_cast<double>(env.dims[i].integer);
  }
  for (const Slot &slot : slots) {
    if (!slot.argument->isTensor) {
      list[slot.argument->name] = slot.host.value(0);
    }
  }
  return list;
}

std::map<std::string, std::string> Call::types() const {
  std::map<std::string, std::string> list;
  for (const Slot &slot : slots) {
    list[slot.argument->name] = dtypeName(slot.argument->dtype);
  }
  return list;
}

} // namespace tile_rt
