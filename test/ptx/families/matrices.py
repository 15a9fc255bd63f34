"""ldmatrix, stmatrix, movmatrix, mma.sync. Fragments come from `in` as they are: which element is where shows in the result."""
from families.ptx import Probe, random, real


def moves():
    for trans in ("", ".trans"):
        p = Probe("ldmatrix" + trans.replace(".", "_"), f"ldmatrix{trans} of one, two and four matrices, rows in any order", [random(2048, 1, 201)], "sm_80", shared=2048)
        p.copy_in(p.at[0], 2048)
        p.sync()
        base, row = p.value("smem"), p.new("b32")
        for count, factor, add in ((1, 1, 0), (1, 7, 3), (2, 1, 0), (2, 5, 9), (4, 1, 0), (4, 11, 2)):
            registers = p.new("b32", count)
            # Lane i names row (i * factor + add) % 32; rows are 64 bytes apart, so they overlap no bank pattern by chance.
            p.emit(f"mad.lo.u32 {row}, {p.tid}, {factor}, {add};", f"and.b32 {row}, {row}, 31;", f"mad.lo.u32 {row}, {row}, 64, {base};",
                   f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{', '.join(registers)}}}, [{row}+16];")
            p.store_all(registers)
        p = Probe("stmatrix" + trans.replace(".", "_"), f"stmatrix{trans} of one, two and four matrices, rows in any order", [random(128, 4, 202)], "sm_90", shared=2048)
        registers = [p.load(128 * i, 4) for i in range(4)]
        base, row = p.value("smem"), p.new("b32")
        for count, factor, add in ((1, 1, 0), (2, 5, 9), (4, 1, 0), (4, 11, 2)):
            p.fill_shared(2048)
            p.sync()
            p.emit(f"mad.lo.u32 {row}, {p.tid}, {factor}, {add};", f"and.b32 {row}, {row}, 31;", f"mad.lo.u32 {row}, {row}, 64, {base};",
                   f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [{row}+32], {{{', '.join(registers[:count])}}};")
            p.sync()
            p.dump_shared(2048)
            p.sync()
    p = Probe("movmatrix", "movmatrix", [random(32, 4, 203)], "sm_80")
    value, result = p.load(p.at[0], 4), p.new("b32")
    p.emit(f"movmatrix.sync.aligned.m8n8.trans.b16 {result}, {value};")
    p.store(result, 4)


# Numbers whose products and sums are exact in every accumulator.
EXACT = {
    "f16": lambda n, seed: real("f16", n, seed, 6, -2), "bf16": lambda n, seed: real("bf16", n, seed, 6, -2), "tf32": lambda n, seed: real("f32", n, seed, 6, -2),
    "s8": lambda n, seed: random(n, 1, seed), "u8": lambda n, seed: random(n, 1, seed),
    "e4m3": lambda n, seed: random(n, 1, seed, **{"and": 0x8C, "or": 0x30}), "e5m2": lambda n, seed: random(n, 1, seed, **{"and": 0x86, "or": 0x38}),
    "f32": lambda n, seed: real("f32", n, seed, 6, -1), "s32": lambda n, seed: random(n, 4, seed), "small f16": lambda n, seed: real("f16", n, seed, 3, -1),
}
WIDTH = {"f16": 2, "bf16": 2, "tf32": 4, "s8": 1, "u8": 1, "s4": 1, "u4": 1, "e4m3": 1, "e5m2": 1, "f32": 4, "s32": 4, "small f16": 2}


def fragment(p, at, count):
    """`count` 32-bit registers per lane."""
    address = p.scaled(p.input, p.tid, 4 * count)
    registers = p.new("b32", count)
    for i, register in enumerate(registers):
        p.emit(f"ld.global.b32 {register}, [{address}+{at + 4 * i}];")
    return registers


def group(registers):
    return "{" + ", ".join(registers) + "}"


def products(name, what, variants, target="sm_80", compare="exact", inputs=EXACT):
    """Variants: (shape, type of D and C, A, B, registers of A, B, C, modifier)."""
    segments = []
    for i, (_, c, a, b, na, nb, nc, _) in enumerate(variants):
        kinds = ("small f16", "small f16", "small f16") if c == "f16" else (a, b, c)
        segments += [(inputs.get(k) or EXACT[k])(32 * n * 4 // WIDTH[k], 210 + 3 * i + j) for j, (k, n) in enumerate(zip(kinds, (na, nb, nc)))]
    p = Probe(name, what, segments, target, compare=compare)
    for i, (shape, c, a, b, na, nb, nc, modifier) in enumerate(variants):
        ra, rb, rc = (fragment(p, p.at[3 * i + j], n) for j, n in enumerate((na, nb, nc)))
        result = p.new("b32", nc)
        p.emit(f"mma.sync.aligned.{shape}.row.col{modifier}.{c}.{a}.{b}.{c} {group(result)}, {group(ra)}, {group(rb)}, {group(rc)};")
        p.store_all(result)


def multiply():
    products("mma_f16", "mma of f16 into f32 and f16", [("m16n8k8", "f32", "f16", "f16", 2, 1, 4, ""), ("m16n8k16", "f32", "f16", "f16", 4, 2, 4, ""),
                                                        ("m16n8k8", "f16", "f16", "f16", 2, 1, 2, ""), ("m16n8k16", "f16", "f16", "f16", 4, 2, 2, "")])
    products("mma_bf16", "mma of bf16", [("m16n8k8", "f32", "bf16", "bf16", 2, 1, 4, ""), ("m16n8k16", "f32", "bf16", "bf16", 4, 2, 4, "")])
    products("mma_tf32", "mma of tf32", [("m16n8k4", "f32", "tf32", "tf32", 2, 1, 4, ""), ("m16n8k8", "f32", "tf32", "tf32", 4, 2, 4, "")])
    products("mma_int8", "mma of s8 and u8, saturating too", [(shape, "s32", a, b, na, nb, nc, m) for shape, na, nb, nc in (("m8n8k16", 1, 1, 2), ("m16n8k16", 2, 1, 4), ("m16n8k32", 4, 2, 4))
                                                              for a, b, m in (("s8", "s8", ""), ("u8", "s8", ".satfinite"))])
    products("mma_fp8", "mma of e4m3 and e5m2", [("m16n8k32", "f32", a, b, 4, 2, 4, "") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")], "sm_89")
    wide = {"f16": lambda n, seed: real("f16", n, seed, 11, -8), "bf16": lambda n, seed: real("bf16", n, seed, 8, -5), "tf32": lambda n, seed: real("f32", n, seed, 11, -8),
            "f32": lambda n, seed: real("f32", n, seed, 20, -12), "e4m3": lambda n, seed: random(n, 1, seed, **{"and": 0xBF}), "e5m2": lambda n, seed: random(n, 1, seed, **{"and": 0xBF})}
    products("mma_wide", "mma of numbers whose sums round", [("m16n8k16", "f32", "f16", "f16", 4, 2, 4, ""), ("m16n8k16", "f32", "bf16", "bf16", 4, 2, 4, ""), ("m16n8k8", "f32", "tf32", "tf32", 4, 2, 4, "")],
             inputs=wide)
    products("mma_wide_fp8", "mma of e4m3 and e5m2 whose sums round", [("m16n8k32", "f32", t, t, 4, 2, 4, "") for t in ("e4m3", "e5m2")], "sm_89", inputs=wide)
    halves = [("m16n8k8", "f16", "f16", "f16", 2, 1, 2, ""), ("m16n8k16", "f16", "f16", "f16", 4, 2, 2, "")]
    products("mma_wide_half", "mma of f16 into f16 whose sums round", halves, inputs={"small f16": wide["f16"]})
    products("mma_int4", "mma of s4 and u4, saturating too", [(shape, "s32", a, b, na, nb, nc, m) for shape, na, nb, nc in (("m8n8k32", 1, 1, 2), ("m16n8k32", 2, 1, 4), ("m16n8k64", 4, 2, 4))
                                                             for a, b, m in (("s4", "s4", ""), ("u4", "s4", ".satfinite"), ("s4", "u4", ""))], inputs=ANY)
    special = [("m16n8k16", "f32", "f16", "f16", 4, 2, 4, ""), ("m16n8k16", "f32", "bf16", "bf16", 4, 2, 4, ""), ("m16n8k8", "f32", "tf32", "tf32", 4, 2, 4, "")]
    products("mma_special", "mma of any bits: infinities, NaN, subnormal numbers", special + halves, inputs=ANY)
    products("mma_special_fp8", "mma of fp8 of any bits", [("m16n8k32", c, t, t, 4, 2, n, "") for t in ("e4m3", "e5m2") for c, n in (("f32", 4), ("f16", 2))]
             + [("m16n8k16", "f32", "e4m3", "e5m2", 2, 1, 4, "")], "sm_89", inputs=ANY)
    bits()
    doubles()


# Every pattern of bits; f32 of moderate size, so that products count beside it.
ANY = {"f16": lambda n, seed: random(n, 2, seed), "small f16": lambda n, seed: random(n, 2, seed), "bf16": lambda n, seed: random(n, 2, seed), "tf32": lambda n, seed: random(n, 4, seed),
       "s4": lambda n, seed: random(n, 1, seed), "u4": lambda n, seed: random(n, 1, seed), "e4m3": lambda n, seed: random(n, 1, seed), "e5m2": lambda n, seed: random(n, 1, seed),
       "f32": lambda n, seed: random(n, 4, seed, **{"and": 0xBFFFFFFF, "or": 0x38000000})}


def bits():
    p = Probe("mma_bits", "mma of single bits, and and xor", [random(128, 4, 271), random(64, 4, 272), random(128, 4, 273)], "sm_80")
    a, b, c = (fragment(p, at, n) for at, n in zip(p.at, (4, 2, 4)))
    for shape, na, nb, nc in (("m8n8k128", 1, 1, 2), ("m16n8k128", 2, 1, 4), ("m16n8k256", 4, 2, 4)):
        for operation in ("and", "xor"):
            result = p.new("b32", nc)
            p.emit(f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{operation}.popc {group(result)}, {group(a[:na])}, {group(b[:nb])}, {group(c[:nc])};")
            p.store_all(result)


def doubles():
    p = Probe("mma_f64", "mma of f64", [real("f64", 256, 274, 32, -30), real("f64", 128, 275, 32, -30), real("f64", 128, 276, 32, -30)], "sm_90")
    a, b, c = ([p.load(at + 256 * i, 8) for i in range(n)] for at, n in zip(p.at, (8, 4, 4)))
    for shape, na, nb, nc in (("m8n8k4", 1, 1, 2), ("m16n8k4", 2, 1, 4), ("m16n8k8", 4, 2, 4), ("m16n8k16", 8, 4, 4)):
        result = p.new("b64", nc)
        p.emit(f"mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64 {group(result)}, {group(a[:na])}, {group(b[:nb])}, {group(c[:nc])};")
        for register in result:
            p.store(register, 8)


def add_probes():
    moves()
    multiply()
