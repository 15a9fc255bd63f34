//===- JoinNeighbours.cpp - elements of a thread that lie side by side ----===//
//
//     a = load x[4 t]; b = load x[4 t + 1]; ...  ->  v = load x[4 t] : vector<4>; a = v[0]; b = v[1]; ...
//
// What a program writes as `x[i :+ n]` it may as well have written as an unrolled loop over the elements. They are
// one access where the first one's index is surely a multiple of their number: a power of two, of up to 16 bytes.
// Indices that differ by constants have the same terms otherwise; sums that wrap keep the difference, and none wraps
// between a multiple of a power of two and the next one.
//
// Loads move up to the first one of them, stores down to the last: never past anything that orders memory or may
// access the same place.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Analysis.h"
#include "passes/GlobalAccess.h"
#include "passes/IntegerAnalysis.h"
#include "passes/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

namespace tilec {
#define GEN_PASS_DEF_JOINNEIGHBOURS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

constexpr int64_t kMostBytes = 16;

/// An integer as a sum of `terms` and a constant, under extensions to other types.
struct Sum {
  SmallVector<std::pair<OperationName, Type>> extensions;
  SmallVector<void *> terms; ///< in the order of their addresses; compared only
  int64_t constant = 0;      ///< with the sign of the sum's type

  bool differsByConstant(const Sum &o) const {
    return extensions == o.extensions && terms == o.terms;
  }
};

void addConstant(Sum &sum, const APInt &number) {
  const APInt before(number.getBitWidth(), uint64_t(sum.constant), /*isSigned=*/true);
  sum.constant = (before + number).getSExtValue();
}

void addTo(Sum &sum, Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    addConstant(sum, number);
  } else if (auto add = value.getDefiningOp<arith::AddIOp>()) {
    addTo(sum, add.getLhs());
    addTo(sum, add.getRhs());
  } else if (auto difference = value.getDefiningOp<arith::SubIOp>();
             difference && matchPattern(difference.getRhs(), m_ConstantInt(&number))) {
    addTo(sum, difference.getLhs());
    addConstant(sum, -number);
  } else {
    sum.terms.push_back(value.getAsOpaquePointer());
  }
}

Sum sumOf(Value value) {
  Sum sum;
  while (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(value.getDefiningOp())) {
    Operation *extension = value.getDefiningOp();
    sum.extensions.push_back({extension->getName(), value.getType()});
    value = extension->getOperand(0);
  }
  addTo(sum, value);
  llvm::sort(sum.terms);
  return sum;
}

/// Elements of the threads' own arrays are in registers, and no access of memory.
bool isLocal(Value place) {
  auto buffer = dyn_cast<tile::BufferType>(place.getType());
  return buffer && buffer.getScope() == tile::Scope::Local;
}

/// Elements of global or shared memory that a thread reads or writes.
struct Access {
  Operation *op = nullptr;
  Value place;
  ValueRange indices;
  Type type; ///< of an element, or a vector of them
  Sum last;  ///< of the indices

  static std::optional<Access> of(Operation *op) {
    using Found = std::optional<Access>;
    auto access = llvm::TypeSwitch<Operation *, Found>(op)
                      .Case<tile::LoadOp, tgpu::LoadElementOp>([](auto load) {
                        return Found({load, load.getSource(), load.getIndices(),
                                      load.getResult().getType(), Sum()});
                      })
                      .Case<tile::StoreOp, tgpu::StoreElementOp>([](auto store) {
                        return Found({store, store.getDest(), store.getIndices(),
                                      store.getValue().getType(), Sum()});
                      })
                      .Default([](Operation *) { return Found(); });
    if (!access || isLocal(access->place) || isa<RankedTensorType>(access->place.getType())) {
      return std::nullopt;
    }
    if (!access->indices.empty()) {
      access->last = sumOf(access->indices.back());
    }
    return access;
  }
  bool isLoad() const { return op->getNumResults() == 1; }
  bool isElement() const { return type.isIntOrFloat() && !indices.empty(); }
  /// Whether the two are elements of one row, at constant distance.
  bool isBeside(const Access &o) const {
    return isElement() && o.isElement() && place == o.place &&
           indices.drop_back() == o.indices.drop_back() && last.differsByConstant(o.last);
  }
};

/// Whether elements of the two places may be the same ones.
bool mayMeet(Value a, Value b) {
  const bool isGlobal = isa<tile::GlobalType>(a.getType());
  if (isGlobal != isa<tile::GlobalType>(b.getType())) {
    return false;
  }
  if (isGlobal) {
    return mayOverlap(tgpu::getBase(a), tgpu::getBase(b));
  }
  auto isWhole = [](Value place) {
    return isa_and_nonnull<tile::AllocOp, tgpu::AllocSharedOp>(place.getDefiningOp());
  };
  return a == b || !isWhole(a) || !isWhole(b);
}

/// Accesses of one kind, of one row, between which nothing keeps them from being one.
struct Run {
  SmallVector<Access> accesses;
  SmallVector<int64_t> written; // places of the row that were written after the first load
  bool isClosed = false;

  bool has(int64_t constant) const {
    return llvm::any_of(accesses, [&](const Access &x) { return x.last.constant == constant; });
  }
};

