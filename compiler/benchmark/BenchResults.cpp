#include "compiler/benchmark/BenchResults.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

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
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
  SmallVector<StringRef> lines;
  if (file) {
    (*file)->getBuffer().split(lines, '\n');
  }
  if (!lines.empty()) {
    lines.pop_back(); // what has no end
  }
  for (StringRef line : lines) {
    Expected<json::Value> value = json::parse(line);
    if (!value) {
      consumeError(value.takeError());
      continue;
    }
    const json::Object *object = value->getAsObject();
    std::optional<StringRef> name = object ? object->getString("case") : std::nullopt;
    if (name && object->getBoolean("ok")) {
      records[name->str()] = recordOf(*object);
    }
  }
  return records;
}

} // namespace tilec
