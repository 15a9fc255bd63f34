"""cvt: every pair of classes of types."""
from families.integers import I16, I64
from families.ptx import BF16, F16, F32, F64, I32, elementwise, listed, random

NEAR_INT = {"and": 0x87FFFFFF, "or": 0x48000000}  # f32 from 2^17 to 2^33 and beyond
SMALL = {"and": 0x81FFFFFF, "or": 0x3E000000}  # from 2^-3 to 2
TIES = [0x3F000000, 0xBF000000, 0x3FC00000, 0xBFC00000, 0x40200000, 0xC0200000, 0x3EFFFFFF, 0x4F000000, 0xCF000000, 0x4EFFFFFF, 0x4F7FFFFF,
        0x5F000000, 0xDF000000, 0x42FE0000, 0x42FF0000, 0xC3000000, 0xC3010000, 0x437F0000, 0x43800000, 0x46FFFE00, 0x47000000]
# Around the largest numbers and the subnormals of f16, e4m3 and e5m2.
EDGES = [0x477FE000, 0x477FEFFF, 0x477FF000, 0x47800000, 0x38800000, 0x387FC000, 0x33000000, 0x33000001, 0x32FFFFFF, 0x33C00000,
         0x43E00000, 0x43E80000, 0x43E80001, 0x43F00000, 0x47600000, 0x47700000, 0x476FFFFF, 0x3B000000, 0x3A800000, 0x3A800001, 0x3AC00000,
         0x37000000, 0x37800000, 0x7F7F8000, 0x7F7F7FFF, 0x7F7FFFFF, 0x00010000, 0x00008000, 0x00018000]


def mixed(seed, **masks):
    return [(4, listed(F32 + EDGES + [v ^ 0x80000000 for v in EDGES], 4, 128)), (4, random(128, 4, seed, **masks))]


def of(width, text, letters="ab"):
    return [(width, text.replace("{x}", "{" + letter + "}")) for letter in letters]


def integers():
    sources = [(4, listed(I32, 4, 128)), (4, random(128, 4, 71)), (8, listed(I64, 8, 128)), (2, listed(I16, 2, 128))]
    elementwise("cvt_int", "cvt between integers, saturating too", sources,
                [o for t in ("s8.s32", "u8.s32", "s16.u32", "u16.s32", "sat.s8.s32", "sat.u8.s32", "sat.s16.s32", "sat.u16.u32") for o in
                 of(4, f"{{{{ .reg .b16 t; cvt.{t} t, {{x}}; cvt.s32.s16 {{d}}, t; }}}}", "a")] +
                of(4, "cvt.s32.s8 {d}, {x};", "ab") + of(4, "cvt.u32.u8 {d}, {x};", "ab") + of(8, "cvt.s64.s32 {d}, {x};", "ab") +
                of(8, "cvt.u64.u32 {d}, {x};", "a") + of(4, "cvt.u32.u64 {d}, {x};", "c") + of(4, "cvt.sat.s32.s64 {d}, {x};", "c") +
                of(4, "cvt.sat.u32.s64 {d}, {x};", "c") + of(4, "cvt.s32.s16 {d}, {x};", "e") + of(8, "cvt.u64.u16 {d}, {x};", "e") +
                of(8, "cvt.s64.s16 {d}, {x};", "e") + of(4, "cvt.sat.u32.s32 {d}, {x};", "a") + of(4, "cvt.pack.sat.s16.s32 {d}, {a}, {b};", "a") +
                of(4, "cvt.pack.sat.u8.s32.b32 {d}, {a}, {b}, {b};", "a"), 128)
    whole = [(4, listed(F32 + TIES, 4, 128)), (4, random(128, 4, 72, **NEAR_INT)), (4, random(128, 4, 73, **{"and": 0x83FFFFFF, "or": 0x40000000}))]
    elementwise("cvt_f32_int", "cvt from f32 to integers: roundings, saturation, NaN", whole,
                [o for r in ("rni", "rzi", "rmi", "rpi") for t in ("s32", "u32") for o in of(4, f"cvt.{r}.{t}.f32 {{d}}, {{x}};", "abc")] +
                [o for t in ("s64", "u64") for o in of(8, f"cvt.rzi.{t}.f32 {{d}}, {{x}};", "ab")] +
                [o for t in ("s16", "u16") for o in of(2, f"cvt.rni.{t}.f32 {{d}}, {{x}};", "ac")] + of(4, "cvt.rzi.ftz.s32.f32 {d}, {x};", "a") +
                [o for t in ("s8", "u8") for o in of(4, f"{{{{ .reg .b16 t; cvt.rni.sat.{t}.f32 t, {{x}}; cvt.s32.s16 {{d}}, t; }}}}", "ac")], 128)
    elementwise("cvt_int_f32", "cvt from integers to f32, all roundings", sources,
                [o for r in ("rn", "rz", "rm", "rp") for t in ("s32", "u32") for o in of(4, f"cvt.{r}.f32.{t} {{d}}, {{x}};")] +
                [o for r in ("rn", "rz") for t in ("s64", "u64") for o in of(4, f"cvt.{r}.f32.{t} {{d}}, {{x}};", "c")] +
                of(4, "cvt.rn.f32.s16 {d}, {x};", "e") + of(4, "cvt.rn.f32.u16 {d}, {x};", "e"), 128)
    elementwise("cvt_round", "cvt that rounds f32 to whole numbers", whole,
                [o for r in ("rni", "rzi", "rmi", "rpi") for m in ("", ".ftz") for o in of(4, f"cvt.{r}{m}.f32.f32 {{d}}, {{x}};", "abc")] +
                of(4, "cvt.rni.sat.f32.f32 {d}, {x};", "ac") + of(4, "cvt.sat.f32.f32 {d}, {x};", "ac"), 128)
    elementwise("cvt_half_int", "cvt between f16, bf16 and integers", [(2, random(256, 2, 74)), (2, listed(F16, 2, 256)), (4, listed(I32, 4, 256)), (2, listed(I16, 2, 256))],
                [o for r in ("rni", "rzi", "rmi", "rpi") for o in of(4, f"cvt.{r}.s32.f16 {{d}}, {{x}};")] +
                of(2, "cvt.rzi.s16.f16 {d}, {x};") + of(2, "cvt.rni.u16.f16 {d}, {x};") + of(4, "cvt.rzi.u32.f16 {d}, {x};") +
                of(2, "cvt.rn.f16.s32 {d}, {x};", "c") + of(2, "cvt.rz.f16.u32 {d}, {x};", "c") + of(2, "cvt.rn.f16.s16 {d}, {x};", "e") +
                of(2, "cvt.rn.f16.u16 {d}, {x};", "e") + of(2, "cvt.rn.bf16.s32 {d}, {x};", "c") + of(2, "cvt.rn.bf16.u16 {d}, {x};", "e") +
                of(4, "cvt.rzi.s32.bf16 {d}, {x};") + of(2, "cvt.rni.f16.f16 {d}, {x};"), 256, "sm_90")


