// Branches, divergence, collective instructions of diverged warps, schedules, deadlocks.
#include "test/unit/emulator/TestKernel.h"

namespace tile_emu {
namespace {

using Kind = Report::Kind;

/// Runs in order and in some random schedules; the checks are made after each.
template <typename F>
void inSchedules(TestKernel &kernel, F check, unsigned schedules = 6) {
  for (unsigned seed = 0; seed < schedules; ++seed) {
    kernel.options.randomSchedule = seed != 0;
    kernel.options.seed = seed;
    SCOPED_TRACE("seed " + std::to_string(seed));
    check(kernel.run());
  }
}

const char *const kStore = R"(
    mul.wide.u32 %rd0, %r0, 4;
    add.s64 %rd0, %buf0, %rd0;
    st.global.b32 [%rd0], %r1;)";

TEST(ControlFlow, LoopsOfDifferentLengths) {
  TestKernel kernel(std::string(R"(
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, 0;
    mov.u32 %r2, 0;
  LOOP:
    setp.ge.u32 %p0, %r2, %r0;
    @%p0 bra DONE;
    add.u32 %r2, %r2, 1;
    and.b32 %r3, %r2, 1;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra LOOP;
    add.u32 %r1, %r1, %r2;
    bra.uni LOOP;
  DONE:)") + kStore);
  kernel.block = {70, 1, 1};
  kernel.output("out", 70 * 4);
  inSchedules(kernel, [&](bool finished) {
    EXPECT_TRUE(finished);
    EXPECT_EQ(kernel.describe(), "");
    std::vector<uint32_t> out = kernel.read<uint32_t>("out");
    for (uint32_t i = 0; i < 70; ++i) {
      uint32_t odd = (i + 1) / 2; // odd numbers up to i: their sum is a square
      EXPECT_EQ(out[i], odd * odd);
    }
  });
}

TEST(ControlFlow, BranchTables) {
  TestKernel kernel(std::string(R"(
    mov.u32 %r0, %tid.x;
    and.b32 %r2, %r0, 3;
    TABLE: .branchtargets L0, L1, L2, L1;
    brx.idx %r2, TABLE;
  L0: mov.u32 %r1, 10; bra END;
  L1: mov.u32 %r1, 11; bra END;
  L2: mov.u32 %r1, 12;
  END:)") + kStore);
  kernel.output("out", 32 * 4);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  std::vector<uint32_t> out = kernel.read<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], i % 4 == 0 ? 10U : i % 4 == 2 ? 12U : 11U);
  }
}

TEST(ControlFlow, BranchTableIndexOutOfRange) {
  TestKernel kernel(R"(
    TABLE: .branchtargets L0, L0;
    mov.u32 %r0, 2;
    brx.idx %r0, TABLE;
  L0: ret;)");
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Invalid, "index 2"));
}

TEST(ControlFlow, ExitOfSomeLanes) {
  TestKernel kernel(std::string(R"(
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, 1;
    setp.lt.u32 %p0, %r0, 5;
    @%p0 exit;
    bar.sync 0;
    shfl.sync.idx.b32 %r1, %r0, 7, 31, -1;)") +
                    kStore);
  kernel.block = {64, 1, 1};
  kernel.output("out", 64 * 4);
  inSchedules(kernel, [&](bool finished) {
    EXPECT_TRUE(finished);
    EXPECT_EQ(kernel.describe(), "");
    std::vector<uint32_t> out = kernel.read<uint32_t>("out");
    EXPECT_EQ(out[5], 7U);
    EXPECT_EQ(out[31], 7U);
  });
}

TEST(ControlFlow, WarpsComeTogetherAgainAfterBranches) {
  TestKernel kernel(std::string(R"(
    mov.u32 %r0, %tid.x;
    and.b32 %r2, %r0, 1;
    setp.eq.u32 %p0, %r2, 0;
    @%p0 bra EVEN;
    add.u32 %r3, %r0, 100;
    add.u32 %r3, %r3, 100;
    bra.uni JOIN;
  EVEN:
    add.u32 %r3, %r0, 1000;
  JOIN:
    shfl.sync.bfly.b32 %r1, %r3, 1, 31, -1;)") +
                    kStore);
  kernel.output("out", 32 * 4);
  inSchedules(kernel, [&](bool finished) {
    EXPECT_TRUE(finished);
    EXPECT_EQ(kernel.describe(), "");
    std::vector<uint32_t> out = kernel.read<uint32_t>("out");
    EXPECT_EQ(out[0], 201U);
    EXPECT_EQ(out[1], 1000U);
  });
}

