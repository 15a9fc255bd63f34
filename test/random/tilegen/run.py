"""Runs a program everywhere and compares with its meaning."""
import math
import os
import re
import resource
import shutil
import subprocess
import time
import zlib
from dataclasses import dataclass, field

import numpy as np

from . import data
from . import nodes as n, requirements
from .formats import FORMATS, decode, file_shape, unpaired
from .interpret import Interpreter
from .intervals import ProgramError
from .prints import LOST, wrong_text
from .scalars import value_of

ARCHITECTURES = ("sm_90a", "sm_80")  # of programs in files
COMPILE_SECONDS = 10  # of the processor, for each architecture
COMPILE_TRIALS = 3
RUN_SECONDS = 600
PACK_BYTES = 4_000_000  # for each architecture
STEP_BUDGET = 30_000_000
CPU_MULTIPROCESSORS = 1  # what `sm_count()` gives on the cpu target
# Legitimate refusals: programs that a target cannot run, or not yet. They are counted, by name.
ALLOWED = {"not-supported", "shared-too-large", "fragment-too-large", "layout-unusable"}


@dataclass
class Failure:
    """`kind` is what has to stay the same while the program is cut down; `detail` is for people."""

    kind: str
    detail: str

    def __str__(self):
        return f"{self.kind}: {self.detail}"


@dataclass
class Outcome:
    failures: list = field(default_factory=list)
    refusals: list = field(default_factory=list)  # "sm_80 not-supported: a reduction ..."
    unmet: list = field(default_factory=list)  # what `@require` asks for and does not get, with the architecture
    spills: list = field(default_factory=list)
    error: str = ""  # an error of the program: it counts as not drawn
    seconds: float = 0.0
    compile_seconds: float = 0.0
    unchecked: float = 0.0  # share of output elements of which the interpreter knows nothing

    def fail(self, kind, detail):
        self.failures.append(Failure(kind, detail.strip()[:600]))


class Tools:
    def __init__(self, root, compile_seconds=COMPILE_SECONDS):
        self.compile_seconds = compile_seconds
        bin = os.environ.get("TILEC_BIN") or os.path.join(root, "build", "bin")
        self.tilec, self.tile_run, self.tile_opt = (os.path.join(bin, name) for name in ("tilec", "tile-run", "tile-opt"))

    def call(self, command, folder, seconds):
        """(status, standard output, standard error); the status is `hang` after so many seconds."""
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=seconds, text=True, errors="replace")
            return done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            return "hang", "", f"no end after {seconds} s"


def extents_of(program, dims):
    names = {**program.params, **dims, **{a.name: a.value for a in program.scalars()}}
    return {t.name: tuple(int(value_of(e, names)) for e in t.extents) for t in program.tensors()}


@dataclass
class Call:
    """One run of a program: its inputs in files and what must come out."""

    number: int
    options: list  # of tile-run
    cpu_options: list
    expected: dict  # tensor -> Store
    printed: dict = None  # (name, block) -> messages; None: not known


def prepare(program, seed, folder, outcome, multiprocessors=None):
    """Interprets each call and writes its inputs. None if the program does what is an error. Without a number of multiprocessors: those
    of the emulated device."""
    calls = []
    for number, dims in enumerate(program.calls):
        extents = extents_of(program, dims)
        inputs = data.inputs(program, seed, number, dims, extents)
        try:
            interpreter = Interpreter(program, dims, inputs, multiprocessors)
            expected = interpreter.run()
        except ProgramError as error:
            outcome.error = str(error)
            return None
        options = _options(program, dims, inputs, extents, number, folder)
        every = [x for name in dims if name not in program.fixed for x in ("--dim", f"{name}={dims[name]}")]
        calls.append(Call(number, options, options + every, expected, interpreter.printed))
    return calls


