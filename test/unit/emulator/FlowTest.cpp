// What is known of a program before it runs: where branches meet, what may wait on the way, and
// which shared variable an address is made from.
#include "runtime/emulator/exec/Code.h"
#include "runtime/emulator/ptx/Parser.h"
#include "test/unit/emulator/TestKernel.h"

using namespace tile_emu;

namespace {

using Kind = Report::Kind;

struct Program {
  explicit Program(const std::string &body)
      : text(".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 a[64];\n"
             ".shared .align 16 .b8 b[64];\n.extern .shared .align 16 .b8 c[];\n"
             ".visible .entry k()\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n" +
             body + "\n}\n"),
        module(ptx::parse(text)), code(decode(module, module.functions.front())) {}

  /// The variable that the address of the n-th store is made from.
  std::string variableOfStore(size_t n) const {
    for (const Op &op : code.ops) {
      if (op.instruction->opcode.front() != "st" || n-- != 0) {
        continue;
      }
      const ptx::Operand &address = op.instruction->operands.front().elements.front();
      const SharedVariable *variable = code.variableOf(code.registerRows[address.index]);
      return variable ? variable->name : "";
    }
    return "no store";
  }

  std::string text;
  ptx::Module module;
  Code code;
};

} // namespace

TEST(Flow, BranchesMeetAtTheirPostdominator) {
  Program program(R"(
    @%p0 bra THEN;
    add.u32 %r0, %r0, 1;
    bra JOIN;
  THEN:
    add.u32 %r0, %r0, 2;
    @%p1 bra OUT;
  JOIN:
    add.u32 %r0, %r0, 3;
  OUT:
    ret;)");
  EXPECT_EQ(program.code.meetingPoint(0), 6u); // not JOIN, which one way passes by
  EXPECT_EQ(program.code.meetingPoint(4), 6u);
}

TEST(Flow, LoopsMeetBehindTheirEnd) {
  Program program(R"(
  LOOP:
    add.u32 %r0, %r0, 1;
    @%p0 bra LOOP;
    add.u32 %r0, %r0, 2;
    ret;)");
  EXPECT_EQ(program.code.meetingPoint(1), 2u);
}

TEST(Flow, WaysThatEndApartMeetNowhere) {
  Program program("@%p0 bra OUT; add.u32 %r0, %r0, 1; ret; OUT: trap; ret;");
  EXPECT_EQ(program.code.meetingPoint(0), program.code.ops.size());
}

TEST(Flow, OnlyLoopsAroundAnMBarriersWaitCanWait) {
  Program program(R"(
    mbarrier.test_wait.parity.shared::cta.b64 %p0, [a], 0;
    add.u32 %r0, %r0, 1;
  LOOP:
    mbarrier.try_wait.parity.shared::cta.b64 %p0, [a], 0;
    @!%p0 bra LOOP;
    add.u32 %r0, %r0, 2;
    ret;)");
  EXPECT_FALSE(program.code.mayWaitBefore(0, 1)); // once
  EXPECT_TRUE(program.code.mayWaitBefore(2, 4));
  EXPECT_TRUE(program.code.mayWaitBefore(3, 4));
  EXPECT_FALSE(program.code.mayWaitBefore(4, 5));
}

TEST(Provenance, SumsOfAnAddressAndADistanceKeepTheVariable) {
  Program program(R"(
    mov.u32 %r0, a;
    mad.lo.u32 %r1, %r7, 4, %r0;
    sub.u32 %r2, %r1, 8;
    selp.u32 %r3, %r1, %r2, %p0;
    st.shared.b32 [%r1], 0;
    st.shared.b32 [%r2], 0;
    st.shared.b32 [%r3], 0;
    ret;)");
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(program.variableOfStore(i), "a") << i;
  }
}

TEST(Provenance, ARegisterThatGetsSomethingElseTooIsUnknown) {
  Program program(R"(
    mov.u32 %r0, a;
    add.u32 %r1, %r0, 4;
    mov.u32 %r2, %r1;
    st.shared.b32 [%r2], 0;
    ld.shared.b32 %r1, [b];
    st.shared.b32 [%r1], 0;
    st.shared.b32 [%r0], 0;
    ret;)");
  EXPECT_EQ(program.variableOfStore(0), "");
  EXPECT_EQ(program.variableOfStore(1), "");
  EXPECT_EQ(program.variableOfStore(2), "a");
}

