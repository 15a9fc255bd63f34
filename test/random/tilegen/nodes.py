"""The tree of a program: what the generator builds, the interpreter runs, the shrinker cuts and `text` writes.

Scalar expressions (subscripts, bounds, conditions) are text that means the same in both languages but for `/`, `&&` and `||`;
`scalar` evaluates it. Extents of tiles are text too: a number or the name of a compile-time parameter.
"""
import copy
import re
from dataclasses import dataclass, field

from .values import Applied, Binary, Bitcast, ByFunction, Call, Cast, Combine, FromTable, Limit, Lit, Part, Ref, Repeated, Scalar, Select, ThreadCount, Unary, strip, walk  # noqa: F401

# --- statements


@dataclass
class Region:
    """A place in a tensor, workspace or view: an origin, or a slice with (start, count) subscripts."""

    name: str
    subscripts: list

    def text(self):
        return self.name + "[" + ", ".join(s if isinstance(s, str) else f"{s[0]} :+ {s[1]}" for s in self.subscripts) + "]"


@dataclass
class Declare:
    scope: str
    name: str
    format: str
    shape: list
    init: object = None
    layout: str = ""

    def lines(self):
        init = f" = {strip(self.init.text())}" if self.init else ""
        layout = f"@layout({self.layout}) " if self.layout else ""
        yield f"{layout}{self.scope} {self.name}: {self.format}[{', '.join(self.shape)}]{init};"


@dataclass
class Let:
    name: str
    value: object

    def lines(self):
        yield f"let {self.name} = {strip(self.value.text())};"


@dataclass
class LetSeveral:
    """`let` of all results of a `ByFunction`."""

    names: list
    value: ByFunction

    def lines(self):
        names = ", ".join(self.names)
        yield f"let {f'({names})' if len(self.names) > 1 else names} = {self.value.text()};"


@dataclass
class LetScalar:
    """`let` or `var` of a scalar of type i32."""

    name: str
    code: str
    word: str = "let"

    def lines(self):
        yield f"{self.word} {self.name}{': i32' if self.word == 'var' else ''} = {self.code};"


@dataclass
class LetVec:
    """`var` of a `vec` of i32, all of one value; its elements are scalars named `name[i]`."""

    name: str
    count: int
    code: str

    def lines(self):
        yield f"var {self.name}: vec<i32>[{self.count}] = {self.code};"


@dataclass
class SetScalar:
    """Of a scalar, or of an element of a `vec`."""

    name: str
    op: str
    code: str

    def lines(self):
        yield f"{self.name} {self.op} {self.code};"


def requirable(node):
    """A statement that `@require` is drawn before: an error where it gets less, without a word where it does not."""
    lines = node.lines

    def noted(self):
        first, *others = lines(self)
        notes = [f"@cache({self.hint}) "] if getattr(self, "hint", "") else []
        notes += [f"@require({self.require}) "] if self.require else []
        yield "".join(notes) + first
        yield from others

    node.require, node.lines = "", noted
    return node


def hinted(node):
    """A statement that `@cache` may stand before too: for all accesses of global memory inside."""
    node.hint = ""
    return requirable(node)


@hinted
@dataclass
class ReadScalar:
    """A `let` of one element of a tensor."""

    name: str
    place: Region

    def lines(self):
        yield f"let {self.name} = {self.place.text()};"


@dataclass
class View:
    """For each dimension an index or index tile, (start, end) or None for all of it."""

    name: str
    of: str
    subscripts: list

    def lines(self):
        parts = [":" if s is None else s if isinstance(s, str) else f"{s[0]}..{s[1]}" for s in self.subscripts]
        yield f"view {self.name} = {self.of}[{', '.join(parts)}];"


@requirable
@dataclass
class Copy:
    source: object
    target: object
    annotations: list = field(default_factory=list)

    def lines(self):
        notes = "".join(f"@{a} " for a in self.annotations)
        yield f"{notes}copy({strip(self.source.text())}, {self.target.text()});"


@dataclass
class Assign:
    target: object
    op: str
    value: object

    def lines(self):
        yield f"{self.target.text()} {self.op} {strip(self.value.text())};"


@requirable
@dataclass
class Gemm:
    a: object
    b: object
    acc: str
    options: dict = field(default_factory=dict)

    def lines(self):
        options = "".join(f", {k} = {v}" for k, v in self.options.items())
        yield f"gemm({strip(self.a.text())}, {strip(self.b.text())}, {self.acc}{options});"


