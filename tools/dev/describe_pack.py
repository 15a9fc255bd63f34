#!/usr/bin/env python3
"""Kernels of a pack as PTX programs with descriptions (test/ptx/README.md), for ptx-run, sabotage.py and gpu_probes.py.

    describe_pack.py PACK DIR --dim M=72 --dim N=264 [--arg splits=3] [--kernel SYMBOL] [--multiprocessors 2] [--more NAME]

Writes DIR/SYMBOL.VARIANT.ARCH.ptx and .json for every variant of a kernel's first launch that can be taken at these sizes, with the first
such variant of each further launch; inputs are random.
"""
import argparse
import json
import math
import operator
import pathlib
import sys

import pack_tool

SIZES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "u64": 8, "u32": 4, "u16": 2, "u8": 1, "bool": 1,
         "e4m3": 1, "e5m2": 1}
MAP_TYPES = {"e4m3": "u8", "e5m2": "u8", "i8": "u8", "bool": "u8", "i32": "s32", "i64": "s64"}
OPERATORS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.floordiv, "rem": operator.mod, "ceildiv": lambda a, b: -(-a // b),
             "floordiv": operator.floordiv, "floormod": operator.mod, "min": min, "max": max, "eq": operator.eq, "ne": operator.ne, "lt": operator.lt,
             "le": operator.le, "gt": operator.gt, "ge": operator.ge, "and": lambda *x: all(x), "or": lambda *x: any(x), "not": operator.not_,
             "select": lambda c, a, b: a if c else b, "cast": lambda x: x, "shl": operator.lshift, "shr": operator.rshift}


def reciprocal(op, divisor, bits):
    """What docs/pack.md says of `divfactor`, `divaddend` and `divshift`; as runtime/src/Evaluate.cpp."""
    d = abs(divisor)
    if d == 0:
        return 0
    log2 = d.bit_length() - 1
    down, below = divmod(1 << bits + log2, d)
    is_power, rounds_up = d == 1 << log2, d != 1 << log2 and d - below <= 1 << log2
    factor = (1 << bits) - 1 if is_power else down + rounds_up
    return {"divshift": log2, "divfactor": factor, "divaddend": 0 if rounds_up else factor}[op]


class Host:
    """Evaluates a host program's integer expressions."""

    def __init__(self, kernel, dims, scalars, multiprocessors):
        self.dims, self.lets, self.scalars, self.multiprocessors = dims, {}, scalars, multiprocessors
        self.extents = {a["name"]: [self.value(e) for e in a["extents"]] for a in kernel["arguments"] if a["kind"] == "tensor"}

    def value(self, expression):
        if isinstance(expression, (int, float)):
            return expression
        if expression == "sm_count":
            return self.multiprocessors
        for key, known in (("dim", self.dims), ("let", self.lets), ("arg", self.scalars)):
            if key in expression:
                return known[expression[key]]
        if "extent" in expression:
            return self.extents[expression["extent"][0]][expression["extent"][1]]
        if "stride" in expression:
            return math.prod(self.extents[expression["stride"][0]][expression["stride"][1] + 1:])
        if "aligned" in expression or "present" in expression:
            return True
        if "const" in expression:
            return expression["const"]
        if expression.get("op") in OPERATORS:
            return OPERATORS[expression["op"]](*map(self.value, expression["args"]))
        if expression.get("op") in ("divfactor", "divaddend", "divshift"):
            bits = 64 if expression.get("type") in ("i64", "u64") else 32
            return reciprocal(expression["op"], self.value(expression["args"][0]), bits)
        raise NotImplementedError(json.dumps(expression))


def segment(dtype, count, seed):
    if dtype in ("f16", "f32", "bf16", "f64"):
        return {"real": dtype, "count": count, "seed": seed, "bits": 8 if dtype == "bf16" else 11, "shift": -6 if dtype == "bf16" else -9}
    if dtype == "e4m3":
        return {"random": count, "width": 1, "seed": seed, "and": 0xBF}
    return {"random": count, "width": SIZES[dtype], "seed": seed}


def buffer_of(argument, host, seed):
    count = math.prod(host.extents[argument["name"]])
    size = count * SIZES[argument["dtype"]]
    if argument["direction"] == "out":
        return {"bytes": size}
    return {"input": [segment(argument["dtype"], count, seed)], "result": argument["direction"] == "inout"}


def map_of(recipe, host):
    return {"map": {"of": recipe.get("tensor", recipe.get("workspace")), "offset": host.value(recipe.get("offset", 0)), "type": MAP_TYPES.get(recipe["dtype"], recipe["dtype"]),
                    "dims": [host.value(d) for d in recipe["dims"]], "strides": [host.value(s) for s in recipe["strides"]], "box": recipe["box"],
                    "element_strides": recipe.get("element_strides", [1] * len(recipe["dims"])), "swizzle": recipe["swizzle"], "nan_fill": recipe["oob"] == "nan"}}


def parameter_of(parameter, variant, host):
    if "tensor_map" in parameter:
        return map_of(variant["tensor_maps"][parameter["tensor_map"]], host)
    if "expr" in parameter:
        kind = {"i32": "u32", "u32": "u32", "i64": "u64", "u64": "u64", "f32": "f32", "bool": "u8"}[parameter["type"]]
        return {kind: int(host.value(parameter["expr"])) if kind == "u8" else host.value(parameter["expr"])}
    if "check" in parameter:
        sys.exit("a pack that was compiled with --check cannot be described: its kernels take the runtime's record of failures")
    if "print" in parameter:
        sys.exit("a pack whose kernels print cannot be described: they take the runtime's buffer of messages")
    return parameter.get("tensor") or parameter["workspace"]


