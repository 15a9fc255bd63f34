#include "Prepared.h"

#include <algorithm>
#include <cstring>

namespace tile_rt {

namespace {
std::vector<uint64_t> addressesOf(const Env &env) {
  std::vector<uint64_t> addresses;
  addresses.reserve(env.tensors.size());
  for (const TensorView &view : env.tensors) {
    addresses.push_back(view.present ? view.address : 0);
  }
  return addresses;
}
} // namespace

PreparedCall::PreparedCall(const Kernel &kernel, const Env &env, LaunchPlan planned)
    : kernel(kernel), plan(std::move(planned)), addresses(addressesOf(env)),
      launches(new LaunchState[plan.steps.size()]) {
  forEachAliasPair(kernel, env, [&](unsigned a, unsigned b) {
    pairs.push_back({a, b, touchedBytes(kernel.arguments[a].dtype, env.tensors[a]),
                     touchedBytes(kernel.arguments[b].dtype, env.tensors[b])});
  });
}

bool PreparedCall::takes(const tile_arg *args) const {
  return std::all_of(pairs.begin(), pairs.end(), [&](const Pair &pair) {
    if (moved(pair.a, args) == moved(pair.b, args)) {
      return true;
    }
    const Int a = static_cast<Int>(reinterpret_cast<uint64_t>(args[pair.a].data));
    const Int b = static_cast<Int>(reinterpret_cast<uint64_t>(args[pair.b].data));
    return a + pair.rangeA.begin >= b + pair.rangeB.end ||
           b + pair.rangeB.begin >= a + pair.rangeA.end;
  });
}

std::shared_ptr<PreparedCall> PreparedCalls::find(const CallKey &key) const {
  std::lock_guard<std::mutex> lock(mutex);
  for (size_t i = 0; i < size; ++i) {
    if (hashes[i] == key.hash && calls[i]->key.size() == key.size &&
        std::memcmp(calls[i]->key.data(), key.words.data(), key.size * sizeof(uint64_t)) == 0) {
      return calls[i];
    }
  }
  return nullptr;
}

void PreparedCalls::add(const CallKey &key, std::shared_ptr<PreparedCall> call) {
  call->key.assign(key.words.begin(), key.words.begin() + static_cast<ptrdiff_t>(key.size));
  std::lock_guard<std::mutex> lock(mutex);
  size_t place = 0;
  while (place < size && !(hashes[place] == key.hash && calls[place]->key == call->key)) {
    ++place;
  }
  if (place == kKept) {
    place = next;
    next = (next + 1) % kKept;
  }
  size = std::max(size, place + 1);
  hashes[place] = key.hash;
  calls[place].swap(call); // what was there is freed below, when no call uses it any more
}

void PreparedCalls::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  calls = {};
  size = next = 0;
}

} // namespace tile_rt
