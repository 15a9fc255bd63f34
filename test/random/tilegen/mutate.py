"""Faults put into programs that are right: each must be refused by the compiler, or be reported, or give something else.

The interpreter decides which mutants mean something else; those that mean the same are not run. In the compiler's own IR waits,
commits and releases are taken out: `tgpu-verify-sync` must refuse what is left. (Barriers and waits for stores are not: another one may make
them needless, which this cannot tell; test/passes/verify-sync takes these out of kernels written by hand.)
"""
import collections
import os
import random
import re

import numpy as np

from . import data, elements as e, nodes as n
from .interpret import Interpreter
from .intervals import ProgramError
from .run import Outcome, compile_for, extents_of, prepare, run_on_cpu, run_on_emulator, run_program

EACH = 3  # mutants of a kind and program


def accumulators_without_value(program):
    """(text, mutant, the same with another value there: what it shows whether the value matters). Each accumulator's initial value
    removed."""
    used = {g.acc for g in n.walk(program.launches) if isinstance(g, n.Gemm) and g.options.get("accumulate") != "false"}
    for at, d in enumerate(_all(program, n.Declare)):
        if d.name in used and d.init is not None:
            without, other = program.clone(), program.clone()
            _all(without, n.Declare)[at].init = None
            _all(other, n.Declare)[at].init = n.Lit(77 if d.format == "i32" else 77.0, d.format)
            yield f"`{d.name}` without its initial value", without, other


def extents_off_by_one(program):
    for at, d in enumerate(_all(program, n.Declare)):
        for i, extent in enumerate(d.shape):
            for value in (_value(program, extent) + 1, _value(program, extent) - 1):
                if value > 0:
                    copy = program.clone()
                    _all(copy, n.Declare)[at].shape[i] = str(value)
                    for loop in _all(copy, e.Parallel):  # runs over what the tile has
                        if loop.over == d.name:
                            loop.extents[i] = str(value)
                    yield f"extent {i} of `{d.name}` is {value}, not {_value(program, extent)}", copy, copy


def trips_off_by_one(program):
    for at, loop in enumerate(_all(program, n.For)):
        copy = program.clone()
        _all(copy, n.For)[at].end = f"{loop.end} - 1"
        yield f"one iteration less of `{loop.variable}`", copy, copy
    for at, launch in enumerate(program.launches):
        for i in range(len(launch.grid)):
            copy = program.clone()
            copy.launches[at].grid[i] += " - 1"
            yield f"extent {i} of the grid less by one", copy, copy


KINDS = {
    "accumulator without value": accumulators_without_value,
    "extent off by one": extents_off_by_one,
    "trip off by one": trips_off_by_one,
}


def _all(program, kind):
    return [x for x in n.walk(program.launches) if isinstance(x, kind)]


def _value(program, extent):
    return int(extent) if extent.isdigit() else program.params[extent]


def meanings(program, seed, unwritten=None):
    """What each call gives, or the words of why it gives nothing; with what buffers hold that nobody wrote."""
    result = []
    for number, dims in enumerate(program.calls):
        inputs = data.inputs(program, seed, number, dims, extents_of(program, dims))
        try:
            result.append(Interpreter(program, dims, inputs, unwritten=unwritten).run())
        except (ProgramError, ValueError, IndexError) as error:
            return str(error) or "error"
    return result


def _looks_unwritten(tile):
    """Which elements are what outputs hold before a run: all bits set."""
    if tile.format.is_float:
        return tile.lo != tile.lo
    return tile.lo == tile.format.all_ones


def means_the_same(a, b):
    """True also where what is not known exactly might be the same, and where nobody can see that it was not written."""
    for one, other in zip(a, b):
        for name, store in one.items():
            x, y = store.tile, other[name].tile
            lost = store.written & ~other[name].written & ~_looks_unwritten(x)
            if np.any(lost | (other[name].written & ~store.written)):
                return False
            known = x.known() & y.known() & store.written & other[name].written
            if np.any(known & (x.lo != y.lo) & ~((x.lo != x.lo) & (y.lo != y.lo))):
                return False
    return True


def can_mean_the_same(meaning, mutant, seed):
    """Also a mutant that reads what nobody wrote and makes nothing of it (a gather's indices in rows that are not taken, or beyond
    a tensor's end). The emulator reports such reads only of memory that no other buffer had before."""
    for unwritten in (None, 0, 77, "ones"):
        changed = meanings(mutant, seed, unwritten)
        if isinstance(changed, list) and means_the_same(meaning, changed):
            return True
    return False


