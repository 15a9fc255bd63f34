#include "compiler/driver/TuneFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <set>
#include <tuple>

using namespace llvm;

namespace tilec {

static constexpr int64_t formatVersion = 1;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Numbers, truth values and texts, as they stand in the source.
bool readParameters(const json::Value &value, ParameterTexts &params, json::Path path) {
  const json::Object *object = value.getAsObject();
  if (!object) {
    path.report("expected an object");
    return false;
  }
  for (const auto &[name, item] : *object) {
    std::string text;
    if (auto string = item.getAsString()) {
      text = string->str();
    } else if (auto number = item.getAsInteger()) {
      text = std::to_string(*number);
    } else if (auto truth = item.getAsBoolean()) {
      text = *truth ? "true" : "false";
    } else {
      path.field(name).report("expected a number, a truth value or a string");
      return false;
    }
    params[name.str()] = std::move(text);
  }
  return true;
}

bool readTime(const json::Value &value, double &time, json::Path path) {
  if (!json::fromJSON(value, time, path)) {
    return false;
  }
  if (!std::isfinite(time) || time <= 0) {
    path.report("expected a time");
    return false;
  }
  return true;
}

bool readRow(const json::Value &value, TuneRow &row, json::Path path) {
  const json::Object *object = value.getAsObject();
  json::ObjectMapper mapper(value, path);
  std::vector<double> half;
  if (!mapper || !mapper.map("shape", row.shape) || !mapper.map("variants", row.variants) ||
      !mapper.map("spread_us", half)) {
    return false;
  }
  if (half.size() != 2 || !std::isfinite(half[0]) || !std::isfinite(half[1])) {
    path.field("spread_us").report("expected two times");
    return false;
  }
  row.lower = half[0];
  row.upper = half[1];
  for (const char *needed : {"params", "median_us"}) {
    if (!object->get(needed)) {
      path.field(needed).report("missing value");
      return false;
    }
  }
  return readParameters(*object->get("params"), row.params, path.field("params")) &&
         readTime(*object->get("median_us"), row.median, path.field("median_us"));
}

bool readGroup(const json::Value &value, TuneGroup &group, json::Path path) {
  json::ObjectMapper mapper(value, path);
  if (!mapper || !mapper.map("kernel", group.kernel) || !mapper.map("arch", group.arch) ||
      !mapper.map("device", group.device) || !mapper.map("driver", group.driver) ||
      !mapper.map("tilec", group.compiler) || !mapper.map("source_hash", group.sourceHash)) {
    return false;
  }
  const json::Object &object = *value.getAsObject();
  if (const json::Value *params = object.get("params");
      params && !readParameters(*params, group.params, path.field("params"))) {
    return false;
  }
  const json::Array *rows = object.getArray("rows");
  if (!rows) {
    path.field("rows").report("expected an array");
    return false;
  }
  for (const auto &[i, row] : enumerate(*rows)) {
    if (!readRow(row, group.rows.emplace_back(), path.field("rows").index(unsigned(i)))) {
      return false;
    }
  }
  return true;
}

bool readFile(const json::Value &value, TuneFile &file, json::Path path) {
  int64_t version = 0;
  json::ObjectMapper mapper(value, path);
  if (!mapper || !mapper.map("format", version)) {
    return false;
  }
  if (version != formatVersion) {
    path.field("format").report("this tilec reads format 1");
    return false;
  }
  const json::Array *groups = value.getAsObject()->getArray("measurements");
  if (!groups) {
    path.field("measurements").report("expected an array");
    return false;
  }
  for (const auto &[i, group] : enumerate(*groups)) {
    if (!readGroup(group, file.groups.emplace_back(),
                   path.field("measurements").index(unsigned(i)))) {
      return false;
    }
  }
  return true;
}
} // namespace

Expected<TuneFile> parseTuneFile(StringRef text) {
  Expected<json::Value> value = json::parse(text);
  if (!value) {
    return value.takeError();
  }
  TuneFile file;
  json::Path::Root root("tune file");
  if (!readFile(*value, file, root)) {
    return root.getError();
  }
  return file;
}

