"""Integer arithmetic, logic, shifts, bit fields, comparisons."""
from families.ptx import I32, elementwise, listed, pairs, random, setp

I64 = [0, 1, (1 << 64) - 1, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, 0xFFFFFFFF, 1 << 32, 0x123456789ABCDEF0, 0xDEADBEEFCAFEF00D, 63, 64,
       0x80000000, 0x7FFFFFFF, 0xFFFFFFFF00000000, 3]
I16 = [0, 1, 0xFFFF, 0x7FFF, 0x8000, 0x8001, 2, 0xFFFE, 0xFF, 0x100, 0x1234, 0xDEAD, 15, 16, 0x80, 0x7F]


def binary(names, suffixes, width_of):
    return [(width_of[s[-2:]], f"{n}.{s} {{d}}, {{a}}, {{b}};") for n in names for s in suffixes]


WIDTH = {"16": 2, "32": 4, "64": 8}
W2, W4, W8 = pairs(I16, 2, 1, 256), pairs(I32, 4, 1, 256), pairs(I64, 8, 1, 256)
R4 = [(4, random(256, 4, 11)), (4, random(256, 4, 12)), (4, random(256, 4, 13))]
R8 = [(8, random(256, 8, 14)), (8, random(256, 8, 15)), (8, random(256, 8, 16))]


