"""Compiles what is run on a GPU machine, and writes what to do there: plan.json."""
import concurrent.futures
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILD = ROOT / "build"
KEPT = ROOT / "test/gpu/acceptance.json"  # results.json of the last run
SYMBOL = "tested"  # of the kernel in a pack

sys.path.insert(0, str(HERE.parent))

import describe_pack  # noqa: E402
import pack_tool  # noqa: E402

import cases  # noqa: E402
import timed  # noqa: E402


def digest(*texts):
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


class Packs:
    """The packs of a folder: an instance of a kernel each. What an earlier call made is used again if compiler and kernels are the same."""

    def __init__(self, folder):
        self.folder, self.wanted, self.problems = folder / "packs", {}, {}
        sources = sorted([*(ROOT / "kernels").glob("*/*.tile"), *(ROOT / "kernels" / cases.ATOMICS).glob("*.tile")])
        made_by = digest(*(hashlib.sha256(path.read_bytes()).hexdigest() for path in (BUILD / "bin/tilec", *sources)))
        mark = self.folder / "made-by"
        if not mark.exists() or mark.read_text() != made_by:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            mark.write_text(made_by)

    def add(self, file, kernel, params, arch):
        """The name of a pack, which compile() makes. `file` is where it lies from the kernels' folder."""
        instance = ", ".join(name if value is None else f"{name} = {value}" for name, value in params.items())
        name = f"{kernel}-{digest(str(file), instance, arch)}.pack"
        entry = f"{kernel}{f'<{instance}>' if instance else ''} as {SYMBOL}"
        self.wanted[name] = [str(ROOT / "kernels" / file), f"--arch={arch}", "--kernel", SYMBOL, "--instantiate", entry]
        return name

    def make(self, name):
        path, rest = self.folder / name, self.folder / f"{name}.part.pack"
        if path.exists():
            return
        done = subprocess.run([BUILD / "bin/tilec", *self.wanted[name], "-o", rest], capture_output=True, text=True)
        if done.returncode == 0:
            rest.rename(path)
        else:
            self.problems[name] = next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr.strip() or f"tilec ends with {done.returncode}")

    def compile(self, jobs):
        for old in self.folder.glob("*.pack"):
            if old.name not in self.wanted:
                old.unlink()
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(self.make, self.wanted))

    def manifest(self, name):
        """The entry of the kernel, and a digest of the whole pack."""
        data = (self.folder / name).read_bytes()
        return pack_tool.split(data)[0]["kernels"][0], hashlib.sha256(data).hexdigest()


