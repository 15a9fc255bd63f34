#include "compiler/benchmark/BenchReport.h"

#include "compiler/basic/NumberText.h"
#include "compiler/benchmark/BenchLimits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

namespace tilec {

static constexpr int64_t formatVersion = 1;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
bool readPositive(const json::Value &value, double &number, json::Path path) {
  if (!json::fromJSON(value, number, path)) {
    return false;
  }
  if (!std::isfinite(number) || number <= 0) {
    path.report("expected a number above 0");
    return false;
  }
  return true;
}

class ObjectReader {
public:
  ObjectReader(const json::Value &value, json::Path path)
      : path(path), object(value.getAsObject()) {
    if (!object) {
      path.report("expected an object");
    }
  }
  bool isObject() const { return object != nullptr; }
  const json::Value *find(StringRef name) const { return object->get(name); }
  json::Path at(StringRef name) const { return path.field(name); }

  bool text(StringRef name, std::string &into) const {
    const json::Value *value = object->get(name);
    if (!value) {
      path.field(name).report("expected a string");
      return false;
    }
    return json::fromJSON(*value, into, path.field(name));
  }
  /// False only for what is there and wrong.
  bool optionalText(StringRef name, std::string &into) const {
    return !object->get(name) || text(name, into);
  }
  bool number(StringRef name, double &into) const {
    const json::Value *value = object->get(name);
    if (!value) {
      path.field(name).report("expected a number above 0");
      return false;
    }
    return readPositive(*value, into, path.field(name));
  }
  bool optionalNumber(StringRef name, double &into) const {
    return !object->get(name) || number(name, into);
  }
  bool optionalNumber(StringRef name, std::optional<double> &into) const {
    return !object->get(name) || number(name, into.emplace());
  }
  /// `median_us` and `half_us`.
  bool time(BenchTime &time) const {
    if (!number("median_us", time.median)) {
      return false;
    }
    const json::Value *half = object->get("half_us");
    const json::Array *bounds = half ? half->getAsArray() : nullptr;
    if (!bounds || bounds->size() != 2) {
      path.field("half_us").report("expected two numbers");
      return false;
    }
    if (!readPositive((*bounds)[0], time.lower, path.field("half_us").index(0)) ||
        !readPositive((*bounds)[1], time.upper, path.field("half_us").index(1))) {
      return false;
    }
    if (time.lower > time.median || time.median > time.upper) {
      path.field("half_us").report("expected the median between them");
      return false;
    }
    return true;
  }

private:
  json::Path path;
  const json::Object *object;
};

bool readPeer(const json::Value &value, BenchPeer &peer, json::Path path) {
  ObjectReader reader(value, path);
  if (!reader.isObject() || !reader.text("name", peer.name) ||
      !reader.optionalText("note", peer.note)) {
    return false;
  }
  if (reader.find("median_us")) {
    const json::Value *error = reader.find("error");
    return reader.time(peer.time.emplace()) &&
           (!error || json::fromJSON(*error, peer.error, reader.at("error")));
  }
  return true;
}

bool readRow(const json::Value &value, BenchRow &row, json::Path path) {
  ObjectReader reader(value, path);
  if (!reader.isObject()) {
    return false;
  }
  double launches = 0;
  bool isGood =
      reader.text("kernel", row.kernel) && reader.text("case", row.call) && reader.time(row.time) &&
      reader.number("launches", launches) && reader.optionalNumber("flops", row.flops) &&
      reader.optionalNumber("bytes", row.bytes) && reader.optionalText("rate", row.rate) &&
      reader.optionalNumber("sm_mhz", row.megahertz) && reader.optionalNumber("watts", row.watts) &&
      reader.optionalText("sensor_note", row.sensorNote);
  row.launches = unsigned(std::min(launches, 4e9));
  if (const json::Value *variants = isGood ? reader.find("variants") : nullptr) {
    isGood = json::fromJSON(*variants, row.variants, reader.at("variants"));
  }
  if (const json::Value *peer = isGood ? reader.find("baseline") : nullptr) {
    isGood = readPeer(*peer, row.peer.emplace(), reader.at("baseline"));
  }
  return isGood;
}

bool readReport(const json::Value &value, BenchReport &report, json::Path path) {
  ObjectReader reader(value, path);
  if (!reader.isObject()) {
    return false;
  }
  const json::Value *version = reader.find("format");
  if (!version || version->getAsInteger() != formatVersion) {
    reader.at("format").report("expected 1");
    return false;
  }
  double capability = 0, multiprocessors = 0;
  if (!reader.text("source", report.source) || !reader.text("source_hash", report.sourceHash) ||
      !reader.text("arch", report.arch) || !reader.text("tilec", report.compiler) ||
      !reader.text("device", report.device) || !reader.text("driver", report.driver) ||
      !reader.number("capability", capability) ||
      !reader.number("multiprocessors", multiprocessors)) {
    return false;
  }
  report.capability = int(std::min(capability, 1e6));
  report.multiprocessors = unsigned(std::min(multiprocessors, 1e6));
  const json::Value *rows = reader.find("rows");
  const json::Array *list = rows ? rows->getAsArray() : nullptr;
  if (!list) {
    reader.at("rows").report("expected a list");
    return false;
  }
  for (auto [i, row] : enumerate(*list)) {
    if (!readRow(row, report.rows.emplace_back(), reader.at("rows").index(unsigned(i)))) {
      return false;
    }
  }
  return true;
}
} // namespace