def arithmetic():
    elementwise("int_add_16", "add, sub, mul.lo of 16 bits", W2,
                binary(["add", "sub", "mul.lo", "mul.hi"], ["s16", "u16"], WIDTH) + [(4, "mul.wide.s16 {d}, {a}, {b};"), (4, "mul.wide.u16 {d}, {a}, {b};")], 256)
    elementwise("int_add_32", "add, sub, saturating too, of 32 bits", W4,
                binary(["add", "sub"], ["s32", "u32", "sat.s32"], WIDTH), 256)
    elementwise("int_add_64", "add, sub of 64 bits", W8, binary(["add", "sub"], ["s64", "u64"], WIDTH), 256)
    elementwise("int_mul_32", "mul of 32 bits: lo, hi, wide, 24 bits", W4,
                binary(["mul.lo", "mul.hi", "mul24.lo", "mul24.hi"], ["s32", "u32"], WIDTH) +
                [(8, "mul.wide.s32 {d}, {a}, {b};"), (8, "mul.wide.u32 {d}, {a}, {b};")], 256)
    elementwise("int_mul_64", "mul of 64 bits: lo, hi", W8, binary(["mul.lo", "mul.hi"], ["s64", "u64"], WIDTH), 256)
    elementwise("int_mad", "mad of 16 and 32 bits: lo, hi, wide, saturating", R4 + [(8, random(256, 8, 17))], [
        (4, "mad.lo.s32 {d}, {a}, {b}, {c};"), (4, "mad.lo.u32 {d}, {a}, {b}, {c};"), (4, "mad.hi.s32 {d}, {a}, {b}, {c};"),
        (4, "mad.hi.u32 {d}, {a}, {b}, {c};"), (4, "mad.hi.sat.s32 {d}, {a}, {b}, {c};"), (4, "mad24.lo.s32 {d}, {a}, {b}, {c};"),
        (4, "mad24.hi.u32 {d}, {a}, {b}, {c};"), (8, "mad.wide.s32 {d}, {a}, {b}, {e};"), (8, "mad.wide.u32 {d}, {a}, {b}, {e};"),
        (4, "{{ .reg .b16 x, y; cvt.u16.u32 x, {a}; cvt.u16.u32 y, {b}; mad.wide.s16 {d}, x, y, {c}; }}"),
        (4, "{{ .reg .b16 x, y, z; cvt.u16.u32 x, {a}; cvt.u16.u32 y, {b}; cvt.u16.u32 z, {c}; mad.lo.s16 z, x, y, z; cvt.u32.u16 {d}, z; }}")], 256)
    elementwise("int_mad_64", "mad of 64 bits", R8, [
        (8, "mad.lo.s64 {d}, {a}, {b}, {c};"), (8, "mad.lo.u64 {d}, {a}, {b}, {c};"),
        (8, "mad.hi.s64 {d}, {a}, {b}, {c};"), (8, "mad.hi.u64 {d}, {a}, {b}, {c};")], 256)
    elementwise("int_carry", "add, sub, mad with carry in and out", W4, [
        (4, "add.cc.u32 {d}, {a}, {b};"), (4, "addc.u32 {d}, {a}, {b};"),
        (4, "add.cc.s32 {d}, {a}, {b};"), (4, "addc.cc.u32 {d}, {b}, {b};"), (4, "addc.u32 {d}, 0, 0;"),
        (4, "sub.cc.u32 {d}, {a}, {b};"), (4, "subc.u32 {d}, {a}, {b};"),
        (4, "sub.cc.u32 {d}, {b}, {a};"), (4, "subc.cc.u32 {d}, {b}, {b};"), (4, "subc.u32 {d}, 0, 0;"),
        (4, "mad.lo.cc.u32 {d}, {a}, {b}, {a};"), (4, "madc.hi.u32 {d}, {a}, {b}, {b};")], 256)
    elementwise("int_divide", "div and rem of 16, 32 and 64 bits, no divisor 0",
                [(4, listed(I32, 4, 240)), (4, listed(I32[1:], 4, 240, 16)), (8, listed(I64, 8, 240)), (8, listed(I64[1:], 8, 240, 16)),
                 (2, listed(I16, 2, 240)), (2, listed(I16[1:], 2, 240, 16))],
                [(4, f"{n}.{t} {{d}}, {{a}}, {{b}};") for n in ("div", "rem") for t in ("s32", "u32")] +
                [(8, f"{n}.{t} {{d}}, {{c}}, {{e}};") for n in ("div", "rem") for t in ("s64", "u64")] +
                [(2, f"{n}.{t} {{d}}, {{f}}, {{g}};") for n in ("div", "rem") for t in ("s16", "u16")], 240)
    elementwise("int_minmax", "min, max, abs, neg, sad", W4 + [(8, W8[0][1]), (8, W8[1][1]), (2, W2[0][1]), (2, W2[1][1])],
                [(4, f"{n}.{t} {{d}}, {{a}}, {{b}};") for n in ("min", "max") for t in ("s32", "u32")] +
                [(8, f"{n}.{t} {{d}}, {{c}}, {{e}};") for n in ("min", "max") for t in ("s64", "u64")] +
                [(2, f"{n}.{t} {{d}}, {{f}}, {{g}};") for n in ("min", "max") for t in ("s16", "u16")] +
                [(4, "abs.s32 {d}, {a};"), (4, "neg.s32 {d}, {a};"), (8, "abs.s64 {d}, {c};"), (8, "neg.s64 {d}, {c};"),
                 (2, "neg.s16 {d}, {f};"), (2, "abs.s16 {d}, {f};"), (4, "sad.s32 {d}, {a}, {b}, {a};"), (4, "sad.u32 {d}, {a}, {b}, {b};")], 256)
    elementwise("int_packed", "pairs of 16-bit integers: add, min, max, with relu", R4,
                [(4, f"{n} {{d}}, {{a}}, {{b}};") for n in ("add.u16x2", "add.s16x2", "min.u16x2", "max.s16x2", "min.relu.s16x2", "max.relu.s16x2")] +
                [(4, "min.relu.s32 {d}, {a}, {b};"), (4, "max.relu.s32 {d}, {a}, {b};")], 256, "sm_90")
    elementwise("int_dot", "dp4a, dp2a", R4,
                [(4, f"dp4a.{x}.{y} {{d}}, {{a}}, {{b}}, {{c}};") for x in ("s32", "u32") for y in ("s32", "u32")] +
                [(4, f"dp2a.{h}.{x}.{y} {{d}}, {{a}}, {{b}}, {{c}};") for h in ("lo", "hi") for x in ("s32", "u32") for y in ("s32", "u32")], 256)


