#include "compiler/emit/Variants.h"

#include "compiler/emit/SourceLocation.h"
#include "dialects/tgpu/Cluster.h"
#include "dialects/tile/ElementNames.h"
#include "dialects/tile/Tile.h"
#include "runtime/include/tile/pack_format.h"

#include <cstddef>
#include <map>

using namespace mlir;
namespace json = llvm::json;

namespace tilec {

// Device code writes the record by these numbers (passes/llvm/Checks.cpp), the runtime reads it.
static_assert(offsetof(tile_failure_record, claimed) == tile::FailureRecord::kClaimed &&
              offsetof(tile_failure_record, complete) == tile::FailureRecord::kComplete &&
              offsetof(tile_failure_record, place) == tile::FailureRecord::kPlace &&
              offsetof(tile_failure_record, block) == tile::FailureRecord::kBlock &&
              offsetof(tile_failure_record, thread) == tile::FailureRecord::kThread &&
              offsetof(tile_failure_record, values) == tile::FailureRecord::kValues &&
              TILE_FAILURE_VALUES == tile::FailureRecord::kMaxValues);

// The same of the buffer of messages (passes/llvm/Prints.cpp).
static_assert(offsetof(tile_print_buffer, reserved) == tile::PrintBuffer::kReserved &&
              offsetof(tile_print_buffer, lost) == tile::PrintBuffer::kLost &&
              offsetof(tile_print_buffer, consumed) == tile::PrintBuffer::kConsumed &&
              offsetof(tile_print_buffer, ring) == tile::PrintBuffer::kRing &&
              TILE_PRINT_RING_BYTES == tile::PrintBuffer::kRingBytes &&
              TILE_PRINT_MESSAGE_BYTES == tile::PrintBuffer::kMaxMessage);

/// The elements of an attribute that may be absent.
static ArrayRef<Attribute> listOf(ArrayAttr list) {
  return list ? list.getValue() : ArrayRef<Attribute>();
}

LaunchVariants::LaunchVariants(ModuleOp module) {
  module.walk([&](tgpu::KernelOp kernel) {
    if (std::optional<llvm::StringRef> launch = kernel.getLaunch()) {
      kernels[*launch].push_back(kernel);
    }
  });
}

namespace {
/// Writes one variant.
class VariantWriter {
public:
  VariantWriter(tgpu::LaunchOp launch, tgpu::KernelOp kernel, HostExpressions &expressions,
                DiagnosticEngine &diags)
      : launch(launch), kernel(kernel), expressions(expressions), diags(diags) {}
  json::Object write();

private:
  json::Value parameter(Value value);
  json::Value guard();
  void addCost(json::Object &variant);
  json::Value mapNumber(int64_t number);
  json::Value tensorMap(tgpu::TensorMapAttr map);
  json::Array checks();
  json::Array prints();

  tgpu::LaunchOp launch;
  tgpu::KernelOp kernel;
  HostExpressions &expressions;
  DiagnosticEngine &diags;
};
} // namespace

json::Value VariantWriter::parameter(Value value) {
  if (!isa<tile::GlobalType>(value.getType())) {
    return json::Object{{"expr", expressions.get(value)}, {"type", expressions.typeOf(value)}};
  }
  if (std::optional<GlobalName> name = globalName(value)) {
    return json::Object{{name->kind, name->name}};
  }
  diags.report(diag::Id::NotSupported, sourceRange(value.getLoc(), diags),
               "a view of the host part as an argument of a launch");
  return nullptr;
}

/// `and` of all, one of others where there are more than it takes.
static json::Value allOf(json::Array terms) {
  const size_t most = tile_rt::infoOf(tile_rt::Op::And)->maxArgs;
  while (terms.size() > 1) {
    json::Array groups;
    for (size_t first = 0; first < terms.size(); first += most) {
      const size_t end = std::min(terms.size(), first + most);
      json::Array group;
      std::move(terms.begin() + first, terms.begin() + end, std::back_inserter(group));
      groups.push_back(group.size() == 1 ? std::move(group.front())
                                         : expressionNode(tile_rt::Op::And, std::move(group)));
    }
    terms = std::move(groups);
  }
  return std::move(terms.front());
}

/// All that the variant assumes: multiples of values, alignment of addresses.
json::Value VariantWriter::guard() {
  json::Array terms;
  for (Attribute assumption : listOf(kernel.getGuardAttr())) {
    auto divisible = dyn_cast<tgpu::DivisibleAttr>(assumption);
    if (!divisible) {
      diags.report(diag::Id::InternalError, sourceRange(kernel.getLoc(), diags),
                   "a guard of a kind that the manifest does not know");
      continue;
    }
    Value value = launch.getArgs()[divisible.getArgument()];
    std::optional<GlobalName> name = globalName(value);
    if (name && isa<tile::GlobalType>(value.getType())) {
      terms.push_back(json::Object{{"aligned", json::Array{name->name, divisible.getDivisor()}}});
    } else {
      json::Value rest = expressionNode(
          tile_rt::Op::Rem, json::Array{expressions.get(value), divisible.getDivisor()});
      terms.push_back(expressionNode(tile_rt::Op::Eq, json::Array{std::move(rest), 0}));
    }
  }
  return terms.empty() ? json::Value(nullptr) : allOf(std::move(terms));
}

/// Of what `total` is computed from in its block, how often each value is used for it.
static llvm::DenseMap<Value, unsigned> usesFor(Value total) {
  llvm::DenseMap<Value, unsigned> uses;
  SmallVector<Value> pending = {total};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (value.getParentBlock() == total.getParentBlock() && uses[value]++ == 0) {
      llvm::append_range(pending, value.getDefiningOp()->getOperands());
    }
  }
  return uses;
}

