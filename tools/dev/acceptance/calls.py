"""One case on the machine with the GPU: draws inputs, asks the reference, runs tile-run, compares."""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zlib

import numpy as np

PLAIN = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u64": "u8", "u32": "u4", "u16": "u2", "u8": "u1", "bool": "?"}
FLOATS = {"f64", "f32", "f16", "bf16", "e4m3", "e5m2"}
# Accepted errors of outputs whose type the kernel's `tolerance` line does not name: those of runtime/harness/Compare.cpp.
TOLERANCES = {"f64": 1e-12, "f32": 1e-4, "f16": 1e-3, "bf16": 5e-3, "e4m3": 4e-2, "e5m2": 8e-2}


def function(folder, place):
    """kernels/gemm/reference.py:gemm."""
    path, name = place.rsplit(":", 1)
    spec = importlib.util.spec_from_file_location("reference", folder / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def support(folder):
    sys.path.insert(0, str(folder / "kernels"))
    import reference_support

    return reference_support


def numbers(text):
    return [float(x) for x in text[text.index("(") + 1 : text.rindex(")")].split(",")]


def draw(random, how, dtype, shape):
    """Values from `normal`, `normal(mean, deviation)`, `uniform(a, b)`, `integers(a, b)` or a number, as tile-run draws them."""
    kind = how.split("(")[0]
    bounds = numbers(how) if "(" in how else [0, 1]
    if kind == "normal":
        return bounds[0] + bounds[1] * random.standard_normal(shape, np.float32)
    if kind == "uniform":
        return bounds[0] + (bounds[1] - bounds[0]) * random.random(shape, np.float32)
    if kind == "integers":
        return random.integers(int(bounds[0]), int(bounds[1]), shape, endpoint=True)
    return np.full(shape, float(how))


def default_draw(dtype):
    return "normal" if dtype in FLOATS else {"bool": "integers(0,1)", "u4": "integers(0,15)"}.get(dtype, "integers(0,7)")


def encode(kernels, values, dtype):
    return np.asarray(values).astype(PLAIN[dtype]) if dtype in PLAIN else kernels.encode(values, dtype)


def decode(kernels, array, dtype):
    return array if dtype in PLAIN else kernels.decode(array, dtype)


def compare(out, expected, tolerance):
    """(error, what is wrong or ''): ||out - expected|| / ||expected||; infinities must be equal, NaN never passes."""
    if out.shape != expected.shape:
        return float("inf"), f"the shape is {out.shape}, not {expected.shape}"
    if tolerance == 0 and out.dtype.kind in "iub" and expected.dtype.kind in "iub":
        wrong = out != expected
        return float(wrong.any()), f"{wrong.sum()} of {out.size} differ, first at {np.argwhere(wrong)[0].tolist()}" if wrong.any() else ""
    a, b = out.astype(np.float64), expected.astype(np.float64)
    same = np.isinf(a) & (a == b)
    bad = ~(np.isfinite(a) & np.isfinite(b)) & ~same
    if bad.any():
        at = tuple(np.argwhere(bad)[0])
        return float("inf"), f"{bad.sum()} of {a.size} NaN or infinite, first at {[int(i) for i in at]}: {a[at]}, expected {b[at]}"
    a, b = np.where(same, 0, a), np.where(same, 0, b)
    norm, distance = np.linalg.norm(b), np.linalg.norm(a - b)
    error = float(distance / norm if norm > 0 else distance)
    if error <= tolerance:
        return error, ""
    at = np.unravel_index(np.argmax(np.abs(a - b)), a.shape)
    return error, f"error {error:.3g} (tolerance {tolerance:g}), worst at {[int(i) for i in at]}: {a[at]:.6g}, expected {b[at]:.6g}"


def make_inputs(folder, case, kernels):
    """Arrays by name; None for an optional tensor that is absent."""
    random = np.random.default_rng(zlib.crc32(case["id"].encode()))
    drawn = function(folder, case["inputs"])(random, **case["values"]) if case["inputs"] else {}
    inputs = {}
    for argument in case["arguments"]:
        name, dtype = argument["name"], argument["dtype"]
        how = case["tensors"].get(name, "")
        if how == "none":
            inputs[name] = None
        elif name in drawn:
            inputs[name] = drawn[name]
        elif argument["direction"] != "out":
            inputs[name] = encode(kernels, draw(random, how or default_draw(dtype), dtype, argument["extents"]), dtype)
        if case["strides"].get(name, (1,))[0] == 0:  # one matrix for the whole batch
            inputs[name][:] = inputs[name][:1]
    return inputs


def tile_run(folder, pack, arguments, on, limit=None):
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    done = subprocess.run([folder / "tile-run", folder / "packs" / pack, f"--on={on}", *arguments], capture_output=True, text=True, env=environment, timeout=limit)
    return done.returncode, (done.stdout + done.stderr).strip()


def state_of(status):
    """Of a run that failed (docs/runtime.md)."""
    return "no GPU" if status == 3 else "wrong"


def with_reference(folder, case, on, scratch):
    kernels = support(folder)
    inputs = make_inputs(folder, case, kernels)
    arguments = ["--twice", "--no-print"]
    for name, array in inputs.items():
        if array is not None:
            np.save(scratch / f"{name}.npy", array)
    outputs = [a for a in case["arguments"] if a["direction"] != "in" and inputs.get(a["name"], 0) is not None]
    for kind, given in (("--dim", case["dims"]), ("--arg", case["scalars"])):
        arguments += [x for name, value in given.items() for x in (kind, f"{name}={value}")]
    arguments += [x for name, given in case["strides"].items() for x in ("--pitch", f"{name}=" + ",".join(map(str, given)))]
    for name, array in inputs.items():
        arguments += ["--arg", f"{name}={'none' if array is None else scratch / f'{name}.npy'}"]
    for output in outputs:
        name = output["name"]
        arguments += ["--out", f"{name}={scratch / f'{name}.out.npy'}"]
        if name not in inputs and output["optional"]:
            arguments += ["--arg", f"{name}=poison"]
    status, text = tile_run(folder, case["pack"], arguments, on)
    if status != 0:
        return {"state": state_of(status), "text": text}
    expected = function(folder, case["reference"])(**inputs, **case["values"])
    worst, wrong = 0.0, []
    for output in outputs:
        name, dtype = output["name"], output["dtype"]
        out = decode(kernels, np.load(scratch / f"{name}.out.npy"), dtype)
        error, problem = compare(out, np.asarray(expected[name]), case["tolerances"].get(dtype, TOLERANCES.get(dtype, 0)))
        worst = max(worst, error)
        wrong += [f"{name}: {problem}"] if problem else []
    return {"state": "wrong", "error": worst, "text": "; ".join(wrong)} if wrong else {"state": "right", "error": float(f"{worst:.3g}")}


def with_files(folder, case, on):
    arguments = [*case["options"], "--tolerance", str(case["tolerance"]), "--twice", "--no-print"]
    for name, file in case["expect"].items():
        arguments += ["--expect", f"{name}={folder / file}"]
    status, text = tile_run(folder, case["pack"], arguments, on)
    return {"state": "right"} if status == 0 else {"state": state_of(status), "text": text}


def memory():
    """The file system in memory if it is there and has room for the largest cases; containers may have one of 64 MiB."""
    shared = pathlib.Path("/dev/shm")
    return shared if os.access(shared, os.W_OK) and shutil.disk_usage(shared).free > 16 << 30 else None


def call(folder, key, on):
    """Prints the result of a case as JSON."""
    case = next(c for c in json.loads((folder / "plan.json").read_text())["plan"] if c["key"] == key)
    with tempfile.TemporaryDirectory() as scratch:  # in that of `run`
        result = with_files(folder, case, on) if case["kind"] == "cpu" else with_reference(folder, case, on, pathlib.Path(scratch))
    print(json.dumps(result))
