#include "../include/tile/pack_format.h"
#include "ExprParser.h"
#include "Prints.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace tile_rt {

namespace {
class KernelParser {
public:
  KernelParser(const Manifest &manifest, Kernel &kernel) : manifest(manifest), kernel(kernel) {
    names.kernel = &kernel;
  }
  void parse(const JsonRef &json);

private:
  void parseArgumentHeads(const JsonRef &json);
  void parseArgumentDetails(const JsonRef &json);
  void parseDims(const JsonRef &json);
  std::vector<Check> parseChecks(const JsonRef &json);
  void parseConfiguration(const JsonRef &json);
  Preference parsePreference(const JsonRef &json) const;
  std::vector<Statement> parseBlock(const JsonRef &json, NameScope scope, unsigned depth);
  Statement parseStatement(const JsonRef &json, NameScope &scope, unsigned depth);
  Statement parseLaunch(const JsonRef &json, NameScope scope);
  CostLet parseCostLet(const JsonRef &json, NameScope &scope);
  Variant parseVariant(const JsonRef &json, const NameScope &scope);
  static CheckPlace parseCheckPlace(const JsonRef &json);
  static PrintText parsePrint(const JsonRef &json);
  Blocks parseBlocks(const JsonRef &json, const NameScope &scope);
  Parameter parseParameter(const JsonRef &json, const NameScope &scope, size_t numMaps);
  TensorMap parseMap(const JsonRef &json, const NameScope &scope);
  unsigned findWorkspace(const JsonRef &json, const NameScope &scope);

  const Manifest &manifest;
  Kernel &kernel;
  Configuration *configuration = nullptr; ///< being read
  NameScope names;
};

template <class T>
T choice(const JsonRef &json, std::initializer_list<std::pair<const char *, T>> table) {
  std::string text = json.string();
  for (const auto &[name, value] : table) {
    if (text == name) {
      return value;
    }
  }
  json.fail("unexpected `" + text + "`");
}

std::vector<Expr> parseExprs(const JsonRef &json, const NameScope &scope, size_t lowest,
                             size_t highest) {
  if (json.size() < lowest || json.size() > highest) {
    json.fail("wrong number of entries");
  }
  std::vector<Expr> result;
  for (const JsonRef &item : json.items()) {
    result.push_back(parseExpr(item, scope, ValueKind::Int));
  }
  return result;
}

std::vector<uint32_t> parseNumbers(const JsonRef &json, size_t count, uint32_t highest) {
  if (json.size() != count) {
    json.fail("wrong number of entries");
  }
  std::vector<uint32_t> result;
  for (const JsonRef &item : json.items()) {
    result.push_back(static_cast<uint32_t>(item.integer(1, highest)));
  }
  return result;
}

std::array<unsigned, 3> parseDim3(const JsonRef &json, uint32_t highest) {
  std::vector<uint32_t> list = parseNumbers(json, 3, highest);
  return {list[0], list[1], list[2]};
}

void KernelParser::parseArgumentHeads(const JsonRef &json) {
  std::set<std::string> seen;
  for (const JsonRef &item : json.items()) {
    Argument argument;
    argument.name = item["name"].string();
    if (!seen.insert(argument.name).second) {
      item.fail("two arguments are called `" + argument.name + "`");
    }
    argument.isTensor = choice<bool>(item["kind"], {{"tensor", true}, {"scalar", false}});
    argument.dtype = parseDType(item["dtype"], !argument.isTensor);
    if (argument.isTensor) {
      argument.direction = choice<Direction>(
          item["direction"],
          {{"in", Direction::In}, {"out", Direction::Out}, {"inout", Direction::InOut}});
      size_t rank = item["extents"].size();
      if (rank < 1 || rank > TILE_MAX_RANK) {
        item["extents"].fail("the rank must be 1 to 8");
      }
      argument.extents.resize(rank);
      argument.optional = item.has("optional") && item["optional"].boolean();
      argument.strided = item.has("strided") && item["strided"].boolean();
      if (item.has("align")) {
        argument.align = item["align"].as<uint32_t>(1);
        if (argument.align & (argument.align - 1)) {
          item["align"].fail("must be a power of two");
        }
      }
    }
    kernel.arguments.push_back(std::move(argument));
  }
}

void KernelParser::parseDims(const JsonRef &json) {
  for (const JsonRef &item : json.items()) {
    Dimension dim;
    dim.name = item["name"].string();
    dim.type = choice<DType>(item["type"], {{"i32", DType::I32}, {"i64", DType::I64}});
    if (item.hasValue("value")) {
      dim.value = item["value"].as<int64_t>();
    } else {
      JsonRef source = item["source"];
      dim.arg = names.argument(source["arg"], source["arg"].string(), true);
      const Argument &argument = kernel.arguments[dim.arg];
      if (argument.optional) {
        source.fail("an optional tensor cannot bind a dimension");
      }
      dim.axis = static_cast<unsigned>(
          source["axis"].integer(0, static_cast<__int128>(argument.extents.size()) - 1));
      if (source.has("offset")) {
        dim.offset = source["offset"].as<int64_t>();
      }
    }
    kernel.dims.push_back(std::move(dim));
  }
}

void KernelParser::parseArgumentDetails(const JsonRef &json) {
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    JsonRef item = json.at(i);
    Argument &argument = kernel.arguments[i];
    if (!argument.isTensor) {
      continue;
    }
    argument.extents = parseExprs(item["extents"], names, 1, TILE_MAX_RANK);
    if (item.has("may_alias")) {
      for (const JsonRef &other : item["may_alias"].items()) {
        argument.mayAlias.push_back(names.argument(other, other.string(), true));
      }
    }
  }
}

