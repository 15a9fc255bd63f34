#include "Checker.h"

namespace tile_emu {

/// What makes two reports the same one: the kind and the instructions; the message only where there
/// are none.
static std::string placeOf(const Report &report) {
  std::string key = std::to_string(int(report.kind));
  for (const Party &party : report.parties) {
    key += "|" + std::to_string(party.ptxLine) + party.what;
  }
  return report.parties.empty() ? key + "|" + report.message : key;
}

size_t ReportSink::add(Report report) {
  auto [it, isNew] = byPlace.try_emplace(placeOf(report), kDropped);
  if (isNew && list.size() < limit) {
    it->second = list.size();
    list.push_back(std::move(report));
    return it->second;
  }
  repeat(it->second);
  return it->second;
}

void ReportSink::repeat(size_t index) {
  ++dropped;
  if (index < list.size()) {
    ++list[index].count;
  }
}

void ReportSink::exitsLast() {
  std::vector<Report> ordered;
  for (bool exits : {false, true}) {
    for (Report &report : list) {
      if ((report.kind == Report::Kind::Exit) == exits) {
        ordered.push_back(std::move(report));
      }
    }
  }
  list = std::move(ordered);
  for (size_t i = 0; i < list.size(); ++i) {
    byPlace[placeOf(list[i])] = i;
  }
}

void ReportSink::clear() {
  list.clear();
  byPlace.clear();
  dropped = 0;
}

} // namespace tile_emu
