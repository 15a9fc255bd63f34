// From PTX text to ptx::Module.
#include "Ptx.h"

namespace tile_emu::ptx {
namespace {

using Kind = Operand::Kind;

const Operand &onlyOperand(const Function &function, size_t instruction, size_t operand) {
  return function.instructions.at(instruction).operands.at(operand);
}

TEST(PtxTypes, NamesAndSizesAgree) {
  for (unsigned i = unsigned(Type::None) + 1; i <= unsigned(Type::Pred); ++i) {
    EXPECT_EQ(typeNamed(typeName(Type(i))), Type(i));
    EXPECT_GT(bitsOf(Type(i)), 0u);
  }
  EXPECT_EQ(bitsOf(Type::F16x2), 32u);
  EXPECT_EQ(bitsOf(Type::Pred), 1u);
  EXPECT_FALSE(typeNamed("f33"));
  EXPECT_FALSE(typeNamed(""));
}

TEST(PtxParser, HeaderAndFiles) {
  Module module = parse("// a comment\n.version 9.0\n.target sm_90a, debug\n/* one\nmore */\n"
                        ".address_size 64\n.pragma \"nounroll\", \"x\";\n"
                        ".file 1 \"gemm.tile\"\n.file 2 \"lib\" \"more.tile\", 17, 30\n"
                        ".section .debug_abbrev { .b8 1 label: { .b8 2 } .b32 .debug_info }\n"
                        "\t.section\t.debug_macinfo\t{\t}\n");
  EXPECT_EQ(module.version, "9.0");
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_EQ(module.files.at(1), "gemm.tile");
  EXPECT_EQ(module.files.at(2), "lib/more.tile");
  EXPECT_TRUE(module.functions.empty());
}

TEST(PtxParser, Parameters) {
  Module module =
      parseText(".visible .entry k(\n.param .u8 a,\n.param .u64 .ptr .global .align 16 b,"
                "\n.param .align 64 .b8 map[128],\n.param .f32 c\n) { ret; }");
  const Function *k = module.find("k");
  ASSERT_TRUE(k);
  EXPECT_TRUE(k->isEntry);
  ASSERT_EQ(k->params.size(), 4u);
  const uint64_t offsets[] = {0, 8, 64, 192}, sizes[] = {1, 8, 128, 4};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(k->params[i].offset, offsets[i]) << i;
    EXPECT_EQ(k->params[i].bytes, sizes[i]) << i;
    EXPECT_EQ(k->params[i].space, Space::Param);
  }
  EXPECT_EQ(k->params[2].align, 64u);
  EXPECT_EQ(k->params[3].type, Type::F32);
  EXPECT_FALSE(module.find("j"));
}

TEST(PtxParser, DirectivesOfEntries) {
  Module module = parseText(".entry k() .reqntid 256, 2 .maxntid 512 .minnctapersm 1 .maxnreg 168\n"
                            ".explicitcluster .reqnctapercluster 2, 1, 1 .maxclusterrank 8\n"
                            ".pragma \"x\"; { .pragma \"y\"; ret; }");
  const Function &k = module.functions.at(0);
  using Three = std::array<unsigned, 3>;
  EXPECT_EQ(k.requiredThreads, (Three{256, 2, 1}));
  EXPECT_EQ(k.maxThreads, (Three{512, 1, 1}));
  EXPECT_EQ(k.requiredCluster, (Three{2, 1, 1}));
}

TEST(PtxParser, FunctionsAndCalls) {
  Module module =
      parseText(".extern .func (.param .b32 r) f (.param .b32 a) .noreturn;\n"
                ".func (.reg .b32 out) g (.reg .b32 in) { mov.b32 out, in; ret; }\n"
                ".func (.param .b32 r) h (.param .b32 a) { st.param.b32 [r], 1; ret; }\n"
                ".entry k() { .reg .b32 %r<4>; .param .b32 p; .param .b32 q;\n"
                "call.uni (q), f, (p); call (%r1), g, (%r2), proto; call f;\n"
                "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                "list: .calltargets f, g;\nret; }");
  ASSERT_EQ(module.functions.size(), 3u);
  EXPECT_EQ(module.find("f"), nullptr);
  EXPECT_EQ(module.find("h")->params.size(), 1u);
  EXPECT_EQ(module.find("h")->variables.size(), 1u); // what it returns
  const Instruction &call = module.find("k")->instructions.at(0);
  ASSERT_EQ(call.operands.size(), 3u);
  EXPECT_EQ(call.operands[0].kind, Kind::Vector);
  EXPECT_EQ(call.operands[1].kind, Kind::Variable);
  EXPECT_EQ(call.operands[1].name, "f");
}

TEST(PtxParser, VariablesOfModules) {
  Module module = parseText(
      ".extern .shared .align 1024 .b8 dynamic[];\n.shared .b8 flag;\n.shared .b64 bar[4], more;\n"
      ".global .align 4 .b8 table[8] = {1, 0x2, 03, -1};\n.const .f32 c = 0f3F800000;\n"
      ".visible .global .f32 grid[2][2] = {{1.5}, {0d3FF0000000000000, -2.0}};\n"
      ".global .v4 .u32 v;\n.const .b16 open[] = {7, 8, 9};\n"
      ".global .attribute(.managed) .u32 m = 3;\n"
      ".extern .global .u32 later;\n.weak .global .u32 later = 5;\n");
  std::map<std::string, Variable> all;
  for (const Variable &variable : module.variables) {
    all[variable.name] = variable;
  }
  ASSERT_EQ(all.size(), module.variables.size());
  EXPECT_TRUE(all["dynamic"].isExtern);
  EXPECT_EQ(all["dynamic"].bytes, 0u);
  EXPECT_EQ(all["dynamic"].align, 1024u);
  EXPECT_EQ(all["bar"].offset, 8u);
  EXPECT_EQ(all["bar"].bytes, 32u);
  EXPECT_EQ(all["more"].offset, 40u);
  EXPECT_EQ(all["table"].initial, (std::vector<uint8_t>{1, 2, 3, 255}));
  EXPECT_EQ(all["c"].initial, (std::vector<uint8_t>{0, 0, 0x80, 0x3f}));
  EXPECT_EQ(all["grid"].bytes, 16u);
  EXPECT_EQ(all["grid"].initial, (std::vector<uint8_t>{0, 0, 0xc0, 0x3f, 0, 0, 0, 0, //
                                                       0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}));
  EXPECT_EQ(all["v"].bytes, 16u);
  EXPECT_EQ(all["v"].align, 16u);
  EXPECT_EQ(all["open"].bytes, 6u);
  EXPECT_EQ(all["open"].initial, (std::vector<uint8_t>{7, 0, 8, 0, 9, 0}));
  EXPECT_FALSE(all["later"].isExtern);
  EXPECT_EQ(all["later"].initial[0], 5);
}

TEST(PtxParser, VariablesOfBodies) {
  Module module = parseText(".shared .b32 x;\n.entry k() { .shared .align 128 .b8 x[256];\n"
                            ".local .b64 stack[2]; .reg .b64 %rd<3>;\n"
                            "mov.u64 %rd1, x; { .shared .b32 x; mov.u64 %rd1, x+4; }\n"
                            ".const .u32 c = 7; mov.u64 %rd2, c; mov.u64 %rd2, stack; }\n"
                            ".entry j() { .reg .b64 a; mov.u64 a, x; }");
  const Function &k = module.functions.at(0);
  EXPECT_EQ(names(k.variables), (std::vector<std::string>{"x.2", "stack", "x.3"}));
  EXPECT_EQ(k.variables[2].offset, 256u);
  EXPECT_EQ(k.variables[1].space, Space::Local);
  EXPECT_EQ(onlyOperand(k, 0, 1).name, "x.2");
  EXPECT_EQ(onlyOperand(k, 1, 1).name, "x.3");
  EXPECT_EQ(onlyOperand(k, 1, 1).offset, 4);
  EXPECT_EQ(onlyOperand(k, 2, 1).name, "k.c");
  EXPECT_EQ(module.variables.at(1).name, "k.c");
  EXPECT_EQ(onlyOperand(module.functions.at(1), 0, 1).name, "x");
}

TEST(PtxParser, RegistersAndScopes) {
  Function k = parseBody(".reg .pred %p<3>; .reg .b32 %r<12>, a, %r1x<2>; .reg .f16x2 h;\n"
                         "@%p1 mov.b32 %r11, a;\n@!%p2 mov.b32 %r1x1, h;\n"
                         "{ .reg .pred p; .reg .b64 a; setp.eq.b32 p, %r11, 0; @p mov.b64 a, 1;\n"
                         "{ .reg .b32 p; mov.b32 p, 2; } }\n"
                         "{ .reg .pred p; setp.eq.b32 p, %r11, a; }");
  ASSERT_EQ(k.instructions.size(), 6u);
  EXPECT_EQ(k.registers[*k.instructions[0].guard].name, "%p1");
  EXPECT_FALSE(k.instructions[0].guardNegated);
  EXPECT_TRUE(k.instructions[1].guardNegated);
  EXPECT_EQ(k.registers[onlyOperand(k, 0, 0).index].name, "%r11");
  EXPECT_EQ(k.registers[onlyOperand(k, 1, 0).index].name, "%r1x1");
  EXPECT_EQ(k.registers[onlyOperand(k, 1, 1).index].type, Type::F16x2);
  uint32_t first = onlyOperand(k, 2, 0).index, second = onlyOperand(k, 5, 0).index;
  EXPECT_NE(first, second);
  EXPECT_EQ(*k.instructions[3].guard, first);
  EXPECT_EQ(k.registers[onlyOperand(k, 3, 0).index].type, Type::B64);
  EXPECT_EQ(onlyOperand(k, 4, 0).type, Type::B32);
  EXPECT_EQ(onlyOperand(k, 5, 2).type, Type::B32); // the outer `a` again
  EXPECT_EQ(onlyOperand(k, 2, 1).index, onlyOperand(k, 0, 0).index);
}

TEST(PtxParser, LabelsAndBranches) {
  Function k = parseBody(".reg .pred %p<2>; .reg .b32 %r<2>;\n$L__BB0_1: add.s32 %r1, %r1, 1;\n"
                         "@%p1 bra $L__BB0_1;\nbra.uni END;\n{ L: bra L; bra M; M: }\n"
                         "{ bra L; L: bra END; }\nts: .branchtargets END, $L__BB0_1;\n"
                         "brx.idx %r1, ts;\nEND:");
  auto target = [&](size_t i) { return onlyOperand(k, i, 0).index; };
  EXPECT_EQ(target(1), 0u);
  EXPECT_EQ(target(2), 8u);
  EXPECT_EQ(target(3), 3u);
  EXPECT_EQ(target(4), 5u);
  EXPECT_EQ(target(5), 6u);
  EXPECT_EQ(target(6), 8u);
  ASSERT_EQ(k.branchTargets.size(), 1u);
  EXPECT_EQ(k.branchTargets[0], (std::vector<uint32_t>{8, 0}));
  EXPECT_EQ(onlyOperand(k, 7, 1).kind, Kind::Label);
  EXPECT_EQ(onlyOperand(k, 7, 1).index, 0u);
  EXPECT_EQ(k.instructions.size(), 8u); // END stands behind the last
}

TEST(PtxParser, Opcodes) {
  Function k = parseBody(
      ".reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
      "cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%rd1+-16], [%rd2, {%r1, %r2, %r3, %r4}], [%rd3-8], %rd4;\n"
      "fence.proxy.async.shared::cta;\nwgmma.fence .sync\n.aligned;");
  EXPECT_EQ(
      k.instructions[0].opcode,
      (std::vector<std::string>{"cp", "async", "bulk", "tensor", "4d", "shared::cta", "global",
                                "tile", "mbarrier::complete_tx::bytes", "L2::cache_hint"}));
  const std::vector<Operand> &operands = k.instructions[0].operands;
  ASSERT_EQ(operands.size(), 4u);
  EXPECT_EQ(operands[0].kind, Kind::Address);
  EXPECT_EQ(operands[0].offset, -16);
  ASSERT_EQ(operands[1].elements.size(), 2u);
  EXPECT_EQ(operands[1].elements[0].kind, Kind::Register);
  EXPECT_EQ(operands[1].elements[1].kind, Kind::Vector);
  EXPECT_EQ(operands[1].elements[1].elements.size(), 4u);
  EXPECT_EQ(operands[2].offset, -8);
  EXPECT_EQ(k.instructions[1].opcode.back(), "shared::cta");
  EXPECT_TRUE(k.instructions[1].operands.empty());
  EXPECT_EQ(k.instructions[2].opcode,
            (std::vector<std::string>{"wgmma", "fence", "sync", "aligned"}));
}

TEST(PtxParser, Operands) {
  Function k = parseBody(".reg .pred %p<4>; .reg .b32 %r<9>; .shared .b8 smem[64];\n"
                         "i %p1|%p2, !%p3, _|%p1, %p2|_, _, {%r1, _}, smem+8, [smem+16], [64],"
                         " %tid.x, %clock64, %envreg31, %pm7_64, [smem-8+4*2];");
  const std::vector<Operand> &o = k.instructions.at(0).operands;
  ASSERT_EQ(o.size(), 14u);
  EXPECT_EQ(o[0].kind, Kind::Pair);
  EXPECT_EQ(o[0].elements[1].kind, Kind::Register);
  EXPECT_TRUE(o[1].negated);
  EXPECT_EQ(o[2].elements[0].kind, Kind::Sink);
  EXPECT_EQ(o[3].elements[1].kind, Kind::Sink);
  EXPECT_EQ(o[4].kind, Kind::Sink);
  EXPECT_EQ(o[5].elements[1].kind, Kind::Sink);
  EXPECT_EQ(o[6].kind, Kind::Variable);
  EXPECT_EQ(o[6].offset, 8);
  EXPECT_EQ(o[7].kind, Kind::Address);
  EXPECT_EQ(o[7].offset, 16);
  EXPECT_EQ(o[7].elements[0].offset, 0);
  EXPECT_EQ(o[8].elements[0].bits, 64u);
  EXPECT_EQ(o[9].kind, Kind::Special);
  EXPECT_EQ(o[9].name, "%tid.x");
  EXPECT_EQ(o[10].name, "%clock64");
  EXPECT_EQ(o[13].offset, 0);
}

TEST(PtxParser, Numbers) {
  Function k =
      parseBody("i 10, -1, 0x1F, 0XfU, 017, 0b101, 0, 18446744073709551615, -0x8000,"
                " 0f3F800000, 0FBF800000, 0d3FF0000000000000, -0f3F800000, 1.5, 2e3, WARP_SZ;");
  const std::vector<Operand> &o = k.instructions.at(0).operands;
  const uint64_t expected[] = {10,
                               ~uint64_t(0),
                               31,
                               15,
                               15,
                               5,
                               0,
                               ~uint64_t(0),
                               uint64_t(-0x8000),
                               0x3f800000,
                               0xbf800000,
                               0x3ff0000000000000,
                               0xbf800000,
                               0x3ff8000000000000,
                               0x409f400000000000,
                               32};
  ASSERT_EQ(o.size(), std::size(expected));
  for (size_t i = 0; i < o.size(); ++i) {
    EXPECT_EQ(o[i].bits, expected[i]) << i;
    EXPECT_EQ(o[i].kind, i >= 9 && i < 15 ? Kind::Float : Kind::Integer) << i;
  }
  EXPECT_EQ(o[9].type, Type::F32);
  EXPECT_EQ(o[11].type, Type::F64);
}

TEST(PtxParser, ConstantExpressions) {
  Function k =
      parseBody("i (1 + 2) * 3, 1 + 2 * 3, 7 % 4 - 5 / 2, 1 << 4 | 3, 6 & 3 ^ 8, ~0, !5, !0,"
                " -8 >> 1, (.u64) -8 >> 60, 1 ? 2 : 3, 0 ? 2 : 1 ? 4 : 5, 3 < 4, -1 < 0U,"
                " 2 >= 3 || 1 == 1, 1 != 1 && 1, +3, 5 <= 5, (-9223372036854775807 - 1) / -1,"
                " 1 << 64, -1 >> 64, 2 > 1;");
  const int64_t expected[] = {9, 7, 1, 19, 10, -1, 0, 1,         -4, 15, 2,
                              4, 1, 0, 1,  0,  3,  1, INT64_MIN, 0,  -1, 1};
  const std::vector<Operand> &o = k.instructions.at(0).operands;
  ASSERT_EQ(o.size(), std::size(expected));
  for (size_t i = 0; i < o.size(); ++i) {
    EXPECT_EQ(int64_t(o[i].bits), expected[i]) << i;
  }
}

TEST(PtxParser, SourceLines) {
  Function k = parseBody("ret;\n.loc 1 12 5\nret;\n\nret;\n"
                         ".loc 2 7 1, function_name $L__info_string0+4, inlined_at 1 30 9\nret;\n"
                         ".loc 1 0 5\nret;\n.loc 3 1 1 ret;");
  auto line = [&](size_t i) { return k.instructions.at(i).source.line; };
  EXPECT_EQ(line(0), 0u);
  EXPECT_EQ(line(1), 12u);
  EXPECT_EQ(line(2), 12u);
  EXPECT_EQ(line(3), 7u);
  EXPECT_EQ(k.instructions[3].source.file, 2u);
  EXPECT_EQ(k.instructions[4].source.file, 0u); // of no line
  EXPECT_EQ(line(5), 1u);
  EXPECT_EQ(k.instructions[2].line, k.instructions[1].line + 2);
}

TEST(PtxParser, LocationsDoNotReachTheNextFunction) {
  Module module = parseText(".entry a() { .loc 1 5 5\nret; }\n.entry b() { ret; }");
  EXPECT_EQ(module.functions[1].instructions[0].source.file, 0u);
}

} // namespace
} // namespace tile_emu::ptx