def _options(program, dims, inputs, extents, number, folder):
    """Options of tile-run for a call, which writes its files. tile-run knows no dimension that the kernel does not need; the first
    tensor with it says its extent, by a file: of an output one of poison."""
    options, bound = [], set(program.fixed)
    for a in program.arguments:
        file, given = f"{a.name}.{number}.npy", inputs[a.name]
        if isinstance(a, n.ScalarArgument):
            options += ["--arg", f"{a.name}={a.value}"]
            continue
        binds = {e for e in a.extents if e in dims}
        if a.absent:
            options += ["--arg", f"{a.name}=none"]
        elif a.same:
            options += ["--arg", f"{a.name}=same({a.same})"]
        elif given is not None:
            np.save(os.path.join(folder, file), data.stored(given))
            options += ["--arg", f"{a.name}={file}"]
            bound |= binds
        elif binds <= bound:
            options += ["--arg", f"{a.name}=poison"]
        else:
            fmt = FORMATS[a.format]
            np.save(os.path.join(folder, file), poison(fmt, extents[a.name]))
            options += ["--arg", f"{a.name}={file}"]
            bound |= binds if not a.optional else set()
        if a.strided and a.padding and not a.absent:
            options += ["--pitch", f"{a.name}={extents[a.name][-1] + a.padding}"]
    return options


def poison(fmt, shape):
    """An array of ones for bits."""
    shape = file_shape(fmt, shape)
    return np.full(int(np.prod(shape, dtype=int)) * fmt.bytes, 0xFF, np.uint8).view("u1" if fmt.packed else fmt.stored).reshape(shape)


def compare(store, got):
    """None, or what is wrong with the first wrong element; and how many elements were not checked."""
    fmt = store.tile.format
    if got.shape != file_shape(fmt, store.tile.shape):
        return f"shape {got.shape}, expected {store.tile.shape}", 0
    value = decode(fmt, got)
    lo, hi = store.tile.lo, store.tile.hi
    if fmt.is_float:
        with np.errstate(invalid="ignore"):
            good = ((value >= lo) & (value <= hi)) | (np.isnan(value) & np.isnan(lo) & np.isnan(hi))
    else:
        good = value == lo
    unchecked = 0
    if store.tile.wild is not None:
        good = good | store.tile.wild
        unchecked = int(np.sum(store.tile.wild & store.written))
    if fmt.packed:
        untouched = unpaired(got.view(np.uint8)) == 15
    else:
        raw = np.ascontiguousarray(got).view(np.uint8).reshape(*got.shape, -1) if got.size else np.zeros((*got.shape, 1), np.uint8)
        untouched = np.all(raw == 0xFF, axis=-1)
    good = np.where(store.written, good, untouched)
    if np.all(good):
        return None, unchecked
    bad = np.argwhere(~good)
    at = tuple(bad[0])
    what = f"{lo[at]}" if lo[at] == hi[at] or lo[at] != lo[at] else f"{lo[at]} to {hi[at]}"
    what = what if store.written[at] else "nothing to be written"
    return f"{len(bad)} of {good.size} elements wrong; at {list(map(int, at))}: {value[at]}, expected {what}", unchecked


def check_outputs(program, call, folder, tag, kind, outcome):
    for tensor in program.tensors():
        if not tensor.direction or tensor.absent:
            continue
        path = os.path.join(folder, f"{tensor.name}.{tag}.npy")
        if not os.path.exists(path):
            outcome.fail(kind + " error", f"{tensor.name} was not written to a file")
            return
        wrong, unchecked = compare(call.expected[tensor.name], np.load(path))
        os.remove(path)
        size = max(call.expected[tensor.name].tile.lo.size, 1)
        outcome.unchecked = max(outcome.unchecked, unchecked / size)
        if wrong:
            outcome.fail(kind + " wrong", f"call {call.number}, {tensor.name}: {wrong}")


def check_text(call, text, kind, outcome, runs=1):
    if call.printed is not None and (wrong := wrong_text(call.printed, text, runs)):
        outcome.fail(kind + " prints", f"call {call.number}: {wrong}")


def outputs_to(program, tag):
    return [x for t in program.tensors() if t.direction and not t.absent for x in ("--out", f"{t.name}={t.name}.{tag}.npy")]


def diagnostics(stderr):
    return re.findall(r"error: (.*?) \[([a-z0-9-]+)\]", stderr)


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _timed_compilation(tools, folder, architectures, output, options, limit):
    """Status, errors, and seconds of the processor: the least of some compilations, since what else a machine does slows them by a third."""
    command = [tools.tilec, "k.tile", "--arch=" + ",".join(architectures), "-o", output, *options]
    spent = float("inf")
    for _ in range(COMPILE_TRIALS):
        start = processor_seconds()
        status, _, errors = tools.call(command, folder, 60 * COMPILE_SECONDS)
        spent = min(spent, processor_seconds() - start)
        if status == "hang" or spent <= limit:
            break
    return status, errors, spent