/// What tgpu-estimate-cost has written in front of the launch, and names for what is used more than once there, without which the
/// expression would be many times as long. Floats alone have names: computing them never fails.
void VariantWriter::addCost(json::Object &variant) {
  for (auto cost : launch->getBlock()->getOps<tgpu::CostOp>()) {
    if (cost.getEntry() != kernel.getSymName()) {
      continue;
    }
    const llvm::DenseMap<Value, unsigned> uses = usesFor(cost.getValue());
    json::Array lets;
    for (Operation &op : cost.getBody().front().without_terminator()) {
      Value value = op.getNumResults() == 1 ? op.getResult(0) : Value();
      if (value && value.getType().isF64() && uses.lookup(value) > 1 &&
          !expressions.isLeaf(value)) {
        std::string name = "c" + std::to_string(lets.size());
        lets.push_back(json::Object{
            {"name", name}, {"type", expressions.typeOf(value)}, {"expr", expressions.get(value)}});
        expressions.bindLet(value, std::move(name));
      }
    }
    if (!lets.empty()) {
      variant["lets"] = std::move(lets);
    }
    variant["cost"] = expressions.get(cost.getValue());
  }
}

/// A number of a tensor map: an argument of the launch, or -1 - c for the constant c.
json::Value VariantWriter::mapNumber(int64_t number) {
  return number < 0 ? json::Value(-1 - number) : expressions.get(launch.getArgs()[number]);
}

json::Value VariantWriter::tensorMap(tgpu::TensorMapAttr map) {
  Value tensor = launch.getArgs()[map.getArgument()];
  auto type = cast<tile::GlobalType>(tensor.getType());
  std::optional<GlobalName> name = globalName(tensor);
  if (!name) {
    diags.report(diag::Id::NotSupported, sourceRange(launch.getLoc(), diags),
                 "a tensor map of a view of the host part");
    return nullptr;
  }
  const bool isPacked = tile::isPacked(type.getElementType()); // a map of bytes
  const int64_t bits = isPacked ? 8 : tile::getStorageBits(type.getElementType());
  json::Array dims, strides, box;
  for (int64_t extent : map.getExtents()) {
    dims.push_back(mapNumber(extent));
  }
  for (int64_t stride : map.getStrides().drop_front()) {
    json::Value elements = mapNumber(stride);
    if (std::optional<int64_t> constant = elements.getAsInteger()) {
      strides.push_back(*constant * bits / 8);
    } else if (bits == 8) {
      strides.push_back(std::move(elements));
    } else {
      strides.push_back(
          expressionNode(tile_rt::Op::Mul, json::Array{std::move(elements), bits / 8}));
    }
  }
  for (int64_t extent : map.getBox()) {
    box.push_back(extent);
  }
  return json::Object{{name->kind, name->name},
                      {"dtype", isPacked ? "u8" : tile::elementName(type.getElementType())},
                      {"dims", std::move(dims)},
                      {"strides", std::move(strides)},
                      {"box", std::move(box)},
                      {"swizzle", map.getSwizzle()},
                      {"l2_promotion", 128},
                      {"interleave", "none"},
                      {"oob", "zero"}};
}

/// The type of the elements of a value that a check or a print shows, as the language calls it.
template <class Op>
static std::string shownType(Op op, unsigned index) {
  std::optional<ArrayRef<int32_t>> unsignedValues = op.getUnsignedValues();
  return tile::elementName(getElementTypeOrSelf(op.getValues()[index].getType()),
                           unsignedValues && llvm::is_contained(*unsignedValues, int32_t(index)));
}

