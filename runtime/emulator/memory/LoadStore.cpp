// ld, ldu, st. PTX ISA, "Data Movement and Conversion Instructions: ld, st".
#include "../async/Async.h"
#include "Decoding.h"

#include <algorithm>

namespace tile_emu {

namespace {

struct Transfer {
  Target target;
  Ordering ordering;
  Decoder::AddressRows address{};
  ptx::Type type = ptx::Type::B32;
  unsigned elementBytes = 4;
  std::vector<Row> rows;              ///< of the elements
  std::vector<unsigned> registerBits; ///< ld: widths of the destinations
  unsigned bytes() const { return elementBytes * unsigned(rows.size()); }
};

/// `.weak`, `.volatile`, `.relaxed.scope`, `.acquire.scope` / `.release.scope`,
/// `.mmio.relaxed.sys`.
Ordering takeOrdering(Decoder &decoder, std::string_view synchronising) {
  Ordering ordering;
  bool mmio = decoder.take("mmio");
  if (mmio || decoder.peek() == "relaxed") {
    decoder.expect("relaxed");
  } else if (decoder.take(synchronising)) {
    (synchronising == "acquire" ? ordering.acquires : ordering.releases) = true;
  } else {
    ordering.isStrong = decoder.take("volatile");
    if (!ordering.isStrong) {
      decoder.take("weak");
    }
    return ordering;
  }
  ordering.isStrong = true;
  std::optional<Scope> scope = takeScope(decoder);
  if (!scope) {
    decoder.unsupported("a scope is missing");
  }
  ordering.scope = *scope;
  return ordering;
}

unsigned takeVector(Decoder &decoder) {
  static constexpr unsigned kCounts[] = {2, 4, 8};
  std::optional<unsigned> index = decoder.takeOneOf({"v2", "v4", "v8"});
  return index ? kCounts[*index] : 1;
}

void takeType(Decoder &decoder, Transfer &transfer, unsigned count) {
  transfer.type = decoder.takeType();
  unsigned bits = ptx::bitsOf(transfer.type);
  if (bits % 8 != 0 || bits * count > 256) {
    decoder.unsupported("this type and vector");
  }
  transfer.elementBytes = bits / 8;
}

/// The operand must have as many elements as the `.vN` says.
const ptx::Operand &dataOperand(Decoder &decoder, size_t index, unsigned count) {
  const ptx::Operand &data = decoder.operand(index);
  size_t elements = data.kind == ptx::Operand::Kind::Vector ? data.elements.size() : 1;
  if (elements != count) {
    decoder.invalid("a vector of " + std::to_string(elements) + " where " + std::to_string(count) +
                    " elements are expected");
  }
  return data;
}

void takePolicy(Decoder &decoder, bool policy, size_t index) {
  if (policy) {
    decoder.source(index, ptx::Type::B64);
  }
}

bool isSigned(ptx::Type type) {
  return type == ptx::Type::S8 || type == ptx::Type::S16 || type == ptx::Type::S32;
}

/// Sign-extends from `bits` to the width of the register.
uint64_t extend(uint64_t value, unsigned bits, unsigned registerBits) {
  uint64_t sign = uint64_t(1) << (bits - 1);
  uint64_t extended = (value ^ sign) - sign;
  return registerBits >= 64 ? extended : extended & ((uint64_t(1) << registerBits) - 1);
}

void loadElement(Step &step, const Transfer &transfer, const MemoryRange &range, unsigned lane,
                 size_t i) {
  Row row = transfer.rows[i];
  uint64_t value[2] = {0, 0};
  std::memcpy(value, range.data() + i * transfer.elementBytes, transfer.elementBytes);
  if (transfer.elementBytes == 16) {
    step.set(row + 1, lane, value[1]);
  } else if (isSigned(transfer.type)) {
    value[0] = extend(value[0], transfer.elementBytes * 8, transfer.registerBits[i]);
  }
  step.set(row, lane, value[0]);
}

/// What is undefined of a loaded element; the sign, and all that it fills, with the highest byte.
void undefineElement(Step &step, const Transfer &transfer, const MemoryRange &range, unsigned lane,
                     size_t i) {
  uint64_t at = range.offset + i * transfer.elementBytes;
  if (transfer.elementBytes == 16) {
    step.undefine(transfer.rows[i], lane, Checker::undefinedBits({range.region, at, 8}));
    step.undefine(transfer.rows[i] + 1, lane, Checker::undefinedBits({range.region, at + 8, 8}));
    return;
  }
  uint64_t bits = Checker::undefinedBits({range.region, at, transfer.elementBytes});
  if (isSigned(transfer.type)) {
    bits = extend(bits, transfer.elementBytes * 8, transfer.registerBits[i]);
  }
  step.undefine(transfer.rows[i], lane, bits);
}

Outcome executeLoad(Step &step, const Transfer &transfer) {
  LaneRanges ranges = resolveLanes(step, transfer.target, transfer.address, transfer.bytes());
  checkAccess(step, ranges, Access::Read, transfer.ordering, transfer.elementBytes);
  step.forLanes([&](unsigned lane) {
    MemoryRange range = ranges.of(lane);
    bool defined = Checker::isDefined(range);
    for (size_t i = 0; i != transfer.rows.size(); ++i) {
      loadElement(step, transfer, range, lane, i);
      if (!defined) {
        undefineElement(step, transfer, range, lane, i);
      }
    }
  });
  return Outcome::Next;
}

/// What a lane stores.
std::array<uint8_t, 64> bytesOf(Step &step, const Transfer &transfer, unsigned lane) {
  std::array<uint8_t, 64> bytes{};
  for (size_t i = 0; i != transfer.rows.size(); ++i) {
    Row row = transfer.rows[i];
    uint64_t value[2] = {step.get(row, lane),
                         transfer.elementBytes == 16 ? step.get(row + 1, lane) : 0};
    std::memcpy(bytes.data() + i * transfer.elementBytes, value, transfer.elementBytes);
  }
  return bytes;
}

/// Do the bytes of all lanes hold what is going to be stored?
bool holdAlready(Step &step, const Transfer &transfer, const LaneRanges &ranges) {
  bool same = true;
  for (LaneMask rest = step.lanes; rest && same; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    MemoryRange range = ranges.of(lane);
    same = std::memcmp(range.data(), bytesOf(step, transfer, lane).data(), range.bytes) == 0 &&
           Checker::isDefined(range);
  }
  return same;
}

/// What of an element is undefined; in global memory, where somebody else will read it, a report.
void storeDefinedness(Step &step, Row row, const MemoryRange &element, unsigned lane) {
  for (uint64_t at = 0; at < element.bytes; at += 8, ++row) {
    MemoryRange part{element.region, element.offset + at,
                     std::min<uint64_t>(8, element.bytes - at)};
    uint64_t width = part.bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << 8 * part.bytes) - 1;
    uint64_t undefined = step.undefinedBits(row, lane) & width;
    if (!undefined) {
      continue;
    }
    if (element.region->kind == Region::Kind::Global) {
      step.reportUndefinedStore(row, part, lane);
    } else {
      Checker::setUndefinedBits(part, undefined);
    }
  }
}

/// Do lanes store different values to the same bytes? Which of them stays is undefined.
bool lanesDisagree(Step &step, const Transfer &transfer, const LaneRanges &ranges) {
  std::array<LanePiece, kWarpSize> pieces;
  size_t count = 0;
  step.forLanes(
      [&](unsigned lane) { pieces[count++] = {ranges.regions[lane], ranges.offsets[lane], lane}; });
  std::array<std::array<uint8_t, 64>, 2> values;
  unsigned next = 0; // two are compared at a time
  return piecesDisagree(std::span(pieces).first(count), transfer.bytes(), [&](unsigned lane) {
    next ^= 1;
    values[next] = bytesOf(step, transfer, lane);
    return values[next].data();
  });
}

void storeLanes(Step &step, const Transfer &transfer, const LaneRanges &ranges, bool apart) {
  checkAccess(step, ranges, Access::Write, transfer.ordering, transfer.elementBytes,
              {.apart = apart, .unchanged = holdAlready(step, transfer, ranges)});
  step.forLanes([&](unsigned lane) {
    MemoryRange range = ranges.of(lane);
    Checker::setDefined(range, true);
    for (size_t i = 0; i != transfer.rows.size(); ++i) {
      Row row = transfer.rows[i];
      uint64_t value[2] = {step.get(row, lane), 0};
      uint64_t at = i * transfer.elementBytes;
      MemoryRange element{range.region, range.offset + at, transfer.elementBytes};
      storeDefinedness(step, row, element, lane);
      if (transfer.elementBytes == 16) {
        value[1] = step.get(row + 1, lane);
      }
      std::memcpy(range.data() + at, value, transfer.elementBytes);
    }
  });
}

Outcome executeStore(Step &step, const Transfer &transfer) {
  requireDefined(step, transfer.address.base, "the address");
  LaneRanges ranges = resolveLanes(step, transfer.target, transfer.address, transfer.bytes());
  step.forLanes([&](unsigned lane) { step.checkWritable(ranges.of(lane), lane); });
  if (transfer.ordering.isStrong || !lanesDisagree(step, transfer, ranges)) {
    storeLanes(step, transfer, ranges, false);
    return Outcome::Next;
  }
  // One by one, so that those that store what is there already are told from those that do not.
  step.forLanes([&](unsigned lane) {
    Step one(step.machine, step.block, step.warp, step.op, LaneMask(1) << lane);
    storeLanes(one, transfer, ranges, true);
  });
  return Outcome::Next;
}

Execute makeLoad(Decoder &decoder, Transfer transfer, bool policy, unsigned count) {
  takeType(decoder, transfer, count);
  const ptx::Operand &data = dataOperand(decoder, 0, count);
  transfer.rows = decoder.destinations(data, transfer.type);
  for (size_t i = 0; i != count; ++i) {
    const ptx::Operand &element =
        count == 1 && data.kind != ptx::Operand::Kind::Vector ? data : data.elements[i];
    transfer.registerBits.push_back(ptx::bitsOf(decoder.registerType(element)));
  }
  transfer.address = decoder.address(1);
  takePolicy(decoder, policy, 2);
  return [transfer = std::move(transfer)](Step &step) { return executeLoad(step, transfer); };
}

} // namespace

