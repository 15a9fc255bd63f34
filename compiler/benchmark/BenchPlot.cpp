#include "compiler/benchmark/BenchPlot.h"

#include "compiler/benchmark/BenchLimits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <set>

using namespace llvm;

namespace tilec {

namespace {
constexpr double pageWidth = 960, left = 80, right = 150, top = 60, plotHeight = 420;
constexpr double lineHeight = 18, barHeight = 22;
constexpr StringLiteral ourColor = "#1f5fa8", peerColor = "#c0501f", roofColor = "#555555",
                        gridColor = "#e2e2e2";

/// Decades, as powers of ten, mapped to pixels.
struct LogAxis {
  int low = 0, high = 1;
  double from = 0, to = 0; ///< pixels
  double at(double value) const {
    return from + (std::log10(value) - low) / double(high - low) * (to - from);
  }
  /// Wide enough for a value.
  void include(double value) {
    low = std::min(low, int(std::floor(std::log10(value))));
    high = std::max(high, int(std::ceil(std::log10(value))));
  }
};

class Plot {
public:
  explicit Plot(const BenchReport &report) : report(report) {}
  std::string print();

private:
  void setAxes();
  void grid();
  void roofs();
  void points();
  void bars();
  void legend();
  void key(double y);

  void line(double x1, double y1, double x2, double y2, StringRef color, StringRef more = "");
  void text(double x, double y, const Twine &what, StringRef more = "");
  void circle(double x, double y);
  void square(double x, double y);
  void label(double x, double y, size_t number);
  double intensity(const BenchRow &row) const { return *row.flops / *row.bytes; }

