#include "compiler/emit/Manifest.h"

#include "compiler/basic/Version.h"
#include "compiler/emit/HostProgram.h"
#include "compiler/emit/SourceLocation.h"
#include "compiler/emit/Variants.h"
#include "dialects/tgpu/Tgpu.h"
#include "dialects/tile/ElementNames.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "runtime/include/tile/pack_format.h"

#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace mlir;
namespace json = llvm::json;

namespace tilec {

namespace {
/// Writes one kernel.
class KernelWriter {
public:
  KernelWriter(tile::KernelOp kernel, const LaunchVariants &variants, DiagnosticEngine &diags)
      : kernel(kernel), variants(variants), diags(diags), expressions(diags),
        checkExpressions(diags) {}
  json::Object write(bool withHost);

private:
  void collectExtents();
  json::Value argument(unsigned index);
  json::Array dimensions();
  void addCheck(tile::CheckOp check, json::Array &checks);
  json::Array statements(Block &block, json::Array &checks);
  std::optional<json::Value> statement(Operation &op, json::Array &checks);
  json::Value workspace(tile::WorkspaceOp op);
  json::Value launch(tgpu::LaunchOp op);
  void bindIfShared(Value value, json::Array &list);

  tile::KernelOp kernel;
  const LaunchVariants &variants;
  DiagnosticEngine &diags;
  HostExpressions expressions;
  HostExpressions
      checkExpressions; // checks come before the host program: no values have names there
  /// What the extent of an argument's dimension has to be, and the checks that only say this.
  std::map<std::pair<unsigned, int64_t>, json::Value> extents;
  llvm::SmallPtrSet<Operation *, 8> extentChecks; // looked up, never iterated
  unsigned numLets = 0;
};
} // namespace

/// `%A[axis]` of a kernel argument, or nothing.
static std::optional<std::pair<unsigned, int64_t>> argumentExtent(Value value) {
  while (Operation *cast = value.getDefiningOp()) {
    if (!isa<arith::ExtSIOp, arith::TruncIOp>(cast)) {
      break;
    }
    value = cast->getOperand(0);
  }
  auto extent = value.getDefiningOp<tile::ExtentOp>();
  auto argument = extent ? dyn_cast<BlockArgument>(extent.getSource()) : BlockArgument();
  if (!argument) {
    return std::nullopt;
  }
  return std::pair(argument.getArgNumber(), int64_t(extent.getAxis()));
}

/// Finds which dimensions bind names (tile.dim), and which are checked to be a value.
void KernelWriter::collectExtents() {
  kernel.walk([&](tile::DimOp dim) {
    auto argument = dyn_cast<BlockArgument>(dim.getTensor());
    json::Value name = json::Object{{"dim", dim.getName()}};
    if (argument) {
      json::Value expr = std::move(name);
      if (dim.getOffset() != 0) {
        expr = expressionNode(tile_rt::Op::Add,
                              json::Array{std::move(expr), int64_t(dim.getOffset())});
      }
      extents.try_emplace({argument.getArgNumber(), int64_t(dim.getAxis())}, std::move(expr));
    }
  });
  for (auto check : kernel.getBody().front().getOps<tile::CheckOp>()) {
    auto compare = check.getCondition().getDefiningOp<arith::CmpIOp>();
    if (check.getDiagnostic() != "dim-mismatch" || !compare ||
        compare.getPredicate() != arith::CmpIPredicate::eq) {
      continue;
    }
    Value left = compare.getLhs(), right = compare.getRhs();
    if (!argumentExtent(left)) {
      std::swap(left, right);
    }
    auto place = argumentExtent(left);
    if (!place) {
      continue;
    }
    auto type = cast<tile::GlobalType>(kernel.getArgumentTypes()[place->first]);
    json::Value value = expressions.get(right);
    json::Value known = type.isDynamicDim(place->second)
                            ? extents.try_emplace(*place, value).first->second
                            : json::Value(type.getShape()[place->second]);
    if (known == value) { // the runtime compares extents with what the argument says
      extentChecks.insert(check);
    }
  }
}

json::Value KernelWriter::argument(unsigned index) {
  auto text = [&](const Fact<StringAttr> &fact) {
    StringAttr value = fact.get(kernel, index);
    return value ? value.getValue() : llvm::StringRef();
  };
  Type type = kernel.getArgumentTypes()[index];
  std::string name = kernel.getArgumentName(index).str();
  auto global = dyn_cast<tile::GlobalType>(type);
  std::string dtype = text(tile::kDtype).str();
  if (dtype.empty()) {
    dtype = tile::elementName(global ? global.getElementType() : type);
  }
  llvm::StringRef direction = text(tile::kDirection);
  if (direction.empty()) {
    direction = "inout"; // what IR that does not say may do
  }
  if (!global) {
    return json::Object{{"name", name}, {"kind", "scalar"}, {"dtype", dtype}};
  }
  json::Array shape;
  for (auto [axis, extent] : llvm::enumerate(global.getShape())) {
    auto it = extents.find({index, int64_t(axis)});
    if (!ShapedType::isDynamic(extent)) {
      shape.push_back(extent);
    } else if (it != extents.end()) {
      shape.push_back(it->second);
    } else {
      shape.push_back(json::Object{{"extent", json::Array{name, int64_t(axis)}}});
    }
  }
  json::Object object{{"name", name},
                      {"kind", "tensor"},
                      {"dtype", dtype},
                      {"direction", direction},
                      {"extents", std::move(shape)}};
  if (tile::kOptional.has(kernel, index)) {
    object["optional"] = true;
  }
  if (tile::kStrided.has(kernel, index)) {
    object["strided"] = true;
  }
  if (IntegerAttr align = tile::kAlign.get(kernel, index)) {
    object["align"] = align.getInt();
  }
  if (ArrayAttr aliases = tile::kMayAlias.get(kernel, index)) {
    json::Array names;
    for (auto other : aliases.getAsRange<StringAttr>()) {
      names.push_back(other.getValue());
    }
    object["may_alias"] = std::move(names);
  }
  return object;
}

json::Array KernelWriter::dimensions() {
  json::Array list;
  llvm::StringSet<> seen;
  kernel.walk([&](tile::DimOp dim) {
    std::optional<GlobalName> tensor = globalName(dim.getTensor());
    if (tensor && seen.insert(dim.getName()).second) {
      json::Object source{{"arg", tensor->name},
                          {"axis", int64_t(dim.getAxis())},
                          {"offset", int64_t(dim.getOffset())}};
      list.push_back(json::Object{{"name", dim.getName()},
                                  {"type", tile::elementName(dim.getType())},
                                  {"source", std::move(source)}});
    }
  });
  return list;
}

/// A check under `if` is one that holds where the condition is false.
void KernelWriter::addCheck(tile::CheckOp check, json::Array &checks) {
  if (extentChecks.contains(check)) {
    return;
  }
  json::Value expr = checkExpressions.get(check.getCondition());
  auto unless = [&](json::Value condition) {
    expr = expressionNode(tile_rt::Op::Or, json::Array{std::move(condition), std::move(expr)});
  };
  auto negated = [](json::Value condition) {
    return expressionNode(tile_rt::Op::Not, json::Array{std::move(condition)});
  };
  if (check.getTensor()) {
    if (std::optional<GlobalName> tensor = globalName(check.getTensor())) {
      unless(negated(json::Object{{"present", tensor->name}}));
    }
  }
  for (Operation *op = check; op->getParentOp() != kernel; op = op->getParentOp()) {
    auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
    if (!branch) {
      continue;
    }
    json::Value condition = checkExpressions.get(branch.getCondition());
    bool inThen = op->getParentRegion() == &branch.getThenRegion();
    unless(inThen ? negated(std::move(condition)) : std::move(condition));
  }
  checks.push_back(json::Object{
      {"expr", std::move(expr)}, {"text", check.getText()}, {"diagnostic", check.getDiagnostic()}});
}

/// Names a value that host code uses several times, so that trees do not grow with sharing.
/// Uses by costs do not count: a call that has nothing to choose computes none.
void KernelWriter::bindIfShared(Value value, json::Array &list) {
  const auto uses = llvm::count_if(
      value.getUsers(), [](Operation *user) { return !user->getParentOfType<tgpu::CostOp>(); });
  if (uses < 2 || expressions.isLeaf(value)) {
    return;
  }
  if (llvm::all_of(value.getUsers(), llvm::IsaPred<tile::CheckOp>)) {
    return;
  }
  std::string name = "v" + std::to_string(numLets++);
  list.push_back(json::Object{{"let", json::Object{{"name", name},
                                                   {"type", expressions.typeOf(value)},
                                                   {"expr", expressions.get(value)}}}});
  expressions.bindLet(value, name);
}

json::Array KernelWriter::statements(Block &block, json::Array &checks) {
  json::Array list;
  for (Operation &op : block) {
    if (auto check = dyn_cast<tile::CheckOp>(op)) {
      addCheck(check, checks);
    } else if (std::optional<json::Value> item = statement(op, checks)) {
      list.push_back(std::move(*item));
    } else if (!op.hasTrait<OpTrait::IsTerminator>()) {
      for (Value result : op.getResults()) {
        if (result.getType().isIntOrIndexOrFloat()) {
          bindIfShared(result, list);
        }
      }
    }
  }
  return list;
}

/// The statement that `op` is, or nothing if it is a value or says nothing to the runtime.
std::optional<json::Value> KernelWriter::statement(Operation &op, json::Array &checks) {
  if (auto memory = dyn_cast<tile::WorkspaceOp>(op)) {
    return workspace(memory);
  }
  if (auto start = dyn_cast<tgpu::LaunchOp>(op)) {
    return launch(start);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults() == 0) {
    json::Object object{{"cond", expressions.get(branch.getCondition())},
                        {"then", statements(branch.getThenRegion().front(), checks)}};
    if (!branch.getElseRegion().empty()) {
      object["else"] = statements(branch.getElseRegion().front(), checks);
    }
    return json::Object{{"if", std::move(object)}};
  }
  if (isa<tile::LaunchOp>(op)) {
    diags.report(diag::Id::InternalError, sourceRange(op.getLoc(), diags),
                 "a launch without device code");
  }
  return std::nullopt;
}

json::Value KernelWriter::workspace(tile::WorkspaceOp op) {
  json::Array shape;
  unsigned dynamic = 0;
  for (int64_t extent : op.getResult().getType().getShape()) {
    shape.push_back(ShapedType::isDynamic(extent) ? expressions.get(op.getExtents()[dynamic++])
                                                  : json::Value(extent));
  }
  json::Value init = nullptr;
  if (auto value = dyn_cast_or_null<FloatAttr>(op.getInitAttr())) {
    init = floatNode(value.getValueAsDouble());
  } else if (auto value = dyn_cast_or_null<IntegerAttr>(op.getInitAttr())) {
    init = value.getType().isInteger(1)     ? json::Value(value.getValue().getBoolValue())
           : op.getDtype().starts_with("u") ? json::Value(value.getValue().getZExtValue())
                                            : json::Value(value.getValue().getSExtValue());
  }
  return json::Object{{"workspace", json::Object{{"name", op.getName()},
                                                 {"dtype", op.getDtype()},
                                                 {"extents", std::move(shape)},
                                                 {"init", std::move(init)}}}};
}

json::Value KernelWriter::launch(tgpu::LaunchOp op) {
  json::Array grid;
  for (Value extent : op.getGrid()) {
    grid.push_back(expressions.get(extent));
  }
  return json::Object{
      {"launch", json::Object{{"name", op.getName()},
                              {"grid", std::move(grid)},
                              {"variants", variants.write(op, expressions, diags)}}}};
}

/// A compile-time parameter's value as JSON.
static json::Value parameterValue(Attribute value) {
  if (auto text = dyn_cast<StringAttr>(value)) {
    return text.getValue();
  }
  if (auto flag = dyn_cast<BoolAttr>(value)) {
    return flag.getValue();
  }
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    return number.getValue().getSExtValue();
  }
  if (auto type = dyn_cast<TypeAttr>(value)) {
    return tile::elementName(type.getValue());
  }
  return nullptr;
}

