"""wgmma: every type, operands in shared memory and in registers, every layout that a descriptor can say. Shared memory holds random numbers; what
the hardware takes for A and B shows in D. Descriptors: PTX ISA, "Matrix Descriptor Format"."""
from families.matrices import ANY, EXACT, WIDTH
from families.ptx import Probe, random, real
from families.tensors import coordinates, map_addresses, tensor

MODE = {0: 0, 128: 1, 64: 2, 32: 3}
DEPTH = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}


class Products:
    """A probe of one or more warpgroups: A from 0, B from b_at of shared memory."""

    def __init__(self, name, what, kind_a="f16", kind_b=None, a_bytes=8192, b_bytes=8192, groups=1, compare="exact", values=EXACT, extra=()):
        kind_b = kind_b or kind_a
        small = values is EXACT and kind_a == "f16 small"
        key = lambda kind: "small f16" if small else kind
        self.kind_a, self.kind_b = (("f16", "f16") if small else (kind_a, kind_b))
        self.b_at = a_bytes
        inputs = [values.get(key(k), EXACT[key(k)])(n // WIDTH[key(k)], seed) for k, n, seed in ((self.kind_a, a_bytes, 231), (self.kind_b, b_bytes, 232))]
        self.p = Probe(name, what, inputs + list(extra), block=128 * groups, shared=a_bytes + b_bytes, compare=compare)
        self.p.copy_in(self.p.at[0], a_bytes)
        self.p.copy_in(self.p.at[1], b_bytes, a_bytes)
        self.p.to_async()

    def descriptor(self, offset, swizzle, leading, stride):
        p = self.p
        start, result = p.new("b64"), p.new("b64")
        p.emit(f"mov.u64 {start}, smem;", f"add.u64 {start}, {start}, {offset};", f"shr.u64 {start}, {start}, 4;", f"and.b64 {start}, {start}, 0x3fff;",
               f"or.b64 {result}, {start}, {(leading >> 4) << 16 | (stride >> 4) << 32 | MODE[swizzle] << 62};")
        return result

    def operand(self, base, swizzle, transposed, rows, depth_rows=16, step=0):
        """Descriptor of an operand of `rows` rows of M or N that starts at `base`; step: how many instructions along K."""
        if not transposed:
            if swizzle:
                return self.descriptor(base + 32 * step, swizzle, 16, 8 * swizzle)
            return self.descriptor(base + 2 * rows * 16 * step, 0, rows * 16, 128)
        if swizzle:
            return self.descriptor(base + 16 * swizzle * step, swizzle, depth_rows * swizzle, 8 * swizzle)
        return self.descriptor(base + 256 * step, 0, 128, depth_rows * 16)

    def accumulators(self, n, kind="f32"):
        registers = self.p.new("b32", n // 4 if kind == "f16" else n // 2)
        self.p.emit(*[f"mov.b32 {r}, 0;" for r in registers])
        return registers

    def multiply(self, d, a, b, n, kind="f32", scale_d="1", negate=(1, 1), trans=(0, 0), satfinite=""):
        """One instruction; a: descriptor or four registers."""
        p, predicate = self.p, self.p.new("pred")
        p.emit(f"setp.ne.b32 {predicate}, {scale_d}, 0;" if scale_d not in "01" else f"setp.ne.b32 {predicate}, {p.value(scale_d)}, 0;")
        in_registers = isinstance(a, list)
        options = [predicate]
        if self.kind_a not in ("s8", "u8"):
            options += list(negate)
        if self.kind_a in ("f16", "bf16"):
            options += [trans[1]] if in_registers else list(trans)
        text_a = "{" + ", ".join(a) + "}" if in_registers else a
        p.emit(f"wgmma.mma_async.sync.aligned.m64n{n}k{DEPTH[self.kind_a]}.{kind}.{self.kind_a}.{self.kind_b}{satfinite} {{{', '.join(d)}}}, {text_a}, {b}, {', '.join(map(str, options))};")

    def begin(self):
        self.p.emit("wgmma.fence.sync.aligned;")

    def end(self, pending=0):
        self.p.emit("wgmma.commit_group.sync.aligned;", f"wgmma.wait_group.sync.aligned {pending};")

    def show(self, registers):
        self.p.store_all(registers)


def layouts():
    for swizzle in (0, 32, 64, 128):
        for trans in ((0, 0), (0, 1), (1, 0), (1, 1)):
            name = f"wgmma_{'none' if not swizzle else swizzle}_{'mn' if trans[0] else 'k'}_{'mn' if trans[1] else 'k'}"
            w = Products(name, f"wgmma of f16, swizzle {swizzle}, A {'MN' if trans[0] else 'K'}-major, B {'MN' if trans[1] else 'K'}-major, several steps along K", b_bytes=4096 if swizzle != 128 else 8192)
            steps = max(1, swizzle // 32) if not (trans[0] or trans[1]) else 2
            n = 32
            d = w.accumulators(n)
            w.begin()
            for step in range(steps):
                a = w.operand(0, swizzle, trans[0], 64, 32, step)
                b = w.operand(w.b_at, swizzle, trans[1], n, 32, step)
                w.multiply(d, a, b, n, trans=trans)
            w.end()
            w.show(d)


def types():
    for kind_a, kind_b in (("bf16", "bf16"), ("tf32", "tf32"), ("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2"), ("s8", "s8"), ("u8", "s8"), ("s8", "u8"), ("u8", "u8")):
        kind = "s32" if kind_a in ("s8", "u8") else "f32"
        w = Products(f"wgmma_{kind_a}_{kind_b}", f"wgmma of {kind_a} and {kind_b}, swizzle 128, four steps", kind_a, kind_b, b_bytes=4096)
        n = 32
        d = w.accumulators(n)
        w.begin()
        for step in range(4):
            w.multiply(d, w.operand(0, 128, 0, 64, step=step), w.operand(w.b_at, 128, 0, n, step=step), n, kind)
        w.end()
        w.show(d)
    for kind in ("f16 small", "e4m3"):
        w = Products(f"wgmma_{kind.split()[0]}_into_f16", f"wgmma of {kind.split()[0]} with f16 accumulators", kind, b_bytes=8192)
        d = w.accumulators(64, "f16")
        w.begin()
        for step in range(2):
            w.multiply(d, w.operand(0, 128, 0, 64, step=step), w.operand(w.b_at, 128, 0, 64, step=step), 64, "f16")
        w.end()
        w.show(d)
    w = Products("wgmma_int8_satfinite", "wgmma of s8 that saturates", "s8", b_bytes=4096, extra=[random(128 * 16, 4, 233, **{"and": 0x8000FFFF, "or": 0x7FFF0000})])
    d = w.p.new("b32", 16)
    for i, register in enumerate(d):
        w.p.emit(f"mov.b32 {register}, {w.p.load(w.p.at[2] + 512 * i, 4)};")
    w.begin()
    w.multiply(d, w.operand(0, 128, 0, 64), w.operand(w.b_at, 128, 0, 32), 32, "s32", satfinite=".satfinite")
    w.end()
    w.show(d)


def registers():
    for kind, trans_b in (("f16", 0), ("f16", 1), ("bf16", 0), ("bf16", 1), ("tf32", 0), ("e4m3", 0), ("e5m2", 0), ("s8", 0), ("u8", 0)):
        w = Products(f"wgmma_rs_{kind}" + ("_mn" if trans_b else ""), f"wgmma of {kind} with A in registers, B {'MN' if trans_b else 'K'}-major", kind, b_bytes=4096)
        n, p = 32, w.p
        d, steps = w.accumulators(n, "f32"), 2
        fragments = []
        for step in range(steps):
            address = p.scaled(p.input, p.tid, 16)
            a = p.new("b32", 4)
            p.emit(f"ld.global.v4.b32 {{{', '.join(a)}}}, [{address}+{2048 * step}];")
            fragments.append(a)
        w.begin()
        for step in range(steps):
            w.multiply(d, fragments[step], w.operand(w.b_at, 64, trans_b, n, 32, step), n, "s32" if kind in ("s8", "u8") else "f32", trans=(0, trans_b))
        w.end()
        w.show(d)


def options():
    w = Products("wgmma_scale", "wgmma: D = A*B (scale-d 0), negated A and B")
    for scale_d, negate in (("0", (1, 1)), ("1", (-1, 1)), ("1", (1, -1)), ("0", (-1, -1))):
        d = w.accumulators(16)
        w.p.emit(*[f"mov.b32 {r}, {0x3F800000 + (i << 20)};" for i, r in enumerate(d)])
        w.begin()
        w.multiply(d, w.operand(0, 128, 0, 64), w.operand(w.b_at, 128, 0, 16), 16, scale_d=scale_d, negate=negate)
        w.end()
        w.show(d)
    for n in (8, 24, 96, 104, 192, 256):
        small = n == 256
        w = Products(f"wgmma_n{n}", f"wgmma with N = {n}", "f16 small" if small else "f16", b_bytes=n * 128 + -(n * 128) % 2048)
        kind = "f16" if small else "f32"
        d = w.accumulators(n, kind)
        w.begin()
        w.multiply(d, w.operand(0, 128, 0, 64), w.operand(w.b_at, 128, 0, n), n, kind)
        w.end()
        w.show(d)
    w = Products("wgmma_n96_mn", "wgmma with N = 96, B MN-major in panels of 64, the last one half used", b_bytes=4096)
    d = w.accumulators(96)
    w.begin()
    w.multiply(d, w.operand(0, 128, 0, 64), w.operand(w.b_at, 128, 1, 96, 16), 96, trans=(0, 1))
    w.end()
    w.show(d)
    w = Products("wgmma_offset", "wgmma whose operands start at multiples of 128 bytes that are not multiples of the swizzle's repeat; base offset 0", a_bytes=10240, b_bytes=10240)
    for a, b in ((384, 0), (0, 640), (512, 896)):
        d = w.accumulators(16)
        w.begin()
        w.multiply(d, w.operand(a, 128, 0, 64), w.operand(w.b_at + b, 128, 0, 16), 16)
        w.end()
        w.show(d)
    w = Products("wgmma_groups", "two groups in flight, waits for one and for all; accumulators used again", b_bytes=8192)
    first, second = w.accumulators(16), w.accumulators(16)
    w.begin()
    w.multiply(first, w.operand(0, 128, 0, 64), w.operand(w.b_at, 128, 0, 16), 16)
    w.p.emit("wgmma.commit_group.sync.aligned;")
    w.multiply(second, w.operand(0, 128, 0, 64, step=1), w.operand(w.b_at, 128, 0, 16, step=1), 16)
    w.end(1)
    copies = w.p.new("b32", len(first))
    w.p.emit(*[f"add.f32 {c}, {r}, 0f3F800000;" for c, r in zip(copies, first)])
    w.p.emit("wgmma.wait_group.sync.aligned 0;")
    w.show(copies)
    w.show(second)
    w = Products("wgmma_two_groups", "two warpgroups, each its own A, one B", a_bytes=16384, b_bytes=8192, groups=2)
    p = w.p
    half, base, d = p.new("b32"), p.new("b64"), w.accumulators(32)
    p.emit(f"shr.u32 {half}, {p.tid}, 7;", f"mul.wide.u32 {base}, {half}, 512;")
    a = w.operand(0, 128, 0, 64)
    p.emit(f"add.u64 {a}, {a}, {base};")
    w.begin()
    w.multiply(d, a, w.operand(w.b_at, 128, 0, 32), 32)
    w.end()
    w.show(d)
    wide = {"f16": lambda n, seed: real("f16", n, seed, 11, -8), "bf16": lambda n, seed: real("bf16", n, seed, 8, -5), "tf32": lambda n, seed: real("f32", n, seed, 11, -8),
            "e4m3": lambda n, seed: random(n, 1, seed, **{"and": 0xBF}), "e5m2": lambda n, seed: random(n, 1, seed, **{"and": 0xBF})}
    for kind in wide:
        w = Products(f"wgmma_wide_{kind}", f"wgmma of {kind} whose sums round", kind, b_bytes=4096, values=wide)
        d = w.accumulators(32)
        w.begin()
        for step in range(4):
            w.multiply(d, w.operand(0, 128, 0, 64, step=step), w.operand(w.b_at, 128, 0, 32, step=step), 32)
        w.end()
        w.show(d)
    for kind in wide:
        w = Products(f"wgmma_special_{kind}", f"wgmma of {kind} of any bits", kind, b_bytes=4096, values=ANY)
        w.begin()
        results = []
        for c in ("f32", "f16")[:1 if kind in ("bf16", "tf32") else 2]:
            results.append(w.accumulators(32, c))
            w.p.emit("wgmma.fence.sync.aligned;")
            w.multiply(results[-1], w.operand(0, 128, 0, 64), w.operand(w.b_at, 128, 0, 32), 32, c)
        w.end()
        for d in results:
            w.show(d)


def from_tma():
    """The whole way: TMA with a swizzle, mbarrier, wgmma, stmatrix, fence, TMA store."""
    p = Probe("wgmma_tma", "a 64x64x64 product of f16: TMA in, wgmma, stmatrix, TMA out", [real("f16", 4096, 241, 4, -1), real("f16", 4096, 242, 4, -1)], block=128, shared=3 * 8192 + 16,
              maps=[tensor("in", 0, "f16", [64, 64], [64, 64], 128), tensor("in", 8192, "f16", [64, 64], [64, 64], 128), tensor("out", 0, "f16", [64, 64], [64, 64], 128)], compare="exact")
    p.out(8192)
    maps = map_addresses(p)
    p.init_barriers({24576: 1})
    first = p.first_thread()
    p.emit(f"@!{first} bra WAIT;", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem+24576], 16384;")
    for i in range(2):
        p.emit(f"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [smem+{8192 * i}], [{maps[i]}, {coordinates([0, 0])}], [smem+24576];")
    p.emit("WAIT:")
    p.wait_barrier(24576)
    w = Products.__new__(Products)
    w.p, w.kind_a, w.kind_b, w.b_at = p, "f16", "f16", 8192
    d = w.accumulators(64)
    w.begin()
    for step in range(4):
        w.multiply(d, w.operand(0, 128, 0, 64, step=step), w.operand(8192, 128, 1, 64, 64, step), 64, trans=(0, 1), scale_d="0" if step == 0 else "1")
    w.end()
    row, chunk, address, lane, base = p.new("b32"), p.new("b32"), p.new("b32"), p.new("b32"), p.shared_address(16384)
    p.emit(f"and.b32 {lane}, {p.tid}, 31;", f"shr.u32 {row}, {p.tid}, 5;", f"and.b32 {chunk}, {lane}, 15;", f"mad.lo.u32 {row}, {row}, 16, {chunk};", f"shr.u32 {lane}, {lane}, 4;")
    packed, swizzle = p.new("b32", 4), p.new("b32")
    for q in range(4):
        for i in range(4):
            p.emit(f"cvt.rn.f16x2.f32 {packed[i]}, {d[8 * q + 2 * i + 1]}, {d[8 * q + 2 * i]};")
        p.emit(f"add.u32 {chunk}, {lane}, {2 * q};", f"and.b32 {swizzle}, {row}, 7;", f"xor.b32 {chunk}, {chunk}, {swizzle};", f"mad.lo.u32 {address}, {row}, 128, {base};", f"mad.lo.u32 {address}, {chunk}, 16, {address};",
               f"stmatrix.sync.aligned.m8n8.x4.shared.b16 [{address}], {{{', '.join(packed)}}};")
    p.to_async()
    p.emit(f"@!{first} bra END;", f"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [{maps[2]}, {{0, 0}}], [smem+16384];", "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;", "END:")


def add_probes():
    layouts()
    types()
    registers()
    options()
    from_tma()