TEST(Provenance, WhatMayBeTwoVariablesIsUnknown) {
  Program program(R"(
    mov.u32 %r0, a;
    mov.u32 %r1, b;
    selp.u32 %r2, %r0, %r1, %p0;
    mov.u32 %r3, c;
    add.u32 %r4, %r3, %r0;
    and.b32 %r5, %r0, -16;
    st.shared.b32 [%r2], 0;
    st.shared.b32 [%r3], 0;
    st.shared.b32 [%r4], 0;
    st.shared.b32 [%r5], 0;
    st.shared.b32 [%r1], 0;
    ret;)");
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(program.variableOfStore(i), "") << i;
  }
  EXPECT_EQ(program.variableOfStore(4), "b");
}

//===----------------------------------------------------------------------===//
// What runs make of it
//===----------------------------------------------------------------------===//

TEST(Convergence, AlignedInstructionsComeWhereBranchesHaveMet) {
  auto run = [](const std::string &body) {
    TestKernel kernel("mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 16;" + body);
    kernel.run();
    return kernel.reported(Kind::Divergence, "have not taken the way to it");
  };
  EXPECT_FALSE(run("@%p0 bra JOIN; add.u32 %r1, %r0, 1; JOIN: bar.sync 0;"));
  EXPECT_TRUE(run("@%p0 bra JOIN; bar.sync 0; JOIN: ret;"));
  EXPECT_TRUE(run("@%p0 bra THEN; bar.sync 0; ret; THEN: bar.sync 0;"));
  // Guarded off for some lanes.
  EXPECT_TRUE(run("@%p0 bar.sync 0;"));
}

TEST(Convergence, ALaneThatMayWaitAloneIsReportedInStrictRuns) {
  // Lane 0 waits in a branch; another warp lets it go, later.
  auto run = [](bool strict) {
    TestKernel kernel(R"(
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @!%p0 mbarrier.init.shared::cta.b64 [b], 1;
      bar.sync 0;
      setp.ge.u32 %p2, %r0, 32;
      @%p2 bra LATER;
      @%p0 bra JOIN;
    WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [b], 0;
      @!%p1 bra WAIT;
      bra JOIN;
    LATER:
      mov.u32 %r1, 0;
    COUNT:
      add.u32 %r1, %r1, 1;
      setp.lt.u32 %p3, %r1, 1000;
      @%p3 bra COUNT;
      setp.eq.u32 %p3, %r0, 40;
      @%p3 mbarrier.arrive.shared::cta.b64 _, [b];
    JOIN:
      bar.sync 0;)");
    kernel.moduleText = ".shared .align 8 .b64 b;";
    kernel.block = {64, 1, 1};
    kernel.options.strictWaits = strict;
    EXPECT_TRUE(kernel.run());
    return kernel.reported(Kind::Divergence, "may still wait for an mbarrier, alone");
  };
  EXPECT_TRUE(run(true));
  EXPECT_FALSE(run(false));
}

TEST(SharedVariables, AnAddressOfOneMustNotReachAnother) {
  auto run = [](const std::string &body) {
    TestKernel kernel("mov.u32 %r0, a; st.shared.b32 [b], 0; st.shared.b32 [c], 0;" + body +
                      "st.shared.b32 [%r1], 0;");
    kernel.moduleText =
        ".shared .align 16 .b8 c[16];\n.shared .align 16 .b8 a[64];\n.shared .align 16 .b8 b[64];";
    kernel.block = {1, 1, 1};
    kernel.run();
    return kernel.reported(Kind::OutOfBounds, "of the shared variable `a`, which has 64 bytes");
  };
  EXPECT_FALSE(run("add.u32 %r1, %r0, 60;"));
  EXPECT_TRUE(run("add.u32 %r1, %r0, 64;"));
  EXPECT_TRUE(run("sub.u32 %r1, %r0, 4;"));
  EXPECT_FALSE(run("add.u32 %r1, %r0, 64; and.b32 %r1, %r1, -4;")); // not followed that far
}
