//===- VerifyRoles.cpp - do roles meet in global memory? ------------------===//
//
// Channels and barriers order what roles do in shared memory; nothing orders their accesses of global memory, so at one point of the
// grid these are apart, or all read. Each role has its own copy of the numbers that say where it is: they are compared by how
// they are computed.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/OperationSupport.h"
#include "passes/Analysis.h"
#include "passes/SyncChecker.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

namespace {

/// One value for all that are computed alike, from the same values outside of the roles and for the same point of the grid.
class Alike {
public:
  Value of(Value value);

private:
  llvm::DenseMap<Value, Value> known;                             ///< looked up only
  llvm::DenseMap<OperationName, SmallVector<Operation *>> firsts; ///< of their kind; looked up only
  llvm::DenseMap<unsigned, Value> points; ///< of loops over the grid, by number; looked up only
};

} // namespace

Value Alike::of(Value value) {
  auto found = known.find(value);
  if (found != known.end()) {
    return found->second;
  }
  Value first = value;
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    if (runsOverGrid(argument.getOwner()->getParentOp())) {
      first = points.insert({argument.getArgNumber(), value}).first->second;
    }
  } else if (op->getNumRegions() == 0 && isMemoryEffectFree(op)) {
    llvm::for_each(op->getOperands(), [&](Value operand) { of(operand); }); // all are known below
    SmallVector<Operation *> &others = firsts[op->getName()];
    auto *same = llvm::find_if(others, [&](Operation *other) {
      return OperationEquivalence::isEquivalentTo(
          op, other, [&](Value a, Value b) { return success(known.lookup(a) == known.lookup(b)); },
          /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
    });
    if (same == others.end()) {
      others.push_back(op);
    } else {
      first = (*same)->getResult(cast<OpResult>(value).getResultNumber());
    }
  }
  known[value] = first;
  return first;
}

/// The access with the numbers that all roles have.
static Access shared(Access access, Alike &alike) {
  GlobalRegion &region = *access.memory.global;
  region.view = region.view ? alike.of(region.view->getResult(0)).getDefiningOp() : nullptr;
  for (IndexRange &range : region.indices) {
    for (auto &[value, factor] : range.terms) {
      value = alike.of(value);
    }
    llvm::sort(range.terms, [](const IndexRange::Term &a, const IndexRange::Term &b) {
      return a.first.getAsOpaquePointer() < b.first.getAsOpaquePointer();
    });
  }
  return access;
}

void Checker::checkGlobal() {
  Alike alike;
  kernel.walk([&](tgpu::RolesOp roles) {
    SmallVector<std::pair<Access, Region *>, 0> accesses;
    for (Region &role : roles.getBodies()) {
      role.walk([&](Operation *op) {
        for (const Access &access : accessesOf(op)) {
          if (access.memory.global && isFollowed(access)) {
            accesses.emplace_back(shared(access, alike), &role);
          }
        }
      });
    }
    for (auto [number, now] : llvm::enumerate(accesses)) {
      for (const auto &before : ArrayRef(accesses).take_front(number)) {
        if (now.second != before.second && mayMeet(now.first, before.first)) {
          return report(now.first.op,
                        "touches global memory that another role touches, too: nothing orders them",
                        before.first.op, "by the other role here");
        }
      }
    }
  });
}
