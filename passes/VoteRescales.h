//===- VoteRescales.h - sums that are scaled row by row, if at all -*- C++ -*-===//
#ifndef TILEC_PASSES_VOTERESCALES_H
#define TILEC_PASSES_VOTERESCALES_H

#include "dialects/tgpu/Tgpu.h"

namespace tilec {

/// Marks the products of tiles that `@require(no_vote)` is said of, tgpu.under_vote = false: the statements and
/// loops that say it are not as they were when tgpu-vote-rescales comes.
void refuseVotes(tgpu::KernelOp kernel);

} // namespace tilec

#endif // TILEC_PASSES_VOTERESCALES_H
