"""`fn` and `tile fn`: pieces of a program that is already drawn move into functions. The tree keeps the piece where it is called, so
that it means what it meant in place; its parameters are what it names, found when the text is written."""
import re

from . import nodes as n
from .formats import FORMATS

MAPPED = (n.Lit, n.Limit, n.Ref, n.Scalar, n.Unary, n.Binary, n.Call, n.Cast, n.Bitcast, n.Select, n.FromTable)
OF_TILES = {"transpose", "reduce_sum", "reduce_max", "reduce_min", "scan_sum", "scan_max", "scan_min", "scan_prod"}


def applied(b, value, format):
    """The same expression as a call of a scalar function on tiles, where it can be one."""
    parts = list(n.walk(value))
    good = all(isinstance(p, MAPPED) for p in parts if hasattr(p, "__dataclass_fields__"))
    good = good and not any(isinstance(p, n.Call) and p.function in OF_TILES for p in parts)
    if not good or not any(isinstance(p, n.Ref) for p in parts) or isinstance(value, n.Ref):
        return value
    if not FORMATS[format].only_stores and format != "bool" and b.chance(0.5):
        inner = b.pick([p for p in parts if isinstance(p, n.Ref)])
        value = n.Binary(b.pick(["+", "-", "*"] if FORMATS[format].is_float else ["+", "^"]), value, from_table(b, format, n.Cast("i32", inner)))
    formats = {}
    for p in parts:
        if isinstance(p, n.Ref):
            formats[p.name] = b.infos[p.name].format
        elif isinstance(p, n.Scalar):
            formats[p.code] = "i32" if p.cast else p.format
    b.note("fn")
    return n.Applied(b.name("g"), value, format, formats)


def from_table(b, format, index):
    """Of a few small numbers that every format has."""
    b.note("constant array")
    kind = FORMATS[format].kind
    numbers = [x * 0.5 for x in range(-8, 9)] if kind == "f" else range(-9 if kind == "i" else 0, 10)
    return n.FromTable(b.name("T"), format, [b.pick(numbers) for _ in range(b.pick([1, 2, 4, 8]))], index)


def outline(b, body):
    """Some statements of a block, or of one inside it, become a call of a tile function."""
    inner = [x for s in body for x in _bodies(s)]
    if inner and b.chance(0.4):
        return outline(b, b.pick(inner))
    spans = [(i, j) for i in range(len(body)) for j in range(i + 1, min(i + 4, len(body)) + 1)]
    b.random.shuffle(spans)
    for i, j in spans[:6]:
        if (symbols := _symbols(b, body, i, j)) is not None:
            body[i:j] = [n.Outlined(b.name("h"), body[i:j], symbols)]
            b.note("tile fn")
            return True
    return False


def _bodies(statement):
    if isinstance(statement, n.If):
        return [statement.then, statement.otherwise] if statement.otherwise else [statement.then]
    return [statement.body] if isinstance(statement, (n.For, n.While)) else []


def _words(statements):
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(line for s in statements for line in s.lines()))) - {"_"}


def _symbols(b, body, i, j):
    """What the statements name from outside, as (word of the parameter, type); None where no function can hold them."""
    inside = body[i:j]
    nodes = [x for s in inside for x in n.walk(s)]
    if any(isinstance(x, (n.Jump, n.Outlined, n.View)) or getattr(x, "in_place", False) for x in nodes):
        return None
    declared = {x.name for x in nodes if isinstance(x, (n.Declare, n.Let, n.LetScalar, n.LetVec, n.ReadScalar))}
    declared |= {x.variable for x in nodes if isinstance(x, n.For)}
    declared |= {name for x in nodes if isinstance(x, n.LetSeveral) for name in x.names}
    words = _words(inside)
    if declared & _words(body[j:]):
        return None
    # Scalars are passed by value.
    if any(isinstance(x, n.SetScalar) and x.name not in declared for x in nodes):
        return None
    symbols = {}
    for name in sorted(words - declared):
        tensor = next((t for t in b.program.tensors() + b.program.workspaces if t.name == name), None)
        if name in b.infos:
            direction = _direction(b.infos[name], inside)
            if direction is None:
                return None
            t = b.infos[name]
            scope = "fragment" if t.scope == "let" else t.scope
            symbols[name] = f"{direction}{scope} {t.format}[{', '.join(t.shape)}]"
        elif tensor is not None:
            if getattr(tensor, "optional", False):
                return None
            written = any(isinstance(getattr(x, "target", getattr(x, "place", None)), n.Region) and not isinstance(x, n.ReadScalar)
                          and getattr(x, "target", getattr(x, "place", None)).name == name for x in nodes)  # fmt: skip
            direction = "inout " if isinstance(tensor, n.Workspace) or tensor.direction == "inout" else "out "
            # An extent that is computed gets a name of its own, bound by what is passed.
            extents = [e if re.fullmatch(r"\w+", e) else f"{name}_{axis}" for axis, e in enumerate(tensor.extents)]
            symbols[name] = f"{direction if written else ''}tensor<{tensor.format}>[{', '.join(extents)}]"
            if not written and getattr(tensor, "direction", "") == "out":
                return None
        elif argument := next((a for a in b.program.scalars() if a.name == name), None):
            symbols[name] = argument.format
        elif name in b.results:
            symbols[name] = b.results[name]
        elif name in ("bx", "by") or re.fullmatch(r"[kve]\d+", name):
            symbols[name] = "i32"
        elif re.fullmatch(r"[wl]\d+", name):
            return None  # a view, a `vec`, an array of each thread
    if not any("fragment" in t or "shared" in t or "tensor" in t for t in symbols.values()):
        return None
    # Names of extents are bound by the shapes of what is passed; the others are passed themselves.
    bound = {x for t in symbols.values() for x in re.findall(r"\w+", t.partition("[")[2])}
    used = words | {e for x in nodes if isinstance(x, n.Declare) for e in x.shape}
    for name in sorted(used - bound):
        if name in b.program.params:
            symbols[name] = "const int"
        elif name in b.dimensions:
            symbols[name] = "i32"
    return symbols


def _direction(tile, statements):
    """Of a buffer: "" where it is only read, `inout ` where it is first read, `out ` where it is first written, and whole; None where
    that depends on the way taken."""
    first, written = None, False
    for s in statements:
        nodes = list(n.walk(s))
        target = getattr(s, "target", None)
        whole = isinstance(s, (n.Copy, n.Assign)) and isinstance(target, n.Ref) and target.name == tile.name
        if isinstance(s, n.Gemm) and s.acc == tile.name:
            whole = True
        writes = whole or any(getattr(getattr(x, "target", None), "name", getattr(x, "acc", None)) == tile.name for x in nodes)
        reads = any(isinstance(x, (n.Ref, n.Part)) and x.name == tile.name and x is not target for x in nodes)
        reads |= any(isinstance(x, n.Region) and tile.name in x.subscripts for x in nodes)
        reads |= isinstance(s, n.Assign) and s.op != "=" and writes
        reads |= any(isinstance(x, n.Gemm) and x.acc == tile.name and x.options.get("accumulate") != "false" for x in nodes)
        if not first and (reads or writes):
            first = "read" if reads else "written" if whole else "unclear"
        written |= writes
    if not written:
        return ""
    return {"read": "inout ", "written": "out ", "unclear": None}[first]
