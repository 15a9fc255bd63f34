#!/usr/bin/env python3
"""Compares what the cost model predicts with what has been measured on an H200.

    predicted_costs.py [--tilec TILEC] [--only WORD] [--check]

Prints predicted and measured microseconds of each row of test/gpu/acceptance.json and of products with other tiles (PRODUCTS), with what
bounds the launch; then what it would choose among 24 tiles of gemm at 70 shapes, and how much slower than the best of them that was
(test/gpu/choices.json, made by gpu_choices.py). --check fails where rows that the model is held to are further off than it may be: products of matrices 15 %, kernels that
memory bounds 20 %, and where of two tiles for one product the slower one is predicted to be the faster, although they differ by more than 8 %.
"""
import argparse
import itertools
import json
import math
import pathlib
import subprocess
import sys

TOOLS = pathlib.Path(__file__).resolve().parent
sys.path += [str(TOOLS), str(TOOLS / "acceptance")]
import describe_pack  # noqa: E402
import gpu_choices  # noqa: E402
import timed  # noqa: E402

TREE = TOOLS.parents[1]
MULTIPROCESSORS = 132
TILE_64x128 = {"BM": 64, "BN": 128, "STAGES": 6, "THREADS": 128}
TILE_128x128 = {"BM": 128, "BN": 128, "STAGES": 4, "THREADS": 256}
TILE_128x192 = {"BM": 128, "BN": 192, "STAGES": 4, "THREADS": 256}
TILE_128x256 = {"BM": 128, "BN": 256, "STAGES": 4, "THREADS": 256}
# f16, nn, microseconds: of the run of gpu_choices.py on an H200 that test/gpu/choices.json is.
PRODUCTS = {
    (1024, 1024, 1024): [(TILE_64x128, 9.5), (TILE_128x256, 16.2)],
    (2048, 2048, 2048): [(TILE_128x256, 28.2), (TILE_128x128, 30.6), (TILE_128x192, 38.4)],
    (4096, 4096, 4096): [(TILE_128x256, 189.6), (TILE_128x128, 209.0), (TILE_128x192, 212.2)],
    (8192, 8192, 8192): [(TILE_128x256, 1641), (TILE_128x192, 1621), (TILE_128x128, 1714)],
    (4096, 28672, 4096): [(TILE_128x256, 1446), (TILE_128x128, 1520), (TILE_128x192, 1456)],
    (128, 7168, 16384): [(TILE_64x128, 76.4), (TILE_128x256, 162.1)],
}
LEAST_MEAN = 0.97  # of the best tile's time / the chosen one's; a regression, not a goal
# Rows of test/gpu/acceptance.json that memory bounds.
BY_MEMORY = ("layernorm", "softmax", "rmsnorm", "map_gelu", "gemv", "transpose")
FLOAT = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b if b else math.inf,
         "min": min, "max": max, "ceil": math.ceil, "floor": math.floor, "log2": lambda x: math.log2(x) if x > 0 else -math.inf,
         "select": lambda c, a, b: a if c else b, "cast": float}


class Host(describe_pack.Host):
    """Floats, too."""

    def value(self, expression):
        if isinstance(expression, dict) and expression.get("type") == "f64" and expression.get("op") in FLOAT:
            return float(FLOAT[expression["op"]](*map(self.value, expression["args"])))
        if isinstance(expression, dict) and "stride" in expression:
            name, axis = expression["stride"]
            return math.prod(self.extents[name][axis + 1:])
        if isinstance(expression, dict) and "present" in expression:
            return self.scalars.get(expression["present"]) != "none"
        return super().value(expression)


def manifest_of(tilec, file, kernel, parameters):
    given = ", ".join(name if value is None else f"{name} = {value}" for name, value in parameters.items())  # `auto` has none
    entry = f"{kernel}<{given}> as timed" if given else f"{kernel} as timed"
    command = [tilec, str(TREE / "kernels" / file), "--arch=sm_90a", "--emit=manifest", "-o", "-", "--kernel", "timed", "--instantiate", entry]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


def cost_of(variant, host):
    for let in variant.get("lets", []):
        host.lets[let["name"]] = host.value(let["expr"])
    return host.value(variant["cost"])


