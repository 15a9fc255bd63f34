// Conflicting accesses in words: who, what, where, and what to look for.
#include "CheckerState.h"

#include <cstdio>

namespace tile_emu {

static std::string what(const ptx::Instruction *instruction, bool writes) {
  std::string text = writes ? "write" : "read";
  return instruction ? text + " by " + shortName(*instruction) : text;
}

static Party partyFor(const Checker::State &state, AgentId agent, ThreadId issuer,
                      const ptx::Instruction *instruction, bool writes) {
  Party party;
  party.what = what(instruction, writes);
  if (instruction) {
    party.ptxLine = instruction->line;
    party.source = instruction->source;
  }
  party.earlierLaunch = Checker::State::isLaunch(agent);
  party.asynchronous = !party.earlierLaunch && !state.isThread(agent);
  party.thread = state.nameOf(party.asynchronous ? issuer : agent);
  return party;
}

Party partyOf(const Checker::State &state, AgentId agent, const AccessRecord &record) {
  return partyFor(state, agent, record.lanes, state.instructions[record.instruction],
                  record.writes());
}

Party Checker::party(AgentId agent, const ptx::Instruction *instruction, Access access) const {
  ThreadId issuer = state->isThread(agent) ? agent : state->channel(agent).owner;
  return partyFor(*state, agent, issuer, instruction, access == Access::Write);
}

/// "thread (1,0,0)", with its block where the other one is of another.
static std::string threadText(const Checker::State &state, ThreadId thread, ThreadId other) {
  ThreadName name = state.nameOf(thread);
  std::string text = "thread " + tuple(name.thread);
  return state.blockOf(thread).first == state.blockOf(other).first
             ? text
             : text + " of block " + tuple(name.block);
}

/// What a program uses to wait for the work of a channel.
static std::string waitingFor(const std::string &kind) {
  if (kind.starts_with("cp.async")) {
    return "cp.async.wait_group (cp.async.mbarrier.arrive) by the thread that issued it, then a "
           "barrier for the others";
  }
  if (kind.starts_with("bulk")) {
    return "cp.async.bulk.wait_group (with .read for the source only) by the thread that issued "
           "it, then a barrier for the others";
  }
  if (kind.starts_with("wgmma")) {
    return "wgmma.wait_group in the warp that issued it, then a barrier or an arrival for the "
           "others";
  }
  if (kind.starts_with("mbarrier")) {
    return "a wait on that phase of the mbarrier (right parity, all bytes expected)";
  }
  return "a wait for it";
}

/// What would order two threads, from where they are.
static std::string orderOf(const Checker::State &state, ThreadId earlier, ThreadId later) {
  const BlockInfo &a = state.blockOf(earlier), &b = state.blockOf(later);
  if (a.first != b.first) {
    return a.cluster == b.cluster
               ? "barrier.cluster, or a remote arrival at an mbarrier of the other block"
               : "a release by the one and an acquire by the other on an atomic location, or "
                 "atomic accesses";
  }
  if (earlier >> 5 == later >> 5) {
    return "bar.warp.sync";
  }
  return "bar.sync, or an arrival at a barrier by the first and a wait by the second";
}

static std::string hexText(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", (unsigned long long)(value));
  return text;
}

/// "phase 3 of the mbarrier at 0x38400", "this wgmma group"
static std::string workText(const ChannelInfo &channel, Step32 step) {
  if (std::string(channel.kind) != "mbarrier") {
    return std::string("this ") + channel.kind;
  }
  return "phase " + std::to_string(step - 1) + " of the mbarrier" +
         (channel.address ? " at " + hexText(channel.address) : "");
}

static std::vector<std::string> raceNotes(const Checker::State &state, const Conflict &conflict) {
  AgentId earlier = conflict.earlierAgent, later = conflict.laterAgent;
  ThreadId laterThread = state.isThread(later) ? later : conflict.later.lanes;
  std::string knower = threadText(state, laterThread, laterThread);
  std::string when = state.isThread(later) ? "before it" : "before issuing the second";
  std::vector<std::string> notes;
  if (Checker::State::isLaunch(earlier)) {
    const bool waitsInVain = state.endedLaunches.of(earlier) == 0;
    notes.push_back("Nothing orders the second after the first: that launch may still run, since " +
                    (waitsInVain
                         ? std::string("no thread of the launch after it has waited for it.")
                         : knower + " has not learnt, " + when + ", that it has ended."));
    notes.push_back(std::string("Look for griddepcontrol.wait in ") +
                    (waitsInVain ? "the launch after it."
                                 : "that thread, or in another one and a barrier behind it."));
    return notes;
  }
  if (!state.isThread(earlier)) {
    const std::string kind = state.channel(earlier).kind;
    notes.push_back("Nothing orders the second after the first: " + knower + " has not learnt, " +
                    when + ", that " + workText(state.channel(earlier), conflict.earlier.step) +
                    " has completed.");
    notes.push_back(conflict.known == 0  ? "It has waited for none of these yet."
                    : kind == "mbarrier" ? "The last that it knows of: phase " +
                                               std::to_string(conflict.known - 1) + "."
                                         : "It has waited for earlier ones only.");
    notes.push_back("Look for " + waitingFor(kind) + ".");
    return notes;
  }
  if (earlier == laterThread) {
    notes.emplace_back(
        "The thread has issued the second before it did the first, and has not waited "
        "for it in between.");
    notes.push_back("Look for " + waitingFor(state.channel(later).kind) + ".");
    return notes;
  }
  notes.push_back("Nothing orders the second after the first: " + knower + " has synchronised, " +
                  when + ", " + (conflict.known ? "only with earlier actions of " : "never with ") +
                  threadText(state, earlier, laterThread) + ".");
  notes.push_back("Look for " + orderOf(state, earlier, laterThread) + ".");
  return notes;
}

static std::vector<std::string> fenceNotes(const Checker::State &state, const Conflict &conflict) {
  ThreadId issuer = conflict.later.lanes;
  std::string first = state.isThread(conflict.earlierAgent)
                          ? threadText(state, conflict.earlierAgent, issuer)
                          : threadText(state, state.channel(conflict.earlierAgent).owner, issuer);
  std::string issuing = threadText(state, issuer, conflict.earlierAgent);
  return {"The first goes through the generic proxy, the second through the asynchronous one; they "
          "are ordered, but without a proxy fence between them.",
          "Look for fence.proxy.async in " + first + " after the first" +
              (first == issuing ? " and before the second."
                                : ", before the barrier that " + issuing + " waits at.")};
}

static std::string placeText(const MemoryRange &bytes) {
  const Region &region = *bytes.region;
  std::string where = region.kind == Region::Kind::Shared ? "shared memory" : region.name;
  return where + " at +" + hexText(bytes.offset) + " (" + std::to_string(bytes.bytes) +
         (bytes.bytes == 1 ? " byte)" : " bytes)");
}

/// Why two strong accesses race all the same.
static std::string strengthNote(const Checker::State &state, const Conflict &conflict) {
  return scopesInclude(state, conflict.earlier, conflict.later)
             ? "Both are atomic or strong, but of different widths (" +
                   std::to_string(conflict.earlier.width()) + " and " +
                   std::to_string(conflict.later.width()) + " bytes): that does not count."
             : "Both are atomic or strong, but the scope of one (.cta, .cluster) does not include "
               "the other: look for .gpu.";
}

Report explainNonCoherent(const Checker::State &state, const MemoryRange &bytes,
                          const AccessRecord *reader, const AccessRecord *writer) {
  Report report;
  report.kind = Report::Kind::NonCoherent;
  report.message = placeText(bytes) + " is read by ld.global.nc, which is for memory that nobody "
                                      "writes while the kernel runs, and it is written";
  for (const AccessRecord *record : {reader, writer}) {
    if (record) {
      report.parties.push_back(partyOf(state, firstAgent(*record), *record));
    }
  }
  report.notes = {"Look for ld.global without .nc; a barrier or fence does not help."};
  return report;
}

Report explain(const Checker::State &state, const Conflict &conflict) {
  Report report;
  report.kind = conflict.fenceMissing ? Report::Kind::MissingFence : Report::Kind::Race;
  report.message = placeText(conflict.bytes);
  report.parties = {partyOf(state, conflict.earlierAgent, conflict.earlier),
                    partyOf(state, conflict.laterAgent, conflict.later)};
  report.notes = conflict.fenceMissing ? fenceNotes(state, conflict) : raceNotes(state, conflict);
  if (conflict.earlier.isAtomic() && conflict.later.isAtomic()) {
    report.notes.push_back(strengthNote(state, conflict));
  }
  return report;
}

} // namespace tile_emu