  const BenchReport &report;
  LogAxis across, up;
  std::string body;
  std::vector<std::pair<double, double>> labels; ///< where they begin
  double y = top;                                ///< where what comes next begins
};

std::string escaped(StringRef text) {
  std::string result;
  for (char c : text) {
    result += c == '&'   ? "&amp;"
              : c == '<' ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '"' ? "&quot;"
              // Other bytes below blanks are none of XML's.
              : static_cast<unsigned char>(c) < ' ' ? " "
                                                    : std::string(1, c);
  }
  return result;
}

/// "0.1", "1", "1000".
std::string powerText(int power) {
  return power < 0 ? "0." + std::string(size_t(-power) - 1, '0') + "1"
                   : "1" + std::string(size_t(power), '0');
}

void Plot::line(double x1, double y1, double x2, double y2, StringRef color, StringRef more) {
  body +=
      formatv(
          "  <line x1=\"{0:f1}\" y1=\"{1:f1}\" x2=\"{2:f1}\" y2=\"{3:f1}\" stroke=\"{4}\"{5}/>\n",
          x1, y1, x2, y2, color, more)
          .str();
}

void Plot::text(double x, double y, const Twine &what, StringRef more) {
  body +=
      formatv("  <text x=\"{0:f1}\" y=\"{1:f1}\"{2}>{3}</text>\n", x, y, more, escaped(what.str()))
          .str();
}

void Plot::circle(double x, double y) {
  body += formatv("  <circle cx=\"{0:f1}\" cy=\"{1:f1}\" r=\"5\" fill=\"{2}\"/>\n", x, y, ourColor)
              .str();
}

void Plot::square(double x, double y) {
  body += formatv("  <rect x=\"{0:f1}\" y=\"{1:f1}\" width=\"9\" height=\"9\" fill=\"none\" "
                  "stroke=\"{2}\" stroke-width=\"2\"/>\n",
                  x - 4.5, y - 4.5, peerColor)
              .str();
}

bool isPoint(const BenchRow &row) { return row.flops && row.bytes; }
bool isBar(const BenchRow &row) { return row.flops.has_value() != row.bytes.has_value(); }

double teraflops(const BenchRow &row, const BenchTime &time) {
  return *row.flops / time.median * 1e-6;
}

void Plot::setAxes() {
  across = {0, 4, left, pageWidth - right};
  up = {2, 3, top + plotHeight, top};
  for (const BenchRow &row : report.rows) {
    if (!isPoint(row)) {
      continue;
    }
    across.include(intensity(row));
    up.include(teraflops(row, row.time));
    up.include(peakFlops(report, row.rate) * 1e-12);
    if (row.peer && row.peer->time) {
      up.include(teraflops(row, *row.peer->time));
    }
  }
}

void Plot::grid() {
  for (int power = across.low; power <= across.high; ++power) {
    const double x = across.at(std::pow(10, power));
    line(x, up.from, x, up.to, gridColor);
    text(x, up.from + 18, powerText(power), " text-anchor=\"middle\"");
  }
  for (int power = up.low; power <= up.high; ++power) {
    const double y = up.at(std::pow(10, power));
    line(across.from, y, across.to, y, gridColor);
    text(across.from - 8, y + 4, powerText(power), " text-anchor=\"end\"");
  }
  text((across.from + across.to) / 2, up.from + 38, "FLOP per byte", " text-anchor=\"middle\"");
  const double middle = (up.from + up.to) / 2;
  text(24, middle, "TFLOP/s",
       formatv(" text-anchor=\"middle\" transform=\"rotate(-90 24 {0:f1})\"", middle).str());
}

/// A number beside its point, where no other number is, as far as there is such a place.
void Plot::label(double x, double y, size_t number) {
  constexpr double width = 16, height = 11;
  std::pair<double, double> place(x + 8, y - 6);
  auto isTaken = [&](double atX, double atY) {
    return any_of(labels, [&](const auto &other) {
      return std::abs(other.first - atX) < width && std::abs(other.second - atY) < height;
    });
  };
  for (auto [right, down] :
       {std::pair(8, -6), std::pair(8, 12), std::pair(-20, -6), std::pair(-20, 12),
        std::pair(-6, -18), std::pair(-6, 24), std::pair(22, 3), std::pair(-34, 3)}) {
    if (!isTaken(x + right, y + down)) {
      place = {x + right, y + down};
      break;
    }
  }
  labels.push_back(place);
  text(place.first, place.second, Twine(number), " font-weight=\"bold\"");
}

/// Memory up to where products bound it, and a line for each type of products.
void Plot::roofs() {
  const double bytes = peakBytes(report);
  std::set<std::pair<double, std::string>> rates; // by height, then by name
  for (const BenchRow &row : report.rows) {
    if (isPoint(row)) {
      rates.insert({peakFlops(report, row.rate), row.rate});
    }
  }
  const StringRef stroke = " stroke-width=\"2\"";
  double highest = rates.empty() ? 0 : rates.rbegin()->first;
  std::string names;
  double before = 0;
  for (const auto &[rate, name] : rates) {
    names = rate == before ? names.append(", ").append(name) : name;
    const double x = std::clamp(rate / bytes, std::pow(10, across.low), std::pow(10, across.high));
    const auto next = rates.upper_bound({rate, name});
    if (rate != before) {
      line(across.at(x), up.at(rate * 1e-12), across.to, up.at(rate * 1e-12), roofColor, stroke);
    }
    if (next == rates.end() || next->first != rate) {
      text(across.to + 6, up.at(rate * 1e-12) + 4,
           formatv("{0} {1:f0} TFLOP/s", names, rate * 1e-12).str());
    }
    before = rate;
  }
  // The slope, as far as it is in the picture.
  const double least = std::max(std::pow(10, across.low), std::pow(10, up.low) * 1e12 / bytes);
  const double most = std::min(std::pow(10, across.high), highest / bytes);
  if (least < most) {
    line(across.at(least), up.at(least * bytes * 1e-12), across.at(most),
         up.at(most * bytes * 1e-12), roofColor, stroke);
    text(across.at(least) + 24, up.at(least * bytes * 1e-12) + 4,
         formatv("memory {0:f2} TB/s", bytes * 1e-12).str());
  }
}

void Plot::points() {
  for (auto [i, row] : enumerate(report.rows)) {
    if (!isPoint(row)) {
      continue;
    }
    const double x = across.at(intensity(row)), ours = up.at(teraflops(row, row.time));
    if (row.peer && row.peer->time) {
      const double other = up.at(teraflops(row, *row.peer->time));
      line(x, ours, x, other, peerColor, " stroke-dasharray=\"2 2\"");
      square(x, other);
    }
    circle(x, ours);
    label(x, ours, i + 1);
  }
}

/// The share of the limit, for cases without a place under the roof.
void Plot::bars() {
  if (none_of(report.rows, isBar)) {
    return;
  }
  text(left, y, "share of the limit, where only bytes or only operations are known",
       " font-weight=\"bold\"");
  y += 10;
  const double begin = y, width = pageWidth - left - right;
  for (auto [i, row] : enumerate(report.rows)) {
    if (!isBar(row)) {
      continue;
    }
    const BenchLimit limit = *limitOf(report, row);
    const double share = std::min(1.0, limit.microseconds / row.time.median);
    body +=
        formatv("  <rect x=\"{0:f1}\" y=\"{1:f1}\" width=\"{2:f1}\" height=\"14\" fill=\"{3}\"/>\n",
                left, y, width * share, ourColor)
            .str();
    text(left - 8, y + 12, Twine(i + 1), " text-anchor=\"end\" font-weight=\"bold\"");
    text(left + width * share + 6, y + 12,
         formatv("{0:f0} % by {1}", limit.microseconds / row.time.median * 100, limit.bound).str());
    if (row.peer && row.peer->time) {
      square(left + width * std::min(1.0, limit.microseconds / row.peer->time->median), y + 7);
    }
    y += barHeight;
  }
  line(left + width, begin - 4, left + width, y - 2, roofColor);
  y += 16;
}

void Plot::key(double y) {
  circle(left + 5, y - 4);
  text(left + 16, y, "tilec");
  if (any_of(report.rows, [](const BenchRow &row) { return row.peer && row.peer->time; })) {
    square(left + 75, y - 4);
    text(left + 86, y, "baseline");
  }
}

void Plot::legend() {
  key(y);
  y += lineHeight + 4;
  for (auto [i, row] : enumerate(report.rows)) {
    std::string what =
        formatv("{0}  {1}: {2}: {3:f1} us", i + 1, row.kernel, row.call, row.time.median);
    if (row.flops) {
      what += formatv(", {0:f1} TFLOP/s", teraflops(row, row.time));
    }
    if (row.bytes) {
      what += formatv(", {0:f0} GB/s", *row.bytes / row.time.median * 1e-3);
    }
    if (row.peer && row.peer->time) {
      what += formatv("; {0}: {1:f1} us", row.peer->name, row.peer->time->median);
    }
    text(left, y, what);
    y += lineHeight;
  }
}

std::string Plot::print() {
  text(left, 28, report.source + " for " + report.arch + " on " + report.device,
       " font-size=\"16\" font-weight=\"bold\"");
  setAxes();
  if (any_of(report.rows, isPoint)) {
    grid();
    roofs();
    points();
    y = top + plotHeight + 70;
  }
  bars();
  legend();
  const std::string height = formatv("{0:f0}", y + 12);
  return formatv("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:f0}\" height=\"{1}\" "
                 "viewBox=\"0 0 {0:f0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
                 "  <rect width=\"{0:f0}\" height=\"{1}\" fill=\"white\"/>\n{2}</svg>\n",
                 pageWidth, height, body)
      .str();
}
} // namespace

std::string printBenchPlot(const BenchReport &report) { return Plot(report).print(); }

} // namespace tilec
