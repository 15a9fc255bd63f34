#include "compiler/testing/TestData.h"

#include "runtime/harness/Compare.h"
#include "runtime/harness/Generate.h"
#include "runtime/harness/Npy.h"
#include "runtime/src/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using tile_rt::Array;
using tile_rt::Direction;
using tile_rt::DType;
using tile_rt::ValueKind;

namespace tilec {

/// Elements beyond which a tensor is surely a mistake.
static constexpr tile_rt::Int maxElements = tile_rt::Int{1} << 32;

/// Inputs differ between cases and are the same in every run of a case.
uint64_t TestData::seed() const { return tile_rt::streamOf(tests.kernel + ": " + test.describe()); }

/// "reference.py:gemm" with the folder of the kernel's file.
std::string TestData::placeOf(const std::string &function) const {
  SmallString<128> path(sys::path::parent_path(source));
  sys::path::append(path, function);
  return path.str().str();
}

double TestData::toleranceOf(DType dtype) const {
  auto found = tests.tolerances.find(tile_rt::dtypeName(dtype));
  return found == tests.tolerances.end() ? tile_rt::defaultTolerance(dtype) : found->second;
}

/// Gives dimensions and scalars their values.
Error TestData::bind() {
  for (const CaseValue &value : test.values) {
    if (value.kind != CaseValue::Kind::Tensor) {
      values[value.name] = value.value;
    }
    bool isOpen = any_of(kernel.dims, [&](const tile_rt::Dimension &dim) {
      return dim.name == value.name && !dim.value;
    });
    if (isOpen) {
      dimTexts.push_back(value.name + "=" + value.text);
    } else if (value.kind == CaseValue::Kind::Scalar) {
      argTexts.push_back(value.name + "=" + value.text);
    }
  }
  auto number = [&](StringRef name) {
    const CaseValue *value = test.find(name);
    return value ? value->value.getAsNumber() : std::nullopt;
  };
  for (const tile_rt::Dimension &dim : kernel.dims) {
    std::optional<double> value = number(dim.name);
    if (!value && !dim.value) {
      return createStringError("dimension `" + dim.name + "` has no value");
    }
    env.dims.push_back(tile_rt::Value::ofInt(dim.value ? *dim.value : int64_t(*value)));
  }
  env.scalars.resize(kernel.arguments.size());
  env.tensors.resize(kernel.arguments.size());
  for (auto [index, argument] : enumerate(kernel.arguments)) {
    if (!argument.isTensor) {
      double value = number(argument.name).value_or(0);
      env.scalars[index] = tile_rt::dtypeKind(argument.dtype) == ValueKind::Float
                               ? tile_rt::Value::ofFloat(value)
                               : tile_rt::Value::ofInt(int64_t(value));
    }
  }
  return Error::success();
}

/// Writes a drawn tensor.
Error TestData::fill(const tile_rt::Argument &argument, StringRef how, const std::string &path) {
  std::vector<int64_t> shape;
  tile_rt::Int total = 1;
  for (const tile_rt::Expr &extent : argument.extents) {
    tile_rt::Int value = tile_rt::evaluate(extent, env).integer;
    total *= std::max<tile_rt::Int>(value, 1);
    if (value < 0 || total > maxElements) {
      return createStringError("argument `" + argument.name + "` cannot have an extent of " +
                               tile_rt::intText(value));
    }
    shape.push_back(int64_t(value));
  }
  StringRef text = !how.empty()                                             ? how
                   : tile_rt::dtypeKind(argument.dtype) == ValueKind::Float ? "normal"
                   : argument.dtype == DType::Bool                          ? "integers(0,1)"
                   : argument.dtype == DType::U4                            ? "integers(0,15)"
                                                                            : "integers(0,7)";
  std::optional<tile_rt::Distribution> distribution =
      tile_rt::parseDistribution({text.data(), text.size()});
  if (!distribution) {
    return createStringError("`" + argument.name + " in " + text.str() + "` is no distribution");
  }
  Array array(argument.dtype, shape);
  if (!tile_rt::isExact(*distribution, argument.dtype, array.size())) {
    return createStringError("`" + argument.name + " in " + text.str() +
                             "` has integers of 2^53 and more");
  }
  tile_rt::generate(array, *distribution, seed(), tile_rt::streamOf(argument.name));
  tile_rt::writeNpy(path, array);
  return Error::success();
}

Error TestData::addTensor(unsigned index) {
  const tile_rt::Argument &argument = kernel.arguments[index];
  const CaseValue *given = test.find(argument.name);
  if (given && given->text == "none") {
    argTexts.push_back(argument.name + "=none");
    inputPaths[argument.name] = nullptr;
    return Error::success();
  }
  std::string path = folder + "/" + argument.name + ".npy";
  if (argument.direction == Direction::Out) {
    if (argument.optional) {
      argTexts.push_back(argument.name + "=poison"); // it is wanted
    }
  } else {
    if (!is_contained(drawn, argument.name)) {
      if (Error error = fill(argument, given ? StringRef(given->text) : StringRef(), path)) {
        return error;
      }
    }
    argTexts.push_back(argument.name + "=" + path);
    inputPaths[argument.name] = path;
  }
  if (argument.isWritten()) {
    std::string expected = folder + "/" + argument.name + ".reference.npy";
    outputPaths[argument.name] = expected;
    outputList.push_back({argument.name, argument.dtype, expected, toleranceOf(argument.dtype)});
  }
  return Error::success();
}

Error TestData::make(TestReference &reference) {
  if (Error error = bind()) {
    return error;
  }
  if (!tests.inputs.empty()) {
    Expected<std::vector<std::string>> names =
        reference.draw(placeOf(tests.inputs), seed(), values, folder);
    if (!names) {
      return names.takeError();
    }
    drawn = std::move(*names);
  }
  try {
    for (unsigned i = 0; i != kernel.arguments.size(); ++i) {
      if (kernel.arguments[i].isTensor) {
        if (Error error = addTensor(i)) {
          return error;
        }
      }
    }
  } catch (const std::runtime_error &error) { // of a file, or of an extent that does not fit
    return createStringError(error.what());
  }
  return reference.compute(placeOf(tests.reference), inputPaths, values, outputPaths);
}

} // namespace tilec
