//===- SyncState.cpp - what is known between two operations --------------===//
#include "passes/SyncState.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

void sync::addAccess(SmallVectorImpl<Access> &into, const Access &item) {
  auto likeItem = [&](const Access &other) {
    return std::tuple(other.op, other.write, other.flight, other.thread, other.fenced, other.synced,
                      other.released, other.memory.low, other.memory.alloc) ==
           std::tuple(item.op, item.write, item.flight, item.thread, item.fenced, item.synced,
                      item.released, item.memory.low, item.memory.alloc);
  };
  if (item.memory.global) {
    return addGlobalAccess(into, item);
  }
  int64_t alike = 0, youngest = item.age;
  for (Access &other : into) {
    if (!likeItem(other)) {
      continue;
    }
    if (other.memory == item.memory ||
        (other.memory.slot && other.memory.slot->forms.empty() && other.memory.inner.empty())) {
      other.age = std::min(other.age, item.age);
      return;
    }
    youngest = std::min(youngest, other.age);
    ++alike;
  }
  // What is at any position says all that the others say: they go, so that states only grow.
  const bool isAny =
      item.memory.slot && item.memory.slot->forms.empty() && item.memory.inner.empty();
  if (isAny || alike > 2 * item.memory.slots) {
    llvm::erase_if(into, likeItem);
    into.push_back(item);
    into.back().memory.slot = Position();
    into.back().memory.inner.clear();
    into.back().age = youngest;
    return;
  }
  into.push_back(item);
}

void sync::unite(SmallVectorImpl<Access> &into, ArrayRef<Access> other) {
  for (const Access &item : other) {
    addAccess(into, item);
  }
}

void sync::uniteAges(llvm::MapVector<Value, int64_t> &into,
                     const llvm::MapVector<Value, int64_t> &other) {
  for (auto &[value, age] : other) {
    auto [it, isNew] = into.insert({value, age});
    it->second = std::min(it->second, age);
  }
}

/// Marks what is released in `other`.
static void takeReleases(SmallVectorImpl<Access> &into, ArrayRef<Access> other) {
  for (Access &access : into) {
    Access released = access;
    released.released = true;
    access.released |= llvm::is_contained(other, released);
  }
}

void sync::joinPaths(State &into, const State &other) {
  SmallVector<Access, 0> pending(other.pending);
  takeReleases(pending, into.pending);
  takeReleases(into.pending, pending);
  unite(into.pending, pending);
  uniteAges(into.ages, other.ages);
  uniteAges(into.operands, other.operands);
  into.unfenced.insert(other.unfenced.begin(), other.unfenced.end());
  into.unpublished.insert(other.unpublished.begin(), other.unpublished.end());
}

void sync::keepOuterNames(SmallVectorImpl<Held> &list, Operation *loop) {
  auto isOuter = [&](const Linear &form) {
    return llvm::none_of(form.leaves, [&](Value leaf) {
      return loop->isAncestor(leaf.getParentBlock()->getParentOp());
    });
  };
  for (Held &held : list) {
    if (!loop->isProperAncestor(held.op) && llvm::any_of(held.position.forms, isOuter)) {
      llvm::erase_if(held.position.forms, [&](const Linear &form) { return !isOuter(form); });
    }
  }
}

StringRef sync::difference(const State &a, const State &b) {
  auto covers = [](const auto &x, const auto &y) {
    return llvm::all_of(y, [&](const auto &item) { return llvm::is_contained(x, item); });
  };
  auto differ = [&](const auto &x, const auto &y) { return !covers(x, y) || !covers(y, x); };
  return differ(a.pending, b.pending)           ? "pending accesses"
         : differ(a.held, b.held)               ? "slots held"
         : differ(a.acquired, b.acquired)       ? "slots acquired"
         : differ(a.ages, b.ages)               ? "products in flight"
         : differ(a.operands, b.operands)       ? "operands in registers"
         : differ(a.unfenced, b.unfenced)       ? "fragments written"
         : differ(a.unpublished, b.unpublished) ? "data not handed over"
                                                : "";
}

void sync::carryFacts(State &state, const State &source, ValueRange from, ValueRange to) {
  for (auto [old, fresh] : llvm::zip_equal(from, to)) {
    if (auto it = source.ages.find(old); it != source.ages.end()) {
      state.ages[fresh] = it->second;
    }
    if (source.unfenced.contains(old)) {
      state.unfenced.insert(fresh);
    } else {
      state.unfenced.remove(fresh);
    }
  }
}
