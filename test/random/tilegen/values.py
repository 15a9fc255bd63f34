"""Expressions over tiles: the nodes of a program's tree that have a value."""
import math
from dataclasses import dataclass, field, fields

@dataclass
class Lit:
    value: float
    format: str

    def text(self):
        if isinstance(self.value, bool):
            return "true" if self.value else "false"
        if isinstance(self.value, int):
            return str(self.value) if self.value >= 0 else f"({self.value})"
        if math.isnan(self.value):
            return "nan"
        if math.isinf(self.value):
            return "inf" if self.value > 0 else "(-inf)"
        digits = repr(float(self.value))
        return digits if self.value >= 0 and digits[0] != "-" else f"({digits})"


@dataclass
class Limit:
    """The least or greatest finite number of a format, by its name."""

    word: str  # min_value, max_value
    format: str

    def text(self):
        return f"{self.word}({self.format})"


@dataclass
class ThreadCount:
    """The launch's number of threads, a constant, converted to a format. Scalar functions have no launch."""

    format: str

    def text(self):
        return f"{self.format}(num_threads())"


@dataclass
class Ref:
    name: str

    def text(self):
        return self.name


@dataclass
class Part:
    """A slice of a buffer or tile: for each dimension (start, count)."""

    name: str
    spans: list

    def text(self):
        return self.name + "[" + ", ".join(f"{start} :+ {count}" for start, count in self.spans) + "]"


@dataclass
class Repeated:
    """A tile repeated along the dimensions of `shape` that are not among `axes`."""

    x: object
    axes: list
    shape: list

    def text(self):
        return self.x.text() + "[" + ", ".join(":" if i in self.axes else "_" for i in range(len(self.shape))) + "]"


@dataclass
class Scalar:
    """A scalar of block code, converted to a format."""

    code: str
    format: str
    cast: bool = True

    def text(self):
        return f"{self.format}({self.code})" if self.cast else self.code


@dataclass
class Unary:
    op: str
    x: object

    def text(self):
        return f"({self.op}{self.x.text()})"


@dataclass
class Binary:
    op: str
    x: object
    y: object

    def text(self):
        return f"({self.x.text()} {self.op} {self.y.text()})"


@dataclass
class Call:
    """A function of the language; the keywords are its named arguments."""

    function: str
    args: list
    keywords: dict = field(default_factory=dict)

    def text(self):
        args = [a.text() for a in self.args] + [f"{k} = {str(v).lower()}" for k, v in self.keywords.items()]
        return f"{self.function}({', '.join(args)})"


@dataclass
class Cast:
    format: str
    x: object

    def text(self):
        return f"{self.format}({self.x.text()})"


@dataclass
class Bitcast:
    format: str
    x: object

    def text(self):
        return f"bitcast({self.format}, {self.x.text()})"


@dataclass
class Select:
    condition: object
    x: object
    y: object

    def text(self):
        return f"({self.condition.text()} ? {self.x.text()} : {self.y.text()})"


@dataclass
class FromTable:
    """An element of a constant array of 2^k numbers, at the last k bits of `x`, an i32. Code of one element alone may say so."""

    name: str
    format: str
    values: list
    x: object

    def text(self):
        return f"{self.name}[{self.x.text()} & {len(self.values) - 1}]"

    def definition(self):
        values = ", ".join(Lit(v, self.format).text() for v in self.values)
        return [f"const {self.name}: {self.format}[{len(self.values)}] = [{values}];"]


@dataclass
class Applied:
    """A function `fn` of scalars, applied to tiles; `value` is its result, over what is passed under the same names."""

    name: str
    value: object
    format: str
    formats: dict  # of what may be named in it

    def text(self):
        return f"{self.name}({', '.join(self._parameters())})"

    def _parameters(self):
        names = [x.name if isinstance(x, Ref) else x.code for x in walk(self.value) if isinstance(x, (Ref, Scalar))]
        return list(dict.fromkeys(names))

    def definition(self):
        parameters = ", ".join(f"{name}: {self.formats[name]}" for name in self._parameters())
        return [f"fn {self.name}({parameters}) -> {self.format} {{", f"    return {strip(self.value.text())};", "}"]


@dataclass
class Combine:
    """A function of the language that combines two parts of n values: `results`, over the parameters p0, .. and q0, .."""

    name: str
    formats: list  # of the values
    results: list
    commutes: bool = True

    def parameters(self):
        return [(f"{part}{i}", format) for part in "pq" for i, format in enumerate(self.formats)]

    def definition(self):
        parameters = ", ".join(f"{name}: {format}" for name, format in self.parameters())
        formats, values = ", ".join(self.formats), ", ".join(strip(r.text()) for r in self.results)
        several = len(self.formats) > 1
        yield f"fn {self.name}({parameters}) -> {f'({formats})' if several else formats} {{"
        yield f"    return {f'({values})' if several else values};"
        yield "}"


@dataclass
class ByFunction:
    """`reduce` or `scan` by a function, of as many tiles as it combines."""

    word: str
    combine: Combine
    args: list
    keywords: dict = field(default_factory=dict)

    def text(self):
        args = [self.combine.name] + [a.text() for a in self.args] + [f"{k} = {str(v).lower()}" for k, v in self.keywords.items()]
        return f"{self.word}({', '.join(args)})"


def strip(text):
    return text[1:-1] if text.startswith("(") and _closes_last(text) else text


def _closes_last(text):
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i == len(text) - 1
    return False


def walk(node):
    """The node and all below it, parents first."""
    yield node
    if isinstance(node, (list, tuple)):
        for item in node:
            yield from walk(item)
    elif hasattr(node, "__dataclass_fields__"):
        for f in fields(node):
            value = getattr(node, f.name)
            if isinstance(value, (list, tuple)) or hasattr(value, "__dataclass_fields__"):
                yield from walk(value)
