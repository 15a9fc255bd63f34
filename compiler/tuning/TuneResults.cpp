#include "compiler/tuning/TuneResults.h"

#include "compiler/basic/Files.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

namespace tilec {

static std::string textOf(const json::Object &object, StringRef key) {
  return object.getString(key).value_or("").str();
}

/// Nothing if the line is none of ours.
static std::optional<TuneRecord> readRecord(const json::Object &object) {
  std::optional<bool> ok = object.getBoolean("ok");
  if (!ok) {
    return std::nullopt;
  }
  TuneRecord record;
  record.ok = *ok;
  record.text = textOf(object, "text");
  record.device = textOf(object, "device");
  record.driver = textOf(object, "driver");
  if (const json::Array *variants = object.getArray("variants")) {
    for (const json::Value &variant : *variants) {
      record.variants.push_back(variant.getAsString().value_or("").str());
    }
  }
  const json::Object *times = object.getObject("microseconds");
  const json::Array *half = times ? times->getArray("half") : nullptr;
  if (record.ok && (!half || half->size() != 2 || record.device.empty())) {
    return std::nullopt; // right, but not timed
  }
  if (record.ok) {
    record.median = times->getNumber("median").value_or(0);
    record.lower = (*half)[0].getAsNumber().value_or(0);
    record.upper = (*half)[1].getAsNumber().value_or(0);
    if (!(record.median > 0)) {
      record.ok = false;
      record.text = "it took no time";
    } else if (!(record.lower >= 0 && record.upper >= record.lower) ||
               !std::isfinite(record.median) || !std::isfinite(record.upper)) {
      return std::nullopt; // no times: the line is damaged
    }
  }
  return record;
}

uint64_t forEachResult(StringRef path, uint64_t from,
                       function_ref<void(StringRef, StringRef, const json::Object &)> take) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
  StringRef text = file ? (*file)->getBuffer() : StringRef();
  if (from > text.size()) {
    return from;
  }
  const uint64_t end =
      std::max<uint64_t>(from, text.rfind('\n') + 1); // what has no end does not count
  SmallVector<StringRef> lines;
  text.slice(from, end).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    Expected<json::Value> value = json::parse(line);
    if (!value) {
      consumeError(value.takeError());
      continue;
    }
    const json::Object *object = value->getAsObject();
    std::optional<StringRef> name = object ? object->getString("case") : std::nullopt;
    if (name && object->getBoolean("ok")) {
      take(line, *name, *object);
    }
  }
  return end;
}

std::map<std::string, TuneRecord> readRecords(StringRef path, uint64_t &from) {
  std::map<std::string, TuneRecord> records;
  from = forEachResult(path, from, [&](StringRef, StringRef name, const json::Object &object) {
    if (std::optional<TuneRecord> record = readRecord(object)) {
      records[name.str()] = std::move(*record);
    }
  });
  return records;
}

std::map<std::string, TuneRecord> readRecords(StringRef path) {
  uint64_t from = 0;
  return readRecords(path, from);
}

bool dropFailures(StringRef path) {
  std::string kept;
  bool fails = false;
  forEachResult(path, 0, [&](StringRef line, StringRef, const json::Object &object) {
    const std::optional<TuneRecord> record = readRecord(object);
    fails = fails || (record && !record->ok);
    kept += record && record->ok ? line.str() + "\n" : "";
  });
  if (!fails) {
    return true;
  }
  return !replaceFile(path, kept);
}

bool addFailure(StringRef path, StringRef name, StringRef text) {
  bool isTorn = false;
  if (auto file = MemoryBuffer::getFile(path)) {
    StringRef before = (*file)->getBuffer();
    isTorn = !before.empty() && before.back() != '\n';
  }
  std::error_code error;
  raw_fd_ostream os(path, error, sys::fs::OF_Append);
  if (!error) {
    os << (isTorn ? "\n" : "")
       << json::Value(json::Object{{"case", name}, {"ok", false}, {"text", json::fixUTF8(text)}})
       << "\n";
    os.close();
    error = os.error();
    os.clear_error();
  }
  return !error;
}

} // namespace tilec
