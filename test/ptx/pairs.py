#!/usr/bin/env python3
"""Pairs of small PTX programs, one with a fault and one without, on the emulator: every fault is reported in a plain run, no
correct program is.

    pairs.py [--runner PTX_RUN] [--ptxas PTXAS] [--out FOLDER] [NAME...]

The pairs lie in pairs/*.txt. One begins with `=== NAME`, then lines `key: value`, then the body in PTX:
  rule     what the fault breaks, with the section of the PTX ISA
  report   kinds of reports of which one must come, separated by `|`
  block, grid, cluster, shared (dynamic bytes), declare (PTX of the module), map (a tensor map, test/ptx/README.md)
  earlier  body of a launch before, which this one overlaps: it may begin before that one has ended
A body line that begins with `+` is in the correct program only, one with `-` in the wrong one only. Every body can use what
PRELUDE defines, and these short forms:
  WAIT ADDRESS, PARITY     the threads wait for a phase of an mbarrier, and those of a warp for each other
  INIT ADDRESS, COUNT      thread 0 initialises an mbarrier
  READY                    everybody sees what thread 0 has initialised
  CLEAR                    128 threads write zeros to the first 4 KB of smem
  DESCRIPTORS              %d10 and %d11 describe operands of wgmma there, at 0 and 2048, without swizzle
  PRODUCT SCALE            a wgmma of these into %f0 to %f3
Both programs of a pair are given to ptxas too, where there is one."""
import argparse
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
PRELUDE = """\
    .reg .pred %p<16>;
    .reg .b16 %h<16>;
    .reg .b32 %r<64>;
    .reg .f32 %f<64>;
    .reg .b64 %d<32>;
    ld.param.u64 %d0, [in];
    ld.param.u64 %d1, [out];
    cvta.to.global.u64 %d0, %d0;
    cvta.to.global.u64 %d1, %d1;
    mov.u32 %r0, %tid.x;              // thread
    and.b32 %r1, %r0, 31;             // lane
    shr.u32 %r2, %r0, 5;              // warp
    mov.u32 %r3, %ctaid.x;            // block
    mov.u32 %r4, smem;
    mad.lo.u32 %r5, %r0, 4, %r4;      // the thread's word of smem
    xor.b32 %r6, %r0, 32;
    mad.lo.u32 %r6, %r6, 4, %r4;      // that of a thread of the next warp
    xor.b32 %r7, %r0, 1;
    mad.lo.u32 %r7, %r7, 4, %r4;      // that of the next lane
    mov.u32 %r8, %ntid.x;
    mad.lo.u32 %r8, %r3, %r8, %r0;
    mad.wide.u32 %d2, %r8, 4, %d0;    // the thread's word of in
    mad.wide.u32 %d3, %r8, 4, %d1;    // and of out
    setp.eq.u32 %p0, %r0, 0;          // thread 0
    setp.eq.u32 %p1, %r1, 0;          // lane 0
    setp.eq.u32 %p2, %r2, 0;          // warp 0
    setp.eq.u32 %p3, %r3, 0;          // block 0
"""
FORMS = {
    "READY": ["@%p0 fence.mbarrier_init.release.cluster;", "bar.sync 0;"],
    "CLEAR": ["mov.b32 %r20, 0;", "mad.lo.u32 %r10, %r0, 16, %r4;", "st.shared.v4.b32 [%r10], {%r20, %r20, %r20, %r20};",
              "st.shared.v4.b32 [%r10+2048], {%r20, %r20, %r20, %r20};"],
    "DESCRIPTORS": ["shr.u32 %r11, %r4, 4;", "cvt.u64.u32 %d10, %r11;", "or.b64 %d10, %d10, 0x0000001000080000;", "add.u64 %d11, %d10, 128;"],
}