class Joiner {
public:
  Joiner(Block &block, const IntegerAnalysis &integers) : block(block), integers(integers) {}

  void run() {
    for (Operation &op : block) {
      if (std::optional<Access> access = Access::of(&op)) {
        visit(*access);
      } else if (!isMemoryEffectFree(&op) && !isa<tile::LoadOp, tile::StoreOp>(op)) {
        closeAll();
      }
    }
    for (Run &run : runs) {
      join(run);
    }
  }

private:
  void closeAll() {
    for (Run &run : runs) {
      run.isClosed = true;
    }
  }

  void visit(const Access &access) {
    const int64_t at = access.last.constant;
    Run *own = nullptr;
    for (Run &run : runs) {
      const Access &first = run.accesses[0];
      if (run.isClosed || !mayMeet(first.place, access.place)) {
        continue;
      }
      if (!first.isBeside(access)) {
        run.isClosed = !first.isLoad() || !access.isLoad();
      } else if (first.isLoad() && !access.isLoad()) {
        run.written.push_back(at);
      } else if (first.isLoad() != access.isLoad()) {
        run.isClosed = run.has(at); // a load of what is stored later
      } else if (llvm::is_contained(run.written, at) || (!first.isLoad() && run.has(at))) {
        run.isClosed = true;
      } else if (first.type == access.type && first.op->getDiscardableAttrDictionary() ==
                                                  access.op->getDiscardableAttrDictionary()) {
        own = &run;
      }
    }
    if (!own && access.isElement()) {
      own = &runs.emplace_back();
    }
    if (own && !own->has(at)) {
      own->accesses.push_back(access);
    }
  }

  void join(Run &run) {
    const int64_t bytes = llvm::divideCeil(tile::getStorageBits(run.accesses[0].type), 8);
    llvm::sort(run.accesses,
               [](const Access &x, const Access &y) { return x.last.constant < y.last.constant; });
    ArrayRef<Access> rest = run.accesses;
    while (!rest.empty()) {
      size_t count = kMostBytes / bytes;
      while (count > 1 && !isGroup(rest, count)) {
        count /= 2;
      }
      if (count > 1) {
        replace(rest.take_front(count));
      }
      rest = rest.drop_front(std::max<size_t>(count, 1));
    }
  }

  bool isGroup(ArrayRef<Access> accesses, size_t count) const {
    const int64_t number = int64_t(count);
    auto shared = dyn_cast<tgpu::SmemType>(accesses.front().place.getType());
    if (accesses.size() < count || integers.divisor(accesses[0].indices.back()) % number != 0 ||
        (shared && shared.getShape().back() % number != 0)) { // all are inside, or none
      return false;
    }
    for (size_t i = 0; i < count; ++i) {
      if (accesses[i].last.constant - accesses[0].last.constant != int64_t(i)) {
        return false;
      }
    }
    return true;
  }

  void replace(ArrayRef<Access> group) {
    auto [first, last] =
        std::minmax_element(group.begin(), group.end(), [](const Access &x, const Access &y) {
          return x.op->isBeforeInBlock(y.op);
        });
    auto type = VectorType::get({int64_t(group.size())}, group[0].type);
    Operation *at = group[0].isLoad() ? first->op : last->op;
    if (!makeAvailable(group[0].indices.back(), at)) {
      return;
    }
    OpBuilder b(at);
    OperationState state(at->getLoc(), at->getName());
    state.addAttributes(at->getAttrs());
    if (group[0].isLoad()) {
      state.addTypes(type);
    } else {
      auto values =
          llvm::map_to_vector(group, [](const Access &access) { return access.op->getOperand(0); });
      state.addOperands(vector::FromElementsOp::create(b, at->getLoc(), type, values).getResult());
    }
    state.addOperands(group[0].place);
    state.addOperands(group[0].indices);
    Operation *joined = b.create(state);
    for (auto [i, access] : llvm::enumerate(group)) {
      if (access.isLoad()) {
        Value element =
            vector::ExtractOp::create(b, access.op->getLoc(), joined->getResult(0), int64_t(i));
        access.op->getResult(0).replaceAllUsesWith(element);
      }
    }
    for (const Access &access : group) {
      access.op->erase();
    }
  }

  /// Computes `index` before `op`, if it is not, from what is known there.
  static bool makeAvailable(Value index, Operation *op) {
    Operation *definition = index.getDefiningOp();
    if (!definition || definition->getBlock() != op->getBlock() ||
        definition->isBeforeInBlock(op)) {
      return true;
    }
    if (!isMemoryEffectFree(definition) || definition->getNumRegions() != 0 ||
        !llvm::all_of(definition->getOperands(),
                      [&](Value operand) { return makeAvailable(operand, op); })) {
      return false;
    }
    definition->moveBefore(op);
    return true;
  }

  Block &block;
  const IntegerAnalysis &integers;
  std::vector<Run> runs; // in the order of their first accesses
};

struct JoinNeighbours : tilec::impl::JoinNeighboursBase<JoinNeighbours> {
  void runOnOperation() override {
    IntegerAnalysis integers(getOperation());
    getOperation().walk([&](tile::ThreadsOp threads) {
      threads.walk([&](Block *block) { Joiner(*block, integers).run(); });
    });
  }
};

} // namespace
