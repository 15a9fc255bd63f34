#include "compiler/benchmark/BenchTable.h"

#include "compiler/benchmark/BenchLimits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;

namespace tilec {

/// Four digits or so.
static std::string shortNumber(double value) {
  return value < 100    ? formatv("{0:f2}", value).str()
         : value < 1000 ? formatv("{0:f1}", value).str()
                        : formatv("{0:f0}", value).str();
}

static std::string halfOf(const BenchTime &time) {
  return shortNumber(time.lower) + " to " + shortNumber(time.upper);
}

namespace {
struct Column {
  StringRef name;
  bool isText = false;
  std::vector<std::string> cells = {};
};
} // namespace

static std::vector<std::string> cellsOf(const BenchReport &report, const BenchRow &row) {
  const std::optional<BenchLimit> limit = limitOf(report, row);
  const BenchTime *peer = row.peer && row.peer->time ? &*row.peer->time : nullptr;
  const double median = row.time.median;
  return {row.kernel,
          row.call,
          shortNumber(median),
          halfOf(row.time),
          row.flops ? shortNumber(*row.flops / median * 1e-6) : "",
          row.bytes ? shortNumber(*row.bytes / median * 1e-3) : "",
          limit ? formatv("{0:f0} %", limit->microseconds / median * 100).str() : "",
          limit ? limit->bound.str() : "",
          peer ? shortNumber(peer->median) : "",
          peer ? halfOf(*peer) : "",
          peer ? formatv("{0:f3}", peer->median / median).str() : "",
          row.megahertz > 0 ? formatv("{0:f0}", row.megahertz).str() : "",
          row.watts > 0 ? formatv("{0:f0}", row.watts).str() : ""};
}

static std::string padded(StringRef text, size_t width, bool isText, bool isLast) {
  const std::string blanks(width - std::min(width, text.size()), ' ');
  return isText ? text.str() + (isLast ? "" : blanks) : blanks + text.str();
}

std::string printBenchTable(const BenchReport &report) {
  std::vector<Column> columns{
      {"kernel", true}, {"case", true}, {"us"},       {"half of them"}, {"TFLOP/s"},
      {"GB/s"},         {"of limit"},   {"by", true}, {"cublas us"},    {"half of them"},
      {"speed"},        {"MHz"},        {"W"}};
  for (const BenchRow &row : report.rows) {
    for (auto [column, cell] : zip_equal(columns, cellsOf(report, row))) {
      column.cells.push_back(std::move(cell));
    }
  }
  erase_if(columns, [](const Column &column) {
    return all_of(column.cells, [](const std::string &cell) { return cell.empty(); });
  });
  std::string text;
  for (size_t line = 0; line <= report.rows.size(); ++line) {
    std::string one;
    for (const Column &column : columns) {
      size_t width = column.name.size();
      for (const std::string &cell : column.cells) {
        width = std::max(width, cell.size());
      }
      const StringRef cell = line == 0 ? column.name : StringRef(column.cells[line - 1]);
      one += (one.empty() ? "" : "  ") +
             padded(cell, width, column.isText, &column == &columns.back());
    }
    text += StringRef(one).rtrim().str() + "\n";
  }
  return text;
}

std::string printBenchSummary(const BenchReport &report) {
  size_t count = 0;
  double sum = 0, least = 0;
  const BenchRow *worst = nullptr;
  for (const BenchRow &row : report.rows) {
    if (!row.peer || !row.peer->time) {
      continue;
    }
    const double speed = row.peer->time->median / row.time.median;
    ++count;
    sum += std::log(speed);
    if (!worst || speed < least) {
      worst = &row;
      least = speed;
    }
  }
  if (count < 2) {
    return {};
  }
  return formatv("speed of {0} cases: {1:f3} in the geometric mean, {2:f3} at least ({3}: {4})\n",
                 count, std::exp(sum / double(count)), least, worst->kernel, worst->call)
      .str();
}

} // namespace tilec
