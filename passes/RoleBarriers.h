//===- RoleBarriers.h - which named barrier is whose -----------*- C++ -*-===//
#ifndef TILEC_PASSES_ROLEBARRIERS_H
#define TILEC_PASSES_ROLEBARRIERS_H

namespace tilec {

/// The named barrier of all threads of a role, used by nobody else: roles run side by side, and two
/// that shared one would count each other's threads. 0 is that of the block. Whatever a role
/// synchronises, it synchronises all its threads, in program order, so one is enough for each.
constexpr unsigned barrierOfRole(unsigned role) { return 1 + role; }

/// Where the groups of warps that share barrier `id` meet apart: the number for the first group, of kMostGroups at most. Those who may:
/// the block and the first two roles.
constexpr unsigned kMostGroups = 4, kMostGroupedBarrier = 2;
constexpr unsigned groupBarrier(unsigned id) { return kMostGroups * (1 + id); }

/// Warpgroups of a role that issue products in turn (IssueInTurn.cpp): group g waits at this barrier + g. They are those of groups of the
/// role that loads, which writes nothing that groups of it could store.
constexpr unsigned kFirstTurnBarrier = groupBarrier(barrierOfRole(0));

} // namespace tilec

#endif // TILEC_PASSES_ROLEBARRIERS_H