std::vector<Statement> KernelParser::parseBlock(const JsonRef &json, NameScope scope,
                                                unsigned depth) {
  if (depth > 500) {
    json.fail("nested too deeply");
  }
  std::vector<Statement> block;
  for (const JsonRef &item : json.items()) {
    block.push_back(parseStatement(item, scope, depth));
  }
  return block;
}

Statement KernelParser::parseStatement(const JsonRef &json, NameScope &scope, unsigned depth) {
  Statement statement;
  if (json.has("let")) {
    JsonRef let = json["let"];
    statement.kind = Statement::Kind::Let;
    statement.name = let["name"].string();
    statement.type = parseDType(let["type"], true);
    statement.expr = parseExpr(let["expr"], scope, dtypeKind(statement.type));
    statement.index = configuration->numLets++;
    scope.lets[statement.name] = {statement.index, statement.type};
  } else if (json.has("workspace")) {
    JsonRef workspace = json["workspace"];
    statement.kind = Statement::Kind::Workspace;
    statement.name = statement.workspace.name = workspace["name"].string();
    statement.workspace.dtype = parseDType(workspace["dtype"], false);
    statement.workspace.extents = parseExprs(workspace["extents"], scope, 0, TILE_MAX_RANK);
    if (workspace.hasValue("init")) {
      statement.workspace.init = parseConstant(workspace["init"], statement.workspace.dtype);
    }
    statement.index = configuration->numWorkspaces++;
    scope.workspaces[statement.name] = statement.index;
  } else if (json.has("if")) {
    JsonRef branch = json["if"];
    statement.kind = Statement::Kind::If;
    statement.expr = parseExpr(branch["cond"], scope, ValueKind::Bool);
    statement.then = parseBlock(branch["then"], scope, depth + 1);
    if (branch.has("else")) {
      statement.otherwise = parseBlock(branch["else"], scope, depth + 1);
    }
  } else {
    statement = parseLaunch(json["launch"], scope);
  }
  return statement;
}