def launch_of(launch, variant, host):
    points = math.prod(host.value(extent) for extent in launch["grid"])
    cluster = math.prod(variant.get("cluster") or [1])
    kind = variant["blocks"]["kind"]
    if kind == "explicit":
        grid = [host.value(extent) for extent in variant["blocks"]["extents"]]
    else:
        limit = variant["blocks"]["blocks_per_sm"] * host.multiprocessors if kind == "persistent" else points
        grid = -(-min(points, limit) // cluster) * cluster
    return {"entry": variant["entry"], "grid": grid, "block": variant["block"], "cluster": variant.get("cluster") or 1, "shared": variant["shared_bytes"],
            "params": [parameter_of(p, variant, host) for p in variant["params"]]}


def run_host(statements, host, buffers):
    """The launches that a call makes; workspaces join the buffers."""
    launches = []
    for statement in statements:
        (key, value), = statement.items()
        if key == "let":
            host.lets[value["name"]] = host.value(value["expr"])
        elif key == "workspace":
            buffers[value["name"]] = {"bytes": math.prod(map(host.value, value["extents"])) * SIZES[value["dtype"]], "result": False}
            if value["init"] == 0:
                buffers[value["name"]]["fill"] = 0
        elif key == "if":
            launches += run_host(value["then"] if host.value(value["cond"]) else value.get("else", []), host, buffers)
        elif key == "launch":
            launches.append(value)
        else:
            raise NotImplementedError(key)
    return launches


def eligible(launch, host):
    return [variant for variant in launch["variants"] if "guard" not in variant or host.value(variant["guard"])]


def describe(kernel, dims, scalars, multiprocessors):
    """[(variant, modules of its launches, description)]"""
    fixed = {d["name"]: d["value"] for d in kernel["dims"] if d.get("value") is not None}
    kinds = [a["dtype"] for a in kernel["arguments"] if a["kind"] == "tensor" and a["direction"] != "in"]
    tolerance = {"f16": "2e-3 2e-2", "bf16": "1.6e-2 1e-1", "f32": "1e-4 1e-2"}.get(kinds[0])
    for configuration in kernel["configurations"]:
        host = Host(kernel, dims | fixed, scalars, multiprocessors)
        buffers = {a["name"]: buffer_of(a, host, i + 1) for i, a in enumerate(kernel["arguments"]) if a["kind"] == "tensor"}
        launches = run_host(configuration["host"], host, buffers)
        sizes = ", ".join(f"{name} = {value}" for name, value in sorted((host.dims | scalars).items()))
        for variant in eligible(launches[0], host):
            others = [eligible(launch, host)[0] for launch in launches[1:]]
            yield variant["name"], list(dict.fromkeys(v["module"] for v in (variant, *others))), {
                "what": f"{kernel['symbol']}, {sizes}", "compare": f"close {tolerance} {kinds[0]}" if tolerance else "exact", "buffers": buffers,
                "launches": [launch_of(launch, chosen, host) for launch, chosen in zip(launches, [variant, *others])]}


HEAD = (".version", ".target", ".address_size", ".extern .shared")


def ptx_of(manifest, body, modules):
    """One program of the launches' modules: what their heads say alike stands once."""
    texts = []
    for module in modules:
        ptx = manifest["modules"][module].get("ptx")
        if not ptx:
            sys.exit(f"module {module} has no PTX")
        text = body[ptx["offset"]:ptx["offset"] + ptx["bytes"]].rstrip(b"\0").decode()
        known = texts[0].splitlines() if texts else []
        texts.append("".join(line for line in text.splitlines(keepends=True) if not (line.startswith(HEAD) and line.rstrip("\n") in known)))
    return "\n".join(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", type=pathlib.Path)
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--dim", action="append", default=[], help="NAME=VALUE")
    parser.add_argument("--arg", action="append", default=[], help="NAME=VALUE: a number that the kernel takes")
    parser.add_argument("--kernel", help="only this one")
    parser.add_argument("--more", metavar="NAME", help="another launch of programs that are there: writes SYMBOL.VARIANT+NAME.json alone")
    parser.add_argument("--multiprocessors", type=int, default=2, help="how many a persistent kernel may use")
    args = parser.parse_args()
    manifest, body = pack_tool.split(args.pack.read_bytes())
    dims, scalars = ({name: float(value) if "." in value else int(value) for name, value in (text.split("=") for text in given)} for given in (args.dim, args.arg))
    args.dir.mkdir(parents=True, exist_ok=True)
    for kernel in manifest["kernels"]:
        if args.kernel and kernel["symbol"] != args.kernel:
            continue
        for variant, modules, description in describe(kernel, dims, scalars, args.multiprocessors):
            name = f"{kernel['symbol']}.{variant}.{manifest['modules'][modules[0]]['arch']}"
            program = args.dir / f"{name}.ptx"
            if not args.more:
                program.write_text(ptx_of(manifest, body, modules))
            elif not program.exists():
                continue
            (args.dir / (f"{name}+{args.more}.json" if args.more else f"{name}.json")).write_text(json.dumps(description, indent=1) + "\n")
            print(name)


if __name__ == "__main__":
    main()