TEST(ControlFlow, MembersOfAMaskWaitForEachOtherOnly) {
  TestKernel kernel(std::string(R"(
    mov.u32 %r0, %tid.x;
    mov.u32 %r2, 0xff;
    setp.lt.u32 %p0, %r0, 8;
    @%p0 bra LOW;
    mov.u32 %r2, 0xffffff00;
  LOW:
    vote.sync.ballot.b32 %r1, %p0, %r2;)") +
                    kStore);
  kernel.output("out", 32 * 4);
  inSchedules(kernel, [&](bool finished) {
    EXPECT_TRUE(finished);
    EXPECT_EQ(kernel.describe(), "");
    EXPECT_EQ(kernel.read<uint32_t>("out")[3], 0xffU);
    EXPECT_EQ(kernel.read<uint32_t>("out")[9], 0U);
  });
}

TEST(ControlFlow, LaneOutsideOfItsMask) {
  TestKernel kernel("mov.u32 %r0, %tid.x; shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffff;");
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Invalid, "lane 16"));
}

/// One lane waits in a loop for what another lane of its warp does after it.
TEST(ControlFlow, LanesOfAWarpCanWaitForEachOther) {
  TestKernel kernel(R"(
    mov.u32 %r0, %tid.x;
    setp.eq.u32 %p0, %r0, 0;
    @!%p0 bra SIGNAL;
  WAIT:
    ld.acquire.gpu.global.b32 %r1, [%buf0];
    setp.eq.u32 %p1, %r1, 31;
    @%p1 bra SEEN;
    bra WAIT;
  SEEN:
    st.global.b32 [%buf1], %r1;
    ret;
  SIGNAL:
    red.release.gpu.global.add.u32 [%buf0], 1;)");
  kernel.input("flag", std::vector<uint32_t>{0});
  kernel.output("out", 4);
  kernel.options.stepBudget = 100000;
  inSchedules(kernel, [&](bool finished) {
    EXPECT_TRUE(finished) << kernel.describe();
    EXPECT_EQ(kernel.describe(), "");
    EXPECT_EQ(kernel.read<uint32_t>("out")[0], 31U);
  });
}

/// Lanes that the guard turns off need not wait with the others.
TEST(ControlFlow, GuardedWaits) {
  TestKernel kernel(R"(
    .shared .b64 barrier;
    mov.u32 %r0, %tid.x;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared.b64 [barrier], 31;
    bar.sync 0;
  WAIT:
    @%p0 mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0;
    @!%p0 bra ARRIVE;
    @!%p1 bra WAIT;
    ret;
  ARRIVE:
    mbarrier.arrive.shared.b64 _, [barrier];)");
  inSchedules(kernel, [&](bool finished) {
    EXPECT_TRUE(finished);
    EXPECT_EQ(kernel.describe(), "");
  });
}

/// All blocks wait for all others, so all must be resident.
TEST(ControlFlow, ResidentBlocksMakeProgressTogether) {
  TestKernel kernel(R"(
    atom.acq_rel.gpu.global.add.u32 %r0, [%buf0], 1;
  WAIT:
    ld.acquire.gpu.global.b32 %r1, [%buf0];
    setp.lt.u32 %p0, %r1, 8;
    @%p0 bra WAIT;)");
  kernel.block = {1, 1, 1};
  kernel.grid = {8, 1, 1};
  kernel.input("counter", std::vector<uint32_t>{0});
  kernel.options.stepBudget = 100000;
  inSchedules(kernel, [&](bool finished) { EXPECT_TRUE(finished) << kernel.describe(); });
  kernel.options.residentBlocks = 7;
  EXPECT_FALSE(kernel.run());
}

TEST(ControlFlow, MoreBlocksThanFit) {
  TestKernel kernel(R"(
    mov.u32 %r0, %ctaid.x;
    mul.wide.u32 %rd0, %r0, 4;
    add.s64 %rd0, %buf0, %rd0;
    st.global.b32 [%rd0], %r0;)");
  kernel.block = {1, 1, 1};
  kernel.grid = {100, 1, 1};
  kernel.options.residentBlocks = 3;
  kernel.output("out", 400);
  inSchedules(kernel, [&](bool finished) {
    EXPECT_TRUE(finished);
    EXPECT_EQ(kernel.describe(), "");
    EXPECT_EQ(kernel.read<uint32_t>("out")[99], 99U);
  });
}

