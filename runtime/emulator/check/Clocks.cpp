#include "Clocks.h"

#include <algorithm>
#include <bit>

namespace tile_emu {

using detail::ClockPage;
using detail::ClockPages;
using detail::Shared;

namespace {

using Pages = std::vector<Shared<ClockPage>>;

/// Where the page with this number is or would be.
Pages::const_iterator findPage(const Pages &pages, AgentId number) {
  // Nearly always a block knows only itself, at most a few peers.
  auto at = pages.begin();
  if (pages.size() > 8) {
    return std::lower_bound(
        pages.begin(), pages.end(), number,
        [](const Shared<ClockPage> &page, AgentId number) { return page->page < number; });
  }
  while (at != pages.end() && (*at)->page < number) {
    ++at;
  }
  return at;
}

/// Is any element of `a` greater than that of `b`, those beyond the end being 0?
bool exceeds(const std::vector<Step32> &a, const std::vector<Step32> &b) {
  size_t common = std::min(a.size(), b.size());
  uint32_t any = 0;
  const Step32 *left = a.data(), *right = b.data();
  for (size_t i = 0; i < common; ++i) {
    any |= left[i] > right[i];
  }
  for (size_t i = common; i < a.size(); ++i) {
    any |= left[i] != 0;
  }
  return any != 0;
}

void raiseAll(std::vector<Step32> &to, const std::vector<Step32> &from) {
  if (to.size() < from.size()) {
    to.resize(from.size());
  }
  Step32 *left = to.data();
  const Step32 *right = from.data();
  for (size_t i = 0, n = from.size(); i < n; ++i) {
    left[i] = std::max(left[i], right[i]);
  }
}

/// What joining two sets of pages gives: one of the two as it is, or something new.
struct Comparison {
  bool leftExceeds = false, rightExceeds = false;
};

Comparison compare(const Pages &left, const Pages &right) {
  Comparison result;
  auto a = left.begin(), b = right.begin();
  while (a != left.end() || b != right.end()) {
    if (b == right.end() || (a != left.end() && (*a)->page < (*b)->page)) {
      result.leftExceeds = true;
      ++a;
    } else if (a == left.end() || (*b)->page < (*a)->page) {
      result.rightExceeds = true;
      ++b;
    } else {
      if (!(*a == *b)) {
        result.leftExceeds = result.leftExceeds || exceeds((*a)->steps, (*b)->steps);
        result.rightExceeds = result.rightExceeds || exceeds((*b)->steps, (*a)->steps);
      }
      ++a, ++b;
    }
    if (result.leftExceeds && result.rightExceeds) {
      break;
    }
  }
  return result;
}

Pages joined(const Pages &left, const Pages &right) {
  Pages result;
  result.reserve(std::max(left.size(), right.size()));
  auto a = left.begin(), b = right.begin();
  while (a != left.end() || b != right.end()) {
    if (b == right.end() || (a != left.end() && (*a)->page < (*b)->page)) {
      result.push_back(*a++);
    } else if (a == left.end() || (*b)->page < (*a)->page) {
      result.push_back(*b++);
    } else {
      if (*a == *b || !exceeds((*b)->steps, (*a)->steps)) {
        result.push_back(*a);
      } else if (!exceeds((*a)->steps, (*b)->steps)) {
        result.push_back(*b);
      } else {
        result.push_back(*a);
        raiseAll(result.back().own().steps, (*b)->steps);
      }
      ++a, ++b;
    }
  }
  return result;
}

} // namespace

std::span<const Step32> Clock::page(AgentId number) const {
  if (!content) {
    return {};
  }
  auto at = findPage(content->pages, number);
  if (at == content->pages.end() || (*at)->page != number) {
    return {};
  }
  return (*at)->steps;
}

std::vector<Step32> &Clock::ownPage(AgentId number, size_t size) {
  Pages &pages = content.own().pages;
  size_t index = size_t(findPage(pages, number) - pages.begin());
  if (index == pages.size() || pages[index]->page != number) {
    pages.insert(pages.begin() + ptrdiff_t(index), Shared<ClockPage>(new ClockPage{0, number, {}}));
  }
  std::vector<Step32> &steps = pages[index].own().steps;
  if (steps.size() < size) {
    steps.resize((size + 31) / 32 * 32);
  }
  return steps;
}

void Clock::raise(AgentId agent, Step32 step) {
  if (of(agent) < step) {
    ownPage(pageOf(agent), inPage(agent) + 1)[inPage(agent)] = step;
  }
}

void Clock::raise(WarpLanes lanes, Step32 step) {
  if (lanes.mask == 0 || step == 0) {
    return;
  }
  Step32 *steps =
      ownPage(pageOf(lanes.first), inPage(lanes.first) + 32).data() + inPage(lanes.first);
  for (unsigned i = 0; i < 32; ++i) {
    steps[i] = std::max(steps[i], lanes.mask >> i & 1 ? step : 0);
  }
}

void Clock::join(const Clock &other) {
  if (other.empty() || sharesWith(other)) {
    return;
  }
  if (empty()) {
    *this = other;
    return;
  }
  Comparison result = compare(content->pages, other.content->pages);
  if (!result.rightExceeds) {
    return;
  }
  if (!result.leftExceeds) {
    *this = other;
    return;
  }
  Pages pages = joined(content->pages, other.content->pages);
  content = Shared<ClockPages>(new ClockPages{0, std::move(pages)});
}

void SyncPoint::joinHappened(const Clock &other) {
  if (!last.happened.sharesWith(other)) {
    known.happened.join(other);
    last.happened = other;
  }
}

void SyncPoint::joinFenced(FencedSpace space, const Clock &other) {
  if (!last.fenced[space].sharesWith(other)) {
    known.fenced[space].join(other);
    last.fenced[space] = other;
  }
}

} // namespace tile_emu