def floats():
    elementwise("cvt_f16", "cvt from f32 to f16 and back", mixed(75, **{"and": 0x8FFFFFFF, "or": 0x30000000}) + [(2, random(128, 2, 76)), (2, listed(F16, 2, 128))],
                [o for m in ("rn", "rz", "rn.ftz", "rn.sat", "rn.relu", "rz.relu") for o in of(2, f"cvt.{m}.f16.f32 {{d}}, {{x}};")] +
                of(4, "cvt.f32.f16 {d}, {x};", "ce") + of(4, "cvt.ftz.f32.f16 {d}, {x};", "e") + of(4, "cvt.sat.f32.f16 {d}, {x};", "ce"), 128)
    elementwise("cvt_bf16", "cvt from f32 to bf16 and back", mixed(77) + [(2, random(128, 2, 78)), (2, listed(BF16, 2, 128)), (2, listed(F16, 2, 128))],
                [o for m in ("rn", "rz", "rn.relu", "rz.relu") for o in of(2, f"cvt.{m}.bf16.f32 {{d}}, {{x}};")] +
                of(4, "cvt.f32.bf16 {d}, {x};", "ce") + of(2, "cvt.rn.f16.bf16 {d}, {x};", "ce") + of(2, "cvt.rn.bf16.f16 {d}, {x};", "f"), 128, "sm_90")
    elementwise("cvt_packed", "cvt from two f32 to f16x2 and bf16x2", mixed(79, **{"and": 0x8FFFFFFF, "or": 0x30000000}),
                [(4, f"cvt.{m}.{t}.f32 {{d}}, {{a}}, {{b}};") for t in ("f16x2", "bf16x2") for m in ("rn", "rz", "rn.relu")], 128)
    elementwise("cvt_tf32", "cvt from f32 to tf32", mixed(80, **SMALL),
                [o for m in ("rna", "rn", "rz", "rn.relu") for o in of(4, f"cvt.{m}.tf32.f32 {{d}}, {{x}};")] + of(4, "cvt.rna.satfinite.tf32.f32 {d}, {x};", "b"), 128, "sm_90")
    elementwise("cvt_fp8", "cvt from two f32 to e4m3x2 and e5m2x2, and from f16x2",
                mixed(81, **{"and": 0x8FFFFFFF, "or": 0x38000000}) + [(4, random(128, 4, 82)), (4, listed([v | w << 16 for v, w in zip(F16, F16[1:] + F16[:1])], 4, 128))],
                [(2, f"cvt.rn.satfinite{m}.{t}.f32 {{d}}, {{{x}}}, {{{y}}};") for t in ("e4m3x2", "e5m2x2") for m in ("", ".relu") for x, y in ("ab", "ba")] +
                [(2, f"cvt.rn.satfinite{m}.{t}.f16x2 {{d}}, {{{x}}};") for t in ("e4m3x2", "e5m2x2") for m in ("", ".relu") for x in "ce"], 128, "sm_90")
    elementwise("cvt_from_fp8", "cvt from e4m3x2 and e5m2x2 to f16x2, all 256 numbers", [(2, {"steps": 256, "width": 2, "from": 0, "step": 0x101})],
                [(4, f"cvt.rn{m}.f16x2.{t} {{d}}, {{a}};") for t in ("e4m3x2", "e5m2x2") for m in ("", ".relu")], 256, "sm_90")
    elementwise("cvt_f64", "cvt between f64 and f32, f16, integers", [(8, listed(F64, 8, 128)), (8, random(128, 8, 83)), (8, random(128, 8, 84, **{"and": 0x81FFFFFFFFFFFFFF, "or": 0x4000000000000000})),
                                                                     (4, listed(F32, 4, 128)), (8, listed(I64, 8, 128))],
                [o for r in ("rn", "rz", "rm", "rp") for o in of(4, f"cvt.{r}.f32.f64 {{d}}, {{x}};", "abc")] +
                of(8, "cvt.f64.f32 {d}, {x};", "e") + of(2, "cvt.rn.f16.f64 {d}, {x};", "ac") + of(4, "cvt.rzi.s32.f64 {d}, {x};", "abc") +
                of(8, "cvt.rni.s64.f64 {d}, {x};", "ac") + of(8, "cvt.rn.f64.s64 {d}, {x};", "f") + of(8, "cvt.rn.f64.u64 {d}, {x};", "f"), 128)


def add_probes():
    integers()
    floats()
