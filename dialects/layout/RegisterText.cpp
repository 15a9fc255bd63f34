// Text of register layouts: printed for IR and remarks, parsed back.
#include "dialects/layout/Text.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tilec::layout {

void printShape(raw_ostream &os, ArrayRef<int64_t> shape) {
  if (shape.empty()) {
    os << "scalar";
  }
  interleave(shape, os, "x");
}

bool parseShape(StringRef text, Coords &shape) {
  shape.clear();
  if (text == "scalar") {
    return true;
  }
  SmallVector<StringRef, 8> parts;
  text.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t extent;
    if (part.getAsInteger(10, extent)) {
      return false;
    }
    shape.push_back(extent);
  }
  return true;
}

bool Words::integer(int64_t &value) {
  if (done() || words[next].getAsInteger(0, value)) {
    return false;
  }
  ++next;
  return true;
}

static constexpr StringRef hwNames[] = {"reg", "lane", "warp"};

static void printBases(raw_ostream &os, const RegisterLayout::Bases &bases) {
  if (bases.empty()) {
    os << '-';
  }
  interleave(
      bases, os,
      [&](const Coords &v) {
        if (v.empty()) {
          os << '.';
        }
        interleave(v, os, ",");
      },
      ":");
}

void RegisterLayout::print(raw_ostream &os) const {
  printShape(os, spec.shape);
  for (unsigned hw = 0; hw < 3; ++hw) {
    os << ' ' << hwNames[hw] << ' ';
    printBases(os, spec.bases[hw]);
  }
  if (!spec.repeats.empty()) {
    os << " rep ";
    interleave(
        spec.repeats, os,
        [&](const Repeat &r) {
          os << hwNames[unsigned(r.hw)] << '*' << r.count;
          if (r.dim >= 0) {
            os << '@' << r.dim << '+' << r.stride;
          }
        },
        ":");
  }
  if (spec.firstWarp) {
    os << " from " << spec.firstWarp;
  }
  if (spec.partial) {
    os << " partial " << toString(spec.partial->combine) << " lanes " << spec.partial->laneMask
       << " warps " << spec.partial->warpOffsets;
  }
}

std::string RegisterLayout::str() const {
  std::string text;
  raw_string_ostream os(text);
  print(os);
  return text;
}

static bool parseBases(StringRef text, size_t rank, RegisterLayout::Bases &bases) {
  if (text == "-") {
    return true;
  }
  SmallVector<StringRef, 16> vectors;
  text.split(vectors, ':');
  for (StringRef vector : vectors) {
    Coords v;
    SmallVector<StringRef, 8> parts;
    if (vector != ".") {
      vector.split(parts, ',');
    }
    for (StringRef part : parts) {
      int64_t x;
      if (part.getAsInteger(10, x)) {
        return false;
      }
      v.push_back(x);
    }
    if (v.size() != rank) {
      return false;
    }
    bases.push_back(v);
  }
  return true;
}

static bool parseRepeats(StringRef text, SmallVectorImpl<Repeat> &repeats) {
  SmallVector<StringRef, 4> parts;
  text.split(parts, ':');
  for (StringRef part : parts) {
    Repeat r;
    auto [name, rest] = part.split('*');
    auto [count, place] = rest.split('@');
    const auto *hw = find(hwNames, name);
    if (hw == std::end(hwNames) || count.getAsInteger(10, r.count)) {
      return false;
    }
    r.hw = HwDim(hw - std::begin(hwNames));
    if (rest.contains('@')) {
      auto [dim, stride] = place.split('+');
      if (dim.getAsInteger(10, r.dim) || r.dim < 0 || stride.getAsInteger(10, r.stride)) {
        return false;
      }
    }
    repeats.push_back(r);
  }
  return true;
}

static bool parsePartial(Words &words, std::optional<Partial> &partial) {
  static constexpr Combine all[] = {Combine::Sum, Combine::Product, Combine::Max, Combine::Min,
                                    Combine::And, Combine::Or,      Combine::Xor};
  Partial p;
  const StringRef name = words.take();
  const auto *combine = find_if(all, [&](Combine c) { return toString(c) == name; });
  int64_t lanes, warps;
  if (combine == std::end(all) || !words.keyword("lanes") || !words.integer(lanes) ||
      !words.keyword("warps") || !words.integer(warps) || lanes < 0 || lanes > 31 || warps < 1 ||
      warps > int64_t(UINT32_MAX)) {
    return false;
  }
  p.combine = *combine;
  p.laneMask = uint32_t(lanes);
  p.warpOffsets = uint32_t(warps);
  partial = p;
  return true;
}

Answer<RegisterLayout> RegisterLayout::parse(StringRef text) {
  const Refusal malformed{"malformed register layout '" + text.str() +
                          "': expected `SHAPE reg VECTORS lane VECTORS warp VECTORS [rep REPEATS] "
                          "[from WARP] [partial COMBINE lanes MASK warps SET]`"};
  Words words(text);
  Spec s;
  if (!parseShape(words.take(), s.shape)) {
    return malformed;
  }
  for (unsigned hw = 0; hw < 3; ++hw) {
    if (!words.keyword(hwNames[hw]) || !parseBases(words.take(), s.shape.size(), s.bases[hw])) {
      return malformed;
    }
  }
  if (words.keyword("rep") && !parseRepeats(words.take(), s.repeats)) {
    return malformed;
  }
  if (words.keyword("from") && !words.integer(s.firstWarp)) {
    return malformed;
  }
  if (words.keyword("partial") && !parsePartial(words, s.partial)) {
    return malformed;
  }
  if (!words.done()) {
    return malformed;
  }
  return get(std::move(s));
}

} // namespace tilec::layout
