#include "compiler/emit/HostInterface.h"

#include "compiler/emit/HostExtents.h"
#include "compiler/emit/HostNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;
using tile_rt::DType;

namespace tilec {

/// The type of a scalar in C. f16 and bf16 have none: a float holds all their values.
static StringRef scalarType(DType type) {
  switch (type) {
  case DType::F64:
    return "double";
  case DType::F32:
  case DType::F16:
  case DType::BF16:
    return "float";
  case DType::I64:
    return "int64_t";
  case DType::I32:
    return "int32_t";
  case DType::I16:
    return "int16_t";
  case DType::I8:
    return "int8_t";
  case DType::U64:
    return "uint64_t";
  case DType::U32:
    return "uint32_t";
  case DType::U16:
    return "uint16_t";
  case DType::U8:
    return "uint8_t";
  case DType::Bool:
    return "bool";
  default:
    return "";
  }
}

/// What the pointer to a tensor points to: types that C lacks are void.
static StringRef elementType(DType type) {
  const bool isHalf = type == DType::F16 || type == DType::BF16;
  return isHalf || !dtypeIsScalar(type) ? "void" : scalarType(type);
}

namespace {
/// Fills in the struct of one kernel.
class KernelReader {
public:
  KernelReader(HostKernel &kernel, const json::Object &source) : kernel(kernel), source(source) {
    taken.insert(kernel.call); // C++ wants members named otherwise than their class
    taken.insert(kernel.args);
  }
  void read();

private:
  unsigned addMember(HostMember::Kind kind, const Twine &name, const Twine &type,
                     const Twine &comment, DType dtype = DType::I64);
  void readArgument(const json::Object &object);
  void readTensor(const json::Object &object, HostArgument &argument);
  void readExtents(const json::Object &object, HostArgument &argument);
  bool isComputed(const json::Value &expression) const;

