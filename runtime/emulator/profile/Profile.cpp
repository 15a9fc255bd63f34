#include "Profile.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tile_emu {

namespace {

constexpr unsigned kBanks = 32, kBankBytes = 4, kRequestBytes = kBanks * kBankBytes;
constexpr unsigned kSectorBytes = 32;

struct Passes {
  uint64_t needed = 0, ideal = 0;
};

/// Lanes that are served together: one pass for every word that a bank holds more than the others.
Passes passesOf(const uint64_t *addresses, uint32_t lanes, unsigned bytes) {
  std::vector<uint64_t> words;
  for (uint32_t m = lanes; m; m &= m - 1) {
    unsigned i = unsigned(std::countr_zero(m));
    for (uint64_t word = addresses[i] / kBankBytes; word <= (addresses[i] + bytes - 1) / kBankBytes;
         ++word) {
      words.push_back(word);
    }
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<uint64_t, kBanks> perBank{};
  for (uint64_t word : words) {
    ++perBank[word % kBanks];
  }
  return {*std::max_element(perBank.begin(), perBank.end()), (words.size() + kBanks - 1) / kBanks};
}

} // namespace

void InstructionCounts::add(const InstructionCounts &other) {
  warps += other.warps;
  lanes += other.lanes;
  sharedWavefronts += other.sharedWavefronts;
  idealWavefronts += other.idealWavefronts;
  globalRequests += other.globalRequests;
  globalSectors += other.globalSectors;
  idealSectors += other.idealSectors;
  copiedBytes += other.copiedBytes;
  multiplyAdds += other.multiplyAdds;
}

InstructionCounts &Profile::countsOf(const ptx::Instruction *instruction) {
  if (instruction != last || !lastCounts) {
    last = instruction;
    lastCounts = &byInstruction[instruction]; // stays where it is
  }
  return *lastCounts;
}

void Profile::shared(const ptx::Instruction *instruction, const uint64_t *addresses, uint32_t lanes,
                     unsigned bytes) {
  if (!enabled || lanes == 0 || bytes == 0) {
    return;
  }
  unsigned together = std::clamp(kRequestBytes / bytes, 1u, 32u);
  uint32_t group = together == 32 ? ~0u : (1u << together) - 1;
  InstructionCounts &counts = countsOf(instruction);
  for (unsigned from = 0; from < 32; from += together) {
    if (lanes & group << from) {
      Passes passes = passesOf(addresses, lanes & group << from, bytes);
      counts.sharedWavefronts += passes.needed;
      counts.idealWavefronts += passes.ideal;
    }
  }
}

void Profile::matrixPhase(const ptx::Instruction *instruction, const uint64_t *rows) {
  shared(instruction, rows, 0xff, 16);
}

void Profile::globalAccess(const ptx::Instruction *instruction, const uint64_t *addresses,
                           uint32_t lanes, unsigned bytes) {
  if (!enabled || lanes == 0 || bytes == 0) {
    return;
  }
  std::vector<uint64_t> sorted;
  for (uint32_t m = lanes; m; m &= m - 1) {
    sorted.push_back(addresses[std::countr_zero(m)]);
  }
  std::sort(sorted.begin(), sorted.end());
  uint64_t sectors = 0, touched = 0; // distinct sectors and bytes
  uint64_t nextSector = 0, nextByte = 0;
  for (uint64_t address : sorted) {
    uint64_t end = address + bytes, endSector = (end - 1) / kSectorBytes + 1;
    uint64_t firstSector = std::max(nextSector, address / kSectorBytes);
    sectors += endSector > firstSector ? endSector - firstSector : 0;
    nextSector = std::max(nextSector, endSector);
    uint64_t firstByte = std::max(nextByte, address);
    touched += end > firstByte ? end - firstByte : 0;
    nextByte = std::max(nextByte, end);
  }
  InstructionCounts &counts = countsOf(instruction);
  ++counts.globalRequests;
  counts.globalSectors += sectors;
  counts.idealSectors += (touched + kSectorBytes - 1) / kSectorBytes;
}

void Profile::bulk(const ptx::Instruction *instruction, uint64_t bytes) {
  if (enabled) {
    countsOf(instruction).copiedBytes += bytes;
  }
}

void Profile::executed(const ptx::Instruction *instruction, unsigned lanes) {
  if (enabled) {
    InstructionCounts &counts = countsOf(instruction);
    ++counts.warps;
    counts.lanes += lanes;
  }
}

void Profile::multiplyAdds(const ptx::Instruction *instruction, uint64_t count) {
  if (enabled) {
    countsOf(instruction).multiplyAdds += count;
  }
}

} // namespace tile_emu