@hinted
@dataclass
class For:
    variable: str
    start: str
    end: str
    body: list
    kind: str = "serial"  # serial, pipelined, unrolled
    stages: int = 1
    step: int = 1
    factor: int = 0  # of an unrolled one; 0: fully
    tuned: str = ""  # the parameter that says the stages
    turns: bool = False

    def lines(self):
        bounds = f"{self.start}..{self.end}" + (f" step {self.step}" if self.step != 1 else "")
        if self.kind == "pipelined":
            bounds = f"pipelined({bounds}, stages = {self.tuned or self.stages}{', turns = true' if self.turns else ''})"
        elif self.kind == "unrolled":
            bounds = f"unrolled({bounds}, factor = {self.factor})" if self.factor else f"unrolled({bounds})"
        yield f"for {self.variable} in {bounds} {{"
        yield from indented(self.body)
        yield "}"


@hinted
@dataclass
class If:
    condition: str
    then: list
    otherwise: list = field(default_factory=list)

    def lines(self):
        condition = self.condition if isinstance(self.condition, str) else strip(self.condition.text())
        yield f"if {condition} {{"
        yield from indented(self.then)
        if self.otherwise:
            yield "} else {"
            yield from indented(self.otherwise)
        yield "}"


@hinted
@dataclass
class While:
    condition: str
    body: list

    def lines(self):
        yield f"while {self.condition} {{"
        yield from indented(self.body)
        yield "}"


@dataclass
class Jump:
    """`break` or `continue` under a condition."""

    word: str
    condition: str

    def lines(self):
        yield f"if {self.condition} {{ {self.word}; }}"


@hinted
@dataclass
class SetElement:
    place: Region
    value: object

    def lines(self):
        yield f"{self.place.text()} = {strip(self.value.text())};"


@dataclass
class Outlined:
    """A call of a `tile fn` that holds these statements; `symbols` are types of what they may name from outside."""

    name: str
    body: list
    symbols: dict

    def _parameters(self):
        text = "\n".join(line for s in self.body for line in s.lines())
        found = set(re.findall(r"[A-Za-z_]\w*", text)) & set(self.symbols)
        # An extent is passed where no shape of another parameter binds it.
        types = " ".join(self.symbols[name] for name in found)
        return [k for k in self.symbols if k in found and not (self.symbols[k] in ("const int", "i32") and re.search(rf"[\[ ]{k}[,\]]", types))]

    def lines(self):
        yield f"{self.name}({', '.join(self._parameters())});"

    def definition(self):
        word = lambda k: f"const {k}: int" if self.symbols[k] == "const int" else f"{k}: {self.symbols[k]}"  # noqa: E731
        yield f"tile fn {self.name}({', '.join(map(word, self._parameters()))}) {{"
        yield from indented(self.body)
        yield "}"


@dataclass
class Assert:
    """A condition that holds."""

    condition: str
    word = "assert"

    def lines(self):
        yield f"{self.word}({self.condition});"


class Assume(Assert):
    """The same, as a fact to the optimiser."""

    word = "assume"


def indented(body):
    for statement in body:
        for line in statement.lines():
            yield "    " + line


# --- kernels


@dataclass
class Tensor:
    name: str
    format: str
    extents: list  # text over dimensions, scalars and parameters
    direction: str = ""  # "", out, inout
    strided: bool = False
    alias: str = ""  # may_alias(this)
    optional: bool = False
    absent: bool = False  # at the call
    data: str = "small"
    padding: int = 0  # elements by which its rows lie further apart than they are long
    same: str = ""  # at the call it is this other tensor
    align: int = 0  # bytes, if they are said

    def text(self):
        words = ("optional " if self.optional else "") + (self.direction + " " if self.direction else "")
        words += "strided " if self.strided else ""
        alias = f" may_alias({self.alias})" if self.alias else ""
        align = f" align({self.align})" if self.align else ""
        return f"{self.name}: {words}tensor<{self.format}>[{', '.join(self.extents)}]{align}{alias}"


@dataclass
class ScalarArgument:
    name: str
    format: str
    value: float = 1

    def text(self):
        return f"{self.name}: {self.format}"


@dataclass
class Workspace:
    name: str
    format: str
    extents: list
    init: object = None

    def text(self):
        init = f" = {self.init.text()}" if self.init else ""
        return f"workspace {self.name}: {self.format}[{', '.join(self.extents)}]{init};"


