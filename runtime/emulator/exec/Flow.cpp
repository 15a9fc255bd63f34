// Where branches meet again, what lies between, and loops.
#include "Code.h"

#include <algorithm>

namespace tile_emu {

namespace {

bool waitsForMBarrier(const Op &op) {
  const std::vector<std::string> &opcode = op.instruction->opcode;
  return opcode.size() > 1 && opcode[0] == "mbarrier" &&
         (opcode[1] == "try_wait" || opcode[1] == "test_wait");
}

template <typename F>
void forSuccessors(const std::vector<Op> &ops, uint32_t at, F &&f) {
  std::for_each(ops[at].targets.begin(), ops[at].targets.end(), f);
  if (ops[at].fallsThrough && at + 1 < ops.size()) {
    f(at + 1);
  }
}

/// What is reached from the successors of `from` without passing `barred`.
std::vector<bool> reached(const std::vector<Op> &ops, uint32_t from, uint32_t barred) {
  std::vector<bool> seen(ops.size());
  std::vector<uint32_t> open{from};
  while (!open.empty()) {
    uint32_t at = open.back();
    open.pop_back();
    forSuccessors(ops, at, [&](uint32_t to) {
      if (to != barred && !seen[to]) {
        seen[to] = true;
        open.push_back(to);
      }
    });
  }
  return seen;
}

/// Immediate postdominators; the end, ops.size(), is that of what returns. Cooper, Harvey, Kennedy,
/// "A Simple, Fast Dominance Algorithm", on the reversed graph: instructions are numbered in the
/// order in which a walk back from the end leaves them.
std::vector<uint32_t> postdominatorsOf(const std::vector<Op> &ops) {
  uint32_t end = uint32_t(ops.size());
  std::vector<std::vector<uint32_t>> before(end + 1);
  for (uint32_t at = 0; at < end; ++at) {
    bool any = false;
    forSuccessors(ops, at, [&](uint32_t to) {
      before[to].push_back(at);
      any = true;
    });
    if (!any) {
      before[end].push_back(at);
    }
  }
  std::vector<uint32_t> order, number(end + 1, UINT32_MAX);
  std::vector<std::pair<uint32_t, size_t>> open{{end, 0}};
  std::vector<bool> seen(end + 1);
  seen[end] = true;
  while (!open.empty()) {
    auto &[at, next] = open.back();
    if (next < before[at].size()) {
      uint32_t to = before[at][next++];
      if (!seen[to]) {
        seen[to] = true;
        open.emplace_back(to, 0);
      }
      continue;
    }
    number[at] = uint32_t(order.size());
    order.push_back(at);
    open.pop_back();
  }
  std::vector<uint32_t> result(end + 1, UINT32_MAX);
  result[end] = end;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin() + 1; it != order.rend(); ++it) {
      uint32_t common = UINT32_MAX;
      auto meet = [&](uint32_t to) {
        if (result[to] == UINT32_MAX) {
          return;
        }
        uint32_t a = common == UINT32_MAX ? to : common, b = to;
        while (a != b) {
          (number[a] < number[b] ? a : b) = result[number[a] < number[b] ? a : b];
        }
        common = a;
      };
      bool any = false;
      forSuccessors(ops, *it, [&](uint32_t to) {
        meet(to);
        any = true;
      });
      common = any ? common : end;
      changed |= result[*it] != common;
      result[*it] = common;
    }
  }
  for (uint32_t &at : result) {
    at = std::min(at, end); // what never ends meets nowhere
  }
  return result;
}

/// By instruction: which come before it.
std::vector<std::vector<uint32_t>> predecessorsOf(const std::vector<Op> &ops) {
  std::vector<std::vector<uint32_t>> before(ops.size());
  for (uint32_t at = 0; at < ops.size(); ++at) {
    forSuccessors(ops, at, [&](uint32_t to) {
      if (to < ops.size()) {
        before[to].push_back(at);
      }
    });
  }
  return before;
}