def compile_for(tools, folder, architectures, outcome, options=(), candidates=1, program=None):
    """True if there is a pack for these architectures; None if one of several is refused. Of a program requirements may be unmet."""
    limit = tools.compile_seconds * candidates
    status, errors, spent = _timed_compilation(tools, folder, architectures, "k.pack", options, limit)
    if status != "hang" and spent > limit and len(architectures) > 1:
        spent = max(_timed_compilation(tools, folder, [arch], "one.pack", options, limit)[2] for arch in architectures)
    outcome.compile_seconds = max(outcome.compile_seconds, spent)
    where = " ".join(architectures)
    if status == "hang" or spent > limit:
        outcome.fail("compile time", f"{where}: {spent:.1f} s")
        return False
    outcome.spills += re.findall(r"spills (\d+) bytes", errors)
    if status == 0:
        if os.path.getsize(os.path.join(folder, "k.pack")) > PACK_BYTES * len(architectures) * candidates:
            outcome.fail("compile size", f"{os.path.getsize(os.path.join(folder, 'k.pack'))} bytes")
        _compile_again(tools, folder, architectures, outcome, options)
        return True
    if len(architectures) > 1:
        return None
    found = diagnostics(errors)
    names = {name for _, name in found}
    if status != 1:
        lines = [line for line in errors.splitlines() if "rror" in line or "ssert" in line] or errors.splitlines()
        first = re.sub(r"[^A-Za-z:]+", " ", re.sub(r"^.*?(?=Assertion|internal error)", "", lines[0] if lines else ""))[:50]
        outcome.fail(f"crash {where} {first}", f"status {status}: {' '.join(lines[:2])}")
    elif program and requirements.unmet(program, where, found):
        outcome.unmet.append(f"{where} {re.sub(r'[0-9]+', 'N', found[0][0])}")
    elif not found or not names <= ALLOWED:
        outcome.fail(f"diagnostic {where} {','.join(sorted(names - ALLOWED))}", errors)
    else:
        outcome.refusals.append(f"{where} {found[0][1]}: {re.sub(r'[0-9]+', 'N', found[0][0])}")
    return False


def _compile_again(tools, folder, architectures, outcome, options):
    """The same program gives the same code: one in four, and all with several launches, whose passes share what they know."""
    with open(os.path.join(folder, "k.tile"), "rb") as file:
        text = file.read()
    if text.count(b" launch ") < 2 and zlib.crc32(text) % 4 != 0:
        return
    command = [tools.tilec, "k.tile", f"--arch={architectures[0]}", "--emit=tgpu", "-o", "-", *options]
    first, second = (tools.call(command, folder, 60 * COMPILE_SECONDS)[1] for _ in range(2))
    if first != second:
        lines = zip(first.splitlines(), second.splitlines())
        outcome.fail("nondeterministic", next((f"{a.strip()} | {b.strip()}" for a, b in lines if a != b), "lengths differ"))


def run_on_cpu(tools, program, calls, folder, outcome):
    for call in calls:
        tag = f"cpu{call.number}"
        command = [tools.tilec, "run", "k.tile", "--on=cpu", *call.cpu_options, *outputs_to(program, tag)]
        status, out, errors = tools.call(command, folder, RUN_SECONDS)
        if status == "hang" or status not in (0, 1):
            outcome.fail("cpu crash", f"call {call.number}: status {status} {errors[-300:]}")
        elif status == 1:
            text = out + errors
            words = re.search(r"error: (?:\S+\.tile:[\d:]+ )?(.*)", text)
            outcome.fail("cpu error " + re.sub(r"[^a-z]+", " ", words[1] if words else "")[:40].strip(), f"call {call.number}: {text[-400:]}")
        else:
            check_outputs(program, call, folder, tag, "cpu", outcome)
            check_text(call, out, "cpu", outcome)


def configurations(tools, pack, folder, arch):
    """The numbers of a pack's configurations with code for an architecture; none where there is but one."""
    listed = tools.call([tools.tile_run, pack, "--list"], folder, RUN_SECONDS)[1]
    return re.findall(rf"^ +configuration (\d+): {arch},", listed, re.M)


