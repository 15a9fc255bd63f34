#include "Failures.h"

#include "../support/Bits.h"
#include "../support/ValueText.h"

#include <algorithm>
#include <cstring>

namespace tile_rt {

namespace {
std::string fillIn(const CheckPlace &place, const uint64_t *values) {
  std::string text;
  size_t next = 0;
  for (size_t i = 0; i < place.text.size(); ++i) {
    if (place.text.compare(i, 2, "{}") == 0 && next < place.values.size()) {
      appendValue(text, place.values[next], values[next]);
      ++next;
      ++i;
    } else {
      text += place.text[i];
    }
  }
  return text;
}
} // namespace

std::string keyOf(const std::vector<CheckPlace> &places) {
  std::string key;
  for (const CheckPlace &place : places) {
    key += std::to_string(place.number) + ' ' + place.file + ' ' + std::to_string(place.line) +
           ' ' + std::to_string(place.column) + ' ' + std::to_string(place.text.size()) + ' ' +
           place.text;
    for (DType type : place.values) {
      key += ' ' + std::to_string(static_cast<int>(type));
    }
    key += '\n';
  }
  return key;
}

std::string describeFailure(const tile_failure_record &record, const CheckPlace *place) {
  std::string text = place ? place->file + ":" + std::to_string(place->line) + ":" +
                                 std::to_string(place->column) +
                                 ": error: " + fillIn(*place, record.values)
                           : "a check failed at a place that is not known";
  return text + " (block " + std::to_string(record.block) + ", thread " +
         std::to_string(record.thread) + ")";
}

void Failures::open(const Driver &from, cu::Context of) {
  driver = &from;
  context = of;
}

void Failures::close() {
  if (!record) {
    return;
  }
  // A driver that is shutting down refuses: nothing is left to free.
  if (driver->ctxPush(context) == 0) {
    cu::Context popped = nullptr;
    driver->hostFree(record);
    driver->ctxPop(&popped);
  }
  record = nullptr;
  isOpen = false;
}

uint64_t Failures::address() {
  std::lock_guard<std::mutex> lock(mutex);
  if (record) {
    return deviceAddress;
  }
  void *memory = nullptr;
  driver->check(driver->hostAlloc(&memory, sizeof(tile_failure_record),
                                  cu::kHostAllocPortable | cu::kHostAllocDeviceMap),
                "allocating the record of failed checks");
  std::memset(memory, 0, sizeof(tile_failure_record));
  if (cu::Result result = driver->hostGetDevicePointer(&deviceAddress, memory, 0)) {
    driver->hostFree(memory);
    driver->check(result, "cuMemHostGetDevicePointer");
  }
  record = static_cast<tile_failure_record *>(memory);
  isOpen = true;
  return deviceAddress;
}

uint32_t Failures::add(const std::vector<CheckPlace> &list) {
  std::lock_guard<std::mutex> lock(mutex);
  return places.add(list);
}

void Failures::check() {
  if (!isOpen) {
    return; // no kernel checks: nothing to lock
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (loadAcquire(record->complete) == 0) {
    return;
  }
  // Its writer is done. Others may be trying to claim it, so `claimed` is not read; they write the rest
  // only after they have claimed it.
  tile_failure_record copy{};
  copy.place = record->place;
  copy.block = record->block;
  copy.thread = record->thread;
  std::copy(std::begin(record->values), std::end(record->values), copy.values);
  storeRelaxed(record->complete, 0u);
  storeRelease(record->claimed, 0u);
  throw Error(TILE_ERROR_CHECK, describeFailure(copy, places.find(copy.place)));
}

} // namespace tile_rt
