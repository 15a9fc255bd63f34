#include "compiler/driver/CpuRun.h"

#include "runtime/harness/Compare.h"
#include "runtime/harness/Generate.h"
#include "runtime/harness/Npy.h"
#include "runtime/harness/Pitch.h"
#include "runtime/src/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <cstring>

using namespace tile_rt;

namespace tilec {

namespace {
/// An option that does not fit the kernel; the text says why.
struct RunError {
  std::string text;
};
} // namespace

/// Splits the texts of an option, NAME=VALUE.
static std::map<std::string, std::string> split(const char *option,
                                                const std::vector<std::string> &texts) {
  std::map<std::string, std::string> result;
  for (llvm::StringRef text : texts) {
    auto [name, value] = text.split('=');
    if (name.empty() || value.empty()) {
      throw RunError{"`--" + std::string(option) + " " + text.str() + "` is not NAME=VALUE"};
    }
    result[name.str()] = value.str();
  }
  return result;
}

void CpuRun::readOptions() {
  dims = split("dim", options.dims);
  args = split("arg", options.args);
  outs = split("out", options.outs);
  expects = split("expect", options.expect);
  pitches = split("pitch", options.pitches);
  auto isArgument = [&](const std::string &name) {
    return llvm::any_of(kernel.arguments, [&](const Argument &a) { return a.name == name; });
  };
  for (const auto *map : {&args, &outs, &expects, &pitches}) {
    for (const auto &[name, value] : *map) {
      if (!isArgument(name)) {
        throw RunError{"kernel `" + kernel.symbol + "` has no argument `" + name + "`"};
      }
    }
  }
  for (const auto &[name, value] : dims) {
    int64_t number;
    if (llvm::StringRef(value).getAsInteger(0, number)) {
      throw RunError{"`--dim " + name + "=" + value + "` is not an integer"};
    }
    bool known = isArgument(name) ||
                 llvm::any_of(kernel.dims, [&](const Dimension &d) { return d.name == name; });
    if (!known) {
      throw RunError{"kernel `" + kernel.symbol + "` has no dimension `" + name + "`"};
    }
  }
}

void CpuRun::readScalar(unsigned index, const std::string &text) {
  const Argument &argument = kernel.arguments[index];
  std::optional<Distribution> value = parseDistribution(text);
  if (!value || value->kind != Distribution::Kind::Constant) {
    throw RunError{"scalar argument `" + argument.name + "` needs a number: --arg " +
                   argument.name + "=..."};
  }
  Array &host = slots[index].host;
  host = Array(argument.dtype, {});
  host.setValue(0, value->a);
  double back = host.value(0);
  env.scalars[index] = dtypeKind(argument.dtype) == ValueKind::Float  ? Value::ofFloat(back)
                       : dtypeKind(argument.dtype) == ValueKind::Bool ? Value::ofBool(back != 0)
                                                                      : Value::ofInt(Int(back));
}

/// Files and scalars: they need no dimensions.
void CpuRun::readGiven() {
  size_t count = kernel.arguments.size();
  slots.resize(count);
  env.scalars.resize(count);
  env.tensors.resize(count);
  for (auto [index, argument] : llvm::enumerate(kernel.arguments)) {
    Slot &slot = slots[index];
    auto given = args.find(argument.name);
    std::string text = given == args.end() ? "" : given->second;
    if (!argument.isTensor) {
      auto dim = dims.find(argument.name);
      readScalar(index, text.empty() && dim != dims.end() ? dim->second : text);
    } else if (llvm::StringRef(text).ends_with(".npy")) {
      slot.host = readNpy(text, argument.dtype);
      slot.fromFile = true;
      if (slot.host.shape.size() != argument.extents.size()) {
        throw RunError{"`" + text + "` has rank " + std::to_string(slot.host.shape.size()) +
                       ", argument `" + argument.name + "` has rank " +
                       std::to_string(argument.extents.size())};
      }
    } else {
      slot.absent = text == "none" || (text.empty() && argument.optional);
    }
  }
}

void CpuRun::bindDims() {
  for (const Dimension &dim : kernel.dims) {
    auto given = dims.find(dim.name);
    int64_t value = 0;
    if (dim.value) {
      value = *dim.value;
    } else if (given != dims.end()) {
      llvm::StringRef(given->second).getAsInteger(0, value); // was checked
    } else if (slots[dim.arg].fromFile) {
      value = slots[dim.arg].host.shape[dim.axis] - dim.offset;
    } else {
      throw RunError{"dimension `" + dim.name + "` is not known: give --dim " + dim.name +
                     "=... or a file for `" + kernel.arguments[dim.arg].name + "`"};
    }
    env.dims.push_back(Value::ofInt(value));
  }
}

void CpuRun::generateRest() {
  for (auto [index, argument] : llvm::enumerate(kernel.arguments)) {
    Slot &slot = slots[index];
    if (!argument.isTensor || slot.fromFile || slot.absent) {
      continue;
    }
    std::vector<int64_t> shape;
    Int total = 1;
    for (const Expr &extent : argument.extents) {
      Int value = evaluate(extent, env).integer;
      total *= std::max<Int>(value, 1);
      if (value < 0 || total > (Int{1} << 32)) {
        throw RunError{"argument `" + argument.name + "` cannot have an extent of " +
                       intText(value)};
      }
      shape.push_back(static_cast<int64_t>(value));
    }
    slot.host = Array(argument.dtype, shape);
    if (!slot.same) {
      generateTensor(index);
    }
  }
}

void CpuRun::generateTensor(unsigned index) {
  const Argument &argument = kernel.arguments[index];
  Array &host = slots[index].host;
  auto given = args.find(argument.name);
  bool isGiven = given != args.end();
  if (isGiven ? given->second == "poison" : argument.direction == Direction::Out) {
    host.data.assign(host.data.size(), kPoison);
    return;
  }
  std::string text = isGiven                                         ? given->second
                     : dtypeKind(argument.dtype) == ValueKind::Float ? "normal"
                     : argument.dtype == DType::Bool                 ? "integers(0,1)"
                                                                     : "integers(0,7)";
  std::optional<Distribution> distribution = parseDistribution(text);
  if (!distribution) {
    throw RunError{"`--arg " + argument.name + "=" + text +
                   "`: neither a .npy file nor a distribution"};
  }
  generate(host, *distribution, options.seed, streamOf(argument.name));
}

/// Which slots are the tensor of another one. What does not fit together the call itself refuses.
void CpuRun::resolveSame() {
  auto otherOf = [&](const Argument &argument) {
    auto given = args.find(argument.name);
    llvm::StringRef text = given == args.end() ? llvm::StringRef() : given->second;
    return text.consume_front("same(") && text.consume_back(")") ? text : llvm::StringRef();
  };
  for (auto [index, argument] : llvm::enumerate(kernel.arguments)) {
    llvm::StringRef name = otherOf(argument);
    if (name.empty()) {
      continue;
    }
    auto other = llvm::find_if(kernel.arguments, [&](const Argument &a) { return a.name == name; });
    size_t number = other - kernel.arguments.begin();
    if (other == kernel.arguments.end() || !other->isTensor || slots[number].absent ||
        !otherOf(*other).empty()) {
      throw RunError{"`--arg " + argument.name + "=same(" + name.str() +
                     ")`: no tensor of its own"};
    }
    slots[index].same = number;
  }
}

/// Rows that lie further apart. A tensor that is another one has that one's.
void CpuRun::setPitches() {
  for (auto [slot, argument] : llvm::zip_equal(slots, kernel.arguments)) {
    auto given = pitches.find(argument.name);
    if (given == pitches.end()) {
      continue;
    }
    int64_t pitch = 0;
    const std::vector<int64_t> &shape = slot.host.shape;
    if (llvm::StringRef(given->second).getAsInteger(10, pitch) || !argument.isTensor ||
        slot.absent || slot.same || shape.size() < 2 || pitch < shape.back() ||
        dtypeBits(argument.dtype) < 8) {
      throw RunError{"`--pitch " + given->first + "=" + given->second +
                     "`: it is for tensors of their own with rank 2 or more and whole bytes, and "
                     "no less than a row"};
    }
    slot.pitch = pitch;
  }
  for (Slot &slot : slots) {
    if (slot.same) {
      slot.pitch = slots[*slot.same].pitch;
    }
  }
}

/// Copies a tensor between guard zones, at a multiple of 256 bytes as allocators on devices do.
void CpuRun::place(Slot &slot) {
  constexpr size_t alignment = 256;
  std::vector<std::byte> contents =
      slot.pitch ? spreadRows(slot.host, *slot.pitch, kGuard) : slot.host.data;
  slot.memory.assign(2 * kGuardBytes + alignment + contents.size(), kGuard);
  auto start = reinterpret_cast<uintptr_t>(slot.memory.data()) + kGuardBytes;
  size_t offset = kGuardBytes + (alignment - start % alignment) % alignment;
  slot.data = slot.memory.data() + offset;
  slot.bytes = contents.size();
  std::copy(contents.begin(), contents.end(), slot.data);
}

std::vector<cpu::Argument> CpuRun::makeArguments() {
  for (auto [slot, argument] : llvm::zip_equal(slots, kernel.arguments)) {
    if (argument.isTensor && !slot.absent && !slot.same) {
      place(slot);
    }
  }
  std::vector<cpu::Argument> list;
  for (auto [index, argument] : llvm::enumerate(kernel.arguments)) {
    Slot &slot = slots[index];
    if (!argument.isTensor) {
      list.push_back(cpu::Argument::scalar(slot.host.bits(0), dtypeName(argument.dtype)));
      continue;
    }
    if (slot.same) {
      slot.data = slots[*slot.same].data;
      slot.bytes = slots[*slot.same].bytes;
    }
    std::vector<int64_t> shape = slot.host.shape;
    shape.resize(argument.extents.size()); // of an absent one: zeros
    list.push_back(slot.pitch
                       ? cpu::Argument::tensor(slot.data, shape, pitchedStrides(shape, *slot.pitch),
                                               dtypeName(argument.dtype))
                       : cpu::Argument::tensor(slot.data, shape, dtypeName(argument.dtype)));
  }
  return list;
}

void CpuRun::checkTensor(unsigned index) {
  const Argument &argument = kernel.arguments[index];
  Slot &slot = slots[index];
  const std::byte *after = slot.data + slot.bytes;
  const std::byte *end = slot.memory.data() + slot.memory.size();
  if (!slot.same && (findDamage(slot.memory.data(), slot.data - slot.memory.data()) ||
                     findDamage(after, end - after))) {
    append(argument.name + ": WRONG: memory around it was written");
    result.ok = false;
  }
  Array now = slot.host;
  now.data.assign(slot.data, slot.data + slot.bytes);
  if (slot.pitch) {
    bool intact = true;
    now = gatherRows(slot.host, *slot.pitch, now.data, kGuard, intact);
    if (!intact) {
      append(argument.name + ": WRONG: memory between its rows was written");
      result.ok = false;
    }
  }
  if (auto out = outs.find(argument.name); out != outs.end()) {
    writeNpy(out->second, now);
  }
  auto expected = expects.find(argument.name);
  if (expected == expects.end()) {
    return;
  }
  Array reference;
  try {
    reference = readNpy(expected->second, argument.dtype);
  } catch (const NpyError &) {
    reference = readNpy(expected->second); // of another type, f64 say
  }
  Comparison comparison =
      compareArrays(now, reference, options.tolerance.value_or(defaultTolerance(argument.dtype)));
  compared = true;
  result.ok &= comparison.ok;
  append(argument.name + " " + comparison.text);
}

CpuRun::Result CpuRun::run() {
  try {
    readOptions();
    readGiven();
    bindDims();
    resolveSame();
    generateRest();
    setPitches();
    std::vector<cpu::Argument> arguments = makeArguments();
    auto start = std::chrono::steady_clock::now();
    llvm::Error failure = program.run(kernel.symbol, arguments);
    std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
    if (failure) {
      append("error: " + llvm::toString(std::move(failure)));
      return std::move(result);
    }
    result.ok = true;
    for (unsigned i = 0; i != slots.size(); ++i) {
      if (kernel.arguments[i].isTensor && !slots[i].absent) {
        checkTensor(i);
      }
    }
    append(compared ? std::to_string(int64_t(spent.count())) + " ms" : "ran, not compared");
  } catch (const RunError &error) {
    result.error = error.text;
  } catch (const std::runtime_error &error) { // of a file, or an extent that does not fit
    result.error = error.what();
  }
  return std::move(result);
}

} // namespace tilec