@dataclass
class Launch:
    indices: list
    grid: list
    threads: int
    body: list
    annotations: list = field(default_factory=list)
    tuned: str = ""  # the parameter that says the number of threads
    spread: str = ""  # a number of the host: so many blocks go through all of the first index, which means the same

    def lines(self):
        indices, grid, first = list(self.indices), list(self.grid), self.indices[0]
        if self.spread:
            indices[0], grid[0] = f"{first}_first", self.spread
        names = indices[0] if len(indices) == 1 else f"({', '.join(indices)})"
        notes = "".join(f"@{a} " for a in self.annotations)
        yield f"{notes}launch {names} in grid({', '.join(grid)}) threads({self.tuned or self.threads}) {{"
        body = indented(self.body)
        if self.spread:
            body = ["    " + line for line in [f"for {first} in {indices[0]}..{self.grid[0]} step {self.spread} {{", *body, "}"]]
        yield from body
        yield "}"


@dataclass
class Program:
    params: dict  # compile-time parameters: name -> value
    arguments: list
    workspaces: list
    launches: list
    calls: list  # dimensions of each run: name -> extent
    features: list = field(default_factory=list)
    annotations: list = field(default_factory=list)
    where: list = field(default_factory=list)
    fixed: dict = field(default_factory=dict)  # dimensions that are constants of the compilation
    tuned: dict = field(default_factory=dict)  # parameters that are the compiler's choice: name -> values
    check: bool = False  # compiled with `--check`
    architectures: tuple = ("sm_90a", "sm_80")
    schedule_seed: int = 0  # of schedules of pipelined loops that are drawn; 0: those that the compiler plans
    multiprocessors: int = 4  # of the emulated device: few make persistent blocks work through several points
    host: list = field(default_factory=list)  # `let`s of the host part

    def text(self):
        params = ", ".join([*(f"{k}: int = {v}" for k, v in self.params.items()), *(f"{k}: int" for k in self.tuned)])
        arguments = ",\n         ".join(a.text() for a in self.arguments)
        notes = "".join(f"@{a}\n" for a in self.annotations)
        where = f" where {', '.join(self.where)}" if self.where else ""
        lines = [f"{notes}kernel k{'<' + params + '>' if params else ''}({arguments}){where} {{"]
        lines += indented(self.host)
        lines += ["    " + w.text() for w in self.workspaces]
        for launch in self.launches:
            lines += ["    " + line for line in launch.lines()]
        lines.append("}")
        if self.tuned:
            lines.append("tune k { " + " ".join(f"{k} in {v};" for k, v in self.tuned.items()) + " }")
        given = ", ".join([*(["auto"] if self.tuned else []), *(f"{name} = {value}" for name, value in self.fixed.items())])
        if given:
            lines.append(f"instantiate k<{given}> as {'fixed' if self.fixed else 'k'};")
        return self.functions() + "\n".join(lines) + "\n"

    def compile_options(self):
        return (["--check"] if self.check else []) + ([f"--random-schedules={self.schedule_seed}"] if self.schedule_seed else [])

    def functions(self):
        found = list(walk(self.launches))
        tables = {x.name: x for x in found if isinstance(x, FromTable)}
        functions = [x for x in found if isinstance(x, (Applied, Outlined, Combine))]
        return "".join(line + "\n" for f in [*tables.values(), *functions] for line in f.definition())

    def tensors(self):
        return [a for a in self.arguments if isinstance(a, Tensor)]

    def scalars(self):
        return [a for a in self.arguments if isinstance(a, ScalarArgument)]

    def clone(self):
        return copy.deepcopy(self)

    def requirements(self, arch=""):
        """What `@require` says, of one architecture or of any: its arguments."""
        notes = [re.fullmatch(r"require\((.*)\)", a) for launch in self.launches for a in launch.annotations]
        found = [note[1] for note in notes if note] + [x.require for x in walk(self.launches) if getattr(x, "require", "")]
        return [text for text in found if "from = 90" not in text or not arch or arch.startswith("sm_9")]

    def without_requirements(self):
        other = self.clone()
        for launch in other.launches:
            launch.annotations = [a for a in launch.annotations if not a.startswith("require")]
        for x in walk(other.launches):
            if getattr(x, "require", ""):
                x.require = ""
        return other
