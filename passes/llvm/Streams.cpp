//===- Streams.cpp - element-wise work that waits interrupt ---------------===//
//
// The body is written slot by slot, sorted by the source slot of its first broadcast, and each event
// behind its share of the slots. That order has to survive two compilers:
// - LLVM sinks what is used later only below the event's branches: the results so far, and values of
//   before that only later code uses, pass through an empty assembly in front of the event.
// - ptxas moves arithmetic across waits within a basic block: each event has a branch. The spin of a
//   channel's wait is one; an event without it gets a branch that ptxas cannot turn into predicates.
// - ptxas moves arithmetic up across branches and waits: behind an event that retires accumulators
//   the slots that are left get operands that depend on these, value | (accumulator & zero), where
//   nobody knows the zero.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/llvm/KernelLowering.h"
#include "passes/llvm/SlotCode.h"
#include "passes/llvm/TiedAssembly.h"

#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;

namespace tilec::lowering {

static bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

/// Copies of values in slots, without code of its own.
static bool isSpread(Operation *op) {
  return isa<tile::BroadcastOp, tile::SplatOp, arith::ConstantOp>(op);
}

class StreamLowering {
public:
  StreamLowering(KernelLowering &lowering, tgpu::StreamOp stream)
      : lowering(lowering), b(lowering.b), stream(stream), body(stream.getBody().front()) {}

  LogicalResult run() {
    if (failed(prepare())) {
      return failure();
    }
    size_t done = 0;
    for (auto [percent, event] : llvm::zip_equal(stream.getPercents(), stream.getEvents())) {
      const size_t until = 2 * (order.size() * size_t(percent) / 200);
      emit(done, until);
      hold(placesToHold(done, until, /*isFirst=*/&event == &stream.getEvents().front()));
      const SmallVector<Value> late = chooseLate(event.front(), until);
      lowering.wantedMarks = late.size();
      lowering.marks.clear();
      if (failed(lowerEvent(event.front()))) {
        return failure();
      }
      lowering.wantedMarks = 0;
      done = until;
      dependOnMarks(late, done);
    }
    emit(done, order.size());
    Operation *yield = body.getTerminator();
    for (auto [value, result] : llvm::zip_equal(yield->getOperands(), stream.getResultsOf(yield))) {
      lowering.scalars[result] = slotsOf(value);
    }
    return success();
  }

private:
  /// An element-wise operation of the body.
  struct Step {
    Operation *op;
    SlotCode code;
  };

  /// The slots of a value that the body uses or computes.
  Fragment slotsOf(Value value) {
    auto found = slots.find(value);
    return found != slots.end() ? found->second : lowering.scalars.lookup(value);
  }

  LogicalResult prepare() {
    Value sortedBy;
    for (Operation &op : body.without_terminator()) {
      lowering.loc = op.getLoc();
      if (isSpread(&op)) {
        if (failed(lowering.lowerOp(&op))) {
          return failure();
        }
        sortedBy = sortedBy || !isa<tile::BroadcastOp>(op) ? sortedBy : op.getResult(0);
      } else if (failed(addStep(&op))) {
        return failure();
      }
    }
    lowering.loc = stream.getLoc();
    sortSlots(sortedBy);
    return success();
  }

  LogicalResult addStep(Operation *op) {
    SmallVector<Type> types;
    if (failed(lowering.flattenTypes(op, op->getResult(0).getType(), types))) {
      return failure();
    }
    const size_t count = types.size();
    const layout::RegisterLayout *to = tgpu::getLayout(op->getResult(0).getType());
    for (Value operand : op->getOperands()) {
      if (slots.contains(operand)) {
        continue;
      }
      FailureOr<Fragment> values = lowering.flatten(op, operand);
      if (failed(values)) {
        return failure();
      }
      if (isa<RankedTensorType>(operand.getType())) {
        const layout::RegisterLayout *from = tgpu::getLayout(operand.getType());
        if (!from || !to || !from->sameMap(*to) || values->size() != count) {
          return lowering.unsupported(
              op, "an element-wise operation on fragments of different layouts");
        }
      } else {
        *values = Fragment(count, values->front());
      }
      slots[operand] = *values;
      operands.push_back(operand);
    }
    for (Value result : op->getResults()) {
      slots[result] = Fragment(count, Value());
    }
    order.resize(count);
    inPairs |= SlotCode::isPairwise(op) && count % 2 == 0;
    steps.push_back({op, SlotCode(lowering, op)});
    return success();
  }

