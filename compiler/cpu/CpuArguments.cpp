//===- CpuArguments.cpp --------------------------------------------------===//
#include "compiler/cpu/CpuArguments.h"

#include "mlir/IR/BuiltinTypes.h"

#include "llvm/Support/MathExtras.h"

namespace tilec::cpu {

using llvm::ArrayRef;
using llvm::Error;
using llvm::Twine;

static Error wrong(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// First byte of a tensor and one past its last, as numbers.
static std::pair<uint64_t, uint64_t> bytesOf(const Argument &argument, unsigned elementBits) {
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip_equal(argument.extents, argument.strides)) {
    if (extent == 0) {
      return {0, 0};
    }
    last += (extent - 1) * stride;
  }
  uint64_t base = reinterpret_cast<uint64_t>(argument.data);
  return {base, base + llvm::divideCeil((uint64_t)(last + 1) * elementBits, 8)};
}

static Error checkStrides(const Parameter &parameter, const Argument &argument) {
  int64_t contiguous = 1;
  for (size_t d = argument.extents.size(); d-- > 0;) {
    int64_t stride = argument.strides[d], extent = argument.extents[d];
    bool isLast = d + 1 == argument.extents.size();
    if (extent > 1 && parameter.isStrided && stride == 0 && parameter.direction != "in") {
      return wrong("argument `" + parameter.name + "`: stride 0 in dimension " + Twine(d) +
                   " of a tensor that is written [stride]");
    }
    if (extent > 1 && (parameter.isStrided ? isLast && stride != 1 : stride != contiguous)) {
      return wrong("argument `" + parameter.name + "`: stride " + Twine(stride) + " in dimension " +
                   Twine(d) + ", expected " + Twine(isLast ? 1 : contiguous) + " [stride]");
    }
    contiguous *= extent;
  }
  return Error::success();
}

static Error checkTensor(const Parameter &parameter, const Argument &argument) {
  std::string name = "argument `" + parameter.name + "`";
  if (!argument.data) {
    uint64_t count = 1;
    for (int64_t extent : argument.extents) {
      count *= extent;
    }
    return parameter.isOptional || (count == 0 && !argument.extents.empty())
               ? Error::success()
               : wrong(name + " is null, and not optional");
  }
  if (argument.extents.size() != parameter.shape.size()) {
    return wrong(name + " has rank " + Twine(argument.extents.size()) + ", expected " +
                 Twine(parameter.shape.size()) + " [rank]");
  }
  for (auto [d, extent] : llvm::enumerate(argument.extents)) {
    int64_t fixed = parameter.shape[d];
    if (extent < 0 || (!mlir::ShapedType::isDynamic(fixed) && extent != fixed)) {
      return wrong(name + " has extent " + Twine(extent) + " in dimension " + Twine(d) +
                   (extent < 0 ? Twine() : ", expected " + Twine(fixed)) + " [dim-mismatch]");
    }
  }
  if (parameter.elementBits == 4 && argument.extents.back() % 2 != 0) {
    return wrong(name + " is packed, but its last extent " + Twine(argument.extents.back()) +
                 " is odd [packed-extent]");
  }
  if (reinterpret_cast<uint64_t>(argument.data) % parameter.align != 0) {
    return wrong(name + " is not aligned to " + Twine(parameter.align) + " bytes [align]");
  }
  return checkStrides(parameter, argument);
}

/// A tensor that is written overlaps no other, unless it may be that other.
static Error checkAliases(ArrayRef<Parameter> parameters, ArrayRef<Argument> arguments) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter &written = parameters[i];
    if (!written.isTensor || !arguments[i].data || written.direction == "in") {
      continue;
    }
    for (size_t j = 0; j < parameters.size(); ++j) {
      const Parameter &other = parameters[j];
      if (i == j || !other.isTensor || !arguments[j].data) {
        continue;
      }
      auto [from, to] = bytesOf(arguments[i], written.elementBits);
      auto [otherFrom, otherTo] = bytesOf(arguments[j], other.elementBits);
      if (from >= otherTo || otherFrom >= to) {
        continue;
      }
      bool allowed = llvm::is_contained(written.mayAlias, other.name) ||
                     llvm::is_contained(other.mayAlias, written.name);
      bool same = from == otherFrom && written.dtype == other.dtype &&
                  arguments[i].extents == arguments[j].extents &&
                  arguments[i].strides == arguments[j].strides;
      if (!allowed || !same) {
        return wrong("arguments `" + written.name + "` and `" + other.name +
                     "` overlap, and the first is written [alias]");
      }
    }
  }
  return Error::success();
}

Error checkArguments(llvm::StringRef kernel, ArrayRef<Parameter> parameters,
                     ArrayRef<Argument> arguments) {
  if (parameters.size() != arguments.size()) {
    return wrong("`" + kernel + "` takes " + Twine(parameters.size()) + " arguments, not " +
                 Twine(arguments.size()) + " [arguments]");
  }
  for (auto [parameter, argument] : llvm::zip_equal(parameters, arguments)) {
    if (parameter.isTensor != argument.isTensor) {
      return wrong("argument `" + parameter.name + "` is a " +
                   (parameter.isTensor ? "tensor, not a scalar" : "scalar, not a tensor"));
    }
    bool absent = argument.isTensor && !argument.data;
    if (!absent && parameter.dtype != argument.dtype) {
      return wrong("argument `" + parameter.name + "` has type " + argument.dtype + ", expected " +
                   parameter.dtype + " [type-mismatch]");
    }
    if (argument.isTensor) {
      if (Error error = checkTensor(parameter, argument)) {
        return error;
      }
    }
  }
  return checkAliases(parameters, arguments);
}

} // namespace tilec::cpu