class Pair:
    def __init__(self, name, place):
        self.name, self.place, self.keys, self.body = name, place, {}, []

    def expand(self, line, number):
        text = line.strip()
        wait = re.fullmatch(r"(.*?)\bWAIT (.+), (\S+)", text)
        if wait:
            together = "" if wait[1] else "\n\tbar.warp.sync 0xffffffff;"
            return f"W{number}:\n\tmbarrier.try_wait.parity.shared::cta.b64 %p15, [{wait[2]}], {wait[3]};\n\t@!%p15 bra W{number};{together}"
        init = re.fullmatch(r"INIT (.+), (\S+)", text)
        if init:
            return f"\t@%p0 mbarrier.init.shared::cta.b64 [{init[1]}], {init[2]};"
        if text in FORMS:
            return "\n".join("\t" + part for part in FORMS[text])
        product = re.fullmatch(r"PRODUCT ([01])", text)
        if product:
            return f"\twgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, %d10, %d11, {product[1]}, 1, 1, 0, 0;"
        return text if text.endswith(":") else "\t" + text

    def text(self, correct):
        keys = self.keys
        lines = [self.expand(line[1:] if line[0] in "+-" else line, number) for number, line in enumerate(self.body)
                 if line[0] != ("-" if correct else "+")]
        number = {key: json.loads(keys.get(key, default)) for key, default in
                  (("grid", "1"), ("block", "32"), ("cluster", "1"), ("shared", "8192"))}
        buffers = {"in": {"input": [{"random": 4096, "width": 4, "seed": 1, "and": 0x3fff3fff}]}, "out": {"bytes": 16384}, "flag": {"input": [{"list": [0], "width": 4, "count": 64}]}}
        params = ["in", "out", "flag"]
        declared = ".param .u64 in,\n\t.param .u64 out,\n\t.param .u64 flag"
        if "map" in keys:
            params.append({"map": json.loads(keys["map"])})
            declared += ",\n\t.param .align 64 .b8 map[128]"
        launch = {"entry": "pair", "params": params, **number}
        bodies = {"pair": lines}
        launches = [launch]
        if "earlier" in keys:
            bodies["earlier"] = ["\t" + keys["earlier"]]
            launches = [launch | {"entry": "earlier"}, launch | {"overlaps": True}]
        head = json.dumps({"what": keys["rule"], "compare": "exact", "buffers": buffers, "launches": launches})
        return (f"//! {head}\n.version 8.6\n.target sm_90a\n.address_size 64\n\n.extern .shared .align 1024 .b8 smem[];\n"
                + (keys["declare"] + "\n" if "declare" in keys else "")
                + "".join(f".visible .entry {name}(\n\t{declared}\n)\n{{\n{PRELUDE}" + "\n".join(body) + "\n\tret;\n}\n" for name, body in bodies.items()))


def read_pairs():
    pairs = []
    for path in sorted((FOLDER / "pairs").glob("*.txt")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            if line.startswith("==="):
                pairs.append(Pair(line[3:].strip(), f"{path.name}:{number}"))
                continue
            pair = pairs[-1]
            key = re.match(r"(\w+): (.*)", line)
            if key and not pair.body and key[1] in ("rule", "report", "block", "grid", "cluster", "shared", "declare", "map", "earlier"):
                pair.keys[key[1]] = key[2]
            else:
                pair.body.append(line)
    return pairs


def check(pair, args, folder):
    """What is wrong with a pair, in lines."""
    problems = []
    kinds = [kind.strip() for kind in pair.keys["report"].split("|")]
    for correct in (True, False):
        path = folder / f"{pair.name}.{'right' if correct else 'wrong'}.ptx"
        path.write_text(pair.text(correct))
        if args.ptxas:
            done = subprocess.run([args.ptxas, "-arch=sm_90a", "-o", "/dev/null", str(path)], capture_output=True, text=True)
            if done.returncode:
                problems.append(f"{path.name}: ptxas: {(done.stderr + done.stdout).strip()[:600]}")
        done = subprocess.run([args.runner, str(path), "--quiet", "--budget", "1000000"], capture_output=True, text=True, timeout=60)
        text = (done.stdout + done.stderr).strip()
        if correct and done.returncode:
            problems.append(f"{path.name}: {text[:600]}")
        found = [line.split(":")[0] for line in text.splitlines()]
        if not correct and not any(kind in found for kind in kinds):
            problems.append(f"{path.name}: no {pair.keys['report']}, but {text[:600] or 'nothing'}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--runner", default="build/bin/ptx-run")
    parser.add_argument("--ptxas", default=shutil.which("ptxas"), help='"": none')
    parser.add_argument("--out", type=pathlib.Path, help="keep the programs there")
    args = parser.parse_args()
    pairs = read_pairs()
    names = [pair.name for pair in pairs]
    twice = {name for name in names if names.count(name) > 1}
    chosen = [pair for pair in pairs if not args.names or pair.name in args.names]
    bad = 0
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = args.out or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for pair, problems in zip(chosen, pool.map(lambda pair: check(pair, args, folder), chosen)):
            bad += bool(problems)
            for problem in problems:
                print(f"{pair.place}: {problem}")
    for name in sorted(twice):
        print(f"two pairs are called {name}")
    print(f"{len(chosen) - bad} of {len(chosen)} pairs told apart" + ("" if args.ptxas else "; without ptxas"))
    return 1 if bad or twice or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
