// Checks of a call's arguments that the language prescribes: section 6, "Kernel parameters".
#include "../support/Floats.h"
#include "Plan.h"

#include <algorithm>
#include <cstring>

namespace tile_rt {

namespace {
constexpr int64_t kMaxExtent = (int64_t{1} << 31) - 1;

std::string quoted(const Argument &argument) { return "argument `" + argument.name + "`"; }

Value readScalar(const Argument &argument, const void *data) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, dtypeBits(argument.dtype) / 8);
  switch (dtypeKind(argument.dtype)) {
  case ValueKind::Float:
    return Value::ofFloat(decodeFloat(argument.dtype, bits));
  case ValueKind::Bool:
    return Value::ofBool(bits != 0);
  case ValueKind::Int:
    break;
  }
  return Value::ofInt(wrapInt(argument.dtype, static_cast<Int>(bits)));
}

void checkKind(const Argument &argument, const tile_arg &arg) {
  if (argument.isTensor != (arg.rank != TILE_SCALAR_RANK)) {
    failCall("arguments", quoted(argument) + " is a " + (argument.isTensor ? "tensor" : "scalar"));
  }
  if (!argument.isTensor && !arg.data) {
    failCall("null", quoted(argument) + " has no value");
  }
  if (argument.isTensor && argument.optional && !arg.data) {
    return; // absent: nothing else of it is read
  }
  if (arg.dtype != static_cast<int32_t>(argument.dtype)) {
    const char *given = tile_dtype_name(arg.dtype);
    failCall("dtype", quoted(argument) + " must be " + dtypeName(argument.dtype) + ", not " +
                          (given ? given : "type number " + std::to_string(arg.dtype)));
  }
  if (argument.isTensor && arg.rank != static_cast<int32_t>(argument.extents.size())) {
    failCall("rank", quoted(argument) + " must have rank " +
                         std::to_string(argument.extents.size()) + ", not " +
                         std::to_string(arg.rank));
  }
  if (argument.isTensor && !arg.extents) {
    failCall("null", quoted(argument) + " has no extents");
  }
}

/// Whether a dimension may have 2^31 and more: its extent is computed in 64 bits.
bool isWide(const Expr &extent) { return extent.type && dtypeBits(*extent.type) == 64; }

void readTensor(const Kernel &kernel, const Argument &argument, const tile_arg &arg,
                TensorView &view) {
  view.present = !(argument.optional && !arg.data);
  if (!view.present) {
    return;
  }
  view.address = reinterpret_cast<uint64_t>(arg.data);
  size_t rank = argument.extents.size();
  view.extents.assign(arg.extents, arg.extents + rank);
  for (size_t i = 0; i < rank; ++i) {
    checkExtent(argument, i, view.extents[i]);
  }
  view.strides.resize(rank);
  Int stride = 1;
  for (size_t i = rank; i-- > 0;) {
    view.strides[i] = static_cast<int64_t>(stride);
    stride *= std::max<int64_t>(view.extents[i], 1);
    if (stride > (Int{1} << 62)) {
      failCall("extent-too-large", quoted(argument) + ": its size exceeds 2^62 elements");
    }
  }
}

void checkStrides(const Argument &argument, const tile_arg &arg, TensorView &view) {
  if (!arg.strides) {
    return;
  }
  size_t rank = view.extents.size();
  bool empty = view.isEmpty();
  for (size_t i = 0; i < rank; ++i) {
    int64_t given = arg.strides[i];
    if (empty || view.extents[i] == 1) {
      continue; // never used; the view keeps the contiguous one
    }
    std::string where = quoted(argument) + ", dimension " + std::to_string(i) + ": the stride is " +
                        std::to_string(given);
    if (i + 1 == rank ? given != 1 : !argument.strided && given != view.strides[i]) {
      failCall("stride", where + ", it must be " + std::to_string(view.strides[i]) +
                             (argument.strided ? "" : " (row-major and contiguous)"));
    }
    if (given == 0 && argument.isWritten()) {
      failCall("stride", where + " on a tensor that is written");
    }
    if (dtypeIsPacked(argument.dtype) && i + 1 < rank && given % 2 != 0) {
      failCall("stride", where + ", it must be even for " + dtypeName(argument.dtype));
    }
    if (given > (int64_t{1} << 40) || given < -(int64_t{1} << 40)) {
      failCall("stride", where + ", beyond 2^40");
    }
    view.strides[i] = given;
  }
}

/// A dimension along which elements lie apart.
struct Steps {
  Int stride, extent; ///< stride above 0
};

