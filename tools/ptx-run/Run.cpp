#include "tools/ptx-run/Run.h"

#include <cstring>
#include <stdexcept>

namespace tile_ptx {

using namespace tile_emu;

namespace {

using Addresses = std::map<std::string, uint64_t>;

uint64_t addressOf(const Addresses &addresses, const std::string &name) {
  auto found = addresses.find(name);
  if (found == addresses.end()) {
    throw std::runtime_error("no buffer " + name);
  }
  return found->second;
}

Bytes encode(const Parameter &parameter, const Addresses &addresses) {
  if (const auto *bytes = std::get_if<Bytes>(&parameter)) {
    return *bytes;
  }
  if (const auto *map = std::get_if<MapParameter>(&parameter)) {
    TensorMapRecipe recipe = map->recipe;
    recipe.base += addressOf(addresses, map->buffer);
    auto encoded = encodeTensorMap(recipe);
    return {encoded.begin(), encoded.end()};
  }
  uint64_t address = addressOf(addresses, std::get<std::string>(parameter));
  Bytes bytes(sizeof address);
  std::memcpy(bytes.data(), &address, sizeof address);
  return bytes;
}

} // namespace

Outcome run(const std::string &ptx, const Description &description, const Options &options) {
  Emulator emulator(options);
  auto module = emulator.load(ptx);
  Addresses addresses;
  for (const Buffer &buffer : description.buffers) {
    uint64_t size = buffer.contents.size();
    uint64_t address = emulator.allocate(size, buffer.name);
    addresses[buffer.name] = address;
    emulator.write(address, buffer.contents.data(), size);
    if (!buffer.defined && size) {
      emulator.undefine(address, size, buffer.contents[0]);
    }
  }
  Outcome outcome;
  outcome.ended = true;
  for (const Launch &launch : description.launches) {
    Emulator::Launch config{launch.entry,       launch.grid, launch.block,   launch.cluster,
                            launch.sharedBytes, {},          launch.overlaps};
    for (const Parameter &parameter : launch.params) {
      config.params.push_back(encode(parameter, addresses));
    }
    outcome.ended = outcome.ended && emulator.launch(*module, config);
    outcome.steps += emulator.steps();
  }
  for (const Buffer &buffer : description.buffers) {
    if (buffer.isResult) {
      size_t at = outcome.answer.size();
      outcome.answer.resize(at + buffer.contents.size());
      emulator.read(addresses[buffer.name], outcome.answer.data() + at, buffer.contents.size());
    }
    Emulator::Unwritten none =
        buffer.isResult ? emulator.unwritten(addresses[buffer.name]) : Emulator::Unwritten{};
    if (none.bytes) {
      outcome.unwritten.push_back(buffer.name + ": " + std::to_string(none.bytes) + " of " +
                                  std::to_string(buffer.contents.size()) +
                                  " bytes were never written, the first at byte " +
                                  std::to_string(none.first));
    }
  }
  outcome.reports = emulator.reports();
  outcome.text = emulator.describe();
  outcome.profile = options.profile ? emulator.profileTable() : "";
  return outcome;
}

} // namespace tile_ptx
