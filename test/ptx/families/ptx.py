"""Text of a probe: registers, addresses, the pieces that many probes share."""
import json

from inputs import ALIGN, segment_size

OUT_FILL = 0xCD  # what `out` holds before the launch
PREFIX = {"pred": "%p", "b16": "%h", "b32": "%r", "b64": "%d", "b128": "%q"}
ALL, FAULTS = [], []  # probes, and files of faults, in the order they were made


class Probe:
    """One .ptx file. `inputs`: segments (see inputs.py); their places in `in` are in self.at."""

    def __init__(self, name, what, inputs=(), target="sm_90a", block=32, grid=1, cluster=1, shared=0, maps=(),
                 compare="exact", directives="", declarations="", reads_out=False, listed=True):
        self.name, self.what, self.inputs, self.target = name, what, list(inputs), target
        self.block, self.grid, self.cluster, self.shared = block, grid, cluster, shared
        self.maps, self.compare, self.directives, self.declarations = list(maps), compare, directives, declarations
        self.reads_out = reads_out  # the program reads what `out` was filled with
        self.counts, self.lines, self.out_bytes, self.labels = {}, [], 0, 0
        self.at, offset = [], 0
        for segment in self.inputs:
            offset += -offset % ALIGN
            self.at.append(offset)
            offset += segment_size(segment)
        self.in_bytes = offset
        self.input, self.output, self.tid = self.new("b64"), self.new("b64"), self.new("b32")
        self.emit(f"ld.param.u64 {self.input}, [in];", f"ld.param.u64 {self.output}, [out];",
                  f"cvta.to.global.u64 {self.input}, {self.input};", f"cvta.to.global.u64 {self.output}, {self.output};",
                  f"mov.u32 {self.tid}, %tid.x;")
        if listed:
            ALL.append(self)

    def new(self, kind, count=None):
        """A new register, or a list of them."""
        if count is not None:
            return [self.new(kind) for _ in range(count)]
        number = self.counts.get(kind, 0)
        self.counts[kind] = number + 1
        return f"{PREFIX[kind]}{number}"

    def emit(self, *lines):
        self.lines.extend(lines)

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def out(self, size):
        """Reserves bytes of `out`: their offset, a multiple of 16."""
        self.out_bytes += -self.out_bytes % 16
        offset = self.out_bytes
        self.out_bytes += size
        return offset

    def value(self, text, kind="b32"):
        """A register with a constant or special register."""
        register = self.new(kind)
        self.emit(f"mov.{kind} {register}, {text};")
        return register

    def scaled(self, base, index, scale, kind="b64"):
        """base + index * scale, as an address."""
        address = self.new("b64")
        self.emit(f"mad.wide.u32 {address}, {index}, {scale}, {base};")
        return address

    def load(self, where, width, index=None):
        """Element `index` (the thread's number if None) of `width` bytes at offset `where` of `in`; 16 bytes: four registers."""
        address = self.scaled(self.input, index or self.tid, width)
        if width == 16:
            registers = self.new("b32", 4)
            self.emit(f"ld.global.v4.b32 {{{', '.join(registers)}}}, [{address}+{where}];")
            return registers
        register = self.new({1: "b16", 2: "b16", 4: "b32", 8: "b64"}[width])
        self.emit(f"ld.global.b{8 * width} {register}, [{address}+{where}];")
        return register

    def store(self, register, width, index=None, threads=None):
        """Stores one element per thread into new bytes of `out`."""
        threads = threads or self.block * self.grid
        offset = self.out(threads * width)
        address = self.scaled(self.output, index or self.tid, width)
        self.emit(f"st.global.b{8 * width} [{address}+{offset}], {register};")
        return offset

    def store_flag(self, predicate, index=None):
        flag = self.new("b32")
        self.emit(f"selp.b32 {flag}, 1, 0, {predicate};")
        return self.store(flag, 4, index)

    def store_all(self, registers, index=None, threads=None):
        """Several 32-bit registers per thread, neighbouring in `out`."""
        threads = threads or self.block * self.grid
        offset = self.out(threads * 4 * len(registers))
        address = self.scaled(self.output, index or self.tid, 4 * len(registers))
        for i, register in enumerate(registers):
            self.emit(f"st.global.b32 [{address}+{offset + 4 * i}], {register};")

    def sync(self):
        self.emit("bar.sync 0;")

    def fill_shared(self, size, word=0x5A5A5A5A, offset=0):
        """Every thread writes its part of `size` bytes of shared memory (16 bytes each time); no barrier."""
        self.copy_pieces(size, lambda address, i: self.emit(
            f"st.shared.v4.b32 [{address}+{offset + i}], {{{', '.join([str(word)] * 4)}}};"), "shared")

    def copy_in(self, source, size, offset=0):
        """`in` to shared memory, by ordinary loads and stores."""
        value = self.new("b32", 4)
        text = "{" + ", ".join(value) + "}"

        def piece(address, i):
            self.emit(f"ld.global.v4.b32 {text}, [{address[0]}+{source + i}];", f"st.shared.v4.b32 [{address[1]}+{offset + i}], {text};")
        self.copy_pieces(size, piece, "in")

    def dump_shared(self, size, offset=0, rank=None):
        """Shared memory to new bytes of `out`; for each block of the grid its own if `rank` (a register) is given."""
        place = self.out(size * (self.grid if rank else 1))
        base = self.scaled(self.output, rank, size) if rank else self.output
        value = self.new("b32", 4)
        text = "{" + ", ".join(value) + "}"

        def piece(address, i):
            self.emit(f"ld.shared.v4.b32 {text}, [{address[1]}+{offset + i}];", f"st.global.v4.b32 [{address[0]}+{place + i}], {text};")
        self.copy_pieces(size, piece, "out", base)
        return place

    def copy_pieces(self, size, piece, kind, base=None):
        step = 16 * self.block
        shared = self.new("b32")
        self.emit(f"mov.b32 {shared}, smem;", f"mad.lo.u32 {shared}, {self.tid}, 16, {shared};")
        operand = shared
        if kind != "shared":
            operand = (self.scaled(base or (self.input if kind == "in" else self.output), self.tid, 16), shared)
        for i in range(0, size, step):
            rest = size - i
            if rest < step:
                skip, predicate = self.label(), self.new("pred")
                self.emit(f"setp.ge.u32 {predicate}, {self.tid}, {rest // 16};", f"@{predicate} bra {skip};")
                piece(operand, i)
                self.emit(f"{skip}:")
            else:
                piece(operand, i)

    def first_thread(self):
        """Predicate: this is thread 0."""
        predicate = self.new("pred")
        self.emit(f"setp.eq.u32 {predicate}, {self.tid}, 0;")
        return predicate

    def shared_address(self, offset=0):
        register = self.value("smem")
        if offset:
            self.emit(f"add.u32 {register}, {register}, {offset};")
        return register

    def init_barriers(self, barriers):
        """Thread 0 initialises mbarriers: {offset: count}; all threads see them afterwards."""
        skip, predicate = self.label(), self.new("pred")
        self.emit(f"setp.ne.u32 {predicate}, {self.tid}, 0;", f"@{predicate} bra {skip};")
        for offset, count in barriers.items():
            self.emit(f"mbarrier.init.shared::cta.b64 [smem+{offset}], {count};")
        self.emit("fence.mbarrier_init.release.cluster;", f"{skip}:")
        self.sync()

    def wait_barrier(self, offset, parity=0):
        """All threads wait for a phase of an mbarrier."""
        again, predicate = self.label(), self.new("pred")
        self.emit(f"{again}:", f"mbarrier.try_wait.parity.shared::cta.b64 {predicate}, [smem+{offset}], {parity};",
                  f"@!{predicate} bra {again};")

    def to_async(self):
        """What this thread wrote to shared memory becomes visible to asynchronous copies and wgmma of all threads."""
        self.emit("fence.proxy.async.shared::cta;")
        self.sync()

    def launch(self, entry):
        params = ["in", "out"] + [{"map": recipe} for recipe in self.maps]
        return {"entry": entry, "grid": self.grid, "block": self.block, "cluster": self.cluster, "shared": self.shared, "params": params}

    def description(self, launches, more=""):
        lines = [f'"what": {json.dumps(self.what)}', f'"compare": {json.dumps(self.compare)}' + more,
                 '"buffers": {"in": {"input": [\n//!    ' + ",\n//!    ".join(map(json.dumps, self.inputs)) + ']},\n//!   "out": {"bytes": ' + str(self.out_bytes) + (f', "fill": {OUT_FILL}' if self.reads_out else "") + "}}",
                 '"launches": [' + ",\n//!    ".join(map(json.dumps, launches)) + "]"]
        return "//! {" + ",\n//!  ".join(lines) + "}\n"

    def head(self):
        shared = ".extern .shared .align 1024 .b8 smem[];\n" if self.shared else ""
        return f".version 9.0\n.target {self.target}\n.address_size 64\n\n{shared}{self.declarations}"

    def function(self, name):
        params = ["\t.param .u64 in", "\t.param .u64 out"]
        params += [f"\t.param .align 64 .b8 map{i}[128]" for i in range(len(self.maps))]
        registers = "".join(f"\t.reg .{kind} {PREFIX[kind]}<{count}>;\n" for kind, count in self.counts.items())
        body = "".join(line + "\n" if line.endswith(":") else "\t" + line + "\n" for line in self.lines)
        directives = f"{self.directives}\n" if self.directives else ""
        return f".visible .entry {name}(\n" + ",\n".join(params) + f"\n)\n{directives}{{\n{registers}\n{body}\tret;\n}}\n"

    def text(self):
        return self.description([self.launch("probe")]) + self.head() + self.function("probe")