def predict(manifest, dims, arguments):
    """Seconds of a call: of the configurations that take it the cheapest, of each launch the cheapest variant that fits."""
    kernel = manifest["kernels"][0]
    fixed = {d["name"]: d["value"] for d in kernel["dims"] if d.get("value") is not None}
    scalars = {name: number(value) for name, value in {**dims, **arguments}.items()}
    totals = []
    for configuration in kernel["configurations"]:
        host = Host(kernel, {**dims, **fixed}, scalars, MULTIPROCESSORS)
        fitting = [describe_pack.eligible(launch, host) for launch in describe_pack.run_host(configuration["host"], host, {})]
        if all(fitting):
            totals.append(sum(min(cost_of(variant, host) for variant in variants) for variants in fitting))
    return min(totals)


def rows(only):
    """(group, name, file, kernel, parameters, dimensions, arguments, measured us)"""
    measured = {row["id"]: row["ours"]["us"] for row in json.loads((TREE / "test/gpu/acceptance.json").read_text())["bench"]}
    for (m, n, k), tiles in PRODUCTS.items():
        for tile, us in tiles:
            yield "product", f"gemm, {tile['BM']}x{tile['BN']}: {m} x {n} x {k}", timed.GEMM, "gemm", tile, {"M": m, "N": n, "K": k}, {}, us
    for name, file, kernel, parameters, dims, arguments, _ in timed.BENCH:
        id = f"{name}: " + ", ".join(f"{key} = {value}" for key, value in dims.items())
        plain = name.split(",")[0]
        group = "memory" if plain in BY_MEMORY else "product" if name == "gemm" else "other"
        if id in measured:
            yield group, id, file, kernel, parameters, dims, arguments, measured[id]


def check_choices(tilec):
    """What is wrong with the choices among tiles, over all shapes."""
    manifests = [manifest_of(tilec, timed.GEMM, "gemm", dict(zip(gpu_choices.PARAMETERS, values))) for values in gpu_choices.CANDIDATES]
    ratios = []
    for row in json.loads((TREE / "test/gpu/choices.json").read_text()):
        dims = dict(zip("MNK", row["shape"]))
        measured = [row["us"][f"c{i}"] for i in range(len(manifests))]
        costs = [predict(manifest, dims, {}) * 1e6 for manifest in manifests]
        taken, best = costs.index(min(costs)), measured.index(min(measured))
        ratios.append(measured[best] / measured[taken])
        print(f"choice   {' x '.join(map(str, row['shape'])):24} {gpu_choices.CANDIDATES[taken]}: {costs[taken]:.1f} us, measured {measured[taken]:.1f}; "
              f"best {gpu_choices.CANDIDATES[best]}: {costs[best]:.1f}, measured {measured[best]:.1f}: {ratios[-1]:.2f}", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"choice   best / chosen: {mean:.3f} (geometric mean), {min(ratios):.2f} at worst, {sum(r >= 0.95 for r in ratios)} of {len(ratios)} within 5 %")
    return [] if mean >= LEAST_MEAN else [f"choices among tiles are worse than they were: {mean:.3f}, not {LEAST_MEAN}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilec", default=str(TREE / "build/bin/tilec"))
    parser.add_argument("--only", default="", help="rows whose name has this word")
    parser.add_argument("--check", action="store_true", help="fail where the model is further off than it may be")
    args = parser.parse_args()
    manifests, failures, products = {}, [], {}
    allowed = {"product": 0.15, "memory": 0.20}
    for group, name, file, kernel, parameters, dims, arguments, us in rows(args.only):
        if args.only not in name or (args.check and group not in allowed):
            continue
        key = (file, kernel, tuple(sorted(parameters.items())))
        if key not in manifests:
            manifests[key] = manifest_of(args.tilec, file, kernel, parameters)
        predicted = predict(manifests[key], dims, arguments) * 1e6
        print(f"{group:8} {name:70} {predicted:9.1f} us, measured {us:8.1f}: {predicted / us:5.2f}", flush=True)
        if abs(predicted / us - 1) > allowed.get(group, math.inf):
            failures.append(f"{name}: predicted {predicted:.1f} us, measured {us}")
        if name.startswith("gemm, ") and group == "product":
            products.setdefault(tuple(dims.values()), []).append((name, predicted, us))
    for tiles in products.values():
        for (name, predicted, us), (other, otherPredicted, otherUs) in itertools.permutations(tiles, 2):
            if us * 1.08 < otherUs and predicted >= otherPredicted:
                failures.append(f"{name} is faster than {other}, which is predicted to be")
    if not args.only:
        failures += check_choices(args.tilec)
    if args.check and failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
