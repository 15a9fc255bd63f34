"""Programs in files: a header of comments says how to run them, and what must come of it.

    // what goes wrong, or went wrong once
    // run: seed=39 call=0 K=96 alpha=2 A=in:f16[64,96]:normal C=inout:f32[64,64]:small Y=out:f32[64,64]
    // compile: --check --random-schedules=7
    // tolerance: 0.01
    // expects: ok

What follows `compile` are options of the compilation. With `tolerance` outputs of floats are compared as a whole, by ||out - ref|| / ||ref||. Both lines may be missing. Words after `expects`: `ok`, the default: cpu and both architectures agree, nothing is reported. `report WORDS`, `refused WORDS`,
`cpu error WORDS`: something with these words has to be among what is wrong, and nothing else. `open WHY`: it fails, and is known to;
once it no longer does, the line has to go.

A line `run` is a call: dimensions and scalars by value, tensors by direction, type, extents and data (formats and kinds of data.py), a
tensor whose rows lie further apart by `:pitch72` at the end, one that is another tensor by `Y=same:X` besides. There may be several.
"""
import os
import re
from dataclasses import dataclass, field

import numpy as np

from . import data
from .formats import FORMATS, decode, encode
from .run import ARCHITECTURES, RUN_SECONDS, STEP_BUDGET, Outcome, compile_for, poison

# Of outputs of the emulator against cpu: sums are in another order, and e4m3 and e5m2 sum in 14 bits.
TOLERANCE = {"f64": 1e-11, "f32": 2e-4, "f16": 4e-3, "bf16": 3e-2, "e4m3": 0.2, "e5m2": 0.4, "e2m1": 0.5}


@dataclass
class Argument:
    direction: str
    format: str
    extents: tuple
    kind: str
    pitch: int = 0  # elements from row to row


@dataclass
class Run:
    seed: str = "0"
    call: int = 0
    values: dict = field(default_factory=dict)  # dimensions and scalars
    tensors: dict = field(default_factory=dict)
    same: dict = field(default_factory=dict)

    def text(self):
        parts = [f"seed={self.seed}", f"call={self.call}"] + [f"{k}={v}" for k, v in self.values.items()]
        for name, a in self.tensors.items():
            kind = (f":{a.kind}" if a.direction != "out" else "") + (f":pitch{a.pitch}" if a.pitch else "")
            parts.append(f"{name}={a.direction}:{a.format}[{','.join(map(str, a.extents))}]{kind}")
        return " ".join(parts + [f"{k}=same:{v}" for k, v in self.same.items()])


def read_run(text):
    run = Run()
    for word in text.split():
        name, value = word.split("=", 1)
        if name == "seed":
            run.seed = value
        elif name == "call":
            run.call = int(value)
        elif value.startswith("same:"):
            run.same[name] = value[5:]
        elif found := re.fullmatch(r"(in|out|inout):(\w+)\[([\d,]*)\](?::(?!pitch)(\w+))?(?::pitch(\d+))?", value):
            extents = tuple(int(e) for e in found[3].split(",") if e)
            run.tensors[name] = Argument(found[1], found[2], extents, found[4] or "small", int(found[5] or 0))
        else:
            run.values[name] = value
    return run


@dataclass
class Case:
    path: str
    runs: list
    expects: list
    options: list = field(default_factory=list)  # of the compilation
    tolerance: float = 0.0  # of outputs as a whole; 0: of each element, by its type


def read_case(path):
    runs, expects, options, tolerance = [], [], [], 0.0
    with open(path) as file:
        for line in file:
            if not line.startswith("//"):
                break
            if found := re.match(r"// run: (.*)", line):
                runs.append(read_run(found[1]))
            elif found := re.match(r"// expects: (.*)", line):
                expects = found[1].split()
            elif found := re.match(r"// compile: (.*)", line):
                options = found[1].split()
            elif found := re.match(r"// tolerance: (.*)", line):
                tolerance = float(found[1])
    return Case(path, runs, expects, options, tolerance)


def write_case(path, program, seed, extents, failure):
    """The file of a program that failed; `extents` are those of each call's tensors."""
    lines = [f"// {failure.kind}: {' '.join(failure.detail.split())[:300]}"]
    for number, dims in enumerate(program.calls):
        run = Run(str(seed), number, {k: v for k, v in dims.items() if k not in program.fixed}, {}, {})
        for a in program.arguments:
            if hasattr(a, "value"):
                run.values[a.name] = a.value
            elif a.absent:
                run.values[a.name] = "none"
            else:
                if a.same:
                    run.same[a.name] = a.same
                run.tensors[a.name] = Argument(a.direction or "in", a.format, extents[number][a.name], a.data)
                if a.strided and a.padding:
                    run.tensors[a.name].pitch = extents[number][a.name][-1] + a.padding
        lines.append("// run: " + run.text())
    if options := program.compile_options():
        lines.append("// compile: " + " ".join(options))
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n" + program.text())