json::Object KernelWriter::write(bool withHost) {
  collectExtents();
  json::Array arguments, checks;
  for (unsigned i = 0; i != kernel.getNumArguments(); ++i) {
    arguments.push_back(argument(i));
  }
  json::Object params;
  if (std::optional<DictionaryAttr> values = kernel.getParameters()) {
    for (NamedAttribute value : *values) {
      params[value.getName().getValue()] = parameterValue(value.getValue());
    }
  }
  json::Array host;
  if (withHost) {
    host = statements(kernel.getBody().front(), checks);
  }
  json::Object configuration{
      {"params", json::Object()}, {"checks", json::Array()}, {"host", std::move(host)}};
  return json::Object{{"symbol", kernel.getSymName()},
                      {"source_kernel", kernel.getSourceKernel().value_or(kernel.getSymName())},
                      {"params", std::move(params)},
                      {"arguments", std::move(arguments)},
                      {"dims", dimensions()},
                      {"checks", std::move(checks)},
                      {"configurations", json::Array{std::move(configuration)}}};
}

/// The same with strings of its own: json::Value refers to those that it is given as StringRef.
static json::Value withOwnStrings(const json::Value &value) {
  if (const json::Array *list = value.getAsArray()) {
    json::Array result;
    result.reserve(list->size());
    for (const json::Value &item : *list) {
      result.push_back(withOwnStrings(item));
    }
    return result;
  }
  if (const json::Object *object = value.getAsObject()) {
    json::Object result;
    for (const auto &[key, item] : *object) {
      result[key.str()] = withOwnStrings(item);
    }
    return result;
  }
  if (std::optional<llvm::StringRef> text = value.getAsString()) {
    return text->str();
  }
  return value;
}

