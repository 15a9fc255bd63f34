#include "runtime/emulator/exec/DeadlockReport.h"

#include "runtime/emulator/exec/Step.h"
#include "runtime/emulator/exec/Text.h"

#include <bit>

namespace tile_emu {

namespace {

constexpr size_t kMaxNotes = 32;

/// Threads of a block that wait at one instruction for the same.
struct Waiting {
  const Block *block;
  uint32_t pc;
  std::string what;
  std::vector<uint32_t> threads; ///< in their block, ascending
};

std::string indexText(const std::array<uint32_t, 3> &index) {
  return textOf("(", index[0], ", ", index[1], ", ", index[2], ")");
}

/// "0-31, 64, 96-127"
std::string rangesText(const std::vector<uint32_t> &numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) {
      ++end;
    }
    text += text.empty() ? "" : ", ";
    text += std::to_string(numbers[i]);
    if (end - i > 1) {
      text += "-" + std::to_string(numbers[end - 1]);
    }
    i = end;
  }
  return text;
}

void addLanes(std::vector<uint32_t> &threads, const Warp &warp, LaneMask lanes) {
  for (LaneMask m = lanes; m; m &= m - 1) {
    threads.push_back(warp.index * kWarpSize + unsigned(std::countr_zero(m)));
  }
}

std::vector<Waiting> waitingOf(const Block &block) {
  std::vector<Waiting> groups;
  for (const Warp &warp : block.warps) {
    for (const Path &path : warp.paths) {
      std::string what = path.waiting ? path.waiting() : "another thread";
      Waiting *group = nullptr;
      for (Waiting &other : groups) {
        group = other.pc == path.pc && other.what == what ? &other : group;
      }
      if (!group) {
        groups.push_back({&block, path.pc, what, {}});
        group = &groups.back();
      }
      addLanes(group->threads, warp, path.lanes);
    }
  }
  return groups;
}

std::string exitedText(const Block &block) {
  std::vector<uint32_t> exited;
  for (const Warp &warp : block.warps) {
    addLanes(exited, warp, warp.exited);
  }
  if (exited.empty()) {
    return {};
  }
  return textOf("block ", indexText(block.index), ": threads ", rangesText(exited), " have exited");
}

} // namespace

Report deadlockReport(const Code &code, const std::vector<const Block *> &blocks) {
  Report report{.kind = Report::Kind::Deadlock, .message = {}, .parties = {}, .notes = {}};
  size_t threads = 0, left = 0;
  auto note = [&](std::string text) {
    if (report.notes.size() < kMaxNotes) {
      report.notes.push_back(std::move(text));
    } else {
      ++left;
    }
  };
  for (const Block *block : blocks) {
    for (const Waiting &group : waitingOf(*block)) {
      const ptx::Instruction &instruction = *code.ops[group.pc].instruction;
      threads += group.threads.size();
      if (report.notes.size() < kMaxNotes) {
        report.parties.push_back({.what = opcodeOf(instruction),
                                  .ptxLine = instruction.line,
                                  .source = instruction.source,
                                  .thread = {block->index, block->threadIndex(group.threads[0])}});
      }
      note(textOf("block ", indexText(block->index), ": threads ", rangesText(group.threads),
                  " wait at PTX line ", instruction.line, " (`", opcodeOf(instruction), "`) for ",
                  group.what));
    }
    if (std::string text = exitedText(*block); !text.empty()) {
      note(std::move(text));
    }
  }
  if (left) {
    report.notes.push_back(textOf("and ", left, " more groups of threads"));
  }
  report.message = textOf("nobody can go on: ", threads,
                          " threads wait for each other or for what will never come");
  return report;
}

} // namespace tile_emu
