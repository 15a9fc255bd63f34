#include "SpecialRegisters.h"

#include <unordered_map>

namespace tile_emu {

namespace {

/// Where a thread is.
struct Place {
  const Machine &machine;
  const Block &block;
  const Warp &warp;
  unsigned lane;

  const LaunchConfig &config() const { return *machine.config; }
  uint32_t bit() const { return uint32_t(1) << lane; }
  uint64_t sharedBytes() const { return block.shared.bytes.size(); }
};

using Vector = std::array<uint32_t, 3>;

constexpr uint32_t kMultiprocessors = 132;

uint32_t volume(const Vector &v) { return v[0] * v[1] * v[2]; }

Vector threadIndex(const Place &p) { return p.block.threadIndex(p.warp.index * 32 + p.lane); }
Vector blockInCluster(const Place &p) {
  const Vector &index = p.block.index, &cluster = p.config().cluster;
  return {index[0] % cluster[0], index[1] % cluster[1], index[2] % cluster[2]};
}
Vector clusterIndex(const Place &p) {
  const Vector &index = p.block.index, &cluster = p.config().cluster;
  return {index[0] / cluster[0], index[1] / cluster[1], index[2] / cluster[2]};
}
Vector clusterCount(const Place &p) {
  const Vector &grid = p.config().grid, &cluster = p.config().cluster;
  return {grid[0] / cluster[0], grid[1] / cluster[1], grid[2] / cluster[2]};
}

using VectorValue = Vector (*)(const Place &);
using ScalarValue = uint64_t (*)(const Place &);

const std::unordered_map<std::string_view, VectorValue> &vectors() {
  static const std::unordered_map<std::string_view, VectorValue> table = {
      {"%tid", threadIndex},
      {"%ntid", [](const Place &p) { return p.config().block; }},
      {"%ctaid", [](const Place &p) { return p.block.index; }},
      {"%nctaid", [](const Place &p) { return p.config().grid; }},
      {"%cluster_ctaid", blockInCluster},
      {"%cluster_nctaid", [](const Place &p) { return p.config().cluster; }},
      {"%clusterid", clusterIndex},
      {"%nclusterid", clusterCount},
  };
  return table;
}

const std::unordered_map<std::string_view, ScalarValue> &scalars() {
  static const std::unordered_map<std::string_view, ScalarValue> table = {
      {"%laneid", [](const Place &p) { return uint64_t(p.lane); }},
      {"%warpid", [](const Place &p) { return uint64_t(p.warp.index); }},
      {"%nwarpid", [](const Place &) { return uint64_t(64); }},
      {"%smid", [](const Place &p) { return uint64_t(p.block.number % kMultiprocessors); }},
      {"%nsmid", [](const Place &) { return uint64_t(kMultiprocessors); }},
      {"%gridid", [](const Place &) { return uint64_t(1); }},
      {"%cluster_ctarank", [](const Place &p) { return uint64_t(p.block.rank); }},
      {"%cluster_nctarank", [](const Place &p) { return uint64_t(volume(p.config().cluster)); }},
      {"%is_explicit_cluster",
       [](const Place &p) { return uint64_t(volume(p.config().cluster) > 1); }},
      {"%dynamic_smem_size", [](const Place &p) { return p.config().dynamicSharedBytes; }},
      {"%total_smem_size", [](const Place &p) { return p.sharedBytes(); }},
      {"%aggr_smem_size", [](const Place &p) { return kSharedBase + p.sharedBytes(); }},
      {"%reserved_smem_offset_begin", [](const Place &) { return uint64_t(0); }},
      {"%reserved_smem_offset_end", [](const Place &) { return kSharedBase; }},
      {"%reserved_smem_offset_cap", [](const Place &) { return kSharedBase; }},
      {"%lanemask_eq", [](const Place &p) -> uint64_t { return p.bit(); }},
      {"%lanemask_lt", [](const Place &p) -> uint64_t { return p.bit() - 1; }},
      {"%lanemask_le", [](const Place &p) -> uint64_t { return p.bit() | (p.bit() - 1); }},
      {"%lanemask_gt", [](const Place &p) -> uint64_t { return ~(p.bit() | (p.bit() - 1)); }},
      {"%lanemask_ge", [](const Place &p) -> uint64_t { return ~(p.bit() - 1); }},
  };
  return table;
}

/// "%tid.y" is the vector "%tid" and 1; 3 (`w`, always 0) is possible too.
std::optional<unsigned> component(std::string_view name) {
  static constexpr std::string_view kLetters = "xyzw";
  if (name.size() < 3 || name[name.size() - 2] != '.') {
    return std::nullopt;
  }
  size_t at = kLetters.find(name.back());
  return at == std::string_view::npos ? std::nullopt : std::optional(unsigned(at));
}

} // namespace

bool changesByItself(std::string_view name) {
  return name == "%clock" || name == "%clock_hi" || name == "%clock64" || name == "%globaltimer" ||
         name == "%globaltimer_lo" || name == "%globaltimer_hi";
}

bool isSpecialRegister(std::string_view name) {
  if (component(name)) {
    return vectors().count(name.substr(0, name.size() - 2)) != 0;
  }
  return scalars().count(name) != 0 || changesByItself(name);
}

uint64_t specialRegister(std::string_view name, const Machine &machine, const Block &block,
                         const Warp &warp, unsigned lane) {
  Place place{machine, block, warp, lane};
  if (std::optional<unsigned> index = component(name)) {
    auto it = vectors().find(name.substr(0, name.size() - 2));
    return it == vectors().end() || *index == 3 ? 0 : it->second(place)[*index];
  }
  auto it = scalars().find(name);
  return it == scalars().end() ? 0 : it->second(place);
}

} // namespace tile_emu