Statement KernelParser::parseLaunch(const JsonRef &json, NameScope scope) {
  Statement statement;
  statement.kind = Statement::Kind::Launch;
  statement.index = configuration->numLaunches++;
  statement.name = json.has("name") ? json["name"].string()
                                    : kernel.symbol + "." + std::to_string(statement.index);
  statement.grid = parseExprs(json["grid"], scope, 1, 5);
  scope.gridRank = static_cast<unsigned>(statement.grid.size());
  for (const JsonRef &variant : json["variants"].items()) {
    statement.variants.push_back(parseVariant(variant, scope));
  }
  return statement;
}

CostLet KernelParser::parseCostLet(const JsonRef &json, NameScope &scope) {
  CostLet let;
  let.type = parseDType(json["type"], true);
  let.expr = parseExpr(json["expr"], scope, dtypeKind(let.type));
  if (dtypeKind(let.type) != ValueKind::Float) {
    json["type"].fail("a name in a cost is a float");
  }
  let.index = configuration->numLets++;
  scope.lets[json["name"].string()] = {let.index, let.type};
  return let;
}

Variant KernelParser::parseVariant(const JsonRef &json, const NameScope &scope) {
  Variant variant;
  variant.entry = json["entry"].string();
  variant.name = json.has("name") ? json["name"].string() : variant.entry;
  variant.module = static_cast<unsigned>(
      json["module"].integer(0, static_cast<__int128>(manifest.modules.size()) - 1));
  if (json.hasValue("guard")) {
    variant.guard = parseExpr(json["guard"], scope, ValueKind::Bool);
  }
  if (json.hasValue("cost")) {
    NameScope own = scope;
    if (json.has("lets")) {
      for (const JsonRef &let : json["lets"].items()) {
        variant.lets.push_back(parseCostLet(let, own));
      }
    }
    variant.cost = parseExpr(json["cost"], own);
    if (variant.cost->kind == ValueKind::Bool) {
      json["cost"].fail("must be a number");
    }
  }
  variant.block = parseDim3(json["block"], 1024);
  if (json.hasValue("cluster")) {
    variant.cluster = parseDim3(json["cluster"], 16);
  }
  if (json.hasValue("blocks")) {
    variant.blocks = parseBlocks(json["blocks"], scope);
  }
  if (json.has("shared_bytes")) {
    variant.sharedBytes = json["shared_bytes"].as<uint32_t>();
  }
  if (json.hasValue("overlaps")) {
    variant.overlaps = json["overlaps"].boolean();
  }
  if (json.hasValue("precedes")) {
    variant.precedes = json["precedes"].boolean();
  }
  if (json.has("resources")) {
    const JsonRef used = json["resources"];
    auto read = [&](const char *name) {
      return used.hasValue(name) ? std::optional(used[name].as<uint32_t>()) : std::nullopt;
    };
    variant.staticSharedBytes = read("static_shared_bytes").value_or(0);
    variant.registers = read("registers");
    variant.spillBytes = read("spill_bytes");
  }
  if (json.has("tensor_maps")) {
    for (const JsonRef &map : json["tensor_maps"].items()) {
      variant.tensorMaps.push_back(parseMap(map, scope));
    }
  }
  if (json.has("checks")) {
    for (const JsonRef &place : json["checks"].items()) {
      variant.checks.push_back(parseCheckPlace(place));
    }
  }
  if (json.has("prints")) {
    for (const JsonRef &print : json["prints"].items()) {
      variant.prints.push_back(parsePrint(print));
    }
  }
  for (const JsonRef &parameter : json["params"].items()) {
    variant.params.push_back(parseParameter(parameter, scope, variant.tensorMaps.size()));
  }
  return variant;
}

CheckPlace KernelParser::parseCheckPlace(const JsonRef &json) {
  CheckPlace place;
  place.number = static_cast<unsigned>(json["number"].integer(0, 1 << 20));
  place.file = json["file"].string();
  place.line = json["line"].as<uint32_t>();
  place.column = json["column"].as<uint32_t>();
  place.text = json["text"].string();
  for (const JsonRef &type : json["values"].items()) {
    place.values.push_back(parseDType(type, false));
  }
  if (place.values.size() > TILE_FAILURE_VALUES) {
    json["values"].fail("a record has " + std::to_string(TILE_FAILURE_VALUES) + " values");
  }
  return place;
}

