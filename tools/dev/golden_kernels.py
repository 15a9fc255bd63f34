#!/usr/bin/env python3
"""Kernels written by hand (gemm, attention, MLA decode, memory-bound) as launches of test/ptx/README.md, and what they should compute.

    golden_kernels.py describe FOLDER DEST    each NAME.ptx of FOLDER with the NAME.json of its generator: DEST/NAME.ptx and a description
    golden_kernels.py check DIR [--answers A] compares A/NAME.bin with numpy; A is DIR/answers if left out
    golden_kernels.py run DIR [--runner PTX_RUN] [--schedules N] [--only TEXT]
                                              runs every description of DIR on the emulator (tools/ptx-run), in round-robin and N random
                                              schedules; wants no report; compares with numpy

The generators' files say what a kernel is: `name` (gemm, attention, mla, mem), tile sizes, threads, bytes of shared memory.
Exit status: 0 all right, 1 something wrong.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "test/ptx"))
import inputs  # noqa: E402

LOG2E = 1.4426950408889634


def real(kind, count, seed, bits=11, shift=-9):
    bits, shift = (8, -6) if kind == "bf16" else (bits, shift)
    return {"real": kind, "count": count, "seed": seed, "bits": bits, "shift": shift}


def matrix_map(of, kind, rows, columns, box):
    return {"map": {"of": of, "type": kind, "dims": [columns, rows], "strides": [2 * columns], "box": box, "swizzle": 128}}


def describe_gemm(c, sizes, grid):
    m, n, k = sizes
    b = (k, n) if c["layout"] == "nn" else (n, k)
    kind = c["dtype"]
    return {"what": f"gemm {m}x{n}x{k} {c['layout']} {kind}, {c['schedule']}, tile {c['bm']}x{c['bn']}", "compare": f"close 2e-3 2e-3 {kind}",
            "sizes": sizes, "generator": c,
            "buffers": {"A": {"input": [real(kind, m * k, 1)]}, "B": {"input": [real(kind, n * k, 2)]}, "C": {"bytes": 2 * m * n}},
            "launches": [{"entry": "gemm", "grid": grid, "block": c["threads"], "cluster": c["cluster"], "shared": c["smem"],
                          "params": [matrix_map("A", kind, m, k, c["box_a"]), matrix_map("B", kind, *b, c["box_b"]), matrix_map("C", kind, m, n, c["box_c"]),
                                     "C", {"u32": m}, {"u32": n}, {"u32": k}]}]}


def describe_attention(c, sizes, blocks_at_once):
    batch, heads, kv_heads, s, sk = sizes
    d, kind = c["d"], c["dtype"]
    blocks = -(-s // (c["bm"] * c["cluster"]))
    tiles, ratio = batch * heads * blocks, heads // kv_heads
    group = min(max(1, 2**25 // (4 * sk * d)) * ratio, batch * heads)

    def head_map(of, h, rows, box):
        return {"map": {"of": of, "type": kind, "dims": [d, rows, h, batch], "strides": [2 * d, 2 * d * rows, 2 * d * rows * h], "box": box + [1, 1], "swizzle": 128}}
    buffers = {name: {"input": [real(kind, batch * h * rows * d, seed)]} for name, h, rows, seed in (("Q", heads, s, 3), ("K", kv_heads, sk, 4), ("V", kv_heads, sk, 5))}
    buffers |= {"O": {"bytes": 2 * batch * heads * s * d}, "counter": {"bytes": 64 + 16 * 132, "fill": 0, "result": False}}
    if c["lse"]:
        buffers["lse"] = {"bytes": 4 * batch * heads * s, "result": False}
    return {"what": f"attention {sizes} of {d} columns, {'causal' if c['causal'] else 'full'}, {kind}", "compare": "close 2e-2 1.5e-2 bf16" if kind == "bf16" else "close 5e-3 3e-3 f16",
            "sizes": sizes, "generator": c, "buffers": buffers,
            "launches": [{"entry": "attention", "grid": min(tiles, blocks_at_once) * c["cluster"], "block": c["threads"], "cluster": c["cluster"], "shared": c["smem"],
                          "params": [head_map("Q", heads, s, c["box_q"]), head_map("K", kv_heads, sk, c["box_kv"]), head_map("V", kv_heads, sk, c["box_kv"]), head_map("O", heads, s, c["box_o"]),
                                     "counter", "lse" if c["lse"] else {"u64": 0}, {"f32": d**-0.5 * LOG2E}] +
                          [{"u32": x} for x in (s, sk, heads, ratio, batch * heads, blocks, tiles, group, 0)]}]}


def describe_mla(c, sizes, blocks_at_once):
    lengths, heads, splits = sizes
    batch, s, d, dv, kind = len(lengths), max(lengths), 576, 512, c["dtype"]
    tiles = splits * batch * -(-heads // 64)

    def panels(of, rows, count):
        return {"map": {"of": of, "type": kind, "dims": [64, rows, d // 64, batch], "strides": [2 * d, 128, 2 * d * rows], "box": [64, 64, count, 1], "swizzle": 128}}
    launches = [{"entry": "mla", "grid": min(tiles, blocks_at_once), "block": c["threads"], "cluster": 1, "shared": c["smem"],
                 "params": [panels(of, rows, n) for of, rows in (("Q", heads), ("KV", s)) for n in (c["grain"], 1)] + ["lengths", "O", "part", "lse", "clock", {"f32": d**-0.5 * LOG2E}] +
                 [{"u32": x} for x in (batch, heads, -(-heads // 64), s, splits, tiles)]}]
    if splits > 1:
        launches.append({"entry": "combine", "grid": batch * heads, "block": c["combine_threads"], "cluster": 1, "shared": 0, "params": ["O", "part", "lse", {"u32": batch * heads}, {"u32": splits}]})
    return {"what": f"MLA decode, lengths {lengths}, {heads} heads, {splits} splits", "compare": "close 5e-3 3e-3 f16", "sizes": sizes, "generator": c,
            "buffers": {"Q": {"input": [real(kind, batch * heads * d, 6)]}, "KV": {"input": [real(kind, batch * s * d, 7)]},
                        "lengths": {"input": [{"list": lengths, "width": 4, "count": batch}]}, "O": {"bytes": 2 * batch * heads * dv},
                        "part": {"bytes": 4 * splits * batch * heads * dv, "result": False}, "lse": {"bytes": 4 * splits * batch * heads, "result": False},
                        "clock": {"bytes": 27000, "fill": 0, "result": False}}, "launches": launches}


def describe_memory(c, sizes, blocks_at_once):
    if c["kind"] == "rmsnorm":
        m, n = sizes
        buffers = {"X": {"input": [real("f16", m * n, 8)]}, "Y": {"bytes": 2 * m * n}, "W": {"input": [real("f16", n, 9)]}, "B": {"input": [real("f16", n, 10)]}}
        params, grid = ["X", "Y", "W", "B", {"u32": m}, {"u32": n}, {"f32": 1e-5}], m
    else:
        n, = sizes
        buffers = {"X": {"input": [real("f16", n, 8)]}, "Y": {"bytes": 2 * n}}
        params, grid = ["X", "Y", {"u32": n}, {"u32": 0x7FFF1234}], -(-(n // 8) // (c["threads"] * c["V"]))
        grid = min(grid, blocks_at_once) if c["ctas"] else max(grid, 1)
    return {"what": f"{c['kind']} of {sizes}, {c['mode']}", "compare": "exact" if c["kind"] == "copy" else "close 2e-3 1e-6 f16", "sizes": sizes, "generator": c, "buffers": buffers,
            "launches": [{"entry": "mem", "grid": grid, "block": c["block_threads"], "cluster": 1, "shared": c["smem"], "params": params}]}


def describe(c):
    """[(suffix, description)]. Suffixes with a plus are other sizes for the same program: `+long`, where one block does several tiles, so
    that all barriers come to many phases; `+short`, where a tile has less steps than the pipeline has stages."""
    if c["name"] == "gemm":
        pingpong = c["schedule"] == "pingpong"  # goes wrong if a tile has one k-tile only: a turn may come before all have seen the last
        sizes = {128: [136, 136, 200], 192: [200, 392, 264], 256: [72, 264, 200]}[c["bn"]]
        m, n, k = 136, 2 * c["bn"] + 8, 64 * c["stages"] + 72
        return [("", describe_gemm(c, sizes, 1 if c["bn"] == 256 else 2)), ("+long", describe_gemm(c, [m, n, k], 1)),
                ("+short", describe_gemm(c, [m, n, 104 if pingpong else 40], 1))]
    if c["name"] == "attention":
        return [("", describe_attention(c, [1, 2, 1, 200, 300], 4)), ("+long", describe_attention(c, [1, 2, 1, 300, 1300], 1)),
                ("+short", describe_attention(c, [2, 2, 1, 300, 100], 1)), ("+square", describe_attention(c, [1, 2, 1, 640, 640], 1))]
    if c["name"] == "mla":
        return [("", describe_mla(c, [[100, 65], 16, 1], 4)), ("+long", describe_mla(c, [[400, 330], 16, 1], 1)), ("+short", describe_mla(c, [[70, 1, 64, 65], 16, 1], 1)),
                ("_split", describe_mla(c, [[200, 1], 16, 2], 4))]
    if c["kind"] == "rmsnorm":
        return [("", describe_memory(c, [3, 520], 1))]
    return [("", describe_memory(c, [5008], 2)), ("+long", describe_memory(c, [20488], 1))]


def array(description, name):
    kind = next(segment.get("real") for segment in description["buffers"][name]["input"])
    data = inputs.buffer_bytes(description["buffers"][name])
    return decode(data, kind)


def decode(data, kind):
    if kind == "bf16":
        return (np.frombuffer(data, np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return np.frombuffer(data, {"f16": np.float16, "f32": np.float32}[kind]).astype(np.float64)


def softmax(scores):
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)


def reference(description):
    c, sizes = description["generator"], description["sizes"]
    if c["name"] == "gemm":
        m, n, k = sizes
        b = array(description, "B")
        return array(description, "A").reshape(m, k) @ (b.reshape(k, n) if c["layout"] == "nn" else b.reshape(n, k).T)
    if c["name"] == "attention":
        batch, heads, kv_heads, s, sk = sizes
        q, k, v = (array(description, name).reshape(batch, h, -1, c["d"]) for name, h in (("Q", heads), ("K", kv_heads), ("V", kv_heads)))
        k, v = (np.repeat(x, heads // kv_heads, 1) for x in (k, v))
        scores = q @ k.swapaxes(2, 3) * c["d"] ** -0.5
        if c["causal"]:
            scores = np.where(np.tri(s, sk, sk - s, dtype=bool), scores, -np.inf)
        return softmax(scores) @ v
    if c["name"] == "mla":
        lengths, heads, _ = sizes
        q, kv = array(description, "Q").reshape(len(lengths), heads, 576), array(description, "KV").reshape(len(lengths), -1, 576)
        return np.stack([softmax(q[i] @ kv[i, :n].T * 576**-0.5) @ kv[i, :n, :512] for i, n in enumerate(lengths)])
    x = array(description, "X")
    if c["kind"] == "copy":
        return x
    if c["kind"] == "gelu":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    x = x.reshape(sizes)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * array(description, "W")


def judge(description, data):
    """What is wrong with an answer, or ''; and its largest error."""
    kind = description["compare"].split()[-1] if description["compare"] != "exact" else "f16"
    out = decode(data, kind)
    want = reference(description).ravel()
    if len(out) != len(want):
        return f"{len(out)} numbers instead of {len(want)}", math.inf
    difference = np.abs(out - want)
    if description["compare"] == "exact":
        relative, absolute = 0.0, 0.0
    else:
        relative, absolute = map(float, description["compare"].split()[1:3])
    bad = ~(difference <= np.maximum(relative * np.abs(want), absolute))
    first = int(np.argmax(bad))
    return (f"{bad.sum()} of {len(want)} numbers wrong, first [{first}]: {out[first]} instead of {want[first]}" if bad.any() else ""), float(np.nanmax(difference))


def descriptions(folder, only):
    for path in sorted(folder.glob("*.json")):
        if only in path.stem and path.with_suffix(".ptx").exists():
            yield path, json.loads(path.read_text())


def run_one(runner, path, description, options):
    with tempfile.TemporaryDirectory() as folder:
        answer = pathlib.Path(folder) / "answer.bin"
        begin = time.time()
        done = subprocess.run([runner, str(path.with_suffix(".ptx")), "--lenient", "--out", str(answer), *options], capture_output=True, text=True)
        seconds = time.time() - begin
        wrong, error = judge(description, answer.read_bytes()) if answer.exists() else ("no answer", math.inf)
        if done.returncode:
            wrong = f"{wrong or 'right, but'} exit status {done.returncode}: {(done.stdout + done.stderr).strip()[:2000]}"
        return wrong, error, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("describe", "check", "run"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("dest", nargs="?", type=pathlib.Path)
    parser.add_argument("--answers", type=pathlib.Path)
    parser.add_argument("--runner", default="build/bin/ptx-run")
    parser.add_argument("--schedules", type=int, default=0)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    failed = 0
    if args.action == "describe":
        args.dest.mkdir(parents=True, exist_ok=True)
        for path, c in descriptions(args.folder, args.only):
            for suffix, text in describe(c):
                if "+" not in suffix:
                    (args.dest / f"{path.stem}{suffix}.ptx").write_text(path.with_suffix(".ptx").read_text())
                (args.dest / f"{path.stem}{suffix}.json").write_text(json.dumps(text, indent=1) + "\n")
        return 0
    for path, description in descriptions(args.folder, args.only):
        if args.action == "check":
            answer = (args.answers or args.folder / "answers") / (path.stem + ".bin")
            results = [("", *judge(description, answer.read_bytes()), 0.0)] if answer.exists() else [("", "no answer", math.inf, 0.0)]
        else:
            runs = [("", [])] + [(f" seed {seed}", ["--seed", str(seed)]) for seed in range(1, args.schedules + 1)]
            results = [(name, *run_one(args.runner, path, description, options)) for name, options in runs]
        for name, wrong, error, seconds in results:
            failed += bool(wrong)
            print(f"{path.stem + name:28} {'WRONG: ' + wrong if wrong else f'largest error {error:.2e}'}" + (f"  {seconds:.1f} s" if seconds else ""), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