static std::optional<json::Object> build(ModuleOp module, bool withHost, DiagnosticEngine &diags) {
  unsigned errorsBefore = diags.numErrors();
  LaunchVariants variants(module);
  json::Array kernels;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    kernels.push_back(withOwnStrings(KernelWriter(kernel, variants, diags).write(withHost)));
  }
  if (diags.numErrors() != errorsBefore) {
    return std::nullopt;
  }
  return json::Object{
      {"format", TILE_MANIFEST_FORMAT}, {"tilec", kVersion}, {"kernels", std::move(kernels)}};
}

std::optional<json::Object> buildManifest(ModuleOp module, DiagnosticEngine &diags) {
  return build(module, /*withHost=*/true, diags);
}

std::optional<json::Object> buildSignatures(ModuleOp module, DiagnosticEngine &diags) {
  std::optional<json::Object> manifest = build(module, /*withHost=*/false, diags);
  if (manifest) {
    (*manifest)["source_hash"] = "";
    (*manifest)["modules"] = json::Array();
  }
  return manifest;
}

//===----------------------------------------------------------------------===//
// Several architectures and parameter sets
//===----------------------------------------------------------------------===//

/// Calls `visit` for each launch of a host program, in order.
static void forEachLaunch(json::Array &host, llvm::function_ref<void(json::Object &)> visit) {
  for (json::Value &item : host) {
    json::Object &object = *item.getAsObject();
    if (json::Object *launch = object.getObject("launch")) {
      visit(*launch);
    } else if (json::Object *branch = object.getObject("if")) {
      for (const char *side : {"then", "else"}) {
        if (json::Array *list = branch->getArray(side)) {
          forEachLaunch(*list, visit);
        }
      }
    }
  }
}