  /// By the source slot of a broadcast, in the order in which these appear.
  void sortSlots(Value broadcast) {
    std::iota(order.begin(), order.end(), size_t(0));
    if (!broadcast) {
      return;
    }
    const Fragment values = lowering.scalars.lookup(broadcast);
    auto sourceOf = [&](size_t slot) {
      return llvm::find(values, values[inPairs ? slot / 2 * 2 : slot]) - values.begin();
    };
    llvm::sort(order, [&](size_t x, size_t y) {
      return std::pair(sourceOf(x), x) < std::pair(sourceOf(y), y);
    });
  }

  void emit(size_t from, size_t until) {
    auto operandsOf = [&](Operation *op, size_t slot) {
      return llvm::map_to_vector<3>(op->getOperands(), [&](Value v) { return slots[v][slot]; });
    };
    auto set = [&](Operation *op, size_t slot, const Fragment &values) {
      for (auto [result, value] : llvm::zip_equal(op->getResults(), values)) {
        slots[result][slot] = value;
      }
    };
    for (size_t i = from; i < until; i += inPairs ? 2 : 1) {
      for (Step &step : steps) {
        lowering.loc = step.op->getLoc();
        const size_t slot = order[i];
        if (inPairs) {
          auto [even, odd] =
              step.code.emitTwo(operandsOf(step.op, slot), operandsOf(step.op, slot + 1));
          set(step.op, slot, even);
          set(step.op, slot + 1, odd);
        } else {
          set(step.op, slot, step.code.emit(operandsOf(step.op, slot)));
        }
      }
    }
    lowering.loc = stream.getLoc();
  }

  // ---- Against LLVM.

  /// A fragment of the stream's block that only code behind the stream uses, and not products,
  /// which may read its registers in flight.
  bool isForLater(Operation &op) {
    auto isBehind = [&](Operation *user) {
      Operation *top = stream->getBlock()->findAncestorOpInBlock(*user);
      return top && top != stream && stream->isBeforeInBlock(top);
    };
    auto isUsedHere = [&](Operation *user) {
      return stream->isAncestor(user) || isa<tgpu::WgmmaOp, tgpu::WgmmaWaitOp>(user);
    };
    return !isSpread(&op) && op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
           llvm::all_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
           llvm::any_of(op.getUsers(), isBehind) && llvm::none_of(op.getUsers(), isUsedHere);
  }

  SmallVector<Value *> placesToHold(size_t from, size_t until, bool isFirst) {
    SmallVector<Value *> places;
    for (Value value : llvm::SetVector<Value>(body.getTerminator()->operand_begin(),
                                              body.getTerminator()->operand_end())) {
      if (value.getParentBlock() == &body && slots.contains(value)) {
        for (size_t slot : ArrayRef<size_t>(order).slice(from, until - from)) {
          places.push_back(&slots[value][slot]);
        }
      }
    }
    for (Operation &op : *stream->getBlock()) {
      if (!isFirst || &op == stream) {
        break;
      }
      if (isForLater(op)) {
        for (Value result : op.getResults()) {
          for (Value &value : lowering.scalars[result]) {
            places.push_back(&value);
          }
        }
      }
    }
    return places;
  }