/// Whether there are distances of indices, not all 0 and each less than its extent, that lead from an
/// element to its own place: `partial` and the sum of distance * stride over `rest` is 0. `rest` is
/// sorted, the largest stride first, so that few distances of each can still be made up for by
/// the rest: one, 0, for a tensor whose dimensions nest. What takes too long to decide is admitted.
bool returnsTo(Span<const Steps> rest, Int partial, bool moved, int &patience) {
  if (rest.empty()) {
    return moved && partial == 0;
  }
  Int reach = 0;
  for (const Steps &later : rest.subspan(1)) {
    reach += (later.extent - 1) * later.stride;
  }
  auto [stride, extent] = rest.front();
  // Distances d with |partial + d * stride| <= reach. The first that is not 0 is above 0.
  Int below = -partial - reach, above = reach - partial;
  Int first = below / stride + (below % stride > 0), last = above / stride - (above % stride < 0);
  first = std::max(first, moved ? 1 - extent : Int{0});
  last = std::min(last, extent - 1);
  for (Int d = first; d <= last; ++d) {
    if (--patience < 0) {
      return false;
    }
    if (returnsTo(rest.subspan(1), partial + d * stride, moved || d != 0, patience)) {
      return true;
    }
  }
  return false;
}

/// Two elements of what is written at one place are an error of the program.
void checkDistinct(const Argument &argument, const TensorView &view) {
  if (!argument.isWritten() || view.isEmpty()) {
    return;
  }
  std::vector<Steps> steps;
  std::string strides;
  for (size_t i = 0; i < view.extents.size(); ++i) {
    strides += (i ? ", " : "") + std::to_string(view.strides[i]);
    if (view.extents[i] > 1) {
      Int stride = view.strides[i];
      steps.push_back({stride < 0 ? -stride : stride, view.extents[i]});
    }
  }
  std::sort(steps.begin(), steps.end(),
            [](const Steps &a, const Steps &b) { return a.stride > b.stride; });
  int patience = 10000;
  if (returnsTo(steps, 0, false, patience)) {
    failCall("stride", quoted(argument) + ": with strides " + strides +
                           " two elements of it have one place, and it is written");
  }
}

void checkMemory(const Argument &argument, const TensorView &view) {
  if (dtypeIsPacked(argument.dtype) && view.extents.back() % 2 != 0) {
    failCall("packed-extent", quoted(argument) + ": the last extent is " +
                                  std::to_string(view.extents.back()) + ", it must be even for " +
                                  dtypeName(argument.dtype));
  }
  if (view.isEmpty()) {
    return;
  }
  if (!view.address) {
    failCall("null", quoted(argument) + " is null");
  }
  if (view.address % argument.align != 0) {
    failCall("align", quoted(argument) + ": its address is not a multiple of " +
                          std::to_string(argument.align));
  }
}

std::string sourceText(const Kernel &kernel, const Dimension &dim, const Value &value) {
  std::string text = "`" + dim.name + "` is " + valueText(value);
  if (dim.value) {
    return text + ", fixed when compiling";
  }
  return text + " by dimension " + std::to_string(dim.axis) + " of `" +
         kernel.arguments[dim.arg].name + "`";
}

void bindDims(const Kernel &kernel, Env &env) {
  for (const Dimension &dim : kernel.dims) {
    if (dim.value) {
      env.dims.push_back(Value::ofInt(*dim.value));
      continue;
    }
    const Argument &argument = kernel.arguments[dim.arg];
    int64_t extent = env.tensors[dim.arg].extents[dim.axis];
    Int value = static_cast<Int>(extent) - dim.offset;
    if (value < 0) {
      failCall("dim-mismatch", quoted(argument) + ", dimension " + std::to_string(dim.axis) +
                                   ": the extent is " + std::to_string(extent) + ", so `" +
                                   dim.name + "` would be " + intText(value));
    }
    if (value > maxInt(dim.type)) {
      failCall("extent-too-large",
               quoted(argument) + ": `" + dim.name + "` would be " + intText(value));
    }
    env.dims.push_back(Value::ofInt(value));
  }
}

void checkExtents(const Kernel &kernel, const Env &env) {
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Argument &argument = kernel.arguments[i];
    if (!argument.isTensor || !env.tensors[i].present) {
      continue;
    }
    for (size_t axis = 0; axis < argument.extents.size(); ++axis) {
      Int wanted = evaluate(argument.extents[axis], env).integer;
      int64_t given = env.tensors[i].extents[axis];
      if (wanted == given) {
        continue;
      }
      std::string text = quoted(argument) + ", dimension " + std::to_string(axis) +
                         ": the extent is " + std::to_string(given);
      if (argument.extents[axis].op == Op::Const) {
        failCall("dim-mismatch", text + ", it must be " + intText(wanted));
      }
      text += ", but `" + exprText(argument.extents[axis]) + "` is " + intText(wanted);
      std::vector<unsigned> dims;
      collectDims(argument.extents[axis], dims);
      for (size_t d = 0; d < dims.size(); ++d) {
        text += (d ? ", " : " (") + sourceText(kernel, kernel.dims[dims[d]], env.dims[dims[d]]);
      }
      failCall("dim-mismatch", text + (dims.empty() ? "" : ")"));
    }
  }
}