/// Calls `visit` for each variant of each launch of a manifest, in order.
static void forEachVariant(json::Object &manifest, llvm::function_ref<void(json::Object &)> visit) {
  auto ofLaunch = [&](json::Object &launch) {
    for (json::Value &variant : *launch.getArray("variants")) {
      visit(*variant.getAsObject());
    }
  };
  for (json::Value &kernel : *manifest.getArray("kernels")) {
    for (json::Value &configuration : *kernel.getAsObject()->getArray("configurations")) {
      forEachLaunch(*configuration.getAsObject()->getArray("host"), ofLaunch);
    }
  }
}

void setModules(json::Object &manifest, llvm::function_ref<size_t(llvm::StringRef)> moduleOf) {
  forEachVariant(manifest, [&](json::Object &variant) {
    variant["module"] = int64_t(moduleOf(*variant.getString("entry")));
  });
}

static json::Object *findKernel(json::Array &kernels, llvm::StringRef symbol) {
  for (json::Value &kernel : kernels) {
    if (kernel.getAsObject()->getString("symbol") == symbol) {
      return kernel.getAsObject();
    }
  }
  return nullptr;
}

/// Moves what `isOwn` says from a kernel's parameters and checks into its configurations.
static void moveDown(json::Object &kernel,
                     llvm::function_ref<bool(llvm::StringRef, const json::Value &)> isOwnParam,
                     llvm::function_ref<bool(const json::Value &)> isOwnCheck) {
  json::Object params;
  for (auto &[name, value] : *kernel.getObject("params")) {
    if (!isOwnParam(name, value)) {
      params[name] = value;
      continue;
    }
    for (json::Value &item : *kernel.getArray("configurations")) {
      (*item.getAsObject()->getObject("params"))[name] = value;
    }
  }
  json::Array checks;
  for (const json::Value &check : *kernel.getArray("checks")) {
    if (!isOwnCheck(check)) {
      checks.push_back(check);
      continue;
    }
    for (json::Value &item : *kernel.getArray("configurations")) {
      item.getAsObject()->getArray("checks")->push_back(check);
    }
  }
  kernel["params"] = std::move(params);
  kernel["checks"] = std::move(checks);
}

