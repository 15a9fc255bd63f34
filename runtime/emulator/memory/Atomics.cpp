// atom, red. PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red". Lanes
// of a warp take effect one after the other.
#include "../async/Async.h"
#include "AtomicOperation.h"
#include "Decoding.h"

namespace tile_emu {

namespace {

struct Atomic {
  Target target;
  Ordering ordering;
  AtomicOp op = AtomicOp::Add;
  ptx::Type type = ptx::Type::B32;
  unsigned elementBytes = 4;
  Decoder::AddressRows address{};
  std::vector<Row> results; ///< atom; empty for red
  std::vector<Row> operands, compares;
  Combine onShared = nullptr, onGlobal = nullptr; ///< null: 128-bit exch, cas
};

using Wide = std::array<uint64_t, 2>;

Wide valueOf(Step &step, const Atomic &atomic, Row row, unsigned lane) {
  return {step.get(row, lane), atomic.elementBytes == 16 ? step.get(row + 1, lane) : 0};
}

/// One element of one lane.
void apply(Step &step, const Atomic &atomic, const MemoryRange &range, unsigned lane, size_t i) {
  uint8_t *at = range.data() + i * atomic.elementBytes;
  Wide old{}, operand = valueOf(step, atomic, atomic.operands[i], lane), next = operand;
  std::memcpy(old.data(), at, atomic.elementBytes);
  Wide compare = atomic.compares.empty() ? Wide{} : valueOf(step, atomic, atomic.compares[i], lane);
  Combine combine = range.region->kind == Region::Kind::Shared ? atomic.onShared : atomic.onGlobal;
  if (combine) {
    next[0] = combine(old[0], operand[0], compare[0]);
  } else if (atomic.op == AtomicOp::Cas && old != compare) {
    next = old;
  }
  std::memcpy(at, next.data(), atomic.elementBytes);
  if (!atomic.results.empty()) {
    step.set(atomic.results[i], lane, old[0]);
    if (atomic.elementBytes == 16) {
      step.set(atomic.results[i] + 1, lane, old[1]);
    }
  }
}

/// Only an exchange makes sense of memory that was never written.
void checkDefined(Step &step, const Atomic &atomic, const MemoryRange &range, unsigned lane) {
  if (Checker::isDefined(range)) {
    return;
  }
  if (atomic.op != AtomicOp::Exch) {
    step.report(Report::Kind::Uninitialised,
                "an atomic operation on " + range.region->name + ", byte " +
                    std::to_string(range.offset) + ", that was never written",
                lane);
  } else {
    for (Row row : atomic.results) {
      step.undefine(row, lane);
      if (atomic.elementBytes == 16) {
        step.undefine(row + 1, lane);
      }
    }
  }
  Checker::setDefined(range, true);
}

Outcome execute(Step &step, const Atomic &atomic) {
  unsigned bytes = atomic.elementBytes * unsigned(atomic.operands.size());
  LaneRanges ranges = resolveLanes(step, atomic.target, atomic.address, bytes);
  step.forLanes([&](unsigned lane) {
    MemoryRange range = ranges.of(lane);
    if (range.region->kind == Region::Kind::Local || range.region->kind == Region::Kind::Param) {
      step.fault(Report::Kind::Invalid, "the address is neither in global nor in shared memory",
                 lane);
    }
    step.checkWritable(range, lane);
    checkDefined(step, atomic, range, lane);
    step.machine.checker.atomic(step.thread(lane), range, atomic.ordering.acquires,
                                atomic.ordering.releases, step.op.instruction,
                                AtomicKind::ReadModifyWrite, atomic.ordering.scope,
                                atomic.elementBytes);
    for (size_t i = 0; i != atomic.operands.size(); ++i) {
      apply(step, atomic, range, lane, i);
    }
  });
  return Outcome::Next;
}

Ordering takeSemantics(Decoder &decoder, bool isAtom) {
  Ordering ordering{.isStrong = true};
  if (isAtom && decoder.take("acq_rel")) {
    ordering.acquires = ordering.releases = true;
  } else if (isAtom && decoder.take("acquire")) {
    ordering.acquires = true;
  } else if (decoder.take("release")) {
    ordering.releases = true;
  } else {
    decoder.take("relaxed");
  }
  return ordering;
}

AtomicOp takeOperation(Decoder &decoder) {
  std::optional<unsigned> op =
      decoder.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
  if (!op) {
    decoder.unsupported(decoder.atEnd() ? "the operation is missing"
                                        : "operation `." + std::string(decoder.peek()) + "`");
  }
  return AtomicOp(*op);
}

/// What the type and the vector allow.
void checkType(Decoder &decoder, Atomic &atomic, unsigned count, bool noFtz) {
  ptx::Type type = atomic.type;
  bool isHalf = type == ptx::Type::F16 || type == ptx::Type::BF16 || type == ptx::Type::F16x2 ||
                type == ptx::Type::BF16x2;
  bool isExtreme = atomic.op == AtomicOp::Min || atomic.op == AtomicOp::Max;
  if (isHalf != noFtz) {
    decoder.unsupported(isHalf ? "`.noftz` is missing" : "`.noftz` with this type");
  }
  bool fits =
      count == 1 || ((isHalf || type == ptx::Type::F32) && ptx::bitsOf(type) * count <= 128);
  if (!fits || (isHalf && count == 1 && isExtreme)) {
    decoder.unsupported("this type and vector");
  }
  if (type == ptx::Type::B128 && (atomic.op == AtomicOp::Exch || atomic.op == AtomicOp::Cas)) {
    return;
  }
  atomic.onGlobal = combineOf(atomic.op, type, /*flushes=*/true);
  atomic.onShared = combineOf(atomic.op, type, /*flushes=*/false);
  if (!atomic.onGlobal) {
    decoder.unsupported("no such operation on ." + std::string(ptx::typeName(type)));
  }
}

Execute decodeAtomic(Decoder &decoder, bool isAtom) {
  static constexpr unsigned kCounts[] = {2, 4, 8};
  Atomic atomic;
  atomic.ordering = takeSemantics(decoder, isAtom);
  atomic.ordering.scope = takeScope(decoder).value_or(Scope::Gpu);
  atomic.target = takeTarget(decoder);
  if (atomic.target.space != ptx::Space::Generic && atomic.target.space != ptx::Space::Global &&
      atomic.target.space != ptx::Space::Shared) {
    decoder.unsupported("a space other than `.global` and `.shared`");
  }
  atomic.op = takeOperation(decoder);
  bool noFtz = decoder.take("noftz"), policy = decoder.take("L2::cache_hint");
  std::optional<unsigned> vector = decoder.takeOneOf({"v2", "v4", "v8"});
  unsigned count = vector ? kCounts[*vector] : 1;
  atomic.type = decoder.takeType();
  atomic.elementBytes = ptx::bitsOf(atomic.type) / 8;
  checkType(decoder, atomic, count, noFtz);
  size_t next = 0;
  if (isAtom) {
    const ptx::Operand &result = decoder.operand(next++);
    if (result.kind != ptx::Operand::Kind::Sink) {
      atomic.results = decoder.destinations(result, atomic.type);
    }
  }
  atomic.address = decoder.address(next++);
  if (atomic.op == AtomicOp::Cas) {
    atomic.compares = decoder.sources(decoder.operand(next++), atomic.type);
  }
  atomic.operands = decoder.sources(decoder.operand(next++), atomic.type);
  if (policy) {
    decoder.source(next++, ptx::Type::B64);
  }
  if (atomic.operands.size() != count ||
      (!atomic.results.empty() && atomic.results.size() != count) ||
      (!atomic.compares.empty() && count != 1)) {
    decoder.invalid("the operands have not the number of elements that the instruction says");
  }
  return [atomic = std::move(atomic)](Step &step) { return execute(step, atomic); };
}

} // namespace

Execute decodeAtom(Decoder &decoder) { return decodeAtomic(decoder, /*isAtom=*/true); }

Execute decodeRed(Decoder &decoder) {
  return decoder.peek() == "async" ? decodeReduceAsync(decoder)
                                   : decodeAtomic(decoder, /*isAtom=*/false);
}

} // namespace tile_emu
