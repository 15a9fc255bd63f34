// A checker with a few blocks and regions, for tests that speak of threads and accesses directly.
#pragma once

#include "runtime/emulator/check/Checker.h"
#include "runtime/emulator/check/Shadow.h"

#include <deque>

namespace tile_emu {

class CheckerWorld {
public:
  CheckerWorld() : checker(sink) {
    addRegion(Region::Kind::Shared, "shared memory", 0x400, 4096);
    addRegion(Region::Kind::Global, "A", 0x1000, 1 << 16);
  }

  Region &shared() { return *regions[0]; }
  Region &global() { return *regions[1]; }
  Region &addRegion(Region::Kind kind, const std::string &name, uint64_t base, uint64_t bytes) {
    regions.push_back(std::make_unique<Region>());
    Region &region = *regions.back();
    region.kind = kind;
    region.name = name;
    region.base = base;
    region.bytes.resize(bytes);
    Checker::attach(region, /*defined=*/false);
    return region;
  }

  ThreadId block(uint32_t number, uint32_t threads, uint32_t cluster = UINT32_MAX) {
    return checker.newBlock({number, 0, 0}, {threads, 1, 1}, cluster);
  }

  /// Another instruction with every call: "st.shared.b32" and the like.
  const ptx::Instruction *instruction(std::vector<std::string> opcode) {
    ptx::Instruction &result = instructions.emplace_back();
    result.opcode = std::move(opcode);
    result.line = uint32_t(instructions.size());
    return &result;
  }

  void read(ThreadId thread, Region &region, uint64_t offset, uint64_t bytes,
            AccessFlags flags = {}) {
    checker.access(Access::Read, thread, {&region, offset, bytes}, flags,
                   instruction({"ld", "shared", "b32"}));
  }
  void write(ThreadId thread, Region &region, uint64_t offset, uint64_t bytes,
             AccessFlags flags = {}) {
    checker.access(Access::Write, thread, {&region, offset, bytes}, flags,
                   instruction({"st", "shared", "b32"}));
  }
  AsyncOp issue(ThreadId thread, AgentId channel, Step32 step) {
    return checker.issue(thread, channel, step,
                         instruction({"cp", "async", "bulk", "tensor", "2d", "shared::cta"}));
  }
  void asyncRead(const AsyncOp &op, Region &region, uint64_t offset, uint64_t bytes,
                 Proxy proxy = Proxy::Async) {
    checker.access(Access::Read, op, proxy, {&region, offset, bytes});
  }
  void asyncWrite(const AsyncOp &op, Region &region, uint64_t offset, uint64_t bytes,
                  Proxy proxy = Proxy::Async) {
    checker.access(Access::Write, op, proxy, {&region, offset, bytes});
  }

  /// All threads of a block meet.
  void barrier(ThreadId first, uint32_t threads) {
    SyncPoint point;
    for (uint32_t warp = 0; warp * 32 < threads; ++warp) {
      checker.release(lanes(first, warp, threads), point);
    }
    for (uint32_t warp = 0; warp * 32 < threads; ++warp) {
      checker.acquire(lanes(first, warp, threads), point);
    }
  }
  /// What `from` did so far happens before what `to` does from now on.
  void pass(ThreadId from, ThreadId to) {
    SyncPoint point;
    checker.release(from, point);
    checker.acquire(to, point);
  }

  size_t races() const { return count(Report::Kind::Race); }
  size_t missingFences() const { return count(Report::Kind::MissingFence); }
  size_t count(Report::Kind kind) const {
    size_t n = 0;
    for (const Report &report : sink.reports()) {
      n += report.kind == kind ? report.count : 0;
    }
    return n;
  }

  ReportSink sink{1000};
  Checker checker;
  std::vector<std::unique_ptr<Region>> regions;
  std::deque<ptx::Instruction> instructions;

private:
  static WarpLanes lanes(ThreadId first, uint32_t warp, uint32_t threads) {
    uint32_t here = std::min(32u, threads - 32 * warp);
    return {first + 32 * warp, here == 32 ? ~0u : (1u << here) - 1};
  }
};

} // namespace tile_emu
