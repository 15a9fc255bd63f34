//===- SyncChecker.h - what tgpu-verify-sync checks on its walk -*- C++ -*-===//
#ifndef TILEC_PASSES_SYNCCHECKER_H
#define TILEC_PASSES_SYNCCHECKER_H

#include "passes/Sync.h"

namespace tilec::sync {

/// What an error calls a part of memory, and a channel.
std::string nameOf(const Memory &memory);
std::string nameOf(mlir::Value channel);

/// Reports what is not ordered, and broken protocols: channels (VerifyChannels.cpp), groups of matrix
/// products and the fence before their registers (VerifySync.cpp).
class Checker : public Walker {
public:
  explicit Checker(tgpu::KernelOp kernel);

  bool failed = false;

  void checkArrivals();
  void checkBarriers();
  void checkWaits();
  /// Reports roles and threads that wait for each other (VerifyProgress.cpp).
  void checkProgress();
  void checkGlobal();
  /// Reports waits of teams outside of their turns (VerifyTurns.cpp).
  void checkTurns();
  /// Reports loads for other blocks that these do not do alike (VerifyClusters.cpp).
  void checkClusters();

private:
  /// One error for each operation, with a note at `earlier`.
  void report(mlir::Operation *op, const llvm::Twine &message, mlir::Operation *earlier = nullptr,
              llvm::StringRef note = "") {
    failed = true;
    if (!reported.insert(op).second) {
      return;
    }
    mlir::InFlightDiagnostic error = op->emitOpError(message);
    if (earlier) {
      error.attachNote(earlier->getLoc()) << note;
    }
  }

  bool hazard(Hazard kind, mlir::Operation *outer, const Access &now,
              const Access &before) override;
  void visit(mlir::Operation *op) override;
  void oneSided(mlir::Operation *branch, const Held &held, bool acquired) override;
  void atEnd(mlir::Operation *parent) override;

  /// Channels on which a role says that it has used a buffer.
  void collectHandovers(mlir::Region &role);
  void checkRefill(tgpu::TmaLoadOp load);
  void checkFirstRound(tgpu::TmaLoadOp load);
  void checkArrival(tgpu::WaitOp wait);
  void checkGuard(const Access &access);
  void checkRelease(tgpu::ReleaseOp release);
  void checkPublish(tgpu::PublishOp publish);
  bool hasSlot(tgpu::PublishOp publish);
  void checkProduct(tgpu::WgmmaOp product);
  void checkWait(tgpu::WgmmaWaitOp wait);
  void checkOperands(mlir::Operation *op);
  void checkLoad(tgpu::TmaLoadOp load);
  void checkExpect(tgpu::ExpectOp expect);

  /// True if nobody can change a slot that the role has handed over: it is not filled again before the role gives it
  /// back, and no other writes to it.
  bool isShared(mlir::Value channel, const Memory &memory);
  bool isFromOthers(mlir::Value channel);
  void reportUnguarded(const Access &access, mlir::Value channel);
  /// `reads`: slots that it shares count.
  bool holdsSlot(llvm::ArrayRef<Held> list, mlir::Value channel, const Memory &memory,
                 bool reads = false) {
    return llvm::any_of(list, [&](const Held &held) {
      return held.channel == channel && isHeld(held) &&
             (!held.given || (reads && isShared(channel, memory))) &&
             (!memory.slot || held.position.equals(*memory.slot));
    });
  }

  llvm::SmallPtrSet<mlir::Operation *, 8> reported, usedAsync;
  /// Buffer, to each role that uses it, to the channels it publishes after a use.
  llvm::DenseMap<mlir::Operation *,
                 llvm::MapVector<mlir::Region *, llvm::SmallVector<mlir::Value, 2>>>
      handovers;
  llvm::DenseSet<mlir::Value>
      withEmpty; ///< channels with consumers, whose slots have to be given back
  llvm::DenseSet<std::pair<mlir::Operation *, mlir::Value>> loaded;
};

} // namespace tilec::sync

#endif // TILEC_PASSES_SYNCCHECKER_H
