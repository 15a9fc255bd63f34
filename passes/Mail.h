//===- Mail.h - what one role computes and all roles need ------*- C++ -*-===//
//
// Scalars are computed by each role that needs them, but for those that cannot be computed twice: what an atomic
// operation gives. One thread of the load role does it and posts the value in a mailbox, a ring of one slot,
// which all warps of all roles read and give back:
//     load:     one_thread: acquire; atomic; store_element; publish        .. wait; load_element; release
//     compute:                                                             .. wait; load_element; release
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_MAIL_H
#define TILEC_PASSES_MAIL_H

#include "dialects/tgpu/Tgpu.h"

namespace tilec {

/// What one thread does and all of its block read: the atomic operation, its old value in a buffer, and those who
/// load it from there, in order.
struct Mail {
  tgpu::AtomicOp atomic;
  tgpu::AllocSharedOp box;
  llvm::SmallVector<tgpu::LoadElementOp> reads;
};

/// The mail that `load` reads: all in one block, outside of pipelined loops. Nothing if it reads none.
std::optional<Mail> mailOf(tgpu::LoadElementOp load);

/// Bytes of shared memory that its channel takes at most.
int64_t mailBytes(const Mail &mail);

/// A mail on its channel: who posts it, and those between whom it is read.
struct Post {
  tgpu::OneThreadOp fill;
  tgpu::WaitOp wait;
  tgpu::ReleaseOp release;
  /// The next point of the grid, which nobody is to have before its time (MakePersistent.cpp): the warp that loads posts it, behind the loads of the
  /// point before.
  bool isNextPoint = false;
};

/// Puts a mail on a channel of its own, which `consumers` warps give back. Loops and branches around it carry its
/// position from then on: they are replaced, operations that are not around it stay.
Post handOver(const Mail &mail, int64_t consumers);

/// Whether `load` reads from the slots that `post` fills.
bool readsPost(tgpu::LoadElementOp load, Post post);

} // namespace tilec

#endif // TILEC_PASSES_MAIL_H