  /// What stands in `places` has been computed here. Narrow slots pass as words.
  void hold(ArrayRef<Value *> places) {
    llvm::MapVector<Type, llvm::SetVector<Value>> byType;
    for (Value *place : places) {
      if (!isConstant(*place)) {
        byType[place->getType()].insert(*place);
      }
    }
    Fragment words;
    for (auto &[type, values] : byType) {
      words.append(asRegisters(type, values.getArrayRef()));
    }
    if (words.empty()) {
      return;
    }
    words = tiedAssembly(b, lowering.loc, "", words, {}, "", /*clobbersMemory=*/false);
    llvm::DenseMap<Value, Value> held;
    ArrayRef<Value> rest = words;
    for (auto &[type, values] : byType) {
      const size_t inWord = perRegister(type);
      Fragment back;
      for (Value word : rest.take_front(llvm::divideCeil(values.size(), inWord))) {
        if (inWord == 1) {
          back.push_back(word);
        } else {
          lowering.unpackWord(word, type, back);
        }
      }
      rest = rest.drop_front(llvm::divideCeil(values.size(), inWord));
      for (auto [from, to] : llvm::zip(values, back)) {
        held[from] = to;
      }
    }
    for (Value *place : places) {
      auto found = held.find(*place);
      *place = found == held.end() ? *place : found->second;
    }
  }

  static size_t perRegister(Type type) {
    return 32 / std::min(32U, std::max(8U, type.getIntOrFloatBitWidth()));
  }

  Fragment asRegisters(Type type, ArrayRef<Value> values) {
    Fragment padded(values);
    while (padded.size() % perRegister(type) != 0) {
      padded.push_back(padded.back());
    }
    return perRegister(type) == 1 ? padded : lowering.packWords(padded);
  }

  // ---- Events.

  LogicalResult lowerEvent(Block &event) {
    const bool spins = llvm::any_of(event, llvm::IsaPred<tgpu::WaitOp, tgpu::AcquireOp>);
    if (!spins) {
      lowering.guarded(lowering.compare(arith::CmpIPredicate::eq, lowering.laneId, lowering.i32(0)),
                       [&] { NVVM::SyncWarpOp::create(b, lowering.loc, lowering.i32(1)); });
    }
    if (failed(lowering.lowerBlock(event))) {
      return failure();
    }
    lowering.loc = stream.getLoc();
    Operation *yield = event.getTerminator();
    FailureOr<Fragment> values = lowering.flatten(yield, yield->getOperands());
    if (failed(values)) {
      return failure();
    }
    lowering.bind(stream.getResultsOf(yield), *values);
    return success();
  }

  // ---- Against ptxas.

  /// What all slots together cost, in instructions of full rate.
  static int64_t costOf(Operation *op) {
    const bool isSlow = (isa<math::MathDialect>(op->getDialect()) &&
                         !isa<math::FmaOp, math::AbsFOp, math::AbsIOp>(op)) ||
                        isa<arith::DivFOp, arith::RemFOp, tile::DivOp, tile::RemOp>(op);
    return isSlow ? 8 : 1;
  }

  /// The steps that need an operand.
  llvm::BitVector stepsBehind(Value operand) {
    llvm::DenseSet<Value> needing = {operand};
    llvm::BitVector result(steps.size());
    for (auto [i, step] : llvm::enumerate(steps)) {
      if (llvm::any_of(step.op->getOperands(), [&](Value v) { return needing.contains(v); })) {
        needing.insert(step.op->result_begin(), step.op->result_end());
        result.set(i);
      }
    }
    return result;
  }

  /// Instructions that let an operand depend on something. A scalar, unlike the values of rows, would
  /// take one more register.
  int64_t priceOf(Value operand, size_t from) {
    llvm::SmallDenseSet<Value, 8> values;
    for (size_t slot : ArrayRef<size_t>(order).drop_front(from)) {
      values.insert(slots[operand][slot]);
    }
    return values.size() == 1 ? 4 : int64_t(values.size());
  }

  /// Operands that hold back the steps of the slots from `from` on. Each is worth it by itself.
  SmallVector<Value> chooseOperands(size_t from) {
    SmallVector<Value> chosen;
    llvm::BitVector open(steps.size(), true);
    while (true) {
      Value best;
      int64_t most = 0;
      for (Value operand : operands) {
        const Fragment &values = slots[operand];
        if (llvm::is_contained(chosen, operand) || llvm::all_of(values, isConstant)) {
          continue;
        }
        int64_t gain = -priceOf(operand, from);
        llvm::BitVector behind = stepsBehind(operand);
        for (unsigned step : (behind &= open).set_bits()) {
          gain += costOf(steps[step].op) * int64_t(order.size() - from);
        }
        if (gain > most) {
          most = gain;
          best = operand;
        }
      }
      if (!best) {
        return chosen;
      }
      chosen.push_back(best);
      open.reset(stepsBehind(best));
    }
  }