def logic():
    elementwise("logic", "and, or, xor, not, cnot of 16, 32 and 64 bits", R4[:2] + R8[:2] + W2,
                [(4, f"{n}.b32 {{d}}, {{a}}, {{b}};") for n in ("and", "or", "xor")] +
                [(8, f"{n}.b64 {{d}}, {{c}}, {{e}};") for n in ("and", "or", "xor")] +
                [(2, f"{n}.b16 {{d}}, {{f}}, {{g}};") for n in ("and", "or", "xor")] +
                [(4, "not.b32 {d}, {a};"), (8, "not.b64 {d}, {c};"), (2, "not.b16 {d}, {f};"), (2, "cnot.b16 {d}, {f};"), (4, "cnot.b32 {d}, {a};")], 256)
    elementwise("lop3", "lop3 with many tables, and with a predicate", R4,
                [(4, f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {lut};") for lut in (0x00, 0x01, 0x1E, 0x40, 0x80, 0x96, 0xA5, 0xCA, 0xE8, 0xF8, 0xFE)] +
                [(4, setp("lop3.or.b32 {d}|p, {a}, {b}, {c}, 0x80, 0; ")), (4, setp("lop3.and.b32 {d}|p, {a}, {b}, {c}, 0x10, 1; "))], 256)
    amounts = listed([0, 1, 7, 15, 16, 31, 32, 33, 63, 64, 65, 255, 256, 0xFFFFFFFF, 5, 20], 4, 256)
    elementwise("shift", "shl, shr of 16, 32 and 64 bits, amounts beyond the width", [(4, R4[0][1]), (4, amounts), (8, R8[0][1]), (2, random(256, 2, 18))],
                [(4, f"{n} {{d}}, {{a}}, {{b}};") for n in ("shl.b32", "shr.u32", "shr.s32", "shr.b32")] +
                [(8, f"{n} {{d}}, {{c}}, {{b}};") for n in ("shl.b64", "shr.u64", "shr.s64")] +
                [(2, f"{n} {{d}}, {{e}}, {{b}};") for n in ("shl.b16", "shr.u16", "shr.s16")], 256)
    elementwise("shift_funnel", "shf: left and right, clamp and wrap", R4[:2] + [(4, amounts)],
                [(4, f"shf.{w}.{m}.b32 {{d}}, {{a}}, {{b}}, {{c}};") for w in "lr" for m in ("clamp", "wrap")], 256)
    fields = [(4, R4[0][1]), (4, R4[1][1]), (4, listed([0, 1, 5, 16, 31, 32, 40, 0xFF, 63], 4, 256)),
              (4, listed([0, 1, 8, 16, 31, 32, 33, 0xFF, 64], 4, 256, 9)), (8, R8[0][1]), (8, R8[1][1])]
    elementwise("bit_field", "bfe, bfi, bmsk, szext", fields,
                [(4, "bfe.u32 {d}, {a}, {c}, {e};"), (4, "bfe.s32 {d}, {a}, {c}, {e};"), (8, "bfe.u64 {d}, {f}, {c}, {e};"),
                 (8, "bfe.s64 {d}, {f}, {c}, {e};"), (4, "bfi.b32 {d}, {a}, {b}, {c}, {e};"), (8, "bfi.b64 {d}, {f}, {g}, {c}, {e};"),
                 (4, "bmsk.clamp.b32 {d}, {c}, {e};"), (4, "bmsk.wrap.b32 {d}, {c}, {e};"),
                 (4, "szext.wrap.s32 {d}, {a}, {c};"), (4, "szext.clamp.u32 {d}, {a}, {c};")], 256)
    elementwise("bit_count", "popc, clz, brev, bfind, fns", [(4, listed(I32, 4, 256)), (8, listed(I64, 8, 256)), (4, R4[0][1]), (8, R8[0][1])],
                [(4, f"{n}.b32 {{d}}, {{{x}}};") for n in ("popc", "clz", "brev") for x in "ac"] +
                [(4, f"{n}.b64 {{d}}, {{{x}}};") for n in ("popc", "clz") for x in "be"] + [(8, "brev.b64 {d}, {e};")] +
                [(4, f"bfind{s}.{t} {{d}}, {{{x}}};") for s in ("", ".shiftamt") for t, x in (("u32", "a"), ("s32", "a"), ("u64", "b"), ("s64", "b"))] +
                [(4, "fns.b32 {d}, {c}, 3, 2;"), (4, "fns.b32 {d}, {c}, 20, -3;")], 256)
    elementwise("prmt", "prmt, all modes", R4, [(4, f"prmt.b32{m} {{d}}, {{a}}, {{b}}, {{c}};") for m in
                                               ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")] +
                [(4, f"prmt.b32 {{d}}, {{a}}, {{b}}, {s};") for s in (0x5410, 0x7632, 0x3210, 0xBA98, 0x0F1E)], 256)


def comparison():
    elementwise("setp_32", "setp of 32-bit integers, with bool operators and both results", W4 + [(4, R4[0][1])],
                [(4, setp(f"setp.{c}.s32 p, {{a}}, {{b}};")) for c in ("eq", "ne", "lt", "le", "gt", "ge")] +
                [(4, setp(f"setp.{c}.u32 p, {{a}}, {{b}};")) for c in ("lt", "le", "gt", "ge", "lo", "ls", "hi", "hs")] +
                [(4, setp(f"setp.lt.s32 q, {{c}}, 0; setp.ge.{o}.s32 p, {{a}}, {{b}}, q;")) for o in ("and", "or", "xor")] +
                [(4, setp("setp.lt.s32 q, {c}, 0; setp.ge.and.s32 p, {a}, {b}, !q;")), (4, setp("setp.lt.u32 q|p, {a}, {b};"))], 256)
    elementwise("setp_16_64", "setp of 16 and 64 bits", W2 + W8,
                [(4, setp(f"setp.{c} p, {{a}}, {{b}};")) for c in ("eq.s16", "lt.s16", "lt.u16", "ge.u16", "ne.b16")] +
                [(4, setp(f"setp.{c} p, {{c}}, {{e}};")) for c in ("eq.b64", "lt.s64", "lt.u64", "ge.s64", "hi.u64")], 256)
    elementwise("select", "selp, slct, set", R4 + [(8, R8[0][1]), (8, R8[1][1])],
                [(4, "{{ .reg .pred p; setp.lt.s32 p, {c}, 0; selp.b32 {d}, {a}, {b}, p; }}"),
                 (8, "{{ .reg .pred p; setp.lt.s32 p, {c}, 0; selp.b64 {d}, {e}, {f}, p; }}"),
                 (4, "{{ .reg .pred p; setp.lt.s32 p, {c}, 0; selp.f32 {d}, {a}, {b}, p; }}"),
                 (4, "slct.s32.s32 {d}, {a}, {b}, {c};"), (8, "slct.u64.s32 {d}, {e}, {f}, {c};"), (4, "slct.b32.f32 {d}, {a}, {b}, {c};"),
                 (4, "set.lt.u32.s32 {d}, {a}, {b};"), (4, "set.ge.f32.u32 {d}, {a}, {b};"), (4, "set.lt.u32.f32 {d}, {a}, {b};")], 256)
    elementwise("predicates", "and, or, xor, not, mov of predicates; guards", R4, [
        (4, "{{ .reg .pred p, q, r; setp.lt.s32 p, {a}, 0; setp.lt.s32 q, {b}, 0; " + f"{o}.pred r, p, q; selp.b32 {{d}}, 5, 9, r; }}}}") for o in ("and", "or", "xor")] + [
        (4, "{{ .reg .pred p, q; setp.lt.s32 p, {a}, 0; not.pred q, p; mov.pred p, q; selp.b32 {d}, 1, 0, p; }}"),
        (4, "{{ .reg .pred p; setp.lt.s32 p, {a}, {b}; mov.b32 {d}, 7; @p add.u32 {d}, {a}, {c}; @!p sub.u32 {d}, {a}, {c}; }}")], 256)
    elementwise("mov_pack", "mov that packs and unpacks", R4 + [(8, R8[0][1]), (2, W2[0][1]), (2, random(256, 2, 19))], [
        (8, "mov.b64 {d}, {{{a}, {b}}};"), (4, "mov.b32 {d}, {{{f}, {g}}};"), (8, "mov.b64 {d}, {{{f}, {g}, {f}, {f}}};"),
        (4, "{{ .reg .b32 x; mov.b64 {{x, {d}}}, {e}; }}"), (4, "{{ .reg .b32 x; mov.b64 {{{d}, x}}, {e}; }}"),
        (2, "{{ .reg .b16 x; mov.b32 {{x, {d}}}, {a}; }}"), (2, "{{ .reg .b16 x, y, z; mov.b64 {{x, y, {d}, z}}, {e}; }}"),
        (4, "mov.b32 {d}, 0f3FC00000;"), (8, "mov.b64 {d}, 0d400921FB54442D18;"), (4, "mov.u32 {d}, -5;"), (8, "mov.s64 {d}, -5;")], 256)


def add_probes():
    arithmetic()
    logic()
    comparison()