def _options(run, folder, outputs, tag):
    """Options of a call; writes its inputs. Names of dimensions begin with a capital, those of scalars do not."""
    options = []
    for name, value in run.values.items():
        options += ["--dim" if name[0].isupper() and value != "none" else "--arg", f"{name}={value}"]
    for name, a in run.tensors.items():
        fmt, file = FORMATS[a.format], f"{name}.{run.call}.npy"
        if a.direction == "out":
            array = poison(fmt, a.extents)
        else:
            array = encode(fmt, data.draw(data.generator(run.seed, run.call, name), fmt, a.kind, a.extents))
        np.save(os.path.join(folder, file), array)
        options += ["--arg", f"{name}={file}"]
        if a.pitch:
            options += ["--pitch", f"{name}={a.pitch}"]
        if name in run.same:
            options[-1] = f"{name}=same({run.same[name]})"
        if a.direction != "in":
            options += ["--out", f"{name}={name}.{tag}.npy"]
            outputs.append(name)
    return options


def differs(fmt, got, reference, tolerance):
    """What is wrong with an output of the emulator, or None."""
    a, b = decode(fmt, got), decode(fmt, reference)
    if fmt.is_float and tolerance:
        error = np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-30)
        return None if error <= tolerance else f"relative error {error:.2e}"
    if not fmt.is_float:
        bad = a != b
    else:
        with np.errstate(all="ignore"):
            finite = b[np.isfinite(b)]
            scale = np.sqrt(np.mean(finite**2)) if finite.size else 0.0
            close = np.abs(a - b) <= TOLERANCE[fmt.name] * (np.abs(b) + scale)
            bad = ~(close | (a == b) | (np.isnan(a) & np.isnan(b)))
    if not bad.any():
        return None
    at = tuple(np.argwhere(bad)[0])
    return f"{int(bad.sum())} of {bad.size} elements differ; at {list(map(int, at))}: {a[at]}, on cpu {b[at]}"


def replay(tools, path, folder, schedules=2):
    """Runs a file. What it gives is held against what its header expects."""
    case, outcome = read_case(path), Outcome()
    os.makedirs(folder, exist_ok=True)
    with open(path) as source, open(os.path.join(folder, "k.tile"), "w") as target:
        target.write(source.read())
    references = _on_cpu(tools, case, folder, outcome)
    for arch in ARCHITECTURES:
        if compile_for(tools, folder, [arch], outcome, case.options):
            _on_emulator(tools, case, references, arch, folder, schedules, outcome)
    return _judge(case, outcome)


def _on_cpu(tools, case, folder, outcome):
    references = []
    for number, run in enumerate(case.runs):
        outputs, found = [], {}
        options = _options(run, folder, outputs, "cpu")
        status, out, errors = tools.call([tools.tilec, "run", "k.tile", "--on=cpu", *options], folder, RUN_SECONDS)
        if status != 0:
            outcome.fail("cpu error" if status == 1 else "cpu crash", f"run {number}: status {status} {(out + errors)[-300:]}")
        else:
            found = {name: np.load(os.path.join(folder, f"{name}.cpu.npy")) for name in outputs}
        references.append(found)
    return references


def _on_emulator(tools, case, references, arch, folder, schedules, outcome):
    for number, run in enumerate(case.runs):
        for count in {0, schedules}:
            outputs = []
            options = [o for o in _options(run, folder, outputs, arch)]
            kept = []
            for flag, value in zip(options[::2], options[1::2]):
                kept += [] if flag == "--dim" else [flag, value]
            more = ["--schedules", str(count)] if count else []
            command = [tools.tile_run, "k.pack", "--on=emu", "--arch", arch, "--step-budget", str(STEP_BUDGET), *kept, *more]
            status, out, errors = tools.call(command, folder, RUN_SECONDS)
            if status not in (0, 1):
                outcome.fail("emulator crash", f"{arch} run {number}: status {status} {(out + errors)[-300:]}")
                continue
            if status == 1:
                report = re.search(r"\d+ reports?: ([^;\n]*)", out)
                outcome.fail(f"{arch} report {report[1].split(',')[0]}" if report else f"{arch} error", f"run {number}: {out[:300]} {errors[:300]}")
            for name in outputs:
                file = os.path.join(folder, f"{name}.{arch}.npy")
                if name in references[number] and os.path.exists(file):
                    wrong = differs(FORMATS[run.tensors[name].format], np.load(file), references[number][name], case.tolerance)
                    if wrong:
                        outcome.fail(f"{arch} wrong", f"run {number}, {name}: {wrong}")


def _judge(case, outcome):
    """Failures that the header asks for are none, and their absence is one."""
    word, rest = (case.expects or ["ok"])[0], " ".join(case.expects[1:])
    if word == "open":
        if outcome.failures or outcome.refusals:
            outcome.failures, outcome.refusals = [], []
        else:
            outcome.fail("no longer open", "take the line `expects` out")
        return outcome
    for refusal in outcome.refusals:
        outcome.fail("refused", refusal)
    if word == "ok":
        return outcome
    wanted = rest if word == "report" else " ".join(case.expects)
    met = [f for f in outcome.failures if wanted in f"{f.kind} {f.detail}"]
    outcome.failures = [f for f in outcome.failures if f not in met]
    if word == "report":  # what follows from it is no failure of its own
        outcome.failures = [f for f in outcome.failures if "crash" in f.kind]
    if not met:
        outcome.fail("expectation", f"nothing says `{wanted}`")
    return outcome
