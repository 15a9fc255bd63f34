#include "Decoding.h"

#include <charconv>

namespace tile_emu {

namespace {
constexpr unsigned kMaxDimension = 1024; ///< more than any shape has

/// Reads `letter` and a number, moving on in `text`; 0 if it is not there or too large.
unsigned takeDimension(std::string_view &text, char letter) {
  if (text.empty() || text.front() != letter) {
    return 0;
  }
  unsigned value = 0;
  auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), value);
  if (error != std::errc() || value > kMaxDimension) {
    return 0;
  }
  text.remove_prefix(size_t(end - text.data()));
  return value;
}
} // namespace

MatrixShape takeShape(Decoder &decoder) {
  std::string name = decoder.takeAny();
  std::string_view text = name;
  MatrixShape shape;
  shape.m = takeDimension(text, 'm');
  shape.n = takeDimension(text, 'n');
  shape.k = takeDimension(text, 'k');
  if (!shape.m || !shape.n || !shape.k || !text.empty()) {
    decoder.unsupported("'." + name + "' where a shape such as '.m16n8k16' is expected");
  }
  return shape;
}

Element takeElement(Decoder &decoder) {
  std::string name = decoder.takeAny();
  std::optional<Element> element = elementNamed(name);
  if (!element) {
    decoder.unsupported("'." + name + "' where the type of a matrix is expected");
  }
  return *element;
}

std::vector<Row> sourceRows(Decoder &decoder, size_t operand, ptx::Type type) {
  const ptx::Operand &rows = decoder.operand(operand);
  if (rows.kind == ptx::Operand::Kind::Vector) {
    return decoder.sources(rows, type);
  }
  return {decoder.source(rows, type)};
}

std::vector<Row> destinationRows(Decoder &decoder, size_t operand, ptx::Type type) {
  const ptx::Operand &rows = decoder.operand(operand);
  if (rows.kind == ptx::Operand::Kind::Vector) {
    return decoder.destinations(rows, type);
  }
  return {decoder.destination(rows, type)};
}

void expectRegisters(const Decoder &decoder, const char *operand, size_t has, size_t needs) {
  if (has != needs) {
    decoder.invalid(std::string("operand ") + operand + " has " + std::to_string(has) +
                    " registers, this shape needs " + std::to_string(needs));
  }
}

void requireWholeWarp(Step &step) {
  if (step.lanes != kAllLanes) {
    step.fault(Report::Kind::Invalid,
               "only " + std::to_string(std::popcount(step.lanes)) +
                   " of a warp's 32 threads execute an instruction that all must execute together",
               unsigned(std::countr_zero(step.lanes)));
  }
}

} // namespace tile_emu
