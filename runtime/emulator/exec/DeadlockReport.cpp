#include "DeadlockReport.h"

#include "Step.h"
#include "Text.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace tile_emu {

namespace {

constexpr size_t kMaxGroups = 32;

/// Threads that wait at one instruction for the same, in one block or in the same way in several.
struct Waiting {
  uint32_t pc = 0;
  bool gathering = false; ///< for other lanes of their warp
  std::string what;
  std::vector<uint32_t> threads; ///< in their block, ascending
  std::vector<const Block *> blocks;
};

std::string indexText(const std::array<uint32_t, 3> &index) {
  return textOf("(", index[0], ",", index[1], ",", index[2], ")");
}

/// "block (0,0,0) and 3 others"
std::string blocksText(const std::vector<const Block *> &blocks) {
  std::string text = "block " + indexText(blocks.front()->index);
  size_t others = blocks.size() - 1;
  return others == 0 ? text : textOf(text, " and ", others, others == 1 ? " other" : " others");
}

/// "threads 0-31, 64, 96-127"
std::string threadsText(const std::vector<uint32_t> &numbers) {
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
  return (numbers.size() == 1 ? "thread " : "threads ") + text;
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
      auto group = std::find_if(groups.begin(), groups.end(), [&](const Waiting &other) {
        return other.pc == path.pc && other.what == what;
      });
      if (group == groups.end()) {
        groups.push_back({path.pc, path.gathering, std::move(what), {}, {&block}});
        group = groups.end() - 1;
      }
      addLanes(group->threads, warp, path.lanes);
    }
  }
  return groups;
}

/// Of all blocks; what waits for lanes of its own warp, and so for what those wait for, comes last.
std::vector<Waiting> waitingOf(const std::vector<const Block *> &blocks) {
  std::vector<Waiting> all, gathering;
  for (const Block *block : blocks) {
    for (Waiting &group : waitingOf(*block)) {
      std::vector<Waiting> &list = group.gathering ? gathering : all;
      auto same = std::find_if(list.begin(), list.end(), [&](const Waiting &other) {
        return other.pc == group.pc && other.what == group.what && other.threads == group.threads;
      });
      if (same == list.end()) {
        list.push_back(std::move(group));
      } else {
        same->blocks.push_back(block);
      }
    }
  }
  std::move(gathering.begin(), gathering.end(), std::back_inserter(all));
  return all;
}

void addExited(std::vector<std::string> &notes, const std::vector<const Block *> &blocks) {
  std::vector<std::pair<std::vector<uint32_t>, std::vector<const Block *>>> groups;
  for (const Block *block : blocks) {
    std::vector<uint32_t> exited;
    for (const Warp &warp : block->warps) {
      addLanes(exited, warp, warp.exited);
    }
    auto same = std::find_if(groups.begin(), groups.end(),
                             [&](const auto &group) { return group.first == exited; });
    if (same != groups.end()) {
      same->second.push_back(block);
    } else if (!exited.empty()) {
      groups.emplace_back(std::move(exited), std::vector<const Block *>{block});
    }
  }
  for (const auto &[threads, where] : groups) {
    if (notes.size() < 2 * kMaxGroups) {
      notes.push_back(textOf(blocksText(where), ": ", threadsText(threads),
                             threads.size() == 1 ? " has exited" : " have exited"));
    }
  }
}

} // namespace

Report deadlockReport(const Code &code, const std::vector<const Block *> &blocks) {
  Report report{.kind = Report::Kind::Deadlock, .message = {}, .parties = {}, .notes = {}};
  std::vector<Waiting> groups = waitingOf(blocks);
  size_t threads = 0;
  for (const Waiting &group : groups) {
    threads += group.threads.size() * group.blocks.size();
    if (report.parties.size() == kMaxGroups) {
      continue;
    }
    const ptx::Instruction &instruction = *code.ops[group.pc].instruction;
    const Block &block = *group.blocks.front();
    report.parties.push_back({.what = shortName(instruction),
                              .ptxLine = instruction.line,
                              .source = instruction.source,
                              .thread = {block.index, block.threadIndex(group.threads[0])}});
    report.notes.push_back(textOf(blocksText(group.blocks), ": ", threadsText(group.threads),
                                  group.threads.size() == 1 ? " waits" : " wait", " at PTX line ",
                                  instruction.line, " (", shortName(instruction), ") for ",
                                  group.what));
  }
  if (groups.size() > kMaxGroups) {
    report.notes.push_back(textOf("and ", groups.size() - kMaxGroups, " more groups of threads"));
  }
  addExited(report.notes, blocks);
  report.message = textOf("nobody can go on: ", threads,
                          " threads wait for each other or for what will never come");
  return report;
}

} // namespace tile_emu