Execute decodeLd(Decoder &decoder) {
  Transfer transfer;
  transfer.ordering = takeOrdering(decoder, "acquire");
  transfer.target = takeTarget(decoder);
  decoder.takeOneOf({"ca", "cg", "cs", "lu", "cv"});
  transfer.ordering.nonCoherent = decoder.take("nc");
  if (transfer.ordering.nonCoherent && transfer.target.space != ptx::Space::Global) {
    decoder.unsupported("`.nc` without `.global`");
  }
  bool policy = takeCacheModifiers(decoder);
  unsigned count = takeVector(decoder);
  return makeLoad(decoder, std::move(transfer), policy, count);
}

Execute decodeLdu(Decoder &decoder) {
  Transfer transfer;
  transfer.target = takeTarget(decoder);
  if (transfer.target.space != ptx::Space::Global && transfer.target.space != ptx::Space::Generic) {
    decoder.unsupported("a space other than `.global`");
  }
  unsigned count = takeVector(decoder);
  return makeLoad(decoder, std::move(transfer), false, count);
}

Execute decodeSt(Decoder &decoder) {
  if (decoder.peek() == "async") {
    return decodeStoreAsync(decoder);
  }
  Transfer transfer;
  transfer.ordering = takeOrdering(decoder, "release");
  transfer.target = takeTarget(decoder);
  if (transfer.target.space == ptx::Space::Param || transfer.target.space == ptx::Space::Const) {
    decoder.unsupported("a store to memory that cannot be written");
  }
  decoder.takeOneOf({"wb", "cg", "cs", "wt"});
  bool policy = takeCacheModifiers(decoder);
  unsigned count = takeVector(decoder);
  takeType(decoder, transfer, count);
  transfer.address = decoder.address(0);
  transfer.rows = decoder.sources(dataOperand(decoder, 1, count), transfer.type);
  takePolicy(decoder, policy, 2);
  decoder.op.tracksUndefined = true;
  return [transfer = std::move(transfer)](Step &step) { return executeStore(step, transfer); };
}

} // namespace tile_emu