PrintText KernelParser::parsePrint(const JsonRef &json) {
  PrintText print;
  print.number = static_cast<unsigned>(json["number"].integer(0, 1 << 20));
  print.text = json["text"].string();
  for (const JsonRef &value : json["values"].items()) {
    PrintText::Shown shown{parseDType(value["type"], false), {}};
    if (value.has("shape")) {
      for (const JsonRef &extent : value["shape"].items()) {
        shown.shape.push_back(static_cast<uint32_t>(extent.integer(1, TILE_PRINT_MESSAGE_BYTES)));
      }
    }
    print.values.push_back(std::move(shown));
  }
  if (messageBytes(print) > TILE_PRINT_MESSAGE_BYTES) {
    json["values"].fail("a message has at most " + std::to_string(TILE_PRINT_MESSAGE_BYTES) +
                        " bytes");
  }
  return print;
}

Blocks KernelParser::parseBlocks(const JsonRef &json, const NameScope &scope) {
  Blocks blocks;
  blocks.kind = choice<Blocks::Kind>(json["kind"], {{"direct", Blocks::Kind::Direct},
                                                    {"persistent", Blocks::Kind::Persistent},
                                                    {"explicit", Blocks::Kind::Explicit}});
  if (blocks.kind == Blocks::Kind::Persistent) {
    blocks.perSm = static_cast<unsigned>(json["blocks_per_sm"].integer(1, 64));
  } else if (blocks.kind == Blocks::Kind::Explicit) {
    blocks.extents = parseExprs(json["extents"], scope, 3, 3);
  }
  return blocks;
}

unsigned KernelParser::findWorkspace(const JsonRef &json, const NameScope &scope) {
  auto found = scope.workspaces.find(json.string());
  if (found == scope.workspaces.end()) {
    json.fail("no workspace of the name `" + json.string() + "` here");
  }
  return found->second;
}

Parameter KernelParser::parseParameter(const JsonRef &json, const NameScope &scope,
                                       size_t numMaps) {
  Parameter parameter;
  if (json.has("tensor")) {
    parameter.kind = Parameter::Kind::Tensor;
    parameter.index = scope.argument(json["tensor"], json["tensor"].string(), true);
  } else if (json.has("workspace")) {
    parameter.kind = Parameter::Kind::Workspace;
    parameter.index = findWorkspace(json["workspace"], scope);
  } else if (json.has("tensor_map")) {
    parameter.kind = Parameter::Kind::TensorMap;
    parameter.index =
        static_cast<unsigned>(json["tensor_map"].integer(0, static_cast<__int128>(numMaps) - 1));
  } else if (json.has("check")) {
    parameter.kind =
        choice<Parameter::Kind>(json["check"], {{"record", Parameter::Kind::CheckRecord},
                                                {"base", Parameter::Kind::CheckBase}});
  } else if (json.has("print")) {
    parameter.kind =
        choice<Parameter::Kind>(json["print"], {{"buffer", Parameter::Kind::PrintBuffer},
                                                {"base", Parameter::Kind::PrintBase}});
  } else {
    parameter.type = parseDType(json["type"], true);
    parameter.expr = parseExpr(json["expr"], scope, dtypeKind(parameter.type));
  }
  return parameter;
}