TEST(ControlFlow, DeadlockNamesWhoWaits) {
  TestKernel kernel(R"(
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p0, %r0, 32;
    @%p0 bra DONE;
    bar.sync 1, 96;
  DONE: ret;)");
  kernel.block = {96, 1, 1};
  inSchedules(kernel, [&](bool finished) {
    EXPECT_FALSE(finished);
    EXPECT_TRUE(kernel.reported(Kind::Deadlock, "threads 32-95 wait at PTX line"))
        << kernel.describe();
    EXPECT_TRUE(kernel.reported(Kind::Deadlock, "threads 0-31 have exited"));
  });
}

TEST(ControlFlow, DivergedWarpAtAlignedInstruction) {
  TestKernel kernel(R"(
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p0, %r0, 7;
    @%p0 bra.uni WAIT;
    bar.sync 0;
    ret;
  WAIT:
    bar.sync 1;)");
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Deadlock, ".aligned")) << kernel.describe();
}

TEST(ControlFlow, CallsAreRefused) {
  TestKernel kernel("call f;");
  kernel.moduleText = ".func f() { ret; }";
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Unsupported, "calls")) << kernel.describe();
}

TEST(ControlFlow, Trap) {
  TestKernel kernel("mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 9; @%p0 trap;");
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Invalid, "trap"));
  EXPECT_EQ(kernel.reports()[0].parties.at(0).thread.thread[0], 9U);
}

// Lanes that skip an `if` may be an iteration ahead of the others when both come to the same branch.
TEST(ControlFlow, LanesAnIterationAheadHaveTakenTheSameWays) {
  TestKernel kernel(R"(
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p0, %r0, 8;
    mov.b32 %r1, 0;
  LOOP:
    @%p0 bra SKIP;
    add.u32 %r2, %r1, %r0;
    add.u32 %r2, %r2, %r2;
    add.u32 %r2, %r2, %r2;
  SKIP:
    setp.ne.u32 %p1, %r1, 2;
    @%p1 bra NEXT;
    bar.sync 0;
  NEXT:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p2, %r1, 4;
    @%p2 bra LOOP;)");
  inSchedules(
      kernel,
      [&](bool finished) {
        EXPECT_TRUE(finished);
        EXPECT_EQ(kernel.describe(), "");
      },
      200);
}

// The end of a loop may stand before its head, and go on to it without a jump.
TEST(ControlFlow, RoundsAreCountedWhereverTheEndOfALoopStands) {
  for (const char *toHead : {"", "@%p2 bra HEAD; bra.uni OUT;"}) {
    TestKernel kernel(std::string(R"(
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p0, %r0, 8;
    mov.b32 %r1, 0;
    bra.uni HEAD;
  NEXT:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p2, %r1, 4;)") +
                      toHead + R"(
  HEAD:
    setp.eq.u32 %p3, %r1, 4;
    @%p3 bra OUT;
    @%p0 bra SKIP;
    add.u32 %r2, %r1, %r0;
    add.u32 %r2, %r2, %r2;
    add.u32 %r2, %r2, %r2;
  SKIP:
    setp.ne.u32 %p1, %r1, 2;
    @%p1 bra LAST;
    bar.sync 0;
  LAST:
    @%p0 bra NEXT;
    add.u32 %r2, %r2, %r2;
    bra.uni NEXT;
  OUT:)");
    inSchedules(
        kernel,
        [&](bool finished) {
          EXPECT_TRUE(finished);
          EXPECT_EQ(kernel.describe(), "");
        },
        200);
  }
}

TEST(ControlFlow, LanesThatGoToABarrierInOtherIterationsAreReported) {
  // Lane 0 comes to it in iteration 1, the others in iteration 2.
  TestKernel kernel(R"(
    mov.u32 %r0, %tid.x;
    min.u32 %r3, %r0, 1;
    add.u32 %r3, %r3, 1;
    mov.b32 %r1, 0;
  LOOP:
    setp.ne.u32 %p1, %r1, %r3;
    @%p1 bra NEXT;
    bar.sync 0;
  NEXT:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p2, %r1, 4;
    @%p2 bra LOOP;)");
  inSchedules(
      kernel,
      [&](bool) {
        EXPECT_TRUE(kernel.reported(Kind::Divergence, "have not taken the way to it"))
            << kernel.describe();
      },
      20);
}

} // namespace
} // namespace tile_emu