def run_on_emulator(tools, program, calls, folder, architectures, schedules, seed, outcome):
    cases = []
    for arch in architectures:
        for call in calls:
            for number in configurations(tools, "k.pack", folder, arch) if program.tuned else ():
                cases.append((arch, call, f"{arch}.{call.number}.c{number}", ["--configuration", number]))
            for count in (0, schedules) if schedules else (0,):
                words = ["--schedules", str(count), "--seed", str(seed % 1000)] if count else []
                cases.append((arch, call, f"{arch}.{call.number}.{count}", words))
    options = ["--on=emu", "--step-budget", str(STEP_BUDGET), "--sms", str(program.multiprocessors)]
    run_cases(tools, program, "k.pack", cases, options, folder, outcome)


def run_on_gpu(tools, program, calls, pack, architectures, folder, outcome):
    """Twice each, so that runs that differ are noticed."""
    cases = [(arch, call, f"gpu.{arch}.{call.number}", ["--twice"]) for arch in architectures for call in calls]
    run_cases(tools, program, pack, cases, ["--on=cuda"], folder, outcome)


def run_cases(tools, program, pack, cases, options, folder, outcome):
    """Each case is (architecture, call, tag of its outputs, options of its own)."""
    lines = [" ".join(["--arch", arch, *call.options, *outputs_to(program, tag), *words]) for arch, call, tag, words in cases]
    with open(os.path.join(folder, "cases.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")
    status, out, errors = tools.call([tools.tile_run, pack, *options, "--cases", "cases.txt"], folder, RUN_SECONDS)
    if status == "hang" or status not in (0, 1):
        outcome.fail("crash of a run", f"status {status} {(out + errors)[-400:]}")
        return
    results = list(re.finditer(r"^(pass|FAIL) .*\n    (.*)$", out, re.M))
    if len(results) != len(lines):
        outcome.fail("crash of a run", f"{len(results)} of {len(lines)} cases ran: {(out + errors)[-400:]}")
        return
    begin = 0  # of what is printed before each result
    for result, (arch, call, tag, words) in zip(results, cases):
        (verdict, text), printed, begin = result.groups(), out[begin : result.start()], result.end()
        if "--configuration" in words and "[no-variant]" in text:
            continue  # it has no code for such rows, others do
        if verdict == "FAIL":
            reports = re.search(r"\d+ reports?: ([^;]*)", text)
            first = errors.split("\n\n")[0]
            if reports:
                outcome.fail(f"{arch} report {reports[1].split(',')[0].strip()}", f"call {call.number} {tag}: {text} | {first}")
            else:
                outcome.fail(f"{arch} error", f"call {call.number}: {text}")
        check_outputs(program, call, folder, tag, arch, outcome)
        if LOST not in errors:
            check_text(call, printed, arch, outcome, runs=2 if "--twice" in words else 1)


def write_text(program, folder):
    with open(os.path.join(folder, "k.tile"), "w") as file:
        file.write(program.text())


def run_program(tools, program, seed, folder, schedules=2, architectures=None, cpu=True):
    """Everything that can be wrong with one program, on its architectures or on these."""
    architectures = program.architectures if architectures is None else architectures
    start = time.monotonic()
    outcome = Outcome()
    os.makedirs(folder, exist_ok=True)
    write_text(program, folder)
    calls = prepare(program, seed, folder, outcome)
    if calls is None:
        return outcome
    if cpu:
        on_cpu = prepare(program, seed, folder, outcome, CPU_MULTIPROCESSORS) if program.host else calls
        if on_cpu is None:
            return outcome
        run_on_cpu(tools, program, on_cpu, folder, outcome)
    candidates = math.prod(len(values) for values in program.tuned.values())
    both = compile_for(tools, folder, architectures, outcome, program.compile_options(), candidates) if len(architectures) > 1 else None
    if both:
        run_on_emulator(tools, program, calls, folder, architectures, schedules, seed, outcome)
    elif both is None:  # which of them is refused, and does the other run
        for arch in architectures:
            if _compile_one(tools, program, folder, arch, outcome, candidates):
                run_on_emulator(tools, program, calls, folder, [arch], schedules, seed, outcome)
    outcome.seconds = time.monotonic() - start
    return outcome


def _compile_one(tools, program, folder, arch, outcome, candidates):
    """For one architecture; without requirements where it does not meet them."""
    unmet = len(outcome.unmet)
    done = compile_for(tools, folder, [arch], outcome, program.compile_options(), candidates, program)
    if len(outcome.unmet) == unmet:
        return done
    write_text(program.without_requirements(), folder)
    done = compile_for(tools, folder, [arch], outcome, program.compile_options(), candidates)
    write_text(program, folder)
    return done


def clean(folder):
    shutil.rmtree(folder, ignore_errors=True)
