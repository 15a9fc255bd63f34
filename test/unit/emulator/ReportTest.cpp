#include "CheckerWorld.h"

#include <gtest/gtest.h>

using namespace tile_emu;

namespace {

ptx::Instruction instruction(std::vector<std::string> opcode) {
  ptx::Instruction result;
  result.opcode = std::move(opcode);
  return result;
}

TEST(Reports, ShortNames) {
  EXPECT_EQ(shortName(instruction({"ld", "shared", "v4", "b32"})), "ld.shared.v4.b32");
  EXPECT_EQ(shortName(instruction({"ldmatrix", "sync", "aligned", "m8n8", "x4", "shared", "b16"})),
            "ldmatrix.m8n8.x4.shared");
  EXPECT_EQ(shortName(instruction({"cp", "async", "bulk", "tensor", "2d", "shared::cta", "global",
                                   "tile", "mbarrier::complete_tx::bytes"})),
            "cp.async.bulk.tensor.2d");
  EXPECT_EQ(shortName(instruction({"wgmma", "mma_async", "sync", "aligned", "m64n256k16", "f32"})),
            "wgmma.mma_async.m64n256k16");
  EXPECT_EQ(shortName(instruction({})), "");
}

TEST(Reports, Text) {
  CheckerWorld world;
  ThreadId t = world.block(3, 64);
  ptx::Instruction copy = instruction({"cp", "async", "bulk", "tensor", "2d", "shared::cta"});
  copy.line = 211;
  copy.source = {1, 20, 13};
  ptx::Instruction load = instruction({"ldmatrix", "sync", "aligned", "m8n8"});
  load.line = 540;
  AsyncOp op = world.checker.issue(t, world.checker.newChannel(t, "mbarrier"), 2, &copy);
  world.checker.access(Access::Write, op, Proxy::Async, {&world.shared(), 0, 1024});
  world.checker.access(Access::Read, t + 37, {&world.shared(), 64, 16}, {}, &load);
  world.checker.access(Access::Read, t + 37, {&world.shared(), 80, 16}, {}, &load);
  ASSERT_EQ(world.sink.reports().size(), 1u);
  EXPECT_EQ(format(world.sink.reports()[0], {{1, "/tmp/gemm.tile"}}),
            R"(data race: shared memory at +0x40 (16 bytes)
  write by cp.async.bulk.tensor.2d, issued by thread (0,0,0) of block (3,0,0)  gemm.tile:20:13 (PTX line 211)
  read by ldmatrix.m8n8, thread (37,0,0) of block (3,0,0)                      PTX line 540
  Nothing orders the second after the first: thread (37,0,0) has not learnt, before it, that phase 1 of the mbarrier has completed.
  It has waited for none of these yet.
  Look for a wait on that phase of the mbarrier (right parity, all bytes expected).
  seen 2 times
)");
}

TEST(Reports, ThreadsInThreeDimensions) {
  CheckerWorld world;
  ThreadId t = world.checker.newBlock({1, 2, 3}, {4, 8, 2});
  Party party = world.checker.party(t + 4 * 8 + 4 + 3, nullptr, Access::Read);
  EXPECT_EQ(party.thread.block, (std::array<uint32_t, 3>{1, 2, 3}));
  EXPECT_EQ(party.thread.thread, (std::array<uint32_t, 3>{3, 1, 1}));
}

Report report(Report::Kind kind, std::string message, std::vector<uint32_t> lines) {
  Report result;
  result.kind = kind;
  result.message = std::move(message);
  for (uint32_t line : lines) {
    Party party;
    party.what = "read";
    party.ptxLine = line;
    result.parties.push_back(party);
  }
  return result;
}

TEST(Sink, OnePerKindAndPlace) {
  ReportSink sink(10);
  EXPECT_EQ(sink.add(report(Report::Kind::Race, "at 0", {1, 2})), 0u);
  EXPECT_EQ(sink.add(report(Report::Kind::Race, "at 4", {1, 2})), 0u);
  EXPECT_EQ(sink.add(report(Report::Kind::Race, "at 0", {2, 1})), 1u);
  EXPECT_EQ(sink.add(report(Report::Kind::MissingFence, "at 0", {1, 2})), 2u);
  EXPECT_EQ(sink.add(report(Report::Kind::Deadlock, "first", {})), 3u);
  EXPECT_EQ(sink.add(report(Report::Kind::Deadlock, "second", {})), 4u);
  sink.repeat(0);
  ASSERT_EQ(sink.reports().size(), 5u);
  EXPECT_EQ(sink.reports()[0].message, "at 0");
  EXPECT_EQ(sink.reports()[0].count, 3u);
  EXPECT_EQ(sink.suppressed(), 2u);
}

TEST(Sink, Limit) {
  ReportSink sink(2);
  for (uint32_t line = 1; line <= 5; ++line) {
    size_t index = sink.add(report(Report::Kind::Race, "", {line}));
    EXPECT_EQ(index, line <= 2 ? line - 1 : ReportSink::kDropped);
    sink.repeat(index);
  }
  EXPECT_EQ(sink.reports().size(), 2u);
  EXPECT_EQ(sink.suppressed(), 8u);
  sink.clear();
  EXPECT_TRUE(sink.reports().empty());
  EXPECT_EQ(sink.add(report(Report::Kind::Race, "", {5})), 0u);
}

} // namespace