std::optional<TuneFile> readTuneFile(StringRef path, DiagnosticEngine &diags) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer) {
    diags.report(diag::Id::FileRead, SMRange(), path, buffer.getError().message());
    return std::nullopt;
  }
  Expected<TuneFile> file = parseTuneFile((*buffer)->getBuffer());
  if (!file) {
    diags.report(diag::Id::TuneFile, SMRange(), path, toString(file.takeError()));
    return std::nullopt;
  }
  return std::move(*file);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static json::Value valueOf(const std::string &text) {
  int64_t number = 0;
  if (!StringRef(text).getAsInteger(10, number) && std::to_string(number) == text) {
    return number;
  }
  return text;
}

static std::string printParameters(const ParameterTexts &params) {
  json::Object object;
  for (const auto &[name, text] : params) {
    object[name] = valueOf(text);
  }
  std::string result;
  raw_string_ostream(result) << json::Value(std::move(object));
  return result;
}

/// In steps of a nanosecond, which is less than events tell.
static double rounded(double microseconds) { return std::round(microseconds * 1e3) / 1e3; }

static void printRow(const TuneRow &row, raw_ostream &os) {
  json::Object shape;
  for (const auto &[name, extent] : row.shape) {
    shape[name] = extent;
  }
  os << "{\"shape\": " << json::Value(std::move(shape))
     << ", \"params\": " << printParameters(row.params)
     << ", \"variants\": " << json::Value(json::Array(row.variants))
     << ", \"median_us\": " << json::Value(rounded(row.median))
     << ", \"spread_us\": " << json::Value(json::Array{rounded(row.lower), rounded(row.upper)})
     << "}";
}

static auto keyOf(const TuneGroup &group) {
  return std::tie(group.kernel, group.params, group.arch, group.device, group.sourceHash,
                  group.compiler, group.driver);
}

std::string printTuneFile(TuneFile file) {
  sort(file.groups, [](const auto &a, const auto &b) { return keyOf(a) < keyOf(b); });
  std::string text;
  raw_string_ostream os(text);
  os << "{\n  \"format\": " << formatVersion << ",\n  \"measurements\": [";
  for (const auto &[i, group] : enumerate(file.groups)) {
    os << (i == 0 ? "\n" : ",\n") << "    {\n      \"kernel\": " << json::Value(group.kernel)
       << ",\n      \"params\": " << printParameters(group.params)
       << ",\n      \"arch\": " << json::Value(group.arch)
       << ",\n      \"device\": " << json::Value(group.device)
       << ",\n      \"driver\": " << json::Value(group.driver)
       << ",\n      \"tilec\": " << json::Value(group.compiler)
       << ",\n      \"source_hash\": " << json::Value(group.sourceHash) << ",\n      \"rows\": [";
    // The fastest of a shape first.
    sort(group.rows, [](const TuneRow &a, const TuneRow &b) {
      return std::tie(a.shape, a.median, a.params) < std::tie(b.shape, b.median, b.params);
    });
    for (const auto &[number, row] : enumerate(group.rows)) {
      os << (number == 0 ? "\n        " : ",\n        ");
      printRow(row, os);
    }
    os << "\n      ]\n    }";
  }
  os << "\n  ]\n}\n";
  return text;
}

void mergeTuneGroup(TuneFile &file, const TuneGroup &added) {
  erase_if(file.groups,
           [&](const TuneGroup &group) { return group.sourceHash != added.sourceHash; });
  TuneGroup merged = added;
  std::set<std::pair<Shape, ParameterTexts>> measured;
  for (const TuneRow &row : added.rows) {
    measured.emplace(row.shape, row.params);
  }
  auto isNew = [&](const TuneRow &row) { return measured.count({row.shape, row.params}) != 0; };
  for (const TuneGroup &group : file.groups) {
    if (keyOf(group) == keyOf(added)) {
      copy_if(group.rows, std::back_inserter(merged.rows),
              [&](const TuneRow &row) { return !isNew(row); });
    }
  }
  // A newer driver or compiler takes the place of an older one, row by row.
  erase_if(file.groups, [&](const TuneGroup &group) { return keyOf(group) == keyOf(added); });
  for (TuneGroup &group : file.groups) {
    if (group.kernel == added.kernel && group.params == added.params && group.arch == added.arch &&
        group.device == added.device) {
      erase_if(group.rows, isNew);
    }
  }
  erase_if(file.groups, [](const TuneGroup &group) { return group.rows.empty(); });
  file.groups.push_back(std::move(merged));
}

} // namespace tilec
