"""Floating-point arithmetic: f32, f64, f16, bf16 and pairs of these; approximations; comparisons."""
from families.ptx import BF16, F16, F32, F64, elementwise, listed, pairs, random, real, setp

ROUNDINGS = ("rn", "rz", "rm", "rp")
# Random bits with an exponent near 1, so that sums round: sign, 6 bits of exponent, mantissa.
NEAR = {"and": 0x87FFFFFF, "or": 0x3C000000}
NEAR64 = {"and": 0x80FFFFFFFFFFFFFF, "or": 0x3F80000000000000}


def special(values, width, seed, repeat, count=512, **masks):
    """All pairs of special values in the first half, random values after."""
    return [(width, {"list": values, "width": width, "repeat": repeat, "count": 256}), (width, random(count - 256, width, seed, **masks))]


def halves(values, width, seeds, operations, name, what, compare, target="sm_80", third=True, **masks):
    """Two probes: special values, and random values."""
    inputs = pairs(values, width, 0, 256) + [(width, listed(values, width, 256, 3))] * third
    elementwise(name + "_special", what + ": special values", inputs, operations, 256, target, compare)
    elementwise(name, what, [(width, random(256, width, seed, **masks)) for seed in seeds[:2 + third]], operations, 256, target, compare)


def single():
    halves(F32, 4, (21, 22, 23),
           [(4, f"{n}.{r}.f32 {{d}}, {{a}}, {{b}};") for n in ("add", "sub", "mul") for r in ROUNDINGS] +
           [(4, f"{n}.{m}.f32 {{d}}, {{a}}, {{b}};") for n in ("add", "mul") for m in ("rn.ftz", "rn.sat", "rz.ftz.sat")] + [(4, "add.f32 {d}, {a}, {b};")],
           "f32_add", "add, sub, mul of f32", "exact", third=False, **NEAR)
    halves(F32, 4, (24, 25, 26),
           [(4, f"fma.{m}.f32 {{d}}, {{a}}, {{b}}, {{c}};") for m in ROUNDINGS + ("rn.ftz", "rn.sat", "rn.ftz.sat")] +
           [(4, "fma.rn.f32 {d}, {a}, {b}, 0f3F800000;"), (4, "mad.rn.f32 {d}, {a}, {b}, {c};")],
           "f32_fma", "fma of f32", "exact", **NEAR)
    halves(F32, 4, (27, 28),
           [(4, f"div.{m}.f32 {{d}}, {{a}}, {{b}};") for m in ROUNDINGS + ("rn.ftz",)] +
           [(4, f"{n}.{m}.f32 {{d}}, {{a}};") for n in ("rcp", "sqrt") for m in ("rn", "rz", "rm", "rp", "rn.ftz")],
           "f32_divide", "div, rcp, sqrt of f32, correctly rounded", "exact", third=False, **NEAR)
    halves(F32, 4, (29, 30),
           [(4, f"{n}{m}.f32 {{d}}, {{a}}, {{b}};") for n in ("min", "max") for m in ("", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs")] +
           [(4, "abs.f32 {d}, {a};"), (4, "abs.ftz.f32 {d}, {a};"), (4, "neg.f32 {d}, {a};"), (4, "neg.ftz.f32 {d}, {a};"), (4, "copysign.f32 {d}, {a}, {b};")],
           "f32_minmax", "min, max, abs, neg, copysign of f32", "exact", "sm_86", third=False)
    elementwise("f32_testp", "testp", [(4, listed(F32, 4, 128))],
                [(4, setp(f"testp.{n}.f32 p, {{a}};")) for n in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")], 128)
    elementwise("setp_float", "setp of f32 with special values", pairs(F32, 4, 0, 256),
                [(4, setp(f"setp.{c}.f32 p, {{a}}, {{b}};")) for c in
                 ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan", "lt.ftz", "eq.ftz")], 256)
    elementwise("setp_half", "setp and selp of f16, bf16, f64", pairs(F16, 2, 0, 256) + pairs(BF16, 2, 0, 256) + pairs(F64, 8, 0, 256),
                [(4, setp(f"setp.{c}.f16 p, {{a}}, {{b}};")) for c in ("eq", "lt", "geu", "nan", "lt.ftz")] +
                [(4, setp(f"setp.{c}.bf16 p, {{c}}, {{e}};")) for c in ("eq", "lt", "neu", "num")] +
                [(4, setp(f"setp.{c}.f64 p, {{f}}, {{g}};")) for c in ("eq", "lt", "geu", "nan")] +
                [(4, "{{ .reg .pred p, q; .reg .b32 x, y; mov.b32 x, {{{a}, {b}}}; mov.b32 y, {{{b}, {a}}}; setp.lt.f16x2 p|q, x, y; "
                     "selp.b32 {d}, 1, 0, p; @q add.u32 {d}, {d}, 2; }}")], 256, "sm_90")


def double():
    halves(F64, 8, (31, 32, 33),
           [(8, f"{n}.{r}.f64 {{d}}, {{a}}, {{b}};") for n in ("add", "mul") for r in ROUNDINGS] + [(8, "sub.rn.f64 {d}, {a}, {b};")] +
           [(8, f"fma.{r}.f64 {{d}}, {{a}}, {{b}}, {{c}};") for r in ROUNDINGS] +
           [(8, "div.rn.f64 {d}, {a}, {b};"), (8, "rcp.rn.f64 {d}, {a};"), (8, "sqrt.rn.f64 {d}, {a};"),
            (8, "min.f64 {d}, {a}, {b};"), (8, "max.f64 {d}, {a}, {b};"), (8, "abs.f64 {d}, {a};"), (8, "neg.f64 {d}, {a};")],
           "f64", "arithmetic of f64", "ulp 0 f64", **NEAR64)


def near_half(kind):
    return {"and": 0x8FFF, "or": 0x3000} if kind == "f16" else {"and": 0x87FF, "or": 0x3C00}


def half():
    for kind, values, width, target in (("f16", F16, 2, "sm_90"), ("bf16", BF16, 2, "sm_90")):
        ftz = [(2, f"{n}.rn.{m}.f16 {{d}}, {{a}}, {{b}};") for n in ("add", "sub", "mul") for m in ("ftz", "sat", "ftz.sat")] + \
            [(2, f"fma.rn.{m}.f16 {{d}}, {{a}}, {{b}}, {{c}};") for m in ("ftz", "sat", "ftz.relu", "ftz.sat")]
        halves(values, width, (41, 42, 43),
               [(2, f"{n}.rn.{kind} {{d}}, {{a}}, {{b}};") for n in ("add", "sub", "mul")] +
               [(2, f"fma.rn.{kind} {{d}}, {{a}}, {{b}}, {{c}};"), (2, f"fma.rn.relu.{kind} {{d}}, {{a}}, {{b}}, {{c}};")] +
               (ftz if kind == "f16" else []) +
               [(2, f"{n}{m}.{kind} {{d}}, {{a}}, {{b}};") for n in ("min", "max") for m in ("", ".NaN", ".xorsign.abs")] +
               [(2, f"{n}.{kind} {{d}}, {{a}};") for n in ("abs", "neg")],
               kind, f"arithmetic of {kind}", "exact", target, **near_half(kind))
        elementwise(f"{kind}x2", f"arithmetic of pairs of {kind}",
                    [(4, random(256, 4, s, **{k: v * 0x10001 for k, v in near_half(kind).items()})) for s in (44, 45, 46)],
                    [(4, f"{n}.rn.{kind}x2 {{d}}, {{a}}, {{b}};") for n in ("add", "sub", "mul")] +
                    [(4, f"fma.rn{m}.{kind}x2 {{d}}, {{a}}, {{b}}, {{c}};") for m in ("", ".relu") + ((".ftz", ".sat") if kind == "f16" else ())] +
                    [(4, f"{n}{m}.{kind}x2 {{d}}, {{a}}, {{b}};") for n in ("min", "max") for m in ("", ".NaN")] +
                    [(4, f"{n}.{kind}x2 {{d}}, {{a}};") for n in ("abs", "neg")] +
                    [(4, f"set.lt.{kind}x2.{kind}x2 {{d}}, {{a}}, {{b}};"), (4, f"set.ge.u32.{kind}x2 {{d}}, {{a}}, {{b}};")], 256, "sm_90")


def approximations():
    wide = [(4, random(512, 4, 51)), (4, random(512, 4, 52, **NEAR))]
    values = [(4, listed(F32 + [0x42FC0000, 0xC2FC0000, 0x43000000, 0xC3160000, 0x7EFFFFFF, 0xFEFFFFFF], 4, 512)), *wide]
    both = lambda text: [(4, text.replace("{a}", x)) for x in ("{a}", "{c}")] + [(4, text.replace("{a}", "{b}"))]
    elementwise("approx_rcp", "rcp.approx", values, both("rcp.approx.f32 {d}, {a};") + both("rcp.approx.ftz.f32 {d}, {a};"), 512, compare="ulp 2 f32")
    elementwise("approx_sqrt", "sqrt.approx, rsqrt.approx", values,
                [o for n in ("sqrt", "rsqrt") for m in ("approx", "approx.ftz") for o in both(f"{n}.{m}.f32 {{d}}, {{a}};")], 512, compare="ulp 4 f32")
    elementwise("approx_div", "div.approx, div.full", [values[0], *wide[1:], (4, random(512, 4, 53, **NEAR))],
                [(4, f"div.{m}.f32 {{d}}, {{b}}, {{c}};") for m in ("approx", "full", "approx.ftz", "full.ftz")], 512, compare="ulp 4 f32")
    ranges = [(4, random(512, 4, 54, **{"and": 0x83FFFFFF, "or": 0x40000000})), (4, listed(F32 + [0x42FC0000, 0xC2FC0000, 0x43000000, 0xC3160000], 4, 512))]
    elementwise("approx_ex2", "ex2.approx of f32", ranges + [(4, real("f32", 512, 55, 12, -5))],
                [(4, f"ex2.approx{m}.f32 {{d}}, {{{x}}};") for m in ("", ".ftz") for x in "abc"], 512, compare="ulp 4 f32")
    elementwise("approx_lg2", "lg2.approx of f32", [(4, random(512, 4, 56, **{"and": 0x7FFFFFFF})), (4, listed(F32, 4, 512)), (4, random(512, 4, 57, **{"and": 0x00FFFFFF, "or": 0x3F000000}))],
                [(4, f"lg2.approx{m}.f32 {{d}}, {{{x}}};") for m in ("", ".ftz") for x in "abc"], 512, compare="close 1e-6 1e-6 f32")
    elementwise("approx_sin_cos", "sin.approx, cos.approx of f32", [(4, real("f32", 512, 58, 12, -9)), (4, listed(F32[:4] + F32[4:8] + F32[8:11] + F32[12:13], 4, 512))],
                [(4, f"{n}.approx{m}.f32 {{d}}, {{{x}}};") for n in ("sin", "cos") for m in ("", ".ftz") for x in "ab"], 512, compare="close 1e-5 2e-6 f32")
    elementwise("approx_tanh", "tanh.approx of f32", [(4, real("f32", 512, 59, 12, -8)), (4, listed(F32, 4, 512))],
                [(4, f"tanh.approx.f32 {{d}}, {{{x}}};") for x in "ab"], 512, compare="close 1e-3 1e-6 f32")
    packed = [(4, random(256, 4, 60, **{"and": 0xC7FFC7FF})), (4, random(256, 4, 61, **{"and": 0xC1FFC1FF}))]
    elementwise("approx_f16", "ex2.approx, tanh.approx of f16", packed + [(2, listed(F16, 2, 256))],
                [(4, f"{n}.f16x2 {{d}}, {{a}};") for n in ("ex2.approx", "tanh.approx")] + [(2, f"{n}.f16 {{d}}, {{c}};") for n in ("ex2.approx", "tanh.approx")],
                256, compare="close 3e-3 1e-6 f16")
    elementwise("approx_bf16", "ex2.approx, tanh.approx of bf16", packed + [(2, listed(BF16, 2, 256))],
                [(4, f"{n}.bf16x2 {{d}}, {{b}};") for n in ("ex2.approx.ftz", "tanh.approx")] + [(2, f"{n}.bf16 {{d}}, {{c}};") for n in ("ex2.approx.ftz", "tanh.approx")],
                256, "sm_90", "close 1.6e-2 1e-38 bf16")
    elementwise("approx_f64", "rcp.approx.ftz, rsqrt.approx.ftz of f64", [(8, listed(F64, 8, 256)), (8, random(256, 8, 62, **NEAR64))],
                [(8, f"{n}.approx.ftz.f64 {{d}}, {{{x}}};") for n in ("rcp", "rsqrt") for x in "ab"], 256, compare="close 1e-6 0 f64")


def add_probes():
    single()
    double()
    half()
    approximations()
