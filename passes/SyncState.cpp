//===- SyncState.cpp - what is known between two operations --------------===//
#include "passes/SyncState.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/Hashing.h"

#include <unordered_map>

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

/// What accesses have in common that only their slots and ages tell apart.
static auto likenessOf(const Access &access) {
  const Memory &memory = access.memory;
  return std::tuple(access.op, access.write, access.flight, access.thread, access.fenced,
                    access.synced, access.released, access.met, memory.alloc, ArrayRef(memory.low));
}

static bool isAnywhere(const Memory &memory) {
  return memory.slot && memory.slot->forms.empty() && memory.inner.empty();
}

namespace {
/// Accesses by their likeness: lists of thousands (rings of many slots) are compared again and again.
class AccessIndex {
public:
  explicit AccessIndex(ArrayRef<Access> list) {
    for (auto [place, access] : llvm::enumerate(list)) {
      placesLike(access).push_back(unsigned(place));
    }
  }

  /// Places of a list that hold what is like the access, or happens to have its hash.
  SmallVectorImpl<unsigned> &placesLike(const Access &access) {
    return places[size_t(hash_value(likenessOf(access)))];
  }

private:
  std::unordered_map<size_t, SmallVector<unsigned, 2>> places;
};
} // namespace

/// Adds an access of shared memory to a list, of which `places` hold all that is like it. Returns
/// those that are no longer said: what is at any position says all that the others say, so that
/// states only grow.
static SmallVector<unsigned, 0> addLike(SmallVectorImpl<Access> &into, const Access &item,
                                        ArrayRef<unsigned> places) {
  SmallVector<unsigned, 0> alike;
  int64_t youngest = item.age;
  for (const unsigned place : places) {
    Access &other = into[place];
    if (likenessOf(other) != likenessOf(item)) {
      continue;
    }
    if (other.memory == item.memory || isAnywhere(other.memory)) {
      other.age = std::min(other.age, item.age);
      return {};
    }
    youngest = std::min(youngest, other.age);
    alike.push_back(place);
  }
  into.push_back(item);
  if (!isAnywhere(item.memory) && int64_t(alike.size()) <= 2 * item.memory.slots) {
    return {};
  }
  into.back().memory.slot = Position();
  into.back().memory.inner.clear();
  into.back().age = youngest;
  return alike;
}

static void erasePlaces(SmallVectorImpl<Access> &list, ArrayRef<unsigned> places) {
  llvm::BitVector gone(unsigned(list.size()));
  for (const unsigned place : places) {
    gone.set(place);
  }
  unsigned place = 0;
  llvm::erase_if(list, [&](const Access &) { return gone[place++]; });
}

void sync::addAccess(SmallVectorImpl<Access> &into, const Access &item) {
  if (item.memory.global) {
    return addGlobalAccess(into, item);
  }
  SmallVector<unsigned, 0> places;
  for (auto [place, other] : llvm::enumerate(into)) {
    if (other.op == item.op) {
      places.push_back(unsigned(place));
    }
  }
  erasePlaces(into, addLike(into, item, places));
}

void sync::unite(SmallVectorImpl<Access> &into, ArrayRef<Access> other) {
  AccessIndex index(into);
  SmallVector<unsigned, 0> gone;
  for (const Access &item : other) {
    if (item.memory.global) {
      continue;
    }
    SmallVectorImpl<unsigned> &places = index.placesLike(item);
    const size_t before = into.size();
    const SmallVector<unsigned, 0> replaced = addLike(into, item, places);
    llvm::erase_if(places, [&](unsigned place) { return llvm::is_contained(replaced, place); });
    llvm::append_range(gone, replaced);
    if (into.size() != before) {
      places.push_back(unsigned(before));
    }
  }
  erasePlaces(into, gone);
  for (const Access &item : other) {
    if (item.memory.global) {
      addGlobalAccess(into, item);
    }
  }
}

void sync::uniteAges(llvm::MapVector<Value, int64_t> &into,
                     const llvm::MapVector<Value, int64_t> &other) {
  for (auto &[value, age] : other) {
    auto [it, isNew] = into.insert({value, age});
    it->second = std::min(it->second, age);
  }
}

/// Whether a list that `index` is of holds the access.
static bool contains(ArrayRef<Access> list, AccessIndex &index, const Access &access) {
  return llvm::any_of(index.placesLike(access),
                      [&](unsigned place) { return list[place] == access; });
}

/// Marks what is released in `other`.
static void takeReleases(SmallVectorImpl<Access> &into, ArrayRef<Access> other) {
  AccessIndex index(other);
  for (Access &access : into) {
    Access released = access;
    released.released = true;
    access.released |= contains(other, index, released);
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
  AccessIndex ofA(a.pending), ofB(b.pending);
  const bool isSame =
      llvm::all_of(b.pending, [&](const Access &x) { return contains(a.pending, ofA, x); }) &&
      llvm::all_of(a.pending, [&](const Access &x) { return contains(b.pending, ofB, x); });
  return !isSame                                ? "pending accesses"
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