TensorMap KernelParser::parseMap(const JsonRef &json, const NameScope &scope) {
  TensorMap map;
  map.ofWorkspace = json.has("workspace");
  map.index = map.ofWorkspace ? findWorkspace(json["workspace"], scope)
                              : scope.argument(json["tensor"], json["tensor"].string(), true);
  map.dtype = parseDType(json["dtype"], false);
  map.dims = parseExprs(json["dims"], scope, 1, 5);
  size_t rank = map.dims.size();
  map.strides = parseExprs(json["strides"], scope, rank - 1, rank - 1);
  map.offset = json.has("offset") ? parseExpr(json["offset"], scope, ValueKind::Int) : Expr();
  map.box = parseNumbers(json["box"], rank, 256);
  map.elementStrides = json.has("element_strides") ? parseNumbers(json["element_strides"], rank, 8)
                                                   : std::vector<uint32_t>(rank, 1);
  map.swizzle = json.has("swizzle") ? json["swizzle"].as<uint32_t>() : 0;
  if (map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 && map.swizzle != 128) {
    json["swizzle"].fail("must be 0, 32, 64 or 128");
  }
  map.l2Promotion = json.has("l2_promotion") ? json["l2_promotion"].as<uint32_t>() : 0;
  if (map.l2Promotion != 0 && map.l2Promotion != 64 && map.l2Promotion != 128 &&
      map.l2Promotion != 256) {
    json["l2_promotion"].fail("must be 0, 64, 128 or 256");
  }
  if (json.has("interleave")) {
    choice<int>(json["interleave"], {{"none", 0}});
  }
  map.nanFill = json.has("oob") && choice<bool>(json["oob"], {{"zero", false}, {"nan", true}});
  return map;
}