/// The part of a tensor within one period of `period` bytes: dimensions whose stride is a multiple
/// of it are left out. False if the rest does not fit into a period.
bool footprint(DType type, const TensorView &view, Int period, ByteRange &range) {
  Int highest = 0;
  unsigned bits = dtypeBits(type);
  for (size_t i = 0; i < view.extents.size(); ++i) {
    Int stride = static_cast<Int>(view.strides[i]) * bits;
    if (view.extents[i] == 1 || stride % (period * 8) == 0) {
      continue;
    }
    if (stride < 0) {
      return false;
    }
    highest += (view.extents[i] - 1) * stride;
  }
  range.begin = static_cast<Int>(view.address) % period;
  range.end = range.begin + (highest + bits + 7) / 8;
  return range.end - range.begin <= period;
}

/// Columns of one matrix, say: both repeat with a common stride and never meet within it.
bool interleavedApart(DType typeA, const TensorView &a, DType typeB, const TensorView &b) {
  for (size_t i = 0; i < a.strides.size(); ++i) {
    Int period = static_cast<Int>(a.strides[i]) * dtypeBits(typeA) / 8;
    ByteRange ra, rb;
    if (a.extents[i] <= 1 || period <= 0 || !footprint(typeA, a, period, ra) ||
        !footprint(typeB, b, period, rb)) {
      continue;
    }
    // Both may wrap round the end of the period: compare b also one period later and earlier.
    bool meet = false;
    for (Int shift : {-period, Int{0}, period}) {
      meet |= ra.begin < rb.end + shift && rb.begin + shift < ra.end;
    }
    if (!meet) {
      return true;
    }
  }
  return false;
}

bool admits(const Argument &argument, unsigned other) {
  return std::find(argument.mayAlias.begin(), argument.mayAlias.end(), other) !=
         argument.mayAlias.end();
}

void checkAlias(const Kernel &kernel, const Env &env, unsigned i, unsigned j) {
  const Argument &a = kernel.arguments[i], &b = kernel.arguments[j];
  const TensorView &va = env.tensors[i], &vb = env.tensors[j];
  ByteRange ra = touchedBytes(a.dtype, va), rb = touchedBytes(b.dtype, vb);
  const Int at = static_cast<Int>(va.address), bt = static_cast<Int>(vb.address);
  if (at + ra.begin >= bt + rb.end || bt + rb.begin >= at + ra.end ||
      interleavedApart(a.dtype, va, b.dtype, vb)) {
    return;
  }
  bool admitted = admits(a, j) || admits(b, i);
  if (admitted && va.address == vb.address && a.dtype == b.dtype && va.extents == vb.extents &&
      va.strides == vb.strides) {
    return;
  }
  std::string written = a.isWritten() ? a.name : b.name, other = a.isWritten() ? b.name : a.name;
  failCall("alias", "argument `" + written + "` is written and overlaps `" + other + "`" +
                        (admitted ? ": it may be the same tensor, not part of it" : ""));
}
} // namespace

void checkExtent(const Argument &argument, size_t axis, Int extent) {
  const bool wide = isWide(argument.extents[axis]);
  if (extent < 0 || extent > (wide ? Int{INT64_MAX} : Int{kMaxExtent})) {
    failCall("extent-too-large", quoted(argument) + ", dimension " + std::to_string(axis) +
                                     ": the extent is " + intText(extent) +
                                     ", it must be from 0 to " + (wide ? "2^63 - 1" : "2^31 - 1"));
  }
}

ByteRange touchedBytes(DType type, const TensorView &view) {
  Int lowest = 0, highest = 0; // in elements
  for (size_t i = 0; i < view.extents.size(); ++i) {
    Int span = static_cast<Int>(view.extents[i] - 1) * view.strides[i];
    (span < 0 ? lowest : highest) += span;
  }
  unsigned bits = dtypeBits(type);
  return {lowest * bits / 8, ((highest + 1) * bits + 7) / 8};
}

uint64_t scalarParameter(const Argument &argument, const void *data) {
  return scalarBits(argument.dtype, readScalar(argument, data));
}

Env bindArguments(const Kernel &kernel, Span<const tile_arg> args) {
  if (args.size() != kernel.arguments.size()) {
    failCall("arguments",
             "kernel `" + kernel.symbol + "` takes " + std::to_string(kernel.arguments.size()) +
                 (kernel.arguments.size() == 1 ? " argument, not " : " arguments, not ") +
                 std::to_string(args.size()));
  }
  Env env;
  env.scalars.resize(args.size());
  env.tensors.resize(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    const Argument &argument = kernel.arguments[i];
    checkKind(argument, args[i]);
    if (!argument.isTensor) {
      env.scalars[i] = readScalar(argument, args[i].data);
      continue;
    }
    readTensor(kernel, argument, args[i], env.tensors[i]);
  }
  bindDims(kernel, env);
  checkExtents(kernel, env);
  for (size_t i = 0; i < args.size(); ++i) {
    if (kernel.arguments[i].isTensor && env.tensors[i].present) {
      checkStrides(kernel.arguments[i], args[i], env.tensors[i]);
      checkDistinct(kernel.arguments[i], env.tensors[i]);
      checkMemory(kernel.arguments[i], env.tensors[i]);
    }
  }
  forEachAliasPair(kernel, env, [&](unsigned i, unsigned j) { checkAlias(kernel, env, i, j); });
  return env;
}

} // namespace tile_rt
