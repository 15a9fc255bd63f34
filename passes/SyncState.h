//===- SyncState.h - what is known between two operations ------*- C++ -*-===//
#ifndef TILEC_PASSES_SYNCSTATE_H
#define TILEC_PASSES_SYNCSTATE_H

#include "passes/Sync.h"

namespace tilec::sync {

/// Groups beyond which products and copies are not told apart.
inline constexpr int64_t kMaxAge = 8;

void unite(llvm::SmallVectorImpl<Access> &into, llvm::ArrayRef<Access> other);
/// Of two ages the younger one holds.
void uniteAges(llvm::MapVector<mlir::Value, int64_t> &into,
               const llvm::MapVector<mlir::Value, int64_t> &other);
/// What either path may have left behind; the slots that both hold the walker joins. A release on one
/// path counts: on the other the slot has not been taken.
void joinPaths(State &into, const State &other);
/// A slot taken before a loop is another distance from the loop's variable in each iteration: after
/// the first one only the names that stay right are kept.
void keepOuterNames(llvm::SmallVectorImpl<Held> &list, mlir::Operation *loop);
/// What tells two states apart; empty when nothing does.
llvm::StringRef difference(const State &a, const State &b);
/// What is known of `from` holds for `to`.
void carryFacts(State &state, const State &source, mlir::ValueRange from, mlir::ValueRange to);

/// Gives positions other names, and regions of global memory.
template <typename Rename>
void renameAll(State &state, Rename rename) {
  for (Access &access : state.pending) {
    if (access.memory.global) {
      rename(*access.memory.global);
    }
    if (access.arrival) {
      rename(*access.arrival);
    }
    auto renameSlot = [&](Position &slot, int64_t slots) {
      rename(slot);
      for (Linear &form : slot.forms) {
        form.constant %= slots; // so that a loop has finitely many
      }
    };
    if (access.memory.slot) {
      renameSlot(*access.memory.slot, access.memory.slots);
    }
    for (auto &[slot, slots] : access.memory.inner) {
      renameSlot(slot, slots);
    }
  }
  for (auto *list : {&state.held, &state.acquired}) {
    for (Held &held : *list) {
      rename(held.position);
    }
  }
  llvm::SmallVector<Access, 0> once;
  unite(once, state.pending);
  state.pending = once;
}

} // namespace tilec::sync

#endif // TILEC_PASSES_SYNCSTATE_H