  HostKernel &kernel;
  const json::Object &source;
  StringSet<> taken;
  StringMap<DType> types; ///< of dimensions and scalars, which extents may name
};
} // namespace

unsigned KernelReader::addMember(HostMember::Kind kind, const Twine &name, const Twine &type,
                                 const Twine &comment, DType dtype) {
  std::string plain = name.str();
  std::string own = uniqueName(isReservedMember(plain) ? plain + "_" : plain, taken);
  kernel.members.push_back({kind, std::move(own), type.str(), comment.str(), dtype});
  return kernel.members.size() - 1;
}

/// C++ keeps names with two underscores in a row for itself.
static std::string joined(StringRef name, const Twine &part) {
  return (name + (name.ends_with("_") ? "" : "_") + part).str();
}

static StringRef text(const json::Object &object, StringRef member) {
  return object.getString(member).value_or("");
}

bool KernelReader::isComputed(const json::Value &expression) const {
  return isComputable(expression, [&](StringRef name) -> std::optional<DType> {
    auto known = types.find(name);
    return known == types.end() ? std::nullopt : std::optional(known->second);
  });
}

static std::string shapeText(const json::Array &extents) {
  std::string result;
  for (const json::Value &extent : extents) {
    result += (result.empty() ? "[" : ", ") + extentText(extent);
  }
  return result + "]";
}

void KernelReader::readTensor(const json::Object &object, HostArgument &argument) {
  StringRef direction = text(object, "direction");
  argument.direction = direction == "in"    ? HostArgument::Direction::In
                       : direction == "out" ? HostArgument::Direction::Out
                                            : HostArgument::Direction::InOut;
  argument.isOptional = object.getBoolean("optional").value_or(false);
  argument.isStrided = object.getBoolean("strided").value_or(false);
  argument.align = object.getInteger("align").value_or(16);
  argument.shape = shapeText(*object.getArray("extents"));
  const size_t rank = object.getArray("extents")->size();
  const bool isRead = argument.direction == HostArgument::Direction::In;
  std::string comment =
      (Twine(isRead ? "" : direction + " ") + StringRef(dtypeName(argument.dtype)) +
       argument.shape + (argument.isOptional ? ", or null" : "") +
       (argument.align == 16 ? Twine() : ", aligned to " + Twine(argument.align)))
          .str();
  argument.member = addMember(HostMember::Kind::Tensor, argument.name,
                              (isRead ? "const " : "") + elementType(argument.dtype) + " *",
                              comment, argument.dtype);
  if (argument.isStrided && rank > 1) { // the last stride is 1
    argument.strides =
        addMember(HostMember::Kind::Strides, joined(argument.name, "strides"), "const int64_t *",
                  "of " + Twine(rank) + " dimensions, in elements; null: contiguous");
  }
}

void KernelReader::readArgument(const json::Object &object) {
  HostArgument argument;
  argument.name = text(object, "name").str();
  argument.dtype = tile_rt::dtypeFromName(text(object, "dtype")).value_or(DType::F32);
  argument.isTensor = text(object, "kind") == "tensor";
  if (argument.isTensor) {
    readTensor(object, argument);
  } else {
    const bool isHalf = argument.dtype == DType::F16 || argument.dtype == DType::BF16;
    argument.member = addMember(
        HostMember::Kind::Scalar, argument.name, scalarType(argument.dtype) + " ",
        isHalf ? Twine("rounded to ") + dtypeName(argument.dtype) : Twine(), argument.dtype);
    types.try_emplace(argument.name, argument.dtype);
    kernel.dimensions.push_back({argument.name, argument.member});
  }
  kernel.arguments.push_back(std::move(argument));
}

/// Extents that no dimension says become members.
void KernelReader::readExtents(const json::Object &object, HostArgument &argument) {
  for (const auto &[axis, expression] : enumerate(*object.getArray("extents"))) {
    HostExtent extent{expression};
    if (!isComputed(expression)) {
      extent.member = addMember(HostMember::Kind::Extent, argument.name + "_extent_" + Twine(axis),
                                "int64_t ", "of dimension " + Twine(axis) + " of " + argument.name);
    }
    argument.extents.push_back(std::move(extent));
  }
}

void KernelReader::read() {
  const json::Array &arguments = *source.getArray("arguments");
  for (const json::Value &argument : arguments) {
    readArgument(*argument.getAsObject());
  }
  for (const json::Value &value : *source.getArray("dims")) {
    const json::Object &dim = *value.getAsObject();
    StringRef name = text(dim, "name");
    if (dim.get("value") || !types.try_emplace(name, DType::I64).second) {
      continue; // fixed, or a scalar
    }
    unsigned member = addMember(HostMember::Kind::Extent, name, "int64_t ", "");
    kernel.dimensions.push_back({name.str(), member});
  }
  for (const auto &[value, argument] : zip_equal(arguments, kernel.arguments)) {
    if (argument.isTensor) {
      readExtents(*value.getAsObject(), argument);
    }
  }
}

/// Names of functions and structs: kernels keep theirs, as far as C has them; then come those that
/// had to change, and what belongs to each. The order of kernels does not matter.
static void nameKernels(MutableArrayRef<HostKernel> kernels, StringRef prefix) {
  SmallVector<HostKernel *> sorted;
  for (HostKernel &kernel : kernels) {
    sorted.push_back(&kernel);
  }
  sort(sorted, [](const HostKernel *a, const HostKernel *b) { return a->symbol < b->symbol; });
  StringSet<> taken;
  auto reserved = [&](const HostKernel *kernel) {
    return isReservedFunction((prefix + kernel->symbol).str());
  };
  for (bool isSecond : {false, true}) {
    for (HostKernel *kernel : sorted) {
      if (reserved(kernel) == isSecond) {
        kernel->call = uniqueName((prefix + kernel->symbol + (isSecond ? "_" : "")).str(), taken);
      }
    }
  }
  for (HostKernel *kernel : sorted) {
    auto named = [&](StringRef part) {
      std::string name = joined((prefix + kernel->symbol).str(), part);
      return uniqueName(isReservedFunction(name) ? name + "_" : name, taken);
    };
    kernel->args = named("args");
    kernel->workspace = named("workspace");
    kernel->prepare = named("prepare");
    kernel->describe = named("describe");
    kernel->handle = named("kernel");
  }
}

/// A digest of the struct and of the arguments as a call lists them.
static std::string digestOf(const HostKernel &kernel) {
  std::string text;
  for (const HostMember &member : kernel.members) {
    text += member.type + member.name + ";";
  }
  for (const HostArgument &argument : kernel.arguments) {
    text += argument.name + ":" + dtypeName(argument.dtype) + argument.shape + ";";
  }
  const std::array<uint8_t, 32> hash = SHA256::hash(arrayRefFromStringRef(text));
  return toHex(ArrayRef(hash).take_front(6), /*LowerCase=*/true);
}

std::vector<HostKernel> describeInterface(const json::Object &manifest, StringRef prefix) {
  const json::Array &list = *manifest.getArray("kernels");
  std::vector<HostKernel> kernels(list.size());
  for (const auto &[kernel, value] : zip_equal(kernels, list)) {
    kernel.symbol = text(*value.getAsObject(), "symbol").str();
  }
  nameKernels(kernels, prefix);
  for (const auto &[kernel, value] : zip_equal(kernels, list)) {
    KernelReader(kernel, *value.getAsObject()).read();
    kernel.suffix = ".args." + digestOf(kernel);
  }
  return kernels;
}

} // namespace tilec