Expected<BenchReport> parseBenchReport(StringRef text) {
  Expected<json::Value> value = json::parse(text);
  if (!value) {
    return value.takeError();
  }
  json::Path::Root root;
  BenchReport report;
  if (!readReport(*value, report, root)) {
    return root.getError();
  }
  return report;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string quoted(StringRef text) {
  std::string result;
  raw_string_ostream(result) << json::Value(json::fixUTF8(text));
  return result;
}

namespace {
/// `"a": 1, "b": "x"`.
class Fields {
public:
  Fields &text(StringRef name, StringRef value) { return raw(name, quoted(value)); }
  Fields &number(StringRef name, double value) { return raw(name, numberText(value)); }
  Fields &time(const BenchTime &time) {
    number("median_us", time.median);
    return raw("half_us", "[" + numberText(time.lower) + "," + numberText(time.upper) + "]");
  }
  Fields &raw(StringRef name, StringRef value) {
    all += (all.empty() ? "" : ", ") + quoted(name) + ": " + value.str();
    return *this;
  }
  std::string str() const { return all; }

private:
  std::string all;
};
} // namespace

static std::string rowText(const BenchReport &report, const BenchRow &row) {
  Fields fields;
  std::string variants;
  for (const std::string &variant : row.variants) {
    variants += (variants.empty() ? "" : ",") + quoted(variant);
  }
  fields.text("kernel", row.kernel).text("case", row.call).time(row.time);
  fields.number("launches", row.launches).raw("variants", "[" + variants + "]");
  if (row.flops) {
    fields.number("flops", *row.flops).text("rate", row.rate);
    fields.raw("tflops", formatv("{0:f2}", *row.flops / row.time.median * 1e-6).str());
  }
  if (row.bytes) {
    fields.number("bytes", *row.bytes);
    fields.raw("gbs", formatv("{0:f1}", *row.bytes / row.time.median * 1e-3).str());
  }
  if (std::optional<BenchLimit> limit = limitOf(report, row)) {
    fields.raw("limit_us", formatv("{0:f3}", limit->microseconds).str());
    fields.text("bound", limit->bound);
    fields.raw("share", formatv("{0:f4}", limit->microseconds / row.time.median).str());
  }
  if (row.peer) {
    Fields peer;
    peer.text("name", row.peer->name);
    if (!row.peer->note.empty()) {
      peer.text("note", row.peer->note);
    }
    if (row.peer->time) {
      peer.time(*row.peer->time).number("error", row.peer->error);
    }
    fields.raw("baseline", "{" + peer.str() + "}");
  }
  if (row.megahertz > 0) {
    fields.number("sm_mhz", row.megahertz);
  }
  if (row.watts > 0) {
    fields.number("watts", row.watts);
  }
  if (!row.sensorNote.empty()) {
    fields.text("sensor_note", row.sensorNote);
  }
  return "{" + fields.str() + "}";
}

std::string printBenchReport(const BenchReport &report) {
  std::string text = "{\n  \"format\": " + std::to_string(formatVersion);
  for (auto [name, value] :
       {std::pair("source", &report.source), std::pair("source_hash", &report.sourceHash),
        std::pair("arch", &report.arch), std::pair("tilec", &report.compiler),
        std::pair("device", &report.device), std::pair("driver", &report.driver)}) {
    text += ",\n  " + quoted(name) + ": " + quoted(*value);
  }
  text += ",\n  \"capability\": " + std::to_string(report.capability);
  text += ",\n  \"multiprocessors\": " + std::to_string(report.multiprocessors);
  text += ",\n  \"rows\": [";
  for (auto [i, row] : enumerate(report.rows)) {
    text += (i == 0 ? "\n    " : ",\n    ") + rowText(report, row);
  }
  return text + "\n  ]\n}\n";
}

} // namespace tilec