Parameters parseParams(const JsonRef &json) {
  Parameters params;
  if (json.has("params") && json["params"].raw().is_object()) {
    for (const auto &[name, value] : json["params"].raw().items()) {
      params.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return params;
}

std::vector<Check> KernelParser::parseChecks(const JsonRef &json) {
  std::vector<Check> checks;
  for (const JsonRef &item : json.items()) {
    checks.push_back({parseExpr(item["expr"], names, ValueKind::Bool), item["text"].string(),
                      item.has("diagnostic") ? item["diagnostic"].string() : "where-failed"});
  }
  return checks;
}

void KernelParser::parseConfiguration(const JsonRef &json) {
  configuration = &kernel.configurations.emplace_back();
  configuration->params = parseParams(json);
  if (json.has("checks")) {
    configuration->checks = parseChecks(json["checks"]);
  }
  configuration->host = parseBlock(json["host"], names, 0);
}

Preference KernelParser::parsePreference(const JsonRef &json) const {
  Preference preference;
  preference.configuration = static_cast<unsigned>(
      json["configuration"].integer(0, static_cast<__int128>(kernel.configurations.size()) - 1));
  const JsonRef ranges = json["ranges"];
  if (!ranges.raw().is_object()) {
    ranges.fail("expected ranges by name");
  }
  for (const auto &member : ranges.raw().items()) {
    const std::string &name = member.key();
    const JsonRef item = ranges[name.c_str()];
    if (item.size() != 2) {
      item.fail("expected the least and the greatest value");
    }
    Preference::Range range;
    range.least = item.at(0).as<int64_t>();
    range.most = item.at(1).as<int64_t>();
    auto dim = std::find_if(kernel.dims.begin(), kernel.dims.end(),
                            [&](const Dimension &one) { return one.name == name; });
    if (dim != kernel.dims.end()) {
      range.index = static_cast<unsigned>(dim - kernel.dims.begin());
    } else {
      range.isScalar = true;
      range.index = names.argument(item, name, false);
      if (dtypeKind(kernel.arguments[range.index].dtype) != ValueKind::Int) {
        item.fail("`" + name + "` is no integer");
      }
    }
    if (range.least > range.most) {
      item.fail("the least value is above the greatest");
    }
    preference.ranges.push_back(range);
  }
  if (json.has("rows")) {
    const auto &names = Preference::rowsNames;
    const auto name = std::find(names.begin(), names.end(), json["rows"].string());
    if (name == names.end()) {
      json["rows"].fail("not `aligned`, `words` or `any`");
    }
    preference.rows = Preference::Rows(name - names.begin());
  }
  return preference;
}

void KernelParser::parse(const JsonRef &json) {
  kernel.symbol = json["symbol"].string();
  kernel.source = json.has("source_kernel") ? json["source_kernel"].string() : kernel.symbol;
  kernel.params = parseParams(json);
  parseArgumentHeads(json["arguments"]);
  parseDims(json["dims"]);
  parseArgumentDetails(json["arguments"]);
  kernel.checks = parseChecks(json["checks"]);
  for (const JsonRef &item : json["configurations"].items()) {
    parseConfiguration(item);
  }
  if (kernel.configurations.empty()) {
    json["configurations"].fail("there must be one");
  }
  if (json.has("preferences")) {
    for (const JsonRef &item : json["preferences"].items()) {
      kernel.preferences.push_back(parsePreference(item));
    }
  }
}

Module parseModule(const JsonRef &json, uint64_t bodyBytes) {
  Module module;
  module.arch = json["arch"].string();
  module.kind = choice<Module::Kind>(json["kind"], {{"fatbin", Module::Kind::Fatbin},
                                                    {"cubin", Module::Kind::Cubin},
                                                    {"ptx", Module::Kind::Ptx}});
  module.offset = json["offset"].as<uint64_t>();
  module.bytes = json["bytes"].as<uint64_t>();
  auto check = [&](const JsonRef &part, uint64_t offset, uint64_t bytes) {
    if (offset > bodyBytes || bytes > bodyBytes - offset) {
      part.fail("the module lies outside the body");
    }
  };
  check(json, module.offset, module.bytes);
  if (json.hasValue("ptx")) {
    JsonRef ptx = json["ptx"];
    module.ptxOffset = ptx["offset"].as<uint64_t>();
    module.ptxBytes = ptx["bytes"].as<uint64_t>();
    check(ptx, module.ptxOffset, module.ptxBytes);
  }
  return module;
}
} // namespace

Manifest parseManifest(std::string_view text, uint64_t bodyBytes) {
  nlohmann::json document =
      nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) {
    failPack("the manifest is not JSON");
  }
  JsonRef root(document, "manifest");
  if (root["format"].integer() != TILE_MANIFEST_FORMAT) {
    root["format"].fail("this runtime reads format " + std::to_string(TILE_MANIFEST_FORMAT));
  }
  Manifest manifest;
  manifest.compiler = root.has("tilec") ? root["tilec"].string() : "";
  manifest.sourceHash = root.has("source_hash") ? root["source_hash"].string() : "";
  for (const JsonRef &module : root["modules"].items()) {
    manifest.modules.push_back(parseModule(module, bodyBytes));
  }
  std::set<std::string> symbols;
  for (const JsonRef &item : root["kernels"].items()) {
    Kernel kernel;
    KernelParser(manifest, kernel).parse(item);
    if (!symbols.insert(kernel.symbol).second) {
      item.fail("two kernels are called `" + kernel.symbol + "`");
    }
    manifest.kernels.push_back(std::move(kernel));
  }
  return manifest;
}

PackParts splitPack(std::string_view bytes) {
  tile_pack_header header;
  if (bytes.size() < sizeof(header)) {
    failPack("shorter than its header");
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, TILE_PACK_MAGIC, TILE_PACK_MAGIC_BYTES) != 0) {
    failPack("it does not begin with " TILE_PACK_MAGIC);
  }
  if (header.version != TILE_PACK_VERSION) {
    failPack("its format version is " + std::to_string(header.version) + ", this runtime reads " +
             std::to_string(TILE_PACK_VERSION));
  }
  uint64_t rest = bytes.size() - sizeof(header);
  if (header.manifest_bytes > rest) {
    failPack("the manifest is cut short");
  }
  uint64_t end = sizeof(header) + header.manifest_bytes;
  uint64_t body = (end + TILE_PACK_ALIGN - 1) / TILE_PACK_ALIGN * TILE_PACK_ALIGN;
  if (body > bytes.size() || bytes.size() - body != header.body_bytes) {
    failPack("the size of the file is not what its header says");
  }
  return {bytes.substr(sizeof(header), header.manifest_bytes), bytes.substr(body)};
}

} // namespace tile_rt