class Faults:
    """A file of programs that a GPU ends with an error, each for itself: entry points by name, of the same inputs and launch.
    `error`: what the driver calls it."""

    def __init__(self, name, error, probes):
        self.name, self.error, self.probes = name, error, probes
        FAULTS.append(self)

    def text(self):
        largest = max(self.probes.values(), key=lambda probe: probe.out_bytes)
        launches = [probe.launch(entry) for entry, probe in self.probes.items()]
        return (largest.description(launches, f', "error": {json.dumps(self.error)}') + largest.head() +
                "\n".join(probe.function(entry) for entry, probe in self.probes.items()))


KIND = {1: "b16", 2: "b16", 4: "b32", 8: "b64"}


def elementwise(name, what, inputs, operations, count=128, target="sm_80", compare="exact"):
    """One thread per element: inputs (width, segment) are a, b, c, ...; operations (width of d, text with {d}, {a}, ...), the
    results of each operation in `out` one after the other. The text may be several instructions in a scope."""
    block = min(count, 256)
    assert count % block == 0
    probe = Probe(name, what, [segment for _, segment in inputs], target, block=block, grid=count // block, compare=compare)
    index = probe.tid
    if probe.grid > 1:
        index = probe.new("b32")
        probe.emit(f"mov.u32 {index}, %ctaid.x;", f"mad.lo.u32 {index}, {index}, {block}, {probe.tid};")
    names = {letter: probe.load(at, width, index) for letter, at, (width, _) in zip("abcdefgh".replace("d", ""), probe.at, inputs)}
    for width, text in operations:
        result = probe.new(KIND[width])
        probe.emit(*[line.strip() for line in text.format(d=result, **names).split("\n")])
        probe.store(result, width, index)
    return probe


def setp(text, result="1, 0"):
    """An operation in a scope that turns predicate p into a 32-bit result."""
    return "{{ .reg .pred p, q; " + text + " selp.b32 {d}, " + result + ", p; }}"


def random(count, width, seed, **masks):
    return {"random": count, "width": width, "seed": seed, **masks}


def listed(values, width, count, repeat=1):
    return {"list": list(values), "width": width, "repeat": repeat, "count": count}


def real(kind, count, seed, bits=6, shift=-2):
    return {"real": kind, "count": count, "seed": seed, "bits": bits, "shift": shift}


def pairs(values, width, seed, count):
    """Two inputs: all pairs of `values`, as far as `count` reaches."""
    return [(width, listed(values, width, count)), (width, listed(values, width, count, len(values)))]


F32 = [0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x00000001, 0x807FFFFF,
       0x00800000, 0x7F7FFFFF, 0x33800000, 0x4B7FFFFF, 0x3F000001, 0x40490FDB]
F16 = [0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0x1400, 0x6401, 0x3801, 0x4248]
BF16 = [0x0000, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0x7F81, 0x0001, 0x807F, 0x0080, 0x7F7F, 0x3380, 0x4B01, 0x3F01, 0x4049]
F64 = [0x0, 1 << 63, 0x3FF0000000000000, 0xBFF0000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
       0x7FF0000000000001, 0x1, 0x800FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF, 0x3C90000000000000,
       0x433FFFFFFFFFFFFF, 0x3FE0000000000001, 0x400921FB54442D18]
I32 = [0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x80000001, 2, 0xFFFFFFFE, 0xFFFF, 0x10000, 0x12345678, 0xDEADBEEF, 31, 32, 0xFF, 0x8000]