/// What each check of the kernel says when it fails, by number; optimisation may have doubled some.
json::Array VariantWriter::checks() {
  std::map<uint32_t, tile::VerifyOp> places;
  kernel.walk([&](tile::VerifyOp op) { places.emplace(op.getPlace(), op); });
  json::Array list;
  for (auto [number, op] : places) {
    json::Array values;
    for (unsigned i = 0; i != op.getValues().size(); ++i) {
      values.push_back(shownType(op, i));
    }
    SourcePlace place = sourcePlace(op.getLoc());
    list.push_back(json::Object{{"number", number},
                                {"file", place.file},
                                {"line", place.line},
                                {"column", place.column},
                                {"text", op.getText()},
                                {"values", std::move(values)}});
  }
  return list;
}

/// The text of each print of the kernel, by number.
json::Array VariantWriter::prints() {
  std::map<uint32_t, tile::PrintOp> places;
  kernel.walk([&](tile::PrintOp op) { places.emplace(op.getPlace().value_or(0), op); });
  json::Array list;
  for (auto [number, op] : places) {
    json::Array values;
    for (auto [i, value] : llvm::enumerate(op.getValues())) {
      json::Object shown{{"type", shownType(op, i)}};
      if (auto tile = dyn_cast<ShapedType>(value.getType())) {
        shown["shape"] = json::Array(tile.getShape());
      }
      values.push_back(std::move(shown));
    }
    list.push_back(
        json::Object{{"number", number}, {"text", op.getFormat()}, {"values", std::move(values)}});
  }
  return list;
}

json::Object VariantWriter::write() {
  json::Array params, maps;
  for (Value value : launch.getArgs()) {
    params.push_back(parameter(value));
  }
  for (Attribute map : listOf(kernel.getTensorMapsAttr())) {
    params.push_back(json::Object{{"tensor_map", int64_t(maps.size())}});
    maps.push_back(tensorMap(cast<tgpu::TensorMapAttr>(map)));
  }
  json::Array places = checks();
  if (!places.empty()) {
    params.push_back(json::Object{{"check", "record"}});
    params.push_back(json::Object{{"check", "base"}});
  }
  json::Array texts = prints();
  if (!texts.empty()) {
    params.push_back(json::Object{{"print", "buffer"}});
    params.push_back(json::Object{{"print", "base"}});
  }
  json::Object blocks{{"kind", "direct"}};
  if (std::optional<uint32_t> resident = kernel.getPersistent()) {
    blocks = json::Object{{"kind", "persistent"}, {"blocks_per_sm", int64_t(*resident)}};
  }
  json::Object variant{{"name", kernel.getVariant().value_or("default")},
                       {"module", 0},
                       {"entry", kernel.getSymName()},
                       {"block", json::Array{kernel.getLaunchedThreads(), 1, 1}},
                       {"blocks", std::move(blocks)},
                       {"shared_bytes", int64_t(kernel.getSharedBytes().value_or(0))},
                       {"params", std::move(params)},
                       {"tensor_maps", std::move(maps)}};
  if (tgpu::waitsForLaunches(kernel)) {
    variant["overlaps"] = true;
  }
  if (tgpu::letsLaunchesBegin(kernel)) {
    variant["precedes"] = true;
  }
  if (!places.empty()) {
    variant["checks"] = std::move(places);
  }
  if (!texts.empty()) {
    variant["prints"] = std::move(texts);
  }
  if (std::optional<llvm::ArrayRef<int32_t>> cluster = kernel.getCluster()) {
    // Its blocks stand in a row, as those of the launch do.
    variant["cluster"] = json::Array{tgpu::blocksOfCluster(*cluster), 1, 1};
  }
  addCost(variant);
  if (json::Value condition = guard(); !condition.getAsNull()) {
    variant["guard"] = std::move(condition);
  }
  return variant;
}

json::Array LaunchVariants::write(tgpu::LaunchOp launch, HostExpressions &expressions,
                                  DiagnosticEngine &diags) const {
  json::Array list;
  auto found = kernels.find(launch.getName());
  if (found == kernels.end()) {
    diags.report(diag::Id::InternalError, sourceRange(launch.getLoc(), diags),
                 "launch `" + launch.getName() + "` has no kernel");
    return list;
  }
  for (tgpu::KernelOp kernel : found->second) {
    list.push_back(VariantWriter(launch, kernel, expressions, diags).write());
  }
  return list;
}

} // namespace tilec
