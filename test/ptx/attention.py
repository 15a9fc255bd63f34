#!/usr/bin/env python3
"""Writes attention kernels of the kind that people write by hand into golden/, with their launches and the answers, computed in f64.

    attention.py            writes them
    attention.py --check    writes nothing; exit status 1 if a file differs

  attention_multicast   a cluster of two blocks shares keys and values: each loads a half of every tile into both; roles (a producer warp, two
                        consumer warpgroups that take turns at the tensor cores), setmaxnreg, a ring of stages, remote arrivals
  mla_parts             keys and values are one tensor; the keys are cut into parts, one block each, whose results the block that ends last
                        combines: partial sums in global memory, a ticket, fences
Scores are 64x64 for each consumer: wgmma of Q and K in shared memory, then of P in registers and V, with an online softmax between."""
import argparse
import json
import math
import operator
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import inputs  # noqa: E402

STAGES, TILE, D = 2, 64, 64
BYTES = TILE * D * 2  # of one tile
SCALE = 0.125 * 1.4426950408889634


class Kernel:
    def __init__(self, name, cluster, parts, latent, keys):
        self.name, self.cluster, self.parts, self.latent, self.keys = name, cluster, parts, latent, keys
        self.tiles = keys // parts // TILE
        self.stage_bytes = BYTES if latent else 2 * BYTES
        self.ring = 2 * BYTES  # behind Q
        self.barriers = self.ring + STAGES * self.stage_bytes
        self.q_full = self.barriers
        self.full, self.empty, self.note = self.barriers + 8, self.barriers + 8 + 8 * STAGES, self.barriers + 8 + 16 * STAGES
        self.blocks = cluster if parts == 1 else parts
        self.rows = 2 * TILE * (1 if parts > 1 else cluster)
        self.labels, self.lines = 0, []

    def emit(self, text):
        for line in text.strip().splitlines():
            line = line.strip()
            self.lines.append(line if line.endswith(":") else "\t" + line)

    def wait(self, address, parity, peers=False):
        """`peers`: also for what threads of other blocks did before they arrived."""
        self.labels += 1
        self.emit(f"""WAIT{self.labels}:
            mbarrier.try_wait.parity{".acquire.cluster" if peers else ""}.shared::cta.b64 %done, [{address}], {parity};
            @!%done bra WAIT{self.labels};""")

    def next_stage(self):
        self.emit(f"""add.u32 %stage, %stage, 1;
            setp.eq.u32 %wrap, %stage, {STAGES};
            @%wrap mov.b32 %stage, 0;
            @%wrap xor.b32 %phase, %phase, 1;""")

    def setup(self):
        self.emit(f"""mov.u32 %thread, %tid.x;
            shr.u32 %warp, %thread, 5;
            and.b32 %lane, %thread, 31;
            shr.u32 %group, %thread, 7;
            mov.u32 %block, %ctaid.x;
            mov.u32 %base, smem;
            setp.ne.u32 %other, %thread, 0;
            @%other bra READY;
            mbarrier.init.shared::cta.b64 [%base+{self.q_full}], 1;""")
        for stage in range(STAGES):
            self.emit(f"""mbarrier.init.shared::cta.b64 [%base+{self.full + 8 * stage}], 1;
                mbarrier.init.shared::cta.b64 [%base+{self.empty + 8 * stage}], {8 * self.cluster};""")
        self.emit("fence.mbarrier_init.release.cluster;\nREADY:")
        self.emit("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" if self.cluster > 1 else "bar.sync 0;")
        self.emit("""mov.b32 %stage, 0;
            mov.b32 %phase, 0;
            mov.b32 %i, 0;
            setp.ne.u32 %consumes, %group, 0;
            @%consumes bra CONSUMER;""")

    def load(self, to, tensor, row, barrier, multicast):
        cast = ".multicast::cluster" if multicast else ""
        mask = ", %everyone" if multicast else ""
        self.emit(f"@%elected cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes{cast} [{to}], [{tensor}, {{%zero, {row}}}], [{barrier}]{mask};")

    def producer(self):
        tensors = ["k"] if self.latent else ["k", "v"]
        self.emit("""setmaxnreg.dec.sync.aligned.u32 40;
            setp.ne.u32 %idle, %warp, 0;
            @%idle bra END;
            elect.sync _|%elected, 0xffffffff;
            mov.b32 %zero, 0;""")
        for tensor in ["q", *tensors]:
            self.emit(f"mov.b64 %map{tensor}, {tensor};\ncvta.param.u64 %map{tensor}, %map{tensor};")
        self.emit(f"@%elected mbarrier.arrive.expect_tx.shared::cta.b64 _, [%base+{self.q_full}], {2 * BYTES};")
        self.emit("mov.b32 %row, 0;" if self.parts > 1 else f"mul.lo.u32 %row, %block, {2 * TILE};")
        self.load("%base", "%mapq", "%row", f"%base+{self.q_full}", False)
        self.emit(f"add.u32 %row, %row, {TILE};")
        self.load(f"%base+{BYTES}", "%mapq", "%row", f"%base+{self.q_full}", False)
        self.emit(f"mul.lo.u32 %row, %block, {self.tiles * TILE};" if self.parts > 1 else "mov.b32 %row, 0;")
        if self.cluster > 1:
            half = TILE // self.cluster
            self.emit(f"mov.u32 %rank, %cluster_ctarank;\nmad.lo.u32 %row, %rank, {half}, %row;\nmul.lo.u32 %piece, %rank, {half * D * 2};\nmov.b16 %everyone, {2 ** self.cluster - 1};")
        else:
            self.emit("mov.b32 %piece, 0;")
        self.emit("PRODUCE:\nmad.lo.u32 %bar, %stage, 8, %base;\nxor.b32 %freed, %phase, 1;")
        self.wait(f"%bar+{self.empty}", "%freed", peers=self.cluster > 1)
        self.emit(f"@%elected mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar+{self.full}], {self.stage_bytes};\nmad.lo.u32 %to, %stage, {self.stage_bytes}, %base;\nadd.u32 %to, %to, %piece;")
        for n, tensor in enumerate(tensors):
            self.load(f"%to+{self.ring + n * BYTES}", "%map" + tensor, "%row", f"%bar+{self.full}", self.cluster > 1)
        self.next_stage()
        self.emit(f"""add.u32 %row, %row, {TILE};
            add.u32 %i, %i, 1;
            setp.lt.u32 %more, %i, {self.tiles};
            @%more bra PRODUCE;
            bra END;""")

    def products(self, registers, a, b, step_b, trans, first_clears):
        """Four wgmma over 64 of k; `a` gives the operand of a step."""
        self.emit("wgmma.fence.sync.aligned;")
        for k in range(4):
            self.emit(f"add.u64 %descb, {b}, {k * step_b};")
            operand = a(k)
            self.emit(f"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{{registers}}}, {operand}, %descb, {0 if k == 0 and first_clears else 1}, 1, 1, "
                      + (f"0, {trans};" if operand.startswith("%") else f"{trans};"))
        self.emit("wgmma.commit_group.sync.aligned;")

    def scores(self):
        registers = ", ".join(f"%s{i}" for i in range(32))

        def queries(k):
            self.emit(f"add.u64 %desca, %descq, {2 * k};")
            return "%desca"
        self.emit("bar.sync %mine, 256;")
        self.products(registers, queries, "%desck", 2, 0, True)
        # The other consumer's turn; after its last one nobody waits for this one's.
        self.emit(f"""setp.ne.u32 %turn, %i, {self.tiles - 1};
            setp.eq.u32 %firstone, %group, 1;
            or.pred %turn, %turn, %firstone;
            @%turn bar.arrive %others, 256;
            wgmma.wait_group.sync.aligned 0;""")

    def softmax(self):
        for half in range(2):
            mine = [4 * j + 2 * half + e for j in range(16 // 2) for e in range(2)]
            self.emit(f"mov.f32 %t, %s{mine[0]};")
            for i in mine[1:]:
                self.emit(f"max.f32 %t, %t, %s{i};")
            self.quad("max.f32")
            self.emit(f"""mul.f32 %t, %t, {hexf(SCALE)};
                max.f32 %t, %t, %m{half};
                sub.f32 %a, %m{half}, %t;
                ex2.approx.ftz.f32 %a{half}, %a;
                mov.f32 %m{half}, %t;
                neg.f32 %t, %t;
                mul.f32 %l{half}, %l{half}, %a{half};""")
            for i in mine:
                self.emit(f"fma.rn.f32 %s{i}, %s{i}, {hexf(SCALE)}, %t;\nex2.approx.ftz.f32 %s{i}, %s{i};\nadd.f32 %l{half}, %l{half}, %s{i};")
        for i in range(32):
            self.emit(f"mul.f32 %o{i}, %o{i}, %a{i // 2 % 2};")
        for i in range(16):
            self.emit(f"cvt.rn.f16x2.f32 %p{i}, %s{2 * i + 1}, %s{2 * i};")

    def quad(self, operation, value="%t"):
        """Of the four lanes that share a row."""
        for distance in (1, 2):
            self.emit(f"mov.b32 %x, {value};\nshfl.sync.bfly.b32 %x, %x, {distance}, 31, 0xffffffff;\nmov.b32 %y, %x;\n{operation} {value}, {value}, %y;")

    def release(self):
        self.emit("setp.eq.u32 %lead, %lane, 0;")
        for rank in range(self.cluster):
            if self.cluster == 1:
                self.emit(f"@%lead mbarrier.arrive.shared::cta.b64 _, [%bar+{self.empty}];")
            else:
                self.emit(f"mapa.shared::cluster.u32 %remote, %bar, {rank};\n@%lead mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%remote+{self.empty}];")

    def consumer(self):
        self.emit(f"""CONSUMER:
            setmaxnreg.inc.sync.aligned.u32 232;
            mov.u32 %mine, %group;
            xor.b32 %others, %group, 3;
            setp.eq.u32 %second, %group, 2;
            @%second bar.arrive %others, 256;
            sub.u32 %c, %group, 1;
            mad.lo.u32 %x, %c, {BYTES}, %base;
            shr.u32 %x, %x, 4;
            cvt.u64.u32 %descq, %x;
            or.b64 %descq, %descq, 0x4000004000010000;
            mov.f32 %m0, 0fFF800000;
            mov.f32 %m1, 0fFF800000;
            mov.f32 %l0, 0f00000000;
            mov.f32 %l1, 0f00000000;""")
        for i in range(32):
            self.emit(f"mov.f32 %o{i}, 0f00000000;")
        self.wait(f"%base+{self.q_full}", "0")
        self.emit("CONSUME:\nmad.lo.u32 %bar, %stage, 8, %base;")
        self.wait(f"%bar+{self.full}", "%phase")
        self.emit("bar.warp.sync 0xffffffff;")
        self.emit(f"""mad.lo.u32 %x, %stage, {self.stage_bytes}, %base;
            add.u32 %x, %x, {self.ring};
            shr.u32 %x, %x, 4;
            cvt.u64.u32 %desck, %x;
            or.b64 %desck, %desck, 0x4000004000010000;
            add.u64 %descv, %desck, {0 if self.latent else BYTES // 16};""")
        self.scores()
        self.softmax()
        self.products(", ".join(f"%o{i}" for i in range(32)), lambda k: "{" + ", ".join(f"%p{4 * k + i}" for i in range(4)) + "}", "%descv", 128, 1, False)
        self.emit("wgmma.wait_group.sync.aligned 0;")
        self.release()
        self.next_stage()
        self.emit(f"add.u32 %i, %i, 1;\nsetp.lt.u32 %more, %i, {self.tiles};\n@%more bra CONSUME;")
        for half in range(2):
            self.quad("add.f32", f"%l{half}")
        self.place()
        self.finish_alone() if self.parts == 1 else self.finish_parts()
        self.emit("END:")
        if self.cluster > 1:
            self.emit("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;")
        self.emit("ret;")

    def place(self):
        """%row: the first of the thread's two rows among all; %col: its first column."""
        self.emit(f"""and.b32 %x, %warp, 3;
            shl.b32 %x, %x, 4;
            shr.u32 %row, %lane, 2;
            add.u32 %row, %row, %x;
            mad.lo.u32 %row, %c, {TILE}, %row;
            and.b32 %col, %lane, 3;
            shl.b32 %col, %col, 1;
            ld.param.u64 %out, [out];
            cvta.to.global.u64 %out, %out;""")
        if self.parts == 1:
            self.emit(f"mad.lo.u32 %row, %block, {2 * TILE}, %row;")

    def store(self, to):
        self.emit(f"mad.lo.u32 %x, %row, {D}, %col;\nmad.wide.u32 %at, %x, 4, {to};")
        for i in range(0, 32, 2):
            self.emit(f"st.global.v2.f32 [%at+{4 * (8 * (i // 4) + 8 * D * (i // 2 % 2))}], {{%o{i}, %o{i + 1}}};")

    def finish_alone(self):
        for half in range(2):
            self.emit(f"rcp.approx.ftz.f32 %a{half}, %l{half};")
        for i in range(32):
            self.emit(f"mul.f32 %o{i}, %o{i}, %a{i // 2 % 2};")
        self.store("%out")

    def finish_parts(self):
        """Sums go to `work`, maxima and denominators behind them; the block with the last ticket combines."""
        part = self.rows * D * 4
        tail = self.parts * part
        self.emit(f"""ld.param.u64 %work, [work];
            cvta.to.global.u64 %work, %work;
            mad.wide.u32 %sums, %block, {part}, %work;
            add.u64 %stats, %work, {tail};
            mad.wide.u32 %mystats, %block, {self.rows * 8}, %stats;""")
        self.store("%sums")
        self.emit(f"""setp.eq.u32 %writes, %col, 0;
            mad.wide.u32 %at, %row, 8, %mystats;
            @%writes st.global.v2.f32 [%at], {{%m0, %l0}};
            @%writes st.global.v2.f32 [%at+64], {{%m1, %l1}};
            bar.sync 3, 256;
            setp.ne.u32 %other, %thread, 128;
            @%other bra TOLD;
            ld.param.u64 %ticket, [ticket];
            cvta.to.global.u64 %ticket, %ticket;
            fence.acq_rel.gpu;
            atom.relaxed.gpu.global.add.u32 %x, [%ticket], 1;
            fence.acq_rel.gpu;
            st.shared.b32 [%base+{self.note}], %x;
        TOLD:
            bar.sync 3, 256;
            ld.shared.b32 %x, [%base+{self.note}];
            setp.ne.u32 %notlast, %x, {self.parts - 1};
            @%notlast bra END;""")
        for half in range(2):
            self.emit(f"mov.f32 %m{half}, 0fFF800000;\nmov.f32 %l{half}, 0f00000000;")
            for n in range(self.parts):
                self.emit(f"""mad.wide.u32 %at, %row, 8, %stats;
                    ld.global.v2.f32 {{%pm{n}{half}, %pl{n}{half}}}, [%at+{n * self.rows * 8 + 64 * half}];
                    max.f32 %m{half}, %m{half}, %pm{n}{half};""")
            for n in range(self.parts):
                self.emit(f"sub.f32 %pm{n}{half}, %pm{n}{half}, %m{half};\nex2.approx.ftz.f32 %pm{n}{half}, %pm{n}{half};\nfma.rn.f32 %l{half}, %pl{n}{half}, %pm{n}{half}, %l{half};")
            self.emit(f"rcp.approx.ftz.f32 %a{half}, %l{half};")
        self.emit(f"mad.lo.u32 %x, %row, {D}, %col;\nmad.wide.u32 %at, %x, 4, %work;")
        for i in range(0, 32, 2):
            half, offset = i // 2 % 2, 4 * (8 * (i // 4) + 8 * D * (i // 2 % 2))
            self.emit(f"mov.f32 %o{i}, 0f00000000;\nmov.f32 %o{i + 1}, 0f00000000;")
            for n in range(self.parts):
                self.emit(f"ld.global.v2.f32 {{%t, %a}}, [%at+{n * part + offset}];\nfma.rn.f32 %o{i}, %t, %pm{n}{half}, %o{i};\nfma.rn.f32 %o{i + 1}, %a, %pm{n}{half}, %o{i + 1};")
            self.emit(f"mul.f32 %o{i}, %o{i}, %a{half};\nmul.f32 %o{i + 1}, %o{i + 1}, %a{half};")
        self.store("%out")

    def text(self):
        self.labels, self.lines = 0, []
        self.setup()
        self.producer()
        self.consumer()
        maps = ["q", "k"] + ([] if self.latent else ["v"])
        params = [f".param .align 64 .b8 {m}[128]" for m in maps] + [".param .u64 out"] + ([".param .u64 work", ".param .u64 ticket"] if self.parts > 1 else [])
        many = [f"%{n}<{c}>" for n, c in (("s", 32), ("o", 32), ("m", 2), ("l", 2), ("a", 2))]
        stats = [f"%p{w}{n}{h}" for w in "ml" for n in range(self.parts) for h in range(2)] if self.parts > 1 else []
        return (f"// {self.name}: written by test/ptx/attention.py\n.version 8.6\n.target sm_90a\n.address_size 64\n\n.extern .shared .align 1024 .b8 smem[];\n"
                ".visible .entry attention(\n\t" + ",\n\t".join(params) + "\n)\n.maxntid 384, 1, 1\n{\n"
                "\t.reg .pred %done, %wrap, %other, %consumes, %idle, %elected, %more, %turn, %firstone, %second, %lead, %writes, %notlast;\n"
                "\t.reg .b16 %everyone;\n"
                "\t.reg .b32 %thread, %warp, %lane, %group, %block, %base, %stage, %phase, %i, %zero, %row, %rank, %piece, %bar, %freed, %to, %mine, %others, %c, %x, %remote, %col;\n"
                "\t.reg .b32 %p<16>;\n"
                "\t.reg .f32 " + ", ".join(many + ["%t", "%a", "%y"] + stats) + ";\n"
                "\t.reg .b64 %mapq, %mapk, %mapv, %descq, %desck, %descv, %desca, %descb, %out, %at, %work, %sums, %stats, %mystats, %ticket;\n"
                + "\n".join(self.lines) + "\n}\n")

    def tensor(self, rows, seed):
        return {"input": [{"real": "f16", "count": rows * D, "seed": seed, "bits": 9, "shift": -7}]}

    def description(self):
        def of(name, rows, box):
            return {"map": {"of": name, "type": "f16", "dims": [D, rows], "strides": [2 * D], "box": [D, box], "swizzle": 128}}
        buffers = {"Q": self.tensor(self.rows, 1), "K": self.tensor(self.keys, 2)}
        params = [of("Q", self.rows, TILE), of("K", self.keys, TILE // self.cluster)]
        if not self.latent:
            buffers["V"] = self.tensor(self.keys, 3)
            params.append(of("V", self.keys, TILE // self.cluster))
        buffers["O"] = {"bytes": self.rows * D * 4}
        params.append("O")
        if self.parts > 1:
            buffers["work"] = {"bytes": self.parts * self.rows * (D + 2) * 4, "result": False}
            buffers["ticket"] = {"input": [{"list": [0], "width": 4, "count": 1}]}
            params += ["work", "ticket"]
        return {"what": f"attention, {self.rows} queries, {self.keys} keys, cluster {self.cluster}, parts {self.parts}; the answer is computed in f64",
                "compare": "close 4e-3 4e-3 f32", "buffers": buffers,
                "launches": [{"entry": "attention", "grid": self.blocks, "block": 384, "cluster": self.cluster, "shared": self.note + 8, "params": params}]}

    def answer(self):
        """In f64; f32 of it."""
        def rows(name):
            data = inputs.input_bytes(self.description()["buffers"][name]["input"])
            values = struct.unpack(f"<{len(data) // 2}e", data)
            return [values[i:i + D] for i in range(0, len(values), D)]
        keys = rows("K")
        columns = list(zip(*(keys if self.latent else rows("V"))))
        result = []
        for query in rows("Q"):
            scores = [0.125 * sum(map(operator.mul, query, key)) for key in keys]
            most = max(scores)
            weights = [math.exp(score - most) for score in scores]
            total = sum(weights)
            result += [sum(map(operator.mul, weights, column)) / total for column in columns]
        return struct.pack(f"<{len(result)}f", *result)


def hexf(value):
    return f"0f{struct.unpack('<I', struct.pack('<f', value))[0]:08X}"


KERNELS = [Kernel("attention_multicast", cluster=2, parts=1, latent=False, keys=320), Kernel("mla_parts", cluster=1, parts=3, latent=True, keys=960)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 if a file differs")
    args = parser.parse_args()
    different = 0
    for kernel in KERNELS:
        files = {HERE / "golden" / f"{kernel.name}.ptx": kernel.text(), HERE / "golden" / f"{kernel.name}.json": json.dumps(kernel.description(), indent=1) + "\n"}
        for path, text in files.items():
            if not path.exists() or path.read_text() != text:
                different += 1
                if args.check:
                    print(f"{path.name}: not as attention.py writes it")
                else:
                    path.write_text(text)
        if not args.check:
            (HERE / "answers" / f"{kernel.name}.bin").write_bytes(kernel.answer())
    print(f"{len(KERNELS)} kernels, {different} files " + ("differ" if args.check else "changed"))
    return 1 if args.check and different else 0


if __name__ == "__main__":
    sys.exit(main())
