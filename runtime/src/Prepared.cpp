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

ByteRange bytesAt(const void *data, const ByteRange &range) {
  const Int address = static_cast<Int>(reinterpret_cast<uint64_t>(data));
  return {address + range.begin, address + range.end};
}

bool liesApart(const ByteRange &a, const ByteRange &b) {
  return a.begin >= b.end || b.begin >= a.end;
}
} // namespace

PreparedCall::PreparedCall(const Kernel &kernel, const Env &env, LaunchPlan planned)
    : kernel(kernel), plan(std::move(planned)), addresses(addressesOf(env)),
      launches(new LaunchState[plan.steps.size()]) {
  for (size_t i = 0; i < env.tensors.size(); ++i) {
    const TensorView &view = env.tensors[i];
    touched.push_back(view.present && !view.isEmpty()
                          ? touchedBytes(kernel.arguments[i].dtype, view)
                          : ByteRange());
  }
  forEachAliasPair(kernel, env, [&](unsigned a, unsigned b) { pairs.emplace_back(a, b); });
}

bool PreparedCall::takes(const tile_arg *args) const {
  return std::all_of(pairs.begin(), pairs.end(), [&](const auto &pair) {
    const auto [a, b] = pair;
    return moved(a, args) == moved(b, args) ||
           liesApart(bytesAt(args[a].data, touched[a]), bytesAt(args[b].data, touched[b]));
  });
}

const Argument *PreparedCall::overlapped(const tile_arg *args, uint64_t workspace) const {
  const ByteRange bytes{static_cast<Int>(workspace),
                        static_cast<Int>(workspace) + static_cast<Int>(plan.workspaceBytes)};
  for (size_t i = 0; i < touched.size(); ++i) {
    const bool hasElements = touched[i].begin < touched[i].end;
    if (hasElements && !liesApart(bytesAt(args[i].data, touched[i]), bytes)) {
      return &kernel.arguments[i];
    }
  }
  return nullptr;
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