def listed(*arguments):
    """Cases as tilec reads them off kernel files."""
    done = subprocess.run([BUILD / "bin/tilec", "test", "--list", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def all_cases(only, per_line):
    """Those of the kernels' own lines, of cases.LINES and of cases.STRIDED, each once."""
    found = listed(*sorted(str(path.relative_to(ROOT)) for path in (ROOT / "kernels").glob("*/*.tile")), "--per-line", str(per_line)) if per_line else []
    for file, kernel, lines in cases.LINES:
        if only in kernel:
            options = [option for line in lines for option in ("--line", f"[{kernel}] test: {line}")]
            found += listed(f"kernels/{file}", "--kernel", kernel, *options)
    for file, kernel, line, strides in cases.STRIDED:
        if only in kernel:
            case = listed(f"kernels/{file}", "--kernel", kernel, "--line", f"[{kernel}] test: {line}")[0]
            shown = "; ".join(f"{name} with strides {', '.join(map(str, given))}" for name, given in strides.items())
            found.append({**case, "case": f"{case['case']}, {shown}", "strides": strides})
    unique = {f"{case['kernel']}: {case['case']}": case for case in found if only in case["kernel"]}
    return list(unique.items())


def text_of(value):
    """A scalar as tile-run takes it."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def arguments_of(entry, dims, scalars):
    extents = describe_pack.Host(entry, dims, scalars, 1).extents
    return [
        {"name": a["name"], "dtype": a["dtype"], "direction": a["direction"], "optional": a.get("optional", False), "extents": extents[a["name"]]}
        for a in entry["arguments"]
        if a["kind"] == "tensor"
    ]


def with_key(record, pack_digest):
    return {"key": digest(json.dumps(record, sort_keys=True), pack_digest), **record}


def reference_case(name, case, pack, packs, arch):
    """A case whose reference is a numpy function, called there."""
    entry, pack_digest = packs.manifest(pack)
    folder = pathlib.Path(case["file"]).parent
    open_dims = {d["name"] for d in entry["dims"] if d.get("value") is None}
    record = {
        "id": f"{name} ({arch})",
        "kind": "reference",
        "pack": pack,
        "reference": f"{folder}/{case['reference']}",
        "inputs": f"{folder}/{case['inputs']}" if case["inputs"] else "",
        "values": {**case["parameters"], **case["dimensions"], **case["scalars"]},
        "dims": {n: v for n, v in case["dimensions"].items() if n in open_dims},
        "scalars": {n: text_of(v) for n, v in case["scalars"].items()},
        "tensors": case["tensors"],
        "arguments": arguments_of(entry, case["dimensions"], case["scalars"]),
        "tolerances": case["tolerances"],
        "strides": case.get("strides", {}),
    }
    return with_key(record, pack_digest)


def options_of(dims, args):
    return [x for kind, given in (("--dim", dims), ("--arg", args)) for name, value in given.items() for x in (kind, f"{name}={value}")]


def cpu_case(number, folder, pack, packs):
    """A case whose expected results the cpu target computes here, of inputs that tile-run draws in the same way there."""
    file, kernel, params, dims, args, outputs, tolerance = cases.ON_CPU[number]
    files = {name: f"expected/{number}_{name}.npy" for name in outputs}
    given = [x for k, v in params.items() for x in ("-P", f"{k}={v}")]
    command = [BUILD / "bin/tilec", "run", ROOT / "kernels" / file, "--kernel", kernel, *given, "--on=cpu", *options_of(dims, args)]
    (folder / "expected").mkdir(exist_ok=True)
    subprocess.run([*command, *(x for n, f in files.items() for x in ("--out", f"{n}={folder / f}"))], check=True, stdout=subprocess.DEVNULL)
    name = f"{kernel}: " + ", ".join(f"{k} = {v}" for k, v in {**params, **dims}.items())
    record = {"id": name, "kind": "cpu", "pack": pack, "options": options_of(dims, args), "expect": files, "tolerance": tolerance}
    return with_key(record, packs.manifest(pack)[1])


def bench_of(entry, pack, packs):
    name, _, kernel, params, dims, args, torch = entry
    arrays = {n: v for n, v in args.items() if isinstance(v, list)}
    shape = ", ".join(f"{k} = {v}" for k, v in dims.items())
    record = {"id": f"{name}: {shape}", "kind": "bench", "name": name, "pack": pack, "kernel": kernel, "params": params, "dims": dims, "arrays": arrays, "torch": torch}
    record["options"] = options_of(dims, {n: v for n, v in args.items() if n not in arrays})
    return with_key(record, packs.manifest(pack)[1])


def copy_tools(folder):
    """What runs there: this folder, the references, tile-run; and what the last run found."""
    for source, pattern, target in ((HERE, "*.py", "acceptance"), (ROOT / "kernels", "**/*.py", "kernels")):
        for path in source.glob(pattern):
            place = folder / target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
    for file in ("bin/tile-run", "lib/libtile_rt.so"):
        shutil.copy(BUILD / file, folder)
    if KEPT.exists():
        shutil.copy(KEPT, folder / "baseline.json")


def report(problems, refused):
    for name, text in problems.items():
        print(f"not compiled: {name}: {text}")
    for name in refused:
        print(f"refused: {name}")


def prepare(folder, only, per_line, archs, jobs, bench=True):
    """Fills the folder. Returns how many packs could not be made."""
    folder.mkdir(parents=True, exist_ok=True)
    packs = Packs(folder)
    chosen = [(name, case, arch) for arch in archs for name, case in all_cases(only, per_line)]
    on_cpu = [i for i, case in enumerate(cases.ON_CPU) if only in case[1]]
    benches = [entry for entry in timed.BENCH if bench and only in entry[2]]
    names = [packs.add(pathlib.Path(case["file"]).relative_to("kernels"), case["kernel"], case["given"], arch) for _, case, arch in chosen]
    cpu_names = [packs.add(*cases.ON_CPU[i][:3], archs[0]) for i in on_cpu]
    bench_names = [packs.add(*entry[1:4], archs[0]) for entry in benches]
    load = packs.add("../tools/dev/load_only.tile", "load_only", {}, archs[0])
    packs.compile(jobs)
    refused = {name for name, text in packs.problems.items() if "[not-supported]" in text or "[nothing-for-target]" in text}
    problems = {name: text for name, text in packs.problems.items() if name not in refused}
    plan = [reference_case(name, case, pack, packs, arch) for (name, case, arch), pack in zip(chosen, names) if pack not in packs.problems]
    plan += [cpu_case(i, folder, pack, packs) for i, pack in zip(on_cpu, cpu_names) if pack not in packs.problems]
    plan += [bench_of(entry, pack, packs) for entry, pack in zip(benches, bench_names) if pack not in packs.problems]
    (folder / "plan.json").write_text(json.dumps({"load_only": load, "problems": problems, "plan": plan}))
    copy_tools(folder)
    report(problems, refused)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{sum(1 for record in plan if record['kind'] != 'bench')} cases, {len(benches)} to time, {len(packs.wanted)} packs, {size >> 20} MiB in {folder}")
    return len(problems)
