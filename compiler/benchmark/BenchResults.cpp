#include "compiler/benchmark/BenchResults.h"

#include "compiler/tuning/TuneResults.h"

using namespace llvm;

namespace tilec {

static std::string textOf(const json::Object &object, StringRef key) {
  return object.getString(key).value_or("").str();
}

/// Nothing where there are no times, or none that mean anything.
static std::optional<BenchTime> timeOf(const json::Object &object) {
  const json::Object *times = object.getObject("microseconds");
  const json::Array *half = times ? times->getArray("half") : nullptr;
  if (!half || half->size() != 2) {
    return std::nullopt;
  }
  const BenchTime time{times->getNumber("median").value_or(0), (*half)[0].getAsNumber().value_or(0),
                       (*half)[1].getAsNumber().value_or(0)};
  const bool isTime = time.lower > 0 && time.lower <= time.median && time.median <= time.upper;
  return isTime ? std::optional(time) : std::nullopt;
}

static BenchRecord recordOf(const json::Object &object) {
  BenchRecord record;
  record.ok = object.getBoolean("ok").value_or(false);
  record.text = textOf(object, "text");
  record.device = textOf(object, "device");
  record.driver = textOf(object, "driver");
  record.capability = int(object.getInteger("capability").value_or(0));
  record.multiprocessors = unsigned(object.getInteger("multiprocessors").value_or(0));
  BenchRow &row = record.row;
  if (const json::Array *variants = object.getArray("variants")) {
    for (const json::Value &variant : *variants) {
      row.variants.push_back(variant.getAsString().value_or("").str());
    }
  }
  row.launches = unsigned(object.getInteger("launches").value_or(0));
  std::optional<BenchTime> time = timeOf(object);
  if (record.ok && (!time || record.device.empty() || record.capability <= 0 ||
                    record.multiprocessors == 0 || row.launches == 0)) {
    record.ok = false;
    record.text = "it took no time";
  }
  row.time = time.value_or(BenchTime());
  if (const json::Object *peer = object.getObject("baseline")) {
    row.peer = {textOf(*peer, "name"), textOf(*peer, "note"), timeOf(*peer),
                peer->getNumber("error").value_or(0)};
  }
  if (const json::Object *sensors = object.getObject("sensors")) {
    row.megahertz = sensors->getNumber("megahertz").value_or(0);
    row.watts = sensors->getNumber("watts").value_or(0);
    row.sensorNote = textOf(*sensors, "note");
  }
  return record;
}

std::map<std::string, BenchRecord> readBenchRecords(StringRef path) {
  std::map<std::string, BenchRecord> records;
  forEachResult(path, 0, [&](StringRef, StringRef name, const json::Object &object) {
    records[name.str()] = recordOf(object);
  });
  return records;
}

} // namespace tilec
