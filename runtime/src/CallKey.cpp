#include "CallKey.h"

#include <cstring>
#include <numeric>

namespace tile_rt {

namespace {
// Above this addresses are compared as they are.
constexpr uint64_t kMaxGranule = uint64_t{1} << 32;

/// Looks at all expressions that a plan may evaluate.
class RuleFinder {
public:
  explicit RuleFinder(const Kernel &kernel) : kernel(kernel) {
    rules.onlyCopied.assign(kernel.arguments.size(), true);
  }

  KeyRules find() {
    for (const Argument &argument : kernel.arguments) {
      align(argument.align);
      visit(argument.extents);
    }
    visit(kernel.checks);
    for (const Preference &preference : kernel.preferences) {
      for (const Preference::Range &range : preference.ranges) {
        if (range.isScalar) {
          rules.onlyCopied[range.index] = false;
        }
      }
    }
    for (const Configuration &configuration : kernel.configurations) {
      visit(configuration.checks);
      visit(configuration.host);
    }
    return rules;
  }

private:
  void align(uint64_t bytes) {
    if (rules.granule == 0 || bytes == 0) {
      return;
    }
    const uint64_t common = bytes / std::gcd(rules.granule, bytes);
    rules.granule = common > kMaxGranule / rules.granule ? 0 : rules.granule * common;
  }

  void visit(const Expr &expr) {
    if (expr.op == Op::Arg) {
      rules.onlyCopied[expr.index] = false;
    } else if (expr.op == Op::Aligned) {
      align(static_cast<uint64_t>(expr.detail));
    }
    visit(expr.args);
  }
  void visit(const std::optional<Expr> &expr) {
    if (expr) {
      visit(*expr);
    }
  }
  void visit(const Check &check) { visit(check.expr); }
  void visit(const CostLet &let) { visit(let.expr); }
  void visit(const Parameter &parameter) {
    if (parameter.kind == Parameter::Kind::Scalar && !copiesScalar(parameter, kernel)) {
      visit(parameter.expr);
    }
  }
  void visit(const TensorMap &map) {
    align(16); // what a map's base must be a multiple of (Plan.cpp)
    visit(map.dims);
    visit(map.strides);
    visit(map.offset);
  }
  void visit(const Variant &variant) {
    visit(variant.guard);
    visit(variant.cost);
    visit(variant.lets);
    visit(variant.blocks.extents);
    visit(variant.params);
    visit(variant.tensorMaps);
  }
  void visit(const Statement &statement) {
    visit(statement.expr);
    visit(statement.workspace.extents);
    visit(statement.then);
    visit(statement.otherwise);
    visit(statement.grid);
    visit(statement.variants);
  }
  template <class T>
  void visit(const std::vector<T> &list) {
    for (const T &item : list) {
      visit(item);
    }
  }

  const Kernel &kernel;
  KeyRules rules;
};

/// Mixes a number into a hash (the finaliser of SplitMix64).
uint64_t mix(uint64_t hash, uint64_t value) {
  hash += value + 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

class KeyMaker {
public:
  KeyMaker(CallKey &key, const KeyRules &rules) : key(key), rules(rules) { key.size = 0; }

  bool scalar(size_t number, const Argument &argument, const tile_arg &arg) {
    if (arg.rank != TILE_SCALAR_RANK || !arg.data ||
        arg.dtype != static_cast<int32_t>(argument.dtype)) {
      return false;
    }
    if (rules.onlyCopied[number]) {
      return true;
    }
    uint64_t bits = 0;
    std::memcpy(&bits, arg.data, dtypeBits(argument.dtype) / 8);
    return add(bits);
  }

  bool tensor(const Argument &argument, const tile_arg &arg) {
    if (arg.rank == TILE_SCALAR_RANK) {
      return false;
    }
    if (argument.optional && !arg.data) {
      return add(0); // absent: nothing else of it is read
    }
    const size_t rank = argument.extents.size();
    if (arg.rank != static_cast<int32_t>(rank) || !arg.extents ||
        arg.dtype != static_cast<int32_t>(argument.dtype)) {
      return false;
    }
    const auto address = reinterpret_cast<uint64_t>(arg.data);
    // A null pointer is another call than any multiple of the granule.
    return add(arg.strides ? 2 : 1) && add(rules.granule ? address % rules.granule : address) &&
           add(address == 0) && add(arg.extents, rank) && (!arg.strides || add(arg.strides, rank));
  }

  void finish() {
    uint64_t hash = 0;
    for (size_t i = 0; i < key.size; ++i) {
      hash = mix(hash, key.words[i]);
    }
    key.hash = hash;
  }

private:
  bool add(uint64_t word) {
    if (key.size == CallKey::kMaxWords) {
      return false;
    }
    key.words[key.size++] = word;
    return true;
  }
  bool add(const int64_t *values, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (!add(static_cast<uint64_t>(values[i]))) {
        return false;
      }
    }
    return true;
  }

  CallKey &key;
  const KeyRules &rules;
};
} // namespace

KeyRules keyRules(const Kernel &kernel) { return RuleFinder(kernel).find(); }

bool makeKey(CallKey &key, const Kernel &kernel, const KeyRules &rules, const tile_arg *args,
             size_t count) {
  if (count != kernel.arguments.size()) {
    return false;
  }
  KeyMaker maker(key, rules);
  for (size_t i = 0; i < count; ++i) {
    const Argument &argument = kernel.arguments[i];
    if (!(argument.isTensor ? maker.tensor(argument, args[i])
                            : maker.scalar(i, argument, args[i]))) {
      return false;
    }
  }
  maker.finish();
  return true;
}

} // namespace tile_rt