def noticed_by(tools, program, mutant, seed, folder):
    """Who notices a mutant of a program: None, compiler, emulator or cpu."""
    outcome = Outcome()
    calls = prepare(program, seed, folder, outcome)
    with open(os.path.join(folder, "k.tile"), "w") as file:
        file.write(mutant.without_requirements().text())  # what is not achieved shows no fault
    for arch in program.architectures:
        before = len(outcome.failures)
        if compile_for(tools, folder, [arch], outcome):
            run_on_emulator(tools, mutant, calls, folder, [arch], 0, 0, outcome)
            if outcome.failures:
                return "emulator"
            run_on_cpu(tools, mutant, calls, folder, outcome)
            return "cpu" if outcome.failures else None
        if any(f.kind.startswith("crash") for f in outcome.failures[before:]):
            return None
    return "compiler" if outcome.failures or outcome.refusals else None


REMOVED = re.compile(r"^\s*tgpu\.(acquire|wait|release|expect|tma_load|cp_async_commit|cp_async_wait|wgmma_fence|wgmma_commit)\b")
WEAKENED = re.compile(r"= tgpu\.wgmma_wait (\d+)")
VERIFY = "--pass-pipeline=builtin.module(tgpu.kernel(tgpu-verify-sync))"


def _needed(lines, index, word):
    """Of a commit or wait of cp.async: whether what was copied before it is read after it, with no other one between and on the same
    path. (A wait at the end of a loop may have nothing to wait for, and neighbours do each other's work.)"""
    copies = [found[1] for line in lines[:index] if (found := re.search(r"tgpu\.cp_async %\S+ to (%\w+)", line))]
    for line in lines[index + 1 :]:
        if f"tgpu.{word}" in line or "scf." in line or line.strip() == "}":
            return False
        if copies and re.search(rf"tgpu\.(local_load|subview) {copies[-1]}\b", line):
            return True
    return False


def mutants_of_ir(lines):
    for index, line in enumerate(lines):
        found = REMOVED.match(line)
        if found and (not found[1].startswith("cp_async") or _needed(lines, index, found[1])):
            yield index, lines[:index] + lines[index + 1 :]
        elif found := WEAKENED.search(line):
            weaker = line.replace(found[0], f"= tgpu.wgmma_wait {int(found[1]) + 1}")
            yield index, lines[:index] + [weaker] + lines[index + 1 :]


def check_ir(tools, arch, folder, draw, count):
    """(line, refused) of some mutants of the program in the folder."""
    status, text, _ = tools.call([tools.tilec, "k.tile", "--emit=tgpu", f"--arch={arch}"], folder, 60)
    if status != 0:
        return
    lines = text.split("\n")
    mutants = list(mutants_of_ir(lines))
    for index, mutant in draw.sample(mutants, min(count, len(mutants))):
        with open(os.path.join(folder, "mutant.mlir"), "w") as file:
            file.write("\n".join(mutant))
        status, _, errors = tools.call([tools.tile_opt, "mutant.mlir", VERIFY, "-o", "/dev/null"], folder, 60)
        yield lines[index].strip(), status == 1 and re.search(r"error: '(tgpu|scf)\.", errors)


def check_program(tools, program, seed, folder):
    """(kind, text, who noticed it or None) of mutants of a program; nothing if the program itself does not pass."""
    outcome = run_program(tools, program, seed, folder, schedules=0)
    if outcome.error or outcome.failures or outcome.refusals:
        return
    draw = random.Random(f"{seed}/mutants")
    meaning = meanings(program, seed)
    for kind, make in KINDS.items():
        mutants = list(make(program))
        draw.shuffle(mutants)
        done = 0
        for text, mutant, shown in mutants:
            if done == EACH:
                break
            if can_mean_the_same(meaning, shown, seed):
                continue
            done += 1
            yield kind, text, noticed_by(tools, program, mutant, seed, folder)
    with open(os.path.join(folder, "k.tile"), "w") as file:
        file.write(program.text())
    for arch in program.architectures:
        for line, refused in check_ir(tools, arch, folder, draw, 6):
            words = re.search(r"tgpu\.\w+", line)[0]
            yield f"{words} removed", f"{arch}: {line}", "verifier" if refused else None


def table(counts):
    by_kind = collections.defaultdict(dict)
    for (kind, who), count in sorted(counts.items()):
        by_kind[kind][who] = count
    for kind, row in by_kind.items():
        yield f"  {kind}: " + ", ".join(f"{count} {who}" for who, count in row.items())
