"""Cuts a failing program down, on its tree: what still fails in the same way is kept.

Edits need not keep the program legal: what the compiler or the interpreter then refuses fails otherwise, and the edit is undone.
"""
import re
import time

from . import elements as e, nodes as n
from .run import clean, run_program


def bodies(program):
    """All lists of statements, inner ones after outer ones."""
    result = []
    for node in n.walk(program.launches):
        for name in ("body", "then", "otherwise"):
            if isinstance(getattr(node, name, None), list):
                result.append(getattr(node, name))
    return result


def words(program):
    """Every name that the launches and grids use."""
    text = "\n".join(line for launch in program.launches for line in launch.lines()) + program.functions()
    return set(re.findall(r"[A-Za-z_]\w*", text))


def prune(program):
    """Without arguments, workspaces and parameters that nothing uses."""
    used = words(program)
    program.host = [s for s in program.host if s.name in used]
    program.workspaces = [w for w in program.workspaces if w.name in used]
    extents = {x for a in program.tensors() + program.workspaces if a.name in used for e in a.extents for x in re.findall(r"[A-Za-z_]\w*", e)}
    bound = {e for t in program.tensors() if t.name in used for e in t.extents}
    used |= {x for a in program.tensors() if a.name in used for x in (a.alias, a.same)}
    program.arguments = [a for a in program.arguments if a.name in used]
    for name in {k for call in program.calls for k in call}:
        if name in used | extents and name not in bound:
            program.arguments.append(n.Tensor(f"B{name}", "i32", [name]))
    program.params = {k: v for k, v in program.params.items() if k in used | extents}
    program.fixed = {k: v for k, v in program.fixed.items() if k in used | extents}
    program.tuned = {k: v for k, v in program.tuned.items() if k in used}
    program.where = [w for w in program.where if w.split()[0] in used | extents]
    program.calls = [{k: v for k, v in call.items() if k in used | extents} for call in program.calls]
    return program


def edits(program):
    """Smaller programs, the boldest cuts first."""
    yield from launches(program)
    yield from statements(program)
    yield from structure(program)
    yield from expressions(program)
    yield from options(program)
    yield from numbers(program)


def launches(program):
    for i in range(len(program.launches)):
        if len(program.launches) > 1:
            copy = program.clone()
            del copy.launches[i]
            yield copy
    for i in range(len(program.calls)):
        if len(program.calls) > 1:
            copy = program.clone()
            copy.calls = [copy.calls[i]]
            yield copy


def statements(program):
    lists = bodies(program)
    for size in (8, 4, 2, 1):
        for at, body in enumerate(lists):
            for i in reversed(range(0, len(body), size)):
                if size > 1 and len(body) < size:
                    continue
                copy = program.clone()
                del bodies(copy)[at][i : i + size]
                yield copy


def structure(program):
    """Loops and branches without their frames, or simpler ones."""
    for at, body in enumerate(bodies(program)):
        for i, s in enumerate(body):

            def replaced(make):
                copy = program.clone()
                target = bodies(copy)[at]
                target[i : i + 1] = make(target[i])
                return copy

            if isinstance(s, n.Outlined):
                yield replaced(lambda s: s.body)
            if isinstance(s, (n.If, e.Where)):
                yield replaced(lambda s: s.then)
                yield replaced(lambda s: s.otherwise)
            if isinstance(s, n.For):
                yield replaced(lambda s: [n.LetScalar(s.variable, s.start), *s.body])
                for change in ({"kind": "serial"}, {"stages": 2}, {"end": "1"}, {"end": "2"}, {"end": "4"}, {"step": 1}):
                    if any(getattr(s, k) != v for k, v in change.items()) and not (s.end.isdigit() and int(s.end) < int(change.get("end", 0))):
                        yield replaced(lambda s, change=change: [_with(s, **change)])
            if isinstance(s, n.Declare) and s.init is not None and not isinstance(s.init, n.Lit):
                yield replaced(lambda s: [_with(s, init=n.Lit(1, "f32"))])
            if isinstance(s, n.Declare) and s.layout:
                yield replaced(lambda s: [_with(s, layout="")])
            if isinstance(s, n.Copy) and s.annotations:
                yield replaced(lambda s: [_with(s, annotations=[])])
            if getattr(s, "hint", ""):
                yield replaced(lambda s: [_with(s, hint="")])
            if getattr(s, "require", ""):
                yield replaced(lambda s: [_with(s, require="")])
            if isinstance(s, n.Gemm):
                for key in s.options:
                    yield replaced(lambda s, key=key: [_with(s, options={k: v for k, v in s.options.items() if k != key})])


def _with(node, **changes):
    for key, value in changes.items():
        setattr(node, key, value)
    return node


EXPRESSIONS = (n.Unary, n.Binary, n.Call, n.Cast, n.Bitcast, n.Select, n.Applied, n.ByFunction, n.FromTable)


