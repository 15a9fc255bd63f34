"""Launches of test/dialects/tgpu/attention_loop.mlir for ptx-run, with their answers, computed in f64.

attention_loop.py ALLOCATED.mlir HEADS QUERIES KEYS OUT: writes OUT.json and OUT.answer. ALLOCATED.mlir says how much shared memory
the kernel wants. Queries and keys of each head are multiples of 128.
"""
import json
import pathlib
import re
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "ptx"))
import inputs  # noqa: E402

D, TILE = 128, 128
SCALE = D**-0.5 * 1.4426950408889634


def description(shared, heads, queries, keys):
    def tensor(rows, seed):
        return {"input": [{"real": "f16", "count": rows * D, "seed": seed, "bits": 9, "shift": -6}]}

    def tensor_map(name, rows):
        return {"map": {"of": name, "type": "f16", "dims": [D, rows], "strides": [2 * D], "box": [64, TILE], "swizzle": 128}}

    rows, key_rows = heads * queries, heads * keys
    numbers = [{"u32": n} for n in (rows, key_rows, queries // TILE, keys // TILE)] + [{"f32": SCALE}]
    maps = [tensor_map("Q", rows), tensor_map("K", key_rows), tensor_map("V", key_rows)]
    return {
        "what": f"attention, {heads} heads, {queries} queries, {keys} keys; the answer is computed in f64",
        "compare": "close 4e-3 4e-3 f16",
        "buffers": {"Q": tensor(rows, 1), "K": tensor(key_rows, 2), "V": tensor(key_rows, 3), "O": {"bytes": rows * D * 2}},
        "launches": [{"entry": "attention", "grid": rows // TILE, "block": 384, "shared": shared, "params": ["Q", "K", "V", "O"] + numbers + maps}],
    }


def answer(launch, heads):
    def read(name):
        data = inputs.input_bytes(launch["buffers"][name]["input"])
        return numpy.frombuffer(data, dtype=numpy.float16).astype(numpy.float64).reshape(heads, -1, D)

    scores = read("Q") @ read("K").transpose(0, 2, 1) * D**-0.5
    weights = numpy.exp(scores - scores.max(axis=2, keepdims=True))
    return (weights / weights.sum(axis=2, keepdims=True) @ read("V")).astype(numpy.float16)


def main():
    allocated, heads, queries, keys, out = sys.argv[1:]
    shared = int(re.search(r"shared_bytes = (\d+)", pathlib.Path(allocated).read_text())[1])
    launch = description(shared, int(heads), int(queries), int(keys))
    pathlib.Path(out + ".json").write_text(json.dumps(launch))
    pathlib.Path(out + ".answer").write_bytes(answer(launch, int(heads)).tobytes())


main()