  /// The values of operands by which the slots from `from` on shall depend on a product that the event
  /// waits for.
  SmallVector<Value> chooseLate(Block &event, size_t from) {
    const bool retires =
        llvm::any_of(event.getOps<tgpu::WgmmaWaitOp>(), [](tgpu::WgmmaWaitOp wait) {
          return llvm::any_of(wait.getResultTypes(), llvm::IsaPred<RankedTensorType>);
        });
    llvm::SetVector<Value> late;
    if (retires && from != order.size()) {
      for (Value operand : chooseOperands(from)) {
        for (size_t slot : ArrayRef<size_t>(order).drop_front(from)) {
          if (Value value = slots[operand][slot]; !isConstant(value)) {
            late.insert(value);
            lateOperands.insert(operand);
          }
        }
      }
    }
    return late.takeVector();
  }

  /// Replaces such values, of which each is behind a zero of the last wait.
  void dependOnMarks(ArrayRef<Value> late, size_t from) {
    llvm::DenseMap<Value, Value> behindWait;
    for (auto [i, value] : llvm::enumerate(late)) {
      if (!lowering.marks.empty()) {
        behindWait[value] = behind(value, lowering.marks[i % lowering.marks.size()]);
      }
    }
    for (Value operand : lateOperands) {
      for (size_t slot : ArrayRef<size_t>(order).drop_front(from)) {
        Value &value = slots[operand][slot];
        auto found = behindWait.find(value);
        value = found == behindWait.end() ? value : found->second;
      }
    }
    lateOperands.clear();
  }

  Value bits(Value value) {
    Type type = value.getType();
    return isa<FloatType>(type)
               ? Value(arith::BitcastOp::create(
                     b, lowering.loc, b.getIntegerType(type.getIntOrFloatBitWidth()), value))
               : value;
  }

  /// `value`, but not before `nothing`, which is 0, is there.
  Value behind(Value value, Value nothing) {
    Location loc = lowering.loc;
    Value own = bits(value);
    const unsigned width = own.getType().getIntOrFloatBitWidth();
    if (width < 32) {
      nothing = arith::TruncIOp::create(b, loc, own.getType(), nothing);
    } else if (width > 32) {
      nothing = arith::ExtUIOp::create(b, loc, own.getType(), nothing);
    }
    Value both = arith::OrIOp::create(b, loc, own, nothing);
    return both.getType() == value.getType()
               ? both
               : Value(arith::BitcastOp::create(b, loc, value.getType(), both));
  }

  KernelLowering &lowering;
  OpBuilder &b;
  tgpu::StreamOp stream;
  Block &body;
  SmallVector<Step, 0> steps;
  SmallVector<Value> operands;           // of the steps, that none of them computes
  SmallVector<size_t> order;             // of the slots
  llvm::SetVector<Value> lateOperands;   // of the event that is being emitted
  bool inPairs = false;                  // slots 2i and 2i + 1 stay together
  llvm::DenseMap<Value, Fragment> slots; // of operands and results of the steps; looked up only
};

LogicalResult KernelLowering::lowerStream(tgpu::StreamOp op) {
  return StreamLowering(*this, op).run();
}

/// Launches are one-dimensional (docs/pack.md), so the third index of a block is 0.
Value KernelLowering::hiddenZero() {
  if (!zeroAtRunTime) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(smemBase.getDefiningOp());
    zeroAtRunTime =
        LLVM::InlineAsmOp::create(
            b, kernel.getLoc(), b.getI32Type(), ValueRange(), "mov.u32 $0, %ctaid.z;", "=r",
            /*has_side_effects=*/true, /*is_align_stack=*/false,
            LLVM::tailcallkind::TailCallKind::None,
            LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
            .getResult(0);
  }
  return zeroAtRunTime;
}

} // namespace tilec::lowering