def _holders(program):
    """Places that hold an expression: (node, attribute, index or None)."""
    for node in n.walk(program.launches):
        for name in ("value", "source", "init", "x", "y", "condition", "a", "b"):
            if isinstance(getattr(node, name, None), EXPRESSIONS):
                yield node, name, None
        if isinstance(node, (n.Call, n.ByFunction)):
            for i, a in enumerate(node.args):
                if isinstance(a, EXPRESSIONS):
                    yield node, "args", i


def _children(e):
    if isinstance(e, (n.Call, n.ByFunction)):
        return list(e.args)
    return [getattr(e, k) for k in ("x", "y", "condition", "value") if hasattr(e, k)]


def expressions(program):
    for at, (node, name, index) in enumerate(_holders(program)):
        e = getattr(node, name) if index is None else getattr(node, name)[index]
        for child in range(len(_children(e))):
            copy = program.clone()
            target, key, i = list(_holders(copy))[at]
            old = getattr(target, key) if i is None else getattr(target, key)[i]
            if i is None:
                setattr(target, key, _children(old)[child])
            else:
                getattr(target, key)[i] = _children(old)[child]
            yield copy


def options(program):
    for name in list(program.tuned):
        copy = program.clone()
        del copy.tuned[name]
        for node in n.walk(copy.launches):
            if getattr(node, "tuned", "") == name:
                node.tuned = ""
        yield copy
        if len(program.tuned[name]) > 2:
            for i in range(len(program.tuned[name])):
                copy = program.clone()
                del copy.tuned[name][i]
                yield copy
    if program.check:
        copy = program.clone()
        copy.check = False
        yield copy
    if program.schedule_seed:
        copy = program.clone()
        copy.schedule_seed = 0
        yield copy
    for name in list(program.fixed):
        copy = program.clone()
        del copy.fixed[name]
        yield copy
    for i in range(len(program.where)):
        copy = program.clone()
        del copy.where[i]
        yield copy
    for note in program.annotations:
        copy = program.clone()
        copy.annotations.remove(note)
        yield copy
    for i, launch in enumerate(program.launches):
        if launch.spread:
            copy = program.clone()
            copy.launches[i].spread = ""
            yield copy
        for k in range(len(launch.annotations)):
            copy = program.clone()
            del copy.launches[i].annotations[k]
            yield copy
        for threads in (32, 64, 128):
            if launch.threads > threads:
                copy = program.clone()
                copy.launches[i].threads = threads
                yield copy
    for i, t in enumerate(program.arguments):
        if isinstance(t, n.Tensor):
            for key, value in (("data", "small"), ("strided", False), ("padding", 0), ("optional", False), ("same", ""), ("align", 0)):
                if getattr(t, key) != value:
                    copy = program.clone()
                    setattr(copy.arguments[i], key, value)
                    yield copy


def numbers(program):
    regions = [r for r in n.walk(program.launches) if isinstance(r, n.Region)]
    for at, region in enumerate(regions):
        for i, s in enumerate(region.subscripts):
            if s != "0" and isinstance(s, str) and ("+" in s or "*" in s):
                copy = program.clone()
                [r for r in n.walk(copy.launches) if isinstance(r, n.Region)][at].subscripts[i] = "0"
                yield copy
    for name, value in program.params.items():
        for smaller in (8, 16, 32, 64):
            if smaller < value:
                copy = program.clone()
                copy.params[name] = smaller
                yield copy
    for i, call in enumerate(program.calls):
        for name, value in call.items():
            for smaller in sorted({1, 16, 64, value // 2, value // 16 * 16}):
                if 0 < smaller < value:
                    copy = program.clone()
                    if name in copy.fixed:
                        copy.fixed[name] = smaller
                    copy.calls[i][name] = smaller
                    yield copy


def failing_as(outcome, kind):
    return next((f for f in outcome.failures if f.kind == kind), None)


def shrink(program, fails, seconds=120):
    """The smallest program found for which `fails` gives something, and what it gives."""
    best, failure = program, fails(program)
    if not failure:
        return program, None
    end = time.monotonic() + seconds
    seen, changed = {_key(best)}, True
    while changed and time.monotonic() < end:
        changed = False
        for candidate in edits(best):
            prune(candidate)
            if _key(candidate) in seen or time.monotonic() > end:
                continue
            seen.add(_key(candidate))
            try:
                found = fails(candidate)
            except Exception:  # an edit that made no sense, to the interpreter above all
                continue
            if found:
                best, failure, changed = candidate, found, True
                break
    return best, failure


def _key(program):
    return program.text() + str(program.calls) + str([(t.data, t.same, t.padding) for t in program.tensors()])


def shrink_failure(tools, program, seed, kind, folder, seconds):
    """The same for a program that fails as `kind` says: it is run only where it has to be."""
    places = [a for a in program.architectures if a in kind.split()] or list(program.architectures)
    on_cpu = kind.startswith("cpu")

    def fails(candidate):
        architectures = [] if on_cpu else places
        outcome = run_program(tools, candidate, seed, folder, schedules=0, architectures=architectures, cpu=on_cpu)
        return None if outcome.error else failing_as(outcome, kind)

    result = shrink(program, fails, seconds)
    clean(folder)
    return result