/// What a kernel and another do not share becomes a matter of their configurations.
static void keepCommon(json::Object &kernel, json::Object &other) {
  const json::Object params = *kernel.getObject("params");
  const json::Array checks = *kernel.getArray("checks");
  auto keep = [](json::Object &one, const json::Object &params, const json::Array &checks) {
    moveDown(
        one,
        [&](llvm::StringRef name, const json::Value &value) {
          const json::Value *same = params.get(name);
          return !same || *same != value;
        },
        [&](const json::Value &check) { return !llvm::is_contained(checks, check); });
  };
  keep(kernel, *other.getObject("params"), *other.getArray("checks"));
  keep(other, params, checks);
}

bool mergeManifest(json::Object &manifest, json::Object other, DiagnosticEngine &diags) {
  json::Array &kernels = *manifest.getArray("kernels");
  for (json::Value &item : *other.getArray("kernels")) {
    json::Object &added = *item.getAsObject();
    llvm::StringRef symbol = *added.getString("symbol");
    json::Object *kernel = findKernel(kernels, symbol);
    if (!kernel) {
      kernels.push_back(std::move(item));
      continue;
    }
    for (llvm::StringRef part : {"source_kernel", "arguments", "dims"}) {
      if (*kernel->get(part) != *added.get(part)) {
        diags.report(diag::Id::NotSupported, llvm::SMRange(),
                     "kernel `" + symbol +
                         "`, whose arguments depend on the architecture, in a pack for several,");
        return false;
      }
    }
    keepCommon(*kernel, added);
    for (json::Value &configuration : *added.getArray("configurations")) {
      kernel->getArray("configurations")->push_back(std::move(configuration));
    }
  }
  return true;
}

/// A persistent variant gets as many blocks as fit.
static void fillMultiprocessors(json::Object &variant, const Target &target,
                                const FunctionResources &used) {
  json::Object *blocks = variant.getObject("blocks");
  if (!blocks || blocks->getString("kind") != "persistent") {
    return;
  }
  int64_t threads = *(*variant.getArray("block"))[0].getAsInteger();
  int64_t shared = *variant.getInteger("shared_bytes") + int64_t(used.staticSharedBytes);
  (*blocks)["blocks_per_sm"] =
      std::max<int64_t>(1, residentBlocks(target, used.registers, threads, shared));
}

void addResources(json::Object &manifest, unsigned moduleIndex, const Target &target,
                  const std::map<std::string, FunctionResources> &resources) {
  auto complete = [&](json::Object &variant) {
    auto found = resources.find(variant.getString("entry")->str());
    if (variant.getInteger("module") == moduleIndex && found != resources.end()) {
      const FunctionResources &used = found->second;
      variant["resources"] =
          json::Object{{"registers", used.registers},
                       {"spill_bytes", used.spillStoreBytes + used.spillLoadBytes},
                       {"static_shared_bytes", used.staticSharedBytes}};
      fillMultiprocessors(variant, target, used);
    }
  };
  forEachVariant(manifest, complete);
}

} // namespace tilec
