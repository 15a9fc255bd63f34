#include "Operations.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace tile_rt {

static constexpr OpInfo kOps[] = {
#define TILE_OPERATION(OP, NAME, INFIX, RULE, FEWEST, MOST)                                        \
  {Op::OP, NAME, INFIX, OpRule::RULE, FEWEST, MOST},
#include "Operations.def"
};

const OpInfo *findOp(std::string_view name) {
  const OpInfo *end = std::end(kOps);
  const OpInfo *found =
      std::find_if(std::begin(kOps), end, [&](const OpInfo &info) { return name == info.name; });
  return found == end ? nullptr : found;
}

const OpInfo *infoOf(Op op) {
  // In the order of the enumerators, which leaves begin.
  return isLeaf(op) ? nullptr
                    : &kOps[static_cast<size_t>(op) - static_cast<size_t>(Op::GridPoints) - 1];
}

} // namespace tile_rt
