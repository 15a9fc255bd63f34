// The profile as text.
#include "Profile.h"

#include <algorithm>
#include <tuple>

namespace tile_emu {

namespace {

struct Line {
  std::string place;
  uint32_t file = 0, line = 0; ///< to sort by; file 0: a line of the PTX
  InstructionCounts counts;

  /// Issues of the warps' schedulers, passes and sectors beyond the first of each.
  uint64_t cost() const {
    return counts.warps +
           (counts.sharedWavefronts - std::min(counts.sharedWavefronts, counts.warps)) +
           (counts.globalSectors - std::min(counts.globalSectors, counts.globalRequests));
  }
};

/// Cells in columns: the first one to the left, the others to the right.
class TextTable {
public:
  void row(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }
  std::string text() const {
    std::vector<size_t> widths;
    for (const auto &cells : rows) {
      widths.resize(std::max(widths.size(), cells.size()));
      for (size_t i = 0; i < cells.size(); ++i) {
        widths[i] = std::max(widths[i], cells[i].size());
      }
    }
    std::string result;
    for (const auto &cells : rows) {
      std::string line;
      for (size_t i = 0; i < cells.size(); ++i) {
        std::string space(widths[i] - cells[i].size(), ' ');
        line += i == 0 ? cells[i] + space : "  " + space + cells[i];
      }
      result += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return result;
  }

private:
  std::vector<std::vector<std::string>> rows;
};

/// With a decimal; "" for nothing.
std::string ratio(uint64_t a, uint64_t b) {
  if (b == 0) {
    return "";
  }
  uint64_t tenths = (10 * a + b / 2) / b;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

std::string orNothing(uint64_t value) { return value ? std::to_string(value) : ""; }

std::vector<std::string> cellsOf(const std::string &place, const InstructionCounts &counts) {
  return {place,
          std::to_string(counts.warps),
          ratio(counts.lanes, counts.warps),
          orNothing(counts.sharedWavefronts),
          orNothing(counts.sharedWavefronts - counts.idealWavefronts),
          orNothing(counts.globalSectors),
          orNothing(counts.idealSectors),
          orNothing(counts.copiedBytes),
          orNothing(counts.multiplyAdds)};
}

std::string baseName(const std::string &path) { return path.substr(path.find_last_of('/') + 1); }

} // namespace

static std::vector<Line>
linesOf(const std::unordered_map<const ptx::Instruction *, InstructionCounts> &byInstruction,
        const std::map<uint32_t, std::string> &files) {
  auto isKnown = [&](const ptx::Instruction *instruction) {
    return instruction && instruction->source.line != 0 && files.count(instruction->source.file);
  };
  bool anyKnown = std::any_of(byInstruction.begin(), byInstruction.end(),
                              [&](const auto &entry) { return isKnown(entry.first); });
  std::map<std::pair<uint32_t, uint32_t>, Line> lines;
  for (const auto &[instruction, counts] : byInstruction) {
    bool known = isKnown(instruction);
    uint32_t file = known ? instruction->source.file : 0, number = 0;
    if (known || (instruction && !anyKnown)) {
      number = known ? instruction->source.line : instruction->line;
    }
    Line &line = lines[{file, number}];
    line.file = file;
    line.line = number;
    line.place = number == 0 ? "no line"
                             : (known ? baseName(files.at(file)) + ":" : "PTX line ") +
                                   std::to_string(number);
    line.counts.add(counts);
  }
  std::vector<Line> result;
  result.reserve(lines.size());
  for (auto &[key, line] : lines) {
    result.push_back(std::move(line));
  }
  return result;
}

/// How many of each mnemonic, most first.
static std::string
mixOf(const std::unordered_map<const ptx::Instruction *, InstructionCounts> &byInstruction,
      uint64_t total) {
  std::map<std::string, uint64_t> mix;
  for (const auto &[instruction, counts] : byInstruction) {
    if (instruction && !instruction->opcode.empty()) {
      mix[instruction->opcode[0]] += counts.warps;
    }
  }
  std::vector<std::pair<std::string, uint64_t>> sorted(mix.begin(), mix.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  TextTable table;
  table.row({"mnemonic", "warp instructions", "%"});
  for (const auto &[mnemonic, count] : sorted) {
    table.row({mnemonic, std::to_string(count), ratio(100 * count, total)});
  }
  return table.text();
}

std::string Profile::table(const std::map<uint32_t, std::string> &files, Order order) const {
  std::vector<Line> lines = linesOf(byInstruction, files);
  if (order == Order::Cost) {
    std::sort(lines.begin(), lines.end(), [](const Line &a, const Line &b) {
      return std::tuple(b.cost(), a.file, a.line) < std::tuple(a.cost(), b.file, b.line);
    });
  }
  TextTable table;
  table.row({"line", "warp instructions", "lanes", "shared passes", "conflicts", "sectors", "ideal",
             "copied bytes", "multiply-adds"});
  InstructionCounts total;
  for (const Line &line : lines) {
    table.row(cellsOf(line.place, line.counts));
    total.add(line.counts);
  }
  table.row(cellsOf("total", total));
  return table.text() + "\n" + mixOf(byInstruction, total.warps);
}

} // namespace tile_emu