/// Edges to an instruction that a walk along the ways from the start has come through and not left
/// yet, by that instruction. Every loop has one. In the text they may lead forwards, or be no jumps:
/// assemblers put the end of a loop before its head where that saves a jump.
std::map<uint32_t, std::vector<uint32_t>> edgesBack(const std::vector<Op> &ops) {
  std::map<uint32_t, std::vector<uint32_t>> edges;
  enum class State : uint8_t { New, Open, Left };
  std::vector<State> states(ops.size(), State::New);
  std::vector<std::pair<uint32_t, std::vector<uint32_t>>> open; // with the successors not tried yet
  auto enter = [&](uint32_t at) {
    states[at] = State::Open;
    std::vector<uint32_t> successors;
    forSuccessors(ops, at, [&](uint32_t to) {
      if (to < ops.size()) {
        successors.push_back(to);
      }
    });
    open.emplace_back(at, std::move(successors));
  };
  if (!ops.empty()) {
    enter(0);
  }
  while (!open.empty()) {
    auto &[at, successors] = open.back();
    if (successors.empty()) {
      states[at] = State::Left;
      open.pop_back();
      continue;
    }
    const uint32_t to = successors.back();
    successors.pop_back();
    if (states[to] == State::Open) {
      edges[to].push_back(at);
    } else if (states[to] == State::New) {
      enter(to);
    }
  }
  return edges;
}

/// Natural loops: a way back to an instruction that every way to its start passes, and what comes to
/// that start without passing the instruction again.
std::vector<Code::Loop> loopsOf(const std::vector<Op> &ops) {
  const std::vector<std::vector<uint32_t>> before = predecessorsOf(ops);
  std::vector<Code::Loop> loops;
  for (const auto &[head, sources] : edgesBack(ops)) {
    const std::vector<bool> without = head ? reached(ops, 0, head) : std::vector<bool>(ops.size());
    Code::Loop loop{.head = head, .body = std::vector<bool>(ops.size() + 1)};
    std::vector<uint32_t> open;
    auto add = [&](uint32_t at) {
      if (!loop.body[at]) {
        loop.body[at] = true;
        open.push_back(at);
      }
    };
    for (uint32_t source : sources) {
      if (!without[source]) {
        loop.body[head] = true;
        add(source);
      }
    }
    while (!open.empty()) {
      uint32_t at = open.back();
      open.pop_back();
      if (at != head) {
        std::for_each(before[at].begin(), before[at].end(), add);
      }
    }
    if (loop.body[head]) {
      loops.push_back(std::move(loop));
    }
  }
  return loops;
}

} // namespace

const std::vector<Code::Loop> &Code::loops() const {
  if (!knownLoops) {
    knownLoops = loopsOf(ops);
    around.resize(ops.size());
    for (uint32_t number = 0; number < knownLoops->size(); ++number) {
      const Loop &loop = (*knownLoops)[number];
      for (uint32_t at = 0; at < ops.size(); ++at) {
        if (loop.body[at] && (!ops[at].targets.empty() || at + 1 == loop.head)) {
          around[at].push_back(number);
        }
      }
    }
  }
  return *knownLoops;
}

const std::vector<uint32_t> &Code::loopsAround(uint32_t branch) const {
  loops();
  return around[branch];
}

uint32_t Code::meetingPoint(uint32_t branch) const {
  if (postdominators.empty()) {
    postdominators = postdominatorsOf(ops);
  }
  return postdominators[branch];
}

bool Code::mayWaitBefore(uint32_t from, uint32_t to) const {
  auto [known, isNew] = waits.try_emplace({from, to}, false);
  if (!isNew) {
    return known->second;
  }
  std::vector<bool> seen = reached(ops, from, to);
  bool result = false;
  for (uint32_t at = 0; at < ops.size() && seen[from] && from != to; ++at) {
    result |= seen[at] && waitsForMBarrier(ops[at]) && reached(ops, at, to)[from];
  }
  return known->second = result;
}

} // namespace tile_emu
